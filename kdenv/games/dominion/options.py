"""The options of the rules of Dominion as types: with them editors complete names and type checkers know values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class DominionOptions(TypedDict, total=False):
    """The options of Dominion. GAME says what they mean, and has their defaults."""

    supply: Literal["standard", "thesis"]
    curses: bool
    max_turns: int
    info: Literal["honest", "open_discard", "thesis"]
    kingdom_seed: int
    kingdom: str | Sequence[str]
