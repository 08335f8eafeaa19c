"""Measures environments of single games: steps of all seats, and decisions of one learner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kdenv.bench.measuring import BenchRow, Effort, per_second
from kdenv.core.game import Game

# The floors that the design page sets, for this project's machine of two cores.
_AEC_STEPS = {"kingdomino": 60_000, "dominoes": 80_000, "carcassonne": 40_000, "dominion": 60_000}
_SEAT_MICROSECONDS = {"kingdomino": 25}


def rows_of(game: Game, effort: Effort) -> Iterator[BenchRow]:
    """Measure the environments of one game."""
    from kdenv.envs.aec import TableEnv
    from kdenv.envs.single_agent import SeatEnv

    env = TableEnv(game.name)
    steps = per_second(effort, lambda n: aec_steps(env, n))
    yield BenchRow(f"{game.name}: AEC loop, masked sample", steps, "steps/s", _AEC_STEPS.get(game.name))
    if name_of_greedy := game.knowledge.greedy:
        seat_env = SeatEnv(game.name, opponents=name_of_greedy)
        steps = per_second(effort, lambda n: _seat_steps(seat_env, n))
        yield BenchRow(f"{game.name}: a learner's decision against {name_of_greedy}", 1e6 / steps, "µs", _SEAT_MICROSECONDS.get(game.name))


def aec_steps(env: Any, n: int) -> None:
    """Take n steps, in the loop that PettingZoo's documentation shows."""
    done, seed = 0, 0
    while done < n:
        env.reset(seed=seed)
        seed += 1
        for agent in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            mask = observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]
            env.step(env.action_space(agent).sample(mask))
            done += 1
            if done == n:
                return


def _seat_steps(env: Any, n: int) -> None:
    """Make n decisions of a learner that plays the first legal action."""
    env.reset(seed=1)
    for _ in range(n):
        _, _, terminated, truncated, _ = env.step(int(env.action_masks().argmax()))
        if terminated or truncated:
            env.reset()
