"""The options of the rules of Carcassonne as types: with them editors complete names and type checkers know values."""

from __future__ import annotations

from typing import Literal, TypedDict


class CarcassonneOptions(TypedDict, total=False):
    """The options of Carcassonne. GAME has their meanings and defaults."""

    unplaceable: Literal["return", "discard"]
