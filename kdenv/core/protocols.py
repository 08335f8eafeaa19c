"""What a game must write and draw: `Notation` and `Drawing`. Usually these are two modules of its room.

Both are checked when the game is made, so that a missing function is noticed before anybody plays.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple, Protocol

States = Any  # an array of a game's state records


class Notation(Protocol):
    """Writes actions, outcomes of chance and positions as text, and reads such text. Text that cannot be read raises BadRecord."""

    def action_text(self, states: States, k: int, action: int, /) -> str:
        """An action that may be taken in states[k], in words."""

    def action_from(self, states: States, k: int, text: str, /) -> int:
        """The action that these words mean in states[k]. Whether it is legal is not checked."""

    def chance_text(self, states: States, k: int, outcome: int, /) -> str:
        """An outcome of chance in words, without a comma: records list outcomes between commas."""

    def chance_from(self, states: States, k: int, text: str, /) -> int:
        """The outcome that these words mean. Whether it is possible is not checked."""

    def position_text(self, states: States, k: int, /) -> str:
        """States[k] in one line, without the number of players and the options."""

    def position_from(self, text: str, states: States, k: int, /) -> None:
        """Write the position into states[k]. `begin` has been called for states[k] before, with players and options."""


class LastTurn(NamedTuple):
    """What was decided last in a game: the actions of one seat, after which no other seat has decided."""

    seat: int
    actions: list[int]


class Drawing(Protocol):
    """Draws a position as a seat sees it, with everything face up if seat is None, or with every hand face down if it is ONLOOKER (-1).

    If `svg` also takes `last`, it is given the LastTurn where it is known, and marks what that has changed. Games whose positions hold the
    last move need none.

    It may also have `targets(states, k, actions, seat)`, which names what is clicked in the picture `svg` for each of these legal actions:
    a dict from the action to outlines (drawing/shapes.py), which are clicked one after the other. Actions left out have words only.
    """

    def ansi(self, states: States, k: int, /, seat: int | None = None) -> str:
        """States[k] as text for a terminal."""

    def svg(self, states: States, k: int, /, seat: int | None = None) -> str:
        """States[k] as an SVG picture; windows and pixels are made from it."""


def protocol_error(wanted: type, given: object) -> str:
    """Say which functions of a Protocol `given` lacks, or which one takes other arguments. Return "" if all fit."""
    functions = {name: function for name, function in vars(wanted).items() if inspect.isfunction(function) and not name.startswith("_")}
    missing = [name for name in functions if not callable(getattr(given, name, None))]
    if missing:
        return f"lacks {', '.join(missing)}"
    for name, function in functions.items():
        parameters = list(inspect.signature(function).parameters.values())[1:]  # without self
        found = inspect.signature(getattr(given, name))
        try:
            found.bind(*(0 for p in parameters if p.default is p.empty), **{p.name: None for p in parameters if p.default is not p.empty})
        except TypeError:
            takes = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters)
            return f"has {name}{_without_types(found)}, which must take ({takes})"
    return ""


def _without_types(signature: inspect.Signature) -> str:
    return "(" + ", ".join(str(p.replace(annotation=p.empty)) for p in signature.parameters.values()) + ")"
