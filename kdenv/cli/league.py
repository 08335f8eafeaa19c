"""`kdenv league`: lets many policies play each other, and rates them."""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli import terminal
from kdenv.cli.arguments import Commands, add_luck, add_processes, luck_of
from kdenv.cli.interrupts import print_end
from kdenv.cli.reports import add_report, check_report, show_and_report
from kdenv.cli.seeds import chosen, keep_seed, kept_in_folders
from kdenv.cli.terminal import Progress
from kdenv.core.errors import BadOption, shown

if TYPE_CHECKING:
    from kdenv.arena import League, Standings


def add(commands: Commands) -> None:
    league = commands.add(
        "league",
        _league,
        "let many policies play each other, as a TOML file says, and rate them",
        "kdenv league league.toml --report league.html",
        "kdenv league league.toml --part 1/2 --out half",
    )
    lines = 'game = "kingdomino" and policies = ["full_greedy", "gprd", "random"]'
    league.add_argument("file", type=Path, help=f"the league, a file in TOML such as the lines {lines}")
    league.add_argument("--out", type=Path, metavar="FOLDER", help="keep the games here (default: the file's name without its ending)")
    add_part(league)
    add_processes(league)
    add_luck(league)
    add_report(league)


def add_part(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that divide games among machines."""
    parser.add_argument(
        "--merge", type=Path, action="append", default=[], metavar="OTHER", help="first add the games of this folder or file"
    )
    parser.add_argument(
        "--part", type=_part, default=(1, 1), metavar="I/N", help="play this part of all deals, on one of N machines; merge later"
    )
    parser.add_argument("--only-rate", action="store_true", help="play nothing; rate the games that are kept")


def _part(word: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", word)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{shown(word)} is no part; write 1/2 for the first of two")
    return int(found[1]), int(found[2])


def _league(parsed: argparse.Namespace) -> int:
    from kdenv.arena import merge, read_league
    from kdenv.arena.league_games import known_tables

    def read(seed: int = 0) -> League:
        found = read_league(parsed.file, seed)
        parsed.game = found.game  # of which --luck-adjusted takes the network
        return replace(found, luck=luck_of(parsed) or found.luck)

    check_report(parsed.report, None)
    read().check()
    folder = parsed.out or parsed.file.with_suffix("")
    if folder.exists() and not folder.is_dir():
        raise BadOption(f"{folder} is a file; the games of a league need a folder, so give --out another name")

    def has_games(where: Path, seed: int) -> bool:
        return bool(known_tables(read(seed), where))

    kept = kept_in_folders([folder, *parsed.merge], has_games)
    seed = chosen(None, kept)
    plan = read(seed)
    if parsed.part != (1, 1) and kept is None and plan.seed == seed:
        raise BadOption(f"{parsed.file} names no seed, so each part would have another one; add a line such as seed = {plan.seed}")
    if not parsed.only_rate:
        keep_seed(folder, plan.seed)
    for other in parsed.merge:
        new, there = merge(plan, folder, other)
        if not parsed.json:
            print(f"{other}: {new} games are new" + (f", {there} were there already" if there else ""))
    standings = _play(parsed, plan, folder)
    return print_end(f"{standings.games} games", folder) if standings.interrupted else 0


def _play(parsed: argparse.Namespace, plan: League, folder: Path) -> Standings:
    """Play the missing games, and print the standings."""
    from kdenv.arena import league, report

    progress = Progress(0, "games")

    def on_result(standings: Standings) -> None:
        progress.total = max(standings.games, standings.expected)
        progress.step()

    try:
        standings = league(
            plan,
            folder,
            plays=not parsed.only_rate,
            part=parsed.part,
            processes=parsed.processes,
            move_limit=parsed.move_limit,
            ray=parsed.ray,
            on_result=on_result,
        )
    finally:
        progress.end()

    def show() -> None:
        print(json.dumps(standings.as_json()) if parsed.json else standings.text(bars=terminal.has_colours(sys.stdout)))

    show_and_report(parsed.report, lambda: report.league_page(standings), show, not parsed.json)
    return standings
