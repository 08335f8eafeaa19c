"""`kdenv perft`: counts the nodes of a game tree."""

from __future__ import annotations

import argparse
import time

from kdenv.cli import arguments
from kdenv.cli.arguments import Commands
from kdenv.cli.interrupts import interruptible

_DEEPEST = 1000


def add(commands: Commands) -> None:
    parser = commands.add(
        "perft",
        _run,
        "count the chance, decision and final nodes of a game tree, depth by depth",
        "kdenv perft carcassonne 2",
    )
    arguments.add_game(parser)
    parser.add_argument("depth", type=arguments.whole(0, _DEEPEST), help="how many levels of the tree to count")
    arguments.add_players(parser, "the number of players (default: the game's default)")
    parser.add_argument("--position", metavar="TEXT", help="count from this position (default: from the beginning)")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.search.perft import count

    table = arguments.table(parsed.game, parsed.players, parsed.option)
    if parsed.position is not None:
        table.at_position(parsed.position)
    start = time.perf_counter()
    counts = interruptible(lambda: count(table.states, parsed.depth, table.game.max_legal, table.game.max_chances))
    seconds = time.perf_counter() - start
    print(f"{'depth':>5} {'chance':>14} {'decisions':>14} {'final':>14}")
    for depth, (chance, decisions, final) in enumerate(counts):
        print(f"{depth:>5} {chance:>14,} {decisions:>14,} {final:>14,}")
    print(f"{int(counts.sum()):,} nodes in {seconds:.2f} s")
