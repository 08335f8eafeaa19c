"""The lines of expected/<paper>.csv and results/<paper>.csv, and the reading and writing of such files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from baselines.papers.matches import KINDS
from kdenv.author import BadRecord

T = TypeVar("T")
Row = Mapping[str, str]
Key = tuple[str, str, str]  # table, row and measure


@dataclass(frozen=True)
class Expected:
    """A line of expected/<paper>.csv."""

    table: str
    row: str
    measure: str
    value: str
    n: str
    half: str
    source: str
    how: str
    quick: str
    default: str
    full: str
    why: str

    @property
    def key(self) -> Key:
        """The key of the line in its paper."""
        return self.table, self.row, self.measure

    @property
    def is_played(self) -> bool:
        """True if games are played for this line."""
        return self.how.partition(" ")[0] in KINDS


LATER = ("difference", "difference_low", "difference_high", "p", "noticeable")  # columns that older files of results do not have


@dataclass
class Line:
    """A line of results/<paper>.csv. Numbers are text; an empty one is not known."""

    table: str
    row: str
    measure: str
    paper: str
    paper_low: str
    paper_high: str
    ours: str
    low: str
    high: str
    games: str
    seed: str  # of the run
    match_seed: str  # of its match; where it is that of the run, all matches had the same deals
    size: str  # with how many games it was made: quick, default, full, or those that were asked for ("games")
    seconds: str
    difference: str  # ours minus theirs, with its 90 % interval
    difference_low: str
    difference_high: str
    p: str  # of the test that both are the same, without correction
    noticeable: str  # the smallest difference that the test would have found, with the correction
    verdict: str
    why: str
    how: str
    kdenv: str
    commit: str  # the commits that played; "added in" and a commit in lines that were made before this was noted
    machine: str
    date: str


def read_lines(path: Path, kind: Callable[..., T], what: str, defaults: Callable[[Row], Row] = lambda row: {}) -> list[T]:
    """Read lines that write_lines wrote; none if there is no file. `defaults` gives the columns that an older file does not have.

    Raises BadRecord if the columns are not those of this dataclass. The sentence says that the file has no `what`.
    """
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{**defaults(row), **row} for row in csv.DictReader(file)]
    names = _names(kind)
    for row in rows:
        if wrong := sorted(set(names) ^ row.keys(), key=str):
            fault = f"as its columns are not those of one ({wrong[0]})"
            raise BadRecord(f"{path} is no file of {what} of kdenv reproduce, {fault}; take it away")
    return [kind(**row) for row in rows]


def write_lines(path: Path, kind: type, lines: Iterable[Any]) -> None:
    """Write lines of this dataclass. The file is replaced at once, so that no line is ever lost."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _names(kind), lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, lines))
    draft.replace(path)


def _names(kind: Any) -> list[str]:
    return [each.name for each in fields(kind)]
