"""The curve of a training: strength by games and seconds of the processor, as CSV and as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kdenv.drawing.chart import Dot, Line, chart


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
        lines = []
        for opponent in dict.fromkeys(point.opponent for point in points):
            mine = [point for point in points if point.opponent == opponent]
            lines.append(Line(f"against {opponent}", [_dot(point) for point in mine]))
        return chart(title[:110], "seconds of the processor", "games won, %", lines)


def _dot(point: Strength) -> Dot:
    low, high = point.wins - point.wins_interval, point.wins + point.wins_interval
    return Dot(point.seconds, 100 * point.wins, 100 * low, 100 * high)
