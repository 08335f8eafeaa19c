"""Columns of match reports for dominoes: passes, calls, and the ends of rounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kdenv.core.match_columns import MatchColumns, PastDecision
from kdenv.games.dominoes.rules import FINISHED
from kdenv.games.dominoes.tables import CALL, PASS


def _round(states: Any) -> int:
    """Return the times that the turn has gone round the table since the lead."""
    return int(states[0]["n_turns"]) // 4


def _compute(decisions: Iterable[PastDecision], players: int) -> dict[str, list[float]]:
    passes, calls, rounds, blocked = [0.0] * players, [0.0] * players, 0.0, 0.0
    for decision in decisions:
        passes[decision.seat] += decision.action == PASS
        calls[decision.seat] += decision.action == CALL
        before, after = decision.before[0], decision.after[0]
        if after["stage"] == FINISHED or after["n_rounds"] != before["n_rounds"]:
            rounds += 1
            blocked += decision.action == PASS
    return {"passes": passes, "calls": calls, "rounds": [rounds] * players, "blocked": [blocked] * players}


DETAILS = MatchColumns(
    {
        "passes": "turns passed",
        "calls": "passes called",
        "rounds": "rounds of the match (the same for all seats)",
        "blocked": "rounds that ended by passes (the same for all seats)",
    },
    _compute,
    _round,
)
