"""The lines of the pictures by round on the page of a match: the points of each policy, and the number of its open turns."""

from __future__ import annotations

from kdenv.arena.match import Match, Result
from kdenv.arena.statistics import DealSums
from kdenv.core.match_columns import Turn, report_of
from kdenv.drawing.chart import Dot, Line
from kdenv.games import find_game

MOST_GAMES = 200  # enough for a picture; replaying a record takes longer than playing a game of fast players

Sums = dict[int, DealSums]  # by round, from 0


class Rounds:
    """Takes the games of a match, up to MOST_GAMES, and keeps sums for every policy and round."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self._full = len(match.line_up)
        self._points: dict[str, Sums] = {str(text): {} for text in match.line_up}  # at the end of the policy's last turn in a round
        self._open: dict[str, Sums] = {str(text): {} for text in match.line_up}  # on average over its turns in a round

    def add(self, result: Result) -> None:
        """Read the record of a game. The first MOST_GAMES by number are read, in whatever order they end."""
        if result.number >= MOST_GAMES:
            return
        turns = report_of(str(result.record), find_game).turns
        seats = self.match.seats(self.match.find(result.number)[1])
        for text in self._points:
            mine = [_by_round(turns[seat]) for seat, place in enumerate(seats) if str(self.match.line_up[place]) == text]
            for number in sorted({number for rounds in mine for number in rounds}):
                here = [rounds[number] for rounds in mine if number in rounds]
                points = [each[-1].score for each in here]
                n_open = [turn.open for each in here for turn in each]
                for sums, values in ((self._points[text], points), (self._open[text], n_open)):
                    sums.setdefault(number, DealSums(self._full)).add(result.deal, [sum(values) / len(values)])

    def lines(self, what: str) -> list[Line]:
        """For every policy a line by round, of its `points` or of its `open` turns, up to the last round that half of all games reach."""
        drawn = []
        for text, rounds in (self._points if what == "points" else self._open).items():
            most = max((sums.games for sums in rounds.values()), default=0)
            dots = [Dot(number + 1, *sums.mean(0)) for number, sums in sorted(rounds.items()) if 2 * sums.games >= most]
            drawn.append(Line(text, dots))
        return drawn


def _by_round(turns: list[Turn]) -> dict[int, list[Turn]]:
    """The turns of a seat by their round."""
    rounds: dict[int, list[Turn]] = {}
    for turn in turns:
        rounds.setdefault(turn.round, []).append(turn)
    return rounds
