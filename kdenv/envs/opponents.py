"""The players of the seats that do not learn. A player is a policy as text, a Policy, or a function of a view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kdenv.compiler.random import below, derive_seed, next64
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.envs.seeds import OPPONENTS, POOL, Seeds
from kdenv.policies import Policy, policy
from kdenv.policies.compiled_opponents import player_of_seats

Player: TypeAlias = Callable[[View], int]  # a Policy is such a function, too
Opponent: TypeAlias = str | Player


class Lineup:
    """The players of all seats but the learner's, in the order in which they sit after it. From a pool they are drawn for every game.

    Args:
        table: A table of the game, for its number of seats and its options.
        opponents: One policy for all other seats, or a list of one for each.
        pool: A list of policies to draw from, instead of `opponents`.

    """

    def __init__(self, table: Table, opponents: Opponent | Sequence[Opponent] | None, pool: Sequence[Opponent] | None) -> None:
        self._game, self._variant = table.game, table.variant
        self._n_seats = n_seats = table.players - 1
        self._by_text: dict[str, Policy] = {}  # the same text makes only one policy
        if (opponents is None) == (pool is None):
            raise BadOption("give either opponents=, the policies of the other seats, or pool=, a list from which they are drawn")
        self._pool = [self._player(each) for each in _listed("pool", pool)] if pool is not None else []
        if pool is not None and not self._pool:
            raise BadOption("pool=[] holds no policy to draw; list at least one")
        if opponents is not None and not isinstance(opponents, str) and isinstance(opponents, Sequence):
            if len(opponents) != n_seats:
                raise BadOption(f"opponents= lists {len(opponents)} policies for {n_seats} other seats; give one for each, or one for all")
            fixed = [self._player(each) for each in opponents]
        else:
            fixed = [] if opponents is None else [self._player(opponents)] * n_seats
        self.players: list[Player] = fixed

    def _player(self, value: Any) -> Player:
        if isinstance(value, str):
            value = self._by_text.setdefault(value, policy(value)) if value not in self._by_text else self._by_text[value]
        if not callable(value):
            raise BadOption(f"{value!r} is no policy; a policy is a text such as 'random', a Policy, or a function of a view")
        if isinstance(value, Policy):
            if value.is_oracle:
                raise NotSupported(f"{value} looks at what is hidden, and opponents of a learner may not; choose another policy")
            value.needs(self._game, self._n_seats + 1, self._variant)
        return value  # type: ignore[no-any-return]

    def draw(self, seeds: Seeds) -> None:
        """Draw the players of this game and seed them. A player cannot compute other seeds from its own."""
        if self._pool:
            rng = seeds.rng(POOL)
            self.players = [self._pool[int(below(rng, len(self._pool)))] for _ in range(self._n_seats)]
        rng = seeds.rng(OPPONENTS)
        for player in {id(player): player for player in self.players}.values():
            if isinstance(player, Policy):
                player.reset(derive_seed("opponent", int(next64(rng))))

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle also the memories of the players, which policies leave out."""
        return {**self.__dict__, "memories": [player.memory if isinstance(player, Policy) else None for player in self.players]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        memories = state["memories"]
        self.__dict__.update({name: value for name, value in state.items() if name != "memories"})
        for player, memory in zip(self.players, memories, strict=True):
            if isinstance(player, Policy):
                player.recall(memory)

    @property
    def listed(self) -> tuple[list[Player], bool]:
        """The players to draw from, and True; without a pool one for each seat after the learner, and False."""
        return (self._pool, True) if self._pool else (self.players, False)

    def compiled(self, me: int) -> Any:
        """Return all players as one compiled player, if seat `me` learns; None if one of them has no compiled form."""
        seats = [(me + 1 + i) % (self._n_seats + 1) for i in range(len(self.players))]
        return player_of_seats(self.players, seats, self._game, self._n_seats + 1)


def _listed(name: str, value: Any) -> Sequence[Opponent]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise BadOption(f"{name}={value!r} is not a list of policies")
    return value
