"""Methods that several environments of many games have."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kdenv.core.afterstates import Afterstates, Rows
from kdenv.core.encoding import Layout
from kdenv.core.table import Table
from kdenv.core.view import SeenPositions
from kdenv.envs.opponents import Lineup, Opponent, Pool
from kdenv.envs.step_kernel import NOBODY
from kdenv.envs.vector.batch import Batch


class BatchEnv:
    """The methods of SelfPlay, SeatVectorEnv and SeatVecEnv."""

    _batch: Batch

    def layout(self) -> Layout:
        """The parts of an observation vector by name, in their order, each with its shape and meaning."""
        return self._batch.observer.layout

    def afterstates(self, encoding: str | None = None, *, whole: bool = True, out: Rows | None = None) -> Afterstates:
        """List the turns of the seat to move in every game, and the observations of this seat after each of them, before any chance.

        Args:
            encoding: The name of the encoding; None is the one of the environment.
            whole: Whether to list whole turns and not single actions.
            out: Memory for the observations, an array of float32 with at least as many rows as there are turns.

        """
        return self._batch.afterstates(encoding, whole=whole, out=out)

    def observations(self, encoding: str | None = None) -> Rows:
        """Return the observations of the seat to move in every game, by any encoding, such as that of a critic (games x size).

        Args:
            encoding: The name of the encoding; None is the one of the environment.

        """
        return self._batch.observations(encoding)

    @property
    def trained_for(self) -> dict[str, Any]:
        """The game, encoding, players and options of these games, for save_network."""
        empty, observer = self._batch.empty, self._batch.observer
        return {"made_for": observer.made_for, "players": empty.players, "options": empty.game.options_of(empty.variant)}

    def positions(self) -> NDArray[Any]:
        """Return a read-only copy of the states of all games, each as the seat to move sees it."""
        return self._batch.positions()

    def seen(self) -> SeenPositions:
        """Return the game, and the positions of all games with their seats to move, each as this seat sees it, for search_many."""
        empty, games = self._batch.empty, self._batch.games
        seats = np.where(games.over, NOBODY, games.seat)
        return SeenPositions(empty.game, empty.players, empty.variant, self._batch.positions(), seats, self._batch.observer.encoding.name)

    def table(self, i: int) -> Table:
        """Return a copy of game i as a table, to look at: legal actions in words, scores, drawings. The table has no history."""
        return self._batch.table(i)

    def clone(self) -> Self:
        """Return an independent copy, with the same positions, generators and opponents."""
        return copy.deepcopy(self)


class SeatBatchEnv(BatchEnv):
    """The methods of SeatVectorEnv and SeatVecEnv, in which one seat of each game learns."""

    def set_opponents(self, opponents: Opponent | Sequence[Opponent] | None = None, pool: Pool | None = None) -> None:
        """Change the policies of the other seats, also in games that are under way. The parameters are those of the environment.

        If none of the policies before was asked for each game, the views of games under way have no earlier events.
        """
        self._batch.set_opponents(Lineup(self._batch.empty, opponents, pool))

    def opponents(self) -> NDArray[np.int64]:
        """Return the place of each seat's policy in `opponents` or `pool`, and -1 for the learner's seat (games x players)."""
        return self._batch.opponents()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of each game, as an array of games x actions."""
        return self._batch.games.mask.astype(np.bool_)
