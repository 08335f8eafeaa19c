"""The visible part of a game, as documents and pictures. Every answer of the server about a position is made here.

A viewer is a seat, which sees what its View holds, or None: anybody who watches, who sees what all seats know. When the game is over, or if
it hides nothing, everybody sees everything.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import numpy as np

from kdenv.core import verbs
from kdenv.core.game import States
from kdenv.core.table import Table
from kdenv.core.view import ONLOOKER, as_seen_by_all
from kdenv.server.running_game import WHY, Live
from kdenv.server.store import StoredGame

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_LAST_EVENTS = 12  # that a seat gets with its position


def moment(seconds: float | None) -> str | None:
    """A time as JSON has it: ISO 8601 in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def brief(game: StoredGame) -> dict[str, Any]:
    """A game in a list. It is made from what the database holds, so that listing loads no game."""
    return {
        "id": game.id,
        "game": game.game,
        "called": game.settings["called"],
        "status": game.status,
        "players": game.players,
        "options": game.options,
        "seats": [{"seat": number, "kind": seat.kind, "name": seat.name} for number, seat in enumerate(game.seats)],
        "created": moment(game.created),
        "updated": moment(game.updated),
        "result": game.result,
    }


def public(live: Live) -> dict[str, Any]:
    """The public state of a game."""
    kept, table = live.kept, live.table
    return {
        **brief(kept),
        "title": live.game.title,
        "seats": [
            {
                "seat": number,
                "kind": seat.kind,
                "name": seat.name,
                "left": WHY[live.left[number]] if number in live.left else None,
            }
            for number, seat in enumerate(kept.seats)
        ],
        "step": live.step,
        "turn": live.mover,
        "deadline": moment(live.deadline),
        "scores": _scores(live, table, None),
        "hides": not live.game.open_information,
        "public": kept.public,
        "casual": bool(kept.settings["casual"]),
        "analysis": bool(kept.settings["analysis"]),
        "turn_seconds": kept.settings["turn_seconds"],
    }


def for_seat(live: Live, seat: int, numbers: bool = False) -> dict[str, Any]:
    """The state of a game for a seat: the public part, its position in words and numbers, and its legal actions.

    Hidden information is drawn at random in `position`, which kdenv reads, and not shown in `view`, which people read.
    """
    view = live.table.view(seat)
    runs = live.status == "running"
    legal = view.legal() if runs and seat not in live.left else []
    document = {
        **public(live),
        "seat": seat,
        "scores": _scores(live, live.table, seat),
        "legal": [{"action": action, "words": view.name(action)} for action in legal],
        "position": str(live.game.notation.position_text(view.states, 0)),
        "view": _COLOURS.sub("", str(view)),
        "events": events(live, max(0, live.step - _LAST_EVENTS), seat),
    }
    if numbers:
        document["observation"] = [round(float(x), 6) for x in view.observation()] if runs else []
    return document


def events(live: Live, first: int, viewer: int | None, most: int = 1000) -> list[dict[str, Any]]:
    """The events from this number on, as a viewer may know them. Events that it may not know have neither number nor words."""
    return [
        {
            "event": number,
            "kind": row.kind,
            "seat": row.seat,
            "number": row.number if (known := live.witnessed(row, viewer)) else None,
            "words": row.words if known else None,
            "time": moment(row.time),
        }
        for number, row in enumerate(live.rows[first : first + most], first)
    ]


def picture(live: Live, table: Table, viewer: int | None) -> str:
    """A position of this game as an SVG drawing."""
    if viewer is None and live.is_open:
        return table.svg()
    states, seat = (as_seen_by_all(table.states, table.players), ONLOOKER) if viewer is None else (table.view(viewer).states, viewer)
    return live.game.svg(states, 0, seat, table.last_turn())


def _scores(live: Live, table: Table, viewer: int | None) -> list[int]:
    """The points of all seats, as far as the viewer can know them."""
    if live.is_open:
        return table.scores()
    if viewer is not None:
        return table.view(viewer).scores()
    return _scores_in(as_seen_by_all(table.states, table.players), table.players)


def _scores_in(states: States, players: int) -> list[int]:
    out = np.zeros(players, np.int64)
    verbs.scores_at(states, 0, out)
    return out.tolist()


def shapes(live: Live, table: Table, viewer: int | None) -> dict[str, Any]:
    """The actions that can be clicked in the drawing of this viewer: each with its words and its shapes, in order.

    Only the seat to move gets them, or everybody if nothing is hidden. A game may name no shapes.
    """
    seat = table.seat
    if seat is None or (viewer != seat and not live.is_open):
        return {"seat": seat, "shapes": []}
    legal = table.legal()
    find = getattr(live.game.drawing, "targets", None)
    found = find(table.states, 0, legal, viewer) if find is not None else {}
    return {"seat": seat, "shapes": [{"action": action, "words": table.name(action), "paths": found.get(action, [])} for action in legal]}


def curve(live: Live, viewer: int | None) -> dict[str, Any]:
    """The points of all seats after every step, as far as the viewer can know them now."""
    return {"scores": [_scores(live, table, viewer) for table in live.tables()]}
