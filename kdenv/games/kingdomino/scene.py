"""The contents of a picture of Kingdomino, counted and in words, for the terminal and for the drawing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kdenv.core import verbs
from kdenv.core.protocols import LastTurn
from kdenv.games.kingdomino import placements, rules
from kdenv.games.kingdomino.board import points_of
from kdenv.games.kingdomino.notation import halves, kingdom_squares
from kdenv.games.kingdomino.tables import KINGS, N_TERRAINS


class Kingdom(NamedTuple):
    """The kingdom, points and task of one seat, for a picture."""

    seat: int
    squares: dict[tuple[int, int], tuple[int, int]]  # (x, y) -> (terrain, crowns), without the castle
    columns: range  # the columns in use and, while the game lasts, those in reach of the next domino
    rows: range
    areas: list[int]  # points by terrain
    bonuses: list[str]
    points: int
    place: int  # 1 is the best
    task: str  # the next action of this seat, or its win


def kingdoms_of(states: Any, k: int) -> list[Kingdom]:
    """The contents of a picture for every seat, by seat."""
    s = states[k]
    points, standings = np.zeros(4, np.int64), np.zeros(4, np.int64)
    verbs.scores_at(states, k, points)
    verbs.standings_at(states, k, standings)
    best_first = sorted(standings[: int(s["players"])].tolist(), reverse=True)
    kingdoms = []
    for seat in range(int(s["players"])):
        low, high = s["crowns"][seat]
        areas = [int(points_of(s["land"][seat, terrain], low, high)) for terrain in range(N_TERRAINS)]
        place = 1 + best_first.index(int(standings[seat]))
        columns = _in_view(s, int(s["left"][seat]), int(s["right"][seat]))
        rows = _in_view(s, int(s["top"][seat]), int(s["bottom"][seat]))
        earned = (("middle", rules.bonus_for_middle(s, seat)), ("harmony", rules.bonus_for_harmony(s, seat)))
        bonuses = [f"{name} +{bonus}" for name, bonus in earned if bonus]
        task = _task(s) if seat == mover(s) else ""
        if place == 1 and s["stage"] == rules.FINISHED:
            task = "shared win" if best_first.count(best_first[0]) > 1 else "winner"
        kingdoms.append(Kingdom(seat, kingdom_squares(s, seat), columns, rows, areas, bonuses, int(points[seat]), place, task))
    return kingdoms


def mover(s: Any) -> int:
    """The seat that decides now, or NOBODY."""
    if s["stage"] not in (rules.PLACING, rules.PICKING):
        return rules.NOBODY
    return int(s["caller"] if s["round"] == 0 else s["queue_king"][int(s["turn"])])


def _task(s: Any) -> str:
    return f"places {s['queue'][int(s['turn'])]}" if s["stage"] == rules.PLACING else "picks"


def _in_view(s: Any, least: int, most: int) -> range:
    """The columns (or rows) to show of a kingdom that spans least to most. During the game these include all in reach of a domino."""
    margin = 0 if s["stage"] == rules.FINISHED else min(2, int(s["size"]) - 1 - (most - least))
    return range(least - margin, most + margin + 1)


class LastChange(NamedTuple):
    """The changes of the last turn: the squares of the domino that was placed after the pick before, and the slot that was picked."""

    squares: list[tuple[int, int]]
    slot: int | None


def last_change(last: LastTurn | None, size: int) -> LastChange:
    """The domino that a seat has placed, unless it was discarded, and the one that it has picked after that."""
    if last is None:
        return LastChange([], None)
    discard = int(placements.discard_action(size))
    placed = [action for action in last.actions[-2:] if action < discard]
    pick = last.actions[-1] - discard - 1
    squares: list[tuple[int, int]] = []
    if placed and (pick >= 0 or placed[-1] == last.actions[-1]):
        x1, y1, x2, y2 = halves(placed[-1], size)
        squares = [(x1, y1), (x2, y2)]
    return LastChange(squares, pick if pick >= 0 else None)


def waiting(s: Any) -> list[int]:
    """The seats of the kings that have not picked in the first round. A king that is called comes first."""
    players, called = int(s["players"]), mover(s)
    placed = [int(king) for king in s["draft_king"]]
    kings = [seat for seat in range(players) for _ in range(KINGS[players] // players - placed.count(seat))]
    return sorted(kings, key=lambda seat: seat != called)


def n_in_box(s: Any) -> int:
    """The number of dominoes that have not been drawn."""
    return int(s["unseen"]).bit_count()


def round_text(s: Any) -> str:
    """The round and the number of rounds, in words."""
    return f"round {s['round']} of {s['n_drafts']}"
