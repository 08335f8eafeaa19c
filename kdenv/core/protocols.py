"""`Notation` and `Drawing`: the functions by which a game writes and draws positions. Usually these are two modules of its package.

Both are checked when the game is made, so that a missing function is noticed before the first game is played.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
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


class Told(NamedTuple):
    """An event in words for people: "placed forest/lake: +3", and after a round of several also a summary.

    The words begin with a verb in the past tense, before which the name of the seat is written. Without a seat they are a sentence. Other
    seats are "player 2", which programs replace by names.
    """

    seat: int | None
    words: str
    summary: str = ""


def listed(words: Sequence[str]) -> str:
    """Words as a list: "3, 12 and 20"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted(n: int, one: str, several: str) -> str:
    """A number of things in words: "a crown", "2 crowns"."""
    return one if n == 1 else f"{n} {several}"


class Drawing(Protocol):
    """Draws a position as a seat sees it, with everything face up if seat is None, or with every hand face down if it is ONLOOKER (-1).

    If `svg` or `ansi` also takes `last`, it gets the LastTurn if that is known, and marks its changes. Games whose positions contain the
    last move do not need it.

    If `svg` takes `narrow`, it gets narrow=True for a telephone: a drawing about 500 units wide, with the seat's own things first.

    A module may also define colours:

    - `SEAT_COLOURS`: A colour such as "#2467b5" for each seat. Pages write the names of players in it.
    - `DARK`: A dict from colours of the picture to the colours that replace them on a dark page.

    It may also have functions for people who play on a page. They take (states, k, actions, seat), and `narrow` as `svg` does. They
    return a dict by action, in which some actions may be missing:

    - `targets`: The outlines (drawing/shapes.py) in the picture that are clicked one after the other for a legal action. Other actions
      can only be chosen by their words.
    - `ghosts`: SVG that shows in the picture how a tile would lie. Actions with the same outlines are then turned by clicks.
    - `buttons`: The words on the button for an action that has no place in the picture, such as the end of a turn.
    - `meanings`: An action in words that players know: "take domino 28, forest/water with a crown". Without them it is called by its
      button, or by the notation.

    `turn_targets` takes the actions of a turn, in order, and returns a list of the outlines of all. By default these are the `targets`
    of each.

    It may also have functions that describe events in words. They return a Told or a list of them, with nothing that is hidden:

    - `told(before, after, action)`: A decision, with the states before and after it.
    - `told_chance(befores, outcomes)`: Outcomes of chance in a row, with the states before them. An outcome that nobody may know is None.
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
