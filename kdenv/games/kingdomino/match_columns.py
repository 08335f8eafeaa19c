"""Columns of match reports that Kingdomino adds: discards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kdenv.core.match_columns import MatchColumns, PastDecision


def _round(states: Any) -> int:
    return int(states[0]["round"])


def _compute(decisions: Iterable[PastDecision], players: int) -> dict[str, list[float]]:
    discards = [0.0] * players
    for decision in decisions:
        discards[decision.seat] += decision.words.startswith("discard")
    return {"discards": discards}


DETAILS = MatchColumns({"discards": "dominoes that fitted nowhere"}, _compute, _round)
