"""`kdenv join`: plays a seat of a game on a server with a policy of this machine."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from kdenv.cli import arguments
from kdenv.cli.arguments import Commands
from kdenv.cli.interrupts import interruptible
from kdenv.core.errors import BadOption, KdenvError, shown

if TYPE_CHECKING:
    from kdenv.policies import Policy


def add(commands: Commands) -> None:
    parser = commands.add(
        "join",
        _run,
        "play a game on a server with a policy of this machine",
        'kdenv join http://127.0.0.1:8000 6f1c0b8e-52c4-4d5e-9a77-0d1f3a9b2c11 "mce(seconds=1)" --name Ann',
        'kdenv join http://127.0.0.1:8000 kingdomino "mypackage.agents:Mine(place=2)" --name Mine',
    )
    parser.add_argument("url", help="the address of the server")
    parser.add_argument("game", help="the id of a game with an open seat; or the name of a game, of which a waiting one is joined")
    parser.add_argument("policy", help="the policy that plays")
    parser.add_argument("--name", help="the name of the player (default: 'agent' and the text of the policy)")
    parser.add_argument("--seat", type=arguments.whole(0, 15), metavar="N", help="the seat to take (default: the first open one)")
    arguments.add_seed(parser, None, "the seed of the policy (default: taken from the clock)")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.arena.match import reset
    from kdenv.client import Refused
    from kdenv.policies import policy

    player = policy(parsed.policy)
    reset(player, time.time_ns() if parsed.seed is None else parsed.seed)
    try:
        _play(parsed, player)
    except Refused as error:
        raise KdenvError(f"the server says: {error}") from None


def _play(parsed: argparse.Namespace, player: Policy) -> None:
    from kdenv.cli.remote import Remote
    from kdenv.client import Seat

    more = {} if parsed.seat is None else {"seat": parsed.seat}
    try:
        game = _game(parsed.url, parsed.game)
        seat = Seat.join(parsed.url, game, parsed.name or f"agent {parsed.policy}"[:40], **more)
    except KdenvError:
        raise
    except ValueError as error:  # the address is none, or the id of the game is no text
        raise BadOption(str(error)) from None
    except (KeyError, TypeError, IndexError):
        raise BadOption(f"{shown(parsed.url)} does not answer as a server of kdenv does") from None
    print(f"seat {seat.seat} of {game}; the page is at {parsed.url.rstrip('/')}/#/games/{game}", flush=True)
    end = interruptible(lambda: seat.play(Remote(player)))
    print(f"over: {' '.join(map(str, end['scores']))} points; seat {seat.seat} is number {end['result']['ranks'][seat.seat]}")


def _game(url: str, wanted: str) -> str:
    """The id of the game to join."""
    from kdenv.client import ask
    from kdenv.games import names

    if wanted not in names():
        return wanted
    waiting = ask(url, "GET", f"/games?status=waiting&game={wanted}&size=1")["games"]
    if not waiting:
        raise BadOption(f"no game of {wanted} waits for players on this server; make one on its page")
    return str(waiting[0]["id"])
