"""Computes statistics of a finished game for match reports: turns and points by round, and columns that a game adds.

They are found by replaying the record. A game adds columns with `details` of its Game: a MatchColumns, whose functions are in its package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kdenv.core import verbs
from kdenv.core.game import Game
from kdenv.core.read_only import freeze_fields
from kdenv.core.record import replay
from kdenv.core.turns import SCRATCH, list_turns
from kdenv.core.verbs import OVER

States = Any  # an array of a game's state records


class PastDecision(NamedTuple):
    """A decision of a finished game: the position before it and after it (arrays of one), the seat, the action and its words."""

    before: States
    after: States
    seat: int
    action: int
    words: str


@dataclass(frozen=True)
class MatchColumns:
    """The columns that a game adds: their meanings by name, and a function that computes a number for each seat and column."""

    columns: Mapping[str, str]
    compute: Callable[[Iterable[PastDecision], int], Mapping[str, list[float]]]  # (the decisions in order, players) -> column -> by seat
    round_of: Callable[[States], int] | None = None  # the round, from 0, of a position in an array of one; else turns are counted

    def __post_init__(self) -> None:
        freeze_fields(self)


class Turn(NamedTuple):
    """One turn of a seat.

    A match counts a new turn after chance or another seat. So if a seat is the last in a round and the first in the next, a match counts
    one turn. Here these are two, and the second has the number -1.
    """

    number: int  # among the turns of the seat that a match counts, from 0
    round: int
    open: int  # the number of turns that were possible
    score: int  # the seat's points after the turn


@dataclass
class GameReport:
    """The statistics of one game: the seat that began, the turns of each seat, and the columns of the game."""

    first: int
    turns: list[list[Turn]]
    own: dict[str, list[float]]


def report_of(record: str, find_game: Callable[[str], Game]) -> GameReport:
    """Compute the statistics of the game in a record. Raises BadRecord if it is damaged."""
    decisions: list[PastDecision] = []
    starts: list[bool] = []  # for each decision, True if chance or another seat came before it, so that it begins a turn
    before, seat, n, after_chance = None, -1, 0, True
    for table in replay(record, find_game):
        now = table.states.copy()
        if before is not None and len(table.log) > n:
            event = table.log.events()[-1]
            if event.is_chance:
                after_chance = True
            else:
                assert event.number is not None  # only logs of views have events without a number
                words = table.game.notation.action_text(before, 0, event.number)
                starts.append(after_chance or decisions[-1].seat != seat)
                decisions.append(PastDecision(before, now, seat, event.number, words))
                after_chance = False
        before, n, seat = now, len(table.log), -1 if table.seat is None else table.seat
    return _report(table.game, table.players, decisions, starts)


def _report(game: Game, players: int, decisions: list[PastDecision], starts: list[bool]) -> GameReport:
    details = game.details
    turns: list[list[Turn]] = [[] for _ in range(players)]
    begun = [-1] * players
    room, packed = np.zeros(1 + SCRATCH, game.state_dtype), np.empty(game.max_turns, np.int64)
    scores = np.zeros(players, np.int64)
    for decision, starts_turn in zip(decisions, starts, strict=True):
        mine = turns[decision.seat]
        verbs.scores_at(decision.after, 0, scores)
        score = int(scores[decision.seat])
        now = len(mine) if details is None or details.round_of is None else int(details.round_of(decision.before))
        if starts_turn or (mine[-1].round != now and details is not None and details.round_of is not None):
            room[0] = decision.before[0]
            n_open = int(list_turns(room, 0, game.most_decisions, game.max_legal, packed))
            begun[decision.seat] += starts_turn
            mine.append(Turn(begun[decision.seat] if starts_turn else -1, now, n_open, score))
        else:
            mine[-1] = mine[-1]._replace(score=score)
    own = {} if details is None else {name: list(map(float, by_seat)) for name, by_seat in details.compute(decisions, players).items()}
    if decisions and int(verbs.phase_at(decisions[-1].after, 0)) == OVER:  # points for the end of the game count for the last turns
        verbs.scores_at(decisions[-1].after, 0, scores)
        for seat, mine in enumerate(turns):
            if mine:
                mine[-1] = mine[-1]._replace(score=int(scores[seat]))
    return GameReport(decisions[0].seat if decisions else -1, turns, own)
