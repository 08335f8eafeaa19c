"""The tables of the five papers: what each row says, how to get it here, what came out, and a verdict. `kdenv reproduce` runs them.

expected/<paper>.csv is typed from the papers. A line is a number: its table, row and measure, the value with what is needed for its
interval (n games, or the half of the interval as printed), the place in the paper, how to get it here, the games of the three sizes,
and in `why` what must be known to compare it, or why it is not tried. `how` is one of

    match GAME; OPTION=VALUE ...; POLICY v POLICY ...      the first policy's number in a match on shared deals, from every seat
    call NAME ARGUMENT ...                                  a function of baselines/papers/<paper>.py

Measures are count (exact), about and log10 (numbers that the paper rounds), nodes, points, margin; wins: games won alone in %;
wins first: those in which the policy made the first decision; score: wins and half ties.
results/<paper>.csv is written line by line, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import csv
import importlib
import math
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import kdenv
from kdenv.arena import Match, Result, play

ROOM = Path(__file__).parent
PAPERS = {
    "wong_kang": "Wong and Kang, Simulating Kingdomino",
    "gedda2018": "Gedda, Lagerkvist, Butler 2018 (Kingdomino)",
    "jansen2014": "Jansen and Tollisen 2014 (Dominion)",
    "heyden2009": "Heyden 2009 (Carcassonne)",
    "dominai2016": "DominAI 2016 (team dominoes)",
}
SIZES = ("quick", "default", "full")
SEED = 2026
_SURE = 2.576  # standard errors: two numbers that are the same differ by more in one of a hundred rows
_Z = 1.96
_SHARES = ("wins", "score", "wins first")


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
    def key(self) -> tuple[str, str, str]:
        """What names the line in its paper."""
        return self.table, self.row, self.measure


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
    seed: str
    size: str
    seconds: str
    verdict: str
    why: str
    how: str
    kdenv: str
    machine: str
    date: str


def expected_of(paper: str) -> list[Expected]:
    """The lines of a paper. Raises ValueError for a line that makes no sense."""
    names = [each.name for each in fields(Expected)]
    with (ROOM / "expected" / f"{paper}.csv").open(encoding="utf-8", newline="") as file:
        lines = [Expected(*(row[name] for name in names)) for row in csv.DictReader(file)]
    for line in lines:
        if not line.how and not line.why:
            raise ValueError(f"{paper}, {line.table}, {line.row}: there is neither how nor why")
    return lines


def results_of(paper: str) -> list[Line]:
    """The lines that have been made; none if there are none yet."""
    path = ROOM / "results" / f"{paper}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Line(**row) for row in csv.DictReader(file)]


def tables_of(paper: str) -> list[str]:
    """The tables of a paper, in its order."""
    return list(dict.fromkeys(line.table for line in expected_of(paper)))


def run(paper: str, table: str | None, size: str, on_line: Callable[[Line, int, int], None], again: bool = False) -> None:
    """Make the results of a paper, or of one table. Lines made with at least these games are kept, unless again=True."""
    wanted = [line for line in expected_of(paper) if table is None or line.table == table]
    known = {(line.table, line.row, line.measure): line for line in results_of(paper)}
    played: dict[str, tuple[list[Result], float]] = {}  # by how: several lines may be of one match
    for i, expected in enumerate(wanted):
        old = known.get(expected.key)
        if again or old is None or not _is_enough(old, expected, size):
            known[expected.key] = old = _line(paper, expected, size, played)
            _write(paper, known)
        on_line(old, i + 1, len(wanted))


def _is_enough(line: Line, expected: Expected, size: str) -> bool:
    """Whether a line was made in the same way, with as many games as this size asks for, or, if a function makes it, at all."""
    asked = getattr(expected, size)
    made = bool(line.ours) if asked == "yes" else asked in ("no", "") or int(line.games or 0) >= int(asked)
    return made and line.how == expected.how and line.paper == expected.value


def _write(paper: str, lines: dict[tuple[str, str, str], Line]) -> None:
    """Write all lines in the order of the paper; the file is replaced at once, so that no line is ever lost."""
    path = ROOM / "results" / f"{paper}.csv"
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".tmp")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Line)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(lines[each.key]) for each in expected_of(paper) if each.key in lines)
    draft.replace(path)


def _line(paper: str, expected: Expected, size: str, played: dict[str, tuple[list[Result], float]]) -> Line:
    """Get the number of this line here, and compare it."""
    start = _spent()
    kind, _, rest = expected.how.partition(" ")
    games, ours, error = 0, math.nan, math.nan
    seconds = 0.0
    if kind == "match":
        games = int(getattr(expected, size))
        if games:
            key = f"{games} {expected.how}"
            if key not in played:
                played[key] = (_play(rest, games), _spent() - start)
            results, seconds = played[key]
            ours, error = measured(results, expected.measure)
    elif kind == "call" and getattr(expected, size) != "no":
        name, *arguments = rest.split()
        ours = float(getattr(importlib.import_module(f"baselines.papers.{paper}"), name)(*arguments))
        seconds = _spent() - start
    paper_error = error_of(expected)
    value = float(expected.value) if expected.value else math.nan
    return Line(
        *expected.key,
        paper=expected.value,
        paper_low=_end(expected, value - _Z * paper_error),
        paper_high=_end(expected, value + _Z * paper_error),
        ours=_text(ours, exact=expected.measure == "count"),
        low=_end(expected, ours - _Z * error),
        high=_end(expected, ours + _Z * error),
        games=str(games) if games else "",
        seed=str(SEED) if games else "",
        size=size,
        seconds=f"{seconds:.1f}",
        verdict=verdict(expected, value, paper_error, ours, error),
        why=expected.why,
        how=expected.how,
        kdenv=kdenv.__version__,
        machine=f"{platform.machine()} {platform.system()} Python {platform.python_version()}",
        date=time.strftime("%Y-%m-%d", time.gmtime()),
    )


def _spent() -> float:
    """The seconds of the processor that this process and those that played for it have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _end(expected: Expected, number: float) -> str:
    """An end of an interval as text; that of a share lies from 0 to 100."""
    return _text(min(100.0, max(0.0, number)) if expected.measure in _SHARES and not math.isnan(number) else number)


def _text(number: float, *, exact: bool = False) -> str:
    return "" if math.isnan(number) else f"{number:.0f}" if exact else f"{number:.6g}"


def _play(words: str, games: int) -> list[Result]:
    """Play the match that these words say: game; options; policies."""
    game, options, policies = (part.strip() for part in words.split(";"))
    given = dict(option.split("=") for option in options.split())
    match = Match(game, [policy.strip() for policy in policies.split(" v ")], games, seed=SEED, options=given)
    match.check()
    results: list[Result] = []
    if not play(match, on_result=results.append, processes=1):
        raise KeyboardInterrupt
    return results


def measured(results: list[Result], measure: str) -> tuple[float, float]:
    """The number of the first policy in these games, and its standard error, games of a deal being one sample."""
    of: dict[str, Callable[[Result], float | None]] = {
        "wins": lambda result: 100.0 * (result.wins[0] == 1.0),
        "score": lambda result: 100.0 * result.wins[0],
        "margin": lambda result: float(result.margins[0]),
        "points": lambda result: float(result.scores[0]),
        "least": lambda result: float(result.scores[0]),
        "most": lambda result: float(result.scores[0]),
        "wins first": lambda result: 100.0 * (result.wins[0] == 1.0) if _began(result) else None,
    }
    deals: dict[int, list[float]] = {}
    for result in results:
        number = of[measure](result)
        if number is not None:
            deals.setdefault(result.deal, []).append(number)
    numbers = [number for deal in deals.values() for number in deal]
    if measure in ("least", "most"):
        return (min if measure == "least" else max)(numbers), math.nan
    mean = sum(numbers) / len(numbers)
    if len(deals) < 2:
        return mean, math.nan
    squares = sum(sum(number - mean for number in deal) ** 2 for deal in deals.values())
    error = math.sqrt(squares * len(deals) / (len(deals) - 1)) / len(numbers)
    if measure in _SHARES:  # all games alike say less than that there is no error
        error = max(error, 100 * math.sqrt(1 / 4) / (len(numbers) + 4) if error == 0 else 0.0)
    return mean, error


def _began(result: Result) -> bool:
    """Whether the first policy made the first decision. Seats rotate, and games with two players begin with seat 0."""
    first = next(line for line in str(result.record).splitlines() if line[:1].isdigit())
    rotation = result.number % len(result.scores)
    return (int(first.partition(":")[0]) - rotation) % len(result.scores) == 0


def error_of(expected: Expected) -> float:
    """The standard error of the paper's number; 0 if it is exact, nan if it cannot be known."""
    if expected.half:
        return float(expected.half) / _Z
    if expected.measure in _SHARES and expected.n:
        n, share = float(expected.n), (float(expected.value) / 100 * float(expected.n) + 1) / (float(expected.n) + 2)
        return 100 * math.sqrt(share * (1 - share) / n)
    return 0.0 if expected.measure == "count" else math.nan


def verdict(expected: Expected, value: float, paper_error: float, ours: float, error: float) -> str:
    """agrees, stronger or weaker (than in the paper), differs, not comparable, or not tried."""
    if math.isnan(ours):
        return "not tried"
    if expected.measure == "count":
        return "agrees" if ours == value else "differs"
    if expected.measure in ("about", "log10") and not math.isnan(value):
        is_near = abs(ours - value) <= 0.2 if expected.measure == "log10" else math.isclose(ours, value, rel_tol=0.05)
        return "agrees" if is_near else "differs"
    if math.isnan(value) or expected.why.startswith("not comparable"):
        return "not comparable"
    if expected.measure in ("nodes", "least", "most"):
        return "agrees" if math.isclose(ours, value, rel_tol=0.25) else "differs"
    if math.isnan(paper_error) or math.isnan(error):
        return "not comparable"
    if abs(ours - value) <= _SURE * math.hypot(paper_error, error):
        return "agrees"
    return "stronger" if ours > value else "weaker"


def page() -> str:
    """All results as a page: a table for each table of each paper."""
    parts = ["# What the papers say, and what comes out here\n", _INTRODUCTION]
    for paper, title in PAPERS.items():
        lines = results_of(paper)
        if not lines:
            continue
        counts = {word: sum(line.verdict == word for line in lines) for word in dict.fromkeys(line.verdict for line in lines)}
        parts.append(f"\n## {title}\n\n{', '.join(f'{n} {word}' for word, n in counts.items())}.\n")
        for table in dict.fromkeys(line.table for line in lines):
            parts.append(f"\n### {table}\n\n| | measure | paper | here | games | verdict | |\n|---|---|---|---|---|---|---|\n")
            parts += [_row(line) for line in lines if line.table == table]
    return "".join(parts)


_INTRODUCTION = """
Made by `kdenv reproduce --page` from `results/*.csv`, which `kdenv reproduce [PAPER [TABLE]]` writes; `expected/*.csv` has the papers'
numbers and where they stand. Seed 2026, shared deals, every seat; [low, high] are 95 % intervals, games of one deal being one sample.
*agrees*: both numbers differ by less than 2.6 standard errors (counts: are equal; rounded numbers: by less than 5 %, log10: 0.2; nodes and
extremes: by less than 25 %). Many rows have far fewer games than in the paper, so that "agrees" may say little; the intervals tell.
"""


def _row(line: Line) -> str:
    def number(value: str, low: str, high: str) -> str:
        return f"{value} [{low}, {high}]" if low != high else value or "-"

    cells = (
        line.row,
        line.measure,
        number(line.paper, line.paper_low, line.paper_high),
        number(line.ours, line.low, line.high),
        line.games,
        line.verdict,
        line.why,
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n"


def summary(lines: list[Line]) -> Iterator[str]:
    """A line for each verdict, for a terminal."""
    for word in dict.fromkeys(line.verdict for line in lines):
        yield f"{sum(line.verdict == word for line in lines):4} {word}"


def check(paper: str | None, table: str | None) -> Any:
    """Raise ValueError if there is no such paper or table."""
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"there is no paper {paper}; the papers are {', '.join(PAPERS)}")
    if paper is not None and table is not None and table not in tables_of(paper):
        raise ValueError(f"{paper} has no table {table!r}; it has {', '.join(tables_of(paper))}")
