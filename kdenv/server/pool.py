"""The processes in which programs decide and positions are analysed, so that a slow search delays nothing else.

A process that was killed is replaced, and its job is done again. A process whose job takes too long is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from pathlib import Path
from typing import Any

from kdenv.core.errors import KdenvError
from kdenv.server.messages import HEAD, READY, Job, JobFailure
from kdenv.server.turns import Turns

_TRIES = 3  # a job fails after this number of processes have ended during it
_COMPILING = 300.0  # seconds that a process may take before its decision, because it compiles


class CannotDecide(KdenvError):
    """A job has no answer: its policy failed, took too long, or killed its processes."""


class Pool:
    """Processes, and the jobs that wait for one. A process is started when it is first needed."""

    def __init__(self, processes: int, folder: Path | None = None) -> None:
        """`folder` is the working directory of the processes, where modules and models of the operator lie."""
        self._turns = Turns(processes)
        self._folder = folder
        self._idle: list[_Process] = []
        self._running: set[_Process] = set()
        self._killed: list[_Process] = []
        self._ended = False

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [process.pid for process in (*self._idle, *self._running)]

    async def do(self, job: Job, limit: float, client: str = "", rank: int = 0, most: int | None = None) -> Any:
        """The answer to a job, which waits for its turn in the queue of a client; the lowest rank is first.

        Raises CannotDecide if there is no answer, also when the decision takes longer than `limit` seconds, and RequestError if
        `most` jobs of the client wait already.
        """
        async with self._turns.place(client, rank, most):
            for _ in range(_TRIES):
                answer = await self._try(job, limit)
                if isinstance(answer, JobFailure):
                    raise CannotDecide(answer.sentence)
                if answer is not None:
                    return answer
            raise CannotDecide(f"{job.text} ended {_TRIES} processes")

    async def _try(self, job: Job, limit: float) -> Any:
        """The answer of one process; None if it ended."""
        process = self._idle.pop() if self._idle else await _Process.start(self._folder)
        self._running.add(process)
        done = False
        try:
            answer = await process.ask(job, limit)
            done = answer is not None
            return answer
        except TimeoutError:
            raise CannotDecide(f"{job.text} did not decide within {limit:g} s") from None
        finally:
            self._running.discard(process)
            if done and not self._ended:
                self._idle.append(process)
            else:
                self._kill(process)
                if self._ended:  # this process began when the pool was ending, which does not wait for it
                    await process.gone()

    def _kill(self, process: _Process) -> None:
        """Kill a process, and remember it until it is gone: `end` waits for it."""
        process.kill()
        self._killed = [*(each for each in self._killed if not each.is_gone), process]

    async def end(self) -> None:
        """Kill all processes, and wait until they are gone."""
        self._ended = True
        for process in (*self._idle, *self._running):
            self._kill(process)
        self._idle.clear()
        for process in self._killed:
            await process.gone()


class _Process:
    """One process, as the server sees it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid

    @classmethod
    async def start(cls, folder: Path | None) -> _Process:
        pipe = asyncio.subprocess.PIPE
        arguments = "-m", "kdenv.server.worker"
        return cls(await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=pipe, stdout=pipe, cwd=folder, limit=1 << 24))

    async def ask(self, job: Job, limit: float) -> Any:
        """The answer to a job; None if the process ends before it answers. Raises TimeoutError if it takes too long."""
        assert self._process.stdin is not None
        message = pickle.dumps(job)
        try:
            self._process.stdin.write(HEAD.pack(len(message)) + message)
            async with asyncio.timeout(_COMPILING):
                await self._process.stdin.drain()
                first = await self._hear()
            if first != READY:
                return pickle.loads(first)
            async with asyncio.timeout(limit):
                return pickle.loads(await self._hear())
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def _hear(self) -> bytes:
        assert self._process.stdout is not None
        (length,) = HEAD.unpack(await self._process.stdout.readexactly(HEAD.size))
        return await self._process.stdout.readexactly(length)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    @property
    def is_gone(self) -> bool:
        return self._process.returncode is not None

    async def gone(self) -> None:
        """Wait until it has ended."""
        await self._process.wait()
