"""Afterstates: the legal turns of positions, and what the seat to move would observe after each of them, before any chance.

Two kernels do this for many positions at once: one lists and counts the turns, and one observes them. Rows belong to positions in
order: rows starts[i] to starts[i + 1] - 1 are the turns of position i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng, derive_seed, make_rng
from kdenv.core.encoding import Observer, observe_by
from kdenv.core.errors import BadOption, shown
from kdenv.core.turns import MAX_DECISIONS, SCRATCH, first_actions, play_turn, write_turns
from kdenv.core.verbs import OVER, phase, resample_hidden

if TYPE_CHECKING:
    from kdenv.core.game import Game, States

Rows = NDArray[np.float32]
SEED_OF_VIEWS = derive_seed("view")  # seeds the draws of what is hidden in a view; a game dealt from a small seed makes other draws
_FIRST_ROWS = 32  # rows a position for which there is room at first


class TurnBuffers(NamedTuple):
    """Scratch memory for the turns of one game. Threads must not share it."""

    states: Any  # 0: the position as its seat sees it; 1 to SCRATCH: positions after it
    turns: NDArray[np.int64]  # of one position
    actions: NDArray[np.int64]
    n_actions: NDArray[np.int64]
    at: NDArray[np.int64]
    rng: Rng
    seed: np.uint64  # of the draws of what is hidden: that of views, so that rows equal those of a View


@kernel
def _see(states, i, seat, room):
    """Copy states[i] to room.states[0], as the seat sees it."""
    room.states[0] = states[i]
    room.rng[0] = room.seed
    resample_hidden(room.states[0], seat, room.rng)


@kernel
def _see_all(states, seats, rng, seed):
    for i in range(states.shape[0]):
        rng[0] = seed
        resample_hidden(states[i], seats[i], rng)


def as_seats_see(states: States, seats: NDArray[np.int64]) -> States:
    """Return a copy of the positions, each as seats[i] sees it: a random draw replaces what the seat cannot know."""
    seen = states.copy()
    _see_all(seen, seats, make_rng(0), make_rng(SEED_OF_VIEWS)[0])
    return seen


@kernel
def list_all_turns(states, seats, most_decisions, room, first, turns, starts):
    """List the turns of all positions from states[first] on, and set starts. Return how many positions are complete.

    That is less than their number if `turns` is too short; then call again with a longer one and the first position that is not complete.
    """
    n = starts[first]
    for i in range(first, states.shape[0]):
        n_of = 0
        if seats[i] >= 0:
            _see(states, i, seats[i], room)
            n_of = write_turns(room.states, 0, most_decisions, room.actions, room.n_actions, room.at, room.turns)
        if n + n_of > turns.shape[0]:
            return i
        for j in range(n_of):
            turns[n + j] = room.turns[j]
        n += n_of
        starts[i + 1] = n
    return states.shape[0]


@kernel
def observe_turns(encoding, states, seats, turns, starts, room, out, over):
    """Write what the seat of each position observes after each of its turns to out, and whether the game is over then."""
    for i in range(states.shape[0]):
        if starts[i] < starts[i + 1]:
            _see(states, i, seats[i], room)
        for row in range(starts[i], starts[i + 1]):
            room.states[1] = room.states[0]
            play_turn(room.states[1], turns[row])
            observe_by(encoding, room.states, 1, seats[i], out[row])
            over[row] = phase(room.states[1]) == OVER


@dataclass(frozen=True, eq=False)
class Afterstates:
    """The legal turns of n positions, and what their seats observe after them. All arrays but `starts` have one row for each turn.

    Attributes:
        observations: The observation of the seat that takes the turn, after it and before any chance (rows x size of the encoding).
        position: The index of the position (the game of a batch) to which a row belongs.
        actions: The first action of each turn.
        turns: The turns, packed; kdenv.author.first_action and rest_of take them apart.
        over: Whether the turn ends the game. A network that predicts results need not be asked there.
        starts: The rows starts[i] to starts[i + 1] - 1 belong to position i. There are n + 1 numbers.

    """

    observations: Rows
    position: NDArray[np.int64]
    actions: NDArray[np.int64]
    turns: NDArray[np.int64]
    over: NDArray[np.bool_]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.turns)

    def best(self, values: Any) -> NDArray[np.int64]:
        """Return the row of the greatest value in each position; of equal ones, the first. It is -1 for a position without turns.

        Args:
            values: One number for each row.

        """
        given = self._checked(values)
        has_turns = self.starts[:-1] < self.starts[1:]
        most = np.zeros(len(has_turns))
        if len(given):
            most[has_turns] = np.maximum.reduceat(given, self.starts[:-1][has_turns])
        rows = np.flatnonzero(given == most[self.position])
        places, first = np.unique(self.position[rows], return_index=True)
        chosen = np.full(len(has_turns), -1)
        chosen[places] = rows[first]
        return chosen

    def sample(self, logits: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw a row for each position, from the softmax of the logits of its rows. It is -1 for a position without turns.

        Args:
            logits: One number for each row.
            rng: The generator to draw from.

        """
        given = self._checked(logits)
        return self.best(given + rng.gumbel(size=len(given)))  # the greatest of logits with Gumbel noise is a draw from their softmax

    def _checked(self, values: Any) -> NDArray[np.float64]:
        given = np.asarray(values, np.float64)
        if given.shape != (len(self),) or np.isnan(given).any():
            what = "has nan among its numbers" if given.shape == (len(self),) else f"has shape {given.shape}"
            raise BadOption(f"the array of values {what}; give one number for each of the {len(self)} rows")
        return given


class AfterstateLister:
    """Lists the afterstates of positions of one game, with one encoding. Its scratch memory is made once."""

    def __init__(self, game: Game, observer: Observer) -> None:
        """Take the game and the observer that writes the rows."""
        self._game, self._observer, self._part = game, observer, observer.part()
        self._room = TurnBuffers(
            np.zeros(1 + SCRATCH, game.state_dtype),
            np.zeros(game.max_turns, np.int64),
            np.zeros((MAX_DECISIONS, game.max_legal), np.int64),
            np.zeros(MAX_DECISIONS, np.int64),
            np.zeros(MAX_DECISIONS, np.int64),
            np.zeros(1, np.uint64),
            make_rng(SEED_OF_VIEWS)[0],
        )
        self._turns = np.zeros(0, np.int64)

    def list(self, states: States, seats: NDArray[np.int64], *, whole: bool = True, out: Rows | None = None) -> Afterstates:
        """List the turns that are open to the seat to move in each of these positions.

        Args:
            states: Positions in which seats[i] is to move.
            seats: The seat to move in each of them; -1 where the game is over, so that there are no turns.
            whole: Whether to list whole turns and not single actions.
            out: Memory for the observations, an array of float32 with at least as many rows as there are turns.

        """
        turns, starts = self.turns(states, seats, whole=whole)
        n = len(turns)
        rows = self._rows(n, out)
        over = np.zeros(n, np.bool_)
        observe_turns(self._part, states, seats, turns, starts, self._room, rows, over)
        position = np.repeat(np.arange(len(states)), np.diff(starts))
        return Afterstates(rows, position, first_actions(turns), turns, over, starts)

    def turns(self, states: States, seats: NDArray[np.int64], *, whole: bool = True) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the turns open to these seats, packed, and the starts of the positions among them, as in Afterstates."""
        n_positions, starts = len(states), np.zeros(len(states) + 1, np.int64)
        most = self._game.most_decisions if whole else 1
        if len(self._turns) < n_positions * _FIRST_ROWS:
            self._turns = np.zeros(n_positions * _FIRST_ROWS, np.int64)
        done = 0
        while (done := int(list_all_turns(states, seats, most, self._room, done, self._turns, starts))) < n_positions:
            longer = np.zeros(2 * len(self._turns) + self._game.max_turns, np.int64)
            longer[: starts[done]] = self._turns[: starts[done]]
            self._turns = longer
        return self._turns[: starts[-1]].copy(), starts

    def _rows(self, n: int, out: Rows | None) -> Rows:
        if out is None:
            return np.zeros((n, self._observer.size), np.float32)
        if not isinstance(out, np.ndarray) or out.dtype != np.float32 or out.ndim != 2 or out.shape[1] != self._observer.size:
            raise BadOption(f"out={shown(type(out).__name__)} does not fit; give an array of float32 with rows of {self._observer.size}")
        if len(out) < n:
            raise BadOption(f"out has {len(out)} rows, and there are {n} turns; give more rows")
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise BadOption("out is not contiguous or not writeable; give an array made by numpy.empty")
        return out[:n]
