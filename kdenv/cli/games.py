"""`kdenv games`: lists the games, the numbers of players, and the options of their rules."""

from __future__ import annotations

import argparse
import textwrap

from kdenv.cli.arguments import Commands
from kdenv.cli.terminal import WIDTH


def add(commands: Commands) -> None:
    commands.add("games", _run, "list the games, with the numbers of players and the options of their rules", "kdenv games")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.games import find_game, names

    for name in names():
        game = find_game(name)
        usual, *others = game.players
        players = f"{usual} players" + (f", or {', '.join(map(str, others))}" if others else "")
        print(f"{name}: {game.title}, {players}")
        for option in game.options:
            start = f"  {option.name}=" + ("|".join(option.values()) or "...") + "  "
            for line in textwrap.wrap(option.meaning, WIDTH, initial_indent=start, subsequent_indent=" " * 6):
                print(line)
        print()
    print("Options are given as --option NAME=VALUE; the first value is the default.")
    print("'kdenv rules GAME' prints the rules of a game, 'kdenv policies GAME' lists who can play it.")
