"""The visible part of a game, as documents and pictures. Every answer of the server about a position is made here.

A viewer is a seat, which sees what its View holds, or None: anybody who watches, who sees what all seats know. When the game is over, or if
it hides nothing, everybody sees everything.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from kdenv.core import verbs
from kdenv.core.game import States
from kdenv.core.table import Table
from kdenv.core.view import ONLOOKER, as_seen_by_all
from kdenv.server import models
from kdenv.server.running_game import WHY, Live
from kdenv.server.store import StoredGame
from kdenv.server.teller import meanings

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # in letters for a terminal
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")  # in a drawing
_LAST_EVENTS = 12  # that a seat gets with its position


@lru_cache(10_000)
def moment(seconds: float) -> str:
    """A time as JSON has it: ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def brief(game: StoredGame) -> models.GameBrief:
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


def public(live: Live) -> models.State:
    """The public state of a game."""
    return _state(live, _scores(live, live.table, None))


def _state(live: Live, scores: list[int]) -> models.State:
    kept, mover, deadline = live.kept, live.mover, live.deadline
    return {
        **brief(kept),
        "title": live.game.title,
        "seats": [
            {
                "seat": number,
                "kind": seat.kind,
                "name": seat.name,
                "left": WHY[live.left[number]] if number in live.left else None,
                "policy": seat.policy or "",
            }
            for number, seat in enumerate(kept.seats)
        ],
        "step": live.step,
        "turn": mover,
        "deadline": None if deadline is None else moment(deadline),
        "scores": scores,
        "hides": not live.game.open_information,
        "public": kept.public,
        "casual": live.is_casual,
        "analysis": bool(kept.settings["analysis"]),
        "turn_seconds": kept.settings["turn_seconds"],
    }


def for_seat(live: Live, seat: int, *, numbers: bool = False, drawn: bool = False, told: bool = False) -> models.SeatState:
    """The state of a game for a seat: the public part, its position in words, and its legal actions.

    Hidden information is drawn at random in `position`, which kdenv reads.

    Args:
        live: the game.
        seat: the seat.
        numbers: add `observation`, the position as numbers.
        drawn: add `view`, the position drawn in letters, which does not show hidden information.
        told: add what people are told of the events.

    """
    view = live.table.view(seat)
    runs = live.status == "running"
    legal = view.legal() if runs and seat not in live.left else []
    document: models.SeatState = {
        **_state(live, _scores(live, live.table, seat)),  # type: ignore[typeddict-item]  # it has no part that is not required here
        "seat": seat,
        "legal": [{"action": action, "words": view.name(action)} for action in legal],
        "position": str(live.game.notation.position_text(view.states, 0)),
        "events": events(live, max(0, live.step - _LAST_EVENTS), seat, told=told),
    }
    if drawn:
        document["view"] = _COLOURS.sub("", str(view))
    if numbers:
        document["observation"] = [round(float(x), 6) for x in view.observation()] if runs else []
    return document


def events(live: Live, first: int, viewer: int | None, most: int = 1000, *, told: bool = False) -> list[models.Event]:
    """The events from this number on, as a viewer may know them. Events that it may not know have neither number nor words.

    `told` adds what people are told, which the hall must have found before (Hall.tell).
    """
    knows = live.knows(viewer)
    found: list[models.Event] = []
    for number, row in enumerate(live.rows[first : first + most], first):
        known = knows & row.seen_by == knows
        what = (row.number, row.words) if known else (None, None)
        time = moment(row.time)
        event: models.Event = {"event": number, "kind": row.kind, "seat": row.seat, "number": what[0], "words": what[1], "time": time}
        if told and live.teller is not None:
            event["told"] = [{"seat": line.seat, "words": line.words, "summary": line.summary} for line in live.teller.of(number, knows)]
        found.append(event)
    return found


def picture(live: Live, table: Table, viewer: int | None, *, narrow: bool = False, dark: bool = False) -> str:
    """A position of this game as an SVG drawing."""
    states, seat = table.states, viewer
    if viewer is not None:
        states = table.view(viewer).states
    elif not live.is_open:
        states, seat = as_seen_by_all(states, table.players), ONLOOKER
    drawn, colours = live.game.svg(states, 0, seat, table.last_turn(), narrow=narrow), getattr(live.game.drawing, "DARK", {})
    return _COLOUR.sub(lambda found: colours.get(found[0], found[0]), drawn) if dark else drawn


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


def shapes(live: Live, table: Table, viewer: int | None, *, narrow: bool = False) -> models.Shapes:
    """The actions that can be clicked in the drawing of this viewer: each with its notation, its meaning and its shapes, in order.

    Only the seat to move gets them, or everybody if nothing is hidden. A game may name no shapes.
    """
    seat = table.seat
    if seat is None or (viewer != seat and not live.is_open):
        return {"seat": seat, "shapes": []}
    legal = table.legal()
    paths, ghosts, buttons = (_shown(live, name, table, legal, viewer, narrow) or {} for name in ("targets", "ghosts", "buttons"))
    words = meanings(live.game, table.states, legal, viewer)
    found: list[models.Shape] = []
    for action in legal:
        shape: models.Shape = {"action": action, "words": table.name(action), "meaning": words[action], "paths": paths.get(action, [])}
        if action in ghosts:
            shape["ghost"] = ghosts[action]
        if action in buttons:
            shape["button"] = buttons[action]
        found.append(shape)
    return {"seat": seat, "shapes": found}


def paths_of_turn(live: Live, table: Table, viewer: int | None, actions: list[int], *, narrow: bool = False) -> list[str]:
    """The outlines of all decisions of a turn in the drawing of a position."""
    if hasattr(live.game.drawing, "turn_targets"):
        return _shown(live, "turn_targets", table, actions, viewer, narrow)  # type: ignore[no-any-return]
    paths = _shown(live, "targets", table, actions, viewer, narrow) or {}
    return [path for action in actions for path in paths.get(action, [])]


def _shown(live: Live, name: str, table: Table, actions: list[int], viewer: int | None, narrow: bool) -> Any:
    """The result of a function of the drawing (core/protocols.py); None if the game does not have it."""
    find = getattr(live.game.drawing, name, None)
    if find is None:
        return None
    return find(table.states, 0, actions, viewer, **({"narrow": True} if narrow and "narrow" in inspect.signature(find).parameters else {}))


def curve(live: Live, viewer: int | None, check: Callable[[], None] = lambda: None) -> models.Curve:
    """The points of all seats after every step, as far as the viewer can know them now. `check` is called at each, and may raise."""
    scores = []
    for table in live.tables():
        check()
        scores.append(_scores(live, table, viewer))
    return {"scores": scores}
