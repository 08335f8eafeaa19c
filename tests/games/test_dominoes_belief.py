"""Is what a seat believes about the hidden hands exactly right? Counting and sampling against enumeration."""

import math
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from naive import dominoes_deals
from naive.dominoes import Dominoes

from kdenv.compiler.random import make_rng
from kdenv.core.table import Table
from kdenv.core.verbs import resample_hidden_at
from kdenv.games import find_game
from kdenv.games.dominoes import belief
from kdenv.games.dominoes.notation import tiles_in
from kdenv.games.dominoes.tables import TILES

GAME = find_game("dominoes")


def play_both(seed: int, **options: Any) -> Iterator[tuple[Table, Dominoes, random.Random]]:
    """A random round on engine and oracle, stopping at every decision."""
    dice = random.Random(seed)
    table = Table(GAME, 4, mode="round", **options)
    oracle = Dominoes(mode="round", **options)
    for outcome in dice.sample(range(28), 28):
        table.chance(outcome)
        oracle.apply_chance(outcome)
    while not table.over:
        yield table, oracle, dice
        action = dice.choice(table.legal())
        table.play(action)
        oracle.apply(action)


def late_positions(n: int, most_unseen: int, most_deals: int = 10**9, **options: Any) -> Iterator[tuple[Table, Dominoes, int]]:
    """One position of each of n rounds in which some seat has not seen 3 to most_unseen tiles, and that seat."""
    found = seed = 0
    while found < n:
        seed += 1
        for table, oracle, dice in play_both(seed, **options):
            seat = dice.randrange(4)
            unseen = dominoes_deals.unseen(oracle.history, oracle.hands[seat])
            if 3 <= len(unseen) <= most_unseen and 1 < belief.count_deals(table.states, 0, seat) <= most_deals:
                yield table, oracle, seat
                found += 1
                break


def known(oracle: Dominoes, seat: int) -> tuple:
    """The arguments of the naive counting."""
    return oracle.history, seat, oracle.hands[seat], oracle.calls, oracle.known_holder_of_66()


def dealt(seed: int = 1, first: tuple[int, ...] = (), **options: Any) -> Table:
    """A round just dealt: these tiles first, the others at random."""
    table = Table(GAME, 4, mode="round", **options)
    others = [tile for tile in range(28) if tile not in first]
    random.Random(seed).shuffle(others)
    for tile in [*first, *others]:
        table.chance(tile)
    return table


def marginals(table: Table, seat: int) -> np.ndarray:
    out = np.zeros((3, 28))
    belief.marginals(table.states, 0, seat, out)
    return out


def paper_table(table: Table, seat: int) -> np.ndarray:
    out = np.zeros((3, 28))
    belief.paper_table(table.states, 0, seat, out)
    return out


def resampled(table: Table, seat: int, seed: int) -> np.ndarray:
    states = table.states.copy()
    resample_hidden_at(states, 0, seat, make_rng(seed))
    return states


def few_or_many(few: int, many: int) -> list:
    return [few, pytest.param(many, marks=pytest.mark.slow)]


OPTIONS = [{}, {"force_66": False}, {"calls": True}, {"rules": "dominai_code"}]


def test_at_the_start_399_072_960_deals_are_consistent():
    table = dealt(rules="openspiel")
    assert [belief.count_deals(table.states, 0, seat) for seat in range(4)] == [399_072_960] * 4


def test_who_must_lead_has_6_6():
    table = dealt(first=(27,))
    assert belief.count_deals(table.states, 0, 0) == 399_072_960
    assert belief.count_deals(table.states, 0, 1) == math.factorial(20) // (math.factorial(6) * math.factorial(7) ** 2)
    assert marginals(table, 1)[2, 27] == 1


@pytest.mark.parametrize("n", few_or_many(12, 200))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_number_and_marginals_are_those_of_enumeration(options, n):
    for table, oracle, seat in late_positions(n, 10, **options):
        assert belief.count_deals(table.states, 0, seat) == dominoes_deals.count(*known(oracle, seat))
        expected = np.zeros((3, 28))
        for tile, shares in dominoes_deals.marginals(*known(oracle, seat)).items():
            expected[:, TILES.index(tile)] = [float(shares[(seat + ahead) % 4]) for ahead in (1, 2, 3)]
        np.testing.assert_allclose(marginals(table, seat), expected, atol=1e-12, err_msg=table.position())


@pytest.mark.parametrize("n", few_or_many(5, 20))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_consistent_deal_is_drawn_equally_often(options, n):
    for table, oracle, seat in late_positions(n, 12, most_deals=200, **options):
        others = [(seat + ahead) % 4 for ahead in (1, 2, 3)]
        deals = {tuple(deal[other] for other in others) for deal in dominoes_deals.consistent_deals(*known(oracle, seat))}
        states, rng = table.states.copy(), make_rng(7)
        times: Counter = Counter()
        for _ in range(40 * len(deals)):
            resample_hidden_at(states, 0, seat, rng)
            times[tuple(frozenset(TILES[tile] for tile in tiles_in(states[0]["hands"][other])) for other in others)] += 1
        assert times.keys() <= deals
        assert chi_square_is_plausible([times[deal] for deal in deals], 40), table.position()


def chi_square_is_plausible(counts: list[int], expected: float) -> bool:
    """Return whether such a sum of squares happens more often than once in a million (Wilson and Hilferty's approximation)."""
    freedom = len(counts) - 1
    chi = sum((count - expected) ** 2 for count in counts) / expected
    z = ((chi / freedom) ** (1 / 3) - 1 + 2 / (9 * freedom)) / math.sqrt(2 / (9 * freedom))
    return z < 4.75


def test_the_plausibility_check_notices_a_bias_of_a_fifth():
    assert not chi_square_is_plausible([400 + 80 * (i % 2) - 40 for i in range(60)], 400)


@pytest.mark.parametrize("options", [{}, {"force_66": False}, {"rules": "dominai_code"}], ids=str)
def test_the_truth_is_always_among_the_consistent_deals(options):
    for seed in range(15):
        for table, _, _ in play_both(seed, **options):
            for seat in range(4):
                shares = marginals(table, seat)
                for ahead in (1, 2, 3):
                    held = tiles_in(table.states[0]["hands"][(seat + ahead) % 4])
                    assert (shares[ahead - 1, held] > 0).all(), table.position()
                    assert shares[ahead - 1].sum() == pytest.approx(len(held))


def test_with_calls_the_truth_may_be_ruled_out_by_an_unjust_pass_and_the_shares_are_those_of_some_deal():
    ruled_out = 0
    for seed in range(15):
        for table, _, _ in play_both(seed, calls=True):
            shares = marginals(table, 0)
            for ahead in (1, 2, 3):
                held = tiles_in(table.states[0]["hands"][ahead])
                ruled_out += bool((shares[ahead - 1, held] == 0).any())
                assert shares[ahead - 1].sum() == pytest.approx(len(held))
    assert ruled_out > 0


def test_a_draw_changes_nothing_the_seat_sees_and_does_not_depend_on_the_truth():
    for seed, options in enumerate([{}, {"calls": True}, {"force_66": False}] * 5):
        for table, _, _ in play_both(seed, **options):
            for seat in range(4):
                twin = table.clone()
                twin.states = resampled(table, seat, 5)
                assert (twin.observation(seat, "belief") == table.observation(seat, "belief")).all()
                assert (resampled(twin, seat, 9) == resampled(table, seat, 9)).all()


def test_during_the_deal_all_that_was_dealt_to_others_is_drawn_anew():
    table = Table(GAME, 4)
    for tile in range(18):  # seat 2 has four
        table.chance(tile)
    states = resampled(table, 1, 3)
    assert states[0]["hands"][1] == table.states[0]["hands"][1]
    assert [len(tiles_in(hand)) for hand in states[0]["hands"]] == [7, 7, 4, 0]
    dealt_now = sorted(tile for hand in states[0]["hands"] for tile in tiles_in(hand))
    assert dealt_now != list(range(18))
    assert int(states[0]["undealt"]) == sum(1 << tile for tile in range(28) if tile not in dealt_now)


def test_nothing_is_hidden_when_the_hands_are_laid_open():
    *_, (table, _, _) = play_both(3)  # which has gone on to the end
    assert table.over
    assert (resampled(table, 0, 1) == table.states).all()


def test_the_papers_table_is_a_third_each_at_the_start_and_zero_after_a_pass():
    table = dealt(rules="openspiel")
    assert paper_table(table, 0)[:, [t for t in range(28) if t not in tiles_in(table.states[0]["hands"][0])]] == pytest.approx(1 / 3)
    for table, _, _ in play_both(5):
        lacking = [(seat, suit) for seat in (1, 2, 3) for suit in range(7) if table.states[0]["lacks"][seat] >> suit & 1]
        shares = paper_table(table, 0)
        assert set(np.round(shares.sum(axis=0), 12)) <= {0.0, 1.0}
        for seat, suit in lacking:
            assert not shares[seat - 1, [i for i, tile in enumerate(TILES) if suit in tile]].any()


def test_the_papers_table_is_not_exact():
    positions = list(late_positions(20, 12))
    assert any(not np.allclose(paper_table(table, seat), marginals(table, seat), atol=0.05) for table, _, seat in positions)
