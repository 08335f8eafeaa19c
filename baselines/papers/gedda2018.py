"""Gedda, Lagerkvist and Butler, "Monte Carlo Methods for the Game Kingdomino" (2018): what its tables need besides matches."""

from __future__ import annotations

import math
import random
from functools import lru_cache

import numpy as np

import kdenv
from kdenv.author import MAX_DECISIONS, first_action, list_turns, make_rng

_GAMES = 200
_DOUBLES = 12  # dominoes 1 to 12 have two equal halves


def log_draws() -> float:
    """The decimal logarithm of the number of ways in which the drafts of a game can be drawn: 48 over 4, 44 over 4 ..."""
    return sum(math.log10(math.comb(48 - 4 * i, 4)) for i in range(12))


def log_tree(how: str) -> float:
    """The decimal logarithm of the product of the mean branching of all turns, of 200 random games with seeds 0 to 199.

    listed: a double can be laid in two ways on the same squares, as the paper's server lists them; once: it counts once.
    """
    return 4 * sum(math.log10(twice if how == "listed" else once) for once, twice in _branching())


@lru_cache
def _branching() -> list[tuple[float, float]]:
    """By round, how many turns are open on average, doubles counted once and twice."""
    game = kdenv.game("kingdomino")
    turns = np.empty(game.max_turns, np.int64)
    sums = np.zeros((13, 2))
    for seed in range(_GAMES):
        table, dice, rng = kdenv.table("kingdomino", players=4), random.Random(seed), make_rng(seed)
        table.run_chance(rng)
        while not table.over:
            legal = table.legal()
            names = {action: table.name(action) for action in legal}
            is_turn = table.states[0]["round"] == 0 or not names[legal[0]].startswith("pick")
            if is_turn and table.seat is not None:
                n = int(list_turns(table.view(table.seat).scratch(1 + MAX_DECISIONS), 0, game.most_decisions, game.max_legal, turns))
                twice = sum(2 if _is_double(names[int(first_action(turn))]) else 1 for turn in turns[:n].tolist())
                sums[int(table.states[0]["round"])] += n, twice
            table.decide(dice.choice(legal), rng)
    return [(float(once), float(twice)) for once, twice in sums / (4 * _GAMES)]


def _is_double(words: str) -> bool:
    """Whether these words place a domino whose halves are equal."""
    verb, domino, *_ = words.split()
    return verb == "place" and int(domino) <= _DOUBLES
