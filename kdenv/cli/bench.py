"""`kdenv bench`: measures the speed of everything on this machine."""

from __future__ import annotations

import argparse
import json

from kdenv.cli.arguments import Commands


def add(commands: Commands) -> None:
    parser = commands.add(
        "bench",
        _run,
        "measure the speed of everything on this machine",
        "kdenv bench kingdomino --quick",
    )
    parser.add_argument("game", nargs="?", help="measure only this game (default: all games)")
    parser.add_argument("--quick", action="store_true", help="run every measurement only for a moment; the figures mean little")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, for programs")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.bench import bench
    from kdenv.bench.measuring import QUICK, USUAL
    from kdenv.games import find_game, names

    games = [find_game(name) for name in ([parsed.game] if parsed.game is not None else names())]
    effort = QUICK if parsed.quick else USUAL
    rows = []
    for row in bench.rows(games, effort):
        rows.append(row)
        if not parsed.json:
            print(row, flush=True)
    if parsed.json:
        print(json.dumps({"quick": parsed.quick, "rows": [row._asdict() for row in rows]}))
    elif parsed.quick:
        print("(quick: every figure was measured only for a moment and means little; figures are not compared with their floors)")
