"""The players of the seats that do not learn. A player is a policy as text, a Policy, a function of a view, or a BatchPolicy.

Players with a compiled form decide in kernels, in single environments and in batches. The others are asked in Python: a BatchPolicy by one
call for all games in which it is to decide, any other player by one call for each game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng, below, derive_seed, next64, uniform
from kdenv.core.errors import BadOption, NotSupported, shown
from kdenv.core.fields import is_number
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.envs.decisions import BatchPolicy
from kdenv.envs.seeds import OPPONENTS, POOL, Seeds
from kdenv.envs.step_kernel import CompiledOpponents
from kdenv.policies import Policy, policy
from kdenv.policies.compiled_opponents import player_of_seats

Player: TypeAlias = Callable[[View], int] | BatchPolicy  # a Policy is such a function, too
Opponent: TypeAlias = str | Player
Pool: TypeAlias = Sequence[Opponent] | Mapping[Opponent, float]
_MOST_COMPILED = 256  # the most line-ups of a pool that are kept in compiled form


@kernel
def draw_place(rng, n, limits):
    """Draw a place in a pool of n players. Without limits all places are equally probable.

    With limits, place i is drawn if a random number lies below limits[i] and not below limits[i - 1].
    """
    if limits.shape[0] == 0:
        return below(rng, n)
    number, place = uniform(rng), 0
    while number >= limits[place]:
        place += 1
    return place


class Lineup:
    """The players of all seats but the learner's, in the order in which they sit after it. From a pool they are drawn for every game.

    Args:
        table: A table of the game, for its number of seats and its options.
        opponents: One policy for all other seats, or a list of one for each.
        pool: A list of policies to draw from, instead of `opponents`, or a dict of policies with their weights.

    """

    def __init__(self, table: Table, opponents: Opponent | Sequence[Opponent] | None, pool: Pool | None) -> None:
        self._game, self._variant = table.game, table.variant
        self._n_seats = n_seats = table.players - 1
        self._by_text: dict[str, Policy] = {}  # the same text makes only one policy
        self._has_form: dict[int, bool] = {}  # by the id of a player, which lives as long as the lineup: whether it is compiled
        self._compiled: dict[tuple[int, ...], CompiledOpponents] = {}  # by the learner's seat and the ids of the players
        if (opponents is None) == (pool is None):
            raise BadOption("give either opponents=, the policies of the other seats, or pool=, a list from which they are drawn")
        self._pool = [self._player(each) for each in _listed(pool)] if pool is not None else []
        if pool is not None and not self._pool:
            raise BadOption(f"pool={shown(pool)} holds no policy to draw; list at least one")
        self.limits = _limits(pool) if isinstance(pool, Mapping) else np.zeros(0)  # of draw_place
        if opponents is not None and not isinstance(opponents, str) and isinstance(opponents, Sequence):
            if len(opponents) != n_seats:
                raise BadOption(f"opponents= lists {len(opponents)} policies for {n_seats} other seats; give one for each, or one for all")
            fixed = [self._player(each) for each in opponents]
        else:
            fixed = [] if opponents is None else [self._player(opponents)] * n_seats
        self.players: list[Player] = fixed

    def _player(self, value: Any) -> Player:
        if isinstance(value, str):
            if value not in self._by_text:
                self._by_text[value] = policy(value)
            value = self._by_text[value]
        if not callable(value) and not isinstance(value, BatchPolicy):
            remedy = "a policy is a text such as 'random', a Policy, a function of a view, or an object with act_batch"
            raise BadOption(f"{value!r} is no policy; {remedy}")
        if isinstance(value, Policy):
            if value.is_oracle:
                raise NotSupported(f"{value} looks at what is hidden, and opponents of a learner may not; choose another policy")
            value.needs(self._game, self._n_seats + 1, self._variant)
        return value  # type: ignore[no-any-return]

    def draw(self, seeds: Seeds) -> None:
        """Draw the players of this game and seed them. A player cannot compute other seeds from its own."""
        if self._pool:
            rng = seeds.rng(POOL)
            self.players = [self._pool[int(draw_place(rng, len(self._pool), self.limits))] for _ in range(self._n_seats)]
        for player, seed in seeds_of_players(self.players, seeds.rng(OPPONENTS)):
            player.reset(seed)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle also the memories of the players, which policies leave out."""
        return {
            **self.__dict__,
            "_has_form": {},
            "_compiled": {},
            "memories": [player.memory if isinstance(player, Policy) else None for player in self.players],
        }

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

    def compiled(self, me: int) -> CompiledOpponents:
        """Return the players of this game as one compiled player, if seat `me` learns; the same object for the same players."""
        key = (me, *map(id, self.players))
        if key not in self._compiled:
            if len(self._compiled) == _MOST_COMPILED:
                self._compiled.clear()
            self._compiled[key] = self._compiled_for(me)
        return self._compiled[key]

    def _compiled_for(self, me: int) -> CompiledOpponents:
        seats = [(me + 1 + i) % (self._n_seats + 1) for i in range(len(self.players))]
        asked = [not self.is_compiled(player) for player in self.players]
        player = None if all(asked) else player_of_seats(with_stand_ins(self.players, asked), seats, self._game, self._n_seats + 1)
        if player is None:  # all players are asked, or they are of too many types
            return CompiledOpponents(None, seats)
        return CompiledOpponents(player, [seat for seat, is_asked in zip(seats, asked, strict=True) if is_asked])

    def is_compiled(self, player: Player) -> bool:
        """Return whether a player has a compiled form in this game."""
        if id(player) not in self._has_form:
            has_form = isinstance(player, Policy) and player.compiled(self._game, self._n_seats + 1) is not None
            self._has_form[id(player)] = has_form
        return self._has_form[id(player)]


def seeds_of_players(players: Sequence[Player], rng: Rng) -> list[tuple[Policy, int]]:
    """Return the policies among these players, each once, with the seeds for a game. No player can compute other seeds from its own."""
    distinct = {id(player): player for player in players}.values()
    return [(player, derive_seed("opponent", int(next64(rng)))) for player in distinct if isinstance(player, Policy)]


def with_stand_ins(players: Sequence[Player], asked: Sequence[bool]) -> list[Policy]:
    """Return the players, with a compiled one in place of each that is asked in Python."""
    stand_in: Any = next((player for player, is_asked in zip(players, asked, strict=True) if not is_asked), None) or policy("random")
    compiled: list[Any] = [stand_in if is_asked else player for player, is_asked in zip(players, asked, strict=True)]
    return compiled


def _listed(pool: Any) -> Sequence[Opponent]:
    if isinstance(pool, Mapping):
        return list(pool)
    if isinstance(pool, str) or not isinstance(pool, Sequence):
        raise BadOption(f"pool={pool!r} is not a list of policies, or a dict of policies with their weights")
    return pool


def _limits(pool: Mapping[Opponent, float]) -> NDArray[np.float64]:
    """Return the limits for draw_place. Raises BadOption for a weight that is not possible."""
    for player, weight in pool.items():
        if not is_number(weight) or not 0 <= weight < np.inf:
            raise BadOption(f"pool gives {shown(player)} the weight {shown(weight)}; a weight is a number from 0 on")
    sums = np.cumsum([float(weight) for weight in pool.values()])
    if not 0 < sums[-1] < np.inf:
        raise BadOption(f"the weights of pool are {shown(float(sums[-1]))} together; give at least one a weight above 0")
    limits: NDArray[np.float64] = sums / sums[-1]
    return limits
