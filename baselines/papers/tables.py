"""The tables of the five papers: each row with its number, the way to compute it here, the result and a verdict.

`kdenv reproduce` runs them.

expected/<paper>.csv is typed from the papers. A line is a number: its table, row and measure, the value with what is needed for its
interval (n games, or the half of the interval as printed), the place in the paper, how to get it here, the games of the three sizes,
and in `why` what must be known to compare it, or why it is not tried. `how` is one of

    match GAME; OPTION=VALUE ...; POLICY v POLICY ...      the first policy's number in games of their own deals, the seats going round
    seats GAME; OPTION=VALUE ...; POLICY v POLICY ...      the same, each policy in its seat in every game
    call NAME ARGUMENT ...                                  a function of baselines/papers/<paper>.py

Measures are count (exact), about and log10 (numbers that the paper rounds), nodes, turns (open on average), points, margin; points N:
those after round N; deviation: the standard deviation of points; points = N: games with N points in %; open: turns open; wins, draws,
losses: games won alone, shared and lost in %; score: wins and half draws; seconds, seconds N-M, seconds N-: of a turn, in these rounds; any
other word is a column that the game adds (kdenv match --show game), or the sum of those that begin so; A / B is the ratio of two of them,
A + B the sum.
"rival's" before a measure asks for the second policy's number; "first" or "second" after it for the games in which that policy made the
first decision, or did not. A function gives its number, or its number and the standard error; if it has luck, it takes the seed.
results/<paper>.csv is written line by line, and games are kept in games/<paper> (saved_games.py), so that an interrupted run goes on.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import math
import os
import platform
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import kdenv
from baselines.papers import saved_games, verdicts
from baselines.papers.matches import KINDS, SEED, Matches, is_same, is_share, match_key, measured, plain
from kdenv.arena import Estimate
from kdenv.author import BadRecord

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
_Z = 1.96
_PRIMARY = ("wins", "score", "margin", "points")  # measures, in the order in which the verdict of a match is taken from them
_EXACT = ("count", "about", "log10")  # measures without luck
_NOT_COMPARABLE = "not comparable"


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
        """The key of the line in its paper."""
        return self.table, self.row, self.measure


_LATER = ("difference", "difference_low", "difference_high", "p", "noticeable")  # columns that older files of results do not have


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
    path = made() / "results" / f"{paper}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{"match_seed": row.get("seed", ""), "commit": "", **dict.fromkeys(_LATER, ""), **row} for row in csv.DictReader(file)]
    names = {each.name for each in fields(Line)}
    for row in rows:
        if wrong := sorted(names ^ row.keys(), key=str):
            raise BadRecord(
                f"{path} is no file of results of kdenv reproduce, as its columns are not those of one ({wrong[0]}); take it away"
            )
    return [Line(**row) for row in rows]


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
            _write(paper, known)
        on_line(known[expected.key], i + 1, len(wanted))
    for expected in wanted:
        kind, _, rest = expected.how.partition(" ")
        if kind in KINDS:
            matches.forget(kind, rest, int(_asked(expected, size)))
    for removed in saved_games.trim(made() / "games"):
        print(f"{removed} is removed: its games are quick to play again, and at most {saved_games.MOST / 1e6:.0f} MB of games are kept")


def _kind(expected: Expected) -> str:
    return expected.how.partition(" ")[0]


def _sized(expected: Expected, size: str, games: int | None, made: Line | None) -> Expected:
    """The line with the number of games to play: that of the size, or `games`, but never fewer than have been played."""
    if _kind(expected) not in KINDS:
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


def _write(paper: str, lines: dict[tuple[str, str, str], Line]) -> None:
    """Write all lines in the order of the paper; the file is replaced at once, so that no line is ever lost."""
    path = made() / "results" / f"{paper}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Line)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(lines[each.key]) for each in expected_of(paper) if each.key in lines)
    draft.replace(path)


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
        ours = Estimate(mean, mean - _Z * error, mean + _Z * error)
        seconds, seed, commit = _spent() - start, str(luck.get("seed", "")), matches.commit
    return Line(
        *expected.key,
        paper=expected.value,
        paper_low="",
        paper_high="",
        **dict.fromkeys(_LATER, ""),
        ours=_text(ours.mean, exact=expected.measure == "count"),
        low=_end(expected, ours.low),
        high=_end(expected, ours.high),
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


def judged(paper: str, lines: dict[tuple[str, str, str], Line]) -> dict[tuple[str, str, str], Line]:
    """The lines, compared with what the paper says. A match has one verdict, in the line of `_PRIMARY` that comes first."""
    expected = {each.key: each for each in expected_of(paper) if each.key in lines}
    primary = _primary(lines, expected)
    compared = {key: found for key in primary if (found := _compared(lines[key], expected[key])) is not None}
    significant = dict(zip(compared, verdicts.holm([found.p for found in compared.values()]), strict=True))
    made = {}
    for key, each in expected.items():
        line, value, error = lines[key], _number(each.value), error_of(each)
        found = compared.get(key)
        noticed = _noticeable(line, each, verdicts.LEVEL / len(compared)) if found else math.nan
        made[key] = replace(
            line,
            paper_low=_end(each, value - _Z * error),
            paper_high=_end(each, value + _Z * error),
            difference=_text(found.difference) if found else "",
            difference_low=_text(found.low) if found else "",
            difference_high=_text(found.high) if found else "",
            p=f"{found.p:.3g}" if found else "",
            noticeable=_text(noticed) if math.isfinite(noticed) else "",
            verdict=found.verdict(significant[key]) if found else _word(line, each, key in primary),
            why="; ".join(_remarks(line, each)),
        )
    return made


def judge(paper: str) -> dict[tuple[str, str, str], Line]:
    """Compare the results of a paper again with what it says, keep them, and return them."""
    made = {(line.table, line.row, line.measure): line for line in results_of(paper)}
    now = judged(paper, made)
    if now != made:
        _write(paper, now)
    return now


def _primary(lines: dict[tuple[str, str, str], Line], expected: dict[tuple[str, str, str], Expected]) -> set[tuple[str, str, str]]:
    """The lines that have a verdict: one of each match, and all that are not of a match."""
    of_match: dict[Hashable, tuple[str, str, str]] = {}
    found = set()
    for key, each in expected.items():
        kind, _, words = each.how.partition(" ")
        if kind not in KINDS:
            found.add(key)
            continue
        name = match_key(kind, words)
        if name not in of_match or _rank(each, lines[key]) < _rank(expected[of_match[name]], lines[of_match[name]]):
            of_match[name] = key
    return found | set(of_match.values())


def _rank(expected: Expected, line: Line) -> tuple[bool, bool, int, float]:
    """The order in which lines of a match are chosen for its verdict: can be compared, is made, by measure, latest round."""
    what, _, number = expected.measure.partition(" ")
    place = _PRIMARY.index(what) if what in _PRIMARY and expected.measure in (what, f"{what} {number}") else len(_PRIMARY)
    if expected.measure.endswith((" first", " second")) or expected.measure.startswith("rival"):
        place = len(_PRIMARY)
    return not _can_compare(expected), not line.ours, place, -float(number) if number.isdigit() else 0.0


def _can_compare(expected: Expected) -> bool:
    """True if the paper's number has what a test needs, and measures what is measured here."""
    return bool(expected.value) and not _is_own(expected) and not expected.why.startswith(_NOT_COMPARABLE) and _theirs(expected) is not None


def _is_own(expected: Expected) -> bool:
    """True if the number was typed from our own pages, so that it says nothing about the paper."""
    return expected.source.startswith(("design page", "not in the paper"))


def _theirs(expected: Expected) -> verdicts.Share | verdicts.Mean | None:
    """The paper's number for a test; None if its error is not known."""
    value = _number(expected.value)
    if is_share(expected.measure) and plain(expected.measure) != "score":
        n = int(float(expected.n or 0))
        return verdicts.Share(round(value / 100 * n), n) if n else None
    error = error_of(expected)
    if math.isnan(error) or expected.measure in _EXACT:
        return None
    return verdicts.Mean(value, error, float(expected.n) - 1 if expected.n else math.inf)


def _ours(line: Line, theirs: verdicts.Share | verdicts.Mean) -> verdicts.Share | verdicts.Mean | None:
    """Our number for a test; None if there are too few games to know its error."""
    if isinstance(theirs, verdicts.Share):
        games = int(line.games or 0)
        return verdicts.Share(round(float(line.ours) / 100 * games), games) if games else None
    if not line.high:
        return None
    half = (float(line.high) - float(line.low)) / 2
    if not line.games:
        return verdicts.Mean(float(line.ours), half / _Z)
    freedom = int(line.games) - 1
    return verdicts.Mean(float(line.ours), half / verdicts.quantile(0.025, freedom), freedom)


def _compared(line: Line, expected: Expected) -> verdicts.Compared | None:
    """The comparison of a line with its paper; None if there is nothing to compare."""
    if not line.ours or not _can_compare(expected):
        return None
    theirs = _theirs(expected)
    assert theirs is not None
    ours = _ours(line, theirs)
    if isinstance(theirs, verdicts.Share) and isinstance(ours, verdicts.Share):
        return verdicts.compare_shares(theirs, ours)
    if isinstance(theirs, verdicts.Mean) and isinstance(ours, verdicts.Mean):
        return verdicts.compare_means(theirs, ours, _margin(expected))
    return None


def _margin(expected: Expected) -> float:
    """How far two means may lie apart and count as equal."""
    what = plain(expected.measure).partition(" ")[0]
    is_points = what in ("points", "margin") or expected.measure.endswith("%")
    return verdicts.POINTS_MARGIN if is_points else verdicts.OTHER_MARGIN * abs(float(expected.value))


def _noticeable(line: Line, expected: Expected, level: float) -> float:
    """The smallest difference of this line that is significant at this level."""
    theirs = _theirs(expected)
    assert theirs is not None
    ours = _ours(line, theirs)
    if isinstance(theirs, verdicts.Share):
        return verdicts.noticeable_share(theirs, int(line.games), level)
    assert isinstance(ours, verdicts.Mean)
    return verdicts.noticeable_mean(theirs, ours, level)


def _word(line: Line, expected: Expected, is_primary: bool) -> str:
    """The verdict of a line that no test compares."""
    if not expected.how:
        return "nothing to play"
    if not is_primary:
        return "same match"
    if not line.ours:
        return "not tried"
    if _is_own(expected):
        return "our own number"
    if expected.value and expected.measure in _EXACT:
        return "agrees" if _is_equal(expected.measure, float(line.ours), float(expected.value)) else "differs"
    return "cannot tell" if _can_compare(expected) else "not comparable"


def _is_equal(measure: str, ours: float, value: float) -> bool:
    """True if a number without luck is that of the paper, as far as the paper prints it."""
    if measure == "count":
        return ours == value
    return abs(ours - value) <= 0.2 if measure == "log10" else math.isclose(ours, value, rel_tol=0.05)


def _remarks(line: Line, expected: Expected) -> list[str]:
    remarks = [expected.why] if expected.why else []
    if not line.ours and expected.how and not line.games:
        remarks.append(f"not tried in this size: {_larger(expected)}")
    return remarks


def _number(text: str) -> float:
    return float(text) if text else math.nan


def _larger(expected: Expected) -> str:
    """With which size a line is made."""
    if expected.how.partition(" ")[0] not in KINDS:
        return "it takes long"
    return f"the default plays {expected.default} games" if int(expected.default) else f"--full plays {expected.full} games"


def _spent() -> float:
    """The seconds of the processor that this process and those that played for it have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _end(expected: Expected, number: float) -> str:
    """An end of an interval as text; that of a share lies from 0 to 100."""
    return _text(min(100.0, max(0.0, number)) if is_share(expected.measure) and not math.isnan(number) else number)


def _text(number: float, *, exact: bool = False) -> str:
    return "" if math.isnan(number) else f"{number:.0f}" if exact else f"{number:.6g}"


def error_of(expected: Expected) -> float:
    """The standard error of the paper's number; 0 if it is exact, nan if it cannot be known."""
    if expected.half:
        return float(expected.half) / _Z
    if is_share(expected.measure) and expected.n:
        n, share = float(expected.n), (float(expected.value) / 100 * float(expected.n) + 1) / (float(expected.n) + 2)
        return 100 * math.sqrt(share * (1 - share) / n)
    return 0.0 if expected.measure == "count" else math.nan


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
