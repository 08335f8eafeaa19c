"""Policies that look a number of turns ahead: Expectimax, Star1, Star2, Star2.5. The kernels are in kdenv.search.kernels.expectimax."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng
from kdenv.core import verbs
from kdenv.core.errors import BadOption, NotSupported, did_you_mean
from kdenv.core.game import Game, Variant
from kdenv.core.turns import carry_out
from kdenv.core.verbs import CHANCE, OVER
from kdenv.core.view import View
from kdenv.policies.budgets import GAME_SECONDS, NODES, SECONDS, TURN_SECONDS, Budgeted
from kdenv.policies.learned import Learned
from kdenv.policies.result import SearchResult, play_in_words
from kdenv.policies.searching import TRIAL, Searcher, SearchPolicy
from kdenv.policies.text.grammar import parse
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named
from kdenv.search.budget import Budget
from kdenv.search.evaluate import AsListed, ScoreMargin
from kdenv.search.kernels import expectimax, stack

_MOST_DEPTH = 12  # turns
_MARGIN = "margin"  # the evaluator that every game has
_LISTED = "0"  # the order that every game has, Heyden's order 0
_MOST_OUTCOMES = 1000  # of several chances in a row, behind which the search still looks
_TABLE_BITS = 16
_NODES_A_CALL = 10_000  # nodes in a kernel call of a search without a budget: about a hundredth of a second


# Parameters


@dataclass(frozen=True, kw_only=True, repr=False)
class LookaheadPolicy(SearchPolicy, Budgeted):
    """A search that deepens turn by turn until its depth or its budget is reached."""

    alternatives: ClassVar[tuple[str, ...]] = ("depth", *Budgeted.alternatives)
    usual: ClassVar[Mapping[str, Any]] = {"depth": 2}
    cuts: ClassVar[bool] = True  # whether bounds cut chance nodes short

    depth: int | None = param(
        "the number of turns to look ahead; 2 if neither a depth nor a budget is given", default=None, least=1, most=_MOST_DEPTH
    )
    evaluate: str | None = param(
        "the value of a position: an evaluator of the game, its usual one if none is given, margin, or learned(<model>)",
        default=None,
        terms=True,
    )
    order: str | None = param(
        "the order in which turns are tried: an order of the game, its usual one if none is given, or 0", default=None
    )
    table: bool = param("whether positions that were searched before are looked up (transposition table)", default=False)
    deepen: bool = param(
        "whether depth 1 is searched first, then 2 and so on (iterative deepening), each time beginning with the best turn so far",
        default=True,
    )
    nodes: int | None = NODES
    seconds: float | None = SECONDS
    turn_seconds: float | None = TURN_SECONDS
    game_seconds: float | None = GAME_SECONDS

    def __post_init__(self) -> None:
        """Refuse to search to a depth at once if there is none."""
        super().__post_init__()
        if self.evaluate is not None and self.evaluate.endswith(")"):
            Learned.from_term(parse(self.evaluate))
        if not self.deepen and self.depth is None:
            raise BadOption(f"{self}: deepen=no needs a depth, as only deepening can stop at a budget; give depth=<number>")

    @property
    def probes(self) -> int:
        """The number of turns to try after each outcome before the rest of the search."""
        return 0

    @property
    def network(self) -> Learned | None:
        """The network that evaluates positions; None if evaluate= is the name of an evaluator."""
        if self.evaluate is None or not self.evaluate.endswith(")"):
            return None
        found: Learned | None = self.memory.kept.get("network")
        if found is None:
            found = self.memory.kept["network"] = Learned.from_term(parse(self.evaluate))
        return found

    @classmethod
    def why_not(cls, game: Game) -> str:
        """The obstacle is a game with hidden information, because a look-ahead must see the whole position."""
        if game.open_information:
            return ""
        return (
            f"looks ahead where everybody sees everything, and {game.name} hides something; "
            "use a policy that guesses what is hidden, such as mce"
        )

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Refuse an evaluator or an order that the game does not have."""
        super().needs(game, players, variant)
        for parameter, value, known, always in (
            ("evaluate", self.evaluate, game.knowledge.evaluators, _MARGIN),
            ("order", self.order, game.knowledge.orders, _LISTED),
        ):
            if parameter == "evaluate" and self.network is not None:
                self.network.needs(game, players, variant)
            elif value is not None and value != always and value not in known:
                every = [*known, always]
                hint = did_you_mean(value, every)
                raise BadOption(f"{parameter}={value} is not possible{hint}; for {game.name} it may be {', '.join(every)}")

    def start(self) -> Searcher:
        """Make the search that looks ahead."""
        return LookaheadSearcher(self)


@named("expectimax", "Heyden 2009, Expectimax")
class Expectimax(LookaheadPolicy):
    """Looks ahead turn by turn: averages over chance, and assumes that everybody else plays against this seat."""

    cuts = False


@named("star1", "Heyden 2009, Star1")
class Star1(LookaheadPolicy):
    """The same as expectimax with fewer nodes: bounds cut chance nodes short."""


@named("star2", "Heyden 2009, Star2")
class Star2(LookaheadPolicy):
    """The same as star1 with fewer nodes still: the first turn after each outcome is tried first."""

    @property
    def probes(self) -> int:
        return 1


@named("star2.5", "Heyden 2009, Star2.5")
class Star25(LookaheadPolicy):
    """The same as star2, with the first k turns after each outcome; her best player is star2.5(k=5, game_seconds=360)."""

    k: int = param("the number of turns after each outcome that are tried first", default=5, least=1, most=1000, kw_only=False)

    @property
    def probes(self) -> int:
        return self.k


# The search


class LookaheadSearcher(Searcher):
    """Finds the best turn if everybody else plays as well as possible against this seat. Its playouts are nodes."""

    policy: LookaheadPolicy

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Search one turn deep, which is always finished. Then search deeper as long as the budget allows.

        A thorough search finds the exact value of each turn, and how the game is expected to continue after the best turn: by the
        likeliest chance and the best replies.
        """
        since = time.perf_counter()
        most = 1 if budget is TRIAL else self.policy.depth or _MOST_DEPTH
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
        return "worth" if self._evaluator_name(view.game) != _MARGIN else "margin"

    def _evaluator_name(self, game: Game) -> str:
        return self.policy.evaluate or next(iter(game.knowledge.evaluators), _MARGIN)

    def _evaluator(self, game: Game, players: int) -> Any:
        if self.policy.network is not None:
            return self.policy.network.compiled(game, players)
        name = self._evaluator_name(game)
        if name == _MARGIN:
            return ScoreMargin(game.teams(players), 4.0 * game.margin_scale)
        return game.knowledge.evaluators[name]

    def _order(self, game: Game) -> Any:
        name = self.policy.order or next(iter(game.knowledge.orders), _LISTED)
        return AsListed() if name == _LISTED else game.knowledge.orders[name]

    def _room(self, view: View, states: Any, depth: int) -> stack.Search:
        game = view.game
        bits = _TABLE_BITS if self.policy.table else 0
        return stack.new_search(states, depth, view.players, game.max_turns, game.max_chances, game.max_legal, bits)

    def _parts(self, view: View, room: stack.Search, slack: float) -> tuple[tuple[Any, Any], stack.Task]:
        """The evaluator and the order, and the task of a search of the position in view."""
        game, seat = view.game, int(view.seat)
        evaluator, order = self._evaluator(game, view.players), self._order(game)
        task = stack.Task(
            seat=seat,
            teams=game.teams(view.players),
            most_decisions=game.most_decisions,
            cuts=self.policy.cuts,
            probes=self.policy.probes,
            most=float(expectimax.most_from(evaluator, room.states, 0, seat, room.numbers)),
            slack=slack,
            widest=_MOST_OUTCOMES,
        )
        return (evaluator, order), task

    def _line(self, view: View, turn: int, depth: int) -> str:
        """The expected continuation after a turn, down to the depth, in words."""
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
    """A search that goes from depth to depth, each beginning with the best turn so far. It keeps the results of the last finished depth."""

    def __init__(self, room: stack.Search, parts: tuple[Any, Any], task: stack.Task, most: int, n_turns: int) -> None:
        self.room, self.parts, self.task, self.most, self.n_turns = room, parts, task, most, n_turns
        self.finished = 0  # the depth of the last finished search,
        self.best = 0  # ... the index of its best turn
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
        """Search this depth to its end, without a budget."""
        while not expectimax.go_on(self.room, self.task, *self.parts, _NODES_A_CALL):
            pass
        self._finish_depth()

    def spend(self, budget: Budget, since: float) -> None:
        """Search deeper until the budget is spent or the search is complete."""
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
        """Keep the results of the finished depth. Then begin the next one, or stop the search."""
        root, n = self.room.levels[0], self.n_turns
        self.finished, self.too_deep = self.depth, self.too_deep or bool(self.room.counters[stack.TOO_DEEP])
        self.found, self.values = self.room.branches[0][:n].copy(), self.room.values[:n].copy()
        self.visits = np.diff(self.room.visits[:n], prepend=self._before)
        self.best = int(np.flatnonzero(self.found == int(root["chosen"]))[0])
        ends = self.room.counters[stack.CUT_SHORT] == 0  # all leaves were ends of the game
        # Deeper searches find nothing else after the last depth, if the game ends everywhere, or if the only turn needs no value.
        if ends or self.too_deep or self.finished == self.most or (n == 1 and self.task.slack == 0.0):
            self._stop.set()
        else:
            self.begin(self.depth + 1)


def _likeliest(states: Any, game: Game) -> int:
    outcomes, weights = np.zeros(game.max_chances, np.int64), np.zeros(game.max_chances, np.int64)
    n = int(verbs.chances_at(states, 0, outcomes, weights))
    return int(outcomes[int(weights[:n].argmax())])
