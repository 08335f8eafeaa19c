"""Are the intervals right: in formula, and as often as they say?"""

import math
import random
import statistics
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from matches import GREEDY_V_RANDOM, results_of

from kdenv.arena import Match, Result, Summary
from kdenv.arena.statistics import DealSums, Estimate, Median, pairing, student_t

MILLION = 4.9  # standard deviations that chance exceeds once in a million times


def sums_of(deals: list[list[float]]) -> DealSums:
    """Sums of one number a game, given deal by deal."""
    sums = DealSums(max(map(len, deals)))
    for deal, values in enumerate(deals):
        for value in values:
            sums.add(deal, [value])
    return sums


def test_interval_of_independent_games_is_the_usual_one() -> None:
    dice = random.Random(1)
    values = [dice.gauss(0, 1) for _ in range(12)]
    found = sums_of([[value] for value in values]).mean(0)
    assert found.mean == pytest.approx(statistics.fmean(values))
    assert found.high - found.mean == pytest.approx(student_t(11) * statistics.stdev(values) / math.sqrt(12))
    assert found.mean - found.low == pytest.approx(found.high - found.mean)


def test_games_of_one_deal_count_as_one_sample() -> None:
    dice = random.Random(2)
    deals = [dice.gauss(0, 1) for _ in range(10)]
    once, four_times = sums_of([[value] for value in deals]).mean(0), sums_of([[value] * 4 for value in deals]).mean(0)
    assert four_times == pytest.approx(once)


def test_the_order_of_games_does_not_matter_and_deals_may_lack_games() -> None:
    dice = random.Random(3)
    games = [(deal, dice.gauss(10, 3)) for deal in range(12) for _ in range(4)][:-3]
    in_order, shuffled = DealSums(4), DealSums(4)
    for deal, value in games:
        in_order.add(deal, [value])
    dice.shuffle(games)
    for deal, value in games:
        shuffled.add(deal, [value])
    assert shuffled.mean(0) == pytest.approx(in_order.mean(0))
    # The formula, written out: residuals of the deals around the mean over games.
    mean = statistics.fmean(value for _, value in games)
    residuals = [sum(value - mean for other, value in games if other == deal) for deal in range(12)]
    half = student_t(11) * math.sqrt(12 / 11 * sum(r * r for r in residuals)) / len(games)
    assert (in_order.mean(0).mean, in_order.mean(0).high - mean) == pytest.approx((mean, half))


def test_equal_numbers_have_no_spread_whatever_their_size() -> None:
    assert sums_of([[0.1] * 4] * 30).mean(0) == (0.1, 0.1, 0.1)


def test_ten_deals_are_enough() -> None:
    sums = sums_of([[0.0, 1.0, 1.0]] * 10)
    assert sums.mean(0).has_interval
    assert sums.share(0).has_interval


@pytest.mark.parametrize("deals", [1, 2, 9])
def test_too_few_deals_have_no_interval(deals: int) -> None:
    sums = sums_of([[0.0, 1.0]] * deals)
    for found in (sums.mean(0), sums.share(0)):
        assert found.mean == 0.5
        assert not found.has_interval
        assert str(found) == "0.5 (too few deals)"


# Shares


def wilson(wins: int, games: int) -> tuple[float, float]:
    """Wilson's interval as his paper of 1927 has it, with Student's t: the shares that these wins do not contradict."""
    t, p = student_t(games - 1), wins / games
    a, b, c = 1 + t * t / games, -(2 * p + t * t / games), p * p
    root = math.sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


@pytest.mark.parametrize("wins", [1, 7, 15, 29])
def test_deals_won_or_lost_as_a_whole_have_wilsons_interval(wins: int) -> None:
    """... to the factor c / (c - 1) of the variance, by which there is one deal less."""
    found = sums_of([[float(deal < wins)] * 4 for deal in range(30)]).share(0)
    t, p, n = student_t(29), wins / 30, 29
    centre, half = (n * p + t * t / 2) / (n + t * t), t / (n + t * t) * math.sqrt(n * p * (1 - p) + t * t / 4)
    assert found == pytest.approx((p, centre - half, centre + half))
    assert found == pytest.approx((p, *wilson(wins, 30)), abs=0.01)


@pytest.mark.parametrize("deals", [10, 25, 1000])
def test_winning_everything_is_not_certainty(deals: int) -> None:
    won, lost = sums_of([[1.0] * 4] * deals).share(0), sums_of([[0.0] * 4] * deals).share(0)
    assert won == pytest.approx((1.0, wilson(deals, deals)[0], 1.0))
    assert lost == pytest.approx((0.0, 0.0, wilson(0, deals)[1]))
    assert 0 < lost.high < 0.35


@pytest.mark.parametrize("deals", [[[1.0, 0.0]] * 9 + [[1.0, 1.0]], [[1.0]] * 9 + [[0.0]], [[1 / 3, 1.0, 1 / 3]] * 10])
def test_shares_lie_in_their_interval_and_that_between_0_and_1(deals: list[list[float]]) -> None:
    found = sums_of(deals).share(0)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high


# Deals that are equal, though their games or the sums of them need not be the same floats; and the share of each.
EQUAL_DEALS = {
    "a third and two thirds": [[1 / 3, 1.0, 1 / 3]] * 30,
    "in any order": [[0.1, 0.7, 0.2, 0.4], [0.4, 0.2, 0.7, 0.1], [0.7, 0.1, 0.4, 0.2]] * 10,
    "a third, written in two ways": [[1 / 3]] * 15 + [[1 - 2 / 3]] * 15,
    "one of many": [[1 / 3]] * 999 + [[1 - 2 / 3]],
    "one that lacks games": [[0.1] * 3] * 29 + [[0.1] * 2],
    "many that lack games": [[0.1] * 7] * 20 + [[0.1] * 3] * 20,
}


@pytest.mark.parametrize("deals", EQUAL_DEALS.values(), ids=EQUAL_DEALS)
def test_deals_that_differ_by_rounding_are_as_many_samples_as_deals(deals: list[list[float]]) -> None:
    sums = sums_of(deals)
    found, p, t, n = sums.share(0), deals[0][0] if len(deals[0]) == 1 else statistics.fmean(deals[0]), student_t(len(deals) - 1), len(deals)
    centre, half = (n * p + t * t / 2) / (n + t * t), t / (n + t * t) * math.sqrt(n * p * (1 - p) + t * t / 4)
    assert found == pytest.approx((p, centre - half, centre + half))
    assert sums.variance(0) == 0.0


@pytest.mark.parametrize("first", [0.0, 0.5, 1e6])
def test_a_small_spread_is_found_whatever_the_first_number(first: float) -> None:
    """Sums of squares would lose it beside a first number that is far from the others."""
    deals = [[first]] + [[0.5 + 1e-6 * (deal % 2)] for deal in range(10_000)]
    values = [value for (value,) in deals]
    assert sums_of(deals).variance(0) == pytest.approx(statistics.variance(values) / len(values), rel=1e-6)
    assert sums_of(deals[1:]).variance(0) == pytest.approx(statistics.variance(values[1:]) / 10_000, rel=1e-6)


def test_pairing_of_equal_differences_is_not_known() -> None:
    """A third less in every deal: the difference has no spread, but its floats have."""
    sums = DealSums(1)
    for deal in range(30):
        sums.add(deal, [deal / 3, (deal - 1) / 3, deal / 3 - (deal - 1) / 3])
    assert math.isnan(pairing(sums, 0, 1, 2))


# How a deal goes: the chances of the shares of its games that are won, from a generator, and the true mean.
DEALS = {
    "independent games": (lambda rng, size: rng.binomial(4, 0.5, size) / 4, 0.5),
    "a strong policy": (lambda rng, size: rng.binomial(4, 0.98, size) / 4, 0.98),
    "deals decide everything": (lambda rng, size: rng.binomial(1, 0.8, size) * 1.0, 0.8),
    "deals decide much": (lambda rng, size: rng.binomial(4, rng.beta(1.4, 0.6, size)) / 4, 0.7),
    "most deals are halved": (lambda rng, size: 0.5 + 0.5 * (rng.random(size) < 0.1), 0.55),
}


def coverage_of_shares(kind: str, deals: int, matches: int) -> float:
    """The coverage of the interval."""
    draw, truth = DEALS[kind]
    held = 0
    for match in draw(np.random.default_rng(4), (matches, deals)):
        found = sums_of([[share] for share in match.tolist()]).share(0)
        held += found.low - 1e-9 <= truth <= found.high + 1e-9
    return held / matches


def least(matches: int, promised: float) -> float:
    """The coverage that a promised one falls below once in a million times."""
    return promised - MILLION * math.sqrt(promised * (1 - promised) / matches)


@pytest.mark.parametrize("kind", DEALS)
@pytest.mark.parametrize("deals", [10, 40])
def test_shares_are_held_as_often_as_promised(kind: str, deals: int) -> None:
    """Intervals of discrete numbers cannot hold the truth 95 times in 100 everywhere; Wilson's do 93 times where they are worst."""
    assert coverage_of_shares(kind, deals, 400) > least(400, 0.93)


@pytest.mark.slow
@pytest.mark.parametrize("kind", DEALS)
@pytest.mark.parametrize("deals", [10, 20, 40, 100])
def test_shares_are_held_as_often_as_promised_in_many_matches(kind: str, deals: int) -> None:
    assert coverage_of_shares(kind, deals, 10_000) > least(10_000, 0.93)


def coverage_of_means(matches: int, deals: int) -> float:
    rng, held = np.random.default_rng(5), 0
    for _ in range(matches):
        luck = rng.normal(size=(deals, 1)) + rng.normal(size=(deals, 4))
        found = sums_of(luck.tolist()).mean(0)
        held += found.low <= 0 <= found.high
    return held / matches


def test_means_are_held_95_times_in_100() -> None:
    assert abs(coverage_of_means(1000, 12) - 0.95) < MILLION * math.sqrt(0.95 * 0.05 / 1000)


@pytest.mark.slow
@pytest.mark.parametrize("deals", [10, 12, 40])
def test_means_are_held_95_times_in_100_in_many_matches(deals: int) -> None:
    assert abs(coverage_of_means(20_000, deals) - 0.95) < MILLION * math.sqrt(0.95 * 0.05 / 20_000)


@pytest.mark.parametrize("freedom, point", [(9, 2.26216), (11, 2.20099), (20, 2.08596), (30, 2.04227), (1000, 1.96234)])
def test_students_t(freedom: int, point: float) -> None:
    assert student_t(freedom) == pytest.approx(point, abs=0.0001)


@pytest.mark.parametrize("freedom, intervals, point", [(9, 3, 2.9333), (29, 20, 3.3102), (9, 20, 4.1458), (10**7, 10, 2.8070)])
def test_quantiles_of_several_intervals_leave_each_its_share_of_the_error(freedom: int, intervals: int, point: float) -> None:
    """The points are those of scipy.stats.t.ppf(1 - 0.025 / intervals, freedom)."""
    assert student_t(freedom, intervals) == pytest.approx(point, rel=0.001)


@pytest.mark.parametrize("intervals, low, high", [(6, 0.955 - 0.035, 1.0), (1, 0.0, 0.9)])
def test_several_intervals_contain_all_their_truths_together(intervals: int, low: float, high: float) -> None:
    """The six differences of four equal policies, in 1,000 matches of 30 deals; without the correction they fail more often."""
    rng, held = np.random.default_rng(12), 0
    for _ in range(1000):
        sums = DealSums(1)
        for deal, scores in enumerate(rng.normal(50.0, 10.0, (30, 4)).tolist()):
            sums.add(deal, [one - other for one, other in combinations(scores, 2)])
        found = [sums.mean(column, intervals) for column in range(6)]
        held += all(each.low <= 0 <= each.high for each in found)
    assert low <= held / 1000 <= high


# The summary of a match


def test_the_median_is_right_to_one_percent() -> None:
    rng, median = np.random.default_rng(6), Median()
    numbers = rng.lognormal(-10, 3, 1001)
    for number in numbers:
        median.add(float(number))
    assert median.value() == pytest.approx(float(np.median(numbers)), rel=0.0101)
    assert len(median._counts) < 1001


def test_a_median_of_zeros_and_of_nothing() -> None:
    median = Median()
    assert math.isnan(median.value())
    median.add(0.0)
    assert median.value() == 0.0


def test_one_slow_game_moves_the_mean_but_not_the_median() -> None:
    results = results_of(GREEDY_V_RANDOM)
    results[0].seconds[0] += 100.0
    row = Summary(GREEDY_V_RANDOM, results).rows()[0]
    assert row.seconds_per_turn.mean > 0.9
    assert row.median_seconds_per_turn < 0.1


def test_rows_are_by_policy_over_all_its_places() -> None:
    results = results_of(GREEDY_V_RANDOM)
    greedy, others = Summary(GREEDY_V_RANDOM, results).rows()
    assert (greedy.policy, greedy.places, others.policy, others.places, others.games) == ("full_greedy", 1, "random", 3, 8)
    assert others.score.mean == pytest.approx(statistics.fmean(score for result in results for score in result.scores[1:]))
    assert greedy.wins.mean + 3 * others.wins.mean == pytest.approx(1)


def test_time_and_playouts_are_counted_by_turn() -> None:
    """Games of one turn, of four, and one in which the policy had no turn."""
    results = [result_of(number, 0) for number in range(3)]
    for result, turns, playouts, seconds in zip(results, (1, 4, 0), (30, 40, 0), (3.0, 4.0, 0.0), strict=True):
        result.turns, result.playouts, result.seconds = [turns, 12], [playouts, 0], [seconds, 1.0]
    row = Summary(Match("kingdomino", ["full_greedy", "random"], games=3), results).rows()[0]
    assert (row.playouts_per_turn.mean, row.seconds_per_turn.mean) == pytest.approx(((30 + 10 + 0) / 3, (3 + 1 + 0) / 3))
    assert row.median_seconds_per_turn == pytest.approx(1.0, rel=0.01)


def result_of(number: int, margin: int) -> Result:
    """A game between two policies that ends like this."""
    win = (margin > 0) + (margin == 0) / 2
    record = str(number) * 500
    return Result(number, number // 2, [60 + margin, 60], [margin, -margin], [win, 1 - win], [1.0, 1.0], [12, 12], [0, 0], record)


def test_the_summary_keeps_margins_and_the_closest_game_whatever_the_order() -> None:
    match = Match("kingdomino", ["full_greedy", "random"], games=24)
    margins = [5, -3, 3, 5, *[20] * 20]
    results = [result_of(number, margin) for number, margin in enumerate(margins)]
    for order in (results, results[::-1]):
        summary = Summary(match)
        for result in order:
            summary.add(result)
        assert summary.margins == {5: 2, -3: 1, 3: 1, 20: 20}
        assert summary.closest is not None
        assert summary.closest.number == 1
    won, lost = Summary(match, results[4:]).rows()
    assert (won.wins.mean, won.wins.high, lost.wins.low) == (1.0, 1.0, 0.0)
    assert won.wins.low < 0.8  # ten deals won are not certainty


def test_memory_does_not_grow_with_the_number_of_games() -> None:
    match, dice = Match("kingdomino", ["random"] * 2, games=10**6), random.Random(7)
    summary = Summary(match)

    def play(first: int, games: int) -> None:
        for number in range(first, first + games):
            result = result_of(number, dice.randrange(-30, 31))
            result.seconds = [dice.random(), dice.random()]
            summary.add(result)

    play(0, 2000)
    tracemalloc.start()
    play(2000, 4000)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 50_000  # 4,000 records alone are 8,000,000 bytes
    assert (summary.games, summary.deals, sum(summary.margins.values())) == (6000, 3000, 6000)


def test_estimates_as_text() -> None:
    estimate = Estimate(0.981, 0.912, 0.996)
    assert estimate.scaled(100).text(unit=" %", ends=True) == "98.1 % [91.2, 99.6]"
    assert Estimate(3.0, 2.5, 3.5).text(sign=True) == "+3.0 ± 0.5"
    assert Estimate(3.0).text() == "3.0"
    assert Estimate(math.nan).scaled(100).text(unit=" %", ends=True) == "-"


def test_a_signal_in_a_game_does_not_lose_the_games_of_its_deal_before_it(monkeypatch) -> None:
    sums = DealSums(2)
    sums.add(0, [1.0])
    total = type(sums._total)

    def interrupted(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(total, "with_deal", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sums.add(0, [3.0])
    assert sums.games == 1
    sums.add(0, [3.0])
    assert (sums.games, sums.deals) == (2, 1)
