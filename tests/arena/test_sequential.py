"""Does a comparison err as rarely as it says, whenever it ends? The differences of the deals are drawn here, so the truth is known."""

import math

import numpy as np
import pytest

from kdenv.arena import Comparison, Match, Verdict
from kdenv.arena.sequential import ConfidenceSequence
from kdenv.core.errors import BadOption

PAIR = Match("kingdomino", ["full_greedy", "gprd"], games=1)
MILLION = 4.9  # standard deviations that chance exceeds once in a million times


def coins(a: float, b: float, games: int, shared: float):
    """Deals of two coin-biased players: in each game one makes a point with probability a, the other with probability b.

    In this share of all games the deal decides for both, so that luck is shared; their difference is a - b all the same.
    """

    def draw(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        luck, other = rng.random((*size, games)), rng.random((*size, games))
        other = np.where(rng.random((*size, games)) < shared, luck, other)
        return ((luck < a).mean(axis=2) - (other < b).mean(axis=2)).round(9)

    return draw, a - b


TRUTHS = {
    "equal coins": coins(0.5, 0.5, 2, 0.0),
    "equal coins that share luck": coins(0.5, 0.5, 4, 0.9),
    "coins that seldom land heads": coins(0.05, 0.05, 1, 0.0),
    "a better coin": coins(0.6, 0.5, 4, 0.5),
    "a coin that is hardly better": coins(0.52, 0.5, 2, 0.5),
    "a coin that only ever gains": coins(0.3, 0.2, 1, 1.0),
    "a much better coin": coins(0.95, 0.05, 2, 0.0),
    "normal differences": (lambda rng, size: rng.normal(0.0, 10.0, size), 0.0),
    "long tails": (lambda rng, size: rng.standard_t(3, size), 0.0),
    "one long tail": (lambda rng, size: rng.exponential(1.0, size) - 0.5, 0.5),
    "a longer tail": (lambda rng, size: rng.lognormal(0.0, 0.6, size), math.exp(0.18)),
    "mostly nothing": (lambda rng, size: (rng.random(size) < 0.1) * rng.normal(1.0, 1.0, size), 0.1),
}


def misses(kind: str, comparisons: int, deals: int, error: float = 0.05) -> float:
    """In which share of all comparisons an interval, at any time, did not hold the truth. That is how often the worst stopping errs."""
    draw, truth = TRUTHS[kind]
    missed = 0
    for differences in draw(np.random.default_rng(14), (comparisons, deals)).tolist():
        sequence = ConfidenceSequence(error)
        for number in differences:
            sequence.add(number)
            found = sequence.interval()
            if found.has_interval and not found.low - 1e-9 <= truth <= found.high + 1e-9:
                missed += 1
                break
    return missed / comparisons


@pytest.mark.parametrize("kind", TRUTHS)
def test_no_stopping_errs_more_often_than_it_says(kind: str) -> None:
    assert misses(kind, 1000, 300) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("kind", TRUTHS)
def test_no_stopping_errs_more_often_than_it_says_in_long_comparisons(kind: str, error: float) -> None:
    """... but for what chance does once in a million times: one long tail uses up nearly all of an error of 1 %."""
    assert misses(kind, 2000, 800, error) <= error + MILLION * math.sqrt(error * (1 - error) / 2000)


def test_looking_at_the_usual_interval_after_every_deal_errs_far_more_often() -> None:
    """The test above can fail: it does so with the interval that is meant to be looked at once."""
    differences = np.random.default_rng(14).normal(size=(1000, 150))
    n = np.arange(1, 151)
    mean = differences.cumsum(axis=1) / n
    half = 1.96 * np.sqrt((np.square(differences).cumsum(axis=1) / n - mean**2) / n)
    assert ((np.abs(mean) > half) & (n >= 10)).any(axis=1).mean() > 0.2


def decided(kind: str, smallest: float, seed: int, deals: int = 3000) -> Comparison:
    """A comparison that ends when it knows, or after so many deals."""
    draw, _ = TRUTHS[kind]
    comparison = Comparison(PAIR, smallest=smallest)
    for difference in draw(np.random.default_rng(seed), (1, deals))[0].tolist():
        comparison.add_deal(difference, 0.0)
        if comparison.is_known:
            break
    return comparison


@pytest.mark.parametrize(
    "kind, smallest, right",
    [
        ("a better coin", 0.02, {Verdict.STRONGER}),
        ("a much better coin", 0.1, {Verdict.STRONGER}),
        ("equal coins that share luck", 0.05, {Verdict.CLOSE}),
        ("a coin that is hardly better", 0.1, {Verdict.CLOSE, Verdict.STRONGER}),
    ],
)
def test_what_is_said_is_right(kind: str, smallest: float, right: set[Verdict]) -> None:
    found = [decided(kind, smallest, seed).verdict for seed in range(60)]
    assert sum(verdict not in right for verdict in found) <= 60 * 0.05 + MILLION * math.sqrt(60 * 0.05 * 0.95)
    assert sum(verdict in right for verdict in found) >= 50


@pytest.mark.parametrize("skewed", [False, True])
def test_the_interval_is_the_one_of_the_formula(skewed: bool) -> None:
    """Values just inside are not excluded by the t test with a normal mixture, values just outside are."""
    rng, error, n = np.random.default_rng(3), 0.05, 40
    x = rng.exponential(2.0, n) if skewed else rng.normal(1.0, 2.0, n)
    sequence = ConfidenceSequence(error)
    for number in x.tolist():
        sequence.add(number)
    found = sequence.interval()
    farthest = np.abs(x - x.mean()).max()
    ng = n * (-2 * math.log(error) + math.log(1 - 2 * math.log(error))) / 100

    def evidence(m: float) -> float:
        share = (x - m).sum() ** 2 / n / (np.square(x - m).sum() + farthest**2)
        return (1 - share * ng / (1 + ng)) ** (-n / 2) / math.sqrt(1 + ng)

    half, middle = (found.high - found.low) / 2, (found.low + found.high) / 2
    # Johnson 1978, where (mean - m)^2 is the largest one that is not excluded
    variance = x.var() + farthest**2 / n
    share = half**2 / (half**2 + variance)
    assert middle - x.mean() == pytest.approx(share * ((x - x.mean()) ** 3).mean() / (3 * variance))
    assert (middle - x.mean() > 0.05 * half) or not skewed
    for end in (x.mean() - half, x.mean() + half):
        inward = math.copysign(1e-6, x.mean() - end)
        assert evidence(end + inward) < 1 / error < evidence(end - inward)


def test_the_evidence_is_that_of_the_t_test_with_a_normal_mixture() -> None:
    """The likelihood ratio of t against t with a normal mixture of means, by numerical integration."""
    x, g = np.random.default_rng(2).normal(0.4, 1.0, 12), 0.15
    n = len(x)
    share, ng = x.sum() ** 2 / n / np.square(x).sum(), n * g
    closed = (1 - share * ng / (1 + ng)) ** (-n / 2) / math.sqrt(1 + ng)

    def likelihood(theta: np.ndarray) -> np.ndarray:
        """With the scale integrated out by its invariant prior, up to a constant."""
        scale = np.exp(np.linspace(-4.0, 4.0, 601))[:, None]
        logs = -n * np.log(scale) - np.square(x[:, None, None] / scale - theta).sum(axis=0) / 2
        return np.exp(logs).sum(axis=0)

    theta = np.linspace(-3.0, 3.0, 401)
    weights = np.exp(-np.square(theta) / (2 * g))
    mixture = (likelihood(theta) * weights).sum() / weights.sum()
    assert mixture / likelihood(np.zeros(1))[0] == pytest.approx(closed, rel=1e-3)


def test_a_comparison_needs_fewer_deals_than_a_test_of_a_fixed_size() -> None:
    """... with errors of 5 %, which needs 325 deals for this difference. Intervals that are too wide need 260."""
    rng, needed = np.random.default_rng(6), []
    for _ in range(200):
        sequence = ConfidenceSequence(0.05)
        while not (sequence.count > 10 and sequence.interval().low > 0):
            sequence.add(float(rng.normal(1.0, 5.0)))
        needed.append(sequence.count)
    assert np.mean(needed) < 250


def test_the_deals_that_are_still_needed_are_the_fewest() -> None:
    sequence = ConfidenceSequence(0.05)
    for number in np.random.default_rng(4).normal(0.0, 10.0, 30).tolist():
        sequence.add(number)
    needed = sequence.count_for(1.0, 100_000)
    assert sequence.half(needed) <= 1.0 < sequence.half(needed - 1)
    assert sequence.count_for(1.0, 50) == 50


@pytest.mark.parametrize("error", [0.05, 1e-3, 1e-6])
def test_the_first_intervals_are_infinite_and_then_shrink(error: float) -> None:
    sequence, halves = ConfidenceSequence(error), []
    for number in [*[1.0, 2.0] * 10, *[1.5] * 100]:
        sequence.add(number)
        halves.append(sequence.half(sequence.count))
    n_infinite = halves.count(math.inf)
    assert halves[:n_infinite] == [math.inf] * n_infinite
    assert n_infinite >= 19
    assert halves[n_infinite:] == sorted(halves[n_infinite:], reverse=True)
    assert 0 < halves[-1] < 1


# Small differences


def fed(*differences: float, smallest: float = 1.0) -> Comparison:
    comparison = Comparison(PAIR, smallest=smallest)
    for difference in differences:
        if not comparison.is_known:
            comparison.add_deal(difference, 0.0)
    return comparison


def test_nothing_is_known_of_few_deals() -> None:
    assert fed().sentence == "it is not known whether full_greedy or gprd is stronger: too few deals (0; 10 are needed)"
    few = fed(*[100.0, 101.0, 99.0] * 3)
    assert few.verdict is Verdict.OPEN
    assert few.sentence.endswith(": too few deals (9; 10 are needed)")
    assert "(error" not in few.sentence


def test_equal_differences_have_no_interval() -> None:
    assert fed(*[0.0] * 50).sentence.endswith(": all differences are equal (10 others are needed for an interval)")
    few = fed(*[3.0] * 50, *[4.0] * 7).sentence
    assert few.endswith("only 7 of 57 deals differ from the others (10 others are needed for an interval)")


def test_equal_differences_for_long_enough_are_called_alike() -> None:
    """0.95 to the power of 135 is below a fiftieth of 5 %, which is kept for this."""
    alike = fed(*[0.0] * 200)
    assert (alike.verdict, alike.deals) == (Verdict.ALIKE, 135)
    assert 0.95**135 < 0.001 < 0.95**134
    assert alike.sentence == (
        "full_greedy and gprd made the same points on every deal; "
        "this fails on fewer than 5 % of all deals (error at most 5 %), after 135 deals"
    )
    assert "differed by exactly -2.5 points a game on every deal" in fed(*[-2.5] * 200).sentence


def test_equal_differences_of_means_are_equal_whatever_their_floats() -> None:
    """A made a third of a point less in every deal. As floats these differences are several numbers, with an interval of no width."""
    comparison = Comparison(PAIR)
    for deal in range(1, 51):
        comparison.add_deal((deal - 1) / 3, deal / 3)
    assert comparison.verdict is Verdict.OPEN
    assert comparison.sentence.endswith(": all differences are equal (10 others are needed for an interval)")


def test_ties_but_for_a_few_deals_are_close() -> None:
    close = fed(*[0.0, 0.0, 0.0, 0.25, -0.25] * 40, smallest=0.5)
    assert close.verdict is Verdict.CLOSE
    assert close.sentence.startswith("full_greedy and gprd differ by less than 0.5 points a game: full_greedy minus gprd is ")


def test_wide_differences_leave_it_open() -> None:
    unknown = fed(*[30.0, -30.0, 29.0, -29.0] * 15)
    assert unknown.difference.has_interval
    assert unknown.verdict is Verdict.OPEN
    assert unknown.sentence.endswith(" points a game (error at most 5 %), after 60 deals")


def test_a_comparison_against_a_field_names_it_once() -> None:
    match = Match("kingdomino", ["full_greedy", "gprd", "random", "random"], games=8, seed=3, other=["mce", "gprd", "random", "random"])
    assert Comparison(match).describe() == "kingdomino, 4 players, seed 3: full_greedy or mce against gprd, random"


def test_the_stronger_one_is_named_first() -> None:
    up, down = fed(*[3.0, 4.0, 5.0] * 20), fed(*[-3.0, -4.0, -5.0] * 20)
    assert (up.verdict, down.verdict) == (Verdict.STRONGER, Verdict.WEAKER)
    assert up.sentence.startswith("full_greedy is stronger than gprd by 4")
    assert down.sentence == up.sentence.replace("full_greedy is stronger than gprd", "gprd is stronger than full_greedy")


@pytest.mark.parametrize("error", [0.0, 0.5, -1.0, math.nan])
def test_impossible_errors_are_refused(error: float) -> None:
    with pytest.raises(BadOption, match=rf"an error of {error:g} is not possible; it is a probability above 0 and below 0.5"):
        Comparison(PAIR, error=error)


@pytest.mark.parametrize("smallest", [-1.0, math.nan, math.inf])
def test_impossible_smallest_differences_are_refused(smallest: float) -> None:
    with pytest.raises(BadOption, match=r"a smallest difference of .* is not possible"):
        Comparison(PAIR, smallest=smallest)
