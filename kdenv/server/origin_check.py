"""Refuses requests that a page of another site makes in the browser of somebody who can reach this server.

A browser sends the requested name as Host, and the site of the page that makes the request as Origin. With DNS rebinding, the owner of
another site lets its name lead to this server, so that its pages could read and play here. Such a request has a Host that is not ours. A
page of another site can also send requests here without reading the answers. Such a request has an Origin that is not ours. Programs send
no Origin, and an old one may send no Host; every browser sends a Host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kdenv.core.errors import shown
from kdenv.server.web import refusal

_PLACE = re.compile(r"([^\[\]:@/?#\s]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")  # a name or a number, and a port


def name_in(place: str) -> str | None:
    """The name of a host, from a text such as "localhost:8000" or "[::1]:8000"; None if it is no such text."""
    found = _PLACE.fullmatch(place.lower())
    return found[1].strip("[]").removesuffix(".") if found else None


class Names:
    """The names that a server answers to."""

    def __init__(self, bound: Iterable[str], given: Iterable[str]) -> None:
        """`bound` are the addresses on which it listens, `given` the names from the operator."""
        bound = [host.lower() for host in bound]
        self._given = {name.lower().removesuffix(".") for name in given}
        self._known = {"localhost", *bound, *self._given}
        self._has_every_number = any(_is_every_address(host) for host in bound)

    def refusal_reason(self, hosts: list[str], origins: list[str]) -> str:
        """The reason to refuse a request with these headers Host and Origin, as a sentence; empty if there is none."""
        for host in hosts:
            if not self._knows(name_in(host)):
                return f"this server does not answer to the name {shown(host)}; its operator can allow it with --host-name"
        for origin in origins:
            place = origin.lower().partition("://")[2]
            if not (place and (place in map(str.lower, hosts) or name_in(place) in self._given)):
                return f"a page of {shown(origin)} may not ask this server; its operator can allow the name with --host-name"
        return ""

    def _knows(self, name: str | None) -> bool:
        """True if this is a name of ours. Nobody can let a number lead elsewhere, so a server on all addresses answers to every number."""
        if name is None or name in self._known:
            return name is not None
        try:
            return ip_address(name).is_loopback or self._has_every_number
        except ValueError:
            return False


class OnlyByName:
    """An application that answers only to its names, and to no page of another site."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        headers = Headers(scope=scope)
        obstacle = self._names.refusal_reason(headers.getlist("host"), headers.getlist("origin"))
        await (refusal(403, obstacle) if obstacle else self._app)(scope, receive, send)


def _is_every_address(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False
