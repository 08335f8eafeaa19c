"""Plays many games in several processes. It gives games out, and gives a game out again if its process is killed.

A process is given one game at a time, or a batch of games that take little time each (compiled_games.py).
Each process is connected to this one by a pipe of its own, so a process that is killed does not disturb the others.
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
from kdenv.arena.job_queue import Handout
from kdenv.arena.match import Finished, GameFailed, Match, Result
from kdenv.compiler.errors import KernelError
from kdenv.core.errors import BadOption, KdenvError, KdenvWarning
from kdenv.core.threads import one_thread_each

_PATIENCE = 3.0  # seconds that processes have to finish their games when a match ends early
_COMPILING = 120.0  # seconds that the first decisions in a process may take beyond the limit, because they compile
_LOOK = 0.1  # seconds, at most, between two checks whether a decision takes too long


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
    """Play all games whose numbers are not in `done`. Return False if Ctrl-C ended this, and else True.

    `on_result` is called with the result of each game when the game ends; no result is kept here. If it returns True, no more games
    are played. `records` says that it will read the record of every game; then the processes that play write them. GameFailed is raised if
    a decision takes longer than `move_limit` seconds, if a policy fails, and if three processes are killed while they play the same game.
    `ray` is the address of a Ray cluster that plays the games, or "auto"; `processes` then limits how many jobs it has at a time.

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
    crew: _Crew | Cluster | None = None
    if ray is not None:
        if move_limit is not None:
            raise BadOption("a move limit cannot be watched on a cluster; play without it, or without ray")
        crew = Cluster(match, numbers, missing, ray, processes, records)
    else:
        processes = min(processes or usual_processes(match), missing)
        warn_of_shared_cores(match, processes)
        if processes > 1 or move_limit is not None:
            crew = _Crew(match, Handout(match, numbers, missing), processes, move_limit, records)
    try:
        for result in _results_here(match, numbers) if crew is None else crew.results():
            if on_result(result):
                break
    except KeyboardInterrupt:
        return False
    finally:
        if crew is not None:
            crew.end()
    return True


def _results_here(match: Match, numbers: Iterable[int]) -> Iterator[Result]:
    """The results of these games, played in this process."""
    games = CompiledGames(match)
    for number in numbers:
        yield games.play(number)


# The parent's side: the processes that play, as the process that started them sees them


class _Stage(Enum):
    STARTING = auto()  # the process imports what it needs
    WAITING = auto()  # it waits until it may compile
    COMPILING = auto()  # it makes its policies ready
    PLAYING = auto()  # it plays games, or waits for some


class _Ready(NamedTuple):
    """The message that a process sends when it waits for its first games."""

    batch: int  # so many games, at most, it should be given at a time


class _Worker:
    """One process that plays: its stage, its games, and since when it has been seen making the same decision."""

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

    def tell(self, message: Any) -> None:
        """Send a message. If the process has died nothing happens: this is noticed when its pipe is read next."""
        with contextlib.suppress(OSError):
            self.pipe.send(message)

    def late(self, limit: float) -> int | None:
        """The seat whose present decision has been watched for longer than the limit; None if there is none."""
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

    def how_it_ended(self) -> str:
        """Words for the end of the process: its exit code, or the signal that ended it."""
        code = self.process.exitcode or 0
        if code >= 0:
            return f"with exit code {code}"
        name = {number.value: number.name for number in signal.Signals}.get(-code, f"signal {-code}")
        return f"by {name}" + (" (memory may have run out)" if name == "SIGKILL" else "")


class _Crew:
    """All processes of a match, and the games that are still to be given out."""

    def __init__(self, match: Match, games: Handout, processes: int, move_limit: float | None, records: bool) -> None:
        _check_that_it_travels(match)
        self._match, self._games, self._processes, self._limit, self._records = match, games, processes, move_limit, records
        self._workers: list[_Worker] = []

    def results(self) -> Iterator[Result]:
        """Start the processes, and yield the results of all games in the order in which they end."""
        with _interrupts_held():
            for _ in range(self._processes):
                self._workers.append(self._new_worker())
        look = None if self._limit is None else min(_LOOK, self._limit / 4)
        while not self._games.is_empty or any(worker.games for worker in self._workers):
            pipes = {worker.pipe: worker for worker in self._workers}
            for pipe in connection.wait(list(pipes), look):
                yield from self._hear(pipes[pipe])  # type: ignore[index]
            self._give_out()
            self._check_limit()

    def end(self) -> None:
        """End all processes. Each may finish its game first if that does not take long."""
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

    def _hear(self, worker: _Worker) -> list[Result]:
        """Read a message of a process: results, which are returned, or its next stage. If the process has died, replace it."""
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
        """Give games to processes that wait for one. The first process compiles alone, so that the others find its machine code on disk."""
        stages = [worker.stage for worker in self._workers]
        for worker in self._workers:
            if worker.stage is _Stage.WAITING and (_Stage.PLAYING in stages or _Stage.COMPILING not in stages):
                worker.tell(None)
                worker.stage = _Stage.COMPILING
                stages.append(_Stage.COMPILING)
            elif worker.stage is _Stage.PLAYING and not worker.games:
                worker.games = self._games.take(max(1, min(worker.batch, self._games.left // (4 * self._processes))))
                if not worker.games:
                    return
                worker.tell(worker.games)

    def _check_limit(self) -> None:
        """Raise GameFailed if a policy takes too long to decide."""
        for worker in self._workers if self._limit is not None else ():
            assert self._limit is not None
            seat = worker.late(self._limit + (_COMPILING if worker.stage is _Stage.COMPILING else 0.0))
            if seat is not None:
                worker.process.kill()
                game = worker.games[0] if worker.games else None
                raise GameFailed(f"{self._match.who(game, seat)} did not decide within the move limit of {self._limit:g} s")

    def _replace(self, worker: _Worker) -> None:
        """Start a new process in place of one that has ended, and have its games played again. Raise GameFailed after too many tries."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.end(time.monotonic() + _PATIENCE)
        if worker.stage is _Stage.STARTING and (worker.process.exitcode or 0) > 0:
            raise BadOption(_cannot_start("its error is above"))
        self._games.give_back(worker.games, worker.how_it_ended())
        with _interrupts_held():
            self._workers.append(self._new_worker())


def _cannot_start(why: str) -> str:
    return (
        f"the processes that play cannot start ({why}), because each of them imports your script. Put what the script does under "
        "'if __name__ == \"__main__\":', and what it adds (games, cards, policies) above that; or play with processes=1 and without "
        "a move limit"
    )


def _check_that_it_travels(match: Match) -> None:
    """Refuse a policy that cannot be given to another process: one that is made in a function, and has no name as text."""
    for player in (*match.line_up, *match.other):
        try:
            ForkingPickler.dumps(player)
        except (AttributeError, TypeError, PicklingError) as error:
            raise BadOption(
                f"{player} cannot be given to the processes that play ({error}); define it at the top of your script or of a module, "
                "or play with processes=1 and without a move limit"
            ) from None


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delay Ctrl-C until the end of this block. Processes started in the block never receive Ctrl-C; their parent ends them."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    held: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))  # another thread may get the signal
    resource_tracker.ensure_running()  # if it were started later in this block, it would unblock the signal
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # new processes inherit this
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if held:
        raise KeyboardInterrupt


# The side of a process that plays


def _serve(match: Match, pipe: Any, watch: Any, by_decision: bool, records: bool) -> None:
    """Play the games whose numbers come through the pipe, until the pipe is closed.

    With `by_decision` every game is played decision by decision, so that `watch` tells of each of them; with `records` the records are
    written here. `watch` is memory that the parent reads: the number of times that a decision has begun or ended (it is odd during a
    decision), and the seat that decides or was the last to do so.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", KdenvWarning)  # the parent has told them
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def deciding(seat: int | None) -> None:
        if seat is not None:
            watch[1] = seat
        watch[0] += 1

    try:
        match.check()
    except KdenvError as error:
        _say(pipe, Failure(BadOption, _cannot_start(str(error))))
        return
    _say(pipe, _Stage.WAITING)
    _hear_from(pipe)
    try:
        games = CompiledGames(match, deciding, by_decision=by_decision)
        _say(pipe, _Ready(games.batch))
        while True:
            results = [games.play(number) for number in _hear_from(pipe)]
            _say(pipe, [result.with_record() for result in results] if records else results)
    except (GameFailed, KernelError) as error:
        _say(pipe, Failure.of(error))


def _say(pipe: Any, message: Any) -> None:
    """Send a message to the parent. If the parent has closed the pipe, nothing is left to play, and this process ends."""
    try:
        pipe.send(message)
    except OSError:
        raise SystemExit from None


def _hear_from(pipe: Any) -> Any:
    """The next message of the parent. If the parent has closed the pipe, this process ends."""
    try:
        return pipe.recv()
    except (EOFError, OSError):
        raise SystemExit from None


def _end_with_parent() -> None:
    """End this process, whatever it is doing, when the process that started it has ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
