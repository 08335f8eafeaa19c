"""`kdenv curve`: measures the strength of policies as a function of the time or the playouts of a turn."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli.arguments import Commands, add_against, add_game, add_luck, add_players, add_ray, add_seed, luck_of, options, whole
from kdenv.cli.files import check_folder
from kdenv.cli.interrupts import print_end
from kdenv.cli.reports import add_report, check_report, show_and_report
from kdenv.cli.seeds import chosen, keep_seed, kept_in_folders
from kdenv.cli.terminal import Progress

if TYPE_CHECKING:
    from kdenv.arena import CurvePlan


def add(commands: Commands) -> None:
    parser = commands.add(
        "curve",
        _run,
        "measure strength against time or playouts a turn, for several policies",
        'kdenv curve kingdomino "mce(playout=full_greedy)" full_greedy --budgets playouts=100,playouts=300 --games 40',
    )
    add_game(parser)
    parser.add_argument("policies", nargs="+", metavar="policy", help="the policies; searches without a budget are given each of --budgets")
    parser.add_argument("--budgets", default="1ms,10ms,100ms", metavar="B,...", help="times a turn or playouts=N (default: 1ms,10ms,100ms)")
    add_against(parser, "random")
    parser.add_argument("--games", type=whole(1), default=100, metavar="N", help="the number of games for each point (default: 100)")
    add_players(parser, "the number of players (default: the usual number of the game)")
    add_seed(parser, None, "the seed of the deals and of all policies (default: that of the games in --out, or a new one)")
    parser.add_argument("--processes", type=whole(1), metavar="N", help="how many games to play at a time (default: one per core)")
    add_ray(parser)
    parser.add_argument("--processor-time", action="store_true", help="measure CPU time, in one process or by --ray; for shared machines")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep the games, curve.csv and curve.svg here; the same command resumes")
    add_luck(parser)
    add_report(parser)


def _run(parsed: argparse.Namespace) -> int:
    from kdenv.arena import Curve, CurvePlan, read_budgets, report

    how = parsed.games, 0, parsed.players, options(parsed.option), parsed.processor_time, luck_of(parsed)
    plan = CurvePlan(parsed.game, parsed.policies, read_budgets(parsed.budgets), parsed.against or ["random"], *how)
    for _, _, match in plan.matches():
        match.check()
    check_folder("--out", parsed.out)
    check_report(parsed.report, None)
    folders = [] if parsed.out is None else [parsed.out]
    kept = kept_in_folders(folders, lambda folder, seed: _has_games(replace(plan, seed=seed), folder))
    plan = replace(plan, seed=chosen(parsed.seed, kept))
    for folder in folders:
        keep_seed(folder, plan.seed)
    curve = Curve(plan)
    progress = Progress(plan.games * sum(1 for _ in plan.matches()), "games")
    finished = False
    try:
        finished = curve.measure(parsed.out, parsed.processes, lambda done, total: progress.step(), parsed.ray)
    finally:
        progress.end()
        if curve.points:
            show_and_report(parsed.report, lambda: report.curve_page(curve), lambda: print(curve), True)
    if parsed.out is not None:
        print(f"the table and the picture are in {parsed.out}")
    return 0 if finished else print_end(f"{len(curve.points)} points", parsed.out)


def _has_games(plan: CurvePlan, folder: Path) -> bool:
    """True if the folder has games of this plan."""
    from kdenv.arena.resume import path_in

    return any(path_in(folder, match).exists() for _, _, match in plan.matches())
