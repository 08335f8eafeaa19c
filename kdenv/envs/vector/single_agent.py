"""`SeatVectorEnv`: many games of SeatEnv at once, as a vector environment of Gymnasium. One kernel call steps all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.game import Game
from kdenv.envs.opponents import Opponent
from kdenv.envs.rewards import Reward
from kdenv.envs.setup import SeatSetup, empty_table
from kdenv.envs.spaces import ActionSpace, in_form, space_of
from kdenv.envs.validation import check_options
from kdenv.envs.vector.batch import Batch, seeds_of
from kdenv.envs.vector.batch_env import SeatBatchEnv


class SeatVectorEnv(SeatBatchEnv, VectorEnv[Any, Any, Any]):
    """Games in which one seat learns and the others are compiled players, all in one array, stepped by one call of a kernel.

    Args:
        game: The name of a game, or a Game.
        opponents: As in SeatEnv, but all policies must have a compiled form (random, the rule-based players ...).
        num_envs: The number of games.
        pool: As in SeatEnv, with the same condition.
        players, seat, observation, reward, illegal, encoding, skip_forced, options: As in SeatEnv. The reward cannot be a function.
        threads: The number of threads that share the games. It changes no result.

    gymnasium.make_vec("kdenv/Kingdomino-v0", num_envs=1024, vectorization_mode="vector_entry_point", opponents="full_greedy") makes one.
    Observations, rewards and infos are those of SeatEnv, with one row for each game. infos["action_mask"] and action_masks() are the masks
    of all games. Where a game ends, the next one is dealt in the same step (SAME_STEP). infos["final_obs"] then has the last observation of
    the game that ended, and infos["final_info"] its last info.

    Game i after reset(seed=s) is the game of SeatEnv after reset(seed=s + i), and so are those that follow it. Arrays that step
    returns are not written to again as long as somebody holds them. If an error or Ctrl-C ends a call, reset() must deal all games anew.
    A copy through pickle or cloudpickle plays the same games in another process.

    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game = "kingdomino",
        opponents: Opponent | Sequence[Opponent] | None = None,
        *,
        num_envs: int = 1,
        players: int | None = None,
        pool: Sequence[Opponent] | None = None,
        seat: int | str = 0,
        observation: str = "vector",
        reward: Reward = "win",
        illegal: str = "terminate",
        encoding: str | None = None,
        skip_forced: bool = False,
        threads: int = 1,
        **options: Any,
    ) -> None:
        setup = SeatSetup(
            empty=empty_table(game, players, options),
            opponents=opponents,
            num_envs=num_envs,
            pool=pool,
            seat=seat,
            observation=observation,
            reward=reward,
            illegal=illegal,
            encoding=encoding,
            skip_forced=skip_forced,
            threads=threads,
        )
        self._batch = Batch(setup)
        self._form = observation
        self.num_envs = self._batch.n
        self.reward, self.illegal = reward, illegal
        self._any_action = np.broadcast_to(np.int8(1), (self.num_envs, self._batch.n_actions))  # the masks of finished games, as in SeatEnv
        self.single_action_space = ActionSpace(self._batch.n_actions)
        self.single_observation_space = space_of(observation, self._batch.observer, self._batch.n_actions)

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of the observations of all games. It is large, and is made at its first use."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of the actions of all games."""
        return batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new game in every row.

        Args:
            seed: The seed of the first game, of which each further game takes the next number; or a list of seeds.
            options: The key "reset_mask" has an array of bools. Where it is false, the current game stays.

        """
        seeds = seeds_of(seed, self.num_envs)
        which = self._mask_of(options)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        observations = self._batch.deal(seeds, which)
        return self._batch.completed(self._result(observations, np.ones(self.num_envs, np.bool_) if which is None else which))

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Carry out an action in each game, and play on until its learner decides again, in this game or in the next."""
        observations, infos = self._result(self._batch.step(actions), np.ones(self.num_envs, np.bool_))
        games = self._batch.games
        ended = np.flatnonzero(games.ended)
        if len(ended):
            self._add_ends(ended, infos)
        terminated, truncated = games.ended & ~games.cut_off, games.ended & games.cut_off
        return self._batch.completed((observations, games.reward.copy(), terminated, truncated, infos))

    def close_extras(self, **kwargs: Any) -> None:
        self._batch.close()

    def _result(self, vectors: NDArray[np.float32], which: NDArray[np.bool_]) -> tuple[Any, dict[str, Any]]:
        """Return the observations and the infos of a call, which are valid in the rows in which `which` is true."""
        masks = self._batch.results.masks
        infos = {"action_mask": masks, "_action_mask": which, "seat": self._batch.games.learner.copy(), "_seat": which.copy()}
        return in_form(self._form, self._batch.observer, vectors, masks), infos

    def _add_ends(self, ended: NDArray[np.int64], infos: dict[str, Any]) -> None:
        """Add the last observations and infos of the games that ended in these rows."""
        games, finals = self._batch.games, self._batch.results.finals
        final = np.empty(self.num_envs, object)
        for row in ended.tolist():
            final[row] = in_form(self._form, self._batch.observer, finals[row], self._any_action[0])
        at_end = games.ended.copy()
        last = {
            "action_mask": self._any_action,  # valid in the rows in which a game ended
            "seat": games.last_seat * at_end,
            "scores": games.scores * at_end[:, None],
            "ranks": games.ranks * at_end[:, None],
        }
        infos["final_obs"], infos["_final_obs"] = final, at_end
        infos["final_info"] = last | {f"_{name}": at_end for name in last}
        infos["_final_info"] = at_end
        if self._batch.mistakes:
            sentences = np.full(self.num_envs, None, object)
            for row, error in self._batch.mistakes.items():
                sentences[row] = str(error)
            infos["final_info"] |= {"illegal": sentences, "_illegal": games.illegal.copy()}

    def _mask_of(self, options: dict[str, Any] | None) -> NDArray[np.bool_] | None:
        check_options(options, "reset_mask")
        for key in options or ():
            if key != "reset_mask":
                known = did_you_mean(str(key), ("reset_mask",))
                raise BadOption(f"reset of many games has no option {shown(key)}{known}; its option is reset_mask")
        which = (options or {}).get("reset_mask")
        if which is None:
            return None
        if not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.any():
            raise BadOption(f"reset_mask={shown(which)} is not possible; give an array of {self.num_envs} bools, of which one is true")
        return which.copy()
