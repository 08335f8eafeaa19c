"""`kdenv policies`: lists the policies that can play a game."""

from __future__ import annotations

import argparse

from kdenv.cli.arguments import Commands


def add(commands: Commands) -> None:
    parser = commands.add("policies", _run, "list the policies that can play a game")
    parser.add_argument("game", help="the name of a game")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.games import find_game
    from kdenv.policies import listing

    for entry in listing(find_game(parsed.game)):
        print(entry.usage)
        print(f"    {entry.meaning}" + (f"  [{entry.source}]" if entry.source else ""))
