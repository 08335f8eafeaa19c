"""Are the tests behind the verdicts right? Small cases are counted by hand or by enumeration, others compared with scipy."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from baselines.papers.verdicts import (
    Mean,
    Share,
    compare_means,
    compare_shares,
    fisher,
    holm,
    newcombe,
    noticeable_mean,
    noticeable_share,
    quantile,
    tail,
)


def enumerated(one: Share, other: Share) -> Fraction:
    """Fisher's p value by exact fractions, from all ways to deal the wins to the games."""
    n, won = one.games + other.games, one.won + other.won
    weight = {k: math.comb(one.games, k) * math.comb(other.games, won - k) for k in range(won + 1) if k <= one.games}
    return Fraction(sum(w for w in weight.values() if w <= weight[one.won]), math.comb(n, won))


def test_fishers_test_by_hand_and_by_enumeration() -> None:
    assert fisher(Share(3, 4), Share(1, 4)) == pytest.approx(34 / 70)  # the lady who tastes tea, two-sided
    assert fisher(Share(5, 5), Share(0, 5)) == pytest.approx(2 / 252)
    assert fisher(Share(2, 4), Share(2, 4)) == 1
    for n, m in ((3, 5), (6, 6), (10, 7)):
        for k, j in itertools.product(range(n + 1), range(m + 1)):
            assert fisher(Share(k, n), Share(j, m)) == pytest.approx(float(enumerated(Share(k, n), Share(j, m))), rel=1e-9)


def test_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    dice = random.Random("verdicts")
    for _ in range(60):
        n, m = dice.randint(5, 1500), dice.randint(5, 400)
        p = dice.random()
        one, other = Share(round(p * n), n), Share(min(m, max(0, round(p * m + dice.gauss(0, 3)))), m)
        expected = stats.fisher_exact([[one.won, n - one.won], [other.won, m - other.won]]).pvalue
        assert fisher(one, other) == pytest.approx(expected, rel=1e-6)
    for freedom, t in itertools.product((1, 2.5, 9, 30.7, 199, 20_000), (0.0, 0.3, 1.7, 2.6, 5.0, 12.0)):
        assert tail(t, freedom) == pytest.approx(stats.t.sf(t, freedom), rel=1e-8)
        if t:
            assert quantile(stats.t.sf(t, freedom), freedom) == pytest.approx(t, rel=1e-6)
    assert quantile(1e-5, math.inf) == pytest.approx(stats.norm.isf(1e-5), rel=1e-9)
    one, other = (stats.norm.rvs(loc, scale, n, random_state=7) for loc, scale, n in ((0, 1, 12), (0.7, 3, 40)))
    found = compare_means(*(Mean(each.mean(), each.std(ddof=1) / len(each) ** 0.5, len(each) - 1) for each in (one, other)), 5)
    welch = stats.ttest_ind(other, one, equal_var=False)
    assert found.p == pytest.approx(welch.pvalue, rel=1e-8)
    assert (found.low, found.high) == pytest.approx(tuple(welch.confidence_interval(0.9)), rel=1e-8)


def test_students_tails_that_have_a_closed_form() -> None:
    assert tail(1, 1) == pytest.approx(1 / 4)  # Cauchy
    assert tail(math.sqrt(2), 2) == pytest.approx((1 - math.sqrt(2) / 2) / 2)
    assert quantile(0.025, 9) == pytest.approx(2.262157, abs=1e-6)
    assert quantile(0.025, math.inf) == pytest.approx(1.959964, abs=1e-6)


def test_the_interval_of_a_difference_of_shares_is_newcombes() -> None:
    """Table II of Newcombe 1998, method 10: 56 of 70 and 48 of 80."""
    theirs, ours = Share(48, 80), Share(56, 70)
    assert newcombe(theirs, ours, 0.025) == pytest.approx((5.24, 33.39), abs=0.005)
    found = compare_shares(theirs, ours)
    assert found.difference == pytest.approx(20) and 5.24 < found.low < found.high < 33.39
    inverse = compare_shares(ours, theirs)
    assert (-inverse.high, -inverse.low) == pytest.approx((found.low, found.high))


@pytest.mark.parametrize("theirs, games", [(Share(893, 1402), 10), (Share(893, 1402), 200), (Share(0, 98), 40), (Share(50, 100), 3)])
@pytest.mark.parametrize("level", [0.05, 0.0005])
def test_the_smallest_noticeable_share_is_found_by_trying_all(theirs: Share, games: int, level: float) -> None:
    tried = [abs(Share(won, games).percent - theirs.percent) for won in range(games + 1) if fisher(theirs, Share(won, games)) <= level]
    assert noticeable_share(theirs, games, level) == pytest.approx(min(tried, default=math.inf))


def test_the_smallest_noticeable_mean_is_just_significant() -> None:
    theirs, ours = Mean(-10, 0.5, 199), Mean(-10, 1.5, 39)
    least = noticeable_mean(theirs, ours, 0.05)
    assert 2 * 1.58 < least < 2.1 * 1.59
    assert (
        compare_means(theirs, Mean(-10 + 1.001 * least, 1.5, 39), 5).p
        < 0.05
        < compare_means(theirs, Mean(-10 + 0.999 * least, 1.5, 39), 5).p
    )


def test_holms_correction() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]  # 0.03 > 0.05 / 2 stops it
    assert holm([0.01, 0.02, 0.04]) == [True, True, True]
    assert holm([0.02, 0.02, 0.02]) == [False, False, False]
    assert holm([]) == []


@pytest.mark.parametrize(
    "theirs, ours, verdict",
    [
        (Share(893, 1402), Share(7, 10), "cannot tell"),  # ten games show little
        (Share(893, 1402), Share(128, 200), "agrees"),
        (Share(893, 1402), Share(266, 350), "differs"),
        (Share(5000, 10_000), Share(5500, 10_000), "differs slightly"),
        (Share(200, 200), Share(200, 200), "agrees"),
        (Share(4, 4), Share(3, 3), "cannot tell"),
    ],
)
def test_verdicts_of_shares(theirs: Share, ours: Share, verdict: str) -> None:
    found = compare_shares(theirs, ours)
    assert found.verdict(found.p <= 0.05) == verdict


@pytest.mark.parametrize(
    "theirs, ours, verdict",
    [
        (Mean(-10.1, 1.0), Mean(-19.0, 2.5, 39), "differs"),
        (Mean(-10.1, 1.0), Mean(-12.2, 1.1, 199), "agrees"),
        (Mean(-10.1, 1.0), Mean(-13.5, 3, 9), "cannot tell"),
        (Mean(-7.2, 0.3), Mean(-8.5, 0.1, 9999), "differs slightly"),
        (Mean(10, 0), Mean(10, 0, 400), "agrees"),
        (Mean(10, 0), Mean(11, 0, 400), "differs slightly"),
        (Mean(10, 0), Mean(20, 0, 400), "differs"),
    ],
)
def test_verdicts_of_means(theirs: Mean, ours: Mean, verdict: str) -> None:
    found = compare_means(theirs, ours, 5)
    assert found.verdict(found.p <= 0.05) == verdict
