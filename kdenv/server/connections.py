"""Connections: how many a client may hold, and how long it may take to send a request. uvicorn limits neither."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kdenv.server.settings import Limits

_SILENCE = 60.0  # seconds between two lines of the log with the same text
_KINDS = 1000  # texts for which the time of the last line is remembered


class Connections:
    """The open connections of a server, on all its ports."""

    def __init__(self, limits: Limits, most: int, proxy: str | None = None) -> None:
        """`most` connections may be open in all. A proxy may hold as many; its clients cannot be told apart here."""
        self._limits, self._most, self._proxy = limits, most, proxy
        self._of_client = min(limits.connections, max(1, most // 2))
        self._of: Counter[str] = Counter()

    def protocol(self, **about: Any) -> Connection:
        """A new connection, as uvicorn makes it."""
        return Connection(self, self._limits, **about)

    def admit(self, client: str) -> bool:
        """Count a connection of this client, if it may have another one."""
        is_full = self._of.total() >= self._most or (client != self._proxy and self._of[client] >= self._of_client)
        if not is_full:
            self._of[client] += 1
        return not is_full

    def leave(self, client: str) -> None:
        """Count a connection of this client no longer."""
        self._of[client] -= 1
        if not self._of[client]:
            del self._of[client]


class Connection(H11Protocol):
    """A connection. It is closed if the rest of a request does not come in time."""

    def __init__(self, all: Connections, limits: Limits, **about: Any) -> None:
        super().__init__(**about)
        self._all, self._seconds = all, {"headers": limits.header_seconds, "body": limits.body_seconds}
        self._admitted = ""  # the client that this connection is counted for
        self._awaited = ""  # the part of a request that is to come
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for the headers, or close the connection at once if there are too many."""
        super().connection_made(transport)
        client = self.client[0] if self.client else "unknown"
        if self._all.admit(client):
            self._admitted = client
            self._wait_for("headers")
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what has come, and wait for what is missing. A timer runs on while parts of the same headers or body come."""
        super().data_received(data)
        self._wait_for({h11.IDLE: "headers", h11.SEND_BODY: "body"}.get(self.conn.their_state, ""))

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_for("")
        if self._admitted:
            self._all.leave(self._admitted)
            self._admitted = ""
        super().connection_lost(exc)

    def _wait_for(self, what: str) -> None:
        if what == self._awaited:
            return
        self._awaited = what
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self._seconds[what], self.transport.abort) if what else None


class OnceAMinute(logging.Filter):
    """Lets a line of a text through once a minute, so that a flood of mistakes does not fill the disk."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True for the first line of its text in a minute."""
        text, now = str(record.msg)[:200], self._clock()
        if now - self._last.get(text, -_SILENCE) < _SILENCE:
            return False
        if len(self._last) >= _KINDS:
            self._last.clear()
        self._last[text] = now
        return True
