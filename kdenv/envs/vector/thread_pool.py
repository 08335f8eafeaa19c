"""`Crew`: the threads that share the games of a batch. They do not sleep between calls that follow one another at once.

To wake a sleeping thread takes 20 to 100 us, and as long again if it needs the lock of Python's interpreter first, which the calling
thread has; a step of 1,024 games takes 500. So the helpers stay in a kernel, without that lock, and look there for the next call. Who
finds none for 0.2 ms goes back to Python and sleeps, so that an environment that nobody steps costs nothing.

A call is a round. Every thread has a slice of the games, takes a few of them at a time, and then takes from the slices of others. So
nobody waits for a helper that comes late or not at all: what it has not taken, the calling thread does by itself. Who waits gives way
now and then, because the system may have put both on one core.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.atomics import IS_SAFE, address_of, array_at, fetch_add, load, pause, store, yield_core
from kdenv.compiler.kernel import kernel
from kdenv.core.threads import cores
from kdenv.envs.vector.kernels import TOO_MANY_DEALS, Results, play_games

_SECONDS = 0.0002  # how long a thread looks for what it waits for before it sleeps
_NAP = 0.00005  # how long the caller sleeps between looks at what helpers have still to do
_AT_A_TIME = 4  # games
_LOOKS = 2048  # after so many a thread lets another one have its core: the two may be on one core, where each keeps the other from its work
_CALLER = 0  # the number of the thread that calls; helpers have the others

# Places on the desk, the numbers that the threads of a crew share. What is written often is far from the rest, in cache lines of its own.
_LINE = 16
_ROUND, _STOP = 0, 1  # how many rounds have begun; not 0 when the helpers shall end
_DEALING, _OBSERVATIONS, _FINALS, _MASKS = range(_LINE, _LINE + 4)  # of this round: the parameters of play_games, arrays by their address
_FAILED = _LINE + 4  # not 0 if a kernel has returned TOO_MANY_DEALS in this round
_DONE = 2 * _LINE  # how many games are done in this round
_NEXT = 3 * _LINE  # in a line for each slice: the next game of it that nobody has taken


@kernel
def share_games(world, opponents, games, room, actions, desk, me, begins, dealing, results, spins):
    """Take games of a round and play them, as long as there are any, with the same parameters as play_games.

    The caller (me = 0) begins a round if `begins` is true, waits until all games are done, and returns True. A helper waits for the next
    round; it is told of `dealing` and `results` on the desk. Who has waited for so many spins returns False.
    """
    n = actions.shape[0]
    if begins:
        _begin(desk, n, dealing, results)
    while True:
        number = load(desk, _ROUND)
        _play_some(world, opponents, games, room, actions, desk, me, results)
        waited = 0
        while load(desk, _DONE) < n if me == _CALLER else load(desk, _ROUND) == number:
            if waited >= spins or load(desk, _STOP) != 0:
                return False
            waited += 1
            if waited % _LOOKS == 0:
                yield_core()
            pause()
        if me == _CALLER:
            return True


@kernel
def _begin(desk, n, dealing, results):
    """Begin a round: nobody has taken a game."""
    n_threads = desk.shape[0] // _LINE - _NEXT // _LINE
    desk[_DEALING], desk[_FAILED] = 1 if dealing else 0, 0
    desk[_OBSERVATIONS], desk[_FINALS] = address_of(results.observations), address_of(results.finals)
    desk[_MASKS] = address_of(results.masks)
    store(desk, _DONE, 0)
    for part in range(n_threads):
        store(desk, _NEXT + _LINE * part, n * part // n_threads)
    store(desk, _ROUND, desk[_ROUND] + 1)


@kernel
def _play_some(world, opponents, games, room, actions, desk, me, form):
    """Take games, first of the own slice and then of the others, and play them. `form` has arrays like those that are on the desk.

    A round ends when all its games are done. So whoever has taken a game that is not done may rely on what the desk says about the round.
    """
    n, n_threads, played = actions.shape[0], desk.shape[0] // _LINE - _NEXT // _LINE, 0
    at_a_time = max(1, min(_AT_A_TIME, n // (8 * n_threads)))
    for offset in range(n_threads):
        part = (me + offset) % n_threads
        end = n * (part + 1) // n_threads
        while load(desk, _NEXT + _LINE * part) < end:
            first = fetch_add(desk, _NEXT + _LINE * part, at_a_time)
            last = min(first + at_a_time, end)
            if first < last:
                observations, finals = array_at(form.observations, desk[_OBSERVATIONS]), array_at(form.finals, desk[_FINALS])
                results = Results(observations, finals, array_at(form.masks, desk[_MASKS]))
                if play_games(world, opponents, games, room, desk[_DEALING] != 0, actions, results, first, last) == TOO_MANY_DEALS:
                    store(desk, _FAILED, 1)
                played += last - first
    if played > 0:
        fetch_add(desk, _DONE, played)


class Crew:
    """As many threads as there are parts; the calling thread is one of them. Close it, or drop it, to end the others."""

    def __init__(self, parts: Sequence[tuple[Any, ...]], actions: NDArray[np.int64], form: Results) -> None:
        """Take the world, opponents, games and room of each thread, the array of the actions of every round, and arrays like the results.

        Where nothing is compiled there are no helpers, because they could only work while the caller does not.
        """
        parts = parts if IS_SAFE else parts[:1]
        self._n = len(actions)
        self._desk = np.zeros(_NEXT + _LINE * len(parts), np.int64)
        self._desk[_NEXT::_LINE], self._desk[_DONE] = self._n, self._n  # as after a round
        whole: Callable[..., bool] = share_games
        self._kernels = [partial(whole, *part, actions, self._desk, me) for me, part in enumerate(parts)]
        self._results = form  # of the last round; it is kept until the next one, because helpers only know the addresses
        self._spins = 0
        self._helpers: list[_Helper] = []
        self._share(False)  # compiles the kernel, here, because only the main thread can be interrupted while it compiles
        if 1 < len(parts) <= cores():  # else whoever looks for work keeps somebody from doing it
            self._spins = int(_SECONDS / self._seconds_of_a_spin())
        weakref.finalize(self, _end, self._helpers)
        for share in self._kernels[1:]:
            self._helpers.append(_Helper(self._desk, partial(share, False, False, form, self._spins)))

    def play(self, dealing: bool, results: Results) -> bool:
        """Deal or step all games, as play_games does; return whether a learner was found in each of them.

        If a kernel raises an error, this raises it. Its games are never done, so the crew is of no more use then; close it.
        """
        self._finish()  # if an interrupt has ended the last call, helpers may still be at work
        self._results = results
        for helper in self._helpers:
            helper.wake()
        if not self._share(True, dealing, self._spins):
            self._finish()
        return bool(self._desk[_FAILED] == 0)

    @property
    def is_whole(self) -> bool:
        """Whether the threads still run. In a process that was forked they do not."""
        return all(helper.is_alive() for helper in self._helpers)

    def close(self) -> None:
        """End the other threads."""
        _end(self._helpers)

    def _finish(self) -> None:
        """Sleep until what helpers have taken is done. Raise the error of a helper that has ended."""
        while self._desk[_DONE] < self._n and not self._share(False):
            for helper in self._helpers:
                if helper.error is not None:
                    raise helper.error
            time.sleep(_NAP)

    def _share(self, begins: bool, dealing: bool = False, spins: int = 0) -> bool:
        return bool(self._kernels[_CALLER](begins, dealing, self._results, spins))

    def _seconds_of_a_spin(self) -> float:
        n, seconds = 1000, []
        for _ in range(3):
            start = time.perf_counter()
            self._kernels[1](False, False, self._results, n)
            seconds.append(time.perf_counter() - start)
        return max(min(seconds) / n, 1e-9)


class _Helper(threading.Thread):
    """A thread of a crew. It does not know the crew, so that one that nobody holds is dropped."""

    def __init__(self, desk: NDArray[np.int64], look: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._desk, self._look = desk, look
        self.error: Exception | None = None  # what a kernel raised, which ended the helper
        self._sleep = threading.Lock()  # the helper sleeps until it is released
        self._sleep.acquire()
        self.start()

    def run(self) -> None:
        """Play games until it is ended."""
        while not self._desk[_STOP]:
            self._sleep.acquire()
            try:
                self._look()
            except Exception as error:
                self.error = error
                return

    def wake(self) -> None:
        """Let it look for games, if it sleeps."""
        if self._sleep.locked():
            self._sleep.release()

    def end(self) -> None:
        """End it, and wait until it has ended."""
        self._desk[_STOP] = 1
        self.wake()
        if self is not threading.current_thread():
            self.join()


def _end(helpers: list[_Helper]) -> None:
    """End these helpers. It is also called when a crew is dropped, which may happen in any thread, and at exit."""
    for helper in helpers:
        helper.end()
    helpers.clear()
