"""Compares lines of results with the numbers of their papers: the tests, and the verdict of each line.

verdicts.py has the tests themselves. A match has one verdict, from the most important of its numbers that can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace

from baselines.papers import verdicts
from baselines.papers.lines import Expected, Key, Line
from baselines.papers.matches import is_share, match_key, plain

Z = 1.96  # of a 95 % interval
_PRIMARY = ("wins", "score", "margin", "points")  # measures, in the order in which the verdict of a match is taken from them
_EXACT = ("count", "about", "log10")  # measures without luck
_NOT_COMPARABLE = "not comparable"


def judged(lines: Mapping[Key, Line], expected: Mapping[Key, Expected]) -> dict[Key, Line]:
    """The lines, compared with what the paper has for them. A match has one verdict, in the line of `_PRIMARY` that comes first."""
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
            paper_low=end_of(each, value - Z * error),
            paper_high=end_of(each, value + Z * error),
            difference=text_of(found.difference) if found else "",
            difference_low=text_of(found.low) if found else "",
            difference_high=text_of(found.high) if found else "",
            p=f"{found.p:.3g}" if found else "",
            noticeable=text_of(noticed) if math.isfinite(noticed) else "",
            verdict=found.verdict(significant[key]) if found else _word(line, each, key in primary),
            why="; ".join(_remarks(line, each)),
        )
    return made


def _primary(lines: Mapping[Key, Line], expected: Mapping[Key, Expected]) -> set[Key]:
    """The lines that have a verdict: one of each match, and all that are not of a match."""
    of_match: dict[Hashable, Key] = {}
    found = set()
    for key, each in expected.items():
        if not each.is_played:
            found.add(key)
            continue
        kind, _, words = each.how.partition(" ")
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
        return verdicts.Mean(float(line.ours), half / Z)
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
    """The largest difference of two means that count as equal."""
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
    """The size with which a line is made, in words."""
    if not expected.is_played:
        return "it takes long"
    return f"the default plays {expected.default} games" if int(expected.default) else f"--full plays {expected.full} games"


def end_of(expected: Expected, number: float) -> str:
    """An end of an interval as text; that of a share lies from 0 to 100."""
    return text_of(min(100.0, max(0.0, number)) if is_share(expected.measure) and not math.isnan(number) else number)


def text_of(number: float, *, exact: bool = False) -> str:
    return "" if math.isnan(number) else f"{number:.0f}" if exact else f"{number:.6g}"


def error_of(expected: Expected) -> float:
    """The standard error of the paper's number; 0 if it is exact, nan if it cannot be known."""
    if expected.half:
        return float(expected.half) / Z
    if is_share(expected.measure) and expected.n:
        n, share = float(expected.n), (float(expected.value) / 100 * float(expected.n) + 1) / (float(expected.n) + 2)
        return 100 * math.sqrt(share * (1 - share) / n)
    return 0.0 if expected.measure == "count" else math.nan
