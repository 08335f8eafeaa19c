"""The options of the rules of Kingdomino as types: with them editors complete names and type checkers know values."""

from __future__ import annotations

from typing import Literal, TypedDict


class KingdominoOptions(TypedDict, total=False):
    """The options of Kingdomino. GAME has their meanings and defaults."""

    size: Literal[3, 5, 7]
    dominoes: int | None
    middle: bool
    harmony: bool
    tiebreak: Literal["shared", "official"]
