"""The dealer that knows the partner's hand: it draws each deal of the opponents' tiles that the passes allow, and no other."""

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from random_games import random_game

from baselines.tools.partner import KnowsPartner
from kdenv.compiler.random import make_rng
from kdenv.core.errors import NotSupported
from kdenv.core.questions import deal
from kdenv.core.view import OracleView
from kdenv.games import find_game
from kdenv.policies import policy

pytestmark = pytest.mark.cold  # it compiles a dealer and a search that no other test needs

TEXT = "baselines.tools.partner:KnowsPartner(score=wdl, chance=information_sets, choice=visits, playouts=60{})"
TILES = [(a, b) for a in range(7) for b in range(a, 7)]


def tiles_of(hand: Any) -> frozenset[tuple[int, int]]:
    """The tiles a-b of a hand, in which tile a-b has the bit 7 a + b."""
    return frozenset((a, b) for a, b in TILES if int(hand) >> (7 * a + b) & 1)


def allowed(position: Any, me: int) -> set[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]]:
    """The hands of the next and the previous seat that the passes allow, if the partner's hand is known; all ways are tried."""
    hands = [tiles_of(position["hands"][(me + ahead) % 4]) for ahead in range(4)]
    hidden = sorted(hands[1] | hands[3])
    lacks = [int(position["lacks"][(me + ahead) % 4]) for ahead in range(4)]
    found = set()
    for chosen in combinations(hidden, len(hands[1])):
        pair = frozenset(chosen), frozenset(hidden) - frozenset(chosen)
        if not any(lacks[ahead] >> pip & 1 for ahead, hand in zip((1, 3), pair, strict=True) for tile in hand for pip in tile):
            found.add(pair)
    return found


def test_each_deal_that_the_passes_allow_is_drawn_equally_often_and_no_other() -> None:
    searching, rng, n_narrow = KnowsPartner(chance="information_sets", playouts=60), make_rng(1), 0
    for seed in range(40):
        table = random_game(find_game("dominoes"), seed, decisions=10 + seed % 12, mode="round")
        if table.seat is None:
            continue
        me, true = table.seat, table.states[0]
        ways, draws = allowed(true, me), 400
        dealer, states, found = searching.dealer(OracleView(table, me)), np.zeros(2, table.states.dtype), Counter[Any]()
        for _ in range(draws):
            states[0] = table.view(me).states[0]  # in which the other hands have been drawn anew
            deal(dealer, states, 0, me, rng)
            hands = [tiles_of(states[0]["hands"][(me + ahead) % 4]) for ahead in range(4)]
            assert hands[0] == tiles_of(true["hands"][me])
            assert hands[2] == tiles_of(true["hands"][(me + 2) % 4])
            found[hands[1], hands[3]] += 1
        assert set(found) <= ways
        if len(ways) <= 20:
            expected = draws / len(ways)
            assert set(found) == ways
            assert all(abs(times - expected) < 6 * expected**0.5 for times in found.values())
            n_narrow += len(ways) > 1
    assert n_narrow >= 5


def test_it_plays_single_rounds_without_rivals_only() -> None:
    dominoes = find_game("dominoes")
    policy(TEXT.format("")).check(dominoes)
    with pytest.raises(NotSupported, match="without rivals"):
        policy(TEXT.format(", rivals=greedy")).needs(dominoes, *dominoes.variant())
    with pytest.raises(NotSupported, match="plays dominoes"):
        policy(TEXT.format("")).needs(find_game("dominion"), *find_game("dominion").variant())
