"""Policies for what is hidden: they draw it, weigh it, or (the oracle) see it. The searches themselves are in kdenv.search."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng
from kdenv.core import verbs
from kdenv.core.errors import NotSupported
from kdenv.core.questions import TO_THE_END, ExactDeals, Hidden, believe, packed
from kdenv.core.view import View
from kdenv.policies.analysis import half_interval, play_in_words
from kdenv.policies.playouts import Playout
from kdenv.policies.searching import TRIAL, Found, TurnSearcher
from kdenv.search.budget import Budget
from kdenv.search.kernels import ims, pimc
from kdenv.search.kernels.flat import Tally, best_mean
from kdenv.search.score import SCORE_UNITS, SCORES
from kdenv.search.turns import list_turns

_LINE = 8  # turns of an expected line that are told
_NODES_A_CALL = 20_000  # of a search that can be interrupted: about a hundredth of a second


class SolverKeeper:
    """Keeps the solver, whose table is large, from one decision to the next."""

    def __init__(self) -> None:
        self._of: tuple[str, bytes] = ("", b"")
        self._solver: Any = None

    def solver(self, hidden: Hidden, view: View) -> Any:
        """The solver for the rules of this view."""
        of = (view.game.name, view.variant.tobytes())
        if of != self._of:
            self._of, self._solver = of, hidden.solver(view.variant)
        return self._solver


def hidden_of(view: View) -> Hidden:
    """What the game offers for what is hidden; that it does has been checked (policies.deals.Solves)."""
    assert view.game.knowledge.hidden is not None
    return view.game.knowledge.hidden


@dataclass(frozen=True)
class Depth:
    """How deep to look: floor(alpha * 2 ** (beta * floor(n / 4))), n turns after the deal; or to the end."""

    alpha: float | None
    beta: float

    def at(self, view: View, hidden: Hidden) -> int:
        """The depth in this position."""
        if self.alpha is None:
            return TO_THE_END
        n = hidden.turns_so_far(view.states, 0)
        return min(int(self.alpha * 2 ** (self.beta * (n // 4))), hidden.most_turns)


# Deals


class Deals(TurnSearcher):
    """Draws deals, and tries every turn on each, or (not common) on as many of its own."""

    def __init__(self, text: str, budget: Budget, common: bool) -> None:
        super().__init__(text, budget)
        self.common = common

    effort = "nodes"  # what a solver spends

    @abstractmethod
    def parts(self, view: View) -> tuple[Any, Any, int]:
        """The dealer, the solver, the depth."""

    def at_once(self, deals: int, depth: int) -> int:
        """How many of these deals a kernel may try before Python can look whether to stop."""
        return deals

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> Found:
        """The mean over deals."""
        dealer, solver, depth = self.parts(view)
        n = len(turns)
        group, depth = n if self.common else 1, 0 if budget == TRIAL else depth
        states, values = view.scratch(10), np.zeros(n)
        tally, nodes = Tally(np.zeros(n, np.int64), np.zeros(n), np.zeros(n)), 0

        def work(deals: int, done: int) -> None:
            nonlocal nodes
            seat, parts = int(view.seat), (dealer, solver, depth, values, rng, tally)
            at_once = self.at_once(deals, depth)
            for first in range(0, deals, at_once):
                nodes += pimc.solve_deals(states, seat, turns, n, min(at_once, deals - first), group, *parts)

        deals = (Budget(playouts=1) if budget == TRIAL else budget).spend(work, 1)
        halves = [half_interval(deals, *sums) for sums in zip(tally.sums, tally.squares, strict=True)]
        best = int(best_mean(tally, n, rng))
        return Found(turns, tally.visits, tally.sums / deals, halves, best, deals, {"playouts": deals, self.effort: nodes})


class Pimc(Deals):
    """Perfect information Monte Carlo: the deals are solved by alpha-beta."""

    def __init__(self, text: str, budget: Budget, common: bool, depth: Depth, deals: str) -> None:
        super().__init__(text, budget, common)
        self.depth, self.deals, self._keeper = depth, deals, SolverKeeper()

    def parts(self, view: View) -> tuple[Any, Any, int]:
        """The game's own."""
        hidden = hidden_of(view)
        dealers: dict[str, Callable[[Any], Any]] = {"exact": lambda variant: ExactDeals(), **hidden.dealers}
        return dealers[self.deals](view.variant), self._keeper.solver(hidden, view), self.depth.at(view, hidden)

    def at_once(self, deals: int, depth: int) -> int:
        """To the end, a deal may take a twentieth of a second: one by one."""
        return 1 if depth == TO_THE_END else deals

    def unit(self, view: View) -> str:
        """As the solver counts."""
        return hidden_of(view).unit


class FlatDeals(Deals):
    """Flat Monte Carlo on common deals: every turn is played out once on each."""

    effort = "games played out"

    def __init__(self, text: str, budget: Budget, common: bool, playout: Playout, score: str) -> None:
        super().__init__(text, budget, common)
        self.playout, self.score = playout, score

    def parts(self, view: View) -> tuple[Any, Any, int]:
        """Playouts in place of a solver."""
        score = SCORES[self.score](view.game.teams(view.players))
        solver = pimc.Playouts(self.playout.player(view), score, view.game.buffer(), np.empty(view.players, np.int64))
        return ExactDeals(), solver, TO_THE_END

    def unit(self, view: View) -> str:
        """As the score counts."""
        return SCORE_UNITS[self.score]


class Oracle(TurnSearcher):
    """Sees all hands, and plays perfectly against perfect players, or as far as it looks."""

    def __init__(self, text: str, depth: Depth) -> None:
        super().__init__(text, Budget())
        self.depth, self._keeper = depth, SolverKeeper()

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> Found:
        """The value of every turn."""
        if not view.oracle:
            raise NotSupported(f"{self.text} must see everything; only an oracle view shows that, as the arena gives it")
        hidden = hidden_of(view)
        n = len(turns)
        values = np.zeros(n)
        depth = 0 if budget == TRIAL else self.depth.at(view, hidden)
        nodes = int(pimc.solve_open(view.scratch(10), turns, n, self._keeper.solver(hidden, view), depth, rng, values))
        best = int(best_mean(Tally(np.ones(n, np.int64), values, values), n, rng))
        lines = [self._line(view, int(turn), hidden, depth) for turn in turns] if thorough else []
        return Found(turns, np.full(n, nodes // n), values, np.full(n, math.nan), best, 0, {"nodes": nodes}, lines)

    def _line(self, view: View, turn: int, hidden: Hidden, depth: int) -> str:
        """Best play after this turn, as far as it consists of decisions that were looked at."""
        states, words, values = view.scratch(10), list[str](), np.zeros(view.game.max_turns)
        play_in_words(view, states, turn)
        while len(words) < _LINE and depth != len(words) and int(verbs.phase_at(states, 0)) == verbs.DECIDE:
            turns = np.empty(view.game.max_turns, np.int64)
            n = int(list_turns(states, 0, view.game.most_decisions, view.game.max_legal, turns))
            pimc.solve_open(states, turns, n, self._keeper.solver(hidden, view), max(depth - len(words) - 1, TO_THE_END), self.rng, values)
            turn = int(turns[int(values[:n].argmax())])
            words.append(play_in_words(view, states, turn))
        return ", ".join(words)

    def unit(self, view: View) -> str:
        """As the solver counts."""
        return hidden_of(view).unit


# Beliefs


class Ims(TurnSearcher):
    """Imperfect minimax search over what everybody may hold."""

    def __init__(self, text: str, depth: Depth, pruning: str, belief: str) -> None:
        super().__init__(text, Budget())
        self.depth, self.pruning, self.belief = depth, pruning, belief

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> Found:
        """Negamax to the depth of the moment."""
        hidden = hidden_of(view)
        belief = hidden.beliefs[self.belief](view.variant)
        depth = 1 if budget == TRIAL else self.depth.at(view, hidden)
        stack = ims.make_stack(depth + 2, view.game.max_legal)
        believe(belief, view.scratch(1), 0)
        ims.start(belief, stack)
        pruning = ims.PRUNINGS.index(self.pruning)
        while not ims.go_on(belief, stack, depth, pruning, thorough, _NODES_A_CALL):
            pass
        # In the order of the search, so that of equals the one found first is the best.
        found = {int(packed(int(move))): i for i, move in enumerate(stack.moves[0, : stack.n[0]])}
        places = [found[int(turn)] for turn in turns]
        means = stack.values[places]
        best = min(range(len(turns)), key=lambda i: (-means[i], places[i]))
        nodes, none = int(stack.nodes[0]), np.full(len(turns), math.nan)
        lines = [_in_words(view, stack.lines[place], stack.lengths[place]) for place in places] if thorough else []
        return Found(turns, np.full(len(turns), nodes // len(found)), means, none, best, 0, {"nodes": nodes, "depth": depth}, lines)

    def unit(self, view: View) -> str:
        """As the belief counts."""
        return hidden_of(view).unit


def _in_words(view: View, moves: Any, n: int) -> str:
    """What is expected to follow the first of these moves."""
    states = view.scratch(1)
    words = [play_in_words(view, states, int(packed(int(move)))) for move in moves[: min(n, 1 + _LINE)]]
    return ", ".join(words[1:])
