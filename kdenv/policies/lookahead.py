"""Policies that look ahead a number of turns: Expectimax, Star1, Star2, Star2.5 (search.kernels.expectimax), deepening step by step."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.errors import NotSupported
from kdenv.core.game import Game
from kdenv.core.verbs import CHANCE, OVER
from kdenv.core.view import View
from kdenv.policies.analysis import Analysis, Candidate, carry_out, turn_words
from kdenv.policies.base import Searcher
from kdenv.policies.expectimax import LISTED, MARGIN, MOST_DEPTH
from kdenv.search.budget import compiling
from kdenv.search.evaluate import AsListed, ScoreMargin
from kdenv.search.kernels import expectimax, stack
from kdenv.search.playout import Uniform, decisions_left
from kdenv.search.turns import SCRATCH, list_turns

_WIDEST = 1000  # outcomes of chances in a row that are looked past
_TABLE_BITS = 16
_FORESEEN = 4  # playouts that tell how many turns are left
_STEP = 0.02  # seconds between looks at the clock
_FIRST_STEP = 500  # nodes, as long as it is not known how long they take


@dataclass(frozen=True)
class Limits:
    """When to stop: at a depth in turns, after so many nodes or seconds for a decision, or seconds for all decisions of a game."""

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    game_seconds: float | None = None


@dataclass
class Found:
    """What the deepest finished search has found; values and visits as the turns are listed."""

    turn: int
    value: float
    depth: int
    nodes: int
    turns: Any
    values: Any
    visits: Any


class Lookahead(Searcher):
    """The best turn if everybody else plays against this seat as well as it can be foreseen; `playouts` counts nodes."""

    def __init__(self, text: str, limits: Limits, *, cuts: bool, probes: int, evaluate: str, order: str, table: bool) -> None:
        super().__init__(text)
        self.limits, self.cuts, self.probes = limits, cuts, probes
        self.evaluate, self.order, self.table = evaluate, order, table
        self._prepared: set[str] = set()
        self._spent = 0.0  # seconds since reset

    def reset(self, seed: int = 0) -> None:
        """A new game: its clock starts anew."""
        super().reset(seed)
        self._spent = 0.0

    def prepare(self, view: View) -> None:
        """Compile the search for this game."""
        if view.game.name not in self._prepared:
            with compiling(f"{self.text} for {view.game.name}"):
                self._search(view, Limits(depth=1))
                if self.limits.game_seconds is not None:
                    self._turns_left(view)
            self._prepared.add(view.game.name)

    def choose_turn(self, view: View) -> int:
        """The best turn of the deepest search that the limits leave time to finish."""
        self.prepare(view)
        start = time.perf_counter()
        found = self._search(view, self._limits_now(view), since=start)
        self._spent += time.perf_counter() - start
        self.playouts += found.nodes
        return found.turn

    def analyse(self, view: View) -> Analysis:
        """The exact value of every turn, and how the game is expected to go on after the best: the likeliest chance, the best replies."""
        self.prepare(view)
        start = time.perf_counter()
        found = self._search(view, self._limits_now(view), slack=math.inf)
        order = sorted(range(len(found.turns)), key=lambda i: -found.values[i])
        line = self._line(view, int(found.turns[order[0]]), found.depth)
        candidates = []
        for i in order:
            turn = int(found.turns[i])
            candidates.append(
                Candidate(turn, turn_words(view, turn), int(found.visits[i]), float(found.values[i]), line=line if i == order[0] else "")
            )
        cost = {"nodes": found.nodes, "turns deep": found.depth, "seconds": time.perf_counter() - start}
        return Analysis(candidates, "worth" if self._evaluator_name(view.game) != MARGIN else "margin", cost)

    def _limits_now(self, view: View) -> Limits:
        """The limits of this decision: of the time that is left, this turn's share."""
        if self.limits.game_seconds is None:
            return self.limits
        left = max(0.0, self.limits.game_seconds - self._spent)
        return Limits(depth=self.limits.depth, seconds=left / max(1.0, self._turns_left(view)))

    def _turns_left(self, view: View) -> float:
        """How many turns this seat has left, if all is random from here on."""
        states, seat, game = view.scratch(3), int(view.seat), view.game
        return float(decisions_left(Uniform(), states, seat, game.most_decisions, _FORESEEN, game.buffer(), make_rng(0)))

    def _evaluator_name(self, game: Game) -> str:
        return self.evaluate or next(iter(game.knowledge.evaluators), MARGIN)

    def _evaluator(self, game: Game, teams: int) -> Any:
        name = self._evaluator_name(game)
        if name == MARGIN:
            return ScoreMargin(teams, 4.0 * game.margin_scale)
        return game.knowledge.evaluators[name]

    def _order(self, game: Game) -> Any:
        name = self.order or next(iter(game.knowledge.orders), LISTED)
        return AsListed() if name == LISTED else game.knowledge.orders[name]

    def _search(self, view: View, limits: Limits, slack: float = 0.0, since: float | None = None) -> Found:
        """Search one turn deep, then two ..., each time beginning with the best turn so far, as long as the limits allow."""
        game, clock = view.game, _Clock(limits, since)
        states, turns = view.scratch(1 + SCRATCH), np.empty(game.max_turns, np.int64)
        n_turns = int(list_turns(states, 0, game.most_decisions, game.max_legal, turns))
        depth = limits.depth if limits.depth is not None else MOST_DEPTH
        room = self._room(view, states, depth)
        parts, plan = self._parts(view, room, slack)
        found = Found(int(turns[0]), 0.0, 0, 0, turns[:n_turns], np.zeros(n_turns), np.zeros(n_turns, np.int64))
        for now in range(1, depth + 1):
            before = int(room.counters[stack.NODES])
            expectimax.start(room, now, found.turn if found.depth else 0)
            if not clock.run(room, plan, parts, whole=now == 1):
                break
            self._note(found, room, now, before, n_turns)
            is_all = room.counters[stack.CUT_SHORT] == 0  # all leaves were ends of the game
            if is_all or (n_turns == 1 and slack == 0.0) or clock.is_over(room):
                break
        found.nodes = int(room.counters[stack.NODES])
        return found

    def _room(self, view: View, states: Any, depth: int) -> stack.Search:
        game = view.game
        bits = _TABLE_BITS if self.table else 0
        return stack.new_search(states, depth, view.players, game.max_turns, game.max_chances, game.max_legal, bits)

    def _parts(self, view: View, room: stack.Search, slack: float) -> tuple[tuple[Any, Any], stack.Plan]:
        """The evaluator and the order, and the plan of a search of the position in view."""
        game, seat = view.game, int(view.seat)
        teams = game.teams(view.players)
        evaluator, order = self._evaluator(game, teams), self._order(game)
        most = float(expectimax.most_from(evaluator, room.states, 0, seat, room.numbers))
        return (evaluator, order), stack.Plan(seat, teams, game.most_decisions, self.cuts, self.probes, most, slack, _WIDEST)

    def _note(self, found: Found, room: stack.Search, depth: int, before: int, n_turns: int) -> None:
        """Take over what a finished search has found."""
        if room.counters[stack.TOO_DEEP]:
            raise NotSupported(f"{self.text} has no room for so many draws in a row; use a policy that samples chance, such as mce")
        root = room.frames[0]
        found.turn, found.value, found.depth = int(root["chosen"]), float(root["best"]), depth
        found.turns = room.branches[0][:n_turns].copy()
        found.values = room.values[:n_turns].copy()
        found.visits = np.diff(room.visits[:n_turns], prepend=before)

    def _line(self, view: View, turn: int, depth: int) -> str:
        """How the game goes on after a turn, down to the depth."""
        game, words = view.game, []
        room = self._room(view, view.scratch(1), depth)
        parts, plan = self._parts(view, room, 0.0)
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
            _Clock(Limits()).run(room, plan, parts, whole=True)
            reply = int(room.frames[0]["chosen"])
            words.append(_words_of(start, game, reply))
            depth -= 1
        return "; ".join(words)


class _Clock:
    """Runs searches in steps short enough to be interrupted, until a limit is reached."""

    def __init__(self, limits: Limits, since: float | None = None) -> None:
        self._limits = limits
        self._start = time.perf_counter() if since is None else since
        self._step = _FIRST_STEP

    def is_over(self, room: stack.Search) -> bool:
        """Whether nodes or seconds are spent."""
        return self._nodes_left(room) <= 0 or self._seconds_left() <= 0

    def _nodes_left(self, room: stack.Search) -> float:
        return math.inf if self._limits.nodes is None else self._limits.nodes - int(room.counters[stack.NODES])

    def _seconds_left(self) -> float:
        return math.inf if self._limits.seconds is None else self._limits.seconds - (time.perf_counter() - self._start)

    def run(self, room: stack.Search, plan: stack.Plan, parts: tuple[Any, Any], *, whole: bool) -> bool:
        """Go on until the search is finished, or, unless it must be done whole, a limit is reached; whether it is finished."""
        while True:
            step = self._step if whole else int(min(self._step, self._nodes_left(room)))
            before, nodes = time.perf_counter(), int(room.counters[stack.NODES])
            if expectimax.go_on(room, plan, *parts, max(1, step)):
                return True
            if not whole and self.is_over(room):
                return False
            rate = (int(room.counters[stack.NODES]) - nodes) / max(time.perf_counter() - before, 1e-9)
            self._step = max(1, int(rate * min(_STEP, 0.8 * max(self._seconds_left(), 0.0005))))


def _likeliest(states: Any, game: Game) -> int:
    """The most probable outcome."""
    outcomes, weights = np.zeros(game.max_chances, np.int64), np.zeros(game.max_chances, np.int64)
    n = int(verbs.chances_at(states, 0, outcomes, weights))
    return int(outcomes[int(weights[:n].argmax())])


def _words_of(states: Any, game: Game, turn: int) -> str:
    """A packed turn in words; states[0] becomes the position after it."""
    words = []
    while turn:
        action = (turn & 0xFFFF) - 1
        words.append(str(game.notation.action_text(states, 0, action)))
        verbs.apply_at(states, 0, action)
        turn >>= 16
    return ", ".join(words)
