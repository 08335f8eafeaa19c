"""Policies that grow a tree: UCT with its variants as parameters. The search itself is kdenv.search.tree."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.core import protocol
from kdenv.core.random import Rng, make_rng, next64
from kdenv.core.view import View
from kdenv.policies.analysis import carry_out, play_in_words
from kdenv.policies.playouts import Mast, Playout
from kdenv.policies.searching import Final, Findings, RootSearch, Worker
from kdenv.search import hearsay
from kdenv.search import tree as trees
from kdenv.search.budget import Budget
from kdenv.search.montecarlo import Tally
from kdenv.search.score import SCORES
from kdenv.search.select import ProgressiveBias, WinBias
from kdenv.search.tree import Closed, Deaf, Desk, Open, Plan, Tree
from kdenv.search.turns import MAX_DECISIONS

CHANCES: dict[str, Any] = {"frozen": Closed(0), "sampled": Closed(1), "open": Open()}
BIASES: dict[str, Any] = {"none": None, "progressive": ProgressiveBias, "win": WinBias}
EXPANSIONS = {"order": 1, "random": 0}
UPDATES = {"all": trees.ALL, "owner": trees.OWNER, "mine": trees.MINE}

# The most that a tree may have; memory is taken only as it grows (some 50 bytes a turn).
_MOST_NODES = 1 << 21
_MOST_TURNS = 1 << 23
_NODES_A_SECOND = 1_000_000  # more than can be made


class Growth(NamedTuple):
    """How a tree is grown, in words."""

    chance: str = "frozen"
    expand: str = "random"
    first_urgency: float = math.inf  # of turns not tried yet
    update: str = "all"
    rave: float = 0.0  # visits of which a turn's own mean and the hearsay count alike


class Grown(Worker):
    """One tree, growing."""

    def __init__(
        self,
        view: View,
        turns: NDArray[np.int64],
        playout: Playout,
        score: Any,
        rule: Any,
        growth: Growth,
        least: int,
        tree: Tree,
        rng: Rng,
    ) -> None:
        """Grows in `tree`, whatever is in it."""
        game = view.game
        self.states, self.seat, self.turns, self.score = view.scratch(trees.SCRATCH), int(view.seat), turns, score
        self.player, self.ears = _player_and_ears(view, playout, growth)
        self.rule, self.rng, self.chance = rule, rng, CHANCES[growth.chance]
        protocol.resample_hidden_at(self.states, 0, self.seat, rng)
        words = np.uint64 if game.state_dtype.itemsize % 8 == 0 else np.uint8
        self.raw = self.states.view(np.uint8).reshape(len(self.states), -1).view(words)
        with_gains = int(isinstance(rule, (ProgressiveBias, WinBias)))
        self.plan = Plan(
            game.most_decisions,
            EXPANSIONS[growth.expand],
            growth.first_urgency,
            least,
            with_gains,
            UPDATES[growth.update],
            game.teams(view.players),
            growth.rave,
        )
        self._tree, self._is_empty = tree, False
        tree.seed[0] = next64(rng)  # not cleared
        self.desk = Desk(
            path=np.empty((trees.MAX_DEPTH, 3), np.int64),
            turns=np.empty(game.max_turns, np.int64),
            known=np.empty(game.max_turns, np.int64),
            actions=np.empty((MAX_DECISIONS, game.max_legal), np.int64),
            n_actions=np.empty(MAX_DECISIONS, np.int64),
            at_action=np.empty(MAX_DECISIONS, np.int64),
            out=game.buffer(),
            values=np.empty(view.players),
            numbers=np.empty(view.players, np.int64),
            drawn=make_rng(0),
        )

    @property
    def tree(self) -> Tree:
        """The tree, emptied when it is first asked for: by the thread that works in it, as that takes a while."""
        if not self._is_empty:
            _clear(self._tree)
            self._is_empty = True
        return self._tree

    def work(self, n: int, done: int) -> None:
        """Grow by n iterations."""
        position = self.tree, self.desk, self.states, self.raw, self.seat
        trees.grow(*position, n, self.chance, self.plan, self.rule, self.player, self.score, self.ears, self.rng)

    def nodes(self) -> int:
        """How many nodes there are."""
        return int(self.tree.used[trees.NODES])

    def tally(self) -> Tally:
        """The turns of the root."""
        places = self.places()
        return Tally(*(np.where(places > 0, of[places], 0) for of in (self.tree.visits, self.tree.sums, self.tree.squares)))

    def places(self) -> NDArray[np.int64]:
        """Where the turns of the root are in the tree; 0 if they are not."""
        places = np.zeros(len(self.turns), np.int64)
        if isinstance(self.chance, Open):
            trees.places_of(self.tree, self.turns, len(self.turns), places)
            return places
        first, n = int(self.tree.first[trees.ROOT]), int(self.tree.n_turns[trees.ROOT])
        order = np.argsort(self.tree.turn[first : first + n])
        if n:
            places[np.argsort(self.turns)] = first + order
        return places

    def line(self, view: View, turn: int, most: int) -> list[str]:
        """The replies tried most often to a turn, until chance comes, in the words of the game."""
        states = view.scratch(1)
        words: list[str] = []
        at = int(self.places()[turn])
        carry_out(states, int(self.turns[turn]))
        while len(words) < most and at and protocol.phase_at(states, 0) == protocol.DECIDE:
            at = self._favourite(int(self.tree.child[at]))
            if at:
                words.append(play_in_words(view, states, int(self.tree.turn[at])))
        return words

    def _favourite(self, node: int) -> int:
        """The turn of a closed tree's node with the most visits; 0 if there is none."""
        first, n = int(self.tree.first[node]), int(self.tree.n_tried[node])
        return first + int(np.argmax(self.tree.visits[first : first + n])) if node and n else 0


def _player_and_ears(view: View, playout: Playout, growth: Growth) -> tuple[Any, Any]:
    """Who plays the playouts, and who listens to them: nobody, unless RAVE or MAST learn from them."""
    player, learns = playout.player(view), isinstance(playout, Mast)
    if not (growth.rave or learns):
        return player, Deaf()
    size = hearsay.MOST_NOTED + trees.MAX_DEPTH
    shape = (view.players, view.game.n_actions(view.players, view.variant)) if learns else (0, 0)
    averages = hearsay.Averages(np.zeros(shape, np.int64), np.zeros(shape))
    notes = hearsay.Notes(np.zeros(hearsay.MOST_NOTED, np.int64), np.zeros(hearsay.MOST_NOTED, np.int64), np.zeros(1, np.int64))
    ears = hearsay.Ears(
        notes,
        averages,
        int(learns),
        seats=np.zeros(size, np.int64),
        turns=np.zeros(size, np.int64),
        homes=np.zeros(size, np.int64),
        slots=np.zeros(1 << (2 * size).bit_length(), np.int64),
    )
    player = hearsay.Mast(averages, playout.epsilon) if isinstance(playout, Mast) else player
    return hearsay.Noted(player, view.game.most_decisions, notes), ears


def _new_tree(n_nodes: int, n_turns: int) -> Tree:
    """A tree of just the root. Pages of zeros are taken from the system when they are first written to."""
    size = 1 << (2 * n_nodes - 1).bit_length()
    return Tree(
        used=np.array([1, 0], np.int64),
        seed=np.zeros(1, np.uint64),
        first=np.zeros(n_nodes, np.int32),
        n_turns=np.zeros(n_nodes, np.int32),
        n_tried=np.zeros(n_nodes, np.int32),
        passes=np.zeros(n_nodes, np.int32),
        turn=np.zeros(n_turns, np.int64),
        child=np.zeros(n_turns, np.int32),
        visits=np.zeros(n_turns, np.int32),
        sums=np.zeros(n_turns),
        squares=np.zeros(n_turns),
        gains=np.zeros(n_turns),
        heard=np.zeros(n_turns, np.int32),
        heard_sums=np.zeros(n_turns),
        table=np.zeros(size, np.int32),
        keys=np.zeros(size, np.uint64),
        slots=np.zeros(n_nodes, np.int32),
    )


def _clear(tree: Tree) -> None:
    """Make it a tree of just the root again."""
    n_nodes, n_turns = tree.used + 1
    tree.table[tree.slots[: max(n_nodes, min(n_turns, len(tree.slots)))]] = trees.NONE
    for by_node in (tree.first, tree.n_turns, tree.n_tried, tree.passes, tree.slots):
        by_node[:n_nodes] = 0
    for by_turn in (tree.child, tree.visits, tree.sums, tree.squares, tree.gains, tree.heard, tree.heard_sums):
        by_turn[:n_turns] = 0
    tree.used[:] = 1, 0


class TreeSearch(RootSearch):
    """UCT."""

    def __init__(self, text: str, playout: Playout, score: str, budget: Budget, final: Final, rule: Any, growth: Growth) -> None:
        super().__init__(text, playout, score, budget, final)
        self.rule, self.growth = rule, growth
        self._trees: dict[tuple[int, int, int], Tree] = {}  # kept: memory new to a process costs more than a playout

    def _worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        score = SCORES[self.score](view.game.teams(view.players))
        tree = self._tree(budget, view.game.max_turns, number)
        return Grown(view, turns, self.playout, score, self.rule, self.growth, self.final.least, tree, rng)

    def _tree(self, budget: Budget, max_turns: int, number: int) -> Tree:
        """A tree with room for what the budget allows."""
        n_nodes = _MOST_NODES
        if budget.playouts is not None:
            n_nodes = budget.playouts + 2
        elif budget.nodes is not None:
            n_nodes = max(1, budget.nodes)
        elif budget.seconds is not None:  # in powers of two, so that a clock that runs out keeps its trees
            n_nodes = 1 << int(_NODES_A_SECOND * budget.seconds + 1).bit_length()
        n_nodes = min(_MOST_NODES, n_nodes)
        n_turns = n_nodes if self.growth.chance == "open" else min(_MOST_TURNS, n_nodes * max_turns)
        key = n_nodes + 1, n_turns + 1, number
        if key not in self._trees:
            self._trees[key] = _new_tree(n_nodes + 1, n_turns + 1)
        return self._trees[key]

    def _cost(self, findings: Findings) -> dict[str, float]:
        return {"nodes": sum(worker.nodes() for worker in findings.workers)}

    def _line(self, view: View, findings: Findings, turn: int) -> str:
        # Only what is open to all goes into words: a tree of one determinisation knows too much behind the first chance.
        return "; ".join(findings.workers[0].line(view, turn, 4))
