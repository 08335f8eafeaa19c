"""The curve of a training: strength by games and seconds of the processor, as CSV and as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 720, 400, 60, 40, 20, 50
_COLOURS = ("#1f5fa8", "#c2571a", "#2f7d32", "#7b3fa0")


class Strength(NamedTuple):
    """One measurement: margin and wins against an opponent, each with half of its 95 % interval."""

    games: int
    seconds: float
    error: float  # the root mean square error of the predictions since the last measurement
    opponent: str
    margin: float
    margin_interval: float
    wins: float
    wins_interval: float


class Curve:
    """All measurements of a training."""

    def __init__(self, points: Iterable[Strength] = ()) -> None:
        self.points = list(points)

    def times(self) -> list[int]:
        """The numbers of games at which strength was measured."""
        return sorted({point.games for point in self.points})

    def write(self, folder: Path, title: str) -> None:
        """Write curve.csv and curve.svg."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(Strength._fields)
        writer.writerows(self.points)
        for name, content in (("curve.csv", text.getvalue()), ("curve.svg", self.svg(title))):
            new = folder / f".{name}.new"
            new.write_text(content, encoding="utf-8", newline="\n")
            new.replace(folder / name)

    def svg(self, title: str) -> str:
        """The share of games won by seconds of the processor, one line for each opponent, with intervals."""
        points = [point for point in self.points if point.opponent]
        most = max((point.seconds for point in points), default=0.0) or 1.0
        wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

        def x(seconds: float) -> float:
            return _LEFT + wide * seconds / most

        def y(share: float) -> float:
            return _TOP + high * (1 - min(1.0, max(0.0, share)))

        drawn = []
        for tenth in range(0, 11, 2):
            drawn.append(f'<path d="M{_LEFT} {y(tenth / 10):.1f}h{wide}" stroke="#ddd"/>')
            drawn.append(f'<text x="{_LEFT - 8}" y="{y(tenth / 10) + 4:.1f}" text-anchor="end">{10 * tenth} %</text>')
        for quarter in range(5):
            at, seconds = x(most * quarter / 4), most * quarter / 4
            drawn.append(f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 20}" text-anchor="middle">{seconds:.0f}</text>')
        for i, opponent in enumerate(dict.fromkeys(point.opponent for point in points)):
            line, colour = [point for point in points if point.opponent == opponent], _COLOURS[i % len(_COLOURS)]
            for point in line:
                low, up = y(point.wins - point.wins_interval), y(point.wins + point.wins_interval)
                drawn.append(f'<path d="M{x(point.seconds):.1f} {low:.1f}V{up:.1f}" stroke="{colour}" opacity="0.5"/>')
            path = " ".join(f"{x(point.seconds):.1f},{y(point.wins):.1f}" for point in line)
            drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            drawn.append(f'<text x="{_LEFT + 10}" y="{_TOP + 18 * (i + 1)}" fill="{colour}">games won against {escape(opponent)}</text>')
        drawn.append(f'<text x="{_LEFT + wide / 2}" y="{_HEIGHT - 12}" text-anchor="middle">seconds of the processor</text>')
        drawn.append(f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(title[:110])}</text>')
        body = "\n".join(drawn)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">\n'
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
        )
