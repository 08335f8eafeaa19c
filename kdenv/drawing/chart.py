"""Charts of lines, as SVG: points with intervals over an axis, and a legend below them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from kdenv.drawing.style import (
    GRID,
    PALE,
    TIED,
    WIDTH,
    Axis,
    colour,
    decades,
    fill,
    heading,
    in_lines,
    marks,
    picture,
    short,
    stroke,
    words,
)

_LEFT, _RIGHT, _HIGH = 60, WIDTH - 26, 250


class Dot(NamedTuple):
    """A point of a line. low and high are the ends of its interval, and nan if it has none."""

    x: float
    y: float
    low: float = math.nan
    high: float = math.nan


class Line(NamedTuple):
    """A line of a chart. A line of one dot is drawn as that dot."""

    name: str
    dots: list[Dot]
    beside: Sequence[Dot] = ()  # dots to compare with, without intervals: hollow, with a dashed line through them, in the same colour
    is_guide: bool = False  # a grey line without dots, which is drawn behind the others


def chart(
    title: str, across: str, up: str, lines: Iterable[Line], *, log: bool = False, write: Callable[[float], str] | None = None
) -> str:
    """A chart of these lines. `across` and `up` name the axes.

    With log=True the axis across is logarithmic, and all x are above 0. `write` gives the words of a mark of the axis across; without it
    marks are numbers.
    """
    shown = sorted((line for line in lines if line.dots), key=lambda line: not line.is_guide)
    n_guides = sum(line.is_guide for line in shown)
    dots = [dot for line in shown for dot in (*line.dots, *line.beside)] or [Dot(1.0, 0.0)]
    ys = [y for dot in dots for y in (dot.y, dot.low, dot.high) if not math.isnan(y)]
    marks_up = marks(min(ys), max(ys))
    axis = Axis(decades([dot.x for dot in dots]) if log else marks(0.0, max(dot.x for dot in dots)), _LEFT, _RIGHT, log)
    drawn, top = heading(title)
    top += 14
    bottom = top + _HIGH

    def y(value: float) -> float:
        return bottom - _HIGH * (value - marks_up[0]) / ((marks_up[-1] - marks_up[0]) or 1.0)

    for mark in marks_up:
        drawn.append(f'<path d="M{_LEFT} {y(mark):.1f}H{_RIGHT}" {stroke(TIED if mark == 0 else GRID)}/>')
        drawn.append(words(_LEFT - 8, y(mark) + 4, f"{mark:g}", anchor="end", ink=PALE))
    drawn += axis.drawn(top, bottom, across, write or short, lines=False)
    middle = top + _HIGH / 2
    drawn.append(words(15, middle, up, anchor="middle", more=f' transform="rotate(-90 15 {middle:.1f})"'))
    below = bottom + 62
    for number, line in enumerate(shown):
        ink = PALE if line.is_guide else colour(number - n_guides)
        drawn += _guide(line, axis.x, y) if line.is_guide else _beside(line, ink, axis.x, y) + _line(line, ink, axis.x, y)
        drawn.append(f'<path d="M{_LEFT} {below - 4:.1f}h18" {stroke(ink, 1 if line.is_guide else 3)}/>')
        for part in in_lines(line.name, _RIGHT - _LEFT - 26):
            drawn.append(words(_LEFT + 26, below, part))
            below += 17
    return picture(title, below if shown else bottom + 50, drawn)


def _guide(line: Line, x: Callable[[float], float], y: Callable[[float], float]) -> list[str]:
    return [f'<polyline points="{_path(line.dots, x, y)}" fill="none" {stroke(PALE)} stroke-dasharray="2 3"/>']


def _path(dots: Iterable[Dot], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    return " ".join(f"{x(dot.x):.1f},{y(dot.y):.1f}" for dot in dots)


def _beside(line: Line, colour: str, x: Callable[[float], float], y: Callable[[float], float]) -> list[str]:
    """The dots that a line is compared with."""
    if not line.beside:
        return []
    drawn = [f'<polyline points="{_path(line.beside, x, y)}" fill="none" {stroke(colour)} stroke-dasharray="4 3"/>']
    return drawn + [f'<circle cx="{x(dot.x):.1f}" cy="{y(dot.y):.1f}" r="3" fill="none" {stroke(colour)}/>' for dot in line.beside]


def _line(line: Line, colour: str, x: Callable[[float], float], y: Callable[[float], float]) -> list[str]:
    """The dots of a line with their intervals, and the line through them."""
    drawn = [
        f'<path d="M{x(dot.x):.1f} {y(dot.low):.1f}V{y(dot.high):.1f}" {stroke(colour)} opacity="0.5"/>'
        for dot in line.dots
        if not math.isnan(dot.low)
    ]
    drawn.append(f'<polyline points="{_path(line.dots, x, y)}" fill="none" {stroke(colour, 2)}/>')
    size = 3 if len(line.dots) < 40 else 2
    return drawn + [f'<circle cx="{x(dot.x):.1f}" cy="{y(dot.y):.1f}" r="{size}" {fill(colour)}/>' for dot in line.dots]
