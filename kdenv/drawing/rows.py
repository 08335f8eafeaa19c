"""Charts with a row for each policy, as SVG: a number with its interval, or the distribution of a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from kdenv.drawing.style import PALE, WIDTH, Axis, colour, decades, fill, heading, marks, picture, short, shortened, stroke, width_of, words

_LEFT, _RIGHT = 26, WIDTH - 26
_STEP = 40  # from row to row


class IntervalRow(NamedTuple):
    """A row of a ladder: a number, its interval, and the same in words. With an infinite end it has an arrow there and no number."""

    name: str
    value: float
    low: float
    high: float
    said: str

    @property
    def is_open(self) -> bool:
        """True if an end of the interval is not known."""
        return math.isinf(self.low) or math.isinf(self.high)


class BoxRow(NamedTuple):
    """A row of a distribution: the numbers in ascending order, each with its share of all, and the same in words."""

    name: str
    shares: Sequence[tuple[float, float]]
    said: str


def ladder(title: str, across: str, rows: Iterable[IntervalRow], write: Callable[[float], str] = short) -> str:
    """Draw a number with its interval for each row, over one axis that includes 0."""
    shown = list(rows)
    ends = [end for row in shown for end in (*row[2:4], *([] if row.is_open else [row.value])) if math.isfinite(end)]
    axis = Axis(marks(min([0.0, *ends]), max([0.0, *ends])), _LEFT, _RIGHT)
    drawn, top = heading(title)
    bottom = top + 10 + _STEP * len(shown)
    drawn += axis.drawn(top + 6, bottom, across, write)
    for number, row in enumerate(shown):
        drawn += _name(row.name, row.said, top + 24 + _STEP * number)
        at = top + 36 + _STEP * number
        low, high = (row.value if math.isnan(end) else end for end in (row.low, row.high))
        left, right = axis.x(low), axis.x(high)
        drawn.append(f'<path d="M{left:.1f} {at:.1f}H{right:.1f}" {stroke(colour(0), 4)} opacity="0.45"/>')
        for end, tip, way in ((low, left, 7), (high, right, -7)):
            if math.isinf(end):
                drawn.append(f'<path d="M{tip:.1f} {at:.1f}l{way} -5v10z" {fill(colour(0))}/>')
        if not row.is_open:
            drawn.append(f'<circle cx="{axis.x(row.value):.1f}" cy="{at:.1f}" r="5" {fill(colour(0))}/>')
    return picture(title, bottom + 48, drawn)


def spreads(title: str, across: str, rows: Iterable[BoxRow], write: Callable[[float], str] = short) -> str:
    """Draw the distribution of each row, of numbers above 0, over one logarithmic axis."""
    shown = [row for row in rows if row.shares]
    values = [value for row in shown for value, _ in row.shares] or [1.0]
    axis = Axis(decades(values), _LEFT, _RIGHT, log=True)
    most = max((share for row in shown for _, share in row.shares), default=1.0)
    step = _STEP + 18
    drawn, top = heading(title)
    bottom = top + 10 + step * len(shown)
    drawn += axis.drawn(top + 6, bottom, across, write)
    for number, row in enumerate(shown):
        drawn += _name(row.name, row.said, top + 22 + step * number)
        base = top + 58 + step * number
        drawn.append(f'<path d="M{_LEFT} {base:.1f}H{_RIGHT}" {stroke(PALE)} opacity="0.6"/>')
        for value, share in row.shares:
            height = 29 * share / most
            drawn.append(f'<rect x="{axis.x(value) - 1.5:.1f}" y="{base - height:.1f}" width="3" height="{height:.1f}" {fill(colour(0))}/>')
    return picture(title, bottom + 48, drawn)


def _name(name: str, said: str, y: float) -> list[str]:
    """The name of a row at the left, and its number in words at the right."""
    room = WIDTH - 24 - width_of(said) - 12
    return [words(12, y, shortened(name, room)), words(WIDTH - 12, y, said, anchor="end", ink=PALE)]
