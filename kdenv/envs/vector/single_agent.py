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
from kdenv.core.fields import seeds_of
from kdenv.core.game import Game
from kdenv.envs.opponents import Opponent, Pool
from kdenv.envs.rewards import Reward
from kdenv.envs.setup import SeatSetup, autoreset_mode_of, empty_table
from kdenv.envs.spaces import CRITIC, ActionSpace, in_form, space_of
from kdenv.envs.validation import check_options
from kdenv.envs.vector.batch import Batch
from kdenv.envs.vector.batch_env import SeatBatchEnv


class SeatVectorEnv(SeatBatchEnv, VectorEnv[Any, Any, Any]):
    """Games in which one seat learns and policies play the other seats, all in one array. One call of a kernel steps all of them.

    Args:
        game: The name of a game, or a Game.
        opponents: As in SeatEnv. A step asks a policy with act_batch (BatchPolicy) by one call for all games in which it is to decide.
            Other policies without a compiled form are asked in one game after the other.
        num_envs: The number of games.
        pool: As in SeatEnv.
        players, seat, observation, reward, illegal, encoding, critic_encoding, skip_forced, options: As in SeatEnv.
        threads: The number of threads that share the games. It changes no result.
        autoreset_mode: When the next game is dealt where one has ended: a gymnasium.vector.AutoresetMode, or its value in text.
            With SAME_STEP this happens in the same step. infos["final_obs"] then has the last observation of the game that ended, and
            infos["final_info"] its last info. With NEXT_STEP the next step ignores the action of this game, and deals.
            With DISABLED, reset(options={"reset_mask": mask}) deals. Gymnasium's wrappers that change observations need NEXT_STEP,
            or DISABLED.

    gymnasium.make_vec("kdenv/Kingdomino-v0", num_envs=1024, vectorization_mode="vector_entry_point", opponents="full_greedy") makes one.
    Observations, rewards and infos are those of SeatEnv, with one row for each game. infos["action_mask"] and action_masks() are the masks
    of all games. The parameter autoreset_mode is also an attribute and in the metadata, where wrappers look for it. A game that is over has
    no turns (afterstates).

    Game i after reset(seed=s) is the game of SeatEnv after reset(seed=s + i), and so are those that follow it. Arrays that step
    returns are not written to again as long as somebody holds them. If an error or Ctrl-C ends a call, reset() must deal all games anew.
    A copy through pickle or cloudpickle plays the same games in another process.

    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game = "kingdomino",
        opponents: Opponent | Sequence[Opponent] | None = None,
        *,
        num_envs: int = 1,
        players: int | None = None,
        pool: Pool | None = None,
        seat: int | str = 0,
        observation: str = "vector",
        reward: Reward = "win",
        illegal: str = "terminate",
        encoding: str | None = None,
        critic_encoding: str | None = None,
        skip_forced: bool = False,
        threads: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        **options: Any,
    ) -> None:
        setup = SeatSetup(
            empty=empty_table(game, players, options, type(self)),
            opponents=opponents,
            num_envs=num_envs,
            pool=pool,
            seat=seat,
            observation=observation,
            reward=reward,
            illegal=illegal,
            encoding=encoding,
            critic_encoding=critic_encoding,
            skip_forced=skip_forced,
            threads=threads,
            autoreset_mode=autoreset_mode_of(autoreset_mode),
        )
        self._batch = Batch(setup)
        self.autoreset_mode = self._batch.autoreset_mode
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._form = observation
        self.num_envs = self._batch.n
        self.reward, self.illegal = reward, illegal
        self._any_action = np.broadcast_to(np.int8(1), (self.num_envs, self._batch.n_actions))  # the masks of finished games, as in SeatEnv
        self.single_action_space = ActionSpace(self._batch.n_actions)
        critic = setup.critic_observer()
        self._critic = None if critic is None else critic.encoding.name
        self.single_observation_space = space_of(observation, self._batch.observer, self._batch.n_actions, critic)

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
        """Carry out an action in each game, and play on until its learner decides again.

        Where a game ends, the learner decides in the next one. With another autoreset_mode than SAME_STEP, the game stays over.
        """
        observations, infos = self._result(self._batch.step(actions), np.ones(self.num_envs, np.bool_))
        games = self._batch.games
        ended = np.flatnonzero(games.ended)
        if len(ended):
            infos.update(self._ends() if self.autoreset_mode != AutoresetMode.SAME_STEP else self._final(ended))
        terminated, truncated = games.ended & ~games.cut_off, games.ended & games.cut_off
        return self._batch.completed((observations, games.reward.copy(), terminated, truncated, infos))

    def close_extras(self, **kwargs: Any) -> None:
        self._batch.close()

    def _result(self, vectors: NDArray[np.float32], which: NDArray[np.bool_]) -> tuple[Any, dict[str, Any]]:
        """Return the observations and the infos of a call, which are valid in the rows in which `which` is true."""
        masks = self._batch.results.masks
        infos: dict[str, Any] = {
            "action_mask": masks,
            "_action_mask": which,
            "seat": self._batch.games.learner.copy(),
            "_seat": which.copy(),
        }
        critic = None
        if self._critic is not None:
            critic = infos[CRITIC] = self._batch.observed_now(self._critic)
            infos[f"_{CRITIC}"] = which.copy()
        return in_form(self._form, self._batch.observer, vectors, masks, critic), infos

    def _final(self, ended: NDArray[np.int64]) -> dict[str, Any]:
        """Return the last observations and infos of the games that ended in these rows, where the next ones have been dealt."""
        games, finals = self._batch.games, self._batch.results.finals
        observations = np.empty(self.num_envs, object)
        critics = None if self._critic is None else self._batch.last_observations(ended, self._critic)
        for place, row in enumerate(ended.tolist()):
            critic = None if critics is None else critics[place]
            observations[row] = in_form(self._form, self._batch.observer, finals[row], self._any_action[0], critic)
        at_end = games.ended.copy()
        last: dict[str, Any] = {
            "action_mask": self._any_action,  # valid in the rows in which a game ended
            "_action_mask": at_end,
            "seat": games.last_seat * at_end,
            "_seat": at_end,
        }
        if critics is not None:
            last[CRITIC], last[f"_{CRITIC}"] = np.zeros((self.num_envs, critics.shape[1]), np.float32), at_end
            last[CRITIC][ended] = critics
        return {"final_obs": observations, "_final_obs": at_end, "final_info": last | self._ends(), "_final_info": at_end}

    def _ends(self) -> dict[str, Any]:
        """Return the results of the games that have ended, as parts of infos."""
        games, at_end = self._batch.games, self._batch.games.ended.copy()
        infos = {
            "scores": games.scores * at_end[:, None],
            "_scores": at_end,
            "ranks": games.ranks * at_end[:, None],
            "_ranks": at_end,
        }
        if self._batch.mistakes:
            sentences = np.full(self.num_envs, None, object)
            for row, error in self._batch.mistakes.items():
                sentences[row] = str(error)
            infos |= {"illegal": sentences, "_illegal": games.illegal.copy()}
        return infos

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
