"""The log of a game: actions and outcomes of chance, and the seats that saw them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng
from kdenv.core.verbs import CHANCE, apply, apply_chance, phase, sample_chance, witnesses

_SIZE = 128  # the capacity of a new log, in events; a full log is doubled
_ALL = -1  # the witnesses of an event that all seats see: all bits are set
_UNSEEN = np.iinfo(np.int32).min  # the log of a view has this in place of an event that its seat did not see


class Event(NamedTuple):
    """An outcome of chance or an action. The number is None if the event was not seen."""

    is_chance: bool
    number: int | None


@kernel
def run_chance(states, k, rng, log, n):
    """Draw and carry out chance until a seat decides, the game is over or the log is full.

    The log has two rows. The first holds the events; an outcome of chance is written as ~outcome, so that it differs from an action. The
    second holds the seats that saw the event, as bits. n is the length of the log; the new length is returned.
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
    """Carry out a decision and all chance that follows it. One place in the log must be free; the new length is returned."""
    log[0, n] = action
    log[1, n] = _ALL
    apply(states[k], action)
    return run_chance(states, k, rng, log, n + 1)


class Log:
    """The events of one game, in order. It grows as needed.

    Kernels that carry out decisions get `rows` and `n`, write the events themselves, and return the new length, which `go_on` takes.
    """

    def __init__(self) -> None:
        self.rows: NDArray[np.int32] = np.zeros((2, _SIZE), np.int32)
        self.n = 0

    def __len__(self) -> int:
        return self.n

    def decide(self, states: NDArray[Any], action: int, rng: Rng) -> None:
        """Carry out and log a legal decision and the chance after it."""
        self.go_on(decide(states, 0, action, rng, self.rows, self.n), states, rng)

    def run_chance(self, states: NDArray[Any], rng: Rng) -> None:
        """Carry out and log chance until a seat decides or the game is over."""
        self.go_on(run_chance(states, 0, rng, self.rows, self.n), states, rng)

    def go_on(self, n: int, states: NDArray[Any], rng: Rng, room: int = 1) -> None:
        """Set the length to the n that a kernel returned, and make room for more. If the log was full, chance is continued."""
        self.n = n
        while self.n + room > self.rows.shape[1]:
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)], axis=1)
            self.n = run_chance(states, 0, rng, self.rows, self.n)

    def write_action(self, action: int) -> None:
        """Log an action that has been carried out."""
        self._write(action, _ALL)

    def write_chance(self, outcome: int, seen_by: int) -> None:
        """Log an outcome of chance that has been carried out; seen_by has a bit for every seat that saw it."""
        self._write(~outcome, seen_by)

    def _write(self, event: int, seen_by: int) -> None:
        self.rows[:, self.n] = event, seen_by
        self.n += 1
        if self.n == self.rows.shape[1]:
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)], axis=1)

    def copy(self) -> Log:
        """Return an independent copy of this log."""
        twin = Log()
        twin.rows, twin.n = self.rows.copy(), self.n
        return twin

    def seen_by(self, seat: int) -> Log:
        """Return a copy in which events that this seat did not see have no number."""
        twin = self.copy()
        events, witnesses_of = twin.rows[:, : twin.n]
        events[(witnesses_of >> seat) & 1 == 0] = _UNSEEN
        return twin

    def key(self, *actions: int) -> bytes:
        """Return the events as bytes, followed by these actions."""
        return self.rows[0, : self.n].tobytes() + np.array(actions, np.int32).tobytes()

    def events(self) -> list[Event]:
        return [Event(event < 0, None if event == _UNSEEN else ~event if event < 0 else event) for event in self.rows[0, : self.n].tolist()]
