"""The server as an ASGI application: finds the route of a request, checks its fields, and turns the result of the route into an answer.

A route is described once (Route): its description checks requests and gives the OpenAPI page. Mistakes are answered with their
status and {"error": one sentence}; an error of ours is logged and answered with 500, without a traceback.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from kdenv.core.errors import KdenvError
from kdenv.server.describe import Fields, read_body, read_query
from kdenv.server.errors import RequestError
from kdenv.server.rate_limit import Limiter

_LOG = logging.getLogger("kdenv.server")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_PARTS = {"id": _UUID, "step": "[0-9]{1,9}"}  # patterns of the parts of a path that routes write in braces


@dataclass(frozen=True)
class Call:
    """A request whose form has been checked."""

    path: Mapping[str, str]
    query: dict[str, Any]
    body: dict[str, Any]
    token: str | None
    client: str
    request: Request


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True)
class Route:
    """A route: method, path, fields and handler."""

    method: str
    path: str
    about: str  # a sentence
    handler: Handler
    query: Fields = field(default_factory=dict)
    body: Fields | None = None  # None: there is none, and a body is ignored
    token: str = "none"  # none, optional or required
    gives: str = "object"  # the name of a schema in openapi.py, or a media type
    status: int = 200

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of the path of a request for this route."""
        return re.compile(re.sub(r"\{(\w+)\}", lambda part: f"(?P<{part[1]}>{_PARTS[part[1]]})", self.path))


class Web:
    """The application."""

    def __init__(self, routes: list[Route], requests: Limiter, largest_body: int) -> None:
        self._routes = [(route.pattern, route) for route in routes]
        self._requests, self._largest = requests, largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            client = request.client.host if request.client else "unknown"
            wait = self._requests.take(client)
            if wait:
                raise RequestError(429, f"these are too many requests in a short time; wait {wait:.1f} s")
            route, path = self._route(request)
            call = await self._call(request, route, path, client)
            answer = await route.handler(call)
            return answer if isinstance(answer, Response) else JSONResponse(answer, route.status, {"Cache-Control": "no-store"})
        except RequestError as error:
            return refusal(error.status, error.sentence)
        except KdenvError as error:
            return refusal(422, str(error))
        except (ClientDisconnect, asyncio.CancelledError):
            raise
        except Exception:
            _LOG.exception("%s %s failed", request.method, request.scope.get("path"))
            return refusal(500, "the server has made a mistake, which its log describes; nothing that was answered before is lost")

    def _route(self, request: Request) -> tuple[Route, Mapping[str, str]]:
        path, method = request.scope["path"], "GET" if request.method == "HEAD" else request.method
        others = []
        for pattern, route in self._routes:
            if match := pattern.fullmatch(path):
                if route.method == method:
                    return route, match.groupdict()
                others.append(route.method)
        if others:
            allowed = ", ".join(sorted({*others, *(["HEAD"] if "GET" in others else [])}))
            raise RequestError(405, f"this address takes {allowed}, not {method[:20]}")
        raise RequestError(404, "there is nothing at this address; /api/v1/openapi.json describes what there is")

    async def _call(self, request: Request, route: Route, path: Mapping[str, str], client: str) -> Call:
        body: dict[str, Any] = {}
        token = _token_of(request)
        if route.token == "required" and token is None:
            raise RequestError(401, "this needs the token of a seat, in a header 'Authorization: Bearer <token>'; joining a game gives one")
        query = read_query(route.query, request.query_params.multi_items())
        if route.body is not None:
            body = read_body(route.body, await self._json(request))
        return Call(path, query, body, token if route.token != "none" else None, client, request)

    async def _json(self, request: Request) -> Any:
        if not request.headers.get("content-type", "").lower().startswith("application/json"):
            raise RequestError(415, "the body must be JSON, with the header 'Content-Type: application/json'")
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self._largest:
                raise RequestError(413, f"the body is too long; it may have {self._largest:,} bytes")
            parts.append(part)
        try:
            return json.loads(b"".join(parts) or b"{}")
        except (ValueError, RecursionError):
            raise RequestError(400, "the body is not JSON") from None


def refusal(status: int, sentence: str) -> Response:
    """The answer to a refused request."""
    headers = {"Cache-Control": "no-store"}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status in (429, 503):
        headers["Retry-After"] = "1"
    if status == 405:
        headers["Allow"] = sentence.removeprefix("this address takes ").partition(", not ")[0]
    printable = sentence.encode("utf-8", "replace").decode("utf-8")
    return JSONResponse({"error": printable}, status, headers)


def _token_of(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token else None
