"""The rules of a game as its package has them, for `kdenv rules` and the page of the server."""

from __future__ import annotations

from importlib.resources import files

from kdenv.core.errors import NotSupported
from kdenv.core.game import Game

_END = "## Chance, actions"  # the section of a README in which the rules are over, and what follows is for programs


def rulebook(game: Game) -> str:
    """The README of the game's package, up to the part about programs, as Markdown. Raises NotSupported if there is none."""
    room = game.room[0].__name__.rpartition(".")[0] or game.room[0].__name__
    try:
        text = files(room).joinpath("README.md").read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, ModuleNotFoundError, TypeError):
        raise NotSupported(f"{game.name} has no README.md beside its rules ({room}), so there are no rules to print") from None
    return text.partition(f"\n{_END}")[0].strip()
