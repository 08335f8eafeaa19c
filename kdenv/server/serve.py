"""Runs a server until a signal ends it: opens the hall, listens, and closes everything in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from webbrowser import open_new_tab

import uvicorn
from filelock import FileLock, Timeout
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from kdenv.core.errors import BadOption
from kdenv.server import page
from kdenv.server.api import Api
from kdenv.server.callbacks import Callbacks
from kdenv.server.connections import Connections, OnceAMinute
from kdenv.server.origin_check import Names, OnlyByName
from kdenv.server.rate_limit import Limiter
from kdenv.server.service import Hall
from kdenv.server.settings import ServerSettings
from kdenv.server.store import Store
from kdenv.server.turns import Threads
from kdenv.server.web import Web

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_SMALL, _COMPRESSION = 1000, 5  # bytes that are not compressed; the level, which takes 3 ms for a drawing of 200 KB
_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
_PATIENCE = 3  # seconds that open connections have to end
_BACKLOG = 128  # connections that wait to be accepted
_FILES = 16_384  # that may be open, if the system allows as many
_OWN_FILES = 128  # of them, which are no connections
_IDLE = 75  # seconds that a connection is kept on which nothing is asked; proxies keep theirs for 60


class _Server(uvicorn.Server):
    """A server of uvicorn that leaves signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def application(hall: Hall, callbacks: Callbacks) -> ASGIApp:
    """The API and the page as an ASGI application. Answers are compressed if the client takes that."""
    limits = hall.settings.limits
    web = Web([*Api(hall, callbacks).routes(), *page.routes()], Limiter(limits.requests, 2 * limits.requests), limits.body)
    return GZipMiddleware(web, _SMALL, _COMPRESSION)


def _open_files() -> int:
    """The number of files that may be open. It is raised as far as the system allows."""
    if resource is None:
        return _FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return min(soft, _FILES) if soft != resource.RLIM_INFINITY else _FILES


async def _unless_stopped(work: Coroutine[Any, Any, Any], stop: asyncio.Event) -> bool:
    """Do something, and return True; return False if the server is to end before it is done."""
    tasks = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    is_done = tasks[0].done()
    for task in tasks:
        task.cancel()
    if is_done:
        tasks[0].result()
    await asyncio.gather(*tasks, return_exceptions=True)
    return is_done


def run(settings: ServerSettings, tell: Callable[[str], None], *, open_page: bool = False) -> None:
    """Serve until Ctrl-C or SIGTERM. `tell` is called with sentences for the operator."""
    lock = FileLock(str(settings.database.resolve()) + ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BadOption(f"another server uses the database {settings.database}; end it, or choose another --database") from None
    for name in ("asyncio", "uvicorn.error"):  # which write a line for every mistake of a client
        logging.getLogger(name).addFilter(OnceAMinute())
    with lock, contextlib.ExitStack() as sockets:
        listening = sockets.enter_context(_listen(settings.host, settings.port))
        kdom = None if settings.kdom_port is None else sockets.enter_context(_listen(settings.host, settings.kdom_port))
        asyncio.run(_until_signal(settings, listening, kdom, tell, open_page))
    with contextlib.suppress(OSError):
        Path(lock.lock_file).unlink()


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. BadOption if it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise BadOption(f"nothing can listen on port {port} of {host} ({why}); choose another --port or --host") from None


async def _until_signal(
    settings: ServerSettings, listening: socket.socket, kdom: socket.socket | None, tell: Callable[[str], None], open_page: bool
) -> None:
    stop = asyncio.Event()
    _on_signals(stop)
    await serve(settings, listening, kdom, tell, stop, open_page=open_page)


async def serve(
    settings: ServerSettings,
    listening: socket.socket,
    kdom: socket.socket | None,
    tell: Callable[[str], None],
    stop: asyncio.Event,
    *,
    open_page: bool = False,
    opened: Callable[[Hall], None] = lambda hall: None,
) -> None:
    """Serve on these sockets until `stop` is set. `opened` is called with the hall when games continue."""
    hall = Hall(Store(settings.database), settings)
    sockets = [listening] if kdom is None else [listening, kdom]
    callbacks = Callbacks(_hosts_to_call(settings, sockets), [each.getsockname()[1] for each in sockets])
    hall.when_changed.append(callbacks.tell)
    apps: list[tuple[Any, socket.socket]] = [(application(hall, callbacks), listening)]
    try:
        if kdom is not None:
            from kdenv.server.kdom import Kdom

            apps.append((Kdom(hall, callbacks, listening.getsockname()[1]), kdom))
        if not await _unless_stopped(Threads().do(lambda check: hall.prepare()), stop):
            return
        await hall.begin()
        opened(hall)
        names = Names([settings.host, *(each.getsockname()[0] for each in sockets)], settings.host_names)
        connections = Connections(settings.limits, _open_files() - _OWN_FILES, settings.proxy)
        servers = [_Server(_config(OnlyByName(app, names), settings, connections)) for app, _ in apps]
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(server.serve([own])) for server, (_, own) in zip(servers, apps, strict=True)]
        tasks.append(asyncio.create_task(stop.wait()))
        address = _address(settings.host, listening)
        tell(f"the page is at {address}/ and the API at {address}/api/v1; games are kept in {settings.database}")
        if damaged := len(hall.store.damaged):
            tell(f"damaged games in it that are set aside: {damaged}; the log says which and why, and nothing of them is deleted")
        if kdom is not None:
            tell(f"the protocol of the Kingdomino paper is spoken at {_address(settings.host, kdom)}/")
        if open_page:
            asyncio.get_running_loop().call_soon(open_new_tab, f"{address}/")
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        tell("ending; games that run continue at the next start")
        hall.closing.set()
        for live in hall.live.values():
            live.wake()
        for server in servers:
            server.should_exit = True
        stop.set()
        await asyncio.gather(*tasks)
    finally:
        await callbacks.end()
        with contextlib.suppress(sqlite3.Error):
            await hall.close()


def _hosts_to_call(settings: ServerSettings, sockets: Sequence[socket.socket]) -> Sequence[str]:
    """The hosts that the operator names. Without them this machine is called, unless others can reach the server and make it call."""
    if settings.callbacks is not None:
        return settings.callbacks
    return _THIS_MACHINE if all(ip_address(each.getsockname()[0]).is_loopback for each in sockets) else ()


def _config(app: Any, settings: ServerSettings, connections: Connections) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=connections.protocol,  # type: ignore[arg-type]  # it makes the protocol, as a class does
        ws="none",  # who asks for a web socket is answered as anybody else
        lifespan="off",
        access_log=False,  # addresses of the paper's protocol have tokens in them
        log_level="warning",
        server_header=False,
        proxy_headers=settings.proxy is not None,
        forwarded_allow_ips=settings.proxy,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_PATIENCE,
        backlog=_BACKLOG,
    )


def _on_signals(stop: asyncio.Event) -> None:
    """Set the event at Ctrl-C and SIGTERM."""
    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None:
            continue
        if sys.platform == "win32":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
        else:
            loop.add_signal_handler(number, stop.set)


def _address(host: str, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
