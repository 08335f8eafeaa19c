"""Positions and moves as documents of the paper's game server (Gedda, Lagerkvist, Butler 2018), in its order of keys.

A move of that server is a whole turn: the placement of the earlier domino and the choice of a new one. So documents show positions
between turns.
An absent value is an absent key. kdenv/server/kdom.py answers requests with these documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kdenv.core import verbs
from kdenv.games.kingdomino import placements, rules
from kdenv.games.kingdomino.notation import halves, kingdom_squares
from kdenv.games.kingdomino.scene import mover
from kdenv.games.kingdomino.tables import DOMINOES, DOMINOES_USED, KINGS, N_DOUBLES, TERRAINS

Document = dict[str, Any]
_NO_TERRAIN = -1  # the terrain of the castle
_CASTLE = (_NO_TERRAIN, 0)  # the square of the castle as (terrain, crowns)


def is_between_turns(s: Any) -> bool:
    """Return whether a seat begins its turn or the game is over: no chance is next, and no turn is half done."""
    return bool(s["stage"] in (rules.PLACING, rules.FINISHED) or (s["stage"] == rules.PICKING and s["round"] == 0))


def n_moves(s: Any) -> int:
    """The number of moves made so far."""
    kings = int(s["kings"])
    if s["stage"] == rules.FINISHED:
        return (int(s["n_drafts"]) + 1) * kings
    return int(s["round"]) * kings + int(s["turn"])


def n_moves_in_game(players: int) -> int:
    """The number of moves of a whole game."""
    return DOMINOES_USED[players] + KINGS[players]


def round_of(players: int, turn: int) -> int:
    """The round as the paper's server counts it."""
    return 1 + turn // KINGS[players]


def seats_by_name(names: Sequence[str]) -> list[int]:
    """The seats in the order of their names, by UTF-16 code units as Java compares them."""
    return sorted(range(len(names)), key=lambda seat: names[seat].encode("utf-16-be"))


def player(name: str) -> Document:
    return {"name": name}


def kingdom(s: Any, seat: int, name: str) -> Document:
    """A kingdom: its squares in reading order, and its score as it lies."""
    squares = {(y, x): square for (x, y), square in kingdom_squares(s, seat).items()} | {(0, 0): _CASTLE}
    areas = _areas(squares)
    middle, harmony = int(rules.bonus_for_middle(s, seat)), int(rules.bonus_for_harmony(s, seat))
    return {
        "player": player(name),
        "placedTiles": [{"position": _position(row, col), "tile": _tile(*squares[row, col])} for row, col in sorted(squares)],
        "score": {"total": sum(areas) + middle + harmony, "areaScores": areas, "centerBonus": middle, "completeBonus": harmony},
    }


def current_draft(s: Any, names: Sequence[str]) -> Document:
    """The dominoes to choose from; those that are chosen stay, with their players."""
    return _draft(s["draft"], s["draft_king"], names)


def previous_draft(s: Any, names: Sequence[str]) -> Document:
    """The dominoes that are still to be placed."""
    first = int(s["turn"]) if s["stage"] == rules.PLACING else len(s["queue"])
    return _draft(s["queue"][first:], s["queue_king"][first:], names)


def domino(number: int) -> Document:
    first, second = DOMINOES[number - 1]
    return {"number": number, "tile1": _tile(*first), "tile2": _tile(*second)}


def to_move(s: Any) -> int | None:
    """The seat that moves; None if the game is over."""
    return None if s["stage"] == rules.FINISHED else mover(s)


def placed_by(s: Any, action: int) -> int | None:
    """The number of the domino that an action in this position places; None if it places none."""
    if s["stage"] != rules.PLACING or action == placements.discard_action(int(s["size"])):
        return None
    return int(s["queue"][int(s["turn"])])


class Move(NamedTuple):
    """One entry of the list of moves: its document for clients, and the actions that carry it out."""

    document: Document
    actions: list[int]


def moves(states: Any, k: int, legal: Any) -> list[Move]:
    """All moves in states[k], which is between turns, in their order. `legal` is a buffer for actions.

    A move is a free domino of the draft and a placement of the domino in hand. Both orientations of a double are listed, though they are
    one action. The first round has no placement, and the last round no choice. A domino that fits nowhere has no placement either.
    """
    s = states[k]
    if s["stage"] == rules.FINISHED:
        return []
    found: list[Move] = []
    for chosen, pick in _choices(s):
        for placement, place in _placements(states, k, legal):
            document: Document = {"number": len(found)}
            if chosen is not None:
                document["chosenDomino"] = domino(chosen)
            if placement is not None:
                row, col, to_row, to_col = placement
                document["placedDomino"] = {
                    "domino": domino(int(s["queue"][int(s["turn"])])),
                    "tile1Position": _position(row, col),
                    "tile2Position": _position(to_row, to_col),
                }
            found.append(Move(document, [*place, *pick]))
    return found


def _choices(s: Any) -> list[tuple[int | None, list[int]]]:
    """The free dominoes of the draft, ascending, each with the action that picks it."""
    size = int(s["size"])
    free = [slot for slot in range(int(s["kings"])) if s["draft"][slot] != rules.NO_DOMINO and s["draft_king"][slot] == rules.NOBODY]
    return [(int(s["draft"][slot]), [int(placements.pick_action(size, slot))]) for slot in free] or [(None, [])]


def _placements(states: Any, k: int, legal: Any) -> list[tuple[tuple[int, int, int, int] | None, list[int]]]:
    """The placements of the domino in hand as rows and columns of its halves, in order, each with its action."""
    s = states[k]
    if s["stage"] != rules.PLACING:
        return [(None, [])]
    size = int(s["size"])
    found: list[tuple[tuple[int, int, int, int] | None, list[int]]] = []
    for action in legal[: verbs.legal_at(states, k, legal)].tolist():
        if action == placements.discard_action(size):
            return [(None, [action])]
        x, y, to_x, to_y = halves(action, size)
        found.append(((y, x, to_y, to_x), [action]))
        if s["queue"][int(s["turn"])] <= N_DOUBLES:
            found.append(((to_y, to_x, y, x), [action]))
    return sorted(found)


def _areas(squares: dict[tuple[int, int], tuple[int, int]]) -> list[int]:
    """The points of every area, in the reading order of their first squares. The castle is an area without points."""
    points, seen = [], set()
    for start in sorted(squares):
        if start in seen:
            continue
        area, waiting = {start}, [start]
        while waiting:
            row, col = waiting.pop()
            for near in ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)):
                if near in squares and near not in area and squares[near][0] == squares[start][0]:
                    area.add(near)
                    waiting.append(near)
        seen |= area
        points.append(len(area) * sum(squares[square][1] for square in area))
    return points


def _draft(dominoes: Any, kings: Any, names: Sequence[str]) -> Document:
    entries = []
    for number, king in zip(dominoes.tolist(), kings.tolist(), strict=True):
        if number != rules.NO_DOMINO:
            entries.append({**({} if king == rules.NOBODY else {"player": player(names[king])}), "domino": domino(number)})
    return {"dominoes": entries}


def _position(row: int, col: int) -> Document:
    return {"row": row, "col": col}


def _tile(terrain: int, crowns: int) -> Document:
    return {"terrain": "castle" if terrain == _NO_TERRAIN else TERRAINS[terrain], "crowns": crowns}
