"""Plays many games in several processes. A game whose process is killed is played again.

A process is given one game at a time, or a batch of games that take little time each (compiled_games.py).
Each process has its own pipe to this one, so a process that is killed does not disturb the others.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from multiprocessing import connection, resource_tracker
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from typing import Any, NamedTuple

from kdenv.arena.cluster import Cluster
from kdenv.arena.compiled_games import CompiledGames
from kdenv.arena.cores import usual_processes, warn_of_shared_cores
from kdenv.arena.failures import Failure
from kdenv.arena.job_queue import JobQueue
from kdenv.arena.match import Finished, GameFailed, Match, Result
from kdenv.compiler.errors import KernelError
from kdenv.core.errors import BadOption, KdenvError, KdenvWarning
from kdenv.core.threads import one_thread_each

_PATIENCE = 3.0  # seconds in which processes may finish their games when a match ends early
_COMPILING = 120.0  # seconds beyond the limit for the first decisions in a process, which compile
_LOOK = 0.1  # the longest time between two checks of the move limit, in seconds


def play(
    match: Match,
    *,
    processes: int | None = None,
    done: Iterable[int] = (),
    move_limit: float | None = None,
    records: bool = False,
    ray: str | None = None,
    on_result: Callable[[Result], bool | None],
) -> bool:
    """Play the games of a match.

    Args:
        match: The match.
        processes: The number of processes, by default one for each core. With `ray` it limits the number of jobs at a time.
        done: The numbers of games that are not played.
        move_limit: The longest time of a decision, in seconds.
        records: If true, the processes that play write the record of every game. This is faster if `on_result` reads all records.
        ray: The address of a Ray cluster that plays the games, or "auto".
        on_result: A function that is called with the result of each game when the game ends. If it returns True, no more games are played.

    Returns:
        False after Ctrl-C, else True.

    Raises:
        GameFailed: A decision takes longer than the move limit, a policy fails, or three processes are killed in the same game.

    >>> from kdenv.arena import Match, play
    >>> results = []
    >>> play(Match("kingdomino", ["full_greedy", "random"], games=4, seed=1), processes=1, on_result=results.append)
    True
    >>> sorted(result.number for result in results)
    [0, 1, 2, 3]

    """
    match.check()
    if move_limit is not None and not (math.isfinite(move_limit) and move_limit > 0):
        raise BadOption(f"a move limit of {move_limit} is not possible; it must be a number of seconds above 0")
    finished = Finished(number for number in done if number < match.games)
    numbers = (number for number in range(match.games) if number not in finished)
    missing = match.games - len(finished)
    if missing < 1:
        return True
    pool: _Workers | Cluster | None = None
    if ray is not None:
        if move_limit is not None:
            raise BadOption("a move limit cannot be watched on a cluster; play without it, or without ray")
        pool = Cluster(match, numbers, missing, ray, processes, records)
    else:
        processes = min(processes or usual_processes(match), missing)
        warn_of_shared_cores(match, processes)
        if processes > 1 or move_limit is not None:
            pool = _Workers(match, JobQueue(match, numbers, missing), processes, move_limit, records)
    try:
        for result in _results_here(match, numbers) if pool is None else pool.results():
            if on_result(result):
                break
    except KeyboardInterrupt:
        return False
    finally:
        if pool is not None:
            pool.end()
    return True


def _results_here(match: Match, numbers: Iterable[int]) -> Iterator[Result]:
    """Play these games in this process, and yield their results."""
    games = CompiledGames(match)
    for number in numbers:
        yield games.play(number)


# In the parent process


class _Stage(Enum):
    STARTING = auto()  # the process imports what it needs
    WAITING = auto()  # it waits until it may compile
    COMPILING = auto()  # it compiles and loads its policies
    PLAYING = auto()  # it plays games, or waits for some


class _Ready(NamedTuple):
    """The message of a process that waits for its first games."""

    batch: int  # the largest number of games to give to it at a time


class _Worker:
    """A process that plays: its stage, its games, and the time since which it has been seen in the same decision."""

    def __init__(self, match: Match, by_decision: bool, records: bool) -> None:
        context = multiprocessing.get_context("spawn")  # fork is unsafe where torch or another threaded library is loaded
        self.pipe, theirs = context.Pipe()
        self.stage = _Stage.STARTING
        self.batch = 1
        self.games: list[int] = []
        self._watch = context.RawArray("q", 2)  # see _serve
        self._seen, self._since = 0, 0.0
        self.process = context.Process(target=_serve, args=(match, theirs, self._watch, by_decision, records), daemon=True)
        try:
            with one_thread_each():
                self.process.start()
        except BaseException:
            self.pipe.close()
            raise
        finally:
            theirs.close()

    def send(self, message: Any) -> None:
        """Send a message. If the process has died, this is noticed when its pipe is read next."""
        with contextlib.suppress(OSError):
            self.pipe.send(message)

    def late(self, limit: float) -> int | None:
        """The seat whose present decision has taken longer than the limit; None if there is none."""
        count, seat, now = self._watch[0], self._watch[1], time.monotonic()
        if count != self._seen:
            self._seen, self._since = count, now
        return seat if count % 2 and now - self._since > limit else None

    def end(self, deadline: float) -> None:
        """Wait for the process to end until the deadline, then kill it."""
        self.process.join(max(0.0, deadline - time.monotonic()))
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()

    def exit_words(self) -> str:
        """The exit code of the process, or the signal that ended it, in words."""
        code = self.process.exitcode or 0
        if code >= 0:
            return f"with exit code {code}"
        name = {number.value: number.name for number in signal.Signals}.get(-code, f"signal {-code}")
        return f"by {name}" + (" (memory may have run out)" if name == "SIGKILL" else "")


class _Workers:
    """The processes of a match, and the queue of its games."""

    def __init__(self, match: Match, games: JobQueue, processes: int, move_limit: float | None, records: bool) -> None:
        _check_picklable(match)
        self._match, self._games, self._processes, self._limit, self._records = match, games, processes, move_limit, records
        self._workers: list[_Worker] = []

    def results(self) -> Iterator[Result]:
        """Start the processes, and yield the results of all games as they end."""
        with _interrupts_delayed():
            for _ in range(self._processes):
                self._workers.append(self._new_worker())
        look = None if self._limit is None else min(_LOOK, self._limit / 4)
        while not self._games.is_empty or any(worker.games for worker in self._workers):
            pipes = {worker.pipe: worker for worker in self._workers}
            for pipe in connection.wait(list(pipes), look):
                yield from self._handle_message(pipes[pipe])  # type: ignore[index]
            self._give_out()
            self._check_limit()

    def end(self) -> None:
        """End all processes. Each has a few seconds to finish its games."""
        deadline = time.monotonic() + _PATIENCE
        for worker in self._workers:
            worker.pipe.close()
        try:
            for worker in self._workers:
                worker.end(deadline)
        finally:
            for worker in self._workers:
                worker.end(0.0)

    def _new_worker(self) -> _Worker:
        return _Worker(self._match, self._limit is not None, self._records)

    def _handle_message(self, worker: _Worker) -> list[Result]:
        """Read a message of a process: results, which are returned, or its next stage. Replace a process that has died."""
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            self._replace(worker)
            return []
        if isinstance(message, Failure):
            raise message.raised()
        if isinstance(message, list):
            self._games.finish(worker.games)
            worker.games = []
            return message
        if isinstance(message, _Ready):
            worker.stage, worker.batch = _Stage.PLAYING, message.batch
        else:
            worker.stage = message
        return []

    def _give_out(self) -> None:
        """Give games to waiting processes. The first process compiles alone, so that the others find its machine code on disk."""
        stages = [worker.stage for worker in self._workers]
        for worker in self._workers:
            if worker.stage is _Stage.WAITING and (_Stage.PLAYING in stages or _Stage.COMPILING not in stages):
                worker.send(None)
                worker.stage = _Stage.COMPILING
                stages.append(_Stage.COMPILING)
            elif worker.stage is _Stage.PLAYING and not worker.games:
                worker.games = self._games.take(max(1, min(worker.batch, self._games.left // (4 * self._processes))))
                if not worker.games:
                    return
                worker.send(worker.games)

    def _check_limit(self) -> None:
        """Raise GameFailed if a decision takes too long."""
        for worker in self._workers if self._limit is not None else ():
            assert self._limit is not None
            seat = worker.late(self._limit + (_COMPILING if worker.stage is _Stage.COMPILING else 0.0))
            if seat is not None:
                worker.process.kill()
                game = worker.games[0] if worker.games else None
                raise GameFailed(f"{self._match.who(game, seat)} did not decide within the move limit of {self._limit:g} s")

    def _replace(self, worker: _Worker) -> None:
        """Start a new process in place of one that has ended, and queue its games again. Raise GameFailed after too many tries."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.end(time.monotonic() + _PATIENCE)
        if worker.stage is _Stage.STARTING and (worker.process.exitcode or 0) > 0:
            raise BadOption(_cannot_start("its error is above"))
        self._games.give_back(worker.games, worker.exit_words())
        with _interrupts_delayed():
            self._workers.append(self._new_worker())


def _cannot_start(why: str) -> str:
    return (
        f"the processes that play cannot start ({why}), because each of them imports your script. Put what the script does under "
        "'if __name__ == \"__main__\":', and what it adds (games, cards, policies) above that; or play with processes=1 and without "
        "a move limit"
    )


def _check_picklable(match: Match) -> None:
    """Refuse a policy that cannot be pickled, such as one that is defined in a function and has no text."""
    for player in (*match.line_up, *match.other):
        try:
            ForkingPickler.dumps(player)
        except (AttributeError, TypeError, PicklingError) as error:
            raise BadOption(
                f"{player} cannot be given to the processes that play ({error}); define it at the top of your script or of a module, "
                "or play with processes=1 and no move limit"
            ) from None


@contextlib.contextmanager
def _interrupts_delayed() -> Iterator[None]:
    """Delay Ctrl-C until the end of this block. Processes that start in the block never receive Ctrl-C; their parent ends them."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    held: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))  # another thread may receive the signal
    resource_tracker.ensure_running()  # if it were started later in this block, it would unblock the signal
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # new processes inherit this
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if held:
        raise KeyboardInterrupt


# In a process that plays


def _serve(match: Match, pipe: Any, watch: Any, by_decision: bool, records: bool) -> None:
    """Play the games whose numbers come through the pipe, until the pipe is closed.

    With `by_decision` every game is played decision by decision, so that `watch` follows each decision; with `records` the records are
    written here. `watch` is shared memory with two numbers. The first counts the beginnings and ends of decisions, so it is odd during
    a decision. The second is the seat that decides, or decided last.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", KdenvWarning)  # the parent has printed them
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def deciding(seat: int | None) -> None:
        if seat is not None:
            watch[1] = seat
        watch[0] += 1

    try:
        match.check()
    except KdenvError as error:
        _send(pipe, Failure(BadOption, _cannot_start(str(error))))
        return
    _send(pipe, _Stage.WAITING)
    _receive(pipe)
    try:
        games = CompiledGames(match, deciding, by_decision=by_decision)
        _send(pipe, _Ready(games.batch))
        while True:
            results = [games.play(number) for number in _receive(pipe)]
            _send(pipe, [result.with_record() for result in results] if records else results)
    except (GameFailed, KernelError) as error:
        _send(pipe, Failure.of(error))


def _send(pipe: Any, message: Any) -> None:
    """Send a message to the parent. If the parent has closed the pipe, end this process."""
    try:
        pipe.send(message)
    except OSError:
        raise SystemExit from None


def _receive(pipe: Any) -> Any:
    """The next message of the parent. If the parent has closed the pipe, end this process."""
    try:
        return pipe.recv()
    except (EOFError, OSError):
        raise SystemExit from None


def _end_with_parent() -> None:
    """End this process when the process that started it has ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
