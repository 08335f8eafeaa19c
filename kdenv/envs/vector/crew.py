"""`Crew`: the threads that share the games of a batch. They do not sleep between calls that follow one another at once.

To wake a sleeping thread takes 20 to 100 us, and as long again if it needs the lock of Python's interpreter first, which the calling
thread has; a step of 1,024 games takes 500. So the helpers stay in a kernel, without that lock, and look there for the next call. Who
finds none for 0.2 ms goes back to Python and sleeps, so that an environment that nobody steps costs nothing.

A call is a round. Every thread has a slice of the games, takes a few of them at a time, and then takes from the slices of others. So
nobody waits for a helper that comes late or not at all: what it has not taken, the calling thread does by itself.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.shared import IS_SAFE, add_shared, array_at, ask, pause, tell
from kdenv.core.threads import cores
from kdenv.envs.vector.kernels import TOO_MANY_DEALS, Form, play_games

_SECONDS = 0.0002  # how long a thread looks for what it waits for before it sleeps
_NAP = 0.00005  # how long the caller sleeps between looks at what helpers have still to do
_AT_A_TIME = 8  # games
_CALLER = 0  # the number of the thread that calls; helpers have the others

# Places on the desk, the numbers that the threads of a crew share. What is written often is far from the rest, in cache lines of its own.
_LINE = 16
_ROUND, _STOP = 0, 1  # how many rounds have begun; not 0 when the helpers shall end
_DEALING, _OBSERVATIONS, _FINALS, _MASKS, _FAILED = range(_LINE, _LINE + 5)  # of this round: the parameters of play_games, and its failure
_DONE = 2 * _LINE  # how many games are done in this round
_NEXT = 3 * _LINE  # in a line for each slice: the next game of it that nobody has taken


@kernel
def share_games(world, cast, games, room, actions, form, desk, me, begins, spins):
    """Take games of a round and play them, as long as there are any, with the same parameters as play_games.

    The caller (me = 0) begins a round if `begins` is true, waits until all games are done, and returns True. A helper waits for the next
    round. Who has waited for so many spins returns False.
    """
    n = actions.shape[0]
    if begins:
        _begin(desk, n)
    while True:
        number = ask(desk, _ROUND)
        _play_some(world, cast, games, room, actions, form, desk, me)
        waited = 0
        while ask(desk, _DONE) < n if me == _CALLER else ask(desk, _ROUND) == number:
            if waited >= spins or ask(desk, _STOP) != 0:
                return False
            waited += 1
            pause()
        if me == _CALLER:
            return True


@kernel
def _begin(desk, n):
    """Begin a round: nobody has taken a game."""
    n_threads = desk.shape[0] // _LINE - _NEXT // _LINE
    desk[_FAILED] = 0
    tell(desk, _DONE, 0)
    for part in range(n_threads):
        tell(desk, _NEXT + _LINE * part, n * part // n_threads)
    tell(desk, _ROUND, desk[_ROUND] + 1)


@kernel
def _play_some(world, cast, games, room, actions, form, desk, me):
    """Take games, first of the own slice and then of the others, and play them.

    A round ends when all its games are done. So whoever has taken a game that is not done may rely on what the desk says about the round.
    """
    n, n_threads, played = actions.shape[0], desk.shape[0] // _LINE - _NEXT // _LINE, 0
    at_a_time = max(1, min(_AT_A_TIME, n // (_AT_A_TIME * n_threads)))
    for offset in range(n_threads):
        part = (me + offset) % n_threads
        end = n * (part + 1) // n_threads
        while ask(desk, _NEXT + _LINE * part) < end:
            first = add_shared(desk, _NEXT + _LINE * part, at_a_time)
            last = min(first + at_a_time, end)
            if first < last:
                observations, finals = array_at(form.observations, desk[_OBSERVATIONS]), array_at(form.observations, desk[_FINALS])
                masks, dealing = array_at(form.masks, desk[_MASKS]), desk[_DEALING] != 0
                if play_games(world, cast, games, room, dealing, actions, observations, finals, masks, first, last) == TOO_MANY_DEALS:
                    tell(desk, _FAILED, 1)
                played += last - first
    if played > 0:
        add_shared(desk, _DONE, played)


class Crew:
    """As many threads as there are parts; the calling thread is one of them. Close it, or drop it, to end the others."""

    def __init__(self, parts: Sequence[tuple[Any, ...]], actions: NDArray[np.int64], form: Form) -> None:
        """Take the world, cast, games and room of each thread, and the actions, an array whose content changes from round to round.

        Where nothing is compiled there are no helpers, because they could only work while the caller does not.
        """
        parts = parts if IS_SAFE else parts[:1]
        self._n = len(actions)
        self._arguments = [(*part, actions, form) for part in parts]
        self._desk = np.zeros(_NEXT + _LINE * len(parts), np.int64)
        self._desk[_NEXT::_LINE], self._desk[_DONE] = self._n, self._n  # as after a round
        self._held: tuple[NDArray[Any], ...] = ()  # the arrays of this round, of which kernels only know the addresses
        self._spins = 0
        self._locks = [threading.Lock() for _ in parts[1:]]  # a helper sleeps until its lock is released
        self._helpers: list[threading.Thread] = []

    def play(self, dealing: bool, observations: NDArray[np.float32], finals: NDArray[np.float32], masks: NDArray[np.int8]) -> bool:
        """Deal or step all games, as play_games does; return whether a learner was found in each of them."""
        if self._locks and not self._helpers:
            self._start()
        self._finish()  # if an interrupt has ended the last call, helpers may still be at work
        self._held = observations, finals, masks
        self._desk[_DEALING : _MASKS + 1] = dealing, *(array.ctypes.data for array in self._held)
        for lock in self._locks:
            if lock.locked():
                lock.release()
        if not self._share(True, self._spins):
            self._finish()
        return bool(self._desk[_FAILED] == 0)

    @property
    def is_whole(self) -> bool:
        """Whether the threads still run. In a process that was forked they do not."""
        return all(helper.is_alive() for helper in self._helpers)

    def close(self) -> None:
        """End the other threads."""
        _end(self._desk, self._locks, self._helpers)

    def _start(self) -> None:
        """Start the helpers. The kernel is compiled before, here, because only the main thread can be interrupted while it compiles."""
        self._share(False, 0)
        if len(self._arguments) <= cores():  # else whoever looks for work keeps somebody from doing it
            self._spins = int(_SECONDS / self._seconds_of_a_spin())
        self._locks = [threading.Lock() for _ in self._locks]
        for me, lock in enumerate(self._locks, 1):
            lock.acquire()
            helper = threading.Thread(target=_help, args=(self._arguments[me], self._desk, lock, me, self._spins), daemon=True)
            self._helpers.append(helper)
            helper.start()
        weakref.finalize(self, _end, self._desk, self._locks, self._helpers)

    def _seconds_of_a_spin(self) -> float:
        n, seconds = 1000, []
        for _ in range(3):
            start = time.perf_counter()
            share_games(*self._arguments[1], self._desk, 1, False, n)
            seconds.append(time.perf_counter() - start)
        return max(min(seconds) / n, 1e-9)

    def _finish(self) -> None:
        """Sleep until what helpers have taken is done."""
        while self._desk[_DONE] < self._n and not self._share(False, 0):
            time.sleep(_NAP)

    def _share(self, begins: bool, spins: int) -> bool:
        return bool(share_games(*self._arguments[_CALLER], self._desk, _CALLER, begins, spins))


def _help(arguments: tuple[Any, ...], desk: NDArray[np.int64], lock: threading.Lock, me: int, spins: int) -> None:
    """What a helper does. It knows no crew, so that one that nobody holds is dropped."""
    while not desk[_STOP]:
        lock.acquire()
        share_games(*arguments, desk, me, False, spins)


def _end(desk: NDArray[np.int64], locks: list[threading.Lock], helpers: list[threading.Thread]) -> None:
    """End these helpers and wait for them. It is also called when a crew is dropped, which may happen in any thread, and at exit."""
    desk[_STOP] = 1
    for lock, helper in zip(locks, helpers, strict=False):
        if lock.locked():
            lock.release()
        if helper is not threading.current_thread():
            helper.join()
    helpers.clear()
