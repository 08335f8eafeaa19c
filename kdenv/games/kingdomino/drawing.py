"""Positions of Kingdomino as pictures."""
from typing import Any


def ansi(states: Any, k: int, seat: int | None = None) -> str:
    """For a terminal."""
    from kdenv.games.kingdomino.notation import position_text
    return position_text(states, k)


def svg(states: Any, k: int, seat: int | None = None) -> str:
    """For eyes."""
    return "<svg xmlns='http://www.w3.org/2000/svg'/>"
