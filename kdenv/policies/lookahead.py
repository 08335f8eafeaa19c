"""The search of policies that look ahead a number of turns, deepening step by step; its kernels are search.kernels.expectimax."""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng
from kdenv.core import verbs
from kdenv.core.errors import NotSupported
from kdenv.core.game import Game
from kdenv.core.turns import carry_out
from kdenv.core.verbs import CHANCE, OVER
from kdenv.core.view import View
from kdenv.policies.expectimax import LISTED, MARGIN, MOST_DEPTH, LooksAhead
from kdenv.policies.result import SearchResult, play_in_words
from kdenv.policies.searching import TRIAL, Searcher
from kdenv.search.budget import Budget
from kdenv.search.evaluate import AsListed, ScoreMargin
from kdenv.search.kernels import expectimax, stack

_WIDEST = 1000  # outcomes of chances in a row that are looked past
_TABLE_BITS = 16
_NODES_A_CALL = 10_000  # of what must be searched whole: about a hundredth of a second


class LookaheadSearcher(Searcher):
    """The best turn if everybody else plays against this seat as well as it can be foreseen; its playouts are nodes."""

    policy: LooksAhead

    def __init__(self, policy: LooksAhead) -> None:
        super().__init__(policy, policy.budget())

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Search one turn deep, which is always finished, then two ..., as long as the budget allows.

        thorough: the exact value of every turn, not only of the best, and how the game is expected to go on after that one: by
        the likeliest chance and the best replies.
        """
        since = time.perf_counter()
        most = 1 if budget is TRIAL else self.policy.depth or MOST_DEPTH
        room = self._room(view, view.scratch(1), most)
        deepening = _Deepening(room, *self._parts(view, room, math.inf if thorough else 0.0), most, len(turns))
        deepening.begin(1 if self.policy.deepen or budget is TRIAL else most)
        deepening.finish()
        deepening.spend(budget, since)
        if deepening.too_deep:
            raise NotSupported(f"{self.policy} has no room for so many draws in a row; use a policy that samples chance, such as mce")
        found, values, visits, best = deepening.found, deepening.values, deepening.visits, deepening.best
        lines = [self._line(view, int(turn), deepening.finished) if i == best else "" for i, turn in enumerate(found)] if thorough else []
        cost: dict[str, float] = {"nodes": deepening.nodes, "turns deep": deepening.finished}
        return SearchResult(view, found, visits, values, np.full(len(found), math.nan), best, self.unit(view), deepening.nodes, cost, lines)

    def unit(self, view: View) -> str:
        return "worth" if self._evaluator_name(view.game) != MARGIN else "margin"

    def _evaluator_name(self, game: Game) -> str:
        return self.policy.evaluate or next(iter(game.knowledge.evaluators), MARGIN)

    def _evaluator(self, game: Game, players: int) -> Any:
        if self.policy.network is not None:
            return self.policy.network.compiled(game, players)
        name = self._evaluator_name(game)
        if name == MARGIN:
            return ScoreMargin(game.teams(players), 4.0 * game.margin_scale)
        return game.knowledge.evaluators[name]

    def _order(self, game: Game) -> Any:
        name = self.policy.order or next(iter(game.knowledge.orders), LISTED)
        return AsListed() if name == LISTED else game.knowledge.orders[name]

    def _room(self, view: View, states: Any, depth: int) -> stack.Search:
        game = view.game
        bits = _TABLE_BITS if self.policy.table else 0
        return stack.new_search(states, depth, view.players, game.max_turns, game.max_chances, game.max_legal, bits)

    def _parts(self, view: View, room: stack.Search, slack: float) -> tuple[tuple[Any, Any], stack.Task]:
        """The evaluator and the order, and the task of a search of the position in view."""
        game, seat = view.game, int(view.seat)
        teams = game.teams(view.players)
        evaluator, order = self._evaluator(game, view.players), self._order(game)
        most = float(expectimax.most_from(evaluator, room.states, 0, seat, room.numbers))
        task = stack.Task(
            seat=seat,
            teams=teams,
            most_decisions=game.most_decisions,
            cuts=self.policy.cuts,
            probes=self.policy.probes,
            most=most,
            slack=slack,
            widest=_WIDEST,
        )
        return (evaluator, order), task

    def _line(self, view: View, turn: int, depth: int) -> str:
        """How the game goes on after a turn, down to the depth."""
        game, words = view.game, []
        room = self._room(view, view.scratch(1), depth)
        parts, task = self._parts(view, room, 0.0)
        start = view.scratch(2)
        carry_out(start, turn)
        depth -= 1
        while depth > 0 and (phase := int(verbs.phase_at(start, 0))) != OVER:
            if phase == CHANCE:
                outcome = _likeliest(start, game)
                words.append(str(game.notation.chance_text(start, 0, outcome)))
                verbs.apply_chance_at(start, 0, outcome)
                continue
            room.states[0] = start[0]
            expectimax.start(room, depth, 0)
            while not expectimax.go_on(room, task, *parts, _NODES_A_CALL):
                pass
            words.append(play_in_words(view, start, int(room.levels[0]["chosen"])))
            depth -= 1
        return "; ".join(words)


class _Deepening:
    """A search that goes from depth to depth, each time beginning with the best turn so far, and keeps what the last finished one found."""

    def __init__(self, room: stack.Search, parts: tuple[Any, Any], task: stack.Task, most: int, n_turns: int) -> None:
        self.room, self.parts, self.task, self.most, self.n_turns = room, parts, task, most, n_turns
        self.finished = 0  # the depth of the last finished search,
        self.best = 0  # ... the place of its best turn
        self.too_deep = False
        self._stop = threading.Event()

    @property
    def nodes(self) -> int:
        """The nodes of all searches together."""
        return int(self.room.counters[stack.NODES])

    def begin(self, depth: int) -> None:
        """Begin the search to a depth."""
        self.depth, self._before = depth, self.nodes
        expectimax.start(self.room, depth, int(self.found[self.best]) if self.finished else 0)

    def finish(self) -> None:
        """Search this depth to its end, whatever the budget."""
        while not expectimax.go_on(self.room, self.task, *self.parts, _NODES_A_CALL):
            pass
        self._finish_depth()

    def spend(self, budget: Budget, since: float) -> None:
        """Search deeper until the budget is spent, or nothing more is to be found."""
        if budget is TRIAL:
            return
        until = self.nodes
        if budget.nodes is not None:
            budget = Budget(nodes=max(0, budget.nodes - until))
        elif budget.seconds is None:
            budget = Budget(nodes=sys.maxsize)
        for n in budget.steps(since=since, stop=self._stop):
            until += n
            while not self._stop.is_set() and self.nodes < until:
                if expectimax.go_on(self.room, self.task, *self.parts, until - self.nodes):
                    self._finish_depth()

    def _finish_depth(self) -> None:
        """Keep what the finished depth has found. Then begin the next one, or stop the search."""
        root, n = self.room.levels[0], self.n_turns
        self.finished, self.too_deep = self.depth, self.too_deep or bool(self.room.counters[stack.TOO_DEEP])
        self.found, self.values = self.room.branches[0][:n].copy(), self.room.values[:n].copy()
        self.visits = np.diff(self.room.visits[:n], prepend=self._before)
        self.best = int(np.flatnonzero(self.found == int(root["chosen"]))[0])
        ends = self.room.counters[stack.CUT_SHORT] == 0  # all leaves were ends of the game
        if ends or self.too_deep or self.finished == self.most or (n == 1 and self.task.slack == 0.0):
            self._stop.set()
        else:
            self.begin(self.depth + 1)


def _likeliest(states: Any, game: Game) -> int:
    outcomes, weights = np.zeros(game.max_chances, np.int64), np.zeros(game.max_chances, np.int64)
    n = int(verbs.chances_at(states, 0, outcomes, weights))
    return int(outcomes[int(weights[:n].argmax())])
