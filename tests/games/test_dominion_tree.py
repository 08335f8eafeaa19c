"""The search-tree sizes of the thesis (Table 3), counted by plain arithmetic on multisets, by the oracle, and by the compiled rules.

One player and no kingdom. Below the root each turn has one level of distinct hands and one level of buys: each card
that can be paid for, and nothing. Equal positions are not merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from naive.dominion import Dominion
from naive.dominion_cards import CARDS

from kdenv.compiler.kernel import kernel
from kdenv.core.verbs import CHANCE, DECIDE, apply, apply_chance, begin_at, chances, legal, phase
from kdenv.games import find_game

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
    """The number of nodes, and of draw nodes among them, below this deck and these discards (both sorted)."""
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


def replay(script: Script) -> Dominion:
    """The single-player game after these draws and buys."""
    game = Dominion(players=1, kingdom=())
    for step in script:
        (game.apply_chance if game.phase() == "chance" else game.apply)(step)
    return game


def scripts_of_hands(script: Script) -> list[Script]:
    """One way to draw each distinct hand of the coming turn."""
    ways = {(): script}
    for _ in range(5):
        longer = {}
        for hand, way in ways.items():
            for slot in replay(way).chances():
                longer[tuple(sorted((*hand, slot)))] = (*way, slot)
        ways = longer
    return list(ways.values())


def size_by_playing(turns: int, script: Script = ()) -> int:
    """The nodes that the oracle has below this line of play."""
    if turns == 0:
        return 0
    nodes = 0
    for way in scripts_of_hands(script):
        buys = replay(way).legal()
        nodes += 1 + sum(1 + size_by_playing(turns - 1, (*way, buy)) for buy in buys)
    return nodes


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_tree_size_by_playing_the_oracle(turns: int) -> None:
    assert 1 + size_by_playing(turns) == NODES[turns]


@kernel
def count_tree(states, n_turns, slots, weights, n_open, at_option, n_options, least, totals):
    """Count hands and buys below states[0], depth first; arrays by depth are scratch."""
    d = 0
    n_open[0] = -1
    least[0] = 0
    while d >= 0:
        if n_open[d] < 0:  # just come here: what is open?
            n_open[d] = 0
            at_option[d] = 0
            if phase(states[d]) == CHANCE:
                n_options[d] = chances(states[d], slots[d], weights)
            elif phase(states[d]) == DECIDE and states[d].turns[0] <= n_turns:
                totals[0] += 1
                n_options[d] = legal(states[d], slots[d])
            else:
                n_options[d] = 0
        if at_option[d] == n_options[d]:
            d -= 1
            continue
        option = slots[d, at_option[d]]
        at_option[d] += 1
        drawing = phase(states[d]) == CHANCE
        if drawing and option < least[d]:
            continue  # the same hand in another order
        states[d + 1] = states[d]
        least[d + 1] = 0
        if drawing:
            apply_chance(states[d + 1], option)
            if states[d + 1].n_deck[0] == states[d].n_deck[0] - 1 and phase(states[d + 1]) == CHANCE:
                least[d + 1] = option
        else:
            totals[1] += 1
            apply(states[d + 1], option)
            if states[d + 1].turns[0] >= n_turns:
                continue
        d += 1
        n_open[d] = -1


@pytest.mark.parametrize("turns", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_tree_size_by_the_compiled_rules(turns: int) -> None:
    game = find_game("dominion")
    states = np.zeros(64, game.state_dtype)
    begin_at(states, 0, *game.variant(1, kingdom="none"))
    scratch = [np.zeros(64, np.int64) for _ in range(4)]
    totals = np.zeros(2, np.int64)
    count_tree(states, turns, np.zeros((64, 32), np.int64), np.zeros(32, np.int64), *scratch, totals)
    assert (totals[0], 1 + totals.sum()) == (DRAW_NODES[turns], NODES[turns])
