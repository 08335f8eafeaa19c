"""`Notation` and `Drawing`: the functions by which a game writes and draws positions. Usually these are two modules of its package.

Both are checked when the game is made, so that a missing function is noticed before the first game is played.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple, Protocol

States = Any  # an array of a game's state records


class Notation(Protocol):
    """Writes actions, outcomes of chance and positions as text, and reads such text. Text that cannot be read raises BadRecord."""

    def action_text(self, states: States, k: int, action: int, /) -> str:
        """Return an action that may be taken in states[k], in words."""

    def action_from(self, states: States, k: int, text: str, /) -> int:
        """Return the action that these words mean in states[k]. This does not check that it is legal."""

    def chance_text(self, states: States, k: int, outcome: int, /) -> str:
        """Return an outcome of chance in words, without a comma: records list outcomes between commas."""

    def chance_from(self, states: States, k: int, text: str, /) -> int:
        """Return the outcome that these words mean. This does not check that it is possible."""

    def position_text(self, states: States, k: int, /) -> str:
        """Return states[k] in one line, without the number of players and the options."""

    def position_from(self, text: str, states: States, k: int, /) -> None:
        """Write the position into states[k]. `begin` has been called for states[k] before, with players and options."""


class LastTurn(NamedTuple):
    """The last decisions in a game: the actions of one seat, after which no other seat has decided."""

    seat: int
    actions: list[int]


class Drawing(Protocol):
    """Draws a position as a seat sees it, with everything face up if seat is None, or with every hand face down if it is ONLOOKER (-1).

    If `svg` also takes `last`, it gets the LastTurn if that is known, and marks its changes. Games whose positions contain the last move
    do not need it.

    It may also have `targets(states, k, actions, seat)`, which finds where a person clicks in the picture `svg` for a legal action. It
    returns a dict from the action to outlines (drawing/shapes.py), which are clicked one after the other. An action that is not in the
    dict can only be chosen by its words.
    """

    def ansi(self, states: States, k: int, /, seat: int | None = None) -> str:
        """Return states[k] as text for a terminal."""

    def svg(self, states: States, k: int, /, seat: int | None = None) -> str:
        """Return states[k] as an SVG picture. Windows and pixels are made from it."""


def protocol_error(wanted: type, given: object) -> str:
    """Return a sentence about functions of a Protocol that `given` lacks or that take other arguments; "" if all fit."""
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
