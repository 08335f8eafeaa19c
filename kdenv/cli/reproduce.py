"""`kdenv reproduce`: makes the tables of the five papers again. What they say and how it is done is in baselines/papers of a checkout."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

from kdenv.cli.arguments import Commands, add_ray, add_seed, whole
from kdenv.cli.terminal import Progress
from kdenv.core.errors import BadOption
from kdenv.drawing.chart import Dot, Line, chart
from kdenv.drawing.rows import IntervalRow, ladder

_ROOT = Path(__file__).parents[2]


def add(commands: Commands) -> None:
    command = commands.add(
        "reproduce",
        _run,
        "make the tables of the five papers again, with a verdict for every number (in a checkout of the repository)",
        "kdenv reproduce --list",
        'kdenv reproduce gedda2018 "Table I"',
        'kdenv reproduce jansen2014 "Table 43" --games 50 --seed 1',
        "kdenv reproduce claims",
        "kdenv reproduce --quick --out reproduced",
    )
    command.add_argument("paper", nargs="?", help="one of the papers, or claims for what the papers say they found; without it, all")
    command.add_argument("table", nargs="?", help="one of its tables, as --list shows them")
    sizes = command.add_mutually_exclusive_group()
    sizes.add_argument(
        "--quick",
        dest="size",
        action="store_const",
        const="quick",
        help="few games: all papers in some minutes; without it, as many as the committed results",
    )
    sizes.add_argument(
        "--full", dest="size", action="store_const", const="full", help="as many games as the papers, or more: days for all of them"
    )
    command.set_defaults(size="default")
    least = "play at least N games in each row that is a match; rows that have more keep them"
    sizes.add_argument("--games", type=whole(1, 10**6), metavar="N", help=least)
    add_seed(command, None, "the seed of the deals, of which each match has its own; rows with another seed are made again (default: 2026)")
    command.add_argument("--again", action="store_true", help="make rows again, and play their games again, that another commit has made")
    add_ray(command)
    command.add_argument("--list", action="store_true", help="list the papers and their tables")
    command.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where results, figures and RESULTS.md are (default: baselines/papers, which has ours)"
    )
    command.add_argument(
        "--page", action="store_true", help="only compare the results again, draw the figures and write the page of all results, RESULTS.md"
    )


def _run(parsed: argparse.Namespace) -> int:
    from kdenv.arena.cluster import connection

    tables = _tables()
    tables.out, tables.progress, tables.ray = parsed.out, Progress, parsed.ray
    claims = importlib.import_module("baselines.papers.claims")
    papers = list(tables.PAPERS) if parsed.paper is None else [parsed.paper]
    if parsed.paper == claims.NAME:
        papers = []
        if parsed.table is not None:
            raise BadOption(f"{claims.NAME} has no table {parsed.table!r}; give it no table")
    else:
        try:
            tables.check(parsed.paper, parsed.table)
        except ValueError as error:
            raise BadOption(str(error)) from None
    if parsed.list:
        for paper in papers:
            print(f"{paper}: {tables.PAPERS[paper]}")
            for table in tables.tables_of(paper):
                print(f"  {table}")
        print(f"{claims.NAME}: what the papers say they found")
        return 0
    try:
        with connection(None if parsed.page else parsed.ray):
            for paper in papers:
                if parsed.page:
                    tables.judge(paper)
                else:
                    _reproduce(tables, paper, parsed)
            if parsed.page:
                claims.judge()
            elif parsed.paper in (None, claims.NAME):
                _try_claims(claims, parsed)
    finally:  # also after Ctrl-C, so that the pages never have fewer lines than the results
        _write_pages(tables, claims)
    return 0


def _write_pages(tables: Any, claims: Any) -> None:
    """Draw the figures, and write the pages of the results that there are."""
    _draw(tables)
    page = importlib.import_module("baselines.papers.page")
    pages = {"RESULTS.md": page.page(), "CLAIMS.md": claims.page()}
    for name, text in pages.items():
        (tables.made() / name).write_text(text, encoding="utf-8")
    readme = tables.made() / "README.md"
    if readme.exists():
        readme.write_text(page.with_rows_of_now(readme.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"the pages of all results are {' and '.join(str(tables.made() / name) for name in pages)}")


def _try_claims(claims: Any, parsed: argparse.Namespace) -> None:
    """Try what the papers say they found, and print each line as soon as it is known."""

    def show(line: Any, number: int, total: int) -> None:
        interval = f" [{line.low}, {line.high}]" if line.low else ""
        found = f"{line.ours or '-'}{interval}" + (f", {line.games} games" if line.games else "")
        print(f"  {number:3}/{total} {line.place}, {line.condition}, {line.measure} {line.expects}: {found}: {line.verdict}", flush=True)

    print("What the papers say they found", flush=True)
    claims.run(parsed.size, show, parsed.again, seed=parsed.seed, games=parsed.games)


def _draw(tables: Any) -> None:
    """Draw the figures of the papers for which there are results: ours with intervals, the paper's numbers hollow beside them."""
    folder = tables.made() / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for figure in importlib.import_module("baselines.papers.figures").FIGURES:
        curves = figure.curves()
        if not curves:
            continue
        is_compared = any(theirs for theirs, _ in curves.values())
        title = f"{figure.title} (● here, ○ in the paper)" if is_compared else f"{figure.title} (the paper prints no numbers)"
        if "(?P<x>" in figure.rows:
            lines = [Line(name, [Dot(*dot) for dot in ours], [Dot(*dot) for dot in theirs]) for name, (theirs, ours) in curves.items()]
            drawn = chart(title, figure.across, figure.up, lines, log=figure.log)
        else:
            drawn = ladder(figure.title, figure.across, [row for name, points in curves.items() for row in _rows(name, *points)])
        (folder / figure.file).write_text(drawn, encoding="utf-8")


def _rows(name: str, theirs: list[Any], ours: list[Any]) -> list[IntervalRow]:
    """The rows of a curve of one point: ours, and the paper's below it."""
    named = [*((f"{name}, here", point) for point in ours), *(("in the paper", point) for point in theirs)]
    return [IntervalRow(words, point.y, point.low, point.high, f"{point.y:.4g}") for words, point in named]


def _tables() -> Any:
    """The module baselines.papers.tables, from the checkout that this package lies in."""
    if not (_ROOT / "baselines" / "papers" / "tables.py").exists():
        raise BadOption("reproduce needs the tables of the papers, which only a checkout of the repository has (baselines/papers)")
    if str(_ROOT) not in sys.path:
        sys.path.insert(0, str(_ROOT))
    return importlib.import_module("baselines.papers.tables")


def _reproduce(tables: Any, paper: str, parsed: argparse.Namespace) -> None:
    """Make a paper's lines, and print each as soon as it is known. Ctrl-C ends it; the same command goes on."""
    print(f"{tables.PAPERS[paper]} ({parsed.size if parsed.games is None else f'{parsed.games} games'})", flush=True)
    made: list[Any] = []

    def show(line: Any, number: int, total: int) -> None:
        made.append(line)
        low = f" [{line.low}, {line.high}]" if line.low and line.low != line.ours else ""
        games = f", {line.games} games" if line.games else ""
        origin = (f", seed {line.seed}" if line.seed else "") + (f", commit {line.commit}" if line.commit else "")
        what = f"{line.table}, {line.row}, {line.measure}"
        print(f"  {number:3}/{total} {what}: {line.ours or '-'}{low}{games}{origin}; paper {line.paper or '-'}: {line.verdict}", flush=True)

    try:
        tables.run(paper, parsed.table, parsed.size, show, parsed.again, seed=parsed.seed, games=parsed.games)
    except KeyboardInterrupt:
        print(f"  stopped after {len(made)} lines, which are kept; run the same command again to go on", flush=True)
        raise
    for line in tables.summary(made):
        print(line)
