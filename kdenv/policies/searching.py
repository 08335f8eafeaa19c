"""Policies that search: parameters, seeding, and kernel calls. The searches themselves are in kdenv.search."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.random import Rng, make_rng
from kdenv.core.view import View
from kdenv.policies.analysis import Analysis, Candidate, turn_words
from kdenv.policies.base import TurnPolicy
from kdenv.policies.simple import RulePolicy
from kdenv.search import montecarlo
from kdenv.search.budget import Budget, compiling
from kdenv.search.playout import EpsilonGreedy, Split, Uniform
from kdenv.search.score import SCORE_UNITS, SCORES
from kdenv.search.turns import SCRATCH, list_turns


class Playout:
    """How playouts are played, as text says it: random, player_greedy, epsilon_greedy(epsilon=...), or a rule player."""

    def __init__(self, kind: str, text: str, rule: RulePolicy | None = None, epsilon: float = 0.0) -> None:
        self.kind, self.text, self._rule, self._epsilon = kind, text, rule, epsilon

    def __repr__(self) -> str:
        return self.text

    def player(self, view: View) -> Any:
        """The compiled player for all seats, when the seat of this view searches."""
        if self.kind == "random":
            return Uniform()
        if self._rule is not None:
            return self._rule.player_of(view)
        if not view.game.greedy:
            raise NotSupported(f"{view.game.name} has no greedy player for {self.text} playouts; use playout=random")
        greedy = view.game.rule_players[view.game.greedy].make()
        if self.kind == "epsilon_greedy":
            return EpsilonGreedy(greedy, self._epsilon)
        return Split(int(view.seat), greedy, Uniform())


class MonteCarlo(TurnPolicy):
    """Flat Monte Carlo with uniform sampling of the turns at the root."""

    def __init__(self, text: str, playout: Playout, score: str, budget: Budget) -> None:
        super().__init__(text)
        if score not in SCORES:
            raise BadOption(f"score={score} is not possible; score may be {', '.join(SCORES)}")
        self.playout, self.score, self.budget = playout, score, budget
        self._prepared: set[str] = set()  # the games whose search this policy has run

    def prepare(self, view: View) -> None:
        """Compile the search for this game, running it without a playout."""
        if view.game.name not in self._prepared:
            with compiling(f"{self.text} for {view.game.name}"):
                self._search(view, Budget(playouts=0), make_rng(0))
            self._prepared.add(view.game.name)

    def choose_turn(self, view: View) -> int:
        """The turn of the best mean."""
        self.prepare(view)
        turn, playouts, _, _ = self._search(view, self.budget, self.rng)
        self.playouts += playouts
        return turn

    def analyse(self, view: View) -> Analysis:
        """Every turn, with the mean of its playouts."""
        self.prepare(view)
        start = time.perf_counter()
        _, playouts, turns, tally = self._search(view, self.budget, self.rng)
        candidates = []
        for turn, visits, total, squares in zip(turns, *tally, strict=True):
            mean = total / max(visits, 1)
            half = 1.96 * math.sqrt(max(0.0, squares / visits - mean**2) / (visits - 1)) if visits > 1 else math.nan
            candidates.append(Candidate(int(turn), turn_words(view, int(turn)), int(visits), float(mean), half))
        candidates.sort(key=lambda candidate: -candidate.mean)
        return Analysis(candidates, SCORE_UNITS[self.score], {"playouts": playouts, "seconds": time.perf_counter() - start})

    def _search(self, view: View, budget: Budget, rng: Rng) -> tuple[int, int, Any, montecarlo.Tally]:
        """The turn of the best mean, the playouts made, and for every turn what they found."""
        game = view.game
        states, turns = view.scratch(1 + SCRATCH), np.empty(game.max_turns, np.int64)
        n_turns = int(list_turns(states, 0, game.most_decisions, game.max_legal, turns))
        tally = montecarlo.Tally(np.zeros(n_turns, np.int64), np.zeros(n_turns), np.zeros(n_turns))
        player, score = self.playout.player(view), SCORES[self.score](game.teams(view.players))
        out, numbers = game.buffer(), np.empty(view.players, np.int64)

        def work(n: int, done: int) -> None:
            montecarlo.sample_in_rotation(states, int(view.seat), turns, n_turns, n, done, player, score, out, numbers, rng, tally)

        if budget.playouts == 0:
            work(0, 0)
        playouts = budget.spend(work, n_turns) if n_turns > 1 else 0  # what is forced needs no search
        return int(turns[montecarlo.best_mean(tally, n_turns, rng)]), playouts, turns[:n_turns], tally
