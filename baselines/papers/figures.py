"""The figures of the papers that have numbers to compare with: which lines of the results they are made of.

`kdenv reproduce` draws them to figures/ beside the page of all results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from baselines.papers import tables


class Point(NamedTuple):
    """A number with the ends of its interval, which are nan if it has none. x is where it stands in the figure."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Figure:
    """A figure of a paper. `rows` matches the names of its lines in the results: the group `line` names a curve, the group x says where.

    Without x, the numbers stand one below the other. A line whose name `flat` matches is drawn from one end to the other. `measure`: only
    lines of this measure.
    """

    paper: str
    name: str
    table: str
    rows: str
    title: str
    across: str
    up: str
    log: bool = False
    flat: str = ""
    measure: str = ""

    @property
    def file(self) -> str:
        """The name of its file in figures/."""
        return f"{self.paper}_{re.sub('[^a-z0-9]+', '_', self.name.lower())}.svg"

    def curves(self) -> dict[str, tuple[list[Point], list[Point]]]:
        """The paper's points and ours, by the names of the curves; curves without a point of ours are left out."""
        found: dict[str, tuple[list[Point], list[Point]]] = {}
        for line, name, x in self._matching():
            theirs, ours = found.setdefault(name, ([], []))
            if line.paper:
                theirs.append(_point(x, line.paper, line.paper_low, line.paper_high))
            if line.ours:
                ours.append(_point(x, line.ours, line.low, line.high))
        return {name: points for name, points in found.items() if points[1]}

    def _matching(self) -> Iterator[tuple[tables.Line, str, float]]:
        lines = [line for line in tables.results_of(self.paper) if line.table == self.table and self.measure in ("", line.measure)]
        matches = [(line, match) for line in lines if (match := re.fullmatch(self.rows, line.row)) is not None]
        places = [float(match["x"]) for _, match in matches if "x" in match.groupdict()]
        for number, (line, match) in enumerate(matches):
            yield line, match["line"], float(match["x"]) if "x" in match.groupdict() else float(number)
        for line in lines if self.flat and places else ():
            if re.fullmatch(self.flat, line.row):
                yield from ((line, line.row, end) for end in (min(places), max(places)))


def _point(x: float, *numbers: str) -> Point:
    return Point(x, *(float(number) if number else math.nan for number in numbers))


_BY_ROUND = r"(?P<line>.+), round (?P<x>\d+)"
_AHEAD = "points ahead of the best of three FG"


def _table_iii(name: str, strategies: str, title: str) -> Figure:
    rows = rf"(?P<line>{strategies}-\S+), (?P<x>\S+) s a turn"
    return Figure("gedda2018", name, "Table III", rows, title, "seconds a turn of the paper's machine", _AHEAD, log=True, flat="FG")


def _by_parameter(name: str, strategy: str, letter: str, title: str) -> Figure:
    rows = rf"(?P<line>{strategy}, \S+ s a turn), {letter} = (?P<x>\S+)"
    return Figure("gedda2018", f"{name} {strategy}", name, rows, f"{strategy}: {title}", letter, _AHEAD)


FIGURES = (
    Figure("gedda2018", "Figure 2", "Figure 2", _BY_ROUND, "Turns that are open in each round", "round", "turns"),
    Figure("gedda2018", "Figure 3", "Figure 3", r"(?P<line>.+) v three TR, round (?P<x>\d+)", "Points against three TR", "round", "points"),
    Figure("gedda2018", "Figure 4", "Figure 4", r"(?P<line>.+) v three FG, round (?P<x>\d+)", "Points against three FG", "round", "points"),
    _table_iii("Figure 5", "MCE", "Flat Monte Carlo"),
    _table_iii("Table III UCT", "UCT", "UCT"),
    _table_iii("Table III UCTB", "UCTB", "UCT with progressive bias"),
    _table_iii("Table III UCTW", "UCTW", "UCT with progressive win bias"),
    _by_parameter("Figure 7", "UCT-TR", "C", "the exploration constant"),
    _by_parameter("Figure 7", "UCT-FG", "C", "the exploration constant"),
    _by_parameter("Figure 8", "UCTW-TR", "W", "the factor of the bias"),
    _by_parameter("Figure 8", "UCTW-FG", "W", "the factor of the bias"),
    *(
        Figure("jansen2014", name, name, r"(?P<line>.+) bought, (?P<x>\d+) coins", f"{variant} buys", "coins of a Woodcutter", "cards")
        for name, variant in (("Figure 25", "UCB_mod"), ("Figure 26", "UCT_mod"))
    ),
    *(
        Figure("heyden2009", f"Figure 6.{number}", f"Figure 6.{number}", "(?P<line>.+)", title, unit, "")
        for numbers, title, unit in (((1, 3, 7), "Points of features", "points of each"), ((2, 4, 8), "Meeples", "meeples a game"))
        for number in numbers
    ),
    Figure(
        "heyden2009", "Figure 6.5", "Figure 6.5", r"(?P<line>Star\d), position (?P<x>\d+)", "Nodes saved", "position", "of Expectimax's, %"
    ),
    Figure("heyden2009", "Table 6.2", "Table 6.2", "(?P<line>MCTS) with C = (?P<x>[^ ]+) v MC, .*", "MCTS v MC", "C", "games won, in %"),
    Figure("dominai2016", "Figure 1", "Figure 1", "(?P<line>.+), v greedy", "IMS against greedy", "rounds won, in %", "", measure="wins"),
    Figure("dominai2016", "Figure 2", "Figure 2", "(?P<line>.+), v greedy", "PIMC against greedy", "rounds won, in %", "", measure="wins"),
)
