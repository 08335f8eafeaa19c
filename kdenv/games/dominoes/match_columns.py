"""Columns of match reports for dominoes: passes, calls, and the ends of rounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kdenv.core.match_columns import Decision, MatchColumns
from kdenv.games.dominoes.rules import FINISHED
from kdenv.games.dominoes.tables import CALL, PASS


def _round(states: Any) -> int:
    """Return the times that the turn has gone round the table since the lead."""
    return int(states[0]["n_turns"]) // 4


def _compute(moments: Iterable[Decision], players: int) -> dict[str, list[float]]:
    passes, calls, rounds, blocked = [0.0] * players, [0.0] * players, 0.0, 0.0
    for moment in moments:
        passes[moment.seat] += moment.action == PASS
        calls[moment.seat] += moment.action == CALL
        before, after = moment.before[0], moment.after[0]
        if after["stage"] == FINISHED or after["n_rounds"] != before["n_rounds"]:
            rounds += 1
            blocked += moment.action == PASS
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
