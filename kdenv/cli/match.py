"""`kdenv match`: lets policies play each other."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli.arguments import Commands, add_game
from kdenv.cli.arguments import options as _options
from kdenv.cli.terminal import Progress
from kdenv.core.errors import BadOption

if TYPE_CHECKING:
    from kdenv.arena.match import Match, Result

_INTERRUPTED = 130  # what a shell expects of a program ended by Ctrl-C


def add(commands: Commands) -> None:
    """Add the command."""
    match = commands.add("match", _match, "let policies play each other, on shared deals and from every seat")
    add_game(match)
    match.add_argument("policies", nargs="+", metavar="policy", help="one per seat, as 'kdenv policies GAME' shows them")
    match.add_argument("--games", type=int, default=100, metavar="N", help="how many games (100)")
    match.add_argument("--seed", type=int, default=0, metavar="N", help="of the deals and of all policies (0)")
    match.add_argument("--processes", type=int, metavar="N", help="how many games at a time (as many as cores)")
    match.add_argument("--json", action="store_true", help="print the result for programs")
    match.add_argument("--out", type=Path, metavar="FILE", help="keep every game in this file as JSON lines, and go on from what it holds")
    match.add_argument("--report", type=Path, metavar="FILE", help="write a page to look at")


def _match(parsed: argparse.Namespace) -> int:
    from kdenv.arena import match as arena
    from kdenv.arena import report

    match = arena.Match(parsed.game, parsed.policies, parsed.games, parsed.seed, _options(parsed.option))
    match.check()
    if parsed.processes is not None and parsed.processes < 1:
        raise BadOption(f"--processes {parsed.processes} is not possible; at least one game is played at a time")
    results: list[Result] = []
    if parsed.out is not None and parsed.out.exists():
        results += arena.read_results(parsed.out, match)
    progress = Progress(match.games, "games", len(results))

    def on_result(result: Result) -> None:
        results.append(result)
        if parsed.out is not None:
            arena.append_result(parsed.out, match, result)
        progress.step()

    finished = arena.play(match, processes=parsed.processes, done=[result.number for result in results], on_result=on_result)
    progress.end()
    results.sort(key=lambda result: result.number)
    rows = arena.table_of(match, results)
    if parsed.report is not None and results:
        parsed.report.parent.mkdir(parents=True, exist_ok=True)
        parsed.report.write_text(report.page(match, rows, results), encoding="utf-8")
    if parsed.json:
        print(json.dumps(report.as_json(match, rows, finished)))
    elif results:
        _print_match(match, results, report.text_table(rows), finished)
        if parsed.report is not None:
            print(f"the report is in {parsed.report}")
    if not finished:
        kept = f"; the same command goes on from {parsed.out}" if parsed.out is not None else ""
        print(f"kdenv: interrupted after {len(results)} of {match.games} games{kept}", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _print_match(match: Match, results: Sequence[Result], table: str, finished: bool) -> None:
    deals = len({result.deal for result in results})
    print(match.describe() + ("" if finished else f": {len(results)} finished"))
    print(f"{deals} deal{'s' * (deals > 1)}, seats rotated, deals shared; ± is a 95 % interval over deals\n")
    print(table)
