"""Compares a number of a paper with ours: an exact test, an equivalence test, and the smallest difference that could be noticed.

A share of games is compared by Fisher's exact test, a mean by Welch's t test over deals. The interval of the difference is Newcombe's
(1998, method 10) for shares and Welch's for means. Holm's method corrects for the number of comparisons in a paper.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

LEVEL = 0.05  # of all comparisons of a paper together
SHARE_MARGIN = 15.0  # points of share, in %
POINTS_MARGIN = 5.0  # points of the game, or of a number in % that is no share of games
OTHER_MARGIN = 0.1  # of the paper's number, for other numbers
_TAIL = 0.05  # each end of a 90 % interval
_SAME = 1 + 1e-7  # two probabilities of tables are equal up to rounding


class Share(NamedTuple):
    """Games won out of all games."""

    won: int
    games: int

    @property
    def percent(self) -> float:
        return 100 * self.won / self.games


class Mean(NamedTuple):
    """A mean with its standard error; `freedom` is that of the error, inf if it is not known."""

    mean: float
    error: float
    freedom: float = math.inf


@dataclass(frozen=True)
class Compared:
    """Two compared numbers: ours minus theirs with its 90 % interval, the p value, and the margin within which they count as equal."""

    difference: float
    low: float
    high: float
    p: float
    margin: float

    def verdict(self, is_significant: bool) -> str:
        """One of agrees, differs slightly, differs, cannot tell."""
        is_equal = -self.margin < self.low and self.high < self.margin
        if is_significant:
            return "differs slightly" if is_equal else "differs"
        return "agrees" if is_equal else "cannot tell"


def compare_shares(theirs: Share, ours: Share) -> Compared:
    """Compare two shares of games, in %."""
    difference = ours.percent - theirs.percent
    low, high = newcombe(theirs, ours)
    return Compared(difference, low, high, fisher(theirs, ours), SHARE_MARGIN)


def compare_means(theirs: Mean, ours: Mean, margin: float) -> Compared:
    """Compare two means."""
    difference, error, freedom = ours.mean - theirs.mean, *_welch(theirs, ours)
    if error == 0:
        return Compared(difference, difference, difference, float(difference == 0), margin)
    half = error * quantile(_TAIL, freedom)
    return Compared(difference, difference - half, difference + half, 2 * tail(abs(difference) / error, freedom), margin)


def noticeable_share(theirs: Share, games: int, level: float) -> float:
    """The smallest difference of shares, in %, that is significant at this level with this number of games here; inf if there is none."""
    middle = theirs.won * games // theirs.games
    found = []
    for outwards in (range(middle + 1, games + 1), range(middle, -1, -1)):
        first = bisect_left(outwards, True, key=lambda won: fisher(theirs, Share(won, games)) <= level)
        found += [abs(Share(won, games).percent - theirs.percent) for won in outwards[first : first + 1]]
    return min(found, default=math.inf)


def noticeable_mean(theirs: Mean, ours: Mean, level: float) -> float:
    """The smallest difference of means that is significant at this level, with the errors that were found."""
    error, freedom = _welch(theirs, ours)
    return error * quantile(level / 2, freedom)


def holm(ps: Sequence[float], level: float = LEVEL) -> list[bool]:
    """True for each p value that is significant after Holm's correction (1979) for their number."""
    found = [False] * len(ps)
    for rank, i in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        if ps[i] > level / (len(ps) - rank):
            break
        found[i] = True
    return found


@lru_cache(100_000)
def fisher(one: Share, other: Share) -> float:
    """The two-sided p value of Fisher's exact test: the tables with the same margins that are at most as probable as this one."""
    won = one.won + other.won
    first, last = max(0, won - other.games), min(won, one.games)
    logs = [_log_choose(one.games, k) + _log_choose(other.games, won - k) for k in range(first, last + 1)]
    most = max(logs)
    weights = [math.exp(log - most) for log in logs]
    observed = weights[one.won - first] * _SAME
    return math.fsum(weight for weight in weights if weight <= observed) / math.fsum(weights)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def newcombe(theirs: Share, ours: Share, upper: float = _TAIL) -> tuple[float, float]:
    """The interval of the difference of two shares, in %, from Wilson's interval of each; `upper` is the probability beyond each end."""
    (low, high), (our_low, our_high) = _wilson(theirs, upper), _wilson(ours, upper)
    difference = ours.percent - theirs.percent
    down = math.hypot(ours.percent - our_low, high - theirs.percent)
    up = math.hypot(our_high - ours.percent, theirs.percent - low)
    return difference - down, difference + up


def _wilson(share: Share, upper: float) -> tuple[float, float]:
    """Wilson's interval of a share, in %."""
    z, p, n = NormalDist().inv_cdf(1 - upper), share.won / share.games, share.games
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return 100 * (centre - half), 100 * (centre + half)


def _welch(theirs: Mean, ours: Mean) -> tuple[float, float]:
    """The standard error of the difference of two means, and its degrees of freedom by Welch and Satterthwaite."""
    one, other = theirs.error**2, ours.error**2
    spread = one * one / theirs.freedom + other * other / ours.freedom
    return math.sqrt(one + other), (one + other) ** 2 / spread if spread else math.inf


def tail(t: float, freedom: float) -> float:
    """The probability that Student's t is larger than this t, which is not negative."""
    if math.isinf(freedom):
        return math.erfc(t / math.sqrt(2)) / 2
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


@lru_cache(10_000)
def quantile(upper: float, freedom: float) -> float:
    """The number that Student's t exceeds with this probability, at most 1/2."""
    low, high = 0.0, 1.0
    while tail(high, freedom) > upper:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, freedom) > upper else (low, middle)
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by its continued fraction (DLMF 8.17.22) on the side where it converges quickly."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    fraction = 1.0
    for m in range(200, 0, -1):  # from the inside out
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        fraction = 1 + odd / (1 + even / fraction)
    return math.exp(log_front) / fraction
