"""Flat Monte Carlo: playouts estimate the turns that are open now, all equally often or by a selection rule.

Here are the parameters; the search is in policies/sampling.py.
"""

from __future__ import annotations

from kdenv.core.errors import BadOption
from kdenv.policies.budgets import ByGame, ByPlayouts, BySeconds, Decided, Played
from kdenv.policies.searching import Searcher, SearchPolicy
from kdenv.policies.selection import SelectionRule, Ucb1
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named


@named("mce", "Gedda et al. 2018, MCE-TR, MCE-FG, MCE-PG, MCE-eG; WDL, P, R; Karnin, Koren and Somekh 2013, sequential halving")
class Mce(SearchPolicy, Played, Decided, ByPlayouts, BySeconds, ByGame):
    """Flat Monte Carlo: makes playouts for all turns equally often, and takes the turn with the best mean."""

    sampling: str = param(
        "which turn a playout tries: all in rotation, a random one, or (halving) all alike in the first part of the budget, then the "
        "better half of them, and so on, until the better of two is taken",
        default="rotation",
        choices=("rotation", "random", "halving"),
    )

    def start(self) -> Searcher:
        """Make the search that treats all turns alike."""
        from kdenv.policies.sampling import FlatSearcher

        return FlatSearcher(self, self.sampling)


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
