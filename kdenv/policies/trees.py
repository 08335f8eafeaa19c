"""Policies that grow a tree: UCT with its variants as parameters, of which ISMCTS is one. The search itself is kdenv.search.kernels.uct."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, make_rng, next64
from kdenv.core import verbs
from kdenv.core.game import Game
from kdenv.core.view import View
from kdenv.policies.analysis import carry_out, play_in_words
from kdenv.policies.playouts import Mast, Playout
from kdenv.policies.searching import Final, Findings, RootSearch, Worker
from kdenv.search.budget import Budget
from kdenv.search.kernels import amaf, uct
from kdenv.search.kernels.flat import Tally
from kdenv.search.kernels.uct import Decisions, NoLearner, Plan, Positions, Tree, Workspace
from kdenv.search.score import SCORES
from kdenv.search.select import ProgressiveBias, WinBias
from kdenv.search.turns import MAX_DECISIONS, SCRATCH, list_turns

CHANCES: dict[str, Any] = {"frozen": Positions(0), "sampled": Positions(1), "open": Decisions(0), "information_sets": Decisions(1)}
BIASES: dict[str, Any] = {"none": None, "progressive": ProgressiveBias, "win": WinBias}
EXPANSIONS = {"order": 1, "random": 0}
UPDATES = {"all": uct.ALL, "owner": uct.OWNER, "mine": uct.MINE}

# The most that a tree may have; memory is taken only as it grows (some 50 bytes a turn).
_MOST_NODES = 1 << 21
_MOST_TURNS = 1 << 23
_NODES_A_SECOND = 1_000_000  # more than can be made


class Growth(NamedTuple):
    """How a tree is grown, in words."""

    chance: str
    expand: str
    first_urgency: float  # of turns not tried yet
    update: str
    rave: float  # after so many visits a turn's own mean and its all-moves-as-first mean count alike

    def most_decisions(self, game: Game) -> int:
        """Of a turn in the tree. A node of information sets is what the seat sees after one decision."""
        return 1 if self.chance == "information_sets" else game.most_decisions


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
        self.game = game = view.game
        self.states, self.seat, self.turns, self.score = view.scratch(uct.N_STATES), int(view.seat), turns, score
        self.player, self.learner = _player_and_learner(view, playout, growth)
        self.rule, self.rng, self.chance = rule, rng, CHANCES[growth.chance]
        verbs.resample_hidden_at(self.states, 0, self.seat, rng)
        words = np.uint64 if game.state_dtype.itemsize % 8 == 0 else np.uint8
        self.raw = self.states.view(np.uint8).reshape(len(self.states), -1).view(words)
        with_gains = int(isinstance(rule, (ProgressiveBias, WinBias)))
        self.plan = Plan(
            growth.most_decisions(game),
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
        self.space = Workspace(
            path=np.empty((uct.MAX_DEPTH, 3), np.int64),
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
        position = self.tree, self.space, self.states, self.raw, self.seat
        uct.grow(*position, n, self.chance, self.plan, self.rule, self.player, self.score, self.learner, self.rng)

    def nodes(self) -> int:
        """How many nodes there are."""
        return int(self.tree.used[uct.NODES])

    def tally(self) -> Tally:
        """The turns of the root."""
        places = self.places()
        return Tally(*(np.where(places > 0, self.tree.counts[what][places], 0) for what in ("visits", "sums", "squares")))

    def places(self) -> NDArray[np.int64]:
        """Where the turns of the root are in the tree; 0 if they are not."""
        return self._places(uct.ROOT, self.turns)

    def _places(self, node: int, turns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where these turns of a node are in the tree; 0 if they are not."""
        places = {int(self.tree.turns[at]): at for at in self.turns_of(node)}
        return np.array([places.get(int(turn), 0) for turn in turns], np.int64)

    def turns_of(self, node: int) -> Iterator[int]:
        """Where the turns of a node are in the tree, those that have not been tried included."""
        tree = self.tree
        if isinstance(self.chance, Decisions):
            at = int(tree.counts["child"][node])
            while at:
                yield at
                at = int(tree.counts["next"][at])
        else:
            first = int(tree.nodes["first"][node])
            yield from range(first, first + int(tree.nodes["n_turns"][node]))

    def child_of(self, at: int) -> int:
        """A node that a turn led to; 0 if there is none."""
        return at if isinstance(self.chance, Decisions) else int(self.tree.counts["child"][at])

    def line(self, view: View, turn: int, most: int) -> list[str]:
        """The replies tried most often to a turn, until chance comes, in the words of the game.

        Replies to what is hidden are those that the deal in the view allows.
        """
        states = view.scratch(1 + SCRATCH)
        words: list[str] = []
        at = int(self.places()[turn])
        carry_out(states, int(self.turns[turn]))
        while len(words) < most and at and verbs.phase_at(states, 0) == verbs.DECIDE:
            at = self._favourite(self.child_of(at), states)
            if at:
                words.append(play_in_words(view, states, int(self.tree.turns[at])))
        return words

    def _favourite(self, node: int, states: Any) -> int:
        """The turn of a node with the most visits, of those open in states[0]; 0 if there is none."""
        turns = np.empty(self.game.max_turns, np.int64)
        n = int(list_turns(states, 0, self.plan.most_decisions, self.game.max_legal, turns))
        places = self._places(node, turns[:n]) if node else np.zeros(0, np.int64)
        visits = self.tree.counts["visits"][places] * (places > 0)
        return int(places[visits.argmax()]) if visits.any() else 0


def _player_and_learner(view: View, playout: Playout, growth: Growth) -> tuple[Any, Any]:
    """Who plays the playouts, and what learns from them: nothing, without RAVE and MAST."""
    player, learns = playout.player(view), isinstance(playout, Mast)
    if not (growth.rave or learns):
        return player, NoLearner()
    size = amaf.MOST_RECORDED + uct.MAX_DEPTH
    shape = (view.players, view.game.n_actions(view.players, view.variant)) if learns else (0, 0)
    averages = amaf.Averages(np.zeros(shape, np.int64), np.zeros(shape))
    record = amaf.Record(np.zeros(amaf.MOST_RECORDED, np.int64), np.zeros(amaf.MOST_RECORDED, np.int64), np.zeros(1, np.int64))
    learner = amaf.Learner(
        record,
        averages,
        int(learns),
        seats=np.zeros(size, np.int64),
        turns=np.zeros(size, np.int64),
        homes=np.zeros(size, np.int64),
        slots=np.zeros(1 << (2 * size).bit_length(), np.int64),
    )
    player = amaf.Mast(averages, playout.epsilon) if isinstance(playout, Mast) else player
    return amaf.Recorded(player, growth.most_decisions(view.game), record), learner


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


def _clear(tree: Tree) -> None:
    """Make it a tree of just the root again."""
    n_nodes, n_turns = tree.used[0] + 1, tree.used.max() + 1
    tree.table[tree.slots[:n_nodes]] = uct.NONE
    tree.slots[:n_nodes] = 0
    tree.nodes[:n_nodes] = 0
    tree.counts[:n_turns] = 0
    tree.used[:] = 1, 0


class TreeSearch(RootSearch):
    """UCT, and with chance="information_sets" ISMCTS."""

    def __init__(self, text: str, playout: Playout, score: str, budget: Budget, final: Final, rule: Any, growth: Growth) -> None:
        super().__init__(text, playout, score, budget, final)
        self.rule, self.growth = rule, growth
        self._trees: dict[tuple[int, int, int], Tree] = {}  # kept: memory new to a process costs more than a playout

    def most_decisions(self, game: Game) -> int:
        """Of the turns at the root."""
        return self.growth.most_decisions(game)

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
        n_turns = n_nodes if isinstance(CHANCES[self.growth.chance], Decisions) else min(_MOST_TURNS, n_nodes * max_turns)
        key = n_nodes + 1, n_turns + 1, number
        if key not in self._trees:
            self._trees[key] = _new_tree(n_nodes + 1, n_turns + 1)
        return self._trees[key]

    def _cost(self, findings: Findings) -> dict[str, float]:
        return {"nodes": sum(worker.nodes() for worker in findings.workers)}

    def _line(self, view: View, findings: Findings, turn: int) -> str:
        # Only what is open to all goes into words: a tree of one determinisation knows too much behind the first chance.
        return "; ".join(findings.workers[0].line(view, turn, 4))
