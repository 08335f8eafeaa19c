"""`kdenv check-game`: plays random games of a game, and prints the faults of its rules, encodings and words."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kdenv.cli import arguments
from kdenv.cli.arguments import Commands
from kdenv.cli.interrupts import interruptible
from kdenv.core.errors import BadGame, BadOption, shown

if TYPE_CHECKING:
    from kdenv.core.game import Game

_MOST_GAMES = 10**6


def add(commands: Commands) -> None:
    parser = commands.add(
        "check-game",
        _run,
        "play random games and check what a game of yours promises; the exit code is 1 if something is wrong",
        "kdenv check-game examples.three_shells:GAME",
    )
    parser.add_argument("game", metavar="MODULE:GAME", help="where the game is, such as my_game:GAME; or the name of a game")
    arguments.add_options(parser)
    arguments.add_players(parser, "play with this many players only (default: with every number that is possible)")
    games = arguments.whole(1, _MOST_GAMES)
    parser.add_argument("--games", type=games, default=20, metavar="N", help="how many games to play (default: 20)")
    arguments.add_seed(parser, 0, "the seed of the games (default: 0)")


def _run(parsed: argparse.Namespace) -> int:
    from kdenv.core.check_game import check_game

    game = _game(parsed.game)
    options = arguments.options(parsed.option)
    try:
        interruptible(lambda: check_game(game, parsed.games, seed=parsed.seed, players=parsed.players, options=options))
    except BadGame as error:
        print(error)
        return 1
    print(f"{game.name}: no fault found")
    return 0


def _game(text: str) -> Game:
    """The game of this name, or at this place."""
    from kdenv.core.game import Game
    from kdenv.core.import_path import import_object
    from kdenv.games import find_game

    found = import_object(text) if ":" in text else find_game(text)
    if not isinstance(found, Game):
        raise BadOption(f"{shown(text)} is of type {type(found).__name__}, and must be a Game")
    return found
