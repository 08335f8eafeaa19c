"""The measurements of `kdenv bench`: rates in the best of several runs, and rows with floors."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple


class Effort(NamedTuple):
    """The length of measurements: the number of runs, the seconds of each, and the number of rounds of games that have rounds.

    The clock measures real time, or with time.process_time CPU time, for machines that are shared.
    """

    runs: int = 3
    seconds: float = 0.6
    rounds: int = 20
    clock: Callable[[], float] = time.perf_counter

    @property
    def is_real_time(self) -> bool:
        """True if two threads can be faster than one by the clock."""
        return self.clock is time.perf_counter


USUAL = Effort()
QUICK = Effort(1, 0.01, 1)  # shows that everything can be measured; the figures mean little


class BenchRow(NamedTuple):
    """A figure that was measured. A larger one is better, unless the unit is a time."""

    what: str
    figure: float
    unit: str
    floor: float | None = None

    @property
    def is_time(self) -> bool:
        """True if a smaller figure is better."""
        return self.unit in ("s", "µs")

    @property
    def ratio(self) -> float:
        """The ratio of the figure to its floor, above 1 for a better figure; nan without a floor."""
        if self.floor is None:
            return math.nan
        return self.floor / self.figure if self.is_time else self.figure / self.floor

    def __str__(self) -> str:
        verdict = ""
        if self.floor is not None:
            least = f"{'most' if self.is_time else 'floor'} {self.floor:,g}"
            verdict = f"  {least}: {self.ratio:.2f} x" + ("" if self.ratio >= 1 else "  MISSED")
        digits = 2 if self.figure < 100 else 0
        return f"{self.what:78} {self.figure:>14,.{digits}f} {self.unit:11}{verdict}".rstrip()


def times(figure: float, of: float) -> float:
    """The ratio of two figures; nan if a quick run was too short to measure the second one."""
    return figure / of if of else math.nan


def per_second(effort: Effort, work: Callable[[int], object]) -> float:
    """Units of work in a second, in the best of several runs. Compiling is not counted."""
    work(1)
    n, seconds = 1, 0.0
    while seconds < effort.seconds / 4:
        n = max(2 * n, min(20 * n, int(n * effort.seconds / max(seconds, 1e-6))))
        start = effort.clock()
        work(n)
        seconds = effort.clock() - start
    best = seconds
    for _ in range(effort.runs):
        start = effort.clock()
        work(n)
        best = min(best, effort.clock() - start)
    return n / best
