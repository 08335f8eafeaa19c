"""Columns of match reports for Dominion: the cards that each seat bought and played."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kdenv.core.match_columns import MatchColumns, PastDecision


def _round(states: Any) -> int:
    """The turn of the seat that decides, from 0."""
    s = states[0]
    return max(0, int(s["turns"].max()) - 1)


def _compute(decisions: Iterable[PastDecision], players: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for decision in decisions:
        verb, _, card = decision.words.partition(" ")
        if verb in ("buy", "play") and card:
            found.setdefault(f"{'bought' if verb == 'buy' else 'played'} {card}", [0.0] * players)[decision.seat] += 1
    return dict(sorted(found.items()))


DETAILS = MatchColumns({"bought CARD": "how many of a card were bought", "played CARD": "how many actions were played"}, _compute, _round)
