"""The list of all games. The room of a game is imported, and its rules registered, when somebody first asks for the game."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kdenv.core.game import Game

TITLES = {  # name -> title, which names the environment kdenv/<Title>-v0
    "kingdomino": "Kingdomino",
    "dominion": "Dominion",
    "dominoes": "Dominoes",
    "carcassonne": "Carcassonne",
}
_from_outside: dict[str, Game] = {}


def names() -> list[str]:
    """Return the names of all games, including those added with add_game."""
    return [*TITLES, *_from_outside]


def find_game(name: str) -> Game:
    """Return the game of this name, imported if it is of the package. BadOption if there is none."""
    if name in _from_outside:
        return _from_outside[name]
    if name not in TITLES:
        from kdenv.core.errors import BadOption, shown
        from kdenv.core.game import did_you_mean

        raise BadOption(f"there is no game {shown(name)}{did_you_mean(name, names())}; the games are {', '.join(names())}")
    game: Game = import_module(f"kdenv.games.{name}").GAME
    return game


def add_game(game: Game) -> None:
    """Make a game from outside the package known by its name. TypeError if another game has this name."""
    if game.name in TITLES or _from_outside.get(game.name, game) is not game:
        raise TypeError(f"there already is a game {game.name}; choose another name")
    _from_outside[game.name] = game


class CallableModule(ModuleType):
    """The type of this module, which makes it callable: `kdenv.games()` lists the games, while `kdenv.games.kingdomino` is a room."""

    def __call__(self) -> list[str]:
        """Return the names of all games."""
        return names()


sys.modules[__name__].__class__ = CallableModule
