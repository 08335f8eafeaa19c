"""Measures other packages in the same run, each beside a figure of kdenv if both do the same kind of work.

For a package that is not installed, a line is printed.
"""

from __future__ import annotations

import importlib
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from kdenv.bench.environments import aec_steps
from kdenv.bench.measuring import BenchRow, Effort, per_second, times
from kdenv.compiler.random import make_rng
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.search.playout import play_games, random_games

_IN_A_BATCH = 1024  # games of pgx
_IN_A_SYNC_BATCH = 64  # games of OpenSpiel
_AEC = 3.0  # the floor that the design sets for environments


def rows_of_peers(games: Sequence[Game], effort: Effort) -> Iterator[BenchRow]:
    """Measure every peer that is installed, and that has something to do with these games."""
    everywhere = [(package, partial(measure, games)) for package, measure in _OF_ALL_GAMES]
    for package, measure in everywhere + [
        (package, partial(measure, game)) for game in games for package, measure in _OF_GAME.get(game.name, ())
    ]:
        try:
            yield from measure(effort)
        except ImportError as error:
            print(f"(nothing of {package}: {error})")


def _pettingzoo(games: Sequence[Game], effort: Effort) -> Iterator[BenchRow]:
    """Environments of single games, in the same loop."""
    from kdenv.envs.aec import TableEnv

    connect_four = importlib.import_module("pettingzoo.classic.connect_four_v3")
    theirs = per_second(effort, partial(aec_steps, connect_four.env()))
    yield BenchRow(f"PettingZoo {version('pettingzoo')}, connect_four: AEC loop, masked sample", theirs, "steps/s")
    for game in games:
        ours = per_second(effort, partial(aec_steps, TableEnv(game.name)))
        yield BenchRow(f"{game.name}: AEC loop, times as fast as connect_four", times(ours, theirs), "x", _AEC)


def _backgammon(games: Sequence[Game], effort: Effort) -> Iterator[BenchRow]:
    """Backgammon of OpenSpiel, which is written in C++, for the scale. kdenv has no backgammon."""
    pyspiel = importlib.import_module("pyspiel")
    name = f"OpenSpiel {version('open_spiel')}, backgammon: "

    def steps(n: int) -> None:
        state = _new(pyspiel, "backgammon")
        for _ in range(n):
            if state.is_terminal():
                state = _new(pyspiel, "backgammon")
            _go_on(state)

    yield BenchRow(f"{name}random games, one at a time", per_second(effort, steps), "steps/s")
    yield BenchRow(f"{name}{_IN_A_SYNC_BATCH} games in SyncVectorEnv, all seats", _batch_of_open_spiel(effort), "decisions/s")


def _batch_of_open_spiel(effort: Effort) -> float:
    """Decisions a second of a batch, to compare with the batches of kdenv (batches.py)."""
    rl_environment = importlib.import_module("open_spiel.python.rl_environment")
    vector_env = importlib.import_module("open_spiel.python.vector_env")
    batch = vector_env.SyncVectorEnv([rl_environment.Environment("backgammon") for _ in range(_IN_A_SYNC_BATCH)])
    Action: Any = importlib.import_module("open_spiel.python.rl_agent").StepOutput

    def play(n: int) -> None:
        now = batch.reset()
        for _ in range(n):
            chosen = [Action(action=each.observations["legal_actions"][each.observations["current_player"]][0], probs=None) for each in now]
            now, _, _, _ = batch.step(chosen, reset_if_done=True)

    return per_second(effort, play) * _IN_A_SYNC_BATCH


def _team_dominoes(game: Game, effort: Effort) -> Iterator[BenchRow]:
    """Random rounds by the same rules. OpenSpiel's team dominoes is written in Python."""
    pyspiel = importlib.import_module("pyspiel")
    importlib.import_module("open_spiel.python.games.team_dominoes")  # this registers it
    theirs = per_second(effort, partial(_random_rounds, pyspiel))
    yield BenchRow(f"OpenSpiel {version('open_spiel')}, python_team_dominoes: random rounds", theirs, "games/s")
    players, variant = game.variant(rules="openspiel", mode="round")
    states, rng, points = np.zeros(4, game.state_dtype), make_rng(1), np.zeros(players, np.int64)
    ours = per_second(effort, lambda n: random_games(states, n, players, variant, game.buffer(), points, rng))
    yield BenchRow(f"{game.name}: random rounds, times as many as python_team_dominoes", times(ours, theirs), "x")


def _new(pyspiel: Any, name: str) -> Any:
    return pyspiel.load_game(name).new_initial_state()


def _go_on(state: Any) -> None:
    """Take a random step in a game of OpenSpiel."""
    if state.is_chance_node():
        outcomes, odds = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(random.choices(outcomes, odds)[0])
    else:
        state.apply_action(random.choice(state.legal_actions()))


def _random_rounds(pyspiel: Any, n: int) -> None:
    for _ in range(n):
        state = _new(pyspiel, "python_team_dominoes")
        while not state.is_terminal():
            _go_on(state)


def _pyminion(game: Game, effort: Effort) -> Iterator[BenchRow]:
    """Whole games of big money against itself."""
    big_money: Any = importlib.import_module("pyminion.bots.examples").BigMoney
    game_of: Any = importlib.import_module("pyminion.game").Game
    base = importlib.import_module("pyminion.expansions.base")

    def play(n: int) -> None:
        for _ in range(n):
            game_of(players=[big_money(player_id=name) for name in "ab"], expansions=[base.base_set], log_stdout=False).play()

    logging.disable()  # it logs every turn, which is heard if another package has set logging up
    try:
        theirs = per_second(effort, play)
    finally:
        logging.disable(logging.NOTSET)
    yield BenchRow(f"pyminion {version('pyminion')}, big money against itself", theirs, "games/s")
    states, totals, rng = np.zeros(4, game.state_dtype), np.zeros(2, np.int64), make_rng(1)
    states[0] = Table(game, kingdom="first_game").states[0]
    bot = game.knowledge.players["big_money"].make()
    ours = per_second(effort, lambda n: play_games(bot, states, n, game.buffer(), rng, totals))
    yield BenchRow(f"{game.name}: big money against itself, times as many games as pyminion", times(ours, theirs), "x")


def _pgx(games: Sequence[Game], effort: Effort) -> Iterator[BenchRow]:
    """Batches of games that take random steps, all of it compiled by JAX. Games that are over begin anew."""
    pgx: Any = importlib.import_module("pgx")
    jax: Any = importlib.import_module("jax")
    numbers: Any = importlib.import_module("jax.numpy")
    for name in ("backgammon", "connect_four", "2048"):
        rate = _rate_of_pgx(effort, jax, numbers, pgx.make(name))
        on = jax.devices()[0].platform
        yield BenchRow(f"pgx {version('pgx')}, {name}: {_IN_A_BATCH:,} games in one array, on {on}", rate, "decisions/s")


def _rate_of_pgx(effort: Effort, jax: Any, numbers: Any, env: Any) -> float:
    """Decisions a second of a batch of this environment."""
    step_of_one = importlib.import_module("pgx.experimental.wrappers").auto_reset(env.step, env.init)

    def steps(states: Any, key: Any) -> tuple[Any, Any]:
        def one(_: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
            states, key = carried
            key, for_actions, for_steps = jax.random.split(key, 3)
            odds = numbers.where(states.legal_action_mask, 0.0, -numbers.inf)
            actions = jax.random.categorical(for_actions, odds, axis=1)
            return jax.vmap(step_of_one)(states, actions, jax.random.split(for_steps, _IN_A_BATCH)), key

        return jax.lax.fori_loop(0, 10, one, (states, key))  # type: ignore[no-any-return]

    compiled = jax.jit(steps)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), _IN_A_BATCH))

    def play(n: int) -> None:
        now, key = states, jax.random.PRNGKey(2)
        for _ in range(n):
            now, key = compiled(now, key)
        jax.block_until_ready(now.rewards)

    return per_second(effort, play) * 10 * _IN_A_BATCH


_OF_ALL_GAMES: Sequence[tuple[str, Callable[[Sequence[Game], Effort], Iterator[BenchRow]]]] = (
    ("PettingZoo's connect_four", _pettingzoo),
    ("OpenSpiel's backgammon", _backgammon),
    ("pgx", _pgx),
)
_OF_GAME: Mapping[str, Sequence[tuple[str, Callable[[Game, Effort], Iterator[BenchRow]]]]] = {
    "dominoes": [("OpenSpiel's team dominoes", _team_dominoes)],
    "dominion": [("pyminion", _pyminion)],
}
