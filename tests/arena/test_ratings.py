"""Are ratings those of the model, and do their intervals hold the truth as often as they say? Leagues are drawn, so it is known."""

import math
from itertools import permutations

import choix
import numpy as np
import pytest

from baselines.tools.rated_leagues import FAR_APART, LEAGUES, SPREAD, League, coverage, drawn
from kdenv.arena import ratings
from kdenv.arena.ratings import POINTS, Places, Placings, places_of

WON, TIED, LOST = (0, 1), (0, 0), (1, 0)


def two(*games: Places, deals: int = 1, policies: int = 2) -> Placings:
    """This number of deals of policies 0 and 1, each with these games."""
    placings = Placings(policies, len(games))
    for deal in range(deals):
        for places in games:
            placings.add((0, 1), deal, places)
    return placings


@pytest.fixture
def nearly_no_imagined_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "_IMAGINED", 1e-5)


@pytest.mark.usefixtures("nearly_no_imagined_games")
def test_a_rating_is_the_share_of_the_wins_and_a_tie_is_half_of_one() -> None:
    found = two(WON, WON, TIED, LOST, deals=20).rate().estimates
    assert found[0].mean - found[1].mean == pytest.approx(POINTS * math.log(2.5 / 1.5), abs=1e-3)
    assert found[0].mean == pytest.approx(-found[1].mean)


def test_every_policy_has_also_drawn_a_quarter_of_a_game_with_one_of_strength_0() -> None:
    """At the most probable strengths, the points that a policy should have made are those that it made, the imagined ones included."""
    found = two(WON, deals=12).rate().estimates
    strength = (found[0].mean - found[1].mean) / 2 / POINTS  # the strengths are x and -x
    share_of_wins, share_of_imagined = 1 / (1 + math.exp(-2 * strength)), 1 / (1 + math.exp(-strength))
    assert 12 * share_of_wins + 0.25 * share_of_imagined == pytest.approx(12 + 0.25 / 2)


@pytest.mark.usefixtures("nearly_no_imagined_games")
@pytest.mark.parametrize("games", [1, 2])
def test_the_interval_of_two_who_win_10_deals_each_is_exact(games: int) -> None:
    """20 deals that are 1 or 0 have the mean 1/2 with a variance of 1 / (4 * 19), whatever the number of games that a deal decides.

    The difference of the strengths is log(p / (1 - p)), which rises by 4 for a p of 1/2 that rises by 1; half of it is above the mean.
    The likelihood of a strength x above the mean falls as 1 / cosh(x) squared does, so where it is as much less probable as that half
    would be on a parabola of the same curvature, log(cosh(x)) is half the square of the half.
    """
    placings = Placings(2, games)
    for deal in range(20):
        for _ in range(games):
            placings.add((0, 1), deal, WON if deal % 2 else LOST)
    found = placings.rate()
    half = ratings.student_t(19) * 4 * math.sqrt(1 / (4 * 19)) / 2
    end = math.acosh(math.exp(half * half / 2)) * POINTS
    assert found.estimates[0] == pytest.approx((0.0, -end, end), rel=1e-4, abs=1e-4)


@pytest.mark.usefixtures("nearly_no_imagined_games")
def test_ratings_of_two_at_a_table_are_those_of_choix() -> None:
    placings, rng = Placings(4, 1), np.random.default_rng(1)
    wins = []
    for deal in range(300):
        table = tuple(sorted(rng.choice(4, 2, replace=False).tolist()))
        places = WON if rng.random() < 0.7 else LOST
        placings.add(table, deal, places)
        wins.append(table if places == WON else table[::-1])
    theirs = choix.opt_pairwise(4, wins, alpha=1e-9)
    assert np.allclose([each.mean / POINTS for each in placings.rate().estimates], theirs - theirs.mean(), atol=1e-4)


@pytest.mark.usefixtures("nearly_no_imagined_games")
def test_ratings_of_four_at_a_table_are_those_of_choix() -> None:
    placings, rng = Placings(6, 1), np.random.default_rng(2)
    rankings = []
    for deal in range(200):
        table = tuple(sorted(rng.choice(6, 4, replace=False).tolist()))
        order = np.argsort(-(0.3 * np.array(table) + rng.gumbel(size=4)))
        placings.add(table, deal, tuple(np.argsort(order).tolist()))
        rankings.append([table[at] for at in order])
    theirs = choix.opt_rankings(6, rankings, alpha=1e-9)
    assert np.allclose([each.mean / POINTS for each in placings.rate().estimates], theirs - theirs.mean(), atol=1e-4)


@pytest.mark.parametrize("places", [(0, 0, 0), (0, 1, 1), (0, 0, 2), (0, 1, 1, 1), (2, 0, 0, 2), (0, 0, 0, 0)])
def test_a_tie_counts_as_the_mean_over_all_orders_of_those_who_tie(places: Places) -> None:
    odds = np.exp(np.array([0.3, -0.2, 1.1, 0.5])[: len(places)])

    def likelihood(order: tuple[int, ...]) -> float:
        return sum(math.log(odds[order[at]] / odds[list(order[at:])].sum()) for at in range(len(order)))

    orders = [order for order in permutations(range(len(places))) if sorted(order, key=lambda each: places[each]) == list(order)]
    mean = sum(map(likelihood, orders)) / len(orders)
    assert np.log(odds).sum() - sum(w * math.log(odds[list(m)].sum()) for m, w in ratings._choices(places)) == pytest.approx(mean)


def test_the_most_probable_strengths_are_where_the_likelihood_is_flat() -> None:
    placings = drawn(LEAGUES["eight at tables of four, deals that suit a seat"], np.random.default_rng(3))
    likelihood = ratings._Likelihood(8, placings._deals, ratings._IMAGINED)
    strengths = likelihood.most_probable()
    assert np.abs(likelihood._slope(strengths)).max() < 1e-8
    for policy in range(8):
        step = np.zeros(8)
        step[policy] = 1e-4
        rise = (likelihood.value(strengths + 3 + step) - likelihood.value(strengths + 3 - step)) / 2e-4
        assert rise == pytest.approx(likelihood._slope(strengths + 3)[policy], abs=1e-5)


def test_games_of_a_deal_that_all_end_alike_are_one_sample() -> None:
    def width(games_of_a_deal: int) -> float:
        placings = Placings(2, games_of_a_deal)
        for deal in range(60):
            for _ in range(games_of_a_deal):
                placings.add((0, 1), deal, WON if deal % 3 else LOST)
        found = placings.rate().estimates[0]
        return found.high - found.low

    assert width(4) == pytest.approx(width(1), rel=0.05)


def test_whether_a_deal_is_finished_does_not_matter() -> None:
    whole, cut = Placings(2, 2), Placings(2, 3)
    for deal in range(30):
        for places in (WON, LOST if deal % 3 else WON):
            whole.add((0, 1), deal, places)
            cut.add((0, 1), deal, places)
    assert whole.rate().estimates == cut.rate().estimates


def test_policies_that_share_every_deal_are_not_known_to_be_equal() -> None:
    found = two(WON, LOST, deals=50).rate()
    assert found.estimates[0].mean == pytest.approx(0.0, abs=1e-6)
    assert found.estimates[0].high > 1
    assert found.superiority[0, 1] == pytest.approx(0.5)


# Whoever won, or lost, everything


@pytest.mark.parametrize("sign", [1, -1])
def test_whoever_wins_or_loses_everything_has_a_finite_rating_and_one_end(sign: int) -> None:
    placings = Placings(3, 2)
    for deal in range(30):
        placings.add((0, 1), deal, WON)
        placings.add((0, 1), deal, LOST)
        for other in (0, 1):
            for _ in range(2):
                placings.add((other, 2), deal, LOST if sign > 0 else WON)
    found = placings.rate()
    best = found.estimates[2]
    assert found.reference == [0, 1]
    assert 400 < sign * best.mean < 3000
    bound, none = (best.low, best.high) if sign > 0 else (best.high, best.low)
    assert none == sign * math.inf
    # 60 deals were won: at this strength against policies of strength 0 that happens in one case of 40
    assert 60 * math.log(1 / (1 + math.exp(-sign * bound / POINTS))) == pytest.approx(math.log(0.025), rel=1e-3)
    assert found.superiority[2, 0] == pytest.approx(0.5 + sign / 2, abs=1e-9)


def test_with_more_at_the_table_the_end_of_an_unbeaten_one_is_no_closer() -> None:
    """It finished before the strongest of the others; nothing else is known."""
    placings = Placings(3, 1)
    for deal in range(40):
        placings.add((0, 1, 2), deal, (1, 2, 0) if deal % 2 else (2, 1, 0))
    found = placings.rate().estimates[2]
    assert 40 * math.log(1 / (1 + math.exp(-found.low / POINTS))) == pytest.approx(math.log(0.025), rel=1e-3)


def test_groups_that_never_met_are_not_compared() -> None:
    placings = Placings(5, 2)
    for deal in range(20):
        for table in ((0, 1), (1, 2), (3, 4)):
            placings.add(table, deal, WON)
            placings.add(table, deal, LOST)
    found = placings.rate()
    assert found.reference == [0, 1, 2]
    assert [each.low for each in found.estimates[3:]] == [-math.inf] * 2
    assert [each.high for each in found.estimates[3:]] == [math.inf] * 2
    assert found.superiority[0, 3] == pytest.approx(0.5)


def test_a_table_of_which_one_has_beaten_all_others_is_rated() -> None:
    found = two(WON, WON, deals=12).rate()
    assert all(math.isfinite(each.mean) for each in found.estimates)
    assert found.reference == [0]
    assert found.estimates[1].low == -math.inf
    assert -300 < found.estimates[1].high < -100


def test_few_deals_have_no_interval_and_none_have_a_rating_of_nothing() -> None:
    found = two(WON, LOST, deals=9, policies=3).rate().estimates
    assert not found[0].has_interval
    assert found[2].mean == 0.0
    assert not found[2].has_interval


def test_the_anchor_has_a_rating_of_0() -> None:
    placings = drawn(League(SPREAD, 2, 20, 0.5, 0.3, False), np.random.default_rng(4))
    free, held = placings.rate(), placings.rate(anchor=2)
    assert held.reference == [2]
    assert held.estimates[2] == (0.0, 0.0, 0.0)
    assert held.estimates[0].mean == pytest.approx(free.estimates[0].mean - free.estimates[2].mean)
    assert np.allclose(held.superiority, free.superiority)


def test_superiority_agrees_with_the_interval_of_two() -> None:
    found = two(WON, WON, LOST, TIED, deals=15).rate()
    one, other = found.estimates
    spread = (one.high - one.low) / 2 / ratings.student_t(15 - 1)  # of half the difference
    assert found.superiority[0, 1] == pytest.approx(0.5 * math.erfc(-(one.mean - other.mean) / 2 / spread / math.sqrt(2)), abs=1e-6)


@pytest.mark.parametrize(
    "scores, wins, places",
    [
        ((30, 20, 40), (0, 0, 1), (1, 2, 0)),
        ((30, 30, 10), (0, 1, 0), (1, 0, 2)),  # a rule has broken the tie of the first two
        ((30, 30, 10), (0.5, 0.5, 0), (0, 0, 2)),
        ((5, 9, 9), (1, 0, 0), (0, 1, 1)),
        ((20, 20, 30), (0.5, 0.5, 0), (0, 0, 2)),  # the winners share the win, and the last has more points
        ((20, 30, 10), (0.5, 0.5, 0), (0, 0, 2)),  # partners who win together
    ],
)
def test_winners_are_first_and_the_others_follow_by_score(scores: tuple[int, ...], wins: tuple[float, ...], places: Places) -> None:
    assert places_of(scores, wins) == places


# Intervals of those who are far apart


def weak_side(wins: int, games: int) -> Placings:
    """Two policies, of which the second wins so many games. Each game is a deal."""
    placings = Placings(2, 1)
    for game in range(games):
        placings.add((0, 1), game, LOST if game < wins else WON)
    return placings


@pytest.mark.parametrize("wins, games", [(1, 20), (1, 200), (2, 60), (7, 30)])
def test_the_interval_of_two_is_that_of_profile_likelihood(wins: int, games: int) -> None:
    """With two policies there is nothing but their difference, whose likelihood is that of a coin. Its ends are found by halving."""
    share = wins / games

    def fallen(gap: float) -> float:
        """The fall of the log-likelihood from its value at the share itself."""
        chance = 1 / (1 + math.exp(gap))
        return wins * math.log(share / chance) + (games - wins) * math.log((1 - share) / (1 - chance))

    # The variance over deals, by the naive one: n / (n - 1), and what a quarter of a game against a strength of 0 adds.
    half = math.log(1 / share - 1) / 2
    scale = games / (games - 1) + 0.125 / (2 + 2 * math.cosh(half)) / (games * share * (1 - share))
    allowed = ratings.student_t(games - 1) ** 2 / 2 * scale
    ends = []
    for far in (-40.0, 40.0):
        near = 2 * half
        for _ in range(80):
            middle = (near + far) / 2
            near, far = (near, middle) if fallen(middle) > allowed else (middle, far)
        ends.append(POINTS * near / 2)
    found = weak_side(wins, games).rate().estimates[0]
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=0.01)
    assert found.high - found.mean > found.mean - found.low  # the games tell less of how far apart they are at most


@pytest.mark.parametrize("games", [20, 200])
def test_the_interval_of_two_holds_any_truth_about_as_often_as_it_says(games: int) -> None:
    """Exactly: the sum of the probabilities of all numbers of wins whose interval holds the true difference."""
    ends = []
    for wins in range(games // 2 + 1):
        first, second = weak_side(wins, games).rate().estimates
        ends.append((2 * first.low, 2 * first.high) if wins else (-second.high, math.inf))
    ends += [(-high, -low) for low, high in reversed(ends[: games - games // 2])]
    for gap in range(0, 2500, 20):
        chance = 1 / (1 + 10 ** (gap / 400))
        held = sum(
            math.comb(games, wins) * chance**wins * (1 - chance) ** (games - wins)
            for wins, (low, high) in enumerate(ends)
            if low <= gap <= high
        )
        assert held > 0.93, gap


def test_others_at_the_table_who_are_not_linked_do_not_move_an_interval() -> None:
    """The third finishes before both, or behind both: who of the two is first is as likely as without it."""
    alone, beside = Placings(2, 1), Placings(3, 1)
    for deal in range(40):
        places = LOST if deal < 2 else WON
        alone.add((0, 1), deal, places)
        beside.add((0, 1, 2), deal, (*(place + 1 for place in places), 0))
    without, found = alone.rate().estimates[0], beside.rate().estimates[0]
    assert (found.low, found.high) == pytest.approx((without.low, without.high), abs=0.01)


# Known truth


@pytest.mark.parametrize("name", ["six, deals that suit a policy", "eight at tables of four, deals that suit a seat"])
def test_intervals_of_some_leagues_hold_the_truth(name: str) -> None:
    found = coverage(LEAGUES[name], 40)
    assert 0.90 <= found.closed_right / found.closed <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("name", FAR_APART)
def test_intervals_of_1000_leagues_far_apart_hold_the_truth_as_often_as_they_say(name: str) -> None:
    """One-sided intervals belong to them: who has won nothing would have a two-sided one, had it won once."""
    found = coverage(FAR_APART[name], 1000)
    assert (found.closed_right + found.open_right) / (found.closed + found.open) > 0.93


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAGUES)
def test_intervals_of_1000_leagues_hold_the_truth_as_often_as_they_say(name: str) -> None:
    found = coverage(LEAGUES[name], 1000)
    assert 0.93 <= found.closed_right / found.closed <= 0.97
    assert found.open_right >= 0.95 * found.open


def test_intervals_that_take_every_game_for_a_sample_hold_it_far_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: it does so where deals decide everything and are not counted as samples."""

    def add(self: Placings, table: tuple[int, ...], deal: int, places: Places) -> None:
        self._deals[table, (places,)] += 1

    monkeypatch.setattr(Placings, "add", add)
    found = coverage(League((-0.5, 0.0, 0.5), 2, 20, 1.0, 0.3, False), 200)
    assert found.closed_right / found.closed < 0.89
