"""Jansen and Tollisen, "An AI for Dominion Based on Monte-Carlo Methods" (2014): what its tables need besides matches."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

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


def add_woodcutters(kingdom: str) -> None:
    """Add the cards of this kingdom that are no printed ones: "woodcutter5" is a Woodcutter that gives 5 coins (Figures 25 and 26)."""
    for coins in re.findall(r"\bwoodcutter(\d+)", kingdom):
        add_card(Card(f"Woodcutter{coins}", 3, (ACTION,), buys=1, coins=int(coins)))
