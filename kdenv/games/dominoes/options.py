"""The options of dominoes as types, for type checkers and for completion in editors."""

from __future__ import annotations

from typing import Literal, TypedDict


class DominoesOptions(TypedDict, total=False):
    """The options of dominoes. Their meanings and defaults are in GAME."""

    rules: Literal["paper", "dominai_code", "openspiel", "puerto_rico"]
    mode: Literal["match", "round"]
    lead: Literal["rules", "drawn"]
    force_66: bool
    calls: bool
