"""The page of all results, RESULTS.md: what was found about each paper, then a table for each of its tables, with the figures."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator

from baselines.papers import figures, tables
from baselines.papers.lines import Line
from baselines.papers.matches import is_share

VERDICTS = (
    "agrees",
    "differs slightly",
    "differs",
    "cannot tell",
    "same match",
    "not comparable",
    "our own number",
    "not tried",
    "nothing to play",
)
_OF_MATCHES = ("agrees", "differs slightly", "differs", "cannot tell", "not comparable", "not tried")
_LONG = 20  # lines; a longer table with a figure is folded up
_ADDED = "added in"  # a commit, in lines of which it is not known which commit played them
_DIGITS = 2  # significant digits of half an interval

_INTRODUCTION = """# What the papers say, and the results here

Made by `kdenv reproduce --page` from `results/*.csv`, which `kdenv reproduce [PAPER [TABLE]]` writes and which have more digits;
`expected/*.csv` has the papers' numbers and where they stand. [README.md](README.md) says how lines are made, and what the papers get
wrong.

Every game has its own deal, and the seats go round from game to game. The seed and the commit of the games are below each table. Each
match has separate deals, drawn from the seed and the name of the row. In older lines all matches played the deals of one seed, so their
results are not independent. These lines have "shared deals". The words "added in" name the commit that added a line, if it was not noted
which commit played it. Numbers have 95 % intervals, as [low, high] (Student's t; Wilson's for shares).

A match has one verdict, from one of its numbers: its wins, else its margin, else its points (after the last round). The difference is
ours minus the paper's. It has a 90 % interval: Newcombe's for shares, Welch's for means. The column "noticeable" has the smallest
difference that the test would have found, given the games of both. The verdicts:

| | |
|---|---|
| agrees | the 90 % interval of the difference lies within 15 points of share, or 5 points of the game, or of saved nodes in % |
| | for other means, within 10 % of the number |
| | numbers without luck: they are equal, or for rounded ones lie within 5 % (of log10: 0.2) |
| differs | the numbers differ by the test (Fisher's exact test for shares, Welch's t test for means) |
| | at 5 % for all comparisons of a paper together, with Holm's correction |
| differs slightly | both: they differ by the test, and by less than the margin |
| cannot tell | neither: too few games, here or in the paper |
| same match | another number of a match; the verdict stands with its main number |
| not comparable | the paper prints no number ("-"), or what it measured is not what can be measured here; a remark says why |
| our own number | a number that the paper does not have |
| not tried | it takes longer than what was played for this page; `kdenv reproduce PAPER TABLE --full` plays it |
| nothing to play | parameters, people, lost positions; a remark says which |

The measures:

| | |
|---|---|
| wins, draws, losses | games won alone, shared and lost, in % |
| score | wins and half of the draws, in % |
| margin | points ahead of the best other player |
| points N | points after round N |
| open, turns | the number of turns that can be chosen |
| least, most | the smallest and the largest number in any game |
| rival's | before a measure: the number of the player named second |
| first, second | after a measure: only the games in which the player made the first decision, or did not; about half of all |
"""


def page() -> str:
    """All results as a page."""
    parts = [_INTRODUCTION, "\n## All papers\n\n", *_overview({title: tables.results_of(paper) for paper, title in tables.PAPERS.items()})]
    captions = tables.captions()
    for paper, title in tables.PAPERS.items():
        lines = tables.results_of(paper)
        if not lines:
            continue
        of_tables = {table: [line for line in lines if line.table == table] for table in dict.fromkeys(line.table for line in lines)}
        played = {table: rows for table, rows in of_tables.items() if {row.verdict for row in rows} != {"nothing to play"}}
        parts += [f"\n## {title}\n\n", *_counts(played, "table")]
        for table, rows in played.items():
            caption = captions.get((paper, table))
            parts += [f"\n### {table}\n\n", *([f"{caption}\n\n"] if caption else []), *_table(rows, _pictures(paper, table))]
        parts += _not_played([row for table, rows in of_tables.items() if table not in played for row in rows])
    return "".join(parts)


def _overview(papers: dict[str, list[Line]]) -> Iterator[str]:
    """The matches of each paper by verdict, with their median sizes, and the verdicts of numbers that are not of a match."""
    yield "Matches, one verdict each. Numbers that the paper does not have are left out.\n\n"
    yield f"| paper | lines | matches | median games | noticeable, share | noticeable, points | {' | '.join(_OF_MATCHES)} |\n"
    yield f"|---|---|---|---|---|---|{'---|' * len(_OF_MATCHES)}\n"
    for name, lines in papers.items():
        yield overview_row(name, lines) + "\n"
    yield "\nNumbers that are counted, searched or computed:\n\n"
    others = {name: [line for line in lines if line.how.startswith("call")] for name, lines in papers.items()}
    yield from _counts(others, "paper")


def overview_row(name: str, lines: list[Line]) -> str:
    """The row of a paper in the overview: its lines and matches, their median sizes, and the number of matches by verdict."""
    of_matches = [line for line in lines if tables.is_match(line)]
    cells = [str(len(lines)), str(len(of_matches) or ""), *_medians(of_matches)]
    cells += [str(sum(line.verdict == word for line in of_matches) or "") for word in _OF_MATCHES]
    return f"| {name} | {' | '.join(cells)} |"


def with_rows_of_now(readme: str) -> str:
    """The text of README.md, with the rows "now" of its table made of the results."""
    for paper, title in tables.PAPERS.items():
        name = f"{title.partition(' (')[0]}, now"
        row = overview_row(name, tables.results_of(paper))
        readme = re.sub(rf"^\| {re.escape(name)} \|.*$", lambda _, row=row: row, readme, flags=re.MULTILINE)  # type: ignore[misc]
    return readme


def _medians(lines: list[Line]) -> list[str]:
    """The median number of games of these matches, and the medians of what is noticeable: in shares, and in points."""
    games = [float(line.games) for line in lines if line.games]
    noticed = [(is_share(line.measure), float(line.noticeable)) for line in lines if line.noticeable]
    by_kind = [[number for is_of_share, number in noticed if is_of_share == kind] for kind in (True, False)]
    return [f"{statistics.median(numbers):.4g}" if numbers else "" for numbers in (games, *by_kind)]


def _counts(groups: dict[str, list[Line]], what: str) -> Iterator[str]:
    """The number of lines of each verdict, by group."""
    said = [word for word in VERDICTS if any(line.verdict == word for lines in groups.values() for line in lines)]
    yield f"| {what} | {' | '.join(said)} |\n|---|{'---|' * len(said)}\n"
    for name, lines in groups.items():
        numbers = (sum(line.verdict == word for line in lines) for word in said)
        yield f"| {name} | {' | '.join(str(number or '') for number in numbers)} |\n"


def _not_played(lines: list[Line]) -> Iterator[str]:
    """The tables of which no line can be played, in one table: those with the same row and remark in one line."""
    if not lines:
        return
    places: dict[tuple[str, ...], list[str]] = {}
    for line in lines:
        places.setdefault((line.row, line.paper, line.why), []).append(line.table)
    yield "\n### Nothing to play\n\n| | | paper | remarks |\n|---|---|---|---|\n"
    for (row, paper, why), tables_of_it in places.items():
        yield f"| {', '.join(tables_of_it)} | {_cell(row)} | {paper} | {_cell(why)} |\n"


def _pictures(paper: str, table: str) -> list[str]:
    """The figures that are made of this table."""
    wanted = (figure for figure in figures.FIGURES if (figure.paper, figure.table) == (paper, table) and figure.curves())
    return [f"![{figure.name}: {figure.title}](figures/{figure.file})\n" for figure in wanted]


def _table(lines: list[Line], pictures: list[str]) -> Iterator[str]:
    """A table. A remark about several lines becomes a numbered note below it."""
    is_folded = pictures and len(lines) > _LONG
    said = Counter(remark for line in lines for remark in _remarks(line))
    notes = [remark for remark, n in said.items() if n > 1]
    yield from pictures
    if pictures:
        yield "\n"
    if is_folded:
        yield f"<details><summary>{len(lines)} lines</summary>\n\n"
    yield "| | measure | paper | here | games | difference | noticeable | verdict | remarks |\n|---|---|---|---|---|---|---|---|---|\n"
    for line in lines:
        remarks = [f"({notes.index(remark) + 1})" if remark in notes else remark for remark in _remarks(line)]
        numbers = (_paper(line), number_with_interval(line.ours, line.low, line.high), line.games, _difference(line), _noticeable(line))
        cells = (line.row, line.measure, *numbers, line.verdict, "; ".join(remarks))
        yield f"| {' | '.join(map(_cell, cells))} |\n"
    if notes:
        yield "\n" + "".join(f"{number}. {note[0].upper()}{note[1:]}\n" for number, note in enumerate(notes, 1))
    yield from _origin(lines)
    if is_folded:
        yield "\n</details>\n"


def _origin(lines: list[Line]) -> Iterator[str]:
    """The seeds and commits of the games of a table."""
    said: dict[str, list[str]] = {}
    for line in lines:
        if line.seed:
            deals = f"seed {line.seed}, {'shared deals' if line.match_seed == line.seed else 'own deals'}"
            how = _ADDED if line.commit.startswith(_ADDED) else "played by"
            said.setdefault(f"{deals}, {how}", []).extend(line.commit.removeprefix(_ADDED).split() or ["a commit that is not known"])
    if said:
        parts = [f"{what} {', '.join(dict.fromkeys(commits))}" for what, commits in said.items()]
        yield f"\nGames: {'; '.join(parts)}.\n"


def _remarks(line: Line) -> list[str]:
    return line.why.split("; ") if line.why else []


def _cell(text: str) -> str:
    return text.replace("|", "/")


def _paper(line: Line) -> str:
    """The paper's number as it is printed, with its interval."""
    decimals = _decimals(line.paper_low, line.paper_high)
    if decimals is None:
        return line.paper or "-"
    return f"{line.paper} [{float(line.paper_low):.{decimals}f}, {float(line.paper_high):.{decimals}f}]"


def number_with_interval(number: str, low: str, high: str) -> str:
    """A number with its interval, with as many decimals as the interval has meaning."""
    decimals = _decimals(low, high)
    if decimals is None:
        return number or "-"
    return f"{float(number):.{decimals}f} [{float(low):.{decimals}f}, {float(high):.{decimals}f}]"


def _difference(line: Line) -> str:
    """The difference with its 90 % interval."""
    decimals = _decimals(line.difference_low, line.difference_high)
    if decimals is None:
        return line.difference
    return (
        f"{float(line.difference):+.{decimals}f} [{float(line.difference_low):+.{decimals}f}, {float(line.difference_high):+.{decimals}f}]"
    )


def _noticeable(line: Line) -> str:
    return f"{float(line.noticeable):.2g}" if line.noticeable else ""


def _decimals(low: str, high: str) -> int | None:
    """The decimals that half of an interval needs; None if it has no width."""
    if not low or not high or float(low) == float(high):
        return None
    return max(0, _DIGITS - 1 - math.floor(math.log10((float(high) - float(low)) / 2)))
