"""The curve of a training: strength by games and seconds of the processor, as CSV and as a picture."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kdenv.core.errors import BadOption
from kdenv.core.files import read_text
from kdenv.drawing.chart import Dot, Line, chart

_FIRST_SECOND = 1.0  # where curves begin that have a logarithmic axis


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


class TrainingCurve:
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
        return chart(title[:110], "seconds of the processor", "games won, %", self.lines())

    def lines(self, name: str = "", since: float = 0.0) -> list[Line]:
        """A line for each opponent, with the points from `since` seconds on. Its name is this name and the opponent."""
        points = [point for point in self.points if point.opponent and point.seconds >= since]
        lines = []
        for opponent in dict.fromkeys(point.opponent for point in points):
            mine = [point for point in points if point.opponent == opponent]
            lines.append(Line(f"{name} against {opponent}".strip(), [_dot(point) for point in mine]))
        return lines


def read_curve(path: Path) -> TrainingCurve:
    """The curve in a curve.csv."""
    lines = csv.DictReader(io.StringIO(read_text(path)))
    try:
        rows = [[kind(row[name]) for name, kind in Strength.__annotations__.items()] for row in lines]
    except (KeyError, TypeError, ValueError) as error:
        raise BadOption(f"{path} is not the curve of a training ({error}); give a curve.csv that 'kdenv train' has written") from None
    return TrainingCurve(Strength(*row) for row in rows)


def together(curves: dict[str, TrainingCurve], title: str) -> str:
    """A picture of several curves, by name, with the seconds of the processor on a logarithmic axis."""
    lines = [line for name, curve in curves.items() for line in curve.lines(name, _FIRST_SECOND)]
    return chart(title, "seconds of the processor", "games won, %", lines, log=True)


def _dot(point: Strength) -> Dot:
    low, high = max(0.0, point.wins - point.wins_interval), min(1.0, point.wins + point.wins_interval)
    return Dot(point.seconds, 100 * point.wins, 100 * low, 100 * high)
