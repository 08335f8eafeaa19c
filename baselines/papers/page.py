"""The page of all results, RESULTS.md: what was found about each paper, then a table for each of its tables, with the figures."""

from __future__ import annotations

from collections.abc import Iterator

from baselines.papers import figures, tables
from baselines.papers.tables import Line

VERDICTS = ("agrees", "stronger", "weaker", "differs", "too few games", "not comparable", "not tried")
_LONG = 20  # lines; a longer table with a figure is folded up

_INTRODUCTION = """# What the papers say, and what comes out here

Made by `kdenv reproduce --page` from `results/*.csv`, which `kdenv reproduce [PAPER [TABLE]]` writes; `expected/*.csv` has the papers'
numbers and where they stand. [README.md](README.md) says how a line is read, and what the papers get wrong.

Seed 2026. Every game has a deal of its own, and the seats go round from game to game. [low, high] are 95 % intervals (Student's t; Wilson's
for shares). The verdicts:

| | |
|---|---|
| agrees | both numbers differ by less than 2.6 standard errors, as 99 of 100 should if both play alike |
| | counts: they are equal; rounded numbers lie within 5 % (of log10: 0.2), nodes and extremes within 25 % |
| stronger, weaker | our player does better, or worse, than the paper's number |
| differs | another number, where neither is better |
| too few games | fewer than ten games, which have no interval |
| not comparable | what the paper measured is not what can be measured here; the last column says why |
| not tried | the last column says why |

Many lines have far fewer games than the paper, so "agrees" may say little: the intervals tell.
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
        parts += [f"\n## {title}\n\n", *_counts(of_tables, "table")]
        for table, rows in of_tables.items():
            caption = captions.get((paper, table))
            parts += [f"\n### {table}\n\n", *([f"{caption}\n\n"] if caption else []), *_table(rows, _pictures(paper, table))]
    return "".join(parts)


def _counts(groups: dict[str, list[Line]], what: str) -> Iterator[str]:
    """How many lines of each group have which verdict."""
    said = [word for word in VERDICTS if any(line.verdict == word for lines in groups.values() for line in lines)]
    yield f"| {what} | {' | '.join(said)} |\n|---|{'---|' * len(said)}\n"
    for name, lines in groups.items():
        numbers = (sum(line.verdict == word for line in lines) for word in said)
        yield f"| {name} | {' | '.join(str(number or '') for number in numbers)} |\n"


def _pictures(paper: str, table: str) -> list[str]:
    """The figures that are made of this table."""
    wanted = (figure for figure in figures.FIGURES if (figure.paper, figure.table) == (paper, table) and figure.curves())
    return [f"![{figure.name}: {figure.title}](figures/{figure.file})\n" for figure in wanted]


def _table(lines: list[Line], pictures: list[str]) -> Iterator[str]:
    is_folded = pictures and len(lines) > _LONG
    yield from pictures
    if pictures:
        yield "\n"
    if is_folded:
        yield f"<details><summary>{len(lines)} lines</summary>\n\n"
    yield "| | measure | paper | here | games | verdict | |\n|---|---|---|---|---|---|---|\n"
    yield from map(_row, lines)
    if is_folded:
        yield "\n</details>\n"


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
