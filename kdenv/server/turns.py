"""Work that takes longer than some milliseconds: clients take turns, results are kept, and what nobody waits for is cancelled.

`Turns` decides whose work is next. `Threads` does work that only reads, such as drawings, beside the thread that answers requests; searches
are done by other processes (pool.py). `Results` keeps what was found, and lets several requests wait for the same work.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import msgspec

from kdenv.server.errors import RequestError

_T = TypeVar("_T")
_BYTES_A_LETTER = 20  # of a document in memory, for each byte of its JSON; curves take 13 to 21


class Turns:
    """Places for work. Free places go to the lowest rank, and within a rank to one client after the other."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: defaultdict[int, OrderedDict[str, deque[asyncio.Future[None]]]] = defaultdict(OrderedDict)

    @asynccontextmanager
    async def place(self, client: str, rank: int = 0, most: int | None = None) -> AsyncIterator[None]:
        """Wait for a place, and hold it in the block. RequestError if `most` tasks of the client wait already."""
        await self._wait(client, rank, most)
        try:
            yield
        finally:
            self._next()

    async def _wait(self, client: str, rank: int, most: int | None) -> None:
        if self._free:
            self._free -= 1
            return
        mine = self._waiting[rank].setdefault(client, deque())
        if most is not None and len(mine) >= most:
            raise RequestError(503, f"{len(mine)} of your requests wait for their turn here, and there may be no more; try again later")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        mine.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._next()  # it had been given the place at the same moment
            elif turn in mine:
                mine.remove(turn)
            raise

    def _next(self) -> None:
        """Give the place to the next task, or keep it free."""
        for rank in sorted(self._waiting):
            clients = self._waiting[rank]
            while clients:
                client, tasks = clients.popitem(last=False)
                while tasks:
                    turn = tasks.popleft()
                    if not turn.done():
                        if tasks:
                            clients[client] = tasks  # behind all others
                        turn.set_result(None)
                        return
        self._free += 1


class Cancelled(Exception):
    """Raised in a thread whose work nobody waits for any more."""


class _Task(NamedTuple):
    work: Callable[[Callable[[], None]], Any]
    is_cancelled: threading.Event
    done: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Threads:
    """Threads for work. The end of the process does not wait for them."""

    def __init__(self, number: int = 1) -> None:
        self._tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._missing = number  # threads that are started when they are first needed

    async def do(self, work: Callable[[Callable[[], None]], _T]) -> _T:
        """The result of work(check). It calls check() from time to time, which raises Cancelled if this task has been cancelled."""
        if self._missing:
            self._missing -= 1
            threading.Thread(target=self._serve, name="kdenv work", daemon=True).start()
        loop, is_cancelled = asyncio.get_running_loop(), threading.Event()
        done: asyncio.Future[_T] = loop.create_future()
        self._tasks.put(_Task(work, is_cancelled, done, loop))
        try:
            return await done
        finally:
            is_cancelled.set()

    def _serve(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            while True:
                _work_on(self._tasks.get())


def _work_on(task: _Task) -> None:
    result, error = None, None

    def check() -> None:
        if task.is_cancelled.is_set():
            raise Cancelled

    try:
        check()
        result = task.work(check)
    except BaseException as raised:  # it is raised where the result is awaited
        error = raised
    task.loop.call_soon_threadsafe(_finish, task.done, result, error)


def _finish(done: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)


class _Shared:
    """Work that several requests wait for."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self.task, self.waiting = task, 0


class Results:
    """Results by key, the most recently requested ones. Work is done once, and cancelled when nobody waits for it."""

    def __init__(self, size: int) -> None:
        """`size` is about the number of bytes that are kept."""
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._size, self._free = size, size
        self._running: dict[Hashable, _Shared] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    async def get(self, key: Hashable, work: Callable[[], Awaitable[_T]]) -> _T:
        """The result of this key: the kept one, or that of work()."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]  # type: ignore[no-any-return]
        if key not in self._running:
            self._running[key] = _Shared(asyncio.ensure_future(self._find(key, work)))
        shared = self._running[key]
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting:
                shared.task.cancel()
                if self._running.get(key) is shared:
                    del self._running[key]

    async def _find(self, key: Hashable, work: Callable[[], Awaitable[_T]]) -> _T:
        found = await work()
        size = _size(found)
        if size <= self._size:
            self._kept[key] = found
            self._free -= size
        while self._free < 0:
            _, oldest = self._kept.popitem(last=False)
            self._free += _size(oldest)
        return found

    def clear(self) -> None:
        """Keep nothing of what was found."""
        self._kept.clear()
        self._free = self._size

    async def end(self) -> None:
        """Cancel all work."""
        tasks = [shared.task for shared in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _size(found: Any) -> int:
    return len(found) if isinstance(found, str | bytes) else _BYTES_A_LETTER * len(msgspec.json.encode(found))
