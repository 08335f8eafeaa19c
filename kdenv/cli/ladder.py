"""`kdenv ladder`: plays the ladder, plays a row of it again, and checks what is to enter it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli.arguments import Commands, add_processes, add_seed
from kdenv.cli.interrupts import print_end
from kdenv.cli.league import add_part
from kdenv.cli.reports import add_report, check_report, show_and_report
from kdenv.cli.seeds import chosen
from kdenv.cli.terminal import Progress
from kdenv.core.errors import BadOption

if TYPE_CHECKING:
    from kdenv.arena import Ladder, Standings


def add(commands: Commands) -> None:
    parser = commands.add(
        "ladder",
        _ladder,
        "rate rule players, searches and learned players in several games, at budgets of time, as a TOML file says",
        "kdenv ladder ladder.toml --out games --report ladder.html",
        'kdenv ladder ladder.toml --out games --verify "mce, 1 ms"',
        "kdenv ladder ladder.toml --check entry.toml",
    )
    parser.add_argument("file", type=Path, help="the ladder, a file in TOML")
    where = "keep the games, results.csv, table.md and the pictures here (default: the file's name without its ending)"
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=where)
    parser.add_argument("--enter", type=Path, action="append", default=[], metavar="ENTRY", help="add the rows of this entry")
    add_part(parser)
    parser.add_argument(
        "--verify", action="append", default=[], metavar="ROW", help="play this row again on fresh deals; exit with 1 if it differs"
    )
    parser.add_argument("--check", type=Path, metavar="ENTRY", help="check an entry, and play a deal with each of its rows")
    add_seed(parser, None, "the seed of the fresh deals of --verify (default: a new one)")
    add_processes(parser, move_limit=False)
    add_report(parser)


def _ladder(parsed: argparse.Namespace) -> int:
    from kdenv.arena import check_entry, ladder_table, merge_ladders, read_entry, read_ladder

    check_report(parsed.report, None)
    plan = read_ladder(parsed.file, parsed.enter)
    plan.check()
    folder = parsed.out or parsed.file.with_suffix("")
    if parsed.check is not None:
        lines = check_entry(plan, read_entry(parsed.check))
        enter = f"{parsed.check} may enter: 'kdenv ladder {parsed.file} --out {folder} --enter {parsed.check}'"
        print(json.dumps(lines) if parsed.json else "\n".join([*lines, enter]))
        return 0
    if folder.exists() and not folder.is_dir():
        raise BadOption(f"{folder} is a file; a ladder needs a folder, so give --out another name")
    if parsed.verify:
        return _verify(parsed, plan, folder / ladder_table.RESULTS)
    for other in parsed.merge:
        new, there = merge_ladders(plan, folder, other)
        if not parsed.json:
            print(f"{other}: {new} games are new" + (f", {there} were there already" if there else ""))
    return _climb(parsed, plan, folder)


def _climb(parsed: argparse.Namespace, plan: Ladder, folder: Path) -> int:
    """Play the missing games, write the files, and print the table."""
    from kdenv.arena import climb, ladder_table

    progress, before = Progress(0, "games"), [0]

    def on_result(standings: Standings) -> None:
        progress.total = max(progress.total, before[0] + max(standings.games, standings.expected))
        progress.step()
        if standings.games >= standings.expected:
            before[0] += standings.games

    try:
        found = climb(
            plan,
            folder,
            plays=not parsed.only_rate,
            part=parsed.part,
            processes=None if parsed.ray is not None else parsed.processes or 1,
            ray=parsed.ray,
            on_result=on_result,
        )
    finally:
        progress.end()
    ladder_table.write(found, folder)
    show = json.dumps(ladder_table.as_json(found)) if parsed.json else ladder_table.text(found)
    show_and_report(parsed.report, lambda: ladder_table.page(found), lambda: print(show), not parsed.json)
    return print_end(f"{sum(each.games for each in found.standings.values())} games", folder) if found.interrupted else 0


def _verify(parsed: argparse.Namespace, plan: Ladder, results: Path) -> int:
    """Play rows again, and print if they hold."""
    from kdenv.arena import ladder_table, verify_row

    if not results.exists():
        raise BadOption(f"there is no {results}; play the ladder first, or name its folder by --out")
    seed = chosen(parsed.seed, None)
    checks = sum(len(row.policy) for row in plan.rows if row.label in parsed.verify)
    found = [
        each
        for label in parsed.verify
        for each in verify_row(plan, label, ladder_table.wins_in(results, label), seed, checks, results.parent)
    ]
    if parsed.json:
        print(json.dumps({"seed": seed, "rows": [{"game": each.game, "row": each.label, "holds": each.holds} for each in found]}))
    else:
        print("\n".join(map(str, found)))
        print(f"Fresh deals of seed {seed}. If the rows are as strong as before, this fails in about 1 of 100 cases.")
    return 0 if all(each.holds for each in found) else 1
