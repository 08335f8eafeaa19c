"""The one list of games there is. A room is imported, and its rules registered, when its game is first asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kdenv.core.game import Game

TITLES = {  # name -> title, as in kdenv/Title-v0
    "kingdomino": "Kingdomino",
    "dominion": "Dominion",
    "dominoes": "Dominoes",
    "carcassonne": "Carcassonne",
}
_from_outside: dict[str, Game] = {}


def names() -> list[str]:
    """The names of all games, those added with add_game included."""
    return [*TITLES, *_from_outside]


def find_game(name: str) -> Game:
    """The game of this name."""
    if name in _from_outside:
        return _from_outside[name]
    if name not in TITLES:
        from kdenv.core.errors import BadOption, shown
        from kdenv.core.game import did_you_mean

        raise BadOption(f"there is no game {shown(name)}{did_you_mean(name, names())}; the games are {', '.join(names())}")
    game: Game = import_module(f"kdenv.games.{name}").GAME
    return game


def add_game(game: Game) -> None:
    """Make a game from outside the package known by its name."""
    if game.name in TITLES or _from_outside.get(game.name, game) is not game:
        raise TypeError(f"there already is a game {game.name}; choose another name")
    _from_outside[game.name] = game


class _Games(ModuleType):
    """What makes this module callable: `kdenv.games()` lists the games, while `kdenv.games.kingdomino` is a room."""

    def __call__(self) -> list[str]:
        """The names of all games."""
        return names()


sys.modules[__name__].__class__ = _Games
