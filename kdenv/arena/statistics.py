"""95 % intervals for games that come in deals. Games of one deal share their luck, so the independent samples are deals, not games."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FEWEST_DEALS = 10  # an interval of fewer deals would depend more on its assumptions than on the games
TOO_FEW = "too few deals"
_ROUNDING = 1e-12  # smaller deviations, and variances, relative to a number and to a sum of squares, are rounding errors
_BIN = math.log(1.02)  # the width of a bin of Median


class Estimate(NamedTuple):
    """A mean and the ends of its 95 % interval, which are nan if there are too few deals for one."""

    mean: float
    low: float = math.nan
    high: float = math.nan

    @property
    def has_interval(self) -> bool:
        """True if there were enough deals for an interval."""
        return not math.isnan(self.low)

    def scaled(self, factor: float) -> Estimate:
        """The same estimate in another unit."""
        return Estimate(self.mean * factor, self.low * factor, self.high * factor)

    def text(self, digits: int = 1, unit: str = "", sign: bool = False, ends: bool = False) -> str:
        """Text such as 12.3 ± 2.1, or 98.0 [91.2, 99.6] with `ends`, for intervals that are not symmetric; - if the mean is nan."""
        if math.isnan(self.mean):
            return "-"
        mean = f"{self.mean:{'+' if sign else ''}.{digits}f}{unit}"
        if not self.has_interval:
            return mean
        if ends:
            return f"{mean} [{self.low:.{digits}f}, {self.high:.{digits}f}]"
        return f"{mean} ± {self.high - self.mean:.{digits}f}"

    def __str__(self) -> str:
        return self.text(ends=True) + ("" if self.has_interval else f" ({TOO_FEW})")


def finite(value: Any) -> Any:
    """The value for JSON: None in place of nan and of infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def estimate_json(estimate: Estimate) -> dict[str, float | None]:
    """The mean and the ends of an estimate by name, for JSON."""
    return {name: finite(number) for name, number in estimate._asdict().items()}


def row_json(row: DataclassInstance) -> dict[str, Any]:
    """The fields of a row of a table by name, for JSON."""
    return {name: estimate_json(value) if isinstance(value, Estimate) else finite(value) for name, value in asdict(row).items()}


class DealSums:
    """Adds up the numbers of games, several numbers a game, and computes means and intervals from the sums.

    Memory does not grow with the number of games: only deals of which games are still missing are kept one by one.
    """

    def __init__(self, games_of_a_deal: int) -> None:
        self._full = games_of_a_deal
        self._partial: dict[int, tuple[int, Any]] = {}  # by deal: its games so far, and the sum of their numbers
        self._origin: Any = None  # the numbers of the first game, subtracted from all, so that the mean of equal numbers is exact
        self._total = _Deals(0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # of all full deals

    def add(self, deal: int, numbers: Sequence[float]) -> None:
        """Add the numbers of a game of this deal."""
        values = np.array(numbers, np.float64)
        if self._origin is None:
            self._origin = values
        games, total = self._partial.get(deal, (0, 0.0))
        games, total = games + 1, total + (values - self._origin)
        if games < self._full:
            self._partial[deal] = games, total
            return
        finished = self._total.with_deal(games, total)
        # Nothing is called from here on, so a signal cannot come in between and lose the deal or count it twice.
        self._total = finished
        if deal in self._partial:
            del self._partial[deal]

    @property
    def deals(self) -> int:
        """The number of deals, including those of which games are still missing."""
        return self._total.deals + len(self._partial)

    @property
    def games(self) -> int:
        return self._total.n_games + sum(games for games, _ in self._partial.values())

    def mean(self, column: int, intervals: int = 1) -> Estimate:
        """The mean over games of the number in this column, with a t interval.

        Its variance is the cluster-robust one of a ratio of sums over deals (Liang and Zeger 1986), with the factor
        c / (c - 1) for c deals; Student's t has c - 1 degrees of freedom. It is one of so many intervals that contain all their
        truths in 95 % of all cases (Bonferroni).
        """
        return mean_of(*self.mean_and_variance(column), self.deals, intervals)

    def share(self, column: int) -> Estimate:
        """The mean over games of a number between 0 and 1 in this column, with an interval that stays between 0 and 1.

        It is Wilson's score interval (1927) for an effective sample size, with Student's t in place of the normal quantile. The
        effective sample size is the number of independent games that would have the cluster-robust variance, p (1 - p) / variance.
        Surveys treat clusters like this (Korn and Graubard 1998; compared by Franco, Little, Louis and Slud 2019). If the variance is 0,
        as when every game is won, the effective size is the number of deals, because games of one deal might all end alike.
        `tests/arena/test_arena_statistics.py` measures the coverage of the interval.
        """
        return share_of(*self.mean_and_variance(column), self.deals)

    def variance(self, column: int) -> float:
        """The variance of the mean of this column; nan if there are too few deals."""
        return self.mean_and_variance(column)[1] if self.deals >= FEWEST_DEALS else math.nan

    def mean_and_variance(self, column: int) -> tuple[float, float]:
        """The mean of a column and its cluster-robust variance; nan if there are too few games or deals to compute them."""
        found = self._total
        for games, total in self._partial.values():
            found = found.with_deal(games, total)
        if found.deals == 0:
            return math.nan, math.nan
        total, of_numbers, of_both = (float(vector[column]) for vector in (found.total, found.of_numbers, found.of_both))
        above = total / found.n_games
        mean = above + float(self._origin[column])
        if found.deals == 1:
            return mean, math.nan
        residual = of_numbers - 2 * above * of_both + above * above * found.of_games
        size = mean * mean * found.games * found.games
        rounding = _ROUNDING * (_ROUNDING * found.deals * size + of_numbers + above * above * found.of_games)
        variance = residual / found.n_games**2 * found.deals / (found.deals - 1)
        return mean, variance if residual > rounding else 0.0


class _Deals(NamedTuple):
    """Sums over deals: means, and squares and products of deviations from the means (updated as by Welford 1962).

    Sums of squares of the numbers themselves would lose a small spread to rounding. Sums of numbers are arrays with an item a column.
    """

    deals: int
    n_games: int
    total: Any  # the sum of all numbers
    games: float  # the mean number of games of a deal
    numbers: Any  # the mean sum of the numbers of a deal
    of_games: float  # the sum of the squared deviations of games
    of_both: Any  # the sum of the products of both deviations
    of_numbers: Any  # the sum of the squared deviations of numbers

    def with_deal(self, games: int, numbers: NDArray[np.float64]) -> _Deals:
        """Add one deal."""
        count = self.deals + 1
        more, further = games - self.games, numbers - self.numbers
        mean_games, mean_numbers = self.games + more / count, self.numbers + further / count
        left = numbers - mean_numbers
        return _Deals(
            count,
            self.n_games + games,
            self.total + numbers,
            mean_games,
            mean_numbers,
            self.of_games + more * (games - mean_games),
            self.of_both + more * left,
            self.of_numbers + further * left,
        )


def mean_of(mean: float, variance: float, deals: int, intervals: int = 1) -> Estimate:
    """A mean of this variance with its t interval, one of so many that contain all their truths in 95 % of all cases."""
    if deals < FEWEST_DEALS:
        return Estimate(mean)
    half = student_t(deals - 1, intervals) * math.sqrt(variance)
    return Estimate(mean, mean - half, mean + half)


def share_of(mean: float, variance: float, deals: int) -> Estimate:
    """A share of this variance with the interval of DealSums.share."""
    if deals < FEWEST_DEALS:
        return Estimate(mean)
    mean = min(max(mean, 0.0), 1.0)  # it may be outside by rounding errors
    samples = mean * (1 - mean) / variance if variance > 0 and 0 < mean < 1 else float(deals)
    t = student_t(deals - 1)
    centre = (samples * mean + t * t / 2) / (samples + t * t)
    half = t / (samples + t * t) * math.sqrt(samples * mean * (1 - mean) + t * t / 4)
    return Estimate(mean, max(0.0, min(centre - half, mean)), min(1.0, max(centre + half, mean)))  # rounding errors again


class AdjustedSums:
    """Adds up numbers of games with their luck (luck.py), and computes means from which luck is subtracted.

    The mean of luck is 0. So a number minus `slope` times its luck has the same mean, if the slope does not depend on this deal.
    The deals are divided into halves, those of even and of odd numbers, and each half takes the least-squares slope of the other one.
    So means are unbiased for every network, and a network that knows nothing costs little: its slope is near 0.
    """

    def __init__(self, games_of_a_deal: int) -> None:
        self._halves = DealSums(games_of_a_deal), DealSums(games_of_a_deal)

    def add(self, deal: int, numbers: Sequence[tuple[float, float]]) -> None:
        """Add a game: its numbers, each with the luck in it."""
        self._halves[deal % 2].add(deal, [each for number, luck in numbers for each in (number, luck, number + luck)])

    @property
    def deals(self) -> int:
        """The number of deals."""
        return sum(half.deals for half in self._halves)

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(half.games for half in self._halves)

    def mean(self, column: int, intervals: int = 1) -> Estimate:
        """The adjusted mean of the number in this column, with a t interval as in DealSums.mean."""
        return mean_of(*self._mean_and_variance(column)[:2], self.deals, intervals)

    def share(self, column: int) -> Estimate:
        """The adjusted mean of a number between 0 and 1, with Wilson's interval as in DealSums.share."""
        return share_of(*self._mean_and_variance(column)[:2], self.deals)

    def reduction(self, column: int) -> float:
        """Variance reduction by luck adjustment: the variance without it, divided by that with it; nan if not known."""
        _, with_it, without = self._mean_and_variance(column)
        return without / with_it if with_it > 0 and self.deals >= 2 * FEWEST_DEALS else math.nan

    def _mean_and_variance(self, column: int) -> tuple[float, float, float]:
        """The adjusted mean, its variance, and the variance of the mean that is not adjusted."""
        parts = [_Adjusted.of(half, 3 * column) for half in self._halves]
        slopes = [parts[1].slope, parts[0].slope] if all(half.deals >= FEWEST_DEALS for half in self._halves) else [0.0, 0.0]
        games = self.games
        if games == 0:
            return math.nan, math.nan, math.nan
        mean = with_it = without = 0.0
        for half, part, slope in zip(self._halves, parts, slopes, strict=True):
            if half.games:
                weight = half.games / games
                mean += weight * (part.number - slope * part.luck)
                left = max(0.0, part.of_number - 2 * slope * part.of_both + slope**2 * part.of_luck)
                # The slope has an error, which adds a share of 1 / (n - 3) for n normal deals in the other half.
                with_it += weight**2 * left * (1 + 1 / (self.deals - half.deals - 3) if slope != 0 else 1.0)
                without += weight**2 * part.of_number
        return mean, with_it, without


class _Adjusted(NamedTuple):
    """The means of a number and of its luck, their variances, and their covariance."""

    number: float
    luck: float
    of_number: float
    of_luck: float
    of_both: float

    @classmethod
    def of(cls, sums: DealSums, first: int) -> _Adjusted:
        """Read them from three columns: the number, its luck, and the sum of both."""
        (number, of_number), (luck, of_luck), (_, of_sum) = (sums.mean_and_variance(first + i) for i in range(3))
        return cls(number, luck, of_number, of_luck, (of_sum - of_number - of_luck) / 2)

    @property
    def slope(self) -> float:
        """The least-squares slope of the number on its luck; 0 if one of them never differs."""
        return self.of_both / self.of_luck if self.of_luck > 0 and self.of_number > 0 else 0.0


def slope_of_luck(sums: DealSums, first: int) -> float:
    """The slope of a number on its luck, from columns as AdjustedSums has; 0 if there are too few deals."""
    return _Adjusted.of(sums, first).slope if sums.deals >= FEWEST_DEALS else 0.0


def pairing(sums: DealSums, one: int, other: int, difference: int) -> float:
    """Variance reduction from shared deals: the variance with independent deals, divided by the observed variance.

    `one` and `other` are the columns of two policies, and `difference` is the column of their difference. The result is nan if there are
    too few deals, or if the observed variance is 0.
    """
    apart, together = sums.variance(one) + sums.variance(other), sums.variance(difference)
    return apart / together if together > 0 else math.nan


def pairing_text(times: float) -> str:
    """The result of pairing() in words; empty for nan."""
    if math.isnan(times):
        return ""
    return f"variance reduction from shared deals: {times:.1f}x" + ("" if times >= 1 else " (they did not help)")


def luck_text(times: float) -> str:
    """The result of AdjustedSums.reduction() in words; empty for nan."""
    return (
        "" if math.isnan(times) else f"variance reduction by luck adjustment: {times:.2f}x" + ("" if times >= 1 else " (it did not help)")
    )


def ratio_text(times: float) -> str:
    """The result of pairing() as the cell of a table."""
    return f"{times:.1f}" if math.isfinite(times) else "-"


class Median:
    """The median of non-negative numbers, to 1 %. Numbers are counted in bins, so memory does not grow with their count."""

    def __init__(self) -> None:
        self._counts: Counter[int | None] = Counter()  # bin -> count; the bin of zeros is None

    def add(self, number: float) -> None:
        self._counts[math.floor(math.log(number) / _BIN) if number > 0 else None] += 1

    def shares(self, bins: int = 5) -> list[tuple[float, float]]:
        """The distribution of the numbers above 0: the middle and the share of every group of `bins` neighbouring bins with numbers."""
        wide: Counter[int] = Counter()
        for place, count in self._counts.items():
            if place is not None:
                wide[place // bins] += count
        return [(math.exp((place + 0.5) * bins * _BIN), count / wide.total()) for place, count in sorted(wide.items())]

    def value(self) -> float:
        """The middle of the bin of the median; nan if there are no numbers."""
        left = (self._counts.total() + 1) // 2
        for place in sorted(self._counts, key=lambda place: -math.inf if place is None else place):
            left -= self._counts[place]
            if left <= 0:
                return 0.0 if place is None else math.exp((place + 0.5) * _BIN)
        return math.nan


def normal_quantile(tail: float) -> float:
    """The number that a standard normal exceeds with this probability."""
    return NormalDist().inv_cdf(1 - tail)


def student_t(freedom: int, intervals: int = 1) -> float:
    """The quantile of Student's t for one of so many 95 % intervals (Hill's expansion; Abramowitz and Stegun 26.7.5).

    From 9 degrees of freedom up it is right to 0.0001 for one interval, and to 0.1 % for 100 of them.
    """
    z = normal_quantile(0.025 / intervals)
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / freedom + g2 / freedom**2 + g3 / freedom**3 + g4 / freedom**4
