"""An anytime-valid interval for the mean of paired differences: it may be read after every deal, and the comparison may stop at any time.

It is a confidence sequence: with the stated probability, all its intervals contain the true mean. So the probability that any of them
misses it is at most the error, whatever rule ends the comparison. A sequential probability ratio test would need about as many deals,
but decides only between two hypotheses; here the last interval is the answer.
"""

from __future__ import annotations

import math
from collections import Counter

from kdenv.arena.statistics import FEWEST_DEALS, Estimate

_TIGHTEST = 50  # the number of deals at which the intervals are tuned to be narrowest; elsewhere little is lost


class ConfidenceSequence:
    """Takes numbers one by one; after each of them `interval()` is valid.

    Let S be the sum of the n differences minus a value m, and V the sum of their squares. The value m is excluded if S * S / V is larger
    than (1 + 1 / (n g)) (2 log(1 / error) + log(1 + n g)). This is the normal mixture of self-normalized sums (de la Peña, Klass and Lai
    2007). For many deals it becomes the asymptotic confidence sequence of Waudby-Smith et al. 2024, which is valid for all distributions
    of finite variance. The value g is their choice for which the interval is tightest after 50 deals. For normal differences it is valid
    for any number of deals, because it contains the interval of Wang and Ramdas 2023.

    Scores are whole numbers, many differences are 0, and some distributions are skewed. Two precautions are for them. V also counts two
    differences that are as far from the mean as the farthest one seen, one on each side. And there is no interval before ten
    deals differ from the most frequent difference. `tests/arena/test_sequential.py` measures how often the intervals miss the true mean.
    No method without bounds of the differences can foresee a large loss so rare that it has not been seen yet.
    """

    def __init__(self, error: float) -> None:
        self.error = error
        self.count, self.mean = 0, 0.0
        self._squares = 0.0  # the sum of the squares of the differences from the mean
        self._low, self._high = math.inf, -math.inf
        self._times: Counter[float] = Counter()  # the frequency of each number
        self._most = 0  # the largest frequency
        self._g = (-2 * math.log(error) + math.log(1 - 2 * math.log(error))) / _TIGHTEST

    def add(self, number: float) -> None:
        """Add the next number."""
        self.count += 1
        before = number - self.mean
        self.mean += before / self.count
        self._squares += before * (number - self.mean)
        self._low, self._high = min(self._low, number), max(self._high, number)
        self._times[number] += 1
        self._most = max(self._most, self._times[number])

    @property
    def differing(self) -> int:
        """The count of numbers that differ from the most frequent one."""
        return self.count - self._most

    def interval(self) -> Estimate:
        """The mean of all numbers, with the interval if there is one yet."""
        half = self.half(self.count)
        return Estimate(self.mean, self.mean - half, self.mean + half) if math.isfinite(half) else Estimate(self.mean)

    def half(self, count: int) -> float:
        """Half the width of the interval after `count` numbers of the same spread; infinite if there is no interval."""
        if min(self.count, self.differing) < FEWEST_DEALS:
            return math.inf
        ng = count * self._g
        excluded = (1 + 1 / ng) * (2 * math.log(1 / self.error) + math.log(1 + ng)) / count  # larger values of S * S / (n V) are excluded
        if excluded >= 1:
            return math.inf
        farthest = max(self._high - self.mean, self.mean - self._low)
        variance = self._squares / self.count + 2 * farthest * farthest / count
        return math.sqrt(excluded / (1 - excluded) * variance)

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
