"""Policies, which choose the actions of a seat. A policy gets a View and returns an action.

>>> from kdenv.policies import FullGreedy, Uct, policy
>>> Uct(playout=FullGreedy(), seconds=1) == policy("uct(playout=full_greedy, seconds=1)")
True

`search` returns a SearchResult: each turn with its visits, mean and interval, the best turn, and the tree (Node) if the search grows one.
The rule-based players of the games can also be imported from here, such as FullGreedy and BigMoney.
"""

from typing import TYPE_CHECKING, Any

# The order of these imports is the order in which policies are listed.
# isort: off
from kdenv.policies.base import Function, Policy, TurnPolicy, policy
from kdenv.policies.searching import SearchPolicy
from kdenv.policies.result import Candidate, SearchResult
from kdenv.policies.tree_view import Node
from kdenv.policies.playouts import BySeat, EpsilonGreedy, Mast, PlayerGreedy, Playout, Random
from kdenv.policies.players import class_named
from kdenv.policies import plugins  # noqa: F401  (importing it finds policies of installed packages, and "module:Name")
from kdenv.policies.selection import Puct, SelectionRule, Thompson, ThompsonBeta, Ucb1, Ucb1Tuned, UcbRatio
from kdenv.policies.flat import Bandit, Mce
from kdenv.policies.uct import Uct
from kdenv.policies.expectimax import Expectimax, Star1, Star2, Star25
from kdenv.policies.hidden import FlatDeals, Ims, Oracle, Pimc
from kdenv.policies.learned import Learned, Ppo
from kdenv.policies.strongest import Strongest
from kdenv.policies.networks import GivenNetwork
from kdenv.policies.many import search_many
from kdenv.policies.many_searches import SearchResults
from kdenv.policies.network_policy import NetworkPolicy
from kdenv.policies.text import papers  # noqa: F401  (importing it adds the searches of papers)
from kdenv.policies.listing import Entry, listing
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named
# isort: on

__all__ = [
    "Bandit",
    "BySeat",
    "Candidate",
    "Entry",
    "EpsilonGreedy",
    "Expectimax",
    "FlatDeals",
    "Function",
    "GivenNetwork",
    "Ims",
    "Learned",
    "Mast",
    "Mce",
    "NetworkPolicy",
    "Node",
    "Oracle",
    "Pimc",
    "PlayerGreedy",
    "Playout",
    "Policy",
    "Ppo",
    "Puct",
    "Random",
    "SearchPolicy",
    "SearchResult",
    "SearchResults",
    "SelectionRule",
    "Star1",
    "Star2",
    "Star25",
    "Strongest",
    "Thompson",
    "ThompsonBeta",
    "TurnPolicy",
    "Ucb1",
    "Ucb1Tuned",
    "UcbRatio",
    "Uct",
    "listing",
    "named",
    "param",
    "policy",
    "search_many",
]

if TYPE_CHECKING:  # the rule-based players; to a type checker, any other name is an error
    from kdenv.policies.rule_players import BigMoney as BigMoney
    from kdenv.policies.rule_players import Bmfsm as Bmfsm
    from kdenv.policies.rule_players import DoubleWitch as DoubleWitch
    from kdenv.policies.rule_players import FullGreedy as FullGreedy
    from kdenv.policies.rule_players import Gprd as Gprd
    from kdenv.policies.rule_players import Greedy as Greedy
    from kdenv.policies.rule_players import Rollout as Rollout
    from kdenv.policies.rule_players import SingleWitch as SingleWitch
else:

    def __getattr__(name: str) -> Any:
        found = class_named(name) if name[:1].isupper() else None
        if found is None:
            raise AttributeError(f"kdenv.policies has no {name}")
        return found
