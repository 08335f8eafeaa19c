"""A server in a thread of the tests, on a free port of this machine, and a client that asks it."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from pathlib import Path
from typing import Any

from kdenv.server.serve import serve
from kdenv.server.service import Hall
from kdenv.server.settings import Limits, ServerSettings

GENEROUS = Limits(requests=1e6, games_an_hour=10**6)


class Served:
    """A server. It is a context: it listens inside, and has ended outside."""

    def __init__(self, database: Path, *, kdom: bool = False, limits: Limits = GENEROUS, **settings: Any) -> None:
        self.settings = ServerSettings(database=database, limits=limits, **settings)
        self._kdom = kdom
        self.said: list[str] = []
        self.hall: Hall | None = None

    def __enter__(self) -> Served:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._kdom_listening = socket.create_server(("127.0.0.1", 0)) if self._kdom else None
        self.port = self._listening.getsockname()[1]
        self.kdom_port = self._kdom_listening.getsockname()[1] if self._kdom_listening else 0
        ready = threading.Event()
        self._error: list[BaseException] = []

        def say(words: str) -> None:
            self.said.append(words)
            ready.set()

        async def main() -> None:
            self._stop, self._loop = asyncio.Event(), asyncio.get_running_loop()
            await serve(self.settings, self._listening, self._kdom_listening, say, self._stop, opened=self._opened)

        def run() -> None:
            try:
                asyncio.run(main())
            except BaseException as error:
                self._error.append(error)
                ready.set()

        self._thread = threading.Thread(target=run)
        self._thread.start()
        assert ready.wait(120)
        if self._error:
            raise self._error[0]
        return self

    def _opened(self, hall: Hall) -> None:
        self.hall = hall

    def __exit__(self, *error: object) -> None:
        if not self._error:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        assert not self._thread.is_alive()
        self._listening.close()
        if self._kdom_listening:
            self._kdom_listening.close()
        if self._error:
            raise self._error[0]

    def raw(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None, port: int = 0
    ) -> tuple[int, dict[str, str], bytes]:
        """The status, the headers and the body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
        """The status and the document of an answer of the API; a text if it is no JSON."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        status, told, content = self.raw(method, f"/api/v1{path}", data, headers)
        return status, json.loads(content) if told.get("content-type", "").startswith("application/json") else content.decode()

    def get(self, path: str, token: str | None = None) -> Any:
        """The document that a GET gives. It must succeed."""
        status, document = self.ask("GET", path, None, token)
        assert status == 200, (path, status, document)
        return document

    def post(self, path: str, body: Any, token: str | None = None) -> Any:
        """The document that a POST gives. It must succeed."""
        status, document = self.ask("POST", path, body, token)
        assert status in (200, 201), (path, status, document)
        return document

    def make(self, game: str, seats: list[str] | None = None, **more: Any) -> str:
        """The id of a new game."""
        return str(self.post("/games", {"game": game, "seats": seats or [], **more})["id"])

    def join(self, id: str, name: str, **more: Any) -> str:
        """The token of a seat that is taken by this name."""
        return str(self.post(f"/games/{id}/join", {"name": name, **more})["token"])
