"""The content of a picture of a position of Dominion: the seat to move, points, winners, the heading, and the hands that are shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from kdenv.games.dominion import rules
from kdenv.games.dominion.notation import card_name
from kdenv.games.dominion.progress import (
    AGAIN_NODE,
    ASK_NODE,
    BUY_NODE,
    DISCARD_NODE,
    DRAW_NODE,
    GAIN_NODE,
    LOOT_NODE,
    OVER_NODE,
    PLAY_NODE,
    PUT_BACK_NODE,
    TRASH_NODE,
)

_TASKS = {
    OVER_NODE: "the end",
    DRAW_NODE: "draws",
    PLAY_NODE: "to play",
    BUY_NODE: "to buy",
    AGAIN_NODE: "to play twice",
    TRASH_NODE: "to trash",
    GAIN_NODE: "to gain",
    DISCARD_NODE: "to discard",
    PUT_BACK_NODE: "to put back",
    LOOT_NODE: "to trash",
    ASK_NODE: "yes or no",
}


def mover(s: Any) -> int | None:
    """Return the seat that decides or draws; None when the game is over."""
    if s["node"] == OVER_NODE:
        return None
    return int(s["draw_seat"] if s["node"] == DRAW_NODE else s["decider"])


def points(states: Any, k: int) -> list[int]:
    """Return the points of every seat."""
    out = np.zeros(int(states[k]["players"]), np.int64)
    rules.scores(states[k], out)
    return out.tolist()


def sees_hand(s: Any, seat: int | None, of: int) -> bool:
    """Return whether the picture for `seat` shows the hand of seat `of`. None sees all hands."""
    return seat is None or seat == of or s["info"] == rules.OPEN_HANDS


def winners(states: Any, k: int) -> list[int]:
    """Return the seats that won; none before the end."""
    if states[k]["node"] != OVER_NODE:
        return []
    out = np.zeros(int(states[k]["players"]), np.int64)
    rules.standings(states[k], out)
    return [seat for seat, standing in enumerate(out) if standing == out.max()]


def heading(s: Any) -> str:
    """Return the heading: the turn and the question, in letters that the picture can draw."""
    if s["node"] == OVER_NODE:
        return f"broken off after {s['max_turns']} turns" if s["is_truncated"] else "the end"
    if s["stage"] == rules.OPENING:
        return f"player {s['draw_seat']} draws the first hand"
    asker = f" for {card_name(s, int(s['run_slot'][s['depth'] - 1])).lower()}" if s["depth"] else ""
    return f"turn {s['turns'][s['turn']]} of player {s['turn']} - player {mover(s)} {_TASKS[int(s['node'])]}{asker}"
