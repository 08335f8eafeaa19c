"""The sentences in which the five papers state what they found, each tried by matches.

`kdenv reproduce claims` plays them, and writes CLAIMS.md.

claims.csv has a line for each condition under which a sentence is tried. The line has the paper, the place and the words of the sentence,
the condition, how it is tried, and the measure (tables.py). Then it has the number that the sentence makes one expect, and the games of
both sizes; with none, a condition is not tried. A line of other results that has not been made is not tried either. `how` is one of

    match GAME; OPTIONS; POLICY v POLICY ...                the number of the first policy
    pair GAME; OPTIONS; POLICY v ... | POLICY v ...         the difference of the first policies of two matches on the same deals
    number PAPER; TABLE; ROW                                the number of a line of the results

The sentence makes one expect that the number is "> X", "< X", or "= X". All matches of one place have the same deals, so that a match that
several sentences need is played once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from baselines.papers import saved_games, tables, verdicts
from baselines.papers.lines import read_lines, write_lines
from baselines.papers.matches import SEED, Matches, difference, is_same, is_share, measured
from baselines.papers.page import number_with_interval
from kdenv.arena import Estimate

FILE = Path(__file__).with_name("claims.csv")
NAME = "claims"
HOLDS, HOLDS_NOT, CONDITIONS, CANNOT_TELL = "holds", "holds not", "holds under conditions", "cannot tell"
NOT_TRIED = "not tried"


@dataclass(frozen=True)
class _Stated:
    """A sentence of a paper, a condition under which it is tried, and the number that it makes one expect."""

    paper: str
    place: str
    quote: str
    condition: str
    how: str
    measure: str
    expects: str


@dataclass(frozen=True)
class Condition(_Stated):
    """A line of claims.csv."""

    games: str
    quick: str


@dataclass(frozen=True)
class Tried(_Stated):
    """A line of results/claims.csv: the condition, and what was found. Numbers are text; `games` is the number that was played."""

    games: str
    ours: str
    low: str
    high: str
    seed: str
    seconds: str
    verdict: str
    commit: str
    date: str


def _key(line: _Stated) -> tuple[str, str, str]:
    return line.paper, line.quote, line.condition


def conditions() -> list[Condition]:
    """The lines of claims.csv, in order."""
    return read_lines(FILE, Condition, "claims")


def results() -> list[Tried]:
    """The lines that have been tried."""
    return read_lines(_results(), Tried, "claims")


def _results() -> Path:
    return tables.made() / "results" / f"{NAME}.csv"


def run(
    size: str,
    on_line: Callable[[Tried, int, int], Any],
    again: bool = False,
    *,
    seed: int | None = None,
    games: int | None = None,
) -> None:
    """Try the conditions. Lines with at least these games, tried in the same way, stay.

    Args:
        size: "quick" for few games, and none where a game takes long; any other plays the games of claims.csv.
        on_line: Called with each line, its number, and the number of lines.
        again: True to try lines of other commits again.
        seed: The seed of the deals; lines with another seed are tried again.
        games: The least number of games of each match, in place of that of the line.
    """
    wanted, known, commit = conditions(), {_key(line): line for line in results()}, saved_games.commit_here()
    seed_now = SEED if seed is None else seed
    for i, condition in enumerate(wanted):
        line = known.get(_key(condition))
        played = int(line.games or 0) if line is not None and line.how == condition.how else 0
        asked = max(played, games if games is not None else int((condition.quick if size == "quick" else condition.games) or 0))
        if not (asked if _matches(condition.how) else _line_of(condition)):
            continue
        if line is None or not _is_enough(line, condition, asked, seed) or (again and not is_same(line.commit, commit)):
            line = _tried(condition, wanted, asked, Matches(_folder(), tables.progress, rows=_rows(condition, wanted), seed=seed_now,
                                                            commit=commit, again=again, ray=tables.ray))  # fmt: skip
        known[_key(line)] = _judged(line, condition)
        write_lines(_results(), Tried, [known[_key(each)] for each in wanted if _key(each) in known])
        on_line(known[_key(line)], i + 1, len(wanted))


def judge() -> None:
    """Compare the results again with what the sentences make one expect, and keep them."""
    known = {_key(line): line for line in results()}
    if known:
        write_lines(_results(), Tried, [_judged(known[_key(each)], each) for each in conditions() if _key(each) in known])


def _folder() -> Path:
    return tables.made() / "games" / NAME


def _rows(condition: Condition, every: list[Condition]) -> list[tuple[str, str]]:
    """The matches of a place, all with the name of the place, from which their deals are drawn."""
    name = f"{NAME}, {condition.paper}, {condition.place}"
    return [(f"match {words}", name) for each in every if each.place == condition.place and each.paper == condition.paper
            for words in _matches(each.how)]  # fmt: skip


def _matches(how: str) -> list[str]:
    """The words of the matches of a condition: game; options; policies."""
    kind, _, rest = how.partition(" ")
    if kind == "number":
        return []
    head, _, policies = rest.rpartition(";")
    return [f"{head}; {line_up.strip()}" for line_up in policies.split(" | ")]


def _is_enough(line: Tried, condition: Condition, games: int, seed: int | None) -> bool:
    """True if a line was tried in the same way, with these games and this seed. Numbers of other results are looked up anew."""
    is_same_way = (line.how, line.measure) == (condition.how, condition.measure)
    return is_same_way and bool(line.games) and int(line.games) >= games and (seed is None or line.seed == str(seed))


def _tried(condition: Condition, every: list[Condition], games: int, matches: Matches) -> Tried:
    """Try a condition."""
    start = time.process_time()
    words, seed, commit = _matches(condition.how), str(matches.seed), matches.commit
    if not words:
        of = _line_of(condition)
        assert of is not None
        numbers, games_text, seed, commit, seconds = (of.ours, of.low, of.high), of.games, of.seed, of.commit, 0.0
    else:
        played = [matches.play("match", each, games) for each in words]
        found = measured(played[0], condition.measure) if len(played) == 1 else difference(played[0], played[1], condition.measure)
        numbers = tuple("" if number != number else f"{number:.6g}" for number in found)  # type: ignore[assignment]
        games_text, commit = str(games), " ".join(dict.fromkeys(commit for each in played for commit in each.commits))
        seconds = max(time.process_time() - start, sum(each.seconds for each in played))
    ours, low, high = numbers
    return Tried(
        **{name: value for name, value in asdict(condition).items() if name not in ("games", "quick")},
        games=games_text,
        ours=ours,
        low=low,
        high=high,
        seed=seed,
        seconds=f"{seconds:.1f}",
        verdict="",
        commit=commit,
        date=time.strftime("%Y-%m-%d", time.gmtime()),
    )


def _line_of(condition: Condition) -> tables.Line | None:
    """The line of the results that `number` names; None if it has not been made."""
    paper, table, row = (part.strip() for part in condition.how.partition(" ")[2].split(";"))
    key = table, row, condition.measure
    return next((line for line in tables.results_of(paper) if (line.table, line.row, line.measure) == key), None)


def _judged(line: Tried, condition: Condition) -> Tried:
    """The line with the verdict of its condition."""
    ours, low, high = (float(text) if text else math.nan for text in (line.ours, line.low, line.high))
    found, margin = Estimate(ours, low, high), margin_of(condition.measure)
    verdict = verdict_of(condition.expects, found, int(line.games or 0), margin, _conditions_of(condition.paper, condition.quote))
    return replace(line, place=condition.place, expects=condition.expects, verdict=verdict)


def _conditions_of(paper: str, quote: str) -> int:
    """The number of conditions under which a sentence is tried."""
    return sum((each.paper, each.quote) == (paper, quote) for each in conditions())


def margin_of(measure: str) -> float:
    """The largest difference that counts as equal."""
    return verdicts.SHARE_MARGIN if is_share(measure) else verdicts.POINTS_MARGIN


def verdict_of(expects: str, found: Estimate, games: int, margin: float, n_conditions: int = 1) -> str:
    """The verdict of one of the conditions of a sentence: holds, holds not, cannot tell.

    The 95 % interval is widened for the number of conditions, so that all are right with 95 % together (Bonferroni).
    A condition "> X" or "< X" holds if this interval lies beyond X.

    A condition "= X" holds if the 90 % interval lies within the margin of X. Otherwise it holds not if X is outside the widened interval.

    A number without luck has no interval, and must be X.
    """
    sign, _, text = expects.partition(" ")
    wanted = float(text)
    if not found.has_interval:
        return CANNOT_TELL if games or math.isnan(found.mean) else HOLDS if found.mean == wanted else HOLDS_NOT
    freedom = games - 1 if games else math.inf

    def ends(upper: float) -> list[float]:
        factor = verdicts.quantile(upper, freedom) / verdicts.quantile(0.025, freedom)
        return [found.mean + factor * (end - found.mean) for end in found[1:]]

    if sign == "=" and all(abs(end - wanted) < margin for end in ends(0.05)):
        return HOLDS
    low, high = ends(0.025 / n_conditions)
    is_above, is_below = low > wanted, high < wanted
    if not is_above and not is_below:
        return CANNOT_TELL
    return HOLDS if is_above == (sign == ">") and sign != "=" else HOLDS_NOT


def verdict_of_sentence(of_conditions: list[str]) -> str:
    """The verdict of a sentence by those of its conditions."""
    told = set(of_conditions)
    if not told:
        return NOT_TRIED
    if HOLDS in told:
        return HOLDS if told == {HOLDS} else CONDITIONS
    return HOLDS_NOT if HOLDS_NOT in told else CANNOT_TELL


_INTRODUCTION = """# What the papers found, and whether it holds here

Made by `kdenv reproduce claims` from [claims.csv](claims.csv), which has the matches, and `results/claims.csv`, which has more digits. Each
sentence of a paper is tried under the conditions below it, by separate matches. The column "here" has the number of the first policy, or
the difference of two policies against the same opponents on the same deals. Numbers have 95 % intervals over deals, as [low, high]. Where
games with the paper's budget take long, searches get less here. The condition then has the paper's budget in parentheses.

| | |
|---|---|
| holds | the interval lies on the side that the sentence makes one expect. For the verdicts of a sentence with n conditions it is |
| | widened to 100 - 5 / n %, so that all of them are right with 95 % together |
| | for equality: the 90 % interval lies within 15 points of share, or 5 points of the game |
| holds not | it lies on the other side, or is not equal |
| cannot tell | neither; more games are needed |
| holds under conditions | of a sentence: it holds under some of its conditions; elsewhere it does not, or there are too few games |
| not tried | the matches take long; `kdenv reproduce claims` plays them |
"""


def page() -> str:
    """All sentences as a page."""
    tried = {_key(line): line for line in results()}
    sentences: dict[tuple[str, str], list[Condition | Tried]] = {}
    for each in conditions():
        sentences.setdefault((each.paper, each.quote), []).append(tried.get(_key(each), each))
    told = {name: verdict_of_sentence([line.verdict for line in of if isinstance(line, Tried)]) for name, of in sentences.items()}
    words = (HOLDS, CONDITIONS, HOLDS_NOT, CANNOT_TELL, NOT_TRIED)
    parts = [_INTRODUCTION, f"\n| paper | sentences | {' | '.join(words)} |\n|---|---|{'---|' * len(words)}\n"]
    for paper, title in tables.PAPERS.items():
        mine = [verdict for (of, _), verdict in told.items() if of == paper]
        parts.append(f"| {title} | {len(mine)} | {' | '.join(str(mine.count(word) or '') for word in words)} |\n")
    for paper, title in tables.PAPERS.items():
        parts.append(f"\n## {title}\n")
        for name in sorted((name for name in sentences if name[0] == paper), key=lambda name: sentences[name][0].place):
            parts += _sentence(sentences[name], told[name])
    return "".join(parts)


def _sentence(lines: Sequence[Condition | Tried], verdict: str) -> Iterator[str]:
    """A sentence with its conditions."""
    yield f'\n**"{lines[0].quote}"** ({lines[0].place}): **{verdict}**\n\n'
    yield "| condition | measure | expected | here | games | verdict |\n|---|---|---|---|---|---|\n"
    for line in lines:
        found = ("-", "", NOT_TRIED)
        if isinstance(line, Tried):
            found = (number_with_interval(line.ours, line.low, line.high), line.games, line.verdict)
        yield f"| {' | '.join((line.condition, line.measure, line.expects, *found))} |\n"
