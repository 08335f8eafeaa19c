"""`kdenv match`: lets policies play each other."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from kdenv.cli import terminal
from kdenv.cli.arguments import Commands, add_against, add_game, add_luck, add_players, add_playing, luck_of, options
from kdenv.cli.interrupts import print_end
from kdenv.cli.reports import add_report, check_report, show_and_report
from kdenv.cli.seeds import chosen, kept_in_files
from kdenv.cli.terminal import Progress
from kdenv.core.errors import BadOption

if TYPE_CHECKING:
    from kdenv.arena import Breakdown, Result, ResultsFile, Summary
    from kdenv.arena.by_round import Rounds

SHOWN = {  # the parts of kdenv.arena.breakdown
    "seats": "wins, draws and losses, also by who began",
    "spread": "the least, the most and the standard deviation of points and margins",
    "rounds": "points, open turns, time and playouts by round",
    "game": "what the game adds, such as cards bought",
}


def add(commands: Commands) -> None:
    match = commands.add(
        "match",
        _match,
        "let policies play each other, on shared deals and from every seat",
        "kdenv match kingdomino full_greedy gprd random random --games 100",
        "kdenv match dominoes greedy --against random --games 50 --seed 1 --report match.html",
    )
    add_game(match)
    match.add_argument("policies", nargs="+", metavar="policy", help="a policy for each seat, as 'kdenv policies GAME' shows them")
    add_against(match, "none, and there is a policy for each seat; with opponents only the policy that meets them is named before")
    add_players(match, "the number of seats, with --against (default: the fewest that are enough)")
    match.add_argument("--games", type=int, default=100, metavar="N", help="the number of games (default: 100)")
    add_playing(match)
    what = "; ".join(f"{name}: {meaning}" for name, meaning in SHOWN.items())
    match.add_argument("--show", nargs="+", default=[], metavar="WHAT", help=f"print more: all, or some of {what}")
    add_luck(match)
    add_report(match)


def _match(parsed: argparse.Namespace) -> int:
    from kdenv.arena import Match, ResultsFile, Summary

    seed = chosen(parsed.seed, kept_in_files([] if parsed.out is None else [parsed.out]))
    match = Match(parsed.game, _line_up(parsed), parsed.games, seed, options(parsed.option), luck=luck_of(parsed))
    match.check()
    parsed.show = list(SHOWN) if "all" in parsed.show else parsed.show
    for name in parsed.show:
        if name not in SHOWN:
            raise BadOption(f"--show {name} is not possible; it may be {', '.join(SHOWN)} or all")
    check_report(parsed.report, parsed.out)
    if parsed.out is None:
        return _play_match(parsed, Summary(match), None)
    with ResultsFile(parsed.out, match) as file:
        return _play_match(parsed, Summary(match), file)


def _line_up(parsed: argparse.Namespace) -> list[str]:
    """The policy of each place: those that are named, or one of them and its opponents."""
    from kdenv.arena.curve import seats_for, seats_of_others
    from kdenv.games import find_game

    policies: list[str] = parsed.policies
    if not parsed.against:
        if parsed.players not in (None, len(policies)):
            raise BadOption(
                f"{len(policies)} policies are named for {parsed.players} seats; name one for each seat, or opponents by --against"
            )
        return policies
    if len(policies) > 1:
        raise BadOption(
            f"--against is for one policy and its opponents, but {len(policies)} are named before it; write the others after --against"
        )
    game = find_game(parsed.game)
    players = seats_for(game, parsed.against) if parsed.players is None else parsed.players
    game.variant(players)
    others = seats_of_others(game.name, players, parsed.against)
    return [others.get(place, policies[0]) for place in range(players)]


def _play_match(parsed: argparse.Namespace, summary: Summary, file: ResultsFile | None) -> int:
    """Play the games that are not in the file. However the match ends, the finished games are printed and reported."""
    from kdenv.arena import Breakdown, play
    from kdenv.arena.by_round import Rounds

    match = summary.match
    rounds = Rounds(match) if parsed.report is not None else None
    breakdown = Breakdown(match) if parsed.show else None

    def add(result: Result) -> None:
        summary.add(result)
        if rounds is not None:
            rounds.add(result)
        if breakdown is not None:
            breakdown.add(result)

    for result in file.results() if file is not None else ():
        add(result)
    progress = Progress(match.games, "games", summary.games)

    def on_result(result: Result) -> None:
        if file is not None:
            file.append(result)
        add(result)
        progress.step()

    finished, done = False, file.finished if file is not None else ()
    try:
        finished = play(
            match,
            processes=parsed.processes,
            done=done,
            move_limit=parsed.move_limit,
            records=file is not None or breakdown is not None,
            ray=parsed.ray,
            on_result=on_result,
        )
    finally:
        progress.end()
        _show_match(parsed, summary, rounds, breakdown, finished)
    return 0 if finished else print_end(f"{summary.games} of {match.games} games", parsed.out)


def _show_match(parsed: argparse.Namespace, summary: Summary, rounds: Rounds | None, breakdown: Breakdown | None, finished: bool) -> None:
    """Write the report, and print the table."""
    from kdenv.arena import report

    def show() -> None:
        if parsed.json:
            more = {"shown": breakdown.as_json(parsed.show)} if breakdown is not None else {}
            print(json.dumps({**report.as_json(summary, finished), **more}))
        elif summary.games:
            print(summary.text(bars=terminal.has_colours(sys.stdout)))
            if breakdown is not None:
                print(f"\n{breakdown.text(parsed.show)}")

    show_and_report(parsed.report, lambda: report.page(summary, rounds), show, not parsed.json)
