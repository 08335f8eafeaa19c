"""Policies that search: parameters, seeding, budgets, and what they found out. The searches themselves are in kdenv.search.

A search of the turns at the root has workers: one, or several that search on their own and whose counts are added up
(root parallelisation). Here is flat Monte Carlo; the trees are in policies.trees.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, below, make_rng, next64
from kdenv.core import verbs
from kdenv.core.game import Game
from kdenv.core.questions import choose_at
from kdenv.core.view import View
from kdenv.policies.base import Searcher, SearchPolicy
from kdenv.policies.flat import Bandit, Mce
from kdenv.policies.found import Found, carry_out, half_interval
from kdenv.policies.node import Node
from kdenv.policies.uct import Uct
from kdenv.search.budget import Budget, compiling, spend_together
from kdenv.search.kernels import flat
from kdenv.search.kernels.flat import Tally
from kdenv.search.playout import Uniform, decisions_left
from kdenv.search.score import SCORE_UNITS, SCORES
from kdenv.search.turns import SCRATCH, list_turns

EVEN = ROTATION, AT_RANDOM = ("rotation", "random")  # how playouts are given to all turns alike
TRIAL = Budget(playouts=0)  # compiles a search and spends next to nothing
_FORESEEN = 4  # playouts that tell how many turns are left


class Worker(ABC):
    """One search of the turns open in a view."""

    @abstractmethod
    def work(self, n: int, done: int) -> None:
        """Make n playouts, after `done`."""

    @abstractmethod
    def nodes(self) -> int:
        """How many nodes it has; for searches without nodes, playouts."""

    @abstractmethod
    def tally(self) -> Tally:
        """What it found, by turn."""

    def root(self, view: View) -> Node | None:
        """The root of a copy of its tree; None if it has no tree."""
        return None


class TurnSearcher(Searcher):
    """Finds something out about every turn open to the seat, and takes the best: the base of all searches."""

    def __init__(self, policy: SearchPolicy, budget: Budget) -> None:
        super().__init__()
        self.policy, self.budget = policy, budget
        self._spent = 0.0  # seconds in this game
        self._prepared: set[str] = set()  # the games whose search has been run

    @abstractmethod
    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> Found:
        """Look at these turns as long as the budget allows; TRIAL asks for as little as possible.

        thorough: what is found out about all turns is wanted, how the game is expected to go on, and the tree, if there is one.
        """

    @abstractmethod
    def unit(self, view: View) -> str:
        """What the means are."""

    def reset(self, seed: int = 0) -> None:
        """A new game has all its seconds left."""
        super().reset(seed)
        self._spent = 0.0

    def prepare(self, view: View) -> None:
        """Compile the search for this game by running it on next to nothing."""
        if view.game.name not in self._prepared:
            with compiling(f"{self.policy} for {view.game.name}"):
                rng = make_rng(0)
                self.search(view, self.turns(view), TRIAL, rng)
                self.reflex(view, rng)
                if self.budget.game_seconds is not None:
                    self._decisions_left(view, 0)
            self._prepared.add(view.game.name)

    def choose_turn(self, view: View) -> int:
        """The turn the search takes for the best; what is forced, and what the reflex does, needs no search."""
        start = time.perf_counter()
        self.prepare(view)
        turn = self.reflex(view, self.rng)
        if not turn:
            turns = self.turns(view)
            turn = int(turns[0])
            if len(turns) > 1:
                found = self.search(view, turns, self.budget_now(view), self.rng)
                self.playouts += found.playouts
                turn = found.turn
        self._spent += time.perf_counter() - start
        return turn

    def find(self, view: View, *, thorough: bool) -> Found:
        """What the search finds out about every turn, even if the turn is forced or the reflex would take it."""
        self.prepare(view)
        start = time.perf_counter()
        found = self.search(view, self.turns(view), self.budget_now(view), self.rng, thorough=thorough)
        return replace(found, cost=found.cost | {"seconds": time.perf_counter() - start})

    def turns(self, view: View) -> NDArray[np.int64]:
        """The turns open to the seat."""
        turns = np.empty(view.game.max_turns, np.int64)
        n = list_turns(view.scratch(1 + SCRATCH), 0, self.most_decisions(view.game), view.game.max_legal, turns)
        return turns[: int(n)].copy()

    def most_decisions(self, game: Game) -> int:
        """Of the turns that are searched."""
        return game.most_decisions

    def budget_now(self, view: View) -> Budget:
        """The budget of this decision."""
        return self.budget.for_decision(self._spent, lambda: self._decisions_left(view, _FORESEEN))

    def reflex(self, view: View, rng: Rng) -> int:
        """The turn to take without any search; 0 if there is none."""
        return 0

    def foreseen(self, view: View) -> Any:
        """The player by whose playouts the turns left are counted."""
        return Uniform()

    def _decisions_left(self, view: View, n_games: int) -> float:
        """How many decisions are left for this seat in this game, as far as a few playouts can tell."""
        game, states = view.game, view.scratch(1 + SCRATCH)
        parts = int(view.seat), self.most_decisions(game), max(n_games, 1), game.buffer(), make_rng(0)
        return float(decisions_left(self.foreseen(view), states, *parts))


class Findings(NamedTuple):
    """What workers have found out."""

    turns: NDArray[np.int64]
    workers: list[Any]
    playouts: int

    def tally(self) -> Tally:
        """By turn, over all workers."""
        if len(self.workers) == 1:
            return self.workers[0].tally()  # type: ignore[no-any-return]
        return Tally(*(np.sum(parts, axis=0) for parts in zip(*(worker.tally() for worker in self.workers), strict=True)))


class RootSearch(TurnSearcher):
    """Tries the turns open to its seat by playouts, with one worker or several, and takes the best."""

    policy: Mce | Bandit | Uct

    @abstractmethod
    def _worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        """Worker `number`, to search these turns."""

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> Found:
        """The sums of what the workers have found."""
        if budget == TRIAL:
            self._worker(view, turns, Budget(playouts=1), rng, 0).work(0, 0)
            self._gains(view, turns[:1])
            below(rng, 1)  # _best draws among equals by it
        findings = self.run(view, turns, budget, rng)
        tally = findings.tally()
        means = np.where(tally.visits > 0, tally.sums / np.maximum(tally.visits, 1), math.nan)
        halves = [half_interval(*of_turn) for of_turn in zip(*tally, strict=True)] if thorough else [math.nan] * len(turns)
        lines = [self._line(view, findings, i) for i in range(len(turns))] if thorough else []
        trees = [root for worker in findings.workers if (root := worker.root(view))] if thorough else []
        best = self._best(view, turns, tally, means) if tally.visits.any() else 0
        n, cost = findings.playouts, {"playouts": findings.playouts, **self._cost(findings)}
        by_visits = self.policy.choice == "visits"
        return Found(view, turns, tally.visits, means, halves, best, self.unit(view), n, cost, lines, by_visits, trees)

    def run(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng) -> Findings:
        """All that the budget allows; what is forced needs no search."""
        since = time.perf_counter()
        n = self.policy.workers if budget != TRIAL else 1
        # Each worker has its own generator; the only one has the policy's.
        rngs = [rng] if n == 1 else [make_rng(int(next64(rng) >> np.uint64(1))) for _ in range(n)]
        workers = [self._worker(view, turns, budget.share(i, n), rngs[i], i) for i in range(n)]
        playouts = 0
        if len(turns) > 1 and n == 1:
            playouts = budget.spend(workers[0].work, since=since, nodes=workers[0].nodes)
        elif len(turns) > 1:
            playouts = spend_together(budget, workers, self.policy.threads, since)
        return Findings(turns, workers, playouts)

    def unit(self, view: View) -> str:
        """What the score counts."""
        return SCORE_UNITS[self.policy.score]

    def _cost(self, findings: Findings) -> dict[str, float]:
        return {}

    def _line(self, view: View, findings: Findings, turn: int) -> str:
        return ""

    def _best(self, view: View, turns: NDArray[np.int64], tally: Tally, means: NDArray[np.float64]) -> int:
        """The best turn of those tried; among equals the one that gains the most points at once, then any."""
        left = tally.visits > 0
        for keys in (means,) if self.policy.choice == "mean" else (np.maximum(tally.visits, self.policy.least), means):
            left = left & (keys == keys[left].max())
        best = np.flatnonzero(left)
        if len(best) > 1:
            gains = self._gains(view, turns[best])
            best = best[gains == gains.max()]
        return int(best[below(self.rng, len(best))] if len(best) > 1 else best[0])

    def _gains(self, view: View, turns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The seat's own points after each turn, before anything else happens."""
        numbers, points = np.empty(view.players, np.int64), []
        for turn in turns:
            states = view.scratch(1)
            carry_out(states, int(turn))
            verbs.scores_at(states, 0, numbers)
            points.append(int(numbers[int(view.seat)]))
        return np.array(points)

    def reflex(self, view: View, rng: Rng) -> int:
        """What the game's reflex does here, if it is asked for; 0 if nothing."""
        if not self.policy.reflex or view.game.knowledge.reflex is None:
            return 0
        return int(choose_at(view.game.knowledge.reflex.make(), view.scratch(2), 0, view.game.buffer(), rng))

    def foreseen(self, view: View) -> Any:
        """The player of the playouts."""
        return self.policy.playout.player(view)


class Flat(Worker):
    """Flat Monte Carlo: playouts for all turns alike, or as a selection rule has it."""

    def __init__(self, view: View, turns: NDArray[np.int64], player: Any, score: Any, rule: Any, least: int, rng: Rng) -> None:
        self.states, self.seat, self.turns, self.player, self.score = view.scratch(1 + SCRATCH), int(view.seat), turns, player, score
        self.rule, self.least, self.rng = rule, least, rng
        self.out, self.numbers = view.game.buffer(), np.empty(view.players, np.int64)
        self.counts = Tally(np.zeros(len(turns), np.int64), np.zeros(len(turns)), np.zeros(len(turns)))

    def work(self, n: int, done: int) -> None:
        """Make n playouts."""
        searched = self.states, self.seat, self.turns, len(self.turns), n
        with_parts = self.player, self.score, self.out, self.numbers, self.rng, self.counts
        if self.rule == ROTATION:
            flat.sample_in_rotation(*searched, done, *with_parts)
        elif self.rule == AT_RANDOM:
            flat.sample_at_random(*searched, *with_parts)
        else:
            flat.sample_by_urgency(*searched, self.rule, self.least, *with_parts)

    def nodes(self) -> int:
        """The playouts made."""
        return int(self.counts.visits.sum())

    def tally(self) -> Tally:
        """By turn."""
        return self.counts


class MonteCarlo(RootSearch):
    """Flat Monte Carlo: uniform sampling of the turns at the root, or by a selection rule (a bandit)."""

    def __init__(self, policy: Mce | Bandit, rule: Any) -> None:
        """rule: rotation or random, or a selection rule, compiled."""
        super().__init__(policy, policy.budget())
        self.rule = rule

    def _worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        score = SCORES[self.policy.score](view.game.teams(view.players))
        return Flat(view, turns, self.policy.playout.player(view), score, self.rule, self.policy.least, rng)
