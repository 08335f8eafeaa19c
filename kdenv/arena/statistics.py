"""Means with 95 % intervals when games come in deals: games of one deal share their luck and are not independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Estimate(NamedTuple):
    """A mean and the half-width of its 95 % interval; nan if one deal is all there is."""

    mean: float
    half: float

    def __str__(self) -> str:
        return self.text(1)

    def text(self, digits: int, unit: str = "", sign: bool = False) -> str:
        """As in 12.3 ± 2.1."""
        mean = f"{self.mean:{'+' if sign else ''}.{digits}f}{unit}"
        return mean if math.isnan(self.half) else f"{mean} ± {self.half:.{digits}f}"


def estimate(values: Sequence[float], deals: Sequence[int]) -> Estimate:
    """The mean over games, with an interval from the spread between deals (cluster-robust; Student's t)."""
    n = len(values)
    if n == 0:
        return Estimate(math.nan, math.nan)
    mean = sum(values) / n
    by_deal: dict[int, float] = {}
    for value, deal in zip(values, deals, strict=True):
        by_deal[deal] = by_deal.get(deal, 0.0) + value - mean
    clusters = len(by_deal)
    if clusters < 2:
        return Estimate(mean, math.nan)
    variance = sum(total * total for total in by_deal.values()) / n**2 * clusters / (clusters - 1)
    return Estimate(mean, student_t(clusters - 1) * math.sqrt(variance))


def student_t(freedom: int) -> float:
    """The 97.5 % point of Student's t: exact for 1 and 2 degrees of freedom, else Hill's expansion (to 0.01 from 3 on)."""
    if freedom == 1:
        return 12.706
    if freedom == 2:
        return 4.303
    z = 1.959963985
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / freedom + g2 / freedom**2 + g3 / freedom**3 + g4 / freedom**4
