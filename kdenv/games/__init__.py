"""The list of all games. The package of a game is imported, and its rules registered, when somebody first asks for the game.

So are the games of installed packages, and what they add to a game (core/entry_points.py).
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kdenv.core.entry_points import GAMES

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
    """Return the names of all games, including those added with add_game and those of installed packages, which are imported for this.

    >>> import kdenv
    >>> kdenv.games()[:4]
    ['kingdomino', 'dominion', 'dominoes', 'carcassonne']
    """
    for name in GAMES.names():
        if name not in TITLES:
            GAMES.load(name)
    return [*TITLES, *_from_outside]


def find_game(name: str) -> Game:
    """Return the game of this name, imported if it is of kdenv or of an installed package. BadOption if there is none.

    >>> import kdenv
    >>> kingdomino = kdenv.game("kingdomino")
    >>> kingdomino.players, [option.name for option in kingdomino.options]
    ((4, 2, 3), ['size', 'dominoes', 'middle', 'harmony', 'tiebreak'])
    """
    if not isinstance(name, str):
        from kdenv.core.errors import BadOption, shown

        raise BadOption(f"{shown(repr(name))} is not the name of a game; the games are {', '.join(names())}")
    ours: Game | None = import_module(f"kdenv.games.{name}").GAME if name in TITLES else None
    GAMES.load(name)  # after the import, as it may add something to this game
    game = ours or _from_outside.get(name)
    if game is None:
        from kdenv.core.errors import BadOption, did_you_mean, shown

        known = f"the games are {', '.join(names())}"
        if ":" in name:  # as check-game and policies are written
            known += "; a game of yours has a name once a script calls kdenv.add_game, or an installed package lists it as an entry point"
        raise BadOption(f"there is no game {shown(name)}{did_you_mean(name, names())}; {known}")
    return game


def add_game(game: Game) -> None:
    """Make a game from outside the package known by its name. TypeError if another game has this name."""
    if game.name in TITLES or _from_outside.get(game.name, game) is not game:
        raise TypeError(f"there already is a game {game.name}; choose another name")
    _from_outside[game.name] = game


def _take(name: str, found: Any) -> None:
    """Add the game of an installed package. TypeError if it is neither a game of this name nor a module, which adds things itself."""
    from kdenv.core.game import Game
    from kdenv.core.parsing import in_capitals

    if isinstance(found, Game):
        if (found.name, found.title) != (name, in_capitals(name)):
            wanted = f"{found.name}, and its title {in_capitals(found.name)}"  # Gymnasium must know the title before the game is imported
            raise TypeError(f"it is the game {found.name} with the title {found.title}; the entry point must be called {wanted}")
        add_game(found)
    elif not isinstance(found, ModuleType):
        raise TypeError(f"it is of type {type(found).__name__}, and must be a Game, or a module that adds something to {name}")


GAMES.on_load(_take)


class CallableModule(ModuleType):
    """The type of this module, which makes it callable: `kdenv.games()` lists the games, while `kdenv.games.kingdomino` is a package."""

    def __call__(self) -> list[str]:
        """Return the names of all games."""
        return names()


sys.modules[__name__].__class__ = CallableModule
