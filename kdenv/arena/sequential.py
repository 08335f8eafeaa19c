"""An anytime-valid interval for the mean of paired differences: it may be read after every deal, and the comparison may stop at any time.

It is a confidence sequence: with the stated probability, all its intervals contain the true mean. So the probability that any of them
misses it is at most the error, whatever rule ends the comparison. A sequential probability ratio test would need about as many deals,
but decides only between two hypotheses; here the last interval is the answer.
"""

from __future__ import annotations

import math
from collections import Counter

from kdenv.arena.statistics import FEWEST_DEALS, Estimate

_TIGHTEST = 100  # the number of deals at which the intervals are tuned to be narrowest; elsewhere little is lost


class ConfidenceSequence:
    """Takes numbers one by one; after each of them `interval()` is valid.

    Let S be the sum of the n differences minus a value m, and V the sum of their squares. The value m is excluded if S * S / (n V) is
    larger than (1 + 1 / (n g)) (1 - exp(-L / n)). Here L is 2 log(1 / error) + log(1 + n g). This is Student's t test with a normal mixture
    of the alternatives (Wang and Ramdas 2023), which is valid for normal differences and any number of deals. For many deals it becomes
    the asymptotic confidence sequence of Waudby-Smith et al. 2024, which is valid for all distributions of finite variance. The value g is
    their choice for which the interval is tightest after 100 deals.

    Scores are whole numbers, many differences are 0, and some distributions are skewed. Three precautions are for them. V also counts a
    difference that is as far from the mean as the farthest one seen. The interval is moved towards the longer tail, as
    Johnson's modified t test (1978) does: the mean of few differences is mostly too far from it. And there is no interval before ten deals
    differ from the most frequent difference. `tests/arena/test_sequential.py` measures how often the intervals miss the true mean.
    No method without bounds of the differences can foresee a large loss so rare that it has not been seen yet.
    """

    def __init__(self, error: float) -> None:
        self.error = error
        self.count, self.mean = 0, 0.0
        self._squares = self._cubes = 0.0  # the sums of the squares and the cubes of the differences from the mean
        self._low, self._high = math.inf, -math.inf
        self._times: Counter[float] = Counter()  # the frequency of each number
        self._most = 0  # the largest frequency
        self._g = (-2 * math.log(error) + math.log(1 - 2 * math.log(error))) / _TIGHTEST

    def add(self, number: float) -> None:
        """Add the next number."""
        self.count += 1
        before = number - self.mean
        step = before / self.count
        more = before * step * (self.count - 1)
        self.mean += step
        self._cubes += more * step * (self.count - 2) - 3 * step * self._squares
        self._squares += more
        self._low, self._high = min(self._low, number), max(self._high, number)
        self._times[number] += 1
        self._most = max(self._most, self._times[number])

    @property
    def differing(self) -> int:
        """The count of numbers that differ from the most frequent one."""
        return self.count - self._most

    def interval(self) -> Estimate:
        """The mean of all numbers, with the interval if there is one yet. It contains the mean."""
        half = self.half(self.count)
        if math.isinf(half):
            return Estimate(self.mean)
        # At most half of `half`, because no cube is larger than a square times the farthest difference, which the variance counts.
        moved = self._excluded(self.count) * self._cubes / (3 * self.count * self._variance(self.count))
        return Estimate(self.mean, self.mean - half + moved, self.mean + half + moved)

    def half(self, count: int) -> float:
        """Half the width of the interval after `count` numbers of the same spread; infinite if there is no interval."""
        if min(self.count, self.differing) < FEWEST_DEALS:
            return math.inf
        excluded = self._excluded(count)
        return math.sqrt(excluded / (1 - excluded) * self._variance(count)) if excluded < 1 else math.inf

    def _excluded(self, count: int) -> float:
        """Values are excluded for which S * S / (n V) is larger than this, after `count` numbers."""
        ng = count * self._g
        return (1 + 1 / ng) * -math.expm1(-(2 * math.log(1 / self.error) + math.log(1 + ng)) / count)

    def _variance(self, count: int) -> float:
        """The variance of the numbers, if there were `count` of them, and the farthest one was there twice."""
        farthest = max(self._high - self.mean, self.mean - self._low)
        return self._squares / self.count + farthest * farthest / count

    def count_for(self, half: float, most: int) -> int:
        """The count of numbers of the same spread for which half the width is this small; at most `most`."""
        low, high = self.count, self.count + 1
        while high < most and self.half(high) > half:
            low, high = high, 2 * high
        high = min(high, most)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.half(middle) > half else (low, middle)
        return high
