"""`Decisions`: the games in which one policy is to decide, one row each. It is the argument of `act_batch`.

`Seeing` computes masks, observations and afterstates of many positions. Batches use it for their games, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng, uniform
from kdenv.core.afterstates import AfterstateLister, Afterstates, Rows, as_seats_see
from kdenv.core.encoding import Observer, observe_by
from kdenv.core.errors import BadOption
from kdenv.core.game import States
from kdenv.core.table import Table
from kdenv.core.verbs import legal


@kernel
def observe_rows(encoding, states, seats, out):
    """Write what seats[i] observes in states[i] to out[i]."""
    for i in range(states.shape[0]):
        observe_by(encoding, states, i, seats[i], out[i])


@kernel
def mask_rows(states, actions, out):
    """Set out[i] to true for every legal action in states[i]; it must be false before. `actions` is room for a list of actions."""
    for i in range(states.shape[0]):
        for place in range(legal(states[i], actions)):
            out[i, actions[place]] = True


class Seeing:
    """Computes masks, observations and afterstates of many positions of one game.

    Args:
        empty: A table of the game, for its players and options.
        observer: The default encoding.

    """

    def __init__(self, empty: Table, observer: Observer) -> None:
        self._empty, self._observer = empty, observer
        self._parts: dict[str, Any] = {}  # by encoding; compiled parts are neither copied nor pickled
        self._listers: dict[str, AfterstateLister] = {}

    def observations(self, states: States, seats: NDArray[np.int64], encoding: str | None) -> Rows:
        """Return what seats[i] observes in states[i]."""
        observer = self._observer_of(encoding)
        name = observer.encoding.name
        if name not in self._parts:
            self._parts[name] = observer.part()
        out = np.zeros((len(states), observer.size), np.float32)
        observe_rows(self._parts[name], states, seats, out)
        return out

    def masks(self, states: States) -> NDArray[np.bool_]:
        """Return the legal actions of positions in which a seat decides."""
        out = np.zeros((len(states), self._empty.n_actions), np.bool_)
        mask_rows(states, self._empty.game.buffer(), out)
        return out

    def afterstates(self, states: States, seats: NDArray[np.int64], encoding: str | None, *, whole: bool, out: Rows | None) -> Afterstates:
        """List the turns of seats[i] in states[i], and what it observes after each; see AfterstateLister.list."""
        observer = self._observer_of(encoding)
        name = observer.encoding.name
        if name not in self._listers:
            self._listers[name] = AfterstateLister(self._empty.game, observer)
        return self._listers[name].list(states, seats, whole=whole, out=out)

    def _observer_of(self, encoding: str | None) -> Observer:
        empty = self._empty
        return self._observer if encoding is None else empty.game.observer(empty.players, empty.variant, encoding)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parts": {}, "_listers": {}}


class Decisions:
    """The games in which one policy is to decide, as the seats that decide see them. Each game has a row in the results.

    A policy is given one of these by `act_batch`, and returns an action for each row. What a seat cannot know has been drawn anew in
    these positions, as in a View.

    Attributes:
        seats: The seat that decides in each game.

    """

    def __init__(self, seeing: Seeing, states: States, seats: NDArray[np.int64], rngs: Sequence[Rng]) -> None:
        self.seats = seats
        self._seeing, self._rngs = seeing, rngs
        self._states = as_seats_see(states, seats)
        self._states.flags.writeable = False

    def __len__(self) -> int:
        return len(self.seats)

    def observations(self, encoding: str | None = None) -> Rows:
        """Return the observations of these seats (games x size).

        Args:
            encoding: The name of the encoding; None is the one of the environment.

        """
        return self._seeing.observations(self._states, self.seats, encoding)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of each game, as an array of games x actions."""
        return self._seeing.masks(self._states)

    def afterstates(self, encoding: str | None = None, *, whole: bool = True, out: Rows | None = None) -> Afterstates:
        """List the turns of these seats, and the observations of these seats after each of them, before any chance.

        Args:
            encoding: The name of the encoding; None is the one of the environment.
            whole: Whether to list whole turns and not single actions.
            out: Memory for the observations, an array of float32 with at least as many rows as there are turns.

        """
        return self._seeing.afterstates(self._states, self.seats, encoding, whole=whole, out=out)

    def positions(self) -> States:
        """Return the positions as a read-only array of states."""
        return self._states

    def random(self) -> NDArray[np.float64]:
        """Draw a number from 0 to 1 for each game, for policies that sample. It comes from the generator of this game.

        So a game does not depend on the other games of its batch.
        """
        return np.array([uniform(rng) for rng in self._rngs])


@runtime_checkable
class BatchPolicy(Protocol):
    """An opponent that decides in many games by one call, such as a network of torch.

    >>> import numpy as np
    >>> from kdenv.envs import SeatVectorEnv
    >>> class First:
    ...     def act_batch(self, decisions):
    ...         return decisions.action_masks().argmax(axis=1)
    >>> env = SeatVectorEnv("dominoes", First(), num_envs=8, mode="round")
    >>> observations, infos = env.reset(seed=1)
    >>> observations.shape
    (8, 195)
    """

    def act_batch(self, decisions: Decisions, /) -> Any:
        """Return an action for each row of the decisions, as an array, tensor or list of whole numbers."""


def asked_for_actions(policy: BatchPolicy, decisions: Decisions) -> tuple[NDArray[np.int64], int]:
    """Ask a policy for an action in each game. Return the actions, and the first row in which one is not legal; -1 if all are legal."""
    given = np.asarray(policy.act_batch(decisions))
    if given.shape != (len(decisions),) or given.dtype.kind not in "iu":
        what = f"an array of {given.dtype} of shape {given.shape}"
        raise BadOption(f"act_batch of {policy} returned {what}; it must return {len(decisions)} whole numbers, one for each game")
    masks = decisions.action_masks()
    is_action = (given >= 0) & (given < masks.shape[1])
    actions = np.where(is_action, given, 0).astype(np.int64)
    wrong = np.flatnonzero(~(is_action & masks[np.arange(len(actions)), actions]))
    return given.astype(np.int64), int(wrong[0]) if len(wrong) else -1
