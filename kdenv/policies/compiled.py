"""Makes one compiled player of several policies, so that the kernel of an environment can play all their seats without calling Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kdenv.core.game import Game
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.search.budget import compiling
from kdenv.search.playout import Seated, Uniform

_MOST_KINDS = 4  # the number of players that Seated can hold
_compiled = {""}  # the kinds of players that have played in this process; "" stands for no compiled player


def player_of_seats(players: Sequence[Policy | Callable[[View], int]], seats: Sequence[int], game: Game, n_players: int) -> Any:
    """One compiled player that decides at each seat as its policy does; None if a policy has no compiled form, or there are too many."""
    seats_of: dict[Policy, int] = {}
    inside: dict[Policy, Any] = {}
    for player, seat in zip(players, seats, strict=True):
        if not isinstance(player, Policy):
            return None
        if player not in inside:
            inside[player] = player.compiled(game, n_players)
        if inside[player] is None:
            return None
        seats_of[player] = seats_of.get(player, 0) | 1 << seat
    # They are sorted so that fewer combinations of kinds need to be compiled.
    kinds = sorted(seats_of, key=lambda player: (_kind(inside[player]), str(player)))
    if not kinds:
        return Uniform()  # there are no seats, so this player is never asked
    if len(kinds) == 1:
        return inside[kinds[0]]
    if len(kinds) > _MOST_KINDS:
        return None
    (one, two), three, last = kinds[:2], kinds[min(2, len(kinds) - 1)], kinds[-1]
    return Seated(seats_of[one], inside[one], seats_of[two], inside[two], seats_of[three], inside[three], inside[last])


@contextmanager
def first_use(player: Any, game: Game, what: str = "the opponents") -> Iterator[None]:
    """A context for a kernel call with this player (or None). At the first call with its kind it tells the user if compiling takes long."""
    kind = "" if player is None else f"{what} {game.name} {_kind(player)}"
    if kind in _compiled:
        yield
        return
    with compiling(f"{what} for {game.name}"):
        yield
    _compiled.add(kind)


def _kind(player: Any) -> str:
    """The type of a compiled player and of the players inside it, as text."""
    inside = [_kind(field) for field in player if isinstance(field, tuple)]
    return f"{type(player).__name__}({', '.join(inside)})"
