"""`SeatVecEnv`: many games of SeatEnv at once, as a vector environment of Stable-Baselines3. MaskablePPO takes it as it is.

Stable-Baselines3 is imported with this module, which nothing in the package imports.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.core.errors import BadOption, NotSupported, missing_extra, shown
from kdenv.core.fields import seeds_of
from kdenv.core.game import Game
from kdenv.envs.opponents import Opponent, Pool
from kdenv.envs.rewards import Reward
from kdenv.envs.setup import SeatSetup, empty_table
from kdenv.envs.spaces import ActionSpace, ObservationBox
from kdenv.envs.vector.batch import Batch
from kdenv.envs.vector.batch_env import SeatBatchEnv

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise missing_extra("kdenv.envs.sb3", "rl") from None

_PER_GAME = ("action_masks", "learner", "table")  # the methods of a single game, for env_method and get_attr


class SeatVecEnv(SeatBatchEnv, VecEnv):
    """Games in which one seat learns and policies play the other seats. One call of a kernel steps all of them.

    Args:
        game: The name of a game, or a Game.
        num_envs: The number of games.
        opponents, players, pool, seat, reward, illegal, encoding, skip_forced, threads, options: As in SeatVectorEnv.

    >>> from sb3_contrib import MaskablePPO
    >>> from kdenv.envs import SeatVecEnv
    >>> model = MaskablePPO("MlpPolicy", SeatVecEnv("kingdomino", "full_greedy", num_envs=64, size=3), n_steps=16, batch_size=256)
    >>> model = model.learn(1024)

    The info of a game that has ended has "terminal_observation", "TimeLimit.truncated", "scores", "ranks", "seat" and, as VecMonitor writes
    them, statistics of the "episode". The info of a game that goes on is empty: masks are given by action_masks() alone. Game i
    after seed(s) is the game of SeatEnv after reset(seed=s + i). Arrays are not written to again as long as somebody holds them.

    """

    def __init__(
        self,
        game: str | Game = "kingdomino",
        opponents: Opponent | Sequence[Opponent] | None = None,
        *,
        num_envs: int = 1,
        players: int | None = None,
        pool: Pool | None = None,
        seat: int | str = 0,
        reward: Reward = "win",
        illegal: str = "terminate",
        encoding: str | None = None,
        skip_forced: bool = False,
        threads: int = 1,
        **options: Any,
    ) -> None:
        setup = SeatSetup(
            empty=empty_table(game, players, options, type(self)),
            opponents=opponents,
            num_envs=num_envs,
            pool=pool,
            seat=seat,
            reward=reward,
            illegal=illegal,
            encoding=encoding,
            skip_forced=skip_forced,
            threads=threads,
        )
        self._batch = Batch(setup)
        self._attributes: dict[str, list[Any]] = {"render_mode": [None] * num_envs}
        self._actions: Any = None
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._began = time.time()
        super().__init__(num_envs, ObservationBox(self._batch.observer), ActionSpace(self._batch.n_actions))

    def reset(self) -> NDArray[np.float32]:
        """Deal a new game in every row, with the seeds of the last call of seed()."""
        if any(self._options):
            raise NotSupported("many games at once take no options of reset; use SeatEnv")
        observations = self._batch.deal(seeds_of(self._seeds, self.num_envs))
        self._reset_seeds()
        self._returns[:], self._lengths[:] = 0, 0
        return self._batch.completed(observations)

    def step_async(self, actions: Any) -> None:
        """Take an action for each game."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Carry out the actions, and play on until the learner of each game decides again, in this game or in the next."""
        observations = self._batch.step(self._actions)
        rewards = self._batch.games.reward.copy()
        self._returns += rewards
        self._lengths += 1
        ended = self._batch.games.ended.copy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        rows = np.flatnonzero(ended)
        if len(rows):
            self._add_ends(rows, infos)
        return self._batch.completed((observations, rewards.astype(np.float32), ended, infos))

    def _add_ends(self, rows: NDArray[np.int64], infos: list[dict[str, Any]]) -> None:
        games, finals = self._batch.games, self._batch.results.finals
        seconds = round(time.time() - self._began, 6)
        for row, scores, ranks in zip(rows.tolist(), games.scores[rows], games.ranks[rows], strict=True):
            infos[row] = {
                "terminal_observation": finals[row],
                "TimeLimit.truncated": bool(games.cut_off[row]),
                "seat": int(games.last_seat[row]),
                "scores": scores,
                "ranks": ranks,
                "episode": {"r": float(self._returns[row]), "l": int(self._lengths[row]), "t": seconds},
            }
            if row in self._batch.mistakes:
                infos[row]["illegal"] = str(self._batch.mistakes[row])
        self._returns[rows], self._lengths[rows] = 0, 0

    def learner(self, i: int) -> int:
        """Return the seat that learns in game i."""
        return int(self._batch.games.learner[i])

    # Stable-Baselines3 calls these for single environments

    def close(self) -> None:
        self._batch.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return a value for each of these games: the one of set_attr, or else the attribute of this environment."""
        rows = self._rows(indices)
        if attr_name in self._attributes:
            return [self._attributes[attr_name][row] for row in rows]
        if attr_name in _PER_GAME:
            return [lambda row=row: self.env_method(attr_name, indices=row)[0] for row in rows]
        return [getattr(self, attr_name)] * len(rows)

    def has_attr(self, attr_name: str) -> bool:
        """Return whether get_attr knows this name."""
        return attr_name in self._attributes or hasattr(self, attr_name)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set a value that get_attr returns. It does not change the games."""
        if attr_name not in self._attributes and hasattr(self, attr_name):
            raise NotSupported(f"{attr_name} belongs to all games of the batch; set it when the environment is made")
        values = self._attributes.setdefault(attr_name, [None] * self.num_envs)
        for row in self._rows(indices):
            values[row] = value

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method for each of these games, and return the results. The masks of all games are rows of one array."""
        rows = self._rows(indices)
        if method_name not in _PER_GAME:
            raise NotSupported(f"a game of a batch has no method {shown(method_name)}; env_method knows {', '.join(_PER_GAME)}")
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[row] for row in rows]
        return [getattr(self, method_name)(row, *method_args, **method_kwargs) for row in rows]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return whether the infos are those of this wrapper. That is so for a Monitor: they have its statistics of episodes."""
        return [issubclass(Monitor, wrapper_class)] * len(self._rows(indices))

    def _rows(self, indices: Any) -> list[int]:
        rows: Iterable[int] = self._get_indices(indices)
        listed = [int(row) for row in rows]
        if wrong := [row for row in listed if not -self.num_envs <= row < self.num_envs]:
            raise BadOption(f"there is no game {wrong[0]}; the games are 0 to {self.num_envs - 1}")
        return listed
