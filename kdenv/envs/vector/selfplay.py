"""`SelfPlay`: many games in which all seats learn. A step takes one action for whichever seat moves in each game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.core.fields import seeds_of
from kdenv.core.game import Game
from kdenv.envs.rewards import Reward
from kdenv.envs.setup import Setup, empty_table
from kdenv.envs.vector.batch import Batch
from kdenv.envs.vector.batch_env import BatchEnv


class BatchStep(NamedTuple):
    """The current decisions of the games and the results of the last step, with one row for each game.

    Where a game has ended, observation, action_mask and seat belong to the next game, and all other fields to the one that ended.
    """

    observation: NDArray[np.float32]  # of the seat that moves
    action_mask: NDArray[np.int8]
    seat: NDArray[np.int64]  # the seat that moves
    rewards: NDArray[np.float64]  # of all seats; 0 until a game ends, unless reward="gains"
    terminated: NDArray[np.bool_]  # whether the rules ended a game
    truncated: NDArray[np.bool_]  # whether a limit ended it
    last_seat: NDArray[np.int64]  # the seat that took the last action; 0 where no game ended


class SelfPlay(BatchEnv):
    """Games whose seats all learn, for your own training loop (PPO, DQN, AlphaZero ...).

    Args:
        game: The name of a game, or a Game.
        num_envs: The number of games.
        players, reward, encoding, skip_forced, options: As in TableEnv.
        illegal: As in TableEnv. With "raise" an illegal action changes no game.
        threads: The number of threads that share the games. It changes no result.

    Attributes:
        num_envs: The number of games.
        players: The number of seats in each game.
        n_actions: The number of actions of the game.
        n_observed: The length of an observation, and of a row of `afterstates` in the same encoding.

    reset and step return a BatchStep with a row for each game: observation, action_mask and seat of the current decisions, and rewards (of
    all seats), terminated, truncated and last_seat of the last step. Where a game has ended, the first three belong to the next game.

    Row i after reset(seed=s) holds the games that TableEnv plays after reset(seed=s + i) and, after that, reset() without a seed. Arrays
    are not written to again as long as somebody holds them. If an error or Ctrl-C ends a call, reset() must deal all games anew. A copy
    through pickle or cloudpickle plays the same games in another process.

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
        empty = empty_table(game, players, options, type(self))
        setup = Setup(
            empty=empty,
            num_envs=num_envs,
            reward=reward,
            illegal=illegal,
            encoding=encoding,
            skip_forced=skip_forced,
            threads=threads,
        )
        self._batch = Batch(setup)
        self.num_envs, self.players = self._batch.n, empty.players
        self.n_actions, self.n_observed = empty.n_actions, self._batch.observer.size

    def reset(self, seed: int | Sequence[int | None] | None = None) -> BatchStep:
        """Deal a new game in every row.

        Args:
            seed: The seed of the first game, of which each further game takes the next number; or a list of seeds.

        """
        return self._batch.completed(self._moment(self._batch.deal(seeds_of(seed, self.num_envs))))

    def step(self, actions: Any) -> BatchStep:
        """Carry out one action in each game, and the chance after it. Where a game ends, the next one is dealt at once."""
        return self._batch.completed(self._moment(self._batch.step(actions)))

    def close(self) -> None:
        self._batch.close()

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
