"""Flat Monte Carlo: playouts for the turns at the root, for all alike or as a selection rule says. The search is in policies.searching."""

from __future__ import annotations

from kdenv.policies.base import Searcher, SearchPolicy
from kdenv.policies.budgets import ByGame, ByPlayouts, BySeconds, Decided, Played
from kdenv.policies.selection import SelectionRule, Ucb1
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named


@named("mce", "Gedda et al. 2018, MCE-TR, MCE-FG, MCE-PG, MCE-eG; WDL, P, R")
class Mce(SearchPolicy, Played, Decided, ByPlayouts, BySeconds, ByGame):
    """Flat Monte Carlo: the turn whose playouts go best on average, all turns tried equally often."""

    sampling: str = param(
        "the order in which turns are tried: in rotation, or by chance", default="rotation", choices=("rotation", "random")
    )

    def start(self) -> Searcher:
        """Flat Monte Carlo with all turns alike."""
        from kdenv.policies.searching import MonteCarlo

        return MonteCarlo(self, self.sampling)


@named("bandit", "Jansen and Tollisen 2014, UCB")
class Bandit(SearchPolicy, Played, Decided, ByPlayouts, BySeconds, ByGame):
    """Flat Monte Carlo whose playouts go to the turns that promise most."""

    select: SelectionRule = param("which turn is tried next", default=Ucb1())
    least: int = param("playouts of every turn before the rule decides", default=1, least=1)

    def start(self) -> Searcher:
        """Flat Monte Carlo by the rule."""
        from kdenv.policies.searching import MonteCarlo

        return MonteCarlo(self, self.select.compiled())
