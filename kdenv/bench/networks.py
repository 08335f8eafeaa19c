"""Measures networks of values: how long the position after a turn takes, with the turn itself, when all turns of a position are weighed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kdenv.bench.measuring import BenchRow, Effort, per_second
from kdenv.compiler.random import below, make_rng
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.networks.players import weigh_often
from kdenv.policies.learned import Learned, shipped_models

_MOST_MICROSECONDS = {"kingdomino": 3}  # the floors that issue 13 sets
_DECISIONS = 40  # about half of a game of Kingdomino
_ENOUGH = 8  # turns to choose from


def rows_of(game: Game, effort: Effort) -> Iterator[BenchRow]:
    """Measure the network that comes with the package, if there is one for this game."""
    if game.name not in shipped_models():
        return
    learned = Learned(game.name)
    stored = learned.loaded().stored
    assert stored is not None  # what comes with the package is no .zip
    table = _in_the_middle(Table(game, stored.players, **stored.options))
    learned.needs(game, table.players, table.variant)
    player, states = learned.compiled(game, table.players), np.zeros(1, game.state_dtype)
    states[0] = table.states[0]
    n_turns = weigh_often(player, states, 0, 1)
    times = per_second(effort, lambda n: weigh_often(player, states, 0, n))
    what = f"{game.name}, {table.players} players: a network's view of the position after a turn"
    yield BenchRow(what, 1e6 / (times * n_turns), "µs", _MOST_MICROSECONDS.get(game.name))


def _in_the_middle(table: Table) -> Table:
    """A position after some random decisions, in which there is something to choose."""
    rng, reached = make_rng(1), table
    table.run_chance(rng)
    for _ in range(_DECISIONS):
        legal = table.legal()
        table.play(legal[below(rng, len(legal))])
        table.run_chance(rng)
        if table.over:
            break
        if len(table.legal()) >= _ENOUGH:
            reached = table.clone()
    return reached
