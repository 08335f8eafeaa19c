"""`NetworkPolicy`: a policy that asks a network of your own, alone or in a search (many.py)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng
from kdenv.core.errors import BadOption
from kdenv.core.view import View
from kdenv.policies.asked_network import AskedNetwork
from kdenv.policies.base import TurnPolicy
from kdenv.policies.many import check_search, search_positions, seen_in
from kdenv.policies.many_searches import Options
from kdenv.policies.searching import SearchPolicy
from kdenv.policies.text.parameter import param


@dataclass(frozen=True, kw_only=True, repr=False)
class NetworkPolicy(TurnPolicy):
    """A policy that asks a network of your own. A class derived from it plays in matches, leagues and on the server by "module:Name".

    Write `evaluate`, and set `encoding` if the network does not read the default encoding of the game. The search is a parameter:
    `"mine:Mine(within=uct(leaf=network, priors=network, score=goal, select=puct, chance=open, playouts=64))"`. A class may set its own
    defaults by declaring the parameters again.

    >>> import kdenv
    >>> from kdenv.author import NetworkPolicy, make_rng
    >>> class Most(NetworkPolicy):
    ...     "Likes large numbers."
    ...     def evaluate(self, observations):
    ...         return observations.mean(axis=1)
    >>> kdenv.add_policy("most", Most)
    >>> table = kdenv.table("dominoes", mode="round")
    >>> table.run_chance(make_rng(1))
    >>> view = table.view(table.seat)
    >>> kdenv.policy("most(within=mce(leaf=network, score=goal, turns=2, playouts=40))").act(view) in view.legal()
    True

    """

    encoding: ClassVar[str | None] = None  # the name of the encoding that the network reads; None is the default encoding
    whole: ClassVar[bool] = True  # whether whole turns are searched, as for search_many

    within: SearchPolicy | None = param(  # noqa: RUF009  (a policy is never changed)
        "the search that asks the network, as for search_many; if not given, the turn with the greatest score, or value, is taken",
        default=None,
    )
    gumbel: int = param("the number of turns that Gumbel noise draws at the root; 0: none, see search_many", default=0, least=0)

    @abstractmethod
    def evaluate(self, observations: NDArray[np.float32]) -> Any:
        """The value of each row, or a tuple of values and scores, as for search_many."""

    def __post_init__(self) -> None:
        """Refuse a search that search_many cannot make."""
        super().__post_init__()
        if self.within is not None:
            check_search(self.within, self.gumbel)
        elif self.gumbel:
            raise BadOption(f"gumbel={self.gumbel} needs a search; give within=uct(leaf=network, priors=network, ...)")

    def choose_turn(self, view: View) -> int:
        """The turn that the search, or the network alone, chooses."""
        if self.within is not None:
            rng: Rng = self.memory.rng
            options = Options(self.encoding, self.whole, self.gumbel)
            found = search_positions(self.within, seen_in([view]), self.evaluate, options, rng.reshape(1, 1))
            self.memory.n_playouts += int(found.visits.sum())
            return int(found.turns[found.best[0]])
        after = view.afterstates(self.encoding, whole=self.whole)
        values, scores = AskedNetwork(self.evaluate, view.game.observer(view.players, view.variant, self.encoding)).ask(after.observations)
        return int(after.turns[after.best(values if scores is None else scores)[0]])
