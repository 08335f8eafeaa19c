"""The page of all results, RESULTS.md: what was found about each paper, then a table for each of its tables, with the figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from baselines.papers import figures, tables
from baselines.papers.tables import Line

VERDICTS = ("agrees", "stronger", "weaker", "differs", "too few games", "not comparable", "not tried", "nothing to play")
_LONG = 20  # lines; a longer table with a figure is folded up
_ADDED = "added in"  # a commit, in lines of which it is not known which commit played them
_DIGITS = 2  # significant digits of half an interval

_INTRODUCTION = """# What the papers say, and what comes out here

Made by `kdenv reproduce --page` from `results/*.csv`, which `kdenv reproduce [PAPER [TABLE]]` writes and which have more digits;
`expected/*.csv` has the papers' numbers and where they stand. [README.md](README.md) says how lines are made, and what the papers get
wrong.

Every game has a deal of its own, and the seats go round from game to game. Below each table stand the seed and the commit of its games.
Each match has deals of its own, drawn from the seed and the name of the row. "Shared deals" are of older lines: all matches then played
the deals of one seed, so that their luck is alike. "Added in" names the commit with which a line came, where it was not noted which commit
played it. [low, high] are 95 % intervals (Student's t; Wilson's for shares). The verdicts:

| | |
|---|---|
| agrees | both numbers differ by less than 2.6 standard errors, as 99 of 100 should if both play alike |
| | (so that of 400 such lines about four do not agree by chance) |
| | counts: they are equal; rounded numbers lie within 5 % (of log10: 0.2) |
| | nodes, mean numbers of turns, the least and the most lie within 25 % |
| stronger, weaker | the player whose number it is does better, or worse, than in the paper (fewer losses are better) |
| differs | another number, where neither is better |
| too few games | fewer than ten games, which have no interval |
| not comparable | the paper prints no number ("-"), or what it measured is not what can be measured here; a remark says why |
| not tried | it takes longer than what was played for this page; `kdenv reproduce PAPER TABLE --full` plays it |
| nothing to play | parameters, people, lost positions; a remark says which |

Many lines have far fewer games than the paper, so "agrees" may say little: the intervals tell. Measures: wins, draws and losses, games won
alone, shared and lost, in %; score, wins and half draws in %; margin, points ahead of the best other; points N, points after round N;
open and turns, how many turns can be chosen; least and most, in any game; "rival's", the number of the player named second; "first" and
"second", only of those games, about half, in which the player made the first decision, or did not.
"""


def page() -> str:
    """All results as a page."""
    all_papers = {title: tables.results_of(paper) for paper, title in tables.PAPERS.items()}
    parts = [_INTRODUCTION, "\n## All papers\n\n", *_counts(all_papers, "paper")]
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
    """A table. What is said of several lines is said once, in a numbered note below it."""
    is_folded = pictures and len(lines) > _LONG
    said = Counter(remark for line in lines for remark in _remarks(line))
    notes = [remark for remark, n in said.items() if n > 1]
    yield from pictures
    if pictures:
        yield "\n"
    if is_folded:
        yield f"<details><summary>{len(lines)} lines</summary>\n\n"
    yield "| | measure | paper | here | games | verdict | remarks |\n|---|---|---|---|---|---|---|\n"
    for line in lines:
        remarks = [f"({notes.index(remark) + 1})" if remark in notes else remark for remark in _remarks(line)]
        cells = (line.row, line.measure, _paper(line), _ours(line), line.games, line.verdict, "; ".join(remarks))
        yield f"| {' | '.join(map(_cell, cells))} |\n"
    if notes:
        yield "\n" + "\n".join(f"({number}) {note}" + "  " * (number < len(notes)) for number, note in enumerate(notes, 1)) + "\n"
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


def _ours(line: Line) -> str:
    """Our number with its interval, with as many decimals as the interval has meaning."""
    decimals = _decimals(line.low, line.high)
    if decimals is None:
        return line.ours or "-"
    return f"{float(line.ours):.{decimals}f} [{float(line.low):.{decimals}f}, {float(line.high):.{decimals}f}]"


def _decimals(low: str, high: str) -> int | None:
    """The decimals that half of an interval needs; None if it has no width."""
    if not low or not high or float(low) == float(high):
        return None
    return max(0, _DIGITS - 1 - math.floor(math.log10((float(high) - float(low)) / 2)))
