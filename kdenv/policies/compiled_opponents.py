"""Makes one compiled player of several, one for each seat, so that kernels play all their seats without calling Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np

from kdenv.compiler.notice import compiling
from kdenv.core.errors import NotSupported
from kdenv.core.game import Game
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.search.playout import PLACES, Seated, Uniform

_MOST_TYPES = 4  # the number of types of players that Seated can hold
_APART = 16  # numbers of 64 bits; processors fetch two lines of eight
_compiled = {""}  # the kinds of players that have played in this process; "" is the kind of no compiled player


def seated(players: Sequence[Any], n_seats: int) -> Seated:
    """Make a player of these compiled players; `which` says by seat which of them decides, and is 0 for all seats at first.

    Raises NotSupported if they are of too many types. Compiled players may have buffers of their own, so each thread needs its own.
    """
    kinds = [str(numba.typeof(player)) for player in players]
    by_type: dict[str, list[Any]] = {}
    for kind, player in zip(kinds, players, strict=True):
        same = by_type.setdefault(kind, [])
        if not any(known is player for known in same):
            same.append(player)
    types = sorted(by_type)  # so that fewer combinations need to be compiled
    if len(types) > _MOST_TYPES:
        raise NotSupported(f"these opponents are of {len(types)} types, but a batch of games has room for {_MOST_TYPES}; choose fewer")
    places = np.zeros(max(1, len(players)), np.int64)
    for i, (kind, player) in enumerate(zip(kinds, players, strict=True)):
        place = [known is player for known in by_type[kind]].index(True)
        places[i] = types.index(kind) * PLACES + place
    unused = (Uniform(),)  # a type that costs little to compile
    slots = [_padded(by_type[kind]) for kind in types] + [unused] * (_MOST_TYPES - len(types))
    which = np.zeros(n_seats + 2 * _APART, np.int64)[_APART:-_APART]  # it is written to, so no other thread's may lie beside it
    return Seated(which, places, *slots)


def _padded(players: list[Any]) -> tuple[Any, ...]:
    """Repeat the last player until their number is a power of two, so that fewer lengths need to be compiled."""
    return tuple(players + players[-1:] * ((1 << (len(players) - 1).bit_length()) - len(players)))


def seated_policies(policies: Sequence[Any], game: Game, n_players: int) -> Seated:
    """Make a player of these policies at a table with this many players (see seated). Equal policies have one compiled player.

    Raises NotSupported if one of them has no compiled form.
    """
    distinct: list[Policy] = []
    players: list[Any] = []
    for policy in policies:
        if policy in distinct:
            continue
        player = policy.compiled(game, n_players) if isinstance(policy, Policy) else None
        if player is None:
            raise NotSupported(
                f"{policy} has no compiled form; choose random or a rule-based player ('kdenv policies {game.name}' lists them)"
            )
        distinct.append(policy)
        players.append(player)
    return seated([players[distinct.index(policy)] for policy in policies], n_players)


def player_of_seats(policies: Sequence[Policy | Callable[[View], int]], seats: Sequence[int], game: Game, n_players: int) -> Any:
    """Make a player that decides at each of these seats as its policy does; None if there is no such compiled player."""
    first = policies[0] if policies else None
    if isinstance(first, Policy) and all(policy == first for policy in policies):
        return first.compiled(game, n_players)  # making a Seated for every game would take a fifth of the time of its decisions
    try:
        player = seated_policies(policies, game, n_players)
    except NotSupported:
        return None
    player.which[list(seats)] = range(len(seats))
    return player


@contextmanager
def first_use(player: Any, game: Game, what: str = "the opponents") -> Iterator[None]:
    """A context for a kernel call with this player (or None). The first call with its kind prints a notice if compiling takes long."""
    kind = "" if player is None else f"{what} {game.name} {_kind(player)}"
    if kind in _compiled:
        yield
        return
    with compiling(f"{what} for {game.name}"):
        yield
    _compiled.add(kind)


def _kind(player: Any) -> str:
    """Return the type of a compiled player and of the players inside it, as text."""
    inside = [_kind(field) for field in player if isinstance(field, tuple)]
    return f"{type(player).__name__}({', '.join(inside)})"
