"""Jansen and Tollisen, "An AI for Dominion Based on Monte-Carlo Methods" (2014): what its tables need besides matches."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from baselines.papers.matches import seed_of
from kdenv.arena import Breakdown, Match, Result, play
from kdenv.games.dominion import ACTION, Card, add_card

Pile = tuple[int, ...]  # how many of each card: Copper, Silver, Gold, Estate, Duchy, Province

_COSTS = (0, 3, 6, 2, 5, 8)
_COINS = (1, 2, 3, 0, 0, 0)
_HAND = 5


def tree_nodes(turns: str) -> int:
    """The nodes of the search tree of Table 3: one player, no kingdom cards; a level of distinct hands and a level of buys each turn.

    Equal positions are not merged in the tree. Here they are, and their number is kept, so that the nodes need not be visited.
    """
    positions: dict[tuple[Pile, Pile], int] = {((7, 0, 0, 3, 0, 0), (0,) * 6): 1}  # deck and discards -> nodes with them
    nodes = 1
    for _ in range(int(turns)):
        after: dict[tuple[Pile, Pile], int] = defaultdict(int)
        for (deck, discards), n in positions.items():
            for hand, left, put in _draws(deck, discards):
                nodes += n
                coins = sum(k * coin for k, coin in zip(hand, _COINS, strict=True))
                put = _with(put, hand)
                for bought in [None, *(card for card, cost in enumerate(_COSTS) if cost <= coins)]:
                    nodes += n
                    after[left, put if bought is None else _with(put, _one(bought))] += n
        positions = after
    return nodes


def tree_growth(turns: str) -> float:
    """The factor by which this turn multiplies the number of nodes."""
    return tree_nodes(turns) / tree_nodes(str(int(turns) - 1))


def _draws(deck: Pile, discards: Pile) -> Iterator[tuple[Pile, Pile, Pile]]:
    """Every distinct hand, with the deck and the discards after it is drawn."""
    n = sum(deck)
    if n >= _HAND:
        for hand in _choices(deck, _HAND):
            yield hand, _without(deck, hand), discards
    else:
        for rest in _choices(discards, _HAND - n):
            yield _with(deck, rest), _without(discards, rest), (0,) * 6


@cache
def _choices(pile: Pile, n: int) -> tuple[Pile, ...]:
    """Every way to take n cards out of a pile, order aside."""
    if not pile:
        return ((),) if n == 0 else ()
    first, *rest = pile
    return tuple((k, *others) for k in range(min(first, n) + 1) for others in _choices(tuple(rest), n - k))


def _with(one: Pile, other: Pile) -> Pile:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _without(one: Pile, other: Pile) -> Pile:
    return tuple(a - b for a, b in zip(one, other, strict=True))


def _one(card: int) -> Pile:
    return tuple(int(i == card) for i in range(6))


# Figures 25 and 26: a Woodcutter that gives more coins

_GAMES = 10  # as in the thesis
_OTHERS = ["Village", "Gardens", "Moneylender", "Remodel", "Smithy", "Festival", "Laboratory", "Market", "Witch"]  # of the test bed
_TREASURES = ("bought Copper", "bought Silver", "bought Gold")


def bought(variant: str, coins: str, what: str, simulations: str, *, seed: int) -> tuple[float, float]:
    """The mean number of Woodcutters, or treasures, that a variant buys against itself, by the coins of a Woodcutter; standard error."""
    games = _games_with(variant, int(coins), int(simulations), seed)
    names = [f"bought Woodcutter{coins}"] if what == "Woodcutter" else _TREASURES
    numbers = [sum(game.get(name, 0.0) for name in names) for game in games]
    mean = sum(numbers) / len(numbers)
    return mean, math.sqrt(sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1) / len(numbers))


@cache
def _games_with(variant: str, coins: int, simulations: int, seed: int) -> list[dict[str, float]]:
    """The cards that the first seat bought in ten games on the test bed with a Woodcutter of this number of coins."""
    add_card(Card(f"Woodcutter{coins}", 3, (ACTION,), buys=1, coins=coins))
    options = {"kingdom": [f"Woodcutter{coins}", *_OTHERS], "supply": "thesis", "info": "thesis", "max_turns": 999}
    policy = f"{variant}(least=1, playouts={simulations})"  # Table 24: minimum visits 1
    deals = seed_of(seed, f"bought {variant} {coins} {simulations}")
    match, found = Match("dominion", [policy, policy], 2 * _GAMES, deals, options), list[dict[str, float]]()

    def add(result: Result) -> None:
        told = Breakdown(match)
        told.add(result)
        found.append({name: sums.mean(0).mean for name, sums in told.parts[str(match.line_up[0])].own.items()})

    if not play(match, done=range(1, 2 * _GAMES, 2), on_result=add, processes=1):
        raise KeyboardInterrupt
    return found
