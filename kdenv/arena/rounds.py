"""What happened round by round: how many points each policy had, and how many turns were open to it, read from the records of games."""

from __future__ import annotations

import numpy as np

from kdenv.arena.match import Match, Result
from kdenv.arena.statistics import DealSums
from kdenv.core.record import replay
from kdenv.core.table import Table
from kdenv.core.turns import SCRATCH, list_turns
from kdenv.drawing.chart import Dot, Line
from kdenv.games import find_game

MOST_GAMES = 200  # a record takes about as long to replay as a game of cheap players; so many games are enough for a picture


class Rounds:
    """Replays the games of a match, up to MOST_GAMES, and keeps sums for every policy and each of its turns."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self._full = len(match.line_up)
        self._points: dict[str, list[DealSums]] = {str(text): [] for text in match.line_up}  # after so many turns
        self._open: dict[str, list[DealSums]] = {str(text): [] for text in match.line_up}

    def add(self, result: Result) -> None:
        """Replay a game. Which games are replayed depends on their numbers only, and not on the order in which they end."""
        if result.number >= MOST_GAMES:
            return
        seats = self.match.seats(result.number % self._full)
        counted: list[tuple[list[float], list[float]]] = [([], []) for _ in seats]  # by seat: points before each turn, turns open
        last, events = None, 0
        table = None
        for table in replay(result.record, find_game):
            is_same = table.seat == last and len(table.log) == events + 1  # its turn goes on
            last, events = table.seat, len(table.log)
            if table.seat is not None and not is_same:
                counted[table.seat][0].append(table.scores()[table.seat])
                counted[table.seat][1].append(_open_turns(table))
        assert table is not None
        for seat, (points, _) in enumerate(counted):
            points.append(table.scores()[seat])
        for text in dict.fromkeys(map(str, self.match.line_up)):
            mine = [seat for seat, place in enumerate(seats) if str(self.match.line_up[place]) == text]
            for column, of in enumerate((self._points, self._open)):
                self._add(of[text], result.deal, [counted[seat][column] for seat in mine])

    def _add(self, sums: list[DealSums], deal: int, rows: list[list[float]]) -> None:
        """Add, for each turn, the mean over the seats of a policy that came to have it."""
        for turn in range(max(map(len, rows))):
            values = [row[turn] for row in rows if turn < len(row)]
            if turn == len(sums):
                sums.append(DealSums(self._full))
            sums[turn].add(deal, [sum(values) / len(values)])

    def lines(self, what: str) -> list[Line]:
        """For every policy a line of its `points` after so many turns, or of the turns `open` to it, as far as half of all games go."""
        drawn = []
        for text, sums in (self._points if what == "points" else self._open).items():
            first = 0 if what == "points" else 1
            dots = [Dot(turn, *each.mean(0)) for turn, each in enumerate(sums, first) if 2 * each.games >= sums[0].games]
            drawn.append(Line(text, dots))
        return drawn


def _open_turns(table: Table) -> int:
    """How many turns are open to the seat that decides."""
    states = np.zeros(1 + SCRATCH, table.game.state_dtype)
    states[0] = table.states[0]
    turns = np.empty(table.game.max_turns, np.int64)
    return int(list_turns(states, 0, table.game.most_decisions, table.game.max_legal, turns))
