"""The queue of games of a match, for the processes that play them. Games of a process that was lost come back into it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice

from kdenv.arena.match import GameFailed, Match

_TRIES = 3  # the match fails when this many processes have ended while they played the same game


class JobQueue:
    """Gives out the numbers of games in their order. A game whose process ended is given out again alone, to find the one that kills."""

    def __init__(self, match: Match, numbers: Iterator[int], n_games: int) -> None:
        """Take the numbers of the games to be played, and their count."""
        self._match, self._numbers = match, numbers
        self.left = n_games  # that were never given out
        self._again: deque[int] = deque()
        # The number of processes that ended while they played this game. None: while they played no game, since the last finished game.
        self._tries: Counter[int | None] = Counter()

    @property
    def is_empty(self) -> bool:
        """True if no game waits to be given out."""
        return not self.left and not self._again

    def take(self, most: int) -> list[int]:
        """The games to be played next, at most this many; empty if all were given out."""
        if self._again:
            return [self._again.popleft()]
        games = list(islice(self._numbers, most))
        self.left -= len(games)
        return games

    def finish(self, games: list[int]) -> None:
        """Forget these games, whose results have arrived."""
        for game in (*games, None):
            del self._tries[game]

    def give_back(self, games: list[int], how_it_ended: str) -> None:
        """Take back the games of a process that ended; the list is empty if it played none. Raise GameFailed after too many tries."""
        played: list[int | None] = [*games] if games else [None]
        for game in played:
            self._tries[game] += 1
            if self._tries[game] >= _TRIES:
                what = "before any game" if game is None else f"in {self._match.name_of_game(game)}"
                raise GameFailed(f"{_TRIES} processes ended {what}, the last one {how_it_ended}")
        self._again.extend(games)
