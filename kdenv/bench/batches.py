"""Measures environments of many games: decisions a second, on one thread and on two, and afterstates a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.bench.measuring import BenchRow, Effort, per_second, times
from kdenv.core.game import Game

N_GAMES = 1024

# The floors that issue 13 sets, for this project's machine of two cores.
_AGAINST_RANDOM = {"kingdomino": 400_000, "dominoes": 1_000_000}
_AGAINST_GREEDY = {"kingdomino": 150_000}
_ON_TWO_THREADS = 1.8  # times what one thread must reach
_AFTERSTATES = {"kingdomino": 1_000_000}  # the floor that issue 25 sets
_SKIPPED = 24  # random decisions before afterstates are listed, so that positions differ


def rows_of(game: Game, effort: Effort) -> Iterator[BenchRow]:
    """Measure one game. Every learner takes its first legal action; finding it is part of the time."""
    from kdenv.envs.vector import SeatVectorEnv, SelfPlay

    name = f"{game.name}, {N_GAMES:,} games in one array: "
    one = per_second(effort, _steps_of_seats(SeatVectorEnv(game.name, num_envs=N_GAMES))) * N_GAMES
    yield BenchRow(name + "against random", one, "decisions/s", _AGAINST_RANDOM.get(game.name))
    if effort.is_real_time:
        two = per_second(effort, _steps_of_seats(SeatVectorEnv(game.name, num_envs=N_GAMES, threads=2))) * N_GAMES
        floor = _AGAINST_RANDOM.get(game.name)
        yield BenchRow(name + "against random, on two threads", two, "decisions/s", floor and _ON_TWO_THREADS * floor)
        yield BenchRow(name + "... times as many as on one", times(two, one), "x")
    if greedy := game.knowledge.greedy:
        against = per_second(effort, _steps_of_seats(SeatVectorEnv(game.name, greedy, num_envs=N_GAMES))) * N_GAMES
        yield BenchRow(name + f"against {greedy}", against, "decisions/s", _AGAINST_GREEDY.get(game.name))
    yield BenchRow(name + "self-play", per_second(effort, _steps_of_all(SelfPlay(game.name, N_GAMES))) * N_GAMES, "decisions/s")
    batch = SelfPlay(game.name, N_GAMES, encoding=game.training_encoding or None, skip_forced=True)
    batch.reset(seed=1)
    dice = np.random.default_rng(1)
    for _ in range(_SKIPPED):
        found = batch.afterstates(whole=False)
        batch.step(found.actions[found.sample(np.zeros(len(found)), dice)])
    found = batch.afterstates()
    listings = per_second(effort, lambda n: [batch.afterstates(out=found.observations) for _ in range(n)])
    yield BenchRow(name + "observations after all turns", listings * len(found), "afterstates/s", _AFTERSTATES.get(game.name))


def _steps_of_seats(env: Any) -> Callable[[int], None]:
    """A function that makes n steps. The first games are dealt before: to make generators from seeds takes as long as fifteen steps."""
    _, infos = env.reset(seed=1)

    def play(n: int) -> None:
        nonlocal infos
        for _ in range(n):
            *_, infos = env.step(_first_legal(infos["action_mask"]))

    return play


def _steps_of_all(batch: Any) -> Callable[[int], None]:
    """The same for a batch in which all seats learn."""
    now = batch.reset(seed=1)

    def play(n: int) -> None:
        nonlocal now
        for _ in range(n):
            now = batch.step(_first_legal(now.action_mask))

    return play


def _first_legal(mask: NDArray[np.int8]) -> NDArray[np.int64]:
    """The first legal action of each row. NumPy looks for the first true number no further than to where it is; of int8, at all of them."""
    first: NDArray[np.int64] = mask.view(np.bool_).argmax(axis=1)
    return first
