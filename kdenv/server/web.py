"""The server as an ASGI application: finds the route of a request, checks its values, and turns the result of the handler into an answer.

A handler says everything about its route once. Its decorator has the method and the path. The types of its parameters `query` and `body`
(models.py) check requests, and they and the type of its result describe the route (openapi.py). Mistakes are answered with their status
and {"error": one sentence}; an error of ours is logged and answered with 500, without a traceback.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, get_type_hints

import msgspec
from msgspec import structs
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from kdenv.core.errors import KdenvError, did_you_mean, shown
from kdenv.core.fields import members_of
from kdenv.server import models
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
_NOT_PRINTED = re.compile("[\ud800-\udfff]")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Call:
    """A request whose form has been checked."""

    path: Mapping[str, str]
    token: str | None
    client: str
    request: Request

    async def unless_gone(self, work: Awaitable[_T]) -> _T:
        """The result of a task that takes time. It is cancelled when the client goes. Raises ClientDisconnect then."""
        task, gone = asyncio.ensure_future(work), asyncio.ensure_future(self._gone())
        try:
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientDisconnect
            return task.result()
        finally:
            for each in (task, gone):
                each.cancel()
            await asyncio.gather(task, gone, return_exceptions=True)

    async def _gone(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            pass


Handler = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Route:
    """A route: method, path, types of values, and handler."""

    method: str
    path: str
    handler: Handler
    query: type[models.Request] = models.Nothing
    body: type[models.Request] | None = None  # None: there is none, and a body is ignored
    answer: Any = None  # the type of the document, or a media type
    token: str = "none"  # none, optional or required
    status: int = 200

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of the path of a request for this route."""
        return re.compile(re.sub(r"\{(\w+)\}", lambda part: f"(?P<{part[1]}>{_PARTS[part[1]]})", self.path))


def route(method: str, path: str, *, token: str = "none", media: str = "", status: int = 200) -> Callable[[Handler], Handler]:
    """Make a method of a class a handler of requests. `media` is the type of an answer that is no document."""

    def mark(handler: Handler) -> Handler:
        hints = get_type_hints(handler, include_extras=True)
        query, body = hints.get("query", models.Nothing), hints.get("body")
        answer = next(each for each in members_of(hints["return"]) if media or each is not Response)  # a route may also answer a stream
        handler.route = Route(method, path, handler, query, body, media or answer, token, status)  # type: ignore[attr-defined]
        return handler

    return mark


def routes_of(having: object) -> Iterator[Route]:
    """The routes of the handlers of an object."""
    for name, handler in vars(type(having)).items():
        if isinstance(found := getattr(handler, "route", None), Route):
            yield replace(found, handler=getattr(having, name))


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
        with contextlib.suppress(ClientDisconnect):
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            client = request.client.host if request.client else "unknown"
            wait = self._requests.take(client)
            if wait:
                raise RequestError(429, f"these are too many requests in a short time; wait {wait:.1f} s")
            route, path = self._route(request)
            answer = await self._handle(request, route, path, client)
            return answer if isinstance(answer, Response) else document(answer, route.status)
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

    async def _handle(self, request: Request, route: Route, path: Mapping[str, str], client: str) -> Any:
        token = None if route.token == "none" else _token_of(request)
        if route.token == "required" and token is None:
            raise RequestError(401, "this needs the token of a seat, in a header 'Authorization: Bearer <token>'; joining a game gives one")
        given: dict[str, Any] = {}
        query = _query(route.query, request.query_params.multi_items())
        if route.query is not models.Nothing:
            given["query"] = query
        if route.body is not None:
            given["body"] = checked(route.body, await self._json(request))
        return await route.handler(Call(path, token, client, request), **given)

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
            return msgspec.json.decode(b"".join(parts) or b"{}")
        except (msgspec.DecodeError, ValueError, RecursionError):
            raise RequestError(400, "the body is not JSON") from None


def _query(kind: type[models.Request], given: list[tuple[str, str]]) -> models.Request:
    """The values of a query. RequestError if it has others, or one twice."""
    texts = dict(given)
    if len(texts) < len(given):
        name = next(name for name, _ in given if sum(name == other for other, _ in given) > 1)
        raise RequestError(422, f"{shown(_printable(name))} is given twice")
    made = checked(kind, texts, strict=False)
    for name, text in texts.items():
        value = getattr(made, name)
        if value != text and (value is None or json.dumps(value) != text):  # msgspec takes 1 for true, and 5e0 for 5
            raise RequestError(422, f"{name}={shown(_printable(text))} is not possible; write true, false, or a number in digits")
    return made


def checked(kind: type[models.Request], given: Any, *, strict: bool = True) -> models.Request:
    """The values of a request. RequestError if they are not possible. Texts are read as values if not `strict`."""
    try:
        return msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise RequestError(422, _sentence(kind, given, str(error))) from None


def _sentence(kind: type[models.Request], given: Any, found: str) -> str:
    """The mistake that msgspec found in a request, as a sentence that names the value and what would be right."""
    fields = {field.name: field for field in structs.fields(kind)}
    known = ", ".join(fields) or "none"
    if not isinstance(given, dict):
        return f"the body must be a JSON object; what may be given in it: {known}"
    for name in given:
        if name not in fields:
            return f"{shown(_printable(name))!r} is not known here{did_you_mean(name, fields)}; what may be given: {known}"
    for name, field in fields.items():
        if field.required and name not in given:
            return f"{name} is missing: {_meaning(field.type)}"
    name = re.split(r"[.\[`]", found.partition(" - at `$.")[2])[0]
    right = _possible(msgspec.json.schema(fields[name].type))
    return f"{name}={shown(_printable(given[name]))} is not possible; it must be {right}"


def _possible(schema: dict[str, Any]) -> str:
    """The values that a JSON schema allows, in words."""
    match schema:
        case {"anyOf": kinds}:
            return " or ".join(_possible(each) for each in kinds if each != {"type": "null"})
        case {"enum": choices}:
            return f"one of {', '.join(choices)}"
        case {"type": "integer", "minimum": least, "maximum": most}:
            return f"a whole number from {least} to {most}"
        case {"type": "string", "maxLength": most}:
            return f"a text of at most {most} letters without NUL"
        case {"type": "array", "items": items, "maxItems": most}:
            return f"a list of {schema.get('minItems', 0)} to {most}, each {_possible(items)}"
        case {"type": "object", "additionalProperties": values, "maxProperties": most}:
            return f"an object with at most {most} values, each {_possible(values)}"
    return {"boolean": "true or false", "integer": "a whole number"}[schema["type"]]


def _meaning(kind: Any) -> str:
    return next((each.description for each in getattr(kind, "__metadata__", ()) if getattr(each, "description", None)), "it is needed")


def document(answer: Any, status: int = 200) -> Response:
    """The answer with a document."""
    return Response(msgspec.json.encode(answer), status, {"Cache-Control": "no-store"}, "application/json")


def refusal(status: int, sentence: str) -> Response:
    """The answer to a refused request."""
    answer = document(models.Error(error=_printable(sentence)), status)
    if status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if status in (429, 503):
        answer.headers["Retry-After"] = "1"
    if status == 405:
        answer.headers["Allow"] = sentence.removeprefix("this address takes ").partition(", not ")[0]
    return answer


def _token_of(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token else None


def _printable(value: Any) -> str:
    return _NOT_PRINTED.sub("?", str(value))
