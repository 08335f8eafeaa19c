"""Describes decisions for people, and sums a round up when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kdenv.core.protocols import Told
from kdenv.games.dominoes import rules
from kdenv.games.dominoes.tables import CALL, N_TILES, PASS, PUERTO_RICO, SUITS

_TEAMS = "player 0 and player 2", "player 1 and player 3"


def told(before: Any, after: Any, action: int) -> Told:
    """Describe a tile, a pass or a call. The decision that ends a round has a summary."""
    s, new = before[0], after[0]
    seat = int(s["turn"])
    c, e = divmod(int(action), SUITS)
    words = {PASS: "passed", CALL: "called"}.get(action) or ("opened with" if s["left"] == rules.NO_END else "played") + f" {c}|{e}"
    if new["n_rounds"] == s["n_rounds"] and new["stage"] != rules.FINISHED:
        return Told(seat, words)
    went_out = action < PASS and int(rules.n_tiles(s["hands"][seat])) == 1
    why = "called" if action == CALL else "went out" if went_out else ""
    ended = f"player {seat} {why}" if why else "The round was blocked"
    wins = s["rules"] == PUERTO_RICO
    limit = f"{int(rules.target(s))} points {'win' if wins else 'lose'}"
    gained = [int(new["points"][team]) - int(s["points"][team]) for team in range(2)]
    charged = [f"{_TEAMS[team]} {'got' if wins else 'were charged'} {n}" for team, n in enumerate(gained) if n]
    stands = [f"{_TEAMS[team]}: {int(new['points'][team])}" for team in range(2)]
    sums = f"{ended}; {' and '.join(charged) or 'nobody got points'}."
    summary = f"Round {int(s['n_rounds']) + 1} is over. {sums} Now {', '.join(stands)} ({limit})."
    return Told(seat, f"{words}{f', and {why}' if went_out else ''}", summary)


def told_chance(befores: Sequence[Any], outcomes: Sequence[int | None]) -> list[Told]:
    """Describe the seat that leads, and the deal."""
    leads = [outcome - N_TILES for outcome in outcomes if outcome is not None and outcome >= N_TILES]
    found = [Told(seat, "leads by lot") for seat in leads]
    if len(outcomes) > len(leads):
        found.append(Told(None, f"the tiles of round {int(befores[-1]['n_rounds']) + 1} were dealt"))
    return found
