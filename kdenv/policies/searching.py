"""Policies that search. A SearchPolicy has the parameters and decides which positions to search; its Searcher is the search itself.

Flat Monte Carlo is in flat.py, UCT in uct.py, look-ahead in expectimax.py, and searches of games with hidden information in hidden.py.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.notice import compiling
from kdenv.compiler.random import Rng, below, make_rng
from kdenv.core import verbs
from kdenv.core.game import Game
from kdenv.core.turns import SCRATCH, list_turns
from kdenv.core.verbs import CHANCE, OVER
from kdenv.core.view import View
from kdenv.policies.base import TurnPolicy
from kdenv.policies.budgets import Budgeted
from kdenv.policies.result import SearchResult
from kdenv.search.budget import Budget
from kdenv.search.playout import Uniform, decisions_left

TRIAL = Budget(playouts=0)  # compiles a search and spends next to nothing
_N_ESTIMATES = 4  # playouts that estimate how many turns are left


class Searcher(ABC):
    """A search with the memory that it keeps from one decision to the next, such as trees and tables.

    A policy makes one searcher and uses it for all its games. The memory that a searcher keeps does not change its results.
    """

    def __init__(self, policy: SearchPolicy) -> None:
        self.policy = policy
        self.budget = policy.budget() if isinstance(policy, Budgeted) else Budget()

    @abstractmethod
    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Search these packed turns as long as the budget of this decision allows. The budget TRIAL asks for as little as possible.

        thorough: whether the result needs intervals, expected lines and the tree, not only the best turn.
        """

    @abstractmethod
    def unit(self, view: View) -> str:
        """The unit of the means, such as points."""

    def most_decisions(self, game: Game) -> int:
        """The most decisions of a turn that is searched."""
        return game.most_decisions

    def turns(self, view: View) -> NDArray[np.int64]:
        """The turns open to the seat, packed."""
        turns = np.empty(view.game.max_turns, np.int64)
        n = list_turns(view.scratch(1 + SCRATCH), 0, self.most_decisions(view.game), view.game.max_legal, turns)
        return turns[:n].copy()

    def reflex(self, view: View, rng: Rng) -> int:
        """The turn to take without any search; 0 if there is none."""
        return 0

    def playout_player(self, view: View) -> Any:
        """The compiled player of the playouts that estimate the turns left."""
        return Uniform()

    def decisions_left(self, view: View, n_games: int = _N_ESTIMATES) -> float:
        """The number of decisions left for this seat in this game, estimated by a few playouts."""
        game, states = view.game, view.scratch(3)
        parts = int(view.seat), self.most_decisions(game), n_games, game.buffer(), make_rng(0)
        return float(decisions_left(self.playout_player(view), states, *parts))

    def decisions_of_turn(self, view: View) -> float:
        """The number of decisions left for this seat in this turn, estimated by a few random games; 1 if a turn is one decision."""
        game, turn_of, states = view.game, view.game.turn_of, view.scratch(1)
        if turn_of is None:
            return 1.0
        rng, legal, n, now = make_rng(0), game.buffer(), 0, turn_of(view.states)
        for _ in range(_N_ESTIMATES):
            states[0] = view.states[0]
            while verbs.phase_at(states, 0) != OVER and turn_of(states) == now:
                if verbs.phase_at(states, 0) == CHANCE:
                    verbs.apply_chance_at(states, 0, verbs.sample_chance_at(states, 0, rng))
                    continue
                n_legal = int(verbs.legal_at(states, 0, legal))
                n += n_legal > 1 and int(verbs.seat_at(states, 0)) == view.seat
                verbs.apply_at(states, 0, legal[below(rng, n_legal)])
        return n / _N_ESTIMATES


class SearchPolicy(TurnPolicy):
    """The parameters of a policy that searches. The search itself is a Searcher, which the policy makes when it is first needed."""

    @abstractmethod
    def start(self) -> Searcher:
        """Make a searcher with these parameters."""

    @property
    def searcher(self) -> Searcher:
        """The searcher of this policy; it is made when it is first needed."""
        kept = self.memory.kept
        if "searcher" not in kept:
            kept["searcher"] = self.start()
        searcher: Searcher = kept["searcher"]
        return searcher

    def choose_turn(self, view: View) -> int:
        """The turn that the search finds best. A forced turn, and a turn of the reflex rules, needs no search."""
        start = time.perf_counter()
        self.prepare(view)
        searcher, memory = self.searcher, self.memory
        turn = searcher.reflex(view, memory.rng)
        if not turn:
            turns = searcher.turns(view)
            turn = int(turns[0])
            if len(turns) > 1:
                found = searcher.search(view, turns, self._budget(view), memory.rng)
                memory.n_playouts += found.playouts
                turn = found.turn
        memory.seconds += time.perf_counter() - start
        return turn

    def search(self, view: View, *, thorough: bool = True) -> SearchResult:
        """Search the position in view and return the result: all turns and, if the search grows a tree, the tree.

        A turn that is forced, or that the reflex rules would take, is searched all the same.

        Args:
            view: a view of the position.
            thorough: if False, look only for the best turn, as `act` does. The result then has no intervals, no expected lines and no
                tree, and look-ahead gives only bounds for the other turns.
        """
        self.prepare(view)
        start = time.perf_counter()
        found = self.searcher.search(view, self.searcher.turns(view), self._budget(view), self.memory.rng, thorough=thorough)
        return replace(found, cost=found.cost | {"seconds": time.perf_counter() - start})

    def prepare(self, view: View) -> None:
        """Check that the policy can play this game, and compile the search by a trial.

        A game with the same rules and number of players as before is neither checked nor compiled again.
        """
        ready = self.memory.kept.setdefault("ready", set())
        rules = view.game.name, view.players, view.variant.tobytes()
        if rules in ready:
            return
        self.needs(view.game, view.players, view.variant)
        searcher, rng = self.searcher, make_rng(0)
        with compiling(f"{self} for {view.game.name}"):
            searcher.search(view, searcher.turns(view), TRIAL, rng)
            searcher.reflex(view, rng)
            if searcher.budget.game_seconds is not None:
                searcher.decisions_left(view, 1)
            if searcher.budget.turn_seconds is not None:
                searcher.decisions_of_turn(view)
        ready.add(rules)

    def _budget(self, view: View) -> Budget:
        """The budget of this decision."""
        searcher, memory, turn_of = self.searcher, self.memory, view.game.turn_of
        spent = memory.seconds
        decisions_left: Callable[[View], float] = searcher.decisions_left
        if searcher.budget.turn_seconds is not None:
            if turn_of is None or turn_of(view.states) != memory.turn[0]:
                memory.turn = (-1 if turn_of is None else turn_of(view.states), memory.seconds)
            spent, decisions_left = memory.seconds - memory.turn[1], searcher.decisions_of_turn
        return searcher.budget.for_decision(spent, lambda: decisions_left(view), lambda: int(view.game.details.round_of(view.states)))
