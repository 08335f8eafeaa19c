"""`SelfPlay`: many games in which all seats learn. A step takes one action for whichever seat moves in each game."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.core.encoding import Layout
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.envs.rewards import Reward
from kdenv.envs.validation import ILLEGAL, check_choice, empty_table
from kdenv.envs.vector.batch import Batch, seeds_of


class BatchStep(NamedTuple):
    """Where the games stand, with one row for each game, and what ended in the last step.

    Where a game has ended, observation, action_mask and seat are those of the next game, and the rest tells of the one that ended.
    """

    observation: NDArray[np.float32]  # what the seat that moves observes
    action_mask: NDArray[np.int8]
    seat: NDArray[np.int64]  # the seat that moves
    rewards: NDArray[np.float64]  # of all seats; 0 until a game ends, unless reward="gains"
    terminated: NDArray[np.bool_]  # whether the rules ended a game
    truncated: NDArray[np.bool_]  # whether a limit ended it
    last_seat: NDArray[np.int64]  # the seat that took the last action; 0 where no game ended


class SelfPlay:
    """Games whose seats all learn, for a training loop of your own (PPO, DQN, AlphaZero ...).

    reset and step return a BatchStep. Row i after reset(seed=s) holds the games that TableEnv plays after reset(seed=s + i) and, after
    that, reset() without a seed. Arrays are not written to again as long as somebody holds them. If an error or Ctrl-C ends a call, reset()
    must deal all games anew. A copy that goes through pickle or cloudpickle to another process goes on with the same numbers there.

    >>> from kdenv.envs import SelfPlay
    >>> batch = SelfPlay("dominoes", num_envs=64, mode="round")
    >>> now = batch.reset(seed=1)
    >>> now = batch.step(now.action_mask.argmax(axis=1))       # an action for each game
    >>> now.observation.shape, now.rewards.shape
    ((64, 195), (64, 4))
    """

    def __init__(
        self,
        game: str | Game = "kingdomino",
        num_envs: int = 1024,
        *,
        players: int | None = None,
        reward: Reward = "win",
        illegal: str = "raise",
        encoding: str | None = None,
        skip_forced: bool = False,
        threads: int = 1,
        **options: Any,
    ) -> None:
        """Take the number of games, and the parameters of TableEnv. threads: how many threads share the games."""
        check_choice("illegal", illegal, ILLEGAL)
        empty = empty_table(game, players, options)
        self._batch = Batch(empty, num_envs, seat="all", reward=reward, encoding=encoding, skip_forced=skip_forced, threads=threads)
        self._raises = illegal == "raise"
        self.num_envs, self.players = self._batch.n, empty.players
        self.n_actions, self.n_observed = empty.n_actions, self._batch.observer.size

    def layout(self) -> Layout:
        """The parts of an observation vector by name, in their order, each with its shape and meaning."""
        return self._batch.observer.layout

    def reset(self, seed: int | Sequence[int | None] | None = None) -> BatchStep:
        """Deal a new game in every row. seed: the seed of the first game, the next one takes the next seed; or a list of seeds."""
        return self._batch.completed(self._moment(self._batch.deal(seeds_of(seed, self.num_envs))))

    def step(self, actions: Any) -> BatchStep:
        """Carry out one action in each game, and the chance after it. A game that ends is followed by the next one at once."""
        return self._batch.completed(self._moment(self._batch.step(actions, raises=self._raises)))

    def table(self, i: int) -> Table:
        """Game i as a table, to look at: legal actions in words, scores, drawings. It is a copy, and knows no history."""
        return self._batch.table(i)

    def close(self) -> None:
        self._batch.close()

    def clone(self) -> SelfPlay:
        """An independent copy, with the same positions and generators."""
        return copy.deepcopy(self)

    def _moment(self, observation: NDArray[np.float32]) -> BatchStep:
        games = self._batch.games
        return BatchStep(
            observation,
            self._batch.results.masks,
            games.seat.copy(),
            games.rewards.copy(),
            games.ended & ~games.cut_off,
            games.ended & games.cut_off,
            np.where(games.ended, games.last_seat, 0),
        )
