"""UCT and its variants (`uct`): Monte Carlo tree search, of which ISMCTS is a row. The kernels are in kdenv.search.kernels.uct."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, make_rng, next64
from kdenv.core import verbs
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.game import Game, Variant
from kdenv.core.turns import MAX_DECISIONS, SCRATCH, carry_out, list_turns
from kdenv.core.view import View
from kdenv.policies.budgets import TreeBudget
from kdenv.policies.learned import Learned
from kdenv.policies.networks import PriorNetwork
from kdenv.policies.opponent_model import OpponentModel
from kdenv.policies.playout_search import GOAL, MOST_WORKERS, PlayoutPolicy, PlayoutSearcher, Worker, new_playouts
from kdenv.policies.playouts import Mast
from kdenv.policies.result import play_in_words
from kdenv.policies.searching import Searcher
from kdenv.policies.selection import Puct, SelectionRule, Ucb1
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named
from kdenv.policies.tree_view import Node, child_of, root_of, turns_of
from kdenv.search.budget import Budget
from kdenv.search.kernels import amaf, uct
from kdenv.search.kernels.flat import Tally
from kdenv.search.kernels.priors import Priors
from kdenv.search.kernels.uct import Decisions, NoLearner, NoPriors, Plan, Positions, Tree, Workspace
from kdenv.search.select import ProgressiveBias, WinBias

# The words of parameters, and the values that kernels have for them.
_BIASES: dict[str, Any] = {"none": None, "progressive": ProgressiveBias, "win": WinBias}
_EXPANSIONS = {"random": 0, "order": 1}
CHANCES: dict[str, Any] = {"sampled": Positions(1), "frozen": Positions(0), "open": Decisions(0), "information_sets": Decisions(1)}
_UPDATES = {"all": uct.ALL, "owner": uct.OWNER, "searcher": uct.SEARCHER, "mine": uct.MINE, "own": uct.OWN}
_TOTALS = {"siblings": uct.SIBLINGS, "parent": uct.PARENT}
_EQUALS = {"random": uct.RANDOM, "last": uct.LAST}
_BACKUPS = {"mean": uct.MEAN, "max": uct.MAX}

# The most that a tree may have, and that all trees of a search may have together: as much as eight of the largest, some 4 GB. Memory is
# taken only as trees grow (some 50 bytes a turn).
_MOST_NODES, _MOST_NODES_IN_ALL = 1 << 21, 1 << 24
_MOST_TURNS, _MOST_TURNS_IN_ALL = 1 << 23, 1 << 26
_NODES_A_SECOND = 1_000_000  # more than can be made
_LINE = 4  # the most turns of an expected line


# Parameters


@named("uct", "Gedda et al. 2018, UCT, UCTB, UCTW; Jansen and Tollisen 2014, UCT; Heyden 2009, MCTS")
class Uct(PlayoutPolicy, OpponentModel, TreeBudget):
    """UCT (Monte Carlo tree search): grows a tree in which a selection rule chooses the turns to try; good turns are searched deeper."""

    is_tree = True

    # Texts and listings have the parameters in this order.

    # Selection: the rule, a bias towards points, and the minimum visits.
    select: SelectionRule = param("the rule that chooses the turn of a node to try next", default=Ucb1())
    bias: str = param(
        "a bonus for turns that gain points at once; it shrinks with their visits, with win more slowly for good turns",
        default="none",
        choices=tuple(_BIASES),
    )
    weight: float = param("the factor of the bias", default=0.1, least=0)
    fpu: float = param(
        "first play urgency: the urgency of turns not tried yet; with none, they are all tried first",
        default=math.inf,
        least=-1e9,
        most=1e9,
        words={"none": math.inf},
    )
    least: int = param("the minimum visits of each turn of the root, before the rule decides", default=1, least=1)
    least_below: int = param("the minimum visits of each turn of all other nodes", default=1, least=1)

    # Expansion and chance: the turns to add, and the meaning of a node.
    expand: str = param(
        "the next turn to try of those not tried yet: a random one, or the first in the order of the rules",
        default="random",
        choices=tuple(_EXPANSIONS),
    )
    chance: str = param(
        "the treatment of chance: drawn at every visit (sampled), or once for each node (frozen). With open, a node is a sequence of "
        "decisions, whatever the chance between them. With information_sets, a node is everything that the searching seat has seen",
        default="sampled",
        choices=tuple(CHANCES),
    )

    # Readings: details in which the trees of papers differ.
    update: str = param(
        "the turns of the path that count a result: all, those of the team that moved last (owner), or those of the searching team "
        "(searcher). If the searching team moved last, mine counts all turns and own those of this team; else both count none",
        default="all",
        choices=tuple(_UPDATES),
    )
    total: str = param(
        "the N of the selection rule: the visits of the node's turns together, or the visits of the node that `update` counts (parent)",
        default="siblings",
        choices=tuple(_TOTALS),
    )
    equals: str = param("the turn to try of several equally urgent ones", default="random", choices=tuple(_EQUALS))

    # Backup: the value of a turn.
    backup: str = param(
        "the value of a turn: the mean of its playouts; or, if the same seat continues without chance in between, its best next turn (max)",
        default="mean",
        choices=tuple(_BACKUPS),
    )
    rave: float = param(
        "RAVE: the number of visits after which a turn's own mean and its all-moves-as-first mean have equal weight; no switches RAVE off",
        default=0.0,
        least=0,
        words={"no": 0.0},
    )

    # Priors: the order in which turns are tried.
    priors: PriorNetwork | None = param(
        "a network that orders turns: learned, by the values of the positions after them, or ppo, by their probabilities",
        default=None,
    )
    temperature: float | None = param(
        "the temperature of the softmax that makes priors; if not given, 0.1 for learned and 1 for ppo", default=None, least=0.001, most=1e6
    )
    widening: float = param(
        "progressive widening: a node with n visits tries only its n to this power turns with the greatest priors; no: all turns",
        default=0.0,
        least=0,
        most=1,
        words={"no": 0.0},
    )

    # Parallel search: independent trees.
    trees: int | None = param(
        "the number of independent trees, whose statistics are added up; if not given, one for each thread",
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
        if self.chance in ("sampled", "frozen"):
            if self.rivals is not None:
                raise BadOption(
                    f"rivals={self.rivals} is not possible with chance={self.chance}, which draws what is hidden once for the whole tree; "
                    "chance may be information_sets or open"
                )
        else:
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
        """Check also that a network of values can give priors: it values only positions after whole turns."""
        super().needs(game, players, variant)
        if isinstance(self.priors, Learned) and self.chance == "information_sets" and game.most_decisions > 1:
            raise NotSupported(
                f"priors={self.priors} is not possible with chance=information_sets in {game.name}, whose turns have several decisions; "
                "use chance=open"
            )

    @property
    def workers(self) -> int:
        """The number of independent trees."""
        return self.trees or self.threads

    def rule(self) -> Any:
        """The compiled selection rule with its bias."""
        rule = self.select.compiled()
        return rule if self.bias == "none" else _BIASES[self.bias](rule, self.weight)

    def most_decisions(self, game: Game) -> int:
        """The most decisions of a turn in the tree. In a tree of information sets, a node is the seat's view after one decision."""
        return 1 if self.chance == "information_sets" else game.most_decisions

    def start(self) -> Searcher:
        """Make the search that grows the trees."""
        return TreeSearcher(self)


# The search


class TreeSearcher(PlayoutSearcher):
    """UCT, and with chance="information_sets" ISMCTS."""

    policy: Uct

    def __init__(self, policy: Uct) -> None:
        super().__init__(policy)
        self._growers: dict[tuple[str, int, int], Grower] = {}  # by game, number of players, and number of the worker

    def most_decisions(self, game: Game) -> int:
        """The most decisions of a turn at the root."""
        return self.policy.most_decisions(game)

    def worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        """Worker `number`, which begins with an empty tree."""
        key = view.game.name, view.players, number
        if key not in self._growers:
            self._growers[key] = Grower(self.policy, view)
        self._growers[key].begin(self.policy, view, turns, budget, rng)
        return self._growers[key]


class Grower(Worker):
    """Grows a tree. It keeps its memory from one decision to the next, and begins each search with an empty tree."""

    def __init__(self, policy: Uct, view: View) -> None:
        """A worker for any position of this game with as many players. `begin` must be called before each search."""
        self.game = game = view.game
        self.chance, self.rule = CHANCES[policy.chance], policy.rule()
        self.plan = plan_of(policy, game, view.players, _guide(view, policy), policy.dealer(view))
        self.states = view.scratch(uct.N_STATES)
        self.raw = as_integers(self.states)
        self.space = new_workspace(game, view.players)
        self._trees: dict[tuple[int, int], Tree] = {}  # by size; kept, as memory new to a process costs more than a playout

    def begin(self, policy: Uct, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng) -> None:
        """Prepare to search these turns with this budget."""
        self.view, self.seat, self.turns, self.rng = view, view.seat, turns, rng
        player, self.learner = _player_and_learner(view, policy)
        self.playouts = new_playouts(policy, view, player=player, values=self.space.values, at_once=self.plan.most_decisions)
        self.plan = self.plan._replace(dealer=policy.dealer(view))  # a dealer that infers remembers its last draw
        self.tree = self._tree(budget, policy.workers)
        # A tree of positions searches one deal, which is drawn here. A tree of decisions draws a deal for each iteration.
        self.states[0] = view.states[0]
        verbs.resample_hidden_at(self.states, 0, self.seat, rng)
        self.tree.seed[0] = next64(rng)

    def _tree(self, budget: Budget, n_trees: int) -> Tree:
        """A tree with room for the budget. Its content is not cleared yet."""
        n_nodes, n_turns = size_of_tree(budget, n_trees, 1 if isinstance(self.chance, Decisions) else self.game.max_turns)
        size = n_nodes + 1, n_turns + 1
        if size not in self._trees:
            self._trees[size] = _new_tree(*size)
        return self._trees[size]

    def run(self, steps: Iterable[int]) -> int:
        """Make this many iterations in each step; return the number of iterations made."""
        _clear(self.tree, self.chance)  # here, because each thread should clear its own tree
        position = self.tree, self.space, self.states, self.raw, self.seat
        parts = self.chance, self.plan, self.rule, self.playouts, self.learner, self.rng
        done = 0
        for n in steps:
            uct.grow(*position, n, *parts)
            done += n
        return done

    def nodes(self) -> int:
        """The number of nodes."""
        return int(self.tree.used[uct.NODES])

    def tally(self) -> Tally:
        """The visits and sums of the turns of the root."""
        counts = self.tree.counts[self._places(uct.ROOT, self.turns)]  # turn 0, for turns not in the tree, has no visits
        return Tally(visits=counts["visits"].astype(np.int64), sums=counts["sums"], squares=counts["squares"])

    def _places(self, node: int, turns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers in the tree of these turns of a node; 0 for turns that are not in it."""
        listed = list(turns_of(self.tree, self.chance, node))
        places = dict(zip(self.tree.turns[listed].tolist(), listed, strict=True)) if listed else {}
        return np.array([places.get(turn, 0) for turn in turns.tolist()], np.int64)

    def root(self) -> Node:
        """The root of a copy of the tree."""
        return root_of(self.tree, self.chance, self.view, self.states)

    def line(self, turn: int) -> str:
        """The replies tried most often to a turn, until chance comes, in the words of the game.

        After chance, a tree of one determinisation would show hidden information. Replies that depend on hidden information are those
        possible in the deal of the view.
        """
        states = self.view.scratch(1 + SCRATCH)
        words: list[str] = []
        at = int(self._places(uct.ROOT, self.turns)[turn])
        carry_out(states, int(self.turns[turn]))
        while len(words) < _LINE and at and verbs.phase_at(states, 0) == verbs.DECIDE:
            at = self._favourite(child_of(self.tree, self.chance, at), states)
            if at:
                words.append(play_in_words(self.view, states, int(self.tree.turns[at])))
        return "; ".join(words)

    def _favourite(self, node: int, states: Any) -> int:
        """The turn of a node with the most visits, of those open in states[0]; 0 if there is none."""
        turns = np.empty(self.game.max_turns, np.int64)
        n = int(list_turns(states, 0, self.plan.most_decisions, self.game.max_legal, turns))
        places = self._places(node, turns[:n]) if node else np.zeros(0, np.int64)
        visits = self.tree.counts["visits"][places] * (places > 0)
        return int(places[visits.argmax()]) if visits.any() else 0


def as_integers(states: Any) -> NDArray[Any]:
    """Return the memory of states as integers, a row for each state, for fingerprints."""
    words = np.uint64 if states.dtype.itemsize % 8 == 0 else np.uint8
    return states.view(np.uint8).reshape(len(states), -1).view(words)  # type: ignore[no-any-return]


def size_of_tree(budget: Budget, n_trees: int, turns_of_node: int) -> tuple[int, int]:
    """The most nodes and turns of each of `n_trees` trees whose nodes have up to `turns_of_node` turns."""
    n_nodes = _MOST_NODES
    if budget.playouts is not None:
        n_nodes = budget.playouts + 2
    elif budget.nodes is not None:
        n_nodes = max(1, budget.nodes)
    elif budget.seconds is not None:  # in powers of two, so that a clock that runs out keeps its trees
        n_nodes = 1 << int(_NODES_A_SECOND * budget.seconds + 1).bit_length()
    n_nodes = min(n_nodes, _MOST_NODES, _MOST_NODES_IN_ALL // n_trees)
    return n_nodes, min(n_nodes * turns_of_node, _MOST_TURNS, _MOST_TURNS_IN_ALL // n_trees)


def plan_of(policy: Uct, game: Game, players: int, guide: Any, dealer: Any) -> Plan:
    """Make the options of a tree search for kernels. `guide` orders the turns not tried yet, and `dealer` draws what is hidden."""
    return Plan(
        most_decisions=policy.most_decisions(game),
        in_order=1 if policy.priors else _EXPANSIONS[policy.expand],
        first_urgency=policy.fpu,
        least=policy.least,
        least_below=policy.least_below,
        with_gains=int(policy.bias != "none"),
        update=_UPDATES[policy.update],
        total=_TOTALS[policy.total],
        equals=_EQUALS[policy.equals],
        backup=_BACKUPS[policy.backup],
        teams=game.teams(players),
        rave=policy.rave,
        guide=guide,
        dealer=dealer,
    )


def exploration(policy: Uct) -> float:
    """The weight of exploration by priors; 0 if the selection rule does not use them."""
    return policy.select.c if isinstance(policy.select, Puct) else 0.0


def _guide(view: View, policy: Uct) -> Any:
    """The compiled part that orders the turns not tried yet."""
    if policy.priors is None:
        return NoPriors()
    source = policy.priors.priors(view, policy.temperature)
    return Priors(source=source, priors=np.zeros(view.game.max_turns), explore=exploration(policy), widening=policy.widening)


def _player_and_learner(view: View, policy: Uct) -> tuple[Any, Any]:
    """The compiled player of the playouts, and the part that learns from them for RAVE and MAST, or NoLearner."""
    playout = policy.playout
    player, learns = playout.player(view), playout.learns
    if not (policy.rave or learns):
        return player, NoLearner()
    size = amaf.MOST_RECORDED + uct.MAX_DEPTH
    shape = (view.players, view.game.n_actions(view.players, view.variant)) if learns else (0, 0)
    averages = amaf.Averages(visits=np.zeros(shape, np.int64), sums=np.zeros(shape))
    seats, turns = np.zeros((2, amaf.MOST_RECORDED), np.int64)
    record = amaf.Record(seats=seats, turns=turns, n=np.zeros(1, np.int64))
    learner = amaf.AmafLearner(
        record=record,
        averages=averages,
        has_averages=int(learns),
        seats=np.zeros(size, np.int64),
        turns=np.zeros(size, np.int64),
        homes=np.zeros(size, np.int64),
        slots=np.zeros(1 << (2 * size).bit_length(), np.int64),
    )
    player = amaf.MastPlayer(averages, playout.epsilon) if isinstance(playout, Mast) else player
    return amaf.Recorded(player, policy.most_decisions(view.game), record), learner


def _new_tree(n_nodes: int, n_turns: int) -> Tree:
    """A tree of just the root. The system provides pages of zeros when they are first written to."""
    size = 1 << (2 * n_nodes - 1).bit_length()
    return Tree(
        used=np.array([1, 0], np.int64),
        seed=np.zeros(1, np.uint64),
        nodes=np.zeros(n_nodes, uct.NODE),
        turns=np.zeros(n_turns, np.int64),
        counts=np.zeros(n_turns, uct.COUNTS),
        table=np.zeros(size, np.int32),
        slots=np.zeros(n_nodes, np.int32),
    )


def new_workspace(game: Game, players: int) -> Workspace:
    """Make memory for iterations in any position of this game with this number of players."""
    return Workspace(
        path=np.zeros((uct.MAX_DEPTH, 4), np.int64),
        turns=np.empty(game.max_turns, np.int64),
        known=np.empty(game.max_turns, np.int64),
        actions=np.empty((MAX_DECISIONS, game.max_legal), np.int64),
        n_actions=np.empty(MAX_DECISIONS, np.int64),
        at_action=np.empty(MAX_DECISIONS, np.int64),
        values=np.empty(players),
        numbers=np.empty(players, np.int64),
        drawn=make_rng(0),
    )


def _clear(tree: Tree, chance: Any) -> None:
    """Make it a tree of just the root again. Records are cleared as bytes: numpy would write zeros field by field, ten times as slowly."""
    n_nodes, n_turns = tree.used[0] + 1, tree.used.max() + 1
    tree.counts[:n_turns].view(np.uint8)[:] = 0
    if isinstance(chance, Positions):  # a tree of decisions has no separate nodes and no table
        tree.table[tree.slots[:n_nodes]] = uct.NONE
        tree.slots[:n_nodes] = 0
        tree.nodes[:n_nodes].view(np.uint8)[:] = 0
    tree.used[:] = 1, 0
