"""Calls the agents that gave an address when they joined. Nothing waits for an answer, and only hosts that the operator allows are called.

Each seat has a queue, so an agent that answers slowly delays only its own calls. An address is checked when an agent gives it
and again before each call, because other hosts may have been allowed when the game began.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
from collections.abc import Callable, Collection, Sequence
from functools import partial
from urllib.parse import SplitResult, urlsplit

from kdenv.core.errors import shown
from kdenv.server.errors import RequestError
from kdenv.server.running_game import Live
from kdenv.server.turns import Threads

_LOG = logging.getLogger("kdenv.server")
_PAUSES = (0.5, 2.0, 8.0)  # seconds before each new try
_PATIENCE = 10.0  # seconds for an answer
_THREADS = 16
_PORTS = {"http": 80, "https": 443}
_WAITING = 200  # calls that may wait for one seat; more are dropped, the oldest first


class Callbacks:
    """The calls to the agents of all games."""

    def __init__(self, hosts: Sequence[str], own_ports: Collection[int]) -> None:
        """`hosts` may be called. `own_ports`, those of the server itself, are called on no host, because a name may lead back to it."""
        self._hosts, self._own_ports = [host.lower() for host in hosts], own_ports
        self._threads = Threads(_THREADS)
        self._queues: dict[str, asyncio.Queue[tuple[str, bytes | None]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def check(self, address: str) -> None:
        """Refuse an address that may not be called."""
        try:
            parts = urlsplit(address)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise RequestError(422, f"callback={shown(address)} is no address; write http://host:port/path") from None
        if parts.scheme not in _PORTS or not host or "@" in parts.netloc or not address.isascii() or not address.isprintable():
            raise RequestError(422, f"callback={shown(address)} is no address; write http://host:port/path")
        if " " in address:
            raise RequestError(422, "callback= has a blank in it; write http://host:port/path")
        if not self._hosts:
            raise RequestError(403, "this server calls nobody back; ask for the state with wait=, or ask the operator for --callbacks")
        if host not in self._hosts:
            raise RequestError(403, f"this server does not call {shown(host)}; it calls {', '.join(self._hosts)}")
        port = port or _PORTS[parts.scheme]
        if port in self._own_ports:
            raise RequestError(403, f"this server does not call port {port}, on which it listens itself; use another port")

    def tell(self, live: Live) -> None:
        """Call the agent that is to decide now. It gets the game, its seat and the step."""
        seat = live.mover
        if seat is None or not live.kept.seats[seat].callback.startswith("POST ") or seat in live.left:
            return
        about = {"game": live.id, "seat": seat, "step": live.step}
        self.call(f"{live.id}/{seat}", live.kept.seats[seat].callback.removeprefix("POST "), json.dumps(about).encode())

    def call(self, agent: str, address: str, body: bytes | None) -> None:
        """Call an address after all earlier calls of this agent. A POST with a body is tried again, a GET is not."""
        try:
            self.check(address)
        except RequestError as error:
            _LOG.info("%s is not called: %s", shown(address), error)
            return
        if agent not in self._queues:
            self._queues[agent] = asyncio.Queue()
        queue = self._queues[agent]
        if queue.qsize() >= _WAITING:
            queue.get_nowait()
        queue.put_nowait((address, body))
        if agent not in self._tasks or self._tasks[agent].done():
            self._tasks[agent] = asyncio.create_task(self._work(agent, queue))

    async def end(self) -> None:
        """Drop the calls that wait."""
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _work(self, agent: str, queue: asyncio.Queue[tuple[str, bytes | None]]) -> None:
        while not queue.empty():
            address, body = queue.get_nowait()
            for pause in (*_PAUSES, None) if body is not None else (None,):
                try:
                    await self._threads.do(partial(_request, address, body))
                    break
                except (OSError, http.client.HTTPException) as error:
                    _LOG.info("%s cannot be called: %s", shown(address), error)
                    if pause is None:
                        break
                    await asyncio.sleep(pause)
        del self._queues[agent], self._tasks[agent]


def _request(address: str, body: bytes | None, check: Callable[[], None] = lambda: None) -> None:
    """Make one request. The answer is not read, and no redirect is followed. A POST with an answer of 500 or more has failed."""
    parts: SplitResult = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_PATIENCE)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if body is None:
            connection.request("GET", path)
        else:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
        status = connection.getresponse().status
        if body is not None and status >= 500:
            raise http.client.HTTPException(f"it answered {status}")
    finally:
        connection.close()
