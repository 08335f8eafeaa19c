"""UCT and its variants, as parameters of one policy. The search is in policies/trees.py and search/kernels/uct.py."""

from __future__ import annotations

import math
from typing import Any

from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game, Variant
from kdenv.policies.budgets import GOAL, MOST_WORKERS, ByGame, ByNodes, ByPlayouts, BySeconds, Decided, Played
from kdenv.policies.learned import Learned, Modelled
from kdenv.policies.opponent_model import Infers
from kdenv.policies.searching import Searcher, SearchPolicy
from kdenv.policies.selection import SelectionRule, Ucb1
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named
from kdenv.search.select import ProgressiveBias, WinBias

_BIASES: dict[str, Any] = {"progressive": ProgressiveBias, "win": WinBias}


@named("uct", "Gedda et al. 2018, UCT, UCTB, UCTW; Jansen and Tollisen 2014, UCT; Heyden 2009, MCTS")
class Uct(SearchPolicy, Played, Decided, Infers, ByPlayouts, BySeconds, ByNodes, ByGame):
    """UCT (Monte Carlo tree search): grows a tree in which a selection rule chooses the turns to try; good turns are searched deeper."""

    is_tree = True

    select: SelectionRule = param("the rule that chooses which turn of a node is tried next", default=Ucb1())
    bias: str = param(
        "a bonus in the urgency of turns that gain points at once; with win, good turns keep it longer",
        default="none",
        choices=("none", *_BIASES),
    )
    weight: float = param("the factor of the bias", default=0.1, least=0)
    fpu: float = param(
        "first play urgency: the urgency of turns not tried yet; with none, they are all tried first",
        default=math.inf,
        least=-1e9,
        most=1e9,
        words={"none": math.inf},
    )
    least: int = param("how many visits every turn of the root gets before the rule decides", default=1, least=1)
    least_below: int = param("the same for the turns of all other nodes", default=1, least=1)
    expand: str = param(
        "which of the turns not tried yet a node tries first: a random one, or the first in the order of the rules",
        default="random",
        choices=("random", "order"),
    )
    chance: str = param(
        "how the tree treats chance: sampled draws it at every visit, frozen once for each node; open: a node stands for the decisions "
        "before it, whatever chance did; information_sets: a node stands for all that the searching seat has seen",
        default="sampled",
        choices=("sampled", "frozen", "open", "information_sets"),
    )
    update: str = param(
        "which nodes of the path count a result: all; those of the owner of the leaf (owner); those of the searching seat (searcher); all "
        "if the searching seat owns the leaf, else none (mine); or those of the searching seat if it owns the leaf (own)",
        default="all",
        choices=("all", "owner", "searcher", "mine", "own"),
    )
    total: str = param(
        "what N of the rule counts: the visits of the turns of the node together, or those of the node itself, as far as they were updated",
        default="siblings",
        choices=("siblings", "parent"),
    )
    equals: str = param("which of equally urgent turns is tried", default="random", choices=("random", "last"))
    backup: str = param(
        "what a turn is worth: the mean of its playouts; or, if the same seat goes on and no chance comes before, its best next turn (max)",
        default="mean",
        choices=("mean", "max"),
    )
    rave: float = param(
        "RAVE: after this many visits, the own mean of a turn and its all-moves-as-first mean count alike; no switches RAVE off",
        default=0.0,
        least=0,
        words={"no": 0.0},
    )
    priors: Modelled | None = param(
        "a network by which turns are tried in order: learned, by the values of the positions after them, or ppo, by its odds",
        default=None,
    )
    temperature: float | None = param(
        "the temperature of the softmax that makes priors; if not given, 0.1 for learned and 1 for ppo", default=None, least=0.001, most=1e6
    )
    widening: float = param(
        "progressive widening: a node with n visits has n to this power turns at most, those with the greatest priors; no: all",
        default=0.0,
        least=0,
        most=1,
        words={"no": 0.0},
    )
    trees: int | None = param(
        "how many trees grow independently before their statistics are added up; if not given, one for each thread",
        default=None,
        least=1,
        most=MOST_WORKERS,
    )

    def __post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        super().__post_init__()
        if self.workers < self.threads:
            raise BadOption(f"trees={self.trees} is not possible with threads={self.threads}; each thread needs a tree")
        self.select.check_score(self.score)
        if self.bias == "win" and self.score in ("points", "margin", "windiff", GOAL):
            raise BadOption(
                f"bias=win is not possible with score={self.score}; it needs worths between 0 and 1: score may be wdl, win, relative"
            )

        if self.chance in ("sampled", "frozen") and self.rivals is not None:
            raise BadOption(
                f"rivals={self.rivals} is not possible with chance={self.chance}, which draws what is hidden once for the whole tree; "
                "chance may be information_sets or open"
            )
        if self.chance not in ("sampled", "frozen"):
            for name, usual in (("total", "siblings"), ("backup", "mean")):
                if getattr(self, name) != usual:
                    raise BadOption(
                        f"{name}={getattr(self, name)} is not possible with chance={self.chance}; it needs nodes that are positions: "
                        "chance may be sampled or frozen"
                    )
        if self.priors is None:
            for name, asks in (("select", self.select.needs_priors), ("widening", self.widening), ("temperature", self.temperature)):
                if asks:
                    value = self.parameters()[name].write(getattr(self, name))
                    raise BadOption(f"{name}={value} needs priors, which say in which order turns are tried; give priors=learned(<model>)")
        elif self.bias != "none":
            raise BadOption(f"bias={self.bias} is not possible with priors; use select=puct, which explores by the priors")

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Check also that a network of values can give priors: it knows positions after whole turns."""
        super().needs(game, players, variant)
        if isinstance(self.priors, Learned) and self.chance == "information_sets" and game.most_decisions > 1:
            raise NotSupported(
                f"priors={self.priors} is not possible with chance=information_sets in {game.name}, whose turns have several decisions; "
                "use chance=open"
            )

    @property
    def workers(self) -> int:
        """How many independent trees there are."""
        return self.trees or self.threads

    def rule(self) -> Any:
        """The selection rule with its bias, for kernels."""
        rule = self.select.compiled()
        return rule if self.bias == "none" else _BIASES[self.bias](rule, self.weight)

    def start(self) -> Searcher:
        """Make the search that grows the trees."""
        from kdenv.policies.trees import TreeSearcher

        return TreeSearcher(self)
