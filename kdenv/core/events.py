"""What has happened at a table, and who saw it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.core.kernel import kernel
from kdenv.core.protocol import CHANCE, apply, apply_chance, phase, sample_chance, witnesses
from kdenv.core.random import Rng

_SIZE = 128  # events a new log has room for; doubled when full
_ALL = -1  # seen by all seats
_UNSEEN = np.iinfo(np.int32).min


class Event(NamedTuple):
    """An outcome of chance or an action; without a number if it was not seen."""

    is_chance: bool
    number: int | None


@kernel
def run_chance(states, k, rng, log, n):
    """Draw and carry out chance until somebody decides, the game is over or the log is full.

    The log has two rows: the events, chance outcomes as ~outcome so that they differ from actions, and
    who saw them, as bits. Returns its new length.
    """
    while n < log.shape[1] and phase(states[k]) == CHANCE:
        outcome = sample_chance(states[k], rng)
        log[0, n] = ~outcome
        log[1, n] = witnesses(states[k])
        apply_chance(states[k], outcome)
        n += 1
    return n


@kernel
def decide(states, k, action, rng, log, n):
    """Carry out a decision and all chance that follows it; one place in the log must be free."""
    log[0, n] = action
    log[1, n] = _ALL
    apply(states[k], action)
    return run_chance(states, k, rng, log, n + 1)


class Log:
    """The events of one game, in order, growing as needed.

    Kernels that carry out decisions get `rows` and `n` and write the events themselves; `go_on` takes the new length.
    """

    def __init__(self) -> None:
        self.rows: NDArray[np.int32] = np.zeros((2, _SIZE), np.int32)
        self.n = 0

    def __len__(self) -> int:
        return self.n

    def decide(self, states: NDArray[Any], action: int, rng: Rng) -> None:
        """Carry out and write down a legal decision and the chance after it."""
        self.go_on(decide(states, 0, action, rng, self.rows, self.n), states, rng)

    def run_chance(self, states: NDArray[Any], rng: Rng) -> None:
        """Carry out and write down chance until somebody decides or the game is over."""
        self.go_on(run_chance(states, 0, rng, self.rows, self.n), states, rng)

    def go_on(self, n: int, states: NDArray[Any], rng: Rng, room: int = 1) -> None:
        """Take n events and leave free places for more; if the log was full, chance may have stopped halfway."""
        self.n = n
        while self.n + room > self.rows.shape[1]:
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)], axis=1)
            self.n = run_chance(states, 0, rng, self.rows, self.n)

    def write_action(self, action: int) -> None:
        """Write down an action that has been carried out."""
        self._write(action, _ALL)

    def write_chance(self, outcome: int, seen_by: int) -> None:
        """Write down an outcome of chance that has been carried out."""
        self._write(~outcome, seen_by)

    def _write(self, event: int, seen_by: int) -> None:
        self.rows[:, self.n] = event, seen_by
        self.n += 1
        if self.n == self.rows.shape[1]:
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)], axis=1)

    def copy(self) -> Log:
        """The same events in a log of its own."""
        twin = Log()
        twin.rows, twin.n = self.rows.copy(), self.n
        return twin

    def seen_by(self, seat: int) -> Log:
        """The same events without what this seat did not see."""
        twin = self.copy()
        events, witnesses_of = twin.rows[:, : twin.n]
        events[(witnesses_of >> seat) & 1 == 0] = _UNSEEN
        return twin

    def key(self, *actions: int) -> bytes:
        """The events as bytes, followed by these actions."""
        return self.rows[0, : self.n].tobytes() + np.array(actions, np.int32).tobytes()

    def events(self) -> list[Event]:
        """All events."""
        return [
            Event(event < 0, None if event == _UNSEEN else ~event if event < 0 else event)
            for event in self.rows[0, : self.n].tolist()
        ]
