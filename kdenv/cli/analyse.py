"""`kdenv analyse`: shows what a search thinks of every turn in a position."""

from __future__ import annotations

import argparse
from pathlib import Path

from kdenv.cli import arguments, terminal
from kdenv.cli.arguments import Commands
from kdenv.cli.interrupts import interruptible
from kdenv.cli.replay import add_step, replayed
from kdenv.core.errors import BadOption, KdenvError


def add(commands: Commands) -> None:
    parser = commands.add(
        "analyse",
        _run,
        "show what a search thinks of every turn in a position",
        'kdenv analyse game.txt "mce(playouts=1000)"',
    )
    parser.add_argument("where", help="a record file, or a position as 'kdenv replay' and error messages write it")
    parser.add_argument("policy", help="a search, as 'kdenv policies GAME' shows them")
    parser.add_argument("--game", help="the game to which a position belongs (a record names its game itself)")
    arguments.add_players(parser, "the number of players in a position")
    arguments.add_options(parser)
    add_step(parser)
    arguments.add_seed(parser, 0, "the seed of the search (default: 0)")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.arena.match import failed, reset
    from kdenv.policies import policy

    searcher = policy(parsed.policy)
    if parsed.game is None:
        *_, table = replayed(Path(parsed.where), parsed.step)
    else:
        table = arguments.table(parsed.game, parsed.players, parsed.option).at_position(parsed.where)
    seat = table.seat
    if seat is None:
        what = "the game is over" if table.over else "chance is next"
        raise BadOption(f"no seat decides there: {what}; choose another --step or another position")
    reset(searcher, parsed.seed)
    view = table.view(seat)
    try:
        found = interruptible(lambda: searcher.search(view))
    except KdenvError:
        raise
    except (Exception, SystemExit) as error:
        raise failed(parsed.policy, error) from error
    terminal.show(f"{view}\n\nseat {seat} decides\n\n{found}")
