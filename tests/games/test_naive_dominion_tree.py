"""The search-tree sizes of the thesis (Table 3), counted twice: by the oracle, and by plain arithmetic on multisets.

One player and no kingdom. Below the root each turn has one level of distinct hands and one level of buys: each card
that can be paid for, and nothing. Equal positions are not merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from naive.dominion_cards import CARDS
from naive.dominion_notation import ENGINES

NODES = {1: 21, 2: 99, 3: 2_077, 4: 23_631, 5: 681_365, 6: 15_366_943}
DRAW_NODES = {1: 4, 2: 20, 3: 420, 4: 4_700, 5: 135_090, 6: 2_870_770}
BUYABLE = ("Copper", "Silver", "Gold", "Estate", "Duchy", "Province")
Multiset = tuple[str, ...]


def distinct_hands(deck: Multiset, discard: Multiset) -> Iterator[tuple[Multiset, Multiset, Multiset]]:
    """Every hand of five, with the deck and discards it leaves; a deck too short takes in the shuffled discards."""
    if len(deck) < 5:
        rest, deck, discard = deck, discard, ()
    else:
        rest = ()
    for drawn in sorted(set(combinations(deck, 5 - len(rest)))):
        left = list(deck)
        for card in drawn:
            left.remove(card)
        yield tuple(sorted(rest + drawn)), tuple(left), discard


@cache
def size_on_multisets(turns: int, deck: Multiset, discard: Multiset) -> tuple[int, int]:
    """How many nodes, and how many draw nodes among them, are below this deck and these discards (both sorted)."""
    if turns == 0:
        return 0, 0
    nodes = draws = 0
    for hand, left, aside in distinct_hands(deck, discard):
        coins = sum(CARDS[card].coins for card in hand)
        nodes, draws = nodes + 1, draws + 1
        for bought in [(), *((card,) for card in BUYABLE if CARDS[card].cost <= coins)]:
            below = size_on_multisets(turns - 1, left, tuple(sorted(aside + hand + bought)))
            nodes, draws = nodes + 1 + below[0], draws + below[1]
    return nodes, draws


@pytest.mark.parametrize("turns", list(NODES))
def test_tree_size_on_multisets(turns: int) -> None:
    nodes, draws = size_on_multisets(turns, ("Copper",) * 7 + ("Estate",) * 3, ())
    assert (1 + nodes, draws) == (NODES[turns], DRAW_NODES[turns])


Script = tuple[int, ...]


def replay(engine: Any, script: Script) -> Any:
    """The single-player game after these draws and buys."""
    game = engine(players=1, kingdom=())
    for step in script:
        (game.apply_chance if game.phase() == "chance" else game.apply)(step)
    return game


def scripts_of_hands(engine: Any, script: Script) -> list[Script]:
    """One way to draw each distinct hand of the coming turn."""
    ways = {(): script}
    for _ in range(5):
        longer = {}
        for hand, way in ways.items():
            for slot in replay(engine, way).chances():
                longer[tuple(sorted((*hand, slot)))] = (*way, slot)
        ways = longer
    return list(ways.values())


def size_by_playing(engine: Any, turns: int, script: Script = ()) -> int:
    """How many nodes the engine has below this line of play."""
    if turns == 0:
        return 0
    nodes = 0
    for way in scripts_of_hands(engine, script):
        buys = replay(engine, way).legal()
        nodes += 1 + sum(1 + size_by_playing(engine, turns - 1, (*way, buy)) for buy in buys)
    return nodes


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_tree_size_by_playing(engine: str, turns: int) -> None:
    assert 1 + size_by_playing(ENGINES[engine], turns) == NODES[turns]
