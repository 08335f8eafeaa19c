"""UCT and its variants, as parameters of one policy. The search is in policies.trees and kdenv.search."""

from __future__ import annotations

import math
from typing import Any

from kdenv.core.errors import BadOption
from kdenv.policies.base import Searcher, SearchPolicy
from kdenv.policies.budgets import MOST_WORKERS, ByGame, ByNodes, ByPlayouts, BySeconds, Decided, Played
from kdenv.policies.selection import SelectionRule, Ucb1
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named
from kdenv.search.select import ProgressiveBias, WinBias

_BIASES: dict[str, Any] = {"progressive": ProgressiveBias, "win": WinBias}


@named("uct", "Gedda et al. 2018, UCT, UCTB, UCTW; Jansen and Tollisen 2014, UCT; Heyden 2009, MCTS")
class Uct(SearchPolicy, Played, Decided, ByPlayouts, BySeconds, ByNodes, ByGame):
    """A tree of the turns that promise most (UCT)."""

    is_tree = True

    select: SelectionRule = param("which turn is tried next", default=Ucb1())
    bias: str = param("a bonus for turns that gain points at once; win: longer for good turns", default="none", choices=("none", *_BIASES))
    weight: float = param("how much the bias counts", default=0.1, least=0)
    fpu: float = param(
        "the urgency of turns not tried yet; none: they come first", default=math.inf, least=-1e9, most=1e9, words={"none": math.inf}
    )
    least: int = param("visits of every turn before the rule decides", default=1, least=1)
    expand: str = param("which turn a node tries first: any, or the first listed", default="random", choices=("random", "order"))
    chance: str = param(
        "chance is drawn at every visit, or once for every node (frozen), or is no part of the nodes (open)",
        default="sampled",
        choices=("sampled", "frozen", "open", "information_sets"),
    )
    update: str = param(
        "the nodes that learn a result: all, those of the leaf's owner, or those of the searching seat",
        default="all",
        choices=("all", "owner", "mine"),
    )
    rave: float = param(
        "visits until the playouts in which a turn was made later count half (RAVE); no: not at all",
        default=0.0,
        least=0,
        words={"no": 0.0},
    )
    trees: int | None = param(
        "trees that grow on their own, their counts added up; as many as threads if not given", default=None, least=1, most=MOST_WORKERS
    )

    def __post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        super().__post_init__()
        if self.workers < self.threads:
            raise BadOption(f"trees={self.trees} is not possible with threads={self.threads}; each thread needs a tree")
        if self.bias == "win" and self.score in ("points", "margin", "windiff"):
            raise BadOption(
                f"bias=win is not possible with score={self.score}; it needs worths between 0 and 1: score may be wdl, win, relative"
            )

    @property
    def workers(self) -> int:
        """How many trees there are."""
        return self.trees or self.threads

    def rule(self) -> Any:
        """The selection rule with its bias, as a part of the search."""
        rule = self.select.compiled()
        return rule if self.bias == "none" else _BIASES[self.bias](rule, self.weight)

    def start(self) -> Searcher:
        """The search that grows the trees."""
        from kdenv.policies.trees import TreeSearch

        return TreeSearch(self)
