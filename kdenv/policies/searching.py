"""Policies that search: parameters, seeding, budgets, and what they found out. The searches themselves are in kdenv.search.

A search of the turns at the root has workers: one, or several that search on their own and whose counts are added up
(root parallelisation). Here is flat Monte Carlo; the trees are in policies.trees.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.core import protocol
from kdenv.core.game import Game
from kdenv.core.player import choose_at
from kdenv.core.random import Rng, below, make_rng, next64
from kdenv.core.view import View
from kdenv.policies.analysis import Analysis, Candidate, carry_out, half_interval, turn_words
from kdenv.policies.base import Searcher
from kdenv.policies.playouts import Playout
from kdenv.search.budget import Budget, compiling, spend_together
from kdenv.search.kernels import flat
from kdenv.search.kernels.flat import Tally
from kdenv.search.playout import decisions_left
from kdenv.search.score import SCORE_UNITS, SCORES
from kdenv.search.turns import SCRATCH, list_turns

EVEN = ROTATION, AT_RANDOM = ("rotation", "random")  # how playouts are given to all turns alike
_FORESEEN = 4  # playouts that tell how many turns are left


class Final(NamedTuple):
    """What is done once the search is over, and around it."""

    choice: str  # or visits: which turn is taken
    least: int  # visits that every turn gets, so that more of them tell nothing
    reflex: bool  # whether the game's reflex goes before any search
    workers: int  # searches on their own whose counts are added up
    threads: int  # ... that work at the same time


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


class Findings(NamedTuple):
    """What a search found out."""

    turns: NDArray[np.int64]
    workers: list[Any]
    playouts: int

    def tally(self) -> Tally:
        """By turn, over all workers."""
        return Tally(*(np.sum(parts, axis=0) for parts in zip(*(worker.tally() for worker in self.workers), strict=True)))


class RootSearch(Searcher):
    """Tries the turns open to its seat by playouts, and takes the best."""

    def __init__(self, text: str, playout: Playout, score: str, budget: Budget, final: Final) -> None:
        super().__init__(text)
        self.playout, self.score, self.budget, self.final = playout, score, budget, final
        self._spent = 0.0  # seconds in this game
        self._prepared: set[str] = set()  # the games whose search this policy has run

    def reset(self, seed: int = 0) -> None:
        """A new game has all its seconds left."""
        super().reset(seed)
        self._spent = 0.0

    @abstractmethod
    def _worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        """Worker `number`, to search these turns."""

    def prepare(self, view: View) -> None:
        """Compile the search for this game, running it without a playout."""
        if view.game.name not in self._prepared:
            with compiling(f"{self.text} for {view.game.name}"):
                rng = make_rng(0)
                turns = self._turns(view)
                budget = Budget(playouts=1)
                findings = Findings(turns, [self._worker(view, turns, budget, rng, 0)], 0)
                findings.workers[0].work(0, 0)
                self._gains(view, turns[:1])
                if self.final.reflex:
                    self._reflex(view, rng)
                if self.budget.game_seconds is not None:
                    self._decisions_left(view, 0)
            self._prepared.add(view.game.name)

    def choose_turn(self, view: View) -> int:
        """The turn of the best mean or the most visits."""
        start = time.perf_counter()
        self.prepare(view)
        turn = self._reflex(view, self.rng) if self.final.reflex else 0
        if not turn:
            findings = self._search(view, self.rng)
            self.playouts += findings.playouts
            turn = int(findings.turns[self._best(view, findings)]) if len(findings.turns) > 1 else int(findings.turns[0])
        self._spent += time.perf_counter() - start
        return turn

    def analyse(self, view: View) -> Analysis:
        """Every turn, with the mean of its playouts."""
        self.prepare(view)
        start = time.perf_counter()
        findings = self._search(view, self.rng)
        cost = {"playouts": findings.playouts, **self._cost(findings), "seconds": time.perf_counter() - start}
        candidates = []
        for i, (visits, total, squares) in enumerate(zip(*findings.tally(), strict=True)):
            turn = int(findings.turns[i])
            mean = total / visits if visits else math.nan
            half, line = half_interval(visits, total, squares), self._line(view, findings, i)
            candidates.append(Candidate(turn, turn_words(view, turn), int(visits), float(mean), half, line))
        by_mean = self.final.choice == "mean"
        candidates.sort(key=lambda c: (c.visits == 0, -c.mean if by_mean else -c.visits, -c.mean))
        return Analysis(candidates, SCORE_UNITS[self.score], cost)

    def _cost(self, findings: Findings) -> dict[str, float]:
        return {}

    def _line(self, view: View, findings: Findings, turn: int) -> str:
        return ""

    def _turns(self, view: View) -> NDArray[np.int64]:
        """The turns open to the seat."""
        turns = np.empty(view.game.max_turns, np.int64)
        n = list_turns(view.scratch(1 + SCRATCH), 0, self.most_decisions(view.game), view.game.max_legal, turns)
        return turns[: int(n)].copy()

    def most_decisions(self, game: Game) -> int:
        """Of the turns that are searched."""
        return game.most_decisions

    def _search(self, view: View, rng: Rng) -> Findings:
        """All that the budget allows; what is forced needs no search."""
        since = time.perf_counter()
        turns = self._turns(view)
        budget = self.budget.for_decision(self._spent, lambda: self._decisions_left(view, _FORESEEN))
        n = self.final.workers
        # Each worker has its own generator; the only one has the policy's.
        rngs = [rng] if n == 1 else [make_rng(int(next64(rng) >> np.uint64(1))) for _ in range(n)]
        workers = [self._worker(view, turns, budget.share(i, n), rngs[i], i) for i in range(n)]
        playouts = spend_together(budget, workers, self.final.threads, since) if len(turns) > 1 else 0
        return Findings(turns, workers, playouts)

    def _best(self, view: View, findings: Findings) -> int:
        """The best turn; among equals the one that gains the most points at once, then any."""
        tally = findings.tally()
        tried = tally.visits > 0
        means = np.where(tried, tally.sums / np.maximum(tally.visits, 1), -np.inf)
        left = tried
        for keys in (means,) if self.final.choice == "mean" else (np.maximum(tally.visits, self.final.least), means):
            left = left & (keys == keys[left].max())
        best = np.flatnonzero(left)
        if len(best) > 1:
            gains = self._gains(view, findings.turns[best])
            best = best[gains == gains.max()]
        return int(best[below(self.rng, len(best))] if len(best) > 1 else best[0])

    def _gains(self, view: View, turns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The seat's own points after each turn, before anything else happens."""
        numbers, points = np.empty(view.players, np.int64), []
        for turn in turns:
            states = view.scratch(1)
            carry_out(states, int(turn))
            protocol.scores_at(states, 0, numbers)
            points.append(int(numbers[int(view.seat)]))
        return np.array(points)

    def _reflex(self, view: View, rng: Rng) -> int:
        """What the game's reflex does here; 0 if nothing."""
        if view.game.reflex is None:
            return 0
        return int(choose_at(view.game.reflex.make(), view.scratch(2), 0, view.game.buffer(), rng))

    def _decisions_left(self, view: View, n_games: int) -> float:
        """How many decisions are left for this seat in this game, as far as a few playouts can tell."""
        game, player = view.game, self.playout.player(view)
        states = view.scratch(1 + SCRATCH)
        return float(decisions_left(player, states, int(view.seat), game.most_decisions, max(n_games, 1), game.buffer(), make_rng(0)))


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

    def __init__(self, text: str, playout: Playout, score: str, budget: Budget, final: Final, rule: Any) -> None:
        super().__init__(text, playout, score, budget, final)
        self.rule = rule

    def _worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        score = SCORES[self.score](view.game.teams(view.players))
        return Flat(view, turns, self.playout.player(view), score, self.rule, self.final.least, rng)
