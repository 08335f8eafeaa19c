"""The options of the rules of Dominoes as types: with them editors complete names and type checkers know values."""

from __future__ import annotations

from typing import Literal, TypedDict


class DominoesOptions(TypedDict, total=False):
    """The options of Dominoes. GAME says what they mean, and has their defaults."""

    rules: Literal["paper", "dominai_code", "openspiel", "puerto_rico"]
    mode: Literal["match", "round"]
    lead: Literal["rules", "drawn"]
    force_66: bool
    calls: bool
