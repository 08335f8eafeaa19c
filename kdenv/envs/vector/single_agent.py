"""`SeatVectorEnv`: many games of SeatEnv at once, as a vector environment of Gymnasium. One kernel call steps all of them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from kdenv.core.encoding import Layout
from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.envs.opponents import Lineup, Opponent
from kdenv.envs.rewards import Reward
from kdenv.envs.single_agent import check_seat
from kdenv.envs.spaces import ActionSpace, in_form, space_of
from kdenv.envs.validation import ILLEGAL, OBSERVATIONS, check_choice, check_options, empty_table
from kdenv.envs.vector.batch import Batch, seeds_of


class SeatBatch:
    """The batch of games that parameters like those of SeatEnv ask for, with its spaces. Opponents must have a compiled form."""

    def __init__(
        self,
        game: str | Game,
        opponents: Opponent | Sequence[Opponent] | None,
        num_envs: int,
        *,
        players: int | None,
        pool: Sequence[Opponent] | None,
        seat: int | str,
        reward: Reward,
        illegal: str,
        encoding: str | None,
        skip_forced: bool,
        threads: int,
        options: dict[str, Any],
    ) -> None:
        check_choice("illegal", illegal, ILLEGAL)
        empty = empty_table(game, players, options)
        check_seat(seat, empty.players)
        self.batch = Batch(empty, num_envs, seat=seat, reward=reward, encoding=encoding, skip_forced=skip_forced, threads=threads)
        self.raises = illegal == "raise"
        self.action_space = ActionSpace(empty.n_actions)
        self.set_opponents("random" if opponents is None and pool is None else opponents, pool)

    def set_opponents(self, opponents: Opponent | Sequence[Opponent] | None, pool: Sequence[Opponent] | None) -> None:
        """Change the opponents, also of games that are under way."""
        table = self.batch.empty
        players, drawn = Lineup(table.game, table.variant, table.players - 1, opponents, pool).listed
        self.batch.set_opponents(players, drawn=drawn)

    def step(self, actions: Any) -> NDArray[np.float32]:
        """Carry out an action in each game, and return the observations."""
        return self.batch.step(actions, raises=self.raises)

    def rewards(self) -> NDArray[np.float64]:
        """The rewards of the learners for the last step."""
        return self.batch.games.reward.copy()


class SeatVectorEnv(VectorEnv[Any, Any, Any]):
    """Games in which one seat learns and the others are compiled players, all in one array, stepped by one call of a kernel.

    gymnasium.make_vec("kdenv/Kingdomino-v0", num_envs=1024, vectorization_mode="vector_entry_point", opponents="full_greedy") makes one.
    Observations, rewards and infos are those of SeatEnv, with one row for each game. A game that has ended is followed by the next one in
    the same step (SAME_STEP): its last observation is in infos["final_obs"], and what SeatEnv tells at the end in infos["final_info"].
    infos["action_mask"] and action_masks() say what is legal in all games.

    Game i after reset(seed=s) is the game of SeatEnv after reset(seed=s + i), and so are those that follow it. Arrays that step
    returns are not written to again as long as somebody holds them. If an error or Ctrl-C ends a call, reset() must deal all games anew.
    A copy that goes through pickle or cloudpickle to another process goes on with the same numbers there.
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
        """Take the number of games, and the parameters of SeatEnv.

        threads: how many threads share the games. opponents and pool: texts or policies that have a compiled form (random, the rule-based
        players ...).
        """
        check_choice("observation", observation, OBSERVATIONS)
        self._games = SeatBatch(
            game,
            opponents,
            num_envs,
            players=players,
            pool=pool,
            seat=seat,
            reward=reward,
            illegal=illegal,
            encoding=encoding,
            skip_forced=skip_forced,
            threads=threads,
            options=options,
        )
        self._batch = self._games.batch
        self._form = observation
        self.num_envs = self._batch.n
        self.reward, self.illegal = reward, illegal
        self._any_action = np.broadcast_to(np.int8(1), (self.num_envs, self._batch.n_actions))  # the masks of finished games, as in SeatEnv
        self.single_action_space = self._games.action_space
        self.single_observation_space = space_of(observation, self._batch.observer, self._batch.n_actions)

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of the observations of all games. It is large, and made when it is asked for."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of the actions of all games."""
        return batch_space(self.single_action_space, self.num_envs)

    def layout(self) -> Layout:
        """The parts of an observation vector by name, in their order, each with its shape and meaning."""
        return self._batch.observer.layout

    def set_opponents(self, opponents: Opponent | Sequence[Opponent] | None = None, pool: Sequence[Opponent] | None = None) -> None:
        """Change the policies of the other seats, also in games that are under way. The parameters are those of the environment."""
        self._games.set_opponents(opponents, pool)

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new game in every row. seed: the seed of the first game, the next one takes the next seed; or a list of seeds.

        options: "reset_mask", an array of bool, leaves the games alone in which it is false.
        """
        seeds = seeds_of(seed, self.num_envs)
        which = self._mask_of(options)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        observations = self._batch.deal(seeds, which)
        return self._batch.completed(self._told(observations, self._infos(np.ones(self.num_envs, np.bool_) if which is None else which)))

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Carry out an action in each game, and play on until its learner decides again, in this game or in the next."""
        observations = self._games.step(actions)
        games = self._batch.games
        observations, infos = self._told(observations, self._infos(np.ones(self.num_envs, np.bool_)))
        ended = np.flatnonzero(games.ended)
        if len(ended):
            self._tell_ends(ended, infos)
        terminated, truncated = games.ended & ~games.cut_off, games.ended & games.cut_off
        return self._batch.completed((observations, self._games.rewards(), terminated, truncated, infos))

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now in each game, as an array of games x actions."""
        return self._batch.games.mask.astype(np.bool_)

    def table(self, i: int) -> Table:
        """Game i as a table, to look at: legal actions in words, scores, drawings. It is a copy, and knows no history."""
        return self._batch.table(i)

    def close_extras(self, **kwargs: Any) -> None:
        self._batch.close()

    def clone(self) -> SeatVectorEnv:
        """An independent copy of this environment, with the same positions, generators and opponents."""
        return copy.deepcopy(self)

    def _told(self, observations: NDArray[np.float32], infos: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return in_form(self._form, self._batch.observer, observations, infos["action_mask"]), infos

    def _infos(self, which: NDArray[np.bool_]) -> dict[str, Any]:
        return {
            "action_mask": self._batch.results.masks,
            "_action_mask": which,
            "seat": self._batch.games.learner.copy(),
            "_seat": which.copy(),
        }

    def _tell_ends(self, ended: NDArray[np.int64], infos: dict[str, Any]) -> None:
        """Add the last observations and infos of the games that ended in these rows."""
        games, finals = self._batch.games, self._batch.results.finals
        final = np.empty(self.num_envs, object)
        for row in ended.tolist():
            final[row] = in_form(self._form, self._batch.observer, finals[row], self._any_action[0])
        at_end = games.ended.copy()
        told = {
            "action_mask": self._any_action,  # rows of games that go on do not count
            "seat": games.last_seat * at_end,
            "scores": games.scores * at_end[:, None],
            "ranks": games.ranks * at_end[:, None],
        }
        infos["final_obs"], infos["_final_obs"] = final, at_end
        infos["final_info"] = told | {f"_{name}": at_end for name in told}
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
