"""Gedda, Lagerkvist and Butler, "Monte Carlo Methods for the Game Kingdomino" (2018): what its tables need besides matches."""

from __future__ import annotations

import math
import random
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

import kdenv
from kdenv.author import MAX_DECISIONS, first_action, list_turns, make_rng

_GAMES = 200
_PLAYERS = {"TR": "random", "GPRD": "gprd", "FG": "full_greedy(variant=paper)"}
_ROUNDS = 13
_DOUBLES = 12  # dominoes 1 to 12 have two equal halves


def log_draws() -> float:
    """The decimal logarithm of the number of ways in which the drafts of a game can be drawn: 48 over 4, 44 over 4 ..."""
    return sum(math.log10(math.comb(48 - 4 * i, 4)) for i in range(12))


def log_orders() -> float:
    """The decimal logarithm of the orders of the deck that give the same drafts: all orders, divided by the draws."""
    return math.log10(math.factorial(48)) - log_draws()


def log_games() -> float:
    """The decimal logarithm of the number of games: the draws, times the tree of one order of the deck, doubles counted twice."""
    return log_draws() + log_tree("listed")


def log_tree(how: str) -> float:
    """The decimal logarithm of the product of the mean branching of all turns, of 200 random games with seeds 0 to 199.

    A double can be laid in two ways on the same squares. With how="listed" both count, as the paper's server lists them; with "once", one.
    """
    once_and_twice = _branching("TR").mean(axis=0)
    return 4 * sum(math.log10(twice if how == "listed" else once) for once, twice in once_and_twice.tolist())


def branching(strategy: str, number: str) -> tuple[float, float]:
    """The mean number of open turns of a player in this round against three TR, doubles counted twice; and the standard error."""
    games = _branching(strategy)[:, int(number) - 1, 1]
    return float(games.mean()), float(games.std(ddof=1) / math.sqrt(_GAMES))


@lru_cache
def _branching(strategy: str) -> NDArray[np.float64]:
    """By game and round, the numbers of open turns of the seats of this player, doubles counted once and twice. TR has all seats."""
    game = kdenv.game("kingdomino")
    turns = np.empty(game.max_turns, np.int64)
    sums = np.zeros((_GAMES, _ROUNDS, 2))
    for seed in range(_GAMES):
        table, dice, rng = kdenv.table("kingdomino", players=4), random.Random(seed), make_rng(seed)
        player = kdenv.policy(_PLAYERS[strategy])
        seats = range(4) if strategy == "TR" else [seed % 4]
        player.reset(seed)
        table.run_chance(rng)
        while not table.over:
            assert table.seat is not None
            legal, seat = table.legal(), int(table.seat)
            names = {action: table.name(action) for action in legal}
            is_turn = table.states[0]["round"] == 0 or not names[legal[0]].startswith("pick")
            if is_turn and seat in seats:
                n = int(list_turns(table.view(seat).scratch(1 + MAX_DECISIONS), 0, game.most_decisions, game.max_legal, turns))
                twice = sum(2 if _is_double(names[int(first_action(turn))]) else 1 for turn in turns[:n].tolist())
                sums[seed, int(table.states[0]["round"])] += n, twice
            table.decide(player.act(table.view(seat)) if seat in seats and strategy != "TR" else dice.choice(legal), rng)
    return np.asarray(sums / (4 if strategy == "TR" else 1))


def _is_double(words: str) -> bool:
    """True if these words place a domino whose halves are equal."""
    verb, domino, *_ = words.split()
    return verb == "place" and int(domino) <= _DOUBLES
