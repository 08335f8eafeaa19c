"""A game in memory: the table, the events that led to it, and the change that a decision makes. Nothing here waits or writes a file.

A decision is first carried out on a copy of the table, which gives a change. The hall (service.py) writes the events of the change to the
database, and only then puts the change into effect. So a game never shows an event that the database does not have.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kdenv.compiler.random import Rng, make_rng
from kdenv.core import verbs
from kdenv.core.errors import shown
from kdenv.core.game import States
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.server.errors import RequestError
from kdenv.server.models import Result, Status
from kdenv.server.store import GameRow, StoredGame

if TYPE_CHECKING:
    from kdenv.server.teller import Teller

EVERYBODY = -1  # the witnesses of an event that all seats see
RESIGNED, OUT_OF_TIME, FAILED = range(3)  # the reason why a seat is left, as the number of its event
WHY = {RESIGNED: "resigned", OUT_OF_TIME: "ran out of time", FAILED: "could not go on"}


@dataclass
class Change:
    """A change by a decision: new events, and the game after them."""

    rows: list[GameRow]
    table: Table
    line: list[int]
    left: dict[int, int]


class Live:
    """One game in memory."""

    def __init__(self, kept: StoredGame, rows: Sequence[GameRow] = ()) -> None:
        """A game as the database holds it. Its events are carried out again. ValueError if they are damaged."""
        self.kept = kept
        self.game = find_game(kept.game)
        self.rows: list[GameRow] = []
        self.line: list[int] = []  # the numbers of the events that count: those that have not been undone
        self.left: dict[int, int] = {}  # the seats that the server plays since their players left, and the reasons
        self.table = self.new_table()
        self.clock = time.monotonic() - max(0.0, time.time() - kept.updated)  # the time of the last change, on a clock that nobody sets
        self.client = ""  # who made it, as far as this process knows; searches for the game wait in this client's queue
        self.changed = asyncio.Event()  # set, and replaced, whenever something happens
        self.memories: dict[int, bytes] = {}  # by seat: the memory of its program
        self.teller: Teller | None = None  # what people are told of the events, once somebody has asked
        self.thinking: asyncio.Task[None] | None = None  # the task that asks programs for their decisions
        walk = Walk(self.table)
        for row in rows:
            self._carry_out(row, walk)
        is_cut = self.table.at_chance if kept.status != "waiting" else bool(rows)  # chance is written with what it follows
        if is_cut or (kept.status == "over" and kept.result is not None and kept.result["finished"] and not self.table.over):
            raise ValueError(f"its {len(rows)} events are not those of a game that is {kept.status}")

    # The game

    @property
    def id(self) -> str:
        return self.kept.id

    @property
    def step(self) -> int:
        """The number of events. A request with a decision names it, so that no decision is made twice."""
        return len(self.rows)

    @property
    def status(self) -> Status:
        return self.kept.status

    @property
    def mover(self) -> int | None:
        """The seat that decides now; None unless the game runs."""
        return self.table.seat if self.status == "running" else None

    @property
    def program(self) -> str | None:
        """The text of the program that decides now; None if a player does, or nobody."""
        return None if (seat := self.mover) is None else self._program_of(seat)

    def _program_of(self, seat: int) -> str | None:
        if seat in self.left:
            return self.game.knowledge.greedy or "random"
        return self.kept.seats[seat].policy or None

    @property
    def deadline(self) -> float | None:
        """The time at which the player to move loses its seat, in seconds since 1970."""
        seat = self.mover
        if seat is None or self._program_of(seat) is not None:
            return None
        return float(self.kept.updated + self.kept.settings["turn_seconds"])

    @property
    def is_late(self) -> bool:
        """True if the player to move has used up its time. The clock of the machine may be set meanwhile."""
        return self.deadline is not None and time.monotonic() > self.clock + self.kept.settings["turn_seconds"]

    @property
    def has_people(self) -> bool:
        """True if a seat is played, or may be taken, by somebody who is no program of the server."""
        return any(seat.kind != "program" and number not in self.left for number, seat in enumerate(self.kept.seats))

    @property
    def is_casual(self) -> bool:
        """True if the only person who plays may undo and ask for hints. They would help one person against another."""
        return bool(self.kept.settings["casual"]) and sum(seat.kind != "program" for seat in self.kept.seats) < 2

    @property
    def is_open(self) -> bool:
        """True if everybody may see everything: the game hides nothing, or it is over."""
        return self.game.open_information or self.status == "over"

    def new_table(self) -> Table:
        """A table of this game, before anything has happened."""
        return Table(self.game, self.kept.players, **self.kept.options)

    def table_at(self, step: int) -> Table:
        """The table after this number of events."""
        return self.table if step == self.step else deque(self.tables(step), 1)[0]

    def tables(self, last: int | None = None) -> Iterator[Table]:
        """The table after every step from 0 to the last one. It is the same object every time."""
        walk = Walk(self.new_table())
        yield walk.table
        for number, row in enumerate(self.rows[:last]):
            walk.carry_out(number, row)
            yield walk.table

    def knows(self, viewer: int | None) -> int:
        """The seats that must all have seen an event, as bits, so that a viewer may know it.

        Viewer None is anybody who watches, and may know what all seats know. If nothing is hidden, every event may be known.
        """
        everybody = (1 << self.kept.players) - 1
        return 0 if self.is_open else everybody if viewer is None else 1 << viewer

    # Changes

    def start(self) -> Change:
        """The first draws of chance, when every seat is taken."""
        change = Change([], self.table.clone(), list(self.line), {})
        self._run_chance(change)
        return change

    def after(self, seat: int, actions: Sequence[int]) -> Change:
        """The change by these decisions of a seat, which are one turn. Raises IllegalAction for one that is not legal."""
        change = Change([], self.table.clone(), list(self.line), self.left)
        for number, action in enumerate(actions):
            table = change.table
            if number and table.seat != seat:
                raise RequestError(
                    409, f"after {number} of these {len(actions)} actions seat {seat} does not decide; send one action at a time"
                )
            words = table.name(table.checked_action(action))
            table.play(action)
            self._add(change, GameRow("action", seat, int(action), EVERYBODY, words, time.time()))
            self._run_chance(change)
        return change

    def undone(self, seat: int) -> Change:
        """The game before the last decision of this seat."""
        for place in range(len(self.line) - 1, -1, -1):
            row = self.rows[self.line[place]]
            if row.kind == "action" and row.seat == seat:
                back_to = self.line[place]
                line = self.line[:place]
                words = f"goes back to step {back_to}"
                return Change([GameRow("undo", seat, back_to, EVERYBODY, words, time.time())], self.table_at(back_to), line, self.left)
        raise RequestError(409, f"seat {seat} has made no decision yet, so there is none to undo")

    def without(self, seat: int, why: int) -> Change:
        """The game after a seat has resigned or failed: the server plays on for it."""
        row = GameRow("left", seat, why, EVERYBODY, WHY[why], time.time())
        return Change([row], self.table, self.line, {**self.left, seat: why})

    def take(self, change: Change, status: Status, updated: float, result: Result | None) -> None:
        """Put a change into effect, and wake everybody who waits for one."""
        self.rows += change.rows
        self.table, self.line, self.left = change.table, change.line, change.left
        self.kept.status, self.kept.updated, self.kept.result = status, updated, result
        self.clock = time.monotonic()
        self.wake()

    def wake(self) -> None:
        """Wake everybody who waits for this game to change."""
        self.changed.set()
        self.changed = asyncio.Event()

    def ends_with(self, change: Change) -> bool:
        """True if the game is over after this change: by its rules, or because no two opponents are left."""
        if change.table.over:
            return True
        teams = self.game.teams(self.kept.players)
        rivals = {seat % teams for seat in range(self.kept.players) if seat not in change.left}
        return bool(change.left) and len(rivals) < 2

    def result_of(self, change: Change) -> Result:
        """The result: points, places, shares of the win, and margins. A seat whose player has left comes last."""
        table, players = change.table, self.kept.players
        teams = self.game.teams(players)
        scores, standings = table.scores(), table.standings()
        gone = {seat % teams for seat in change.left}
        worth = [(seat % teams not in gone, standing) for seat, standing in enumerate(standings)]
        best = {seat % teams for seat in range(players) if worth[seat] == max(worth)}
        rivals = [[scores[other] for other in range(players) if other % teams != seat % teams] for seat in range(players)]
        return {
            "scores": scores,
            "ranks": [1 + sum(other > mine for other in worth) for mine in worth],
            "wins": [1 / len(best) if seat % teams in best else 0.0 for seat in range(players)],
            "margins": [scores[seat] - max(rivals[seat], default=0) for seat in range(players)],
            "finished": table.over,
        }

    def seed(self, purpose: str, number: int) -> int:
        """A secret number for one purpose in this game."""
        digest = hashlib.blake2b(number.to_bytes(8, "little"), key=self.kept.secret, digest_size=8, person=purpose.encode())
        return int.from_bytes(digest.digest(), "little")

    # Details

    def _add(self, change: Change, row: GameRow) -> None:
        change.line.append(self.step + len(change.rows))
        change.rows.append(row)

    def _run_chance(self, change: Change) -> None:
        """Draw and carry out chance. What is drawn depends on the secret and the events before, so that nobody gains by undoing."""
        table = change.table
        if not table.at_chance:
            return
        rng: Rng = make_rng(self.seed("chance", len(change.line)))
        while table.at_chance:
            outcome = table.sample_chance(rng)
            words, seen_by = table.chance_name(outcome), int(verbs.witnesses_at(table.states, 0))
            table.chance(outcome)
            self._add(change, GameRow("chance", None, outcome, seen_by, words, time.time()))

    def _is_possible(self, row: GameRow, walk: Walk) -> bool:
        """True if this event may happen now. Kernels do not check, so a damaged database must not reach them."""
        match row.kind:
            case "action":
                return row.seat == self.table.seat and row.number in self.table.legal()
            case "chance":
                return row.number in [outcome for outcome, _ in self.table.chances()]
            case "undo":
                return walk.can_undo(row.number)
            case "left":
                return row.seat in range(self.kept.players) and row.number in WHY
        return False

    def _carry_out(self, row: GameRow, walk: Walk) -> None:
        """Carry out an event that the database holds. ValueError if it is not possible."""
        number = len(self.rows)
        if not self._is_possible(row, walk):
            raise ValueError(f"its event {number}, {shown(row.kind)} {row.number}, is not possible there")
        self.rows.append(row)
        if row.kind == "left":
            assert row.seat is not None
            self.left = {**self.left, row.seat: row.number}
        elif row.kind == "undo":
            del self.line[bisect_left(self.line, row.number) :]
        else:
            self.line.append(number)
        walk.carry_out(number, row)


class Walk:
    """A table on which the events of a game are carried out in order. It keeps the positions to which it may have to go back."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._before: dict[int, tuple[States, int]] = {}  # by the number of an action: the state before it, and the length of the log

    def can_undo(self, number: int) -> bool:
        """True if the event of this number is an action that has not been undone."""
        return number in self._before

    def carry_out(self, number: int, row: GameRow) -> None:
        """Carry out an event that was possible when it happened."""
        if row.kind == "undo":
            state, length = self._before[row.number]
            self.table.states[:] = state
            self.table.log.n = length
            while self._before and next(reversed(self._before)) >= row.number:
                self._before.popitem()
        elif row.kind != "left":
            if row.kind == "action":
                self._before[number] = self.table.states.copy(), self.table.log.n
            carry_out(self.table, row)


def carry_out(table: Table, row: GameRow) -> None:
    """Carry out an event that was legal when it happened."""
    if row.kind == "action":
        verbs.apply_at(table.states, 0, row.number)
        table.log.write_action(row.number)
    else:
        seen_by = int(verbs.witnesses_at(table.states, 0))
        verbs.apply_chance_at(table.states, 0, row.number)
        table.log.write_chance(row.number, seen_by)
