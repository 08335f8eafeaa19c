"""Wins, Elo differences and the likelihood of superiority of two policies (kdenv/arena/elo.py), against exact cases."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from kdenv.arena.elo import Outcomes, WinSums, elo_text
from kdenv.arena.statistics import Estimate


def at_one_table(*shares: float) -> WinSums:
    """A and B at one table: a deal of one game for each share of the win of A."""
    sums = WinSums(share_a_table=True)
    for deal, share in enumerate(shares):
        sums.add(deal, [share], [1 - share])
    return sums


def apart(shares: list[tuple[float, float]]) -> WinSums:
    sums = WinSums(share_a_table=False)
    for deal, (a, b) in enumerate(shares):
        sums.add(deal, [a], [b])
    return sums


@pytest.mark.parametrize(
    "wins, losses, elo",
    [(10, 10, 0.0), (30, 10, 400 * math.log10(3)), (100, 10, 400.0), (10, 100, -400.0)],  # ten times the wins are 400 points
)
def test_the_elo_difference_is_that_of_the_odds(wins: int, losses: int, elo: float) -> None:
    assert at_one_table(*[1.0] * wins, *[0.0] * losses).elo.mean == pytest.approx(elo)


def test_a_draw_is_half_a_win() -> None:
    drawn = at_one_table(*[1.0] * 5, *[0.5] * 10, *[0.0] * 5)
    assert (drawn.elo.mean, drawn.superiority) == pytest.approx((0.0, 0.5))
    assert str(drawn.a) == "5-10-5"


def test_the_ends_of_the_interval_are_those_of_the_share_of_the_wins() -> None:
    sums = at_one_table(*[1.0] * 30, *[0.0] * 10)
    low, high = (1 / (1 + 10 ** (-end / 400)) for end in sums.elo[1:])
    # Wilson's interval by hand: 40 deals, an effective size of 39, and t of 39 degrees of freedom
    n, p, t = 39, 0.75, 2.02269
    centre, half = (n * p + t * t / 2) / (n + t * t), t / (n + t * t) * math.sqrt(n * p * (1 - p) + t * t / 4)
    assert (low, high) == pytest.approx((centre - half, centre + half), abs=1e-5)


@pytest.mark.parametrize("wins, losses", [(15, 5), (12, 8), (8, 12), (60, 40)])
def test_superiority_is_the_formula_of_engine_testers_with_one_game_less(wins: int, losses: int) -> None:
    n = wins + losses
    expected = NormalDist().cdf((wins - losses) / math.sqrt(n) * math.sqrt((n - 1) / n))
    assert at_one_table(*[1.0] * wins, *[0.0] * losses).superiority == pytest.approx(expected)


def test_draws_make_a_result_surer() -> None:
    """Of 200 games with 100 draws, 60 wins and 40 losses say as much as 60 wins and 40 losses alone, but for terms of order D^2."""
    with_draws = at_one_table(*[1.0] * 60, *[0.5] * 100, *[0.0] * 40).superiority
    assert with_draws == pytest.approx(NormalDist().cdf(20 / math.sqrt(100)), abs=0.003)


def test_games_of_a_deal_that_end_alike_count_as_one() -> None:
    sums, single = WinSums(share_a_table=True), at_one_table(*[1.0] * 15, *[0.0] * 5)
    for deal in range(20):
        sums.add(deal, [float(deal < 15)] * 4, [float(deal >= 15)] * 4)
    assert (sums.elo, sums.superiority) == (single.elo, single.superiority)
    assert str(sums.a) == "60-0-20"


def test_apart_it_is_the_difference_of_two_ratings() -> None:
    """A wins 3 of 4 games against the opponents, and B 1 of 4: 400 log10(3) points above them, and as much below."""
    sums = apart([(1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)] * 10)
    assert sums.elo.mean == pytest.approx(2 * 400 * math.log10(3))
    assert str(sums).startswith("wins-draws-losses 30-0-10 (A) and 10-0-30 (B), Elo difference +382 [")


def test_apart_the_interval_is_that_of_the_delta_method() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.random(200) < 0.6, rng.random(200) < 0.45
    found = apart([(float(x), float(y)) for x, y in zip(a, b, strict=True)]).elo
    linear = (a - a.mean()) / (a.mean() * (1 - a.mean())) - (b - b.mean()) / (b.mean() * (1 - b.mean()))
    half = 1.97196 * 400 / math.log(10) * math.sqrt(linear.var() / 199)
    assert (found.high - found.mean, found.mean - found.low) == pytest.approx((half, half), rel=1e-4)


def test_whoever_wins_every_game_has_only_one_end() -> None:
    sums = at_one_table(*[1.0] * 20)
    assert sums.superiority == pytest.approx(NormalDist().cdf(math.sqrt(20)))
    assert elo_text(sums.elo).startswith("at least +")
    assert elo_text(at_one_table(*[0.0] * 20).elo).startswith("at most -")
    assert elo_text(apart([(1.0, 0.0)] * 20).elo) == "not known"


def test_few_deals_have_no_interval() -> None:
    sums = at_one_table(1.0, 1.0, 0.0)
    assert math.isnan(sums.superiority)
    assert str(sums) == "wins-draws-losses 2-0-1, Elo difference +120"
    assert elo_text(Estimate(math.inf)) == "not known"
    assert str(WinSums(share_a_table=True)) == ""


def test_outcomes_are_counted() -> None:
    outcomes = Outcomes()
    for share in (1.0, 0.5, 0.25, 0.0, 0.0):
        outcomes.add(share)
    assert (outcomes.wins, outcomes.draws, outcomes.losses) == (1, 2, 2)
