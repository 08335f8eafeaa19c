"""Several compiled players as one part, the cast: a kernel that plays many games chooses among them by a number for each seat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.core.errors import NotSupported
from kdenv.core.game import Game
from kdenv.core.questions import choose, plays
from kdenv.policies.base import Policy

_MOST_KINDS = 4
_KIND = 1 << 12  # a player's number is its kind times this, and its place among the players of its kind


class Nobody(NamedTuple):
    """The cast of games in which no seat has a compiled player."""


class OneKind(NamedTuple):
    """Players of one type, and the number of the one that decides."""

    number: int
    players: tuple[Any, ...]


class FourKinds(NamedTuple):
    """Players of up to four types, each type in a tuple of its own, and the number of the one that decides."""

    number: int
    first: tuple[Any, ...]
    second: tuple[Any, ...]
    third: tuple[Any, ...]
    fourth: tuple[Any, ...]


@plays(Nobody)
@kernel
def _nobody_chooses(player, states, k, out, rng):
    return np.int64(0)


@plays(OneKind)
@kernel
def _choose_of_one_kind(player, states, k, out, rng):
    return choose(player.players[player.number], states, k, out, rng)


@plays(FourKinds)
@kernel
def _choose_of_four_kinds(player, states, k, out, rng):
    kind, place = player.number // _KIND, player.number % _KIND
    if kind == 0:
        return choose(player.first[place], states, k, out, rng)
    if kind == 1:
        return choose(player.second[place], states, k, out, rng)
    if kind == 2:
        return choose(player.third[place], states, k, out, rng)
    return choose(player.fourth[place], states, k, out, rng)


@question
def select_player(cast, number):
    """Return the cast as a player: the one with this number decides."""


@answers(select_player, Nobody)
@kernel
def _nobody(cast, number):
    return cast


@answers(select_player, OneKind)
@kernel
def _one_of_one_kind(cast, number):
    return OneKind(number, cast.players)


@answers(select_player, FourKinds)
@kernel
def _one_of_four_kinds(cast, number):
    return FourKinds(number, cast.first, cast.second, cast.third, cast.fourth)


def cast_of(players: Sequence[Any], game: Game, n_players: int) -> tuple[Any, NDArray[np.int64]]:
    """The cast of these policies at a table with this many players, and the number of each.

    Raises NotSupported if one of them has no compiled form. Compiled players may have buffers of their own, so each thread needs a cast
    of its own.
    """
    if not players:
        return Nobody(), np.zeros(0, np.int64)
    by_type: dict[str, list[Any]] = {}
    places: dict[int, tuple[str, int]] = {}  # by the identity of the policy: its type, and its place among the players of this type
    for player in players:
        if id(player) not in places:
            compiled = player.compiled(game, n_players) if isinstance(player, Policy) else None
            if compiled is None:
                raise NotSupported(
                    f"{player} has no compiled form, which the opponents in a batch of games need; choose random or a rule-based player "
                    f"('kdenv policies {game.name}' lists them), or let it play in SeatEnv"
                )
            kind = str(numba.typeof(compiled))
            same = by_type.setdefault(kind, [])
            places[id(player)] = kind, len(same)
            same.append(compiled)
    kinds = sorted(by_type)
    if len(kinds) > _MOST_KINDS:
        raise NotSupported(f"these opponents are of {len(kinds)} types, but a batch of games has room for {_MOST_KINDS}; choose fewer")
    numbers = [kinds.index(kind) * _KIND + place for kind, place in (places[id(player)] for player in players)]
    tuples = [_padded(by_type[kind]) for kind in kinds]
    if len(tuples) == 1:
        return OneKind(0, tuples[0]), np.array(numbers, np.int64)
    first, second, third, fourth = tuples[0], tuples[1], tuples[min(2, len(tuples) - 1)], tuples[-1]
    return FourKinds(0, first, second, third, fourth), np.array(numbers, np.int64)


def _padded(players: list[Any]) -> tuple[Any, ...]:
    """The players, the last one repeated until their number is a power of two, so that fewer lengths need to be compiled."""
    return tuple(players + players[-1:] * ((1 << (len(players) - 1).bit_length()) - len(players)))
