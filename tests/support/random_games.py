"""Random games for tests: of any game and variant, played to the end or broken off."""

import random
from typing import Any

import numpy as np

from kdenv.compiler.random import make_rng
from kdenv.core.game import Game
from kdenv.core.table import Table

# Small enough to be played and replayed often; between them they use every option.
KINGDOMINO_VARIANTS: list[tuple[int, dict[str, Any]]] = [
    (4, {}),
    (3, {"harmony": False}),
    (2, {"size": 7, "dominoes": 48, "tiebreak": "official"}),
    (2, {"size": 3, "dominoes": 8, "middle": False}),
    (4, {"size": 3, "dominoes": 12, "middle": False, "harmony": False}),
]


def random_game(game: Game, seed: int, players: int | None = None, decisions: int | None = None, **options: Any) -> Table:
    """A game of random decisions, broken off after this many of them."""
    table, rng, dice = Table(game, players, **options), make_rng(seed), random.Random(seed)
    while not table.over and decisions != 0:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
        else:
            table.play(dice.choice(table.legal()))
            decisions = None if decisions is None else decisions - 1
    return table


def after(game: Game, players: int, decisions: int, **options: Any) -> Table:
    """A table after this many random decisions and the chance after them, or at the end of the game."""
    table, rng = Table(game, players, **options), np.random.default_rng(decisions)
    for _ in range(decisions):
        table.run_chance(rng)
        if table.over:
            break
        table.play(int(rng.choice(table.legal())))
    table.run_chance(rng)
    return table


def play_on(table: Table, seed: int) -> Table:
    """Play a table to its end at random."""
    rng, dice = make_rng(seed), random.Random(seed)
    while not table.over:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
        else:
            table.play(dice.choice(table.legal()))
    return table
