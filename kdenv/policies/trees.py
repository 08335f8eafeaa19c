"""Policies that grow a tree: UCT with its variants as parameters, of which ISMCTS is one. The search itself is kdenv.search.kernels.uct."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, make_rng, next64
from kdenv.core import verbs
from kdenv.core.game import Game
from kdenv.core.turns import MAX_DECISIONS, SCRATCH, carry_out, list_turns
from kdenv.core.view import View
from kdenv.policies.playouts import Mast
from kdenv.policies.result import play_in_words
from kdenv.policies.sampling import PlayoutSearcher, Worker, new_playouts
from kdenv.policies.selection import Puct
from kdenv.policies.tree_view import Node, child_of, root_of, turns_of
from kdenv.policies.uct import Uct
from kdenv.search.budget import Budget
from kdenv.search.kernels import amaf, uct
from kdenv.search.kernels.flat import Tally
from kdenv.search.kernels.priors import Priors
from kdenv.search.kernels.uct import Decisions, NoLearner, NoPriors, Plan, Positions, Tree, Workspace
from kdenv.search.select import ProgressiveBias, WinBias

CHANCES: dict[str, Any] = {"frozen": Positions(0), "sampled": Positions(1), "open": Decisions(0), "information_sets": Decisions(1)}
EXPANSIONS = {"order": 1, "random": 0}
UPDATES = {"all": uct.ALL, "owner": uct.OWNER, "searcher": uct.SEARCHER, "mine": uct.MINE, "own": uct.OWN}
TOTALS = {"siblings": uct.SIBLINGS, "parent": uct.PARENT}
EQUALS = {"random": uct.RANDOM, "last": uct.LAST}
BACKUPS = {"mean": uct.MEAN, "max": uct.MAX}

# The most that a tree may have, and that all trees of a search may have together: as much as eight of the largest, some 4 GB. Memory is
# taken only as trees grow (some 50 bytes a turn).
_MOST_NODES, _MOST_NODES_IN_ALL = 1 << 21, 1 << 24
_MOST_TURNS, _MOST_TURNS_IN_ALL = 1 << 23, 1 << 26
_NODES_A_SECOND = 1_000_000  # more than can be made
_LINE = 4  # turns of an expected line that are told


def most_decisions_of(policy: Uct, game: Game) -> int:
    """The most decisions of a turn in the tree. A node of information sets is what the seat sees after one decision."""
    return 1 if policy.chance == "information_sets" else game.most_decisions


class Grower(Worker):
    """Grows a tree. It is kept with its memory from one decision to the next, and begins each with an empty tree."""

    def __init__(self, policy: Uct, view: View) -> None:
        """A worker for any position of this game with as many players. `begin` must be called before each search."""
        self.game = game = view.game
        self.chance, self.rule = CHANCES[policy.chance], policy.rule()
        self.plan = Plan(
            most_decisions=most_decisions_of(policy, game),
            in_order=1 if policy.priors else EXPANSIONS[policy.expand],
            first_urgency=policy.fpu,
            least=policy.least,
            least_below=policy.least_below,
            with_gains=int(isinstance(self.rule, (ProgressiveBias, WinBias))),
            update=UPDATES[policy.update],
            total=TOTALS[policy.total],
            equals=EQUALS[policy.equals],
            backup=BACKUPS[policy.backup],
            teams=game.teams(view.players),
            rave=policy.rave,
            guide=_guide(view, policy),
            dealer=policy.dealer(view),
        )
        self.states = view.scratch(uct.N_STATES)
        words = np.uint64 if game.state_dtype.itemsize % 8 == 0 else np.uint8
        self.raw = self.states.view(np.uint8).reshape(len(self.states), -1).view(words)
        self.space = _new_workspace(view)
        self._trees: dict[tuple[int, int], Tree] = {}  # by size; kept, as memory new to a process costs more than a playout

    def begin(self, policy: Uct, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng) -> None:
        """Prepare to search these turns with this budget."""
        self.view, self.seat, self.turns, self.rng = view, view.seat, turns, rng
        player, self.learner = _player_and_learner(view, policy)
        self.playouts = new_playouts(policy, view, player=player, values=self.space.values, at_once=self.plan.most_decisions)
        self.plan = self.plan._replace(dealer=policy.dealer(view))
        self.tree = self._tree(budget, policy.workers)
        self.states[0] = view.states[0]
        verbs.resample_hidden_at(self.states, 0, self.seat, rng)
        self.tree.seed[0] = next64(rng)

    def _tree(self, budget: Budget, n_trees: int) -> Tree:
        """A tree with room for what the budget allows. Whatever is in it is not cleared yet."""
        n_nodes, n_turns = size_of_tree(budget, n_trees, 1 if isinstance(self.chance, Decisions) else self.game.max_turns)
        size = n_nodes + 1, n_turns + 1
        if size not in self._trees:
            self._trees[size] = _new_tree(*size)
        return self._trees[size]

    def run(self, steps: Iterable[int]) -> int:
        """Make this many iterations in each step; return how many were made in all."""
        _clear(self.tree, self.chance)  # here, because each thread should clear its own tree
        position = self.tree, self.space, self.states, self.raw, self.seat
        parts = self.chance, self.plan, self.rule, self.playouts, self.learner, self.rng
        done = 0
        for n in steps:
            uct.grow(*position, n, *parts)
            done += n
        return done

    def nodes(self) -> int:
        """How many nodes there are."""
        return int(self.tree.used[uct.NODES])

    def tally(self) -> Tally:
        """The turns of the root."""
        counts = self.tree.counts[self._places(uct.ROOT, self.turns)]  # number 0, for what is not in the tree, has counted nothing
        return Tally(visits=counts["visits"].astype(np.int64), sums=counts["sums"], squares=counts["squares"])

    def _places(self, node: int, turns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where these turns of a node are in the tree; 0 if they are not."""
        listed = list(turns_of(self.tree, self.chance, node))
        places = dict(zip(self.tree.turns[listed].tolist(), listed, strict=True)) if listed else {}
        return np.array([places.get(turn, 0) for turn in turns.tolist()], np.int64)

    def root(self) -> Node:
        """The root of a copy of the tree."""
        return root_of(self.tree, self.chance, self.view, self.states)

    def line(self, turn: int) -> str:
        """The replies tried most often to a turn, until chance comes, in the words of the game.

        Behind chance, a tree of one determinisation knows too much. Replies to what is hidden are those that the deal in the view allows.
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


def size_of_tree(budget: Budget, n_trees: int, turns_of_node: int) -> tuple[int, int]:
    """How many nodes and turns one of so many trees may have, if each node has up to so many turns."""
    n_nodes = _MOST_NODES
    if budget.playouts is not None:
        n_nodes = budget.playouts + 2
    elif budget.nodes is not None:
        n_nodes = max(1, budget.nodes)
    elif budget.seconds is not None:  # in powers of two, so that a clock that runs out keeps its trees
        n_nodes = 1 << int(_NODES_A_SECOND * budget.seconds + 1).bit_length()
    n_nodes = min(n_nodes, _MOST_NODES, _MOST_NODES_IN_ALL // n_trees)
    return n_nodes, min(n_nodes * turns_of_node, _MOST_TURNS, _MOST_TURNS_IN_ALL // n_trees)


def _guide(view: View, policy: Uct) -> Any:
    """What says in which order turns are tried for the first time."""
    if policy.priors is None:
        return NoPriors()
    explore = policy.select.c if isinstance(policy.select, Puct) else 0.0
    source = policy.priors.priors(view, policy.temperature)
    return Priors(source=source, priors=np.zeros(view.game.max_turns), explore=explore, widening=policy.widening)


def _player_and_learner(view: View, policy: Uct) -> tuple[Any, Any]:
    """Who plays the playouts, and what learns from them: nothing, without RAVE and MAST."""
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
    return amaf.Recorded(player=player, most_decisions=most_decisions_of(policy, view.game), record=record), learner


def _new_tree(n_nodes: int, n_turns: int) -> Tree:
    """A tree of just the root. Pages of zeros are taken from the system when they are first written to."""
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


def _new_workspace(view: View) -> Workspace:
    """Memory for iterations in any position of this game with as many players."""
    game = view.game
    return Workspace(
        path=np.zeros((uct.MAX_DEPTH, 4), np.int64),
        turns=np.empty(game.max_turns, np.int64),
        known=np.empty(game.max_turns, np.int64),
        actions=np.empty((MAX_DECISIONS, game.max_legal), np.int64),
        n_actions=np.empty(MAX_DECISIONS, np.int64),
        at_action=np.empty(MAX_DECISIONS, np.int64),
        values=np.empty(view.players),
        numbers=np.empty(view.players, np.int64),
        drawn=make_rng(0),
    )


def _clear(tree: Tree, chance: Any) -> None:
    """Make it a tree of just the root again. Records are cleared as bytes: numpy would write zeros field by field, ten times as slowly."""
    n_nodes, n_turns = tree.used[0] + 1, tree.used.max() + 1
    tree.counts[:n_turns].view(np.uint8)[:] = 0
    if isinstance(chance, Positions):  # a tree of decisions has neither nodes of their own nor a table
        tree.table[tree.slots[:n_nodes]] = uct.NONE
        tree.slots[:n_nodes] = 0
        tree.nodes[:n_nodes].view(np.uint8)[:] = 0
    tree.used[:] = 1, 0


class TreeSearcher(PlayoutSearcher):
    """UCT, and with chance="information_sets" ISMCTS."""

    policy: Uct

    def __init__(self, policy: Uct) -> None:
        super().__init__(policy, policy.budget())
        self._growers: dict[tuple[str, int, int], Grower] = {}  # by game, number of players, and number of the worker

    def most_decisions(self, game: Game) -> int:
        """The most decisions of a turn at the root."""
        return most_decisions_of(self.policy, game)

    def worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        """Worker `number`, which begins with an empty tree."""
        key = view.game.name, view.players, number
        if key not in self._growers:
            self._growers[key] = Grower(self.policy, view)
        self._growers[key].begin(self.policy, view, turns, budget, rng)
        return self._growers[key]
