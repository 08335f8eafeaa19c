"""Positions of dominoes as pictures."""

from typing import Any


def ansi(states: Any, k: int, seat: int | None = None) -> str:
    """For a terminal."""
    return ""


def svg(states: Any, k: int, seat: int | None = None) -> str:
    """For eyes."""
    return ""
