"""`Batch`: games of one kind that are dealt and stepped together. Each environment in this room and in envs/sb3.py has one.

It owns the arrays and raises the errors. Its crew plays the games.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from kdenv.core.encoding import Observer
from kdenv.core.errors import BadOption, IllegalAction, NotSupported, WrongOrder, shown
from kdenv.core.table import Table
from kdenv.envs.rewards import NO_REWARD, REWARDS, Reward, reward_number
from kdenv.envs.seeds import new_key
from kdenv.envs.step_kernel import WORK
from kdenv.envs.validation import check_flag, check_seed, warn_of_loss
from kdenv.envs.vector.buffers import Buffers
from kdenv.envs.vector.kernels import (
    ALL_SEATS,
    MOST_DEALS,
    NEXT_SEAT,
    RANDOM_SEAT,
    GameArrays,
    Results,
    Room,
    World,
    list_illegal,
)
from kdenv.envs.vector.thread_pool import Crew
from kdenv.envs.vector.truncation import ending_of
from kdenv.policies.compiled_opponents import first_use, seated_policies

T = TypeVar("T")

_LOG = 128  # events that follow a decision without another one; if there are more, a kernel goes on after them
_SEATS = {"random": RANDOM_SEAT, "rotate": NEXT_SEAT, "all": ALL_SEATS}
_MOST_THREADS = 256
_APART = 16  # numbers of 64 bits; processors fetch two lines of eight


class Batch:
    """GameArrays in the rows of arrays. `games` tells what happened in the last call (see kernels.Games); `mask` in it is private.

    Game i of a batch that was dealt with seed s is the game of a SeatEnv or TableEnv after reset(seed=s + i), and the games that follow
    in its row are those which the environment plays after reset() without a seed. Neither n nor threads changes any of them.
    """

    def __init__(
        self, empty: Table, n: int, *, seat: int | str, reward: Reward, encoding: str | None, skip_forced: bool, threads: int
    ) -> None:
        """Take an empty table, the number of games, the learner's seat ("random", "rotate" or "all"), and the options of environments."""
        _check_count("num_envs", n, 1 << 24)
        _check_count("threads", threads, _MOST_THREADS)
        check_flag("skip_forced", skip_forced)
        if reward_number(reward) == NO_REWARD:
            known = ", ".join(REWARDS)
            raise NotSupported(f"the reward of a batch of games cannot be a function; choose {known}, or use SeatEnv or TableEnv")
        self.empty, self.n = empty, int(n)
        self.observer: Observer = empty.game.observer(empty.players, empty.variant, encoding)
        self.n_actions = empty.n_actions
        self._is_dealt = False
        self._is_broken = False  # whether a call that may have moved games was not completed
        self.mistakes: dict[int, IllegalAction] = {}  # by row, of the last step
        self._rows = np.zeros(self.n, np.int64)
        self._threads = min(int(threads), self.n)
        self._crew: Crew | None = None  # made when it is needed, with parts of kernels that are neither copied nor pickled
        self._opponents: Sequence[Any] = []
        self._actions = np.zeros(self.n, np.int64)
        self._buffers = Buffers((self.n, self.observer.size), np.float32)
        self._finals = Buffers((self.n, self.observer.size), np.float32)  # others, so that the first ones stay in the processor's cache
        self._masks = Buffers((self.n, self.n_actions), np.int8)
        self.results = self._new_results()  # of the last call; they are new arrays in every call
        ending_of(empty.game)  # refuses a game that batches cannot play
        self.world = World(
            None,  # the ending is filled in for a crew
            empty.states.copy(),
            empty.players,
            _SEATS[seat] if isinstance(seat, str) else int(seat),
            0,
            reward_number(reward),
            empty.game.teams(empty.players),
            float(empty.game.margin_scale),
            skip_forced,
        )
        self.games = _empty_games(empty, self.n)

    def set_opponents(self, players: Sequence[Any], *, drawn: bool) -> None:
        """Change the opponents from the next game on: one policy for each seat after the learner, or a list to draw from for every game.

        GameArrays that are under way go on with players of the new list: those in the places of theirs in the old list.
        """
        seated_policies(players, self.empty.game, self.empty.players)  # refuses players without a compiled form
        self.close()
        self._opponents = players
        np.minimum(self.games.places, max(len(players) - 1, 0), out=self.games.places)
        self.world = self.world._replace(drawn_from=len(players) if drawn else 0)

    def deal(self, seeds: Sequence[int | None] | None, which: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """Begin a game in every row, or in those of which `which` is true, and return the observations of all rows.

        seeds: one for each row. Rows without a seed go on with their next game.
        """
        which = np.ones(self.n, np.bool_) if which is None else which
        if not which.all():
            self._check_under_way("some games would not begin")
        self._is_broken = True
        has_key: NDArray[np.bool_] = self.games.keys[:, 0] != 0
        for i in np.flatnonzero(which).tolist():
            seed = None if seeds is None else seeds[i]
            if seed is not None or not has_key[i]:
                self.games.keys[i] = new_key(seeding.np_random(None if seed is None else int(seed))[0])
                self.games.numbers[i] = -1
        self._actions[:] = which
        return self._run(True)

    def step(self, actions: Any, *, raises: bool) -> NDArray[np.float32]:
        """Carry out an action in each game, and return the observations. If it raises for an illegal action, it has changed nothing."""
        self._check_under_way("there are no games to step in")
        given = self._take(actions)
        if raises:
            for row in self._rows[: list_illegal(self.games.mask, self._actions, self._rows)].tolist():
                error = self.table(row).illegal(given[row])
                raise type(error)(f"in game {row} of the batch: {error}")
        observations = self._run(False)
        wrong = np.flatnonzero(self.games.illegal).tolist()
        self.mistakes = {row: self._table(self.games.wrong[row]).illegal(given[row]) for row in wrong}
        for _ in self.mistakes:
            warn_of_loss(self.empty.game.name)
        return observations

    def completed(self, told: T) -> T:
        """Return what a call of the user returns. Environments do this last: a call that does not come so far breaks all games off."""
        self._is_dealt, self._is_broken = True, False
        return told

    def _check_under_way(self, otherwise: str) -> None:
        if self._is_broken:
            raise WrongOrder("an error or Ctrl-C has broken the games off; call reset() for all games to deal new ones")
        if not self._is_dealt:
            raise WrongOrder(f"{otherwise}, and none has begun yet; call reset() for all games first")

    def table(self, i: int) -> Table:
        """Game i as a table of its own, to look at. It does not know what happened before."""
        return self._table(self.games.states[i])

    def close(self) -> None:
        if self._crew is not None:
            self._crew.close()
            self._crew = None

    def _table(self, state: Any) -> Table:
        table = self.empty.clone()
        table.states[0] = state
        return table

    def _take(self, actions: Any) -> NDArray[Any]:
        """Take the actions of a step, and return them as they were given: a number of 64 bits without a sign may become a negative one."""
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            what = f"an array of {given.dtype} of shape {given.shape}"
            raise BadOption(f"the actions are {what}; give {self.n} whole numbers, one for each game")
        self._actions[:] = given
        return given

    def _new_results(self) -> Results:
        return Results(self._buffers.take(), self._finals.take(), self._masks.take())

    def _run(self, dealing: bool) -> NDArray[np.float32]:
        """Deal games where the actions are not 0, or carry the actions out; return the observations. Until completed() games are broken."""
        if self._crew is None or not self._crew.is_whole:
            self._crew = self._new_crew()
        self.results, self._is_broken = self._new_results(), True
        try:
            found = self._crew.play(dealing, self.results)
        except BaseException:
            self.close()  # after Ctrl-C helpers may still be at work
            raise
        if not found:
            raise NotSupported(f"the learner had nothing to decide in {MOST_DEALS} games in a row; choose another seat or other opponents")
        return self.results.observations

    def _new_crew(self) -> Crew:
        casts = [seated_policies(self._opponents, self.empty.game, self.empty.players) for _ in range(self._threads)]
        world = self.world._replace(ending=ending_of(self.empty.game))
        parts = [(world, cast, self.games, _room(self.empty, self.observer)) for cast in casts]
        with first_use(casts[0], self.empty.game):
            return Crew(parts, self._actions, self._new_results())

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle everything but the threads and what the last call returned."""
        told = self.results
        return {**self.__dict__, "_crew": None, "results": Results(told.observations[:0], told.finals[:0], told.masks[:0])}

    def clone(self) -> Batch:
        return copy.deepcopy(self)


def seeds_of(seed: int | Sequence[int | None] | None, n: int) -> list[int | None] | None:
    """One seed for each of n games: a number stands for itself and the ones after it."""
    if seed is None:
        return None
    if isinstance(seed, Sequence):
        for each in seed:
            check_seed(each)
        if len(seed) != n:
            raise BadOption(f"seed= lists {len(seed)} seeds for {n} games; give one for each game, or one number")
        return list(seed)
    check_seed(seed)
    return [int(seed) + i for i in range(n)]


def _check_count(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise BadOption(f"{name}={shown(value)} is not possible; {name} may be a whole number from 1 to {most}")


def _empty_games(empty: Table, n: int) -> GameArrays:
    def zeros(dtype: Any, *more: int) -> NDArray[Any]:
        return np.zeros((n, *more), dtype)

    return GameArrays(
        states=zeros(empty.game.state_dtype),
        keys=zeros(np.uint64, 2),
        numbers=zeros(np.int64),
        chance=zeros(np.uint64),
        dice=zeros(np.uint64),
        places=zeros(np.int64, empty.players),
        learner=zeros(np.int64),
        seat=zeros(np.int64),
        mask=zeros(np.int8, empty.n_actions),
        before=zeros(np.int64, empty.players),
        ended=zeros(np.bool_),
        cut_off=zeros(np.bool_),
        illegal=zeros(np.bool_),
        wrong=zeros(empty.game.state_dtype),
        rewards=zeros(np.float64, empty.players),
        reward=zeros(np.float64),
        last_seat=zeros(np.int64),
        scores=zeros(np.int64, empty.players),
        standings=zeros(np.int64, empty.players),
        ranks=zeros(np.int64, empty.players),
    )


def _room(empty: Table, observer: Observer) -> Room:
    generators = np.zeros(3 * _APART, np.uint64)[_APART:]  # their numbers change all the time, so no other thread's may lie beside them
    return Room(
        observer.part(),
        np.zeros(WORK, empty.game.state_dtype),
        empty.game.buffer(),
        np.zeros((2, _LOG), np.int32),
        chance=generators[0:1],
        dice=generators[1:2],
        spare=generators[2:3],
    )
