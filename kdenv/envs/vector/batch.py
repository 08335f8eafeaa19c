"""`Batch`: games of one kind that are dealt and stepped together. Each environment in this package and in envs/sb3.py has one.

It owns the arrays and raises the errors. Its threads play the games.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from kdenv.core.afterstates import Afterstates, Rows, as_seats_see
from kdenv.core.encoding import Observer
from kdenv.core.errors import BadOption, IllegalAction, NotSupported, WrongOrder
from kdenv.core.table import Table
from kdenv.envs.decisions import Seeing
from kdenv.envs.opponents import Lineup, with_stand_ins
from kdenv.envs.rewards import GameEnds, function_rewards, reward_number
from kdenv.envs.seeds import new_key
from kdenv.envs.setup import SeatSetup, Setup
from kdenv.envs.step_kernel import NOBODY, WORK
from kdenv.envs.validation import warn_of_loss
from kdenv.envs.vector.asking import Asking
from kdenv.envs.vector.buffers import Buffers
from kdenv.envs.vector.kernels import (
    ALL_SEATS,
    ANSWER,
    DEAL,
    LONGER_LOG,
    MOST_DEALS,
    NEXT_SEAT,
    NOTHING,
    RANDOM_SEAT,
    STEP,
    GameArrays,
    Results,
    Room,
    World,
    list_illegal,
)
from kdenv.envs.vector.thread_pool import ThreadPool
from kdenv.policies.compiled_opponents import first_use, seated_policies

T = TypeVar("T")

_LOG = 128  # the length of a log of events; if it is not kept, kernels write over the events, else a full log is doubled
_SEATS = {"random": RANDOM_SEAT, "rotate": NEXT_SEAT}
_PADDING = 16  # in numbers of 64 bits: two cache lines, because processors fetch them in pairs


class Batch:
    """Games in the rows of arrays. With a SeatSetup one seat of each game learns; without it all seats do.

    `games` has the results of the last call (see GameArrays). Its `mask` is private: kernels trust it.

    Game i of a batch that was dealt with seed s is the game of a SeatEnv or TableEnv after reset(seed=s + i). The games that follow in its
    row are those of the environment after reset() without a seed. Neither the number of games nor that of threads changes any of them.
    """

    def __init__(self, setup: Setup) -> None:
        empty = setup.empty
        self._reward: Any = setup.reward if callable(setup.reward) else None  # a reward that no kernel computes
        self.empty, self.n = empty, int(setup.num_envs)  # a table before the first event; the number of games
        self.observer: Observer = setup.observer()
        self.n_actions = empty.n_actions
        self._raises = setup.illegal == "raise"
        self.autoreset_mode = setup.autoreset_mode
        self._is_dealt = False
        self._is_broken = False  # whether a call that may have moved games was not completed
        self.mistakes: dict[int, IllegalAction] = {}  # the illegal actions of the last step, by row
        self._rows = np.zeros(self.n, np.int64)
        self._threads = min(int(setup.threads), self.n)
        self._pool: ThreadPool | None = None  # made when it is needed; compiled parts are neither copied nor pickled
        self._opponents: Sequence[Any] = []
        self._seeing = Seeing(empty, self.observer)
        self._asking = Asking([], [], empty, self._seeing)
        self._actions = np.zeros(self.n, np.int64)
        self._buffers = Buffers((self.n, self.observer.size), np.float32)
        self._finals = Buffers((self.n, self.observer.size), np.float32)  # of ended games; apart, because they are seldom written
        self._masks = Buffers((self.n, self.n_actions), np.int8)
        self.results = self._new_results()  # of the last call; they are new arrays in every call
        self.world = World(
            start=empty.states.copy(),
            players=empty.players,
            learner=_learner(setup),
            drawn_from=0,
            limits=np.zeros(0),
            reward=reward_number(setup.reward),
            teams=empty.game.teams(empty.players),
            scale=float(empty.game.margin_scale),
            asks=np.zeros(0, np.bool_),
            keeps_logs=False,
            skips_forced=setup.skip_forced,
            deals_at_once=setup.autoreset_mode == AutoresetMode.SAME_STEP,
        )
        self.games = _empty_games(empty, self.n)
        if isinstance(setup, SeatSetup):
            self.set_opponents(setup.lineup())

    def set_opponents(self, lineup: Lineup) -> None:
        """Change the opponents. In a game under way the new policy at a place of the list replaces the old one at the same place."""
        players, drawn = lineup.listed
        asked = [not lineup.is_compiled(player) for player in players]
        compiled = with_stand_ins(players, asked)
        seated_policies(compiled, self.empty.game, self.empty.players)  # refuses players of too many types
        self.close()
        self._opponents = compiled
        self._asking = Asking(players, asked, self.empty, self._seeing)
        # Places after the end of a shorter list become its last place.
        np.minimum(self.games.places, max(len(players) - 1, 0), out=self.games.places)
        self.world = self.world._replace(drawn_from=len(players) if drawn else 0, limits=lineup.limits, asks=np.array(asked, np.bool_))
        self._keep_logs(self._asking.needs_views)

    def deal(self, seeds: Sequence[int | None] | None, which: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """Begin a game in every row, or in those of which `which` is true, and return the observations of all rows.

        seeds: One for each row. A row without a seed gets its next game.
        """
        which = np.ones(self.n, np.bool_) if which is None else which
        if not which.all():
            self._check_under_way("the first reset leaves out some games")
        self._is_broken = True
        has_key: NDArray[np.bool_] = self.games.keys[:, 0] != 0
        for i in np.flatnonzero(which).tolist():
            seed = None if seeds is None else seeds[i]
            if seed is not None or not has_key[i]:
                self.games.keys[i] = new_key(seeding.np_random(None if seed is None else int(seed))[0])
                self.games.numbers[i] = -1  # the kernel adds 1
        self._asking.forget(which)
        self._actions[:] = which  # the kernel deals in the rows that are not 0
        return self._run(DEAL)

    def step(self, actions: Any) -> NDArray[np.float32]:
        """Carry out an action in each game, and return the observations. With illegal="raise" an illegal action changes no game."""
        self._check_under_way("there are no games to step in")
        if self.autoreset_mode == AutoresetMode.DISABLED and self.games.over.any():
            row = int(self.games.over.argmax())
            raise WrongOrder(
                f'game {row} is over; call reset(options={{"reset_mask": mask}}) with a mask that is true for games that are over'
            )
        given = self._note_actions(actions)
        if self._raises:
            for row in self._rows[: list_illegal(self.games.mask, self.games.over, self._actions, self._rows)].tolist():
                error = self.table(row).illegal(given[row])
                raise type(error)(f"in game {row} of the batch: {error}")
        observations = self._run(STEP)
        if self._reward is not None:
            self._pay()
        wrong = np.flatnonzero(self.games.illegal).tolist()
        self.mistakes = {row: self._table(self.games.last[row]).illegal(given[row]) for row in wrong}
        for _ in self.mistakes:
            warn_of_loss(self.empty.game.name)
        return observations

    def _pay(self) -> None:
        """Write the rewards of a function where games have ended by the rules."""
        games = self.games
        rows = np.flatnonzero(games.ended & ~games.cut_off & ~games.illegal)
        if len(rows):
            ends = GameEnds(games.scores[rows], games.standings[rows], games.ranks[rows], games.last[rows])
            games.rewards[rows] = function_rewards(self._reward, self.empty, ends)
            games.reward[rows] = games.rewards[rows, games.last_seat[rows]]

    def completed(self, result: T) -> T:
        """Note that a call is complete, and return its result. After an incomplete call all games must be dealt anew."""
        self._is_dealt, self._is_broken = True, False
        return result

    def _check_under_way(self, otherwise: str) -> None:
        if self._is_broken:
            raise WrongOrder("an error or Ctrl-C has broken the games off; call reset() for all games to deal new ones")
        if not self._is_dealt:
            raise WrongOrder(f"{otherwise}, and none has begun yet; call reset() for all games first")

    def afterstates(self, encoding: str | None, *, whole: bool, out: Rows | None) -> Afterstates:
        """List the turns of the seats to move, and what these seats observe after each; see AfterstateLister.list.

        A game that is over has no turns.
        """
        self._check_under_way("there are no turns to list")
        seats = np.where(self.games.over, NOBODY, self.games.seat)
        return self._seeing.afterstates(self.games.states, seats, encoding, whole=whole, out=out)

    def observations(self, encoding: str | None) -> Rows:
        """Return what the seat to move in each game observes or, where a game is over, the seat that was the last to decide."""
        self._check_under_way("there is nothing to observe")
        return self.observed_now(encoding)

    def observed_now(self, encoding: str | None) -> Rows:
        """Return the same as observations, also in a call that is not complete."""
        return self._seeing.observations(self.games.states, self.games.seat, encoding)

    def last_observations(self, rows: NDArray[np.int64], encoding: str | None) -> Rows:
        """Return what the last learner to decide observed at the end of the games that have ended in these rows."""
        return self._seeing.observations(self.games.last[rows], self.games.last_seat[rows], encoding)

    def positions(self) -> NDArray[Any]:
        """Return a read-only copy of the states of all games, each as the seat to move sees it."""
        self._check_under_way("there are no positions")
        states = as_seats_see(self.games.states, self.games.seat)
        states.flags.writeable = False
        return states

    def opponents(self) -> NDArray[np.int64]:
        """Return the place of each seat's policy in the list of opponents, or in the pool; -1 for seats that learn (games x players)."""
        places = np.full_like(self.games.places, -1)
        if self.world.learner != ALL_SEATS:
            places[:] = self.games.places
            places[np.arange(self.n), self.games.learner] = -1
        return places

    def table(self, i: int) -> Table:
        """Return game i as a new table, to look at. The table has no history."""
        return self._table(self.games.states[i])

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _table(self, state: Any) -> Table:
        table = self.empty.clone()
        table.states[0] = state
        return table

    def _note_actions(self, actions: Any) -> NDArray[Any]:
        """Note the actions of a step, and return them as they were given. An unsigned number of 64 bits may be noted as a negative one."""
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            what = f"an array of {given.dtype} of shape {given.shape}"
            raise BadOption(f"the actions are {what}; give {self.n} whole numbers, one for each game")
        self._actions[:] = given
        return given

    def _new_results(self) -> Results:
        return Results(self._buffers.take(), self._finals.take(), self._masks.take())

    def _run(self, call: int) -> NDArray[np.float32]:
        """Deal games where the actions are not 0, or carry the actions out; return the observations. Call completed() afterwards.

        Policies without a compiled form are asked until no game waits for one.
        """
        self.results, self._is_broken = self._new_results(), True
        self._play(call)
        waits_for = self.games.waits_for
        while self._asking.players and (waits_for != NOTHING).any():
            if (waits_for == LONGER_LOG).any():
                self.games = self.games._replace(logs=np.concatenate([self.games.logs, np.zeros_like(self.games.logs)], axis=2))
                self.close()  # its threads have the old array
            self._asking.answer(self.games, self._actions)
            self._play(ANSWER)
        return self.results.observations

    def _play(self, call: int) -> None:
        if self._pool is None or not self._pool.is_whole:
            self._pool = self._new_pool()
        try:
            all_begun = self._pool.play(call, self.results)
        except BaseException:
            self.close()  # after Ctrl-C helpers may still be at work
            raise
        if not all_begun:
            raise NotSupported(f"the learner had nothing to decide in {MOST_DEALS} games in a row; choose another seat or other opponents")

    def _keep_logs(self, keeps: bool) -> None:
        """Log the events of all games from now on, or do so no longer."""
        if keeps != self.world.keeps_logs:
            self.world = self.world._replace(keeps_logs=keeps)
            self.games.n_logged[:] = 0
            self.games = self.games._replace(logs=np.zeros((self.n if keeps else 0, 2, _LOG), np.int32))

    def _new_pool(self) -> ThreadPool:
        opponents = [seated_policies(self._opponents, self.empty.game, self.empty.players) for _ in range(self._threads)]
        parts = [(self.world, each, self.games, _room(self.empty, self.observer)) for each in opponents]
        with first_use(opponents[0], self.empty.game):
            return ThreadPool(parts, self._actions, self._new_results())

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle everything but the threads and the results of the last call."""
        last = self.results
        return {**self.__dict__, "_pool": None, "results": Results(last.observations[:0], last.finals[:0], last.masks[:0])}

    def clone(self) -> Batch:
        return copy.deepcopy(self)


def _learner(setup: Setup) -> int:
    """Return the number by which kernels know the learner's seat, or for the rule that chooses it."""
    if not isinstance(setup, SeatSetup):
        return ALL_SEATS
    return _SEATS[setup.seat] if isinstance(setup.seat, str) else int(setup.seat)


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
        logs=np.zeros((0, 2, _LOG), np.int32),
        n_logged=zeros(np.int64),
        stage=zeros(np.int8),
        n_deals=zeros(np.int64),
        waits_for=zeros(np.int64),
        waiting_seat=zeros(np.int64),
        learner=zeros(np.int64),
        seat=zeros(np.int64),
        mask=zeros(np.int8, empty.n_actions),
        over=zeros(np.bool_),
        before=zeros(np.int64, empty.players),
        ended=zeros(np.bool_),
        cut_off=zeros(np.bool_),
        illegal=zeros(np.bool_),
        last=zeros(empty.game.state_dtype),
        rewards=zeros(np.float64, empty.players),
        reward=zeros(np.float64),
        last_seat=zeros(np.int64),
        scores=zeros(np.int64, empty.players),
        standings=zeros(np.int64, empty.players),
        ranks=zeros(np.int64, empty.players),
    )


def _room(empty: Table, observer: Observer) -> Room:
    # Padding on both sides: generators of two threads must not share a cache line, or each write would slow the other thread down.
    generators = np.zeros(3 * _PADDING, np.uint64)[_PADDING:]
    return Room(
        observer.part(),
        np.zeros(WORK, empty.game.state_dtype),
        empty.game.buffer(),
        np.zeros((2, _LOG), np.int32),
        chance=generators[0:1],
        dice=generators[1:2],
        spare=generators[2:3],
    )
