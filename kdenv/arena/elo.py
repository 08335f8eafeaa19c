"""Wins, draws and losses of two policies A and B, their Elo difference, and the likelihood that A is stronger.

The share of the wins follows the model of Bradley and Terry (1952), which the Elo rating (Elo 1978) uses, too. If A has a share p of the
wins against B, their Elo difference is 400 log10(p / (1 - p)). If A and B never meet, each has a share of the wins against the same
opponents, and the Elo difference is that of the two ratings. A draw counts half.

The likelihood of superiority is F(D sqrt(n)). F is the normal distribution function, and D is the share of A minus that of B. The number
n is the effective number of games, (1 - D^2) / variance of D. For independent games this is the formula of engine testers,
F((wins - losses) / sqrt(wins + losses)), with one game less. Here the variance is that over deals, so games of a deal may depend on each
other. If the variance is 0, n is the number of deals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from kdenv.arena.statistics import DealSums, Estimate, student_t

_OF_A, _OF_B, _DIFFERENCE = range(3)  # the columns of the sums
_PER_LOGIT = 400 / math.log(10)  # Elo points of a unit of the natural logarithm of odds


@dataclass
class Outcomes:
    """Wins, draws and losses. A draw is a shared win."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, share: float) -> None:
        """Count a game with this share of the win."""
        if share == 1:
            self.wins += 1
        elif share > 0:
            self.draws += 1
        else:
            self.losses += 1

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"


@dataclass
class WinSums:
    """Adds up the wins of A and B by deal.

    Args:
        share_a_table: Whether A and B play each other, so that the share of B is 1 minus that of A.

    """

    share_a_table: bool
    a: Outcomes = field(default_factory=Outcomes)
    b: Outcomes = field(default_factory=Outcomes)
    _sums: DealSums = field(default_factory=lambda: DealSums(1))

    def add(self, deal: int, of_a: Sequence[float], of_b: Sequence[float]) -> None:
        """Add a deal: the share of the win of A in each of its games, and that of B in each of its games."""
        for outcomes, shares in ((self.a, of_a), (self.b, of_b)):
            for share in shares:
                outcomes.add(share)
        a, b = math.fsum(of_a) / len(of_a), math.fsum(of_b) / len(of_b)
        self._sums.add(deal, [a, b, a - b])

    @property
    def elo(self) -> Estimate:
        """The Elo difference of A and B, with a 95 % interval for this number of deals; nan or infinite if a policy won no game or all."""
        a, b = self._sums.share(_OF_A), self._sums.share(_OF_B)
        if self.share_a_table:
            return Estimate(*(_PER_LOGIT * _logit(end) for end in a))
        mean = _PER_LOGIT * (_logit(a.mean) - _logit(b.mean))
        slope_a, slope_b = (1 / (share * (1 - share)) if 0 < share < 1 else math.nan for share in (a.mean, b.mean))
        of_a, of_b, of_difference = (self._sums.variance(column) for column in (_OF_A, _OF_B, _DIFFERENCE))
        covariance = (of_a + of_b - of_difference) / 2
        variance = slope_a**2 * of_a + slope_b**2 * of_b - 2 * slope_a * slope_b * covariance
        if math.isnan(variance):
            return Estimate(mean)
        half = student_t(self._sums.deals - 1) * _PER_LOGIT * math.sqrt(max(0.0, variance))
        return Estimate(mean, mean - half, mean + half)

    @property
    def superiority(self) -> float:
        """The likelihood that A is stronger than B, from 0 to 1; nan if there are too few deals."""
        variance, difference = self._sums.variance(_DIFFERENCE), self._sums.mean(_DIFFERENCE).mean
        if math.isnan(variance):
            return math.nan
        n = (1 - difference**2) / variance if variance > 0 else self._sums.deals
        return 0.5 * math.erfc(-difference * math.sqrt(n / 2))

    def __str__(self) -> str:
        """One line, without the full stop. It is empty if there are no games."""
        if not self._sums.deals:
            return ""
        games = str(self.a) if self.share_a_table else f"{self.a} (A) and {self.b} (B)"
        likelihood = "" if math.isnan(self.superiority) else f", likelihood of superiority {100 * self.superiority:.1f} %"
        return f"wins-draws-losses {games}, Elo difference {elo_text(self.elo)}{likelihood}"


def _logit(share: float) -> float:
    """The natural logarithm of the odds of a share; infinite for 0 and 1."""
    if share in (0.0, 1.0):
        return math.inf if share else -math.inf
    return math.log(share / (1 - share))


def elo_text(elo: Estimate) -> str:
    """An Elo difference with its interval. If only one end is known, it is printed as "at least" or "at most"."""
    if math.isfinite(elo.mean):
        return f"{elo.mean:+.0f}" + (f" [{elo.low:+.0f}, {elo.high:+.0f}]" if math.isfinite(elo.low + elo.high) else "")
    known, words = (elo.low, "at least") if elo.mean > 0 else (elo.high, "at most")
    return f"{words} {known:+.0f}" if math.isfinite(known) else "not known"
