"""`Asking`: asks the opponents of a batch that have no compiled form, each by one call for all games that wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.core.errors import IllegalAction
from kdenv.core.events import Log
from kdenv.core.table import Table
from kdenv.envs.decisions import BatchPolicy, Decisions, Seeing, asked_for_actions
from kdenv.envs.opponents import Player, seeds_of_players
from kdenv.envs.seeds import OPPONENTS, seed_of
from kdenv.envs.vector.kernels import GameArrays
from kdenv.policies import Policy
from kdenv.policies.base import Memory


class Asking:
    """The opponents of a batch that have no compiled form. A policy of views has a separate memory in every game.

    Args:
        players: All opponents by place.
        asked: Whether an opponent has no compiled form, by place.
        empty: A table of the game, before the first event.
        seeing: What computes observations for policies that are asked by act_batch.

    """

    def __init__(self, players: Sequence[Player], asked: Sequence[bool], empty: Table, seeing: Seeing) -> None:
        self._all = players
        self.players = {place: player for place, player in enumerate(players) if asked[place]}
        self.needs_views = any(not isinstance(player, BatchPolicy) for player in self.players.values())
        self._empty, self._seeing = empty, seeing
        self._memories: dict[tuple[int, int], tuple[int, Memory]] = {}  # by row and player: the number of a game, and the memory in it

    def forget(self, which: NDArray[np.bool_]) -> None:
        """Forget the games in the rows in which `which` is true, because other games follow there, perhaps with the same numbers."""
        self._memories = {key: memory for key, memory in self._memories.items() if not which[key[0]]}

    def answer(self, games: GameArrays, actions: NDArray[np.int64]) -> None:
        """Write the action of the policy for which a game waits to `actions`, in each row that waits."""
        distinct = {id(player): player for player in self.players.values()}
        for number, player in enumerate(distinct.values()):
            places = [place for place, other in self.players.items() if other is player]
            rows = np.flatnonzero(np.isin(games.waits_for, places))
            if isinstance(player, BatchPolicy):
                if len(rows):
                    self._ask_for_all(player, games, rows, actions)
            else:
                for row in rows.tolist():
                    actions[row] = self._ask(player, number, games, row)

    def _ask_for_all(self, player: BatchPolicy, games: GameArrays, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        dice = [games.dice[row : row + 1] for row in rows.tolist()]
        chosen, wrong = asked_for_actions(player, Decisions(self._seeing, games.states[rows], games.waiting_seat[rows], dice))
        if wrong >= 0:
            raise self._mistake(player, games, int(rows[wrong]), int(chosen[wrong]))
        actions[rows] = chosen

    def _ask(self, player: Any, number: int, games: GameArrays, row: int) -> int:
        table = self._table(games, row)
        if isinstance(player, Policy):
            player.recall(self._memory(player, number, games, row))
        action = player(table.view(int(games.waiting_seat[row])))
        if isinstance(player, Policy):
            self._memories[row, number] = int(games.numbers[row]), player.memory
        try:
            return table.checked_action(action)
        except IllegalAction:
            raise self._mistake(player, games, row, action) from None

    def _memory(self, player: Policy, number: int, games: GameArrays, row: int) -> Memory:
        """Return the memory of a player in the current game of a row, which is a new one at its first decision there."""
        game, memory = self._memories.get((row, number), (-1, None))
        if memory is not None and game == games.numbers[row]:
            return memory
        seats = (int(games.learner[row]) + 1 + np.arange(self._empty.players - 1)) % self._empty.players
        there = [self._all[place] for place in games.places[row, seats].tolist()]
        rng = np.array([seed_of(games.keys, row, games.numbers[row], OPPONENTS)], np.uint64)
        seed = next(seed for other, seed in seeds_of_players(there, rng) if other is player)
        player.reset(seed)
        return player.memory

    def _table(self, games: GameArrays, row: int) -> Table:
        """Return the game in a row as a table. Its log has the events that were logged, if any."""
        table = self._empty.clone()
        table.states[0] = games.states[row]
        if self.needs_views:
            table.log = Log()
            table.log.rows, table.log.n = games.logs[row].copy(), int(games.n_logged[row])
        return table

    def _mistake(self, player: Player, games: GameArrays, row: int, action: Any) -> IllegalAction:
        error = self._table(games, row).illegal(action, int(games.learner[row]))
        seat = int(games.waiting_seat[row])
        return IllegalAction(f"in game {row} of the batch: the opponent {player} at seat {seat} makes a mistake: {error}")
