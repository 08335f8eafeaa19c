"""Charts as SVG: lines of points with intervals, and bars of error beside them. They use the fonts of whoever looks at them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 760, 440
_LEFT, _TOP, _BOTTOM = 66, 44, 56
_COLOURS = ("#1f5fa8", "#c2571a", "#2f7d32", "#7b3fa0", "#8a6d00", "#b3243c", "#00727a", "#555555")
_STEPS = (1, 2, 2.5, 5, 10)


class Dot(NamedTuple):
    """A point of a line. low and high are the ends of its interval, and nan if it has none."""

    x: float
    y: float
    low: float = math.nan
    high: float = math.nan


class Line(NamedTuple):
    """A line of a chart. A line of one dot is drawn as that dot."""

    name: str
    dots: Sequence[Dot]


def chart(
    title: str, across: str, up: str, lines: Iterable[Line], *, log: bool = False, write: Callable[[float], str] | None = None
) -> str:
    """A chart of these lines. `across` and `up` name the axes; with log=True the axis across is logarithmic, and all x are above 0.

    `write` gives the words of a mark of the axis across; without it marks are numbers.
    """
    write = _short if write is None else write
    shown = [line for line in lines if line.dots]
    dots = [dot for line in shown for dot in line.dots]
    if not dots:
        shown, dots = [], [Dot(1.0, 0.0)]
    ys = [y for dot in dots for y in (dot.y, dot.low, dot.high) if not math.isnan(y)]
    marks_up = _marks(min(ys), max(ys))
    marks_across = _decades([dot.x for dot in dots]) if log else _marks(0.0, max(dot.x for dot in dots))
    right = 24 + 7.2 * max((len(line.name) for line in shown), default=0)  # the names stand at the right
    wide, high = _WIDTH - _LEFT, _HEIGHT - _TOP - _BOTTOM

    def place(value: float, marks: Sequence[float], size: float, is_log: bool = False) -> float:
        if is_log:
            value, marks = math.log(value), [math.log(mark) for mark in marks]
        return size * (value - marks[0]) / ((marks[-1] - marks[0]) or 1.0)

    def x(value: float) -> float:
        return _LEFT + place(value, marks_across, wide, log)

    def y(value: float) -> float:
        return _TOP + high - place(value, marks_up, high)

    drawn = [f'<text x="{_LEFT}" y="22" font-weight="bold" font-size="14">{escape(title)}</text>']
    for mark in marks_up:
        drawn.append(f'<path d="M{_LEFT} {y(mark):.1f}h{wide}" stroke="{"#888" if mark == 0 else "#ddd"}"/>')
        drawn.append(f'<text x="{_LEFT - 8}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:g}</text>')
    for mark in marks_across:
        drawn.append(f'<path d="M{x(mark):.1f} {_TOP + high}v5" stroke="#888"/>')
        drawn.append(f'<text x="{x(mark):.1f}" y="{_TOP + high + 20}" text-anchor="middle">{write(mark)}</text>')
    drawn.append(f'<text x="{_LEFT + wide / 2:.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{escape(across)}</text>')
    middle = _TOP + high / 2
    drawn.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{escape(up)}</text>')
    names: list[tuple[float, str]] = []
    for line, colour in zip(shown, _COLOURS * (1 + len(shown) // len(_COLOURS)), strict=False):
        for dot in line.dots:
            if not math.isnan(dot.low):
                drawn.append(f'<path d="M{x(dot.x):.1f} {y(dot.low):.1f}V{y(dot.high):.1f}" stroke="{colour}" opacity="0.5"/>')
            drawn.append(f'<circle cx="{x(dot.x):.1f}" cy="{y(dot.y):.1f}" r="3" fill="{colour}"/>')
        path = " ".join(f"{x(dot.x):.1f},{y(dot.y):.1f}" for dot in line.dots)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        last = line.dots[-1]
        names.append((y(last.y), f'<text x="{_LEFT + wide + 10}" y="AT" fill="{colour}">{escape(line.name)}</text>'))
    drawn += _apart(names)
    body, full = "\n".join(drawn), round(_WIDTH + right)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full} {_HEIGHT}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{full}" height="{_HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def _apart(names: list[tuple[float, str]]) -> Iterator[str]:
    """The names of the lines beside their last dots, moved down where one would cover another."""
    lowest = -math.inf
    for at, text in sorted(names):
        lowest = max(at + 4, lowest + 15)
        yield text.replace("AT", f"{lowest:.1f}")


def _marks(least: float, most: float) -> list[float]:
    """Round numbers from below the least to above the most, about six of them."""
    spread = (most - least) or abs(most) or 1.0
    unit = 10.0 ** math.floor(math.log10(spread / 5))
    step = next(each * unit for each in _STEPS if each * unit >= spread / 6)
    first, last = math.floor(least / step), math.ceil(most / step)
    return [round(number * step, 12) for number in range(first, max(last, first + 1) + 1)]


def _decades(values: Sequence[float]) -> list[float]:
    """Powers of ten from below the least of these numbers to above the greatest."""
    first, last = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def _short(number: float) -> str:
    """A number as an axis has it: 0.001, 10, 250 000."""
    return f"{number:,.0f}".replace(",", " ") if number >= 1000 else f"{number:.12g}" if number >= 1e-4 else f"{number:g}"
