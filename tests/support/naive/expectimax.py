"""What is a turn worth? Answered by going through everything that can happen, in plain Python.

Every seat does what is best for itself (max-n), or everything at random; chance is weighted. A position is an array of
one state; nothing is shared with the searches but the verbs: turns are listed here anew, and worths are written down from
their meaning. What is hidden is taken as it is.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kdenv.core import verbs
from kdenv.core.verbs import CHANCE, DECIDE, OVER

Values = tuple[float, ...]  # by seat
Worth = Callable[[Any, int, int], Values]  # (position, players, teams)


class Naive:
    """Expectimax and random play for one game at a number of players."""

    def __init__(self, table: Any, worth: Worth) -> None:
        self.game, self.players, self.worth = table.game, table.players, worth
        self.teams = table.game.teams(table.players)
        self.known: dict[bytes, Values] = {}  # positions come by many ways
        self.buffer, self.weights = np.zeros((2, max(table.game.max_legal, table.game.max_chances)), np.int64)

    def best_play(self, position: Any) -> Values:
        """The worth to every seat if every seat does what is best for itself; among equals, the first turn."""
        key = position.tobytes()
        if key not in self.known:
            self.known[key] = self._best_play(position)
        return self.known[key]

    def _best_play(self, position: Any) -> Values:
        phase = verbs.phase_at(position, 0)
        if phase == OVER:
            return self.worth(position, self.players, self.teams)
        if phase == CHANCE:
            return _expected((p, self.best_play(after)) for p, after in self.outcomes(position))
        seat = int(verbs.seat_at(position, 0))
        return max((self.best_play(after) for _, after in self.turns(position)), key=lambda values: values[seat])

    def random_play(self, position: Any) -> Values:
        """The worth to every seat if all decisions are made at random."""
        key = b"random" + position.tobytes()
        if key not in self.known:
            self.known[key] = self._random_play(position)
        return self.known[key]

    def _random_play(self, position: Any) -> Values:
        phase = verbs.phase_at(position, 0)
        if phase == OVER:
            return self.worth(position, self.players, self.teams)
        if phase == CHANCE:
            return _expected((p, self.random_play(after)) for p, after in self.outcomes(position))
        legal = self.legal(position)
        return _expected((1 / len(legal), self.random_play(played(position, action))) for action in legal)

    def turns(self, position: Any, most: int | None = None) -> Iterator[tuple[tuple[int, ...], Any]]:
        """Every turn open to the seat to move, as a tuple of actions, and the position after it."""
        most = self.game.most_decisions if most is None else most
        seat = verbs.seat_at(position, 0)
        for action in self.legal(position):
            after = played(position, action)
            if most > 1 and verbs.phase_at(after, 0) == DECIDE and verbs.seat_at(after, 0) == seat:
                for rest, end in self.turns(after, most - 1):
                    yield (action, *rest), end
            else:
                yield (action,), after

    def legal(self, position: Any) -> list[int]:
        """The legal actions."""
        return self.buffer[: verbs.legal_at(position, 0, self.buffer)].tolist()

    def outcomes(self, position: Any) -> list[tuple[float, Any]]:
        """Everything chance may bring, with its probability, and the position after it."""
        n = verbs.chances_at(position, 0, self.buffer, self.weights)
        total, rows = self.weights[:n].sum(), []
        for outcome, weight in zip(self.buffer[:n].tolist(), self.weights[:n].tolist(), strict=True):
            after = position.copy()
            verbs.apply_chance_at(after, 0, outcome)
            rows.append((weight / total, after))
        return rows


def played(position: Any, action: int) -> Any:
    """The position after this action."""
    after = position.copy()
    verbs.apply_at(after, 0, action)
    return after


def _expected(weighted: Any) -> Values:
    rows = [[p * value for value in values] for p, values in weighted]
    return tuple(map(sum, zip(*rows, strict=True)))


def margin(position: Any, players: int, teams: int) -> Values:
    """Own points less the best rival's; seats of one team are no rivals."""
    points = np.zeros(players, np.int64)
    verbs.scores_at(position, 0, points)
    return tuple(float(points[seat] - max(points[i] for i in range(players) if (i - seat) % teams)) for seat in range(players))
