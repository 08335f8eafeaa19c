"""`kdenv serve`: runs a server on which people and programs play, watch and look back at games."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path

from kdenv.cli import arguments
from kdenv.cli.arguments import Commands
from kdenv.core.errors import BadOption, missing_extra, shown

_BOUNDS = {  # the limits that an operator may set, each with its meaning
    "games": "games that may wait or run at the same time",
    "games_an_hour": "games that one client may make in an hour",
    "requests": "requests of one client in a second",
    "turn_seconds": "the longest time for a decision of a player",
    "search_seconds": "the longest time for a decision of a program",
    "analysis_seconds": "the longest time for an analysis",
}


def add(commands: Commands) -> None:
    from kdenv.server.settings import Limits

    parser = commands.add(
        "serve",
        _run,
        "run a server with a page, on which people and programs play",
        "kdenv serve --open",
        "kdenv serve --host 0.0.0.0 --host-name games.example.org --port 80 --database /var/lib/kdenv/games.sqlite",
        "kdenv serve --kdom-port 8080",
    )
    port = arguments.whole(0, 65_535)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1: only this machine)")
    named = "a name by which the server is reached, such as the one of a proxy; may be repeated (this machine and --host need none)"
    parser.add_argument("--host-name", action="append", default=[], metavar="NAME", help=named)
    parser.add_argument("--port", type=port, default=8000, metavar="N", help="the port to listen on, 0 for any free one (default: 8000)")
    kept = "where games are kept (default: kdenv.sqlite)"
    parser.add_argument("--database", type=Path, default=Path("kdenv.sqlite"), metavar="FILE", help=kept)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument("--kdom-port", type=port, metavar="N", help="speak the protocol of the Kingdomino paper on this port, too")
    parser.add_argument("--workers", type=arguments.whole(1, 64), default=1, metavar="N", help="processes that search (default: 1)")
    called = "a host whose agents may be called back; may be repeated (default: this machine if --host is of this machine only, else none)"
    parser.add_argument("--callbacks", action="append", metavar="HOST", help=called)
    parser.add_argument("--policies", type=Path, metavar="FOLDER", help="let texts of policies name modules and models in this folder")
    parser.add_argument("--proxy", metavar="ADDRESS", help="the address of a proxy before the server, whose X-Forwarded-For is believed")
    for name, meaning in _BOUNDS.items():
        usual = f"{meaning} (default: {getattr(Limits, name):,g})"
        parser.add_argument(f"--{name.replace('_', '-')}", type=arguments.whole(1), metavar="N", help=usual)


def _run(parsed: argparse.Namespace) -> None:
    try:
        import msgspec  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise missing_extra("the server", "serve") from None
    from kdenv.server.origin_check import name_in
    from kdenv.server.serve import run
    from kdenv.server.settings import Limits, ServerSettings

    limits = dataclasses.replace(Limits(), **{name: value for name in _BOUNDS if (value := getattr(parsed, name)) is not None})
    database: Path = parsed.database.resolve()
    if not database.parent.is_dir():
        raise BadOption(f"--database {shown(parsed.database)} lies in a folder that does not exist; make the folder first")
    for name in parsed.host_name:
        if name_in(name) != name.lower():
            raise BadOption(f"--host-name {shown(name)} is no name of a host; write it without http:// and port: games.example.org")
    settings = ServerSettings(
        host=parsed.host,
        host_names=tuple(parsed.host_name),
        port=parsed.port,
        database=database,
        kdom_port=parsed.kdom_port,
        workers=parsed.workers,
        callbacks=tuple(parsed.callbacks) if parsed.callbacks else None,
        policies=None if parsed.policies is None else parsed.policies.resolve(),
        proxy=parsed.proxy,
        limits=limits,
    )
    if settings.policies is not None:
        if not settings.policies.is_dir():
            raise BadOption(f"--policies {shown(parsed.policies)} is no folder")
        os.chdir(settings.policies)  # texts name models as seen from here
        sys.path.append(str(settings.policies))
    run(settings, lambda words: print(f"kdenv: {words}", file=sys.stderr, flush=True), open_page=parsed.open)
