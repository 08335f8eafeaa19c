"""Describes actions and events for people: "placed forest/water: +3" rather than "place 12 e4 e5".

The words of an event depend on the positions before and after it. So a teller carries the events out on a table of its own, and goes on
from there when it is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kdenv.core import verbs
from kdenv.core.game import Game, States
from kdenv.core.protocols import Told
from kdenv.server.running_game import Live, Walk
from kdenv.server.store import GameRow

_KNOWS_ALL = 0  # what must have been seen of an event (Live.knows), once nothing is hidden


def meanings(game: Game, states: States, actions: Sequence[int], seat: int | None) -> dict[int, str]:
    """Actions that may be taken in states[0], in words that players know (core/protocols.py)."""
    found: dict[int, str] = {}
    for name in ("buttons", "meanings"):
        found |= getattr(game.drawing, name, lambda *about: {})(states, 0, actions, seat)
    return {action: found.get(action) or str(game.notation.action_text(states, 0, action)) for action in actions}


def meaning_of_turn(game: Game, states: States, actions: Iterable[int], seat: int) -> str:
    """The actions of a turn in such words. They are carried out in states[0]."""
    words = []
    for action in actions:
        words.append(meanings(game, states, [action], seat)[action])
        verbs.apply_at(states, 0, action)
    return "; ".join(words)


class Teller:
    """Descriptions of all events of a game, for each of those who know different parts of it."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._walk: Walk | None = Walk(live.new_table())
        self._told: list[dict[int, list[Told]]] = []  # by event; outcomes of chance in a row are told of at the last one

    def go_on(self, most: int) -> bool:
        """Describe at most so many more events and the chance after them. Return True if some are left."""
        rows, walk = self._live.rows, self._walk
        until = min(len(rows), len(self._told) + most)
        while walk is not None and len(self._told) < until:
            first = len(self._told)
            last = first + 1
            while rows[first].kind == "chance" and last < len(rows) and rows[last].kind == "chance":
                last += 1
            told = self._tell(walk, first, rows[first:last])
            self._told += [{} for _ in range(last - first - 1)] + [told]
        if self._live.status == "over" and len(self._told) == len(rows):
            self._walk = None  # with the positions that it keeps
        return len(self._told) < len(rows)

    def of(self, event: int, knows: int) -> list[Told]:
        """The description of an event for somebody who knows this much (Live.knows)."""
        told = self._told[event]
        return told.get(knows, told.get(_KNOWS_ALL, []))

    def _tell(self, walk: Walk, first: int, rows: list[GameRow]) -> dict[int, list[Told]]:
        """Carry these events out, and describe them: all outcomes of chance in a row, or another event."""
        befores = []
        for number, row in enumerate(rows, first):
            befores.append(walk.table.states.copy())
            walk.carry_out(number, row)
        drawing, row = self._live.game.drawing, rows[0]
        if row.kind == "action" and hasattr(drawing, "told"):
            return {_KNOWS_ALL: [drawing.told(befores[0], walk.table.states, row.number)]}
        if row.kind != "chance" or not hasattr(drawing, "told_chance"):
            return {_KNOWS_ALL: [Told(each.seat, each.words) for each in rows]}
        everybody = (1 << self._live.kept.players) - 1
        is_public = all(each.seen_by & everybody == everybody for each in rows)
        all_knowledge = [_KNOWS_ALL] if is_public else [_KNOWS_ALL, everybody, *(1 << seat for seat in range(self._live.kept.players))]
        states = [before[0] for before in befores]
        return {
            knows: drawing.told_chance(states, [each.number if each.seen_by & knows == knows else None for each in rows])
            for knows in all_knowledge
        }
