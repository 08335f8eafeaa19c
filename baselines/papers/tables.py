"""The tables of the five papers: each row with its number, the way to compute it here, the result and a verdict.

`kdenv reproduce` runs them.

expected/<paper>.csv is typed from the papers. Each line is a number of a table: its row, its measure, its value and its place in the
paper. For its interval the line has n games, or half of the interval as printed. It has the games of the three sizes, and the way to get
the number here (`how`). `why` says what must be known to compare it, or why it is not tried. `how` is one of

    match GAME; OPTION=VALUE ...; POLICY v POLICY ...      the first policy's number in games of their own deals, the seats going round
    seats GAME; OPTION=VALUE ...; POLICY v POLICY ...      the same, each policy in its seat in every game
    call NAME ARGUMENT ...                                  a function of baselines/papers/<paper>.py

The measures are:

- Counts. `count` is exact, `about` and `log10` are numbers that the paper rounds, and `nodes` are those of a search.
- Turns. `turns` are the turns open on average, and `open` the turns open.
- Points. `points`, `margin`, and `deviation`, the standard deviation of points. `points N` are the points after round N, and `points = N`
  is the share of games with N points in %.
- Games in %. `wins`, `draws` and `losses` are games won alone, shared and lost. `score` is wins and half draws.
- Seconds. `seconds` are those of a turn, and `seconds N-M` and `seconds N-` those of a turn in these rounds.
- Others. Any other word is a column that the game adds (kdenv match --show game), or the sum of those that begin with it. A / B is the
  ratio of two of them, and A + B the sum.

The word `rival's` before a measure asks for the second policy's number. The word `first` or `second` after it asks for the games in which
that policy made the first decision, or did not. A function gives its number, or its number and the standard error. If it has luck, it
takes the seed.

The file results/<paper>.csv is written line by line, and games are kept in games/<paper> (saved_games.py). So an interrupted run continues.
lines.py has the lines, judging.py compares them.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import math
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import kdenv
from baselines.papers import judging, saved_games
from baselines.papers.judging import Z, end_of, text_of
from baselines.papers.lines import LATER, Key, read_lines, write_lines
from baselines.papers.lines import Expected as Expected
from baselines.papers.lines import Line as Line
from baselines.papers.matches import KINDS, SEED, Matches, is_same, measured
from kdenv.arena import Estimate

ROOM = Path(__file__).parent
out: Path | None = None  # the folder of results, figures and RESULTS.md, if it is not ROOM
progress: Callable[[int, str], Any] | None = None  # shows how far a match has come (matches.py); the command line has one
ray: str | None = None  # the address of a Ray cluster that plays the matches
PAPERS = {
    "wong_kang": "Wong and Kang, Simulating Kingdomino",
    "gedda2018": "Gedda, Lagerkvist, Butler 2018 (Kingdomino)",
    "jansen2014": "Jansen and Tollisen 2014 (Dominion)",
    "heyden2009": "Heyden 2009 (Carcassonne)",
    "dominai2016": "DominAI 2016 (team dominoes)",
}
SIZES = ("quick", "default", "full")


def made() -> Path:
    """The folder of results, figures and RESULTS.md."""
    return ROOM if out is None else out


def expected_of(paper: str) -> list[Expected]:
    """The lines of a paper. Raises ValueError for a line that makes no sense."""
    names = [each.name for each in fields(Expected)]
    with (ROOM / "expected" / f"{paper}.csv").open(encoding="utf-8", newline="") as file:
        lines = [Expected(*(row[name] for name in names)) for row in csv.DictReader(file)]
    for line in lines:
        if not line.how and not line.why:
            raise ValueError(f"{paper}, {line.table}, {line.row}: there is neither how nor why")
    return lines


def captions() -> dict[tuple[str, str], str]:
    """The captions of the tables, by paper and table."""
    with (ROOM / "expected" / "captions.csv").open(encoding="utf-8", newline="") as file:
        return {(row["paper"], row["table"]): row["caption"] for row in csv.DictReader(file)}


def results_of(paper: str) -> list[Line]:
    """The lines that have been made. Lines without a commit had one seed for all matches."""

    def defaults(row: Mapping[str, str]) -> dict[str, str]:
        return {"match_seed": row.get("seed", ""), "commit": "", **dict.fromkeys(LATER, "")}

    return read_lines(_results(paper), Line, "results", defaults)


def _results(paper: str) -> Path:
    return made() / "results" / f"{paper}.csv"


def tables_of(paper: str) -> list[str]:
    """The tables of a paper, in its order."""
    return list(dict.fromkeys(line.table for line in expected_of(paper)))


def run(
    paper: str,
    table: str | None,
    size: str,
    on_line: Callable[[Line, int, int], None],
    again: bool = False,
    *,
    seed: int | None = None,
    games: int | None = None,
) -> None:
    """Make the results of a paper, or of one table. Lines that have at least these games stay; their verdicts are made again.

    With `again`, lines of other commits are made again. With `seed`, lines with another seed, or with shared deals, are made again.
    `games` is the least number of games of a match, in place of that of the size. No line is replaced by one of fewer games. Lines whose
    games take the least time come first, as far as earlier results show it.
    """
    lines = expected_of(paper)
    if games is not None:
        size = "games"
    known = judge(paper)
    wanted = [_sized(line, size, games, known.get(line.key)) for line in lines if table is None or line.table == table]
    wanted.sort(key=lambda line: _seconds_of(line, size, known.get(line.key)))
    commit = saved_games.commit_here()
    rows = ((line.how, f"{paper}, {line.table}, {line.row}") for line in lines)
    seed_now = SEED if seed is None else seed
    matches = Matches(made() / "games" / paper, progress, rows=rows, seed=seed_now, commit=commit, again=again, ray=ray)
    for i, expected in enumerate(wanted):
        line = known.get(expected.key)
        if line is None or not _is_enough(line, expected, size, seed) or (again and not is_same(line.commit, commit)):
            known = judged(paper, {**known, expected.key: _line(paper, expected, size, matches)})
            write_lines(_results(paper), Line, known.values())
        on_line(known[expected.key], i + 1, len(wanted))
    for expected in wanted:
        if expected.is_played:
            kind, _, rest = expected.how.partition(" ")
            matches.forget(kind, rest, int(_asked(expected, size)))
    for removed in saved_games.trim(made() / "games"):
        print(f"{removed} is removed: its games are quick to play again, and at most {saved_games.MOST / 1e6:.0f} MB of games are kept")


def _sized(expected: Expected, size: str, games: int | None, made: Line | None) -> Expected:
    """The line with the number of games to play: that of the size, or `games`, but never fewer than have been played."""
    if not expected.is_played:
        return expected
    asked = int(_asked(expected, size)) if games is None else games
    played = int(made.games or 0) if made is not None and made.how == expected.how else 0
    return replace(expected, **{"default" if size == "games" else size: str(max(asked, played))})


def _seconds_of(expected: Expected, size: str, made: Line | None) -> float:
    """The CPU time of the games of a line in seconds, by those that have been played; 0 if none has been."""
    if made is None or not int(made.games or 0):
        return 0.0
    return float(made.seconds) / int(made.games) * int(_asked(expected, size))


def _asked(expected: Expected, size: str) -> str:
    """The entry of a size in a line: a number of games, or "yes" or "no" for a function."""
    return str(getattr(expected, "default" if size == "games" else size))


def _is_enough(line: Line, expected: Expected, size: str, seed: int | None) -> bool:
    """True if a line was made in the same way, with the games of this size. A line of a function has no games.

    If a seed is given, the line must have this seed and separate deals, or use no random numbers.
    """
    asked = _asked(expected, size)
    made = bool(line.ours) if asked == "yes" else asked in ("no", "") or int(line.games or 0) >= int(asked)
    has_seed = seed is None or not line.seed or (line.seed == str(seed) and line.match_seed != line.seed)
    return made and has_seed and line.how == expected.how and line.paper == expected.value


def _line(paper: str, expected: Expected, size: str, matches: Matches) -> Line:
    """Get the number of this line here. What is compared with it is left empty."""
    start = _spent()
    kind, _, rest = expected.how.partition(" ")
    games, ours = 0, Estimate(math.nan)
    seconds, seed, match_seed, commit = 0.0, "", "", ""
    if kind in KINDS:
        games = int(_asked(expected, size))
        if games:
            played = matches.play(kind, rest, games)
            ours = measured(played, expected.measure)
            played.spent += _spent() - start
            seconds, seed, match_seed, commit = played.seconds, str(matches.seed), str(played.match.seed), " ".join(played.commits)
    elif kind == "call" and _asked(expected, size) != "no":
        name, *arguments = rest.split()
        function = getattr(importlib.import_module(f"baselines.papers.{paper}"), name)
        luck = {"seed": matches.seed} if "seed" in inspect.signature(function).parameters else {}
        found = function(*arguments, **luck)
        mean, error = found if isinstance(found, tuple) else (float(found), math.nan)
        ours = Estimate(mean, mean - Z * error, mean + Z * error)
        seconds, seed, commit = _spent() - start, str(luck.get("seed", "")), matches.commit
    return Line(
        *expected.key,
        paper=expected.value,
        paper_low="",
        paper_high="",
        **dict.fromkeys(LATER, ""),
        ours=text_of(ours.mean, exact=expected.measure == "count"),
        low=end_of(expected, ours.low),
        high=end_of(expected, ours.high),
        games=str(games) if games else "",
        seed=seed,
        match_seed=match_seed,
        size=size,
        seconds=f"{seconds:.1f}",
        verdict="",
        why="",
        how=expected.how,
        kdenv=kdenv.__version__,
        commit=commit,
        machine=f"{platform.machine()} {platform.system()} Python {platform.python_version()}",
        date=time.strftime("%Y-%m-%d", time.gmtime()),
    )


def judged(paper: str, lines: Mapping[Key, Line]) -> dict[Key, Line]:
    """The lines of a paper in its order, compared with what it says."""
    expected = {each.key: each for each in expected_of(paper) if each.key in lines}
    return judging.judged(lines, expected)


def judge(paper: str) -> dict[Key, Line]:
    """Compare the results of a paper again with what it says, keep them, and return them."""
    made = {(line.table, line.row, line.measure): line for line in results_of(paper)}
    now = judged(paper, made)
    if now != made:
        write_lines(_results(paper), Line, now.values())
    return now


def _spent() -> float:
    """The seconds of the processor that this process and those that played for it have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def is_match(line: Line) -> bool:
    """True if this line has the verdict of a match on a number of the paper."""
    return line.how.partition(" ")[0] in KINDS and line.verdict not in ("same match", "our own number")


def summary(lines: list[Line]) -> Iterator[str]:
    """A line for each verdict, for a terminal: a match counts once."""
    counted = [line for line in lines if line.verdict != "same match"]
    for word in dict.fromkeys(line.verdict for line in counted):
        yield f"{sum(line.verdict == word for line in counted):4} {word}"


def check(paper: str | None, table: str | None) -> Any:
    """Raise ValueError if there is no such paper or table."""
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"there is no paper {paper}; the papers are {', '.join(PAPERS)}")
    if paper is not None and table is not None and table not in tables_of(paper):
        raise ValueError(f"{paper} has no table {table!r}; it has {', '.join(tables_of(paper))}")
