"""`ThreadPool`: the threads that share the games of a batch. They stay awake between two steps.

Waking a sleeping thread takes 20 to 100 us. It takes as long again if the thread first needs Python's global lock, which the caller holds.
A step of 1,024 games takes 500 us. So the helpers stay in a kernel, without that lock, and wait there for the next call. A helper that
finds no work for 0.2 ms goes to sleep, so an idle environment uses no CPU.

A call is a round. Every thread has a slice of the games, takes a few of them at a time, and then takes from the slices of others. So
the caller never waits for a helper that is late: it plays the games itself. A waiting thread yields its core from time to time, because the
system may have put both threads on one core.

A ThreadPoolExecutor with a slice for each thread would need much less code, but it is slower. The table has thousands of decisions a second
with 1,024 games against random opponents. Each number is the best of 700 short runs that alternated, on two cores that were busy with other
programs, too.

| | one thread | two threads | two threads of an executor |
|---|---|---|---|
| Kingdomino | 972 | 1,775 | 987 |
| dominoes | 1,300 | 2,240 | 1,255 |
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
from kdenv.envs.vector.kernels import STEP, TOO_MANY_DEALS, Results, play_games

_SECONDS = 0.0002  # a thread that waits this long goes to sleep
_NAP = 0.00005  # the caller sleeps this long between two looks at the unfinished games of helpers
_AT_A_TIME = 4  # games
_SPINS_TO_YIELD = 2048  # a waiting thread yields its core each time after this many spins
_CALLER = 0  # the number of the calling thread; helpers have the numbers from 1 up

# Indices of `shared`, the numbers that all threads of a pool read and write. Numbers that are written often have separate cache lines.
_LINE = 16
_ROUND, _STOP = 0, 1  # the number of rounds that have begun; not 0 when the helpers must end
_CALL, _OBSERVATIONS, _FINALS, _MASKS = range(_LINE, _LINE + 4)  # of this round: the parameters of play_games, arrays by their address
_FAILED = _LINE + 4  # not 0 if a kernel has returned TOO_MANY_DEALS in this round
_DONE = 2 * _LINE  # the number of games that are done in this round
_NEXT = 3 * _LINE  # in a line for each slice: its next game that no thread has taken


@kernel
def share_games(world, opponents, games, room, actions, shared, me, begins, call, results, spins):
    """Play games of a round, with the parameters of play_games, until all have been taken.

    The caller (me = 0) begins a round if `begins` is true, waits until all games are done, and returns True. A helper waits for the next
    round, and reads `call` and `results` from `shared`. Both return False after waiting for this many spins.
    """
    n = actions.shape[0]
    if begins:
        _begin(shared, n, call, results)
    while True:
        number = load(shared, _ROUND)
        _play_some(world, opponents, games, room, actions, shared, me, results)
        waited = 0
        # The caller waits for the games that helpers have taken, and a helper for the next round.
        while load(shared, _DONE) < n if me == _CALLER else load(shared, _ROUND) == number:
            if waited >= spins or load(shared, _STOP) != 0:
                return False
            waited += 1
            if waited % _SPINS_TO_YIELD == 0:
                yield_core()
            pause()
        if me == _CALLER:
            return True


@kernel
def _begin(shared, n, call, results):
    """Begin a round, in which no game has been taken."""
    n_threads = shared.shape[0] // _LINE - _NEXT // _LINE
    shared[_CALL], shared[_FAILED] = call, 0
    shared[_OBSERVATIONS], shared[_FINALS] = address_of(results.observations), address_of(results.finals)
    shared[_MASKS] = address_of(results.masks)
    # The order counts: a helper may take games as soon as _NEXT is set, so all other numbers are set before.
    store(shared, _DONE, 0)
    for part in range(n_threads):
        store(shared, _NEXT + _LINE * part, n * part // n_threads)
    store(shared, _ROUND, shared[_ROUND] + 1)


@kernel
def _play_some(world, opponents, games, room, actions, shared, me, form):
    """Take games, first of slice `me` and then of the others, and play them. `form` has arrays like those of the round.

    A round ends when all its games are done. So the numbers about the round do not change while a thread plays a game that it has taken.
    """
    n, n_threads, played = actions.shape[0], shared.shape[0] // _LINE - _NEXT // _LINE, 0
    at_a_time = max(1, min(_AT_A_TIME, n // (8 * n_threads)))
    for offset in range(n_threads):
        part = (me + offset) % n_threads
        end = n * (part + 1) // n_threads
        while load(shared, _NEXT + _LINE * part) < end:
            # Several threads may pass the test above at once, so a thread may get a `first` behind the end.
            first = fetch_add(shared, _NEXT + _LINE * part, at_a_time)
            last = min(first + at_a_time, end)
            if first < last:
                observations, finals = array_at(form.observations, shared[_OBSERVATIONS]), array_at(form.finals, shared[_FINALS])
                results = Results(observations, finals, array_at(form.masks, shared[_MASKS]))
                if play_games(world, opponents, games, room, shared[_CALL], actions, results, first, last) == TOO_MANY_DEALS:
                    store(shared, _FAILED, 1)
                played += last - first
    if played > 0:
        fetch_add(shared, _DONE, played)


class ThreadPool:
    """One thread for each part, the calling thread included. Close the pool, or drop it, to end the others.

    Without the compiler there are no helpers, because Python's global lock lets only one thread work.

    Args:
        parts: The world, opponents, games and room of each thread.
        actions: The array that has the actions of every round.
        form: Arrays of the same shapes as the results.

    """

    def __init__(self, parts: Sequence[tuple[Any, ...]], actions: NDArray[np.int64], form: Results) -> None:
        parts = parts if IS_SAFE else parts[:1]
        self._n = len(actions)
        self._shared = np.zeros(_NEXT + _LINE * len(parts), np.int64)
        self._shared[_NEXT::_LINE], self._shared[_DONE] = self._n, self._n  # as after a round
        whole: Callable[..., bool] = share_games
        self._kernels = [partial(whole, *part, actions, self._shared, me) for me, part in enumerate(parts)]
        self._results = form  # of the last round; they are kept until the next one, because helpers have only their addresses
        self._spins = 0
        self._helpers: list[_Helper] = []
        self._share(False)  # compiles the kernel in the calling thread, because Ctrl-C can interrupt only the main thread
        if 1 < len(parts) <= cores():  # with fewer cores a waiting thread would keep another one from its work
            self._spins = int(_SECONDS / self._seconds_of_a_spin())
        weakref.finalize(self, _end, self._helpers)
        for share in self._kernels[1:]:
            self._helpers.append(_Helper(self._shared, partial(share, False, STEP, form, self._spins)))

    def play(self, call: int, results: Results) -> bool:
        """Make a call of play_games for all games; return whether a learner was found in each of them.

        This raises the error of a kernel. Then the games are not complete; close the pool.
        """
        self._finish()  # if an interrupt has ended the last call, helpers may still be at work
        self._results = results
        for helper in self._helpers:
            helper.wake()
        if not self._share(True, call, self._spins):
            self._finish()
        return bool(self._shared[_FAILED] == 0)

    @property
    def is_whole(self) -> bool:
        """True while the threads run. In a forked process they do not."""
        return all(helper.is_alive() for helper in self._helpers)

    def close(self) -> None:
        """End the other threads."""
        _end(self._helpers)

    def _finish(self) -> None:
        """Sleep until the games that helpers have taken are done. Raise the error of a helper that has ended."""
        while self._shared[_DONE] < self._n and not self._share(False):
            for helper in self._helpers:
                if helper.error is not None:
                    raise helper.error
            time.sleep(_NAP)

    def _share(self, begins: bool, call: int = STEP, spins: int = 0) -> bool:
        return bool(self._kernels[_CALLER](begins, call, self._results, spins))

    def _seconds_of_a_spin(self) -> float:
        n, seconds = 1000, []
        for _ in range(3):
            start = time.perf_counter()
            self._kernels[1](False, STEP, self._results, n)
            seconds.append(time.perf_counter() - start)
        return max(min(seconds) / n, 1e-9)


class _Helper(threading.Thread):
    """A thread of a pool. It holds no reference to the pool, so that Python can drop a pool that is not used."""

    def __init__(self, shared: NDArray[np.int64], look: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._shared, self._look = shared, look
        self.error: Exception | None = None  # what a kernel raised, which ended the helper
        self._sleep = threading.Lock()  # the helper sleeps until the lock is released
        self._sleep.acquire()
        self.start()

    def run(self) -> None:
        """Play games until end() is called."""
        while not self._shared[_STOP]:
            self._sleep.acquire()
            try:
                self._look()
            except Exception as error:
                self.error = error
                return

    def wake(self) -> None:
        """Wake the helper, if it sleeps."""
        if self._sleep.locked():
            self._sleep.release()

    def end(self) -> None:
        """End the helper, and wait until it has ended."""
        self._shared[_STOP] = 1
        self.wake()
        if self is not threading.current_thread():
            self.join()


def _end(helpers: list[_Helper]) -> None:
    """End these helpers. This is also called at exit, and when a pool is dropped, which may happen in any thread."""
    for helper in helpers:
        helper.end()
    helpers.clear()
