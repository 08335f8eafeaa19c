"""Flat Monte Carlo: playouts estimate the turns that are open now, all equally often or by a selection rule.

Here are the parameters; the search is in policies/sampling.py.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from kdenv.core.errors import BadOption
from kdenv.core.game import Game
from kdenv.policies.budgets import ByGame, ByPlayouts, BySeconds, Decided, Played
from kdenv.policies.learned import Learned
from kdenv.policies.searching import Searcher, SearchPolicy
from kdenv.policies.selection import SelectionRule, Ucb1
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named

_TRUST = 10.0  # the usual weight of a prior, in playouts


@named("mce", "Gedda et al. 2018, MCE-TR, MCE-FG, MCE-PG, MCE-eG; WDL, P, R; Karnin, Koren and Somekh 2013, sequential halving")
class Mce(SearchPolicy, Played, Decided, ByPlayouts, BySeconds, ByGame):
    """Flat Monte Carlo: makes playouts for all turns equally often, and takes the turn with the best mean."""

    sampling: str = param(
        "which turn a playout tries: all in rotation, a random one, or (halving) all alike in the first part of the budget, then the "
        "better half of them, and so on, until the better of two is taken",
        default="rotation",
        choices=("rotation", "random", "halving"),
    )
    common: bool = param(
        "whether the playouts of all turns begin with the same random numbers in each rotation, so that luck does not decide between turns",
        default=False,
    )
    prior: Learned | None = param(
        "a network of values: what it says of the position right after a turn counts beside the playouts of the turn", default=None
    )
    trust: float | None = param("how many playouts of a turn the prior counts for; if not given, 10", default=None, least=0, most=1e9)
    widest: int | None = param(
        "halving begins with so many turns at most, those that the prior likes best; if not given, with all", default=None, least=1
    )

    def __post_init__(self) -> None:
        """Refuse parameters without what they need."""
        super().__post_init__()
        if self.common and self.sampling == "random":
            raise BadOption("common=yes is not possible with sampling=random, which has no rotations; sampling may be rotation, halving")
        if self.prior is None:
            for name in ("trust", "widest"):
                value = getattr(self, name)
                if value is not None:
                    raise BadOption(f"{name}={value:g} needs a network that says what turns are worth; give prior=learned(<model>)")
        elif self.leaf is not None and self.leaf != self.prior:
            raise BadOption(f"leaf={self.leaf} is not possible with prior={self.prior}; both must be the same network, to have one unit")
        if self.widest is not None and self.sampling != "halving":
            raise BadOption(f"widest={self.widest} is not possible with sampling={self.sampling}; write sampling=halving")

    @cached_property
    def valued(self) -> Learned | None:
        """The network of values in whose unit the search counts; None if it has none."""
        return self.leaf or self.prior

    @property
    def weight_of_prior(self) -> float:
        """How many playouts the prior counts for; 0 without a prior."""
        return 0.0 if self.prior is None else _TRUST if self.trust is None else self.trust

    def start(self) -> Searcher:
        """Make the search that treats all turns alike."""
        from kdenv.policies.sampling import FlatSearcher

        return FlatSearcher(self, self.sampling)

    def compiled(self, game: Game, players: int) -> Any:
        """The player in kernels, for budgets of up to 1,000 playouts; None if a kernel cannot play as this policy does."""
        from kdenv.policies.sampling import flat_player

        return flat_player(self, game, players)


@named("bandit", "Jansen and Tollisen 2014, UCB")
class Bandit(SearchPolicy, Played, Decided, ByPlayouts, BySeconds, ByGame):
    """Flat Monte Carlo in which a selection rule chooses the turn for each playout, so good turns get more playouts."""

    select: SelectionRule = param("the rule that chooses which turn is tried next", default=Ucb1())
    least: int = param("how many playouts every turn gets before the rule decides", default=1, least=1)

    def __post_init__(self) -> None:
        """Refuse a rule that asks for priors, or for another score."""
        super().__post_init__()
        self.select.check_score(self.score)
        if self.select.needs_priors:
            raise BadOption(
                f"select={self.select} is not possible here; it needs priors: uct(select={self.select}, priors=learned(<model>))"
            )

    def start(self) -> Searcher:
        """Make the search that follows the rule."""
        from kdenv.policies.sampling import FlatSearcher

        return FlatSearcher(self, self.select.compiled())
