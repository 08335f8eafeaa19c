"""Plays many games on a Ray cluster, in place of the processes of one machine (workers.py).

A job is a task of Ray that plays several games and returns their results when it ends. If its process or its node is lost, its
games are given out again. The nodes must have the same version of kdenv, and the modules that the policies need.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from kdenv.arena.compiled_games import CompiledGames
from kdenv.arena.cores import most_threads
from kdenv.arena.failures import Failure
from kdenv.arena.job_queue import JobQueue
from kdenv.arena.match import GameFailed, Match, Result, measures_processor_time, processor_time
from kdenv.arena.results import changed_model, versions
from kdenv.compiler.errors import KernelError
from kdenv.core.errors import BadOption, KdenvError, KdenvWarning, missing_extra
from kdenv.core.threads import READ_BY_LIBRARIES

T = TypeVar("T")

_ANSWERS_WITHIN = 10.0  # seconds in which the head of a cluster answers
_JOB_SECONDS = 0.2  # a job takes at least about this long, so that the overhead of a task is small
_MOST_GAMES = 5000  # of a job
_AHEAD = 2  # jobs for each core that are given out before others have ended
_MOST_LOSSES = 3  # of processes with the same task
_WAIT = 1.0  # seconds between two looks at the number of cores of the cluster


class _Done(NamedTuple):
    """The return value of a job: results, and the seconds of a game; or a failure."""

    results: list[Result]
    seconds: float
    failure: Failure | None = None


class Cluster:
    """The games of a match, played by the nodes of a Ray cluster."""

    def __init__(self, match: Match, numbers: Iterator[int], n_games: int, address: str, most: int | None, records: bool) -> None:
        """Connect to the cluster at this address, or to the one of this machine ("auto"). `most` limits the number of games at a time."""
        self._ray, self._is_ours = _connected(address)
        self._match, self._most = match, most
        self._games = JobQueue(match, numbers, n_games)
        self._seconds = math.inf  # of a game; infinite until the first job has ended
        self._threads = most_threads(match)
        self._job = self._ray.remote(num_cpus=self._threads, max_retries=0)(_play)
        self._how = versions(match), records, measures_processor_time()
        self._running: dict[Any, list[int]] = {}

    def results(self) -> Iterator[Result]:
        """Yield the results of all games, job by job as they end."""
        while self._running or not self._games.is_empty:
            self._give_out()
            ended, _ = self._ray.wait(list(self._running), num_returns=1, timeout=_WAIT)
            for job in ended:
                yield from self._handle_ended(job, self._running.pop(job))

    def end(self) -> None:
        """End the jobs, and leave the cluster."""
        for job in self._running:
            self._ray.cancel(job, force=True)
        if self._is_ours:
            self._ray.shutdown()

    def _give_out(self) -> None:
        """Give out jobs until each core has one and some wait."""
        cores = int(self._ray.cluster_resources().get("CPU", 0)) // self._threads
        at_once = _AHEAD * max(1, cores) if self._most is None else self._most
        while len(self._running) < at_once and not self._games.is_empty:
            wanted = 1 if math.isinf(self._seconds) else min(_MOST_GAMES, math.ceil(_JOB_SECONDS / max(self._seconds, 1e-9)))
            games = self._games.take(wanted)
            self._running[self._job.remote(self._match, games, *self._how)] = games

    def _handle_ended(self, job: Any, games: list[int]) -> list[Result]:
        """The results of a job that has ended. If its process or node was lost, its games are given out again."""
        try:
            done: _Done = self._ray.get(job)
        except self._ray.exceptions.RayTaskError as error:
            raise GameFailed(f"a job with {self._match.name_of_game(games[0])} failed: {error.cause}") from error
        except self._ray.exceptions.RayError as error:
            self._games.give_back(games, f"by {type(error).__name__} of Ray")
            return []
        if done.failure is not None:
            raise done.failure.raised()
        self._games.finish(games)
        self._seconds = done.seconds if math.isinf(self._seconds) else (self._seconds + done.seconds) / 2
        return done.results


@contextlib.contextmanager
def connection(address: str | None) -> Iterator[None]:
    """Stay connected to the cluster at this address, so that several matches in this block share the connection. None: no cluster."""
    if address is None:
        yield
        return
    ray, is_ours = _connected(address)
    try:
        yield
    finally:
        if is_ours:
            ray.shutdown()


def run_tasks(address: str, work: Callable[..., T], tasks: Iterable[tuple[Any, ...]], cores: int, on_done: Callable[[T], Any]) -> None:
    """Let a cluster call `work` with the arguments of each task. The task of a lost node begins again, at most twice.

    `on_done` is called with each result, and returns the arguments of a task that follows, or None.
    """
    with connection(address):
        ray: Any = importlib.import_module("ray")
        job = ray.remote(num_cpus=cores, max_retries=0)(work)
        running = {job.remote(*task): (task, 1) for task in tasks}
        try:
            while running:
                ended, _ = ray.wait(list(running), num_returns=1, timeout=_WAIT)
                for each in ended:
                    task, times = running.pop(each)
                    try:
                        following, times = on_done(ray.get(each)), 0
                    except ray.exceptions.RayTaskError as error:
                        raise error.cause if isinstance(error.cause, KdenvError) else GameFailed(f"a job failed: {error.cause}") from error
                    except ray.exceptions.RayError as error:
                        if times == _MOST_LOSSES:
                            raise GameFailed(
                                f"{times} processes ended in the same job, the last one by {type(error).__name__} of Ray"
                            ) from None
                        following = task
                    if following is not None:
                        running[job.remote(*following)] = following, times + 1
        finally:
            for each in running:
                ray.cancel(each, force=True)


def _connected(address: str) -> tuple[Any, bool]:
    """Connect to a cluster. Return the module ray, and whether this call has made the connection."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise missing_extra("playing on a cluster", "ray") from None
    if ray.is_initialized():
        return ray, False
    one_thread = {"env_vars": dict.fromkeys(READ_BY_LIBRARIES, "1")}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        _check_listening(address)
        ray.init(address=address, runtime_env=one_thread, log_to_driver=False, logging_level="ERROR")
    except (OSError, ValueError, RuntimeError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise BadOption(
            f"no Ray cluster can be reached at {address} ({first}); start one with 'ray start --head', or give its address"
        ) from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)  # ray.init has replaced it
    return ray, True


def _check_listening(address: str) -> None:
    """Raise OSError if nothing listens at an address of a host and a port; Ray would wait for it for many minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWERS_WITHIN).close()


# On the nodes

_ready: dict[str, CompiledGames] = {}  # the last match of this process, by its repr


def _play(match: Match, games: list[int], expected: dict[str, Any], records: bool, by_processor: bool) -> _Done:
    """Play these games. `expected` has the versions and models of the machine that began the match (results.py).

    With `by_processor` the times of decisions are CPU times.
    """
    warnings.simplefilter("ignore", KdenvWarning)  # the process that began the match prints them
    try:
        match.check()
        here = versions(match)
        if (here["kdenv"], here["rules"]) != (expected["kdenv"], expected["rules"]):
            there, ours = (f"{said['kdenv']} with rules {said['rules']}" for said in (here, expected))
            raise BadOption(f"a node of the cluster has kdenv {there}, here it is {ours}")
        if name := changed_model(expected, here):
            raise BadOption(f"a node of the cluster has another {name} than this machine; copy the file there")
        key = repr(match)
        if key not in _ready:
            _ready.clear()
            _ready[key] = CompiledGames(match)
        start = time.perf_counter()
        with processor_time() if by_processor else contextlib.nullcontext():
            results = [_ready[key].play(number) for number in games]
        if records:
            results = [result.with_record() for result in results]
    except (KdenvError, KernelError) as error:
        return _Done([], 0.0, Failure.of(error))
    return _Done(results, (time.perf_counter() - start) / len(games))
