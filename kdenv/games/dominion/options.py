"""The options of Dominion as types, for type checkers and for completion in editors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class DominionOptions(TypedDict, total=False):
    """The options of Dominion. Their meanings and defaults are in GAME."""

    supply: Literal["standard", "thesis"]
    curses: bool
    max_turns: int
    info: Literal["honest", "open_discard", "thesis"]
    kingdom_seed: int
    kingdom: str | Sequence[str]
