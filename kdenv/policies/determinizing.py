"""Policies for what is hidden: they draw it, weigh it, or (the oracle) see it. The searches themselves are in kdenv.search."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng
from kdenv.core import verbs
from kdenv.core.errors import NotSupported
from kdenv.core.questions import TO_THE_END, Hidden, believe, choose_at
from kdenv.core.turns import list_turns, packed
from kdenv.core.view import View
from kdenv.policies.deals import EXACT, Deepens, FlatDeals, Ims, OnDeals, Oracle, Pimc
from kdenv.policies.result import SearchResult, half_interval, play_in_words
from kdenv.policies.sampling import new_playouts, unit_of
from kdenv.policies.searching import TRIAL, Searcher
from kdenv.search.budget import Budget
from kdenv.search.kernels import ims, pimc
from kdenv.search.kernels.flat import Tally, best_mean, new_tally

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


def depth_of(policy: Deepens, view: View, hidden: Hidden) -> int:
    """The depth in this position: floor(alpha * 2 ** (beta * floor(n / 4))), n turns after the deal; or to the end."""
    if policy.alpha is None:
        return TO_THE_END
    n = hidden.turns_so_far(view.states, 0)
    return min(int(policy.alpha * 2 ** (policy.beta * (n // 4))), hidden.most_turns)


# Deals


class DealsSearcher(Searcher):
    """Draws deals, and tries every turn on each, or (not common) on as many of its own."""

    policy: OnDeals
    effort = "nodes"  # what a solver spends

    @abstractmethod
    def parts(self, view: View) -> tuple[Any, Any, int]:
        """The dealer, the solver, the depth."""

    def is_slow(self, depth: int) -> bool:
        """Whether a single deal may take so long that a kernel should try only one before Python looks whether to stop."""
        return False

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Try every turn on random deals; the mean of a turn is over its deals."""
        dealer, solver, depth = self.parts(view)
        n = len(turns)
        group, depth = n if self.policy.common else 1, 0 if budget is TRIAL else depth
        states, tally = view.scratch(10), new_tally(n)
        parts = group, dealer, solver, depth, np.zeros(n), rng, tally
        deals, nodes = 0, 0
        for step in (Budget(playouts=1) if budget is TRIAL else budget).steps():
            at_once = 1 if self.is_slow(depth) else step
            for _ in range(0, step, at_once):
                nodes += pimc.solve_deals(states, int(view.seat), turns, at_once, *parts)
            deals += step
        halves = [half_interval(deals, *sums) for sums in zip(tally.sums, tally.squares, strict=True)]
        best = int(best_mean(tally, n, rng))
        cost: dict[str, float] = {"playouts": deals, self.effort: nodes}
        return SearchResult(view, turns, tally.visits, tally.sums / deals, halves, best, self.unit(view), deals, cost)


class PimcSearcher(DealsSearcher):
    """Perfect information Monte Carlo: the deals are solved by alpha-beta."""

    policy: Pimc

    def __init__(self, policy: Pimc) -> None:
        super().__init__(policy, policy.budget())
        self._keeper = SolverKeeper()

    def parts(self, view: View) -> tuple[Any, Any, int]:
        hidden = hidden_of(view)
        dealer = self.policy.dealer(view) if self.policy.deals == EXACT else hidden.dealers[self.policy.deals](view.variant)
        return dealer, self._keeper.solver(hidden, view), depth_of(self.policy, view, hidden)

    def is_slow(self, depth: int) -> bool:
        """Whether deals are solved to the end, as each may then take a twentieth of a second."""
        return depth == TO_THE_END

    def unit(self, view: View) -> str:
        return hidden_of(view).unit


class FlatDealsSearcher(DealsSearcher):
    """Flat Monte Carlo on common deals: every turn is played out once on each."""

    policy: FlatDeals
    effort = "games played out"

    def __init__(self, policy: FlatDeals) -> None:
        super().__init__(policy, policy.budget())

    def parts(self, view: View) -> tuple[Any, Any, int]:
        """Playouts in place of a solver."""
        return self.policy.dealer(view), new_playouts(self.policy, view), TO_THE_END

    def unit(self, view: View) -> str:
        return unit_of(self.policy)


class OracleSearcher(Searcher):
    """Sees all hands, and plays perfectly against perfect players, or as far as it looks."""

    policy: Oracle

    def __init__(self, policy: Oracle) -> None:
        super().__init__(policy, Budget())
        self._keeper = SolverKeeper()

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """The value of every turn."""
        if not view.oracle:
            raise NotSupported(f"{self.policy} must see everything; only an oracle view shows that, as the arena gives it")
        hidden = hidden_of(view)
        n = len(turns)
        values = np.zeros(n)
        depth = 0 if budget is TRIAL else depth_of(self.policy, view, hidden)
        nodes = int(pimc.solve_open(view.scratch(10), turns, n, self._keeper.solver(hidden, view), depth, rng, values))
        best = int(best_mean(Tally(visits=np.ones(n, np.int64), sums=values, squares=values), n, rng))
        lines = [self._line(view, int(turn), hidden, depth, rng) for turn in turns] if thorough else []
        visits, none = np.full(n, nodes // n), np.full(n, math.nan)
        return SearchResult(view, turns, visits, values, none, best, self.unit(view), 0, {"nodes": nodes}, lines)

    def _line(self, view: View, turn: int, hidden: Hidden, depth: int, rng: Rng) -> str:
        """Best play after this turn, as far as it consists of decisions that were looked at."""
        states, words, values = view.scratch(10), list[str](), np.zeros(view.game.max_turns)
        play_in_words(view, states, turn)
        while len(words) < _LINE and depth != len(words) and int(verbs.phase_at(states, 0)) == verbs.DECIDE:
            turns = np.empty(view.game.max_turns, np.int64)
            n = int(list_turns(states, 0, view.game.most_decisions, view.game.max_legal, turns))
            pimc.solve_open(states, turns, n, self._keeper.solver(hidden, view), max(depth - len(words) - 1, TO_THE_END), rng, values)
            turn = int(turns[int(values[:n].argmax())])
            words.append(play_in_words(view, states, turn))
        return ", ".join(words)

    def unit(self, view: View) -> str:
        return hidden_of(view).unit


# Beliefs


class ImsSearcher(Searcher):
    """Imperfect minimax search over what everybody may hold."""

    policy: Ims

    def __init__(self, policy: Ims) -> None:
        super().__init__(policy, Budget())

    def reflex(self, view: View, rng: Rng) -> int:
        """The greedy player's turn, if this is the seat's first turn after the deal and the policy wants it so."""
        known = view.game.knowledge
        if self.policy.first == "search" or hidden_of(view).turns_so_far(view.states, 0) >= view.players:
            return 0
        return int(choose_at(known.players[known.greedy].make(), view.scratch(2), 0, view.game.buffer(), rng))

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Negamax to the depth of the moment."""
        hidden = hidden_of(view)
        belief = hidden.beliefs[self.policy.belief](view.variant)
        depth = 1 if budget is TRIAL else depth_of(self.policy, view, hidden)
        stack = ims.make_stack(depth + 2, view.game.max_legal)
        believe(belief, view.scratch(1), 0)
        ims.start(belief, stack)
        pruning = ims.PRUNINGS.index(self.policy.pruning)
        while not ims.go_on(belief, stack, depth, pruning, thorough, _NODES_A_CALL):
            pass
        # In the order of the search, so that of equals the one found first is the best.
        found = {int(packed(int(move))): i for i, move in enumerate(stack.moves[0, : stack.n[0]])}
        of_search = [int(turn) in found for turn in turns]  # a belief may leave out what it takes for a mistake
        if not all(of_search):
            turns = turns[of_search]
        places = [found[int(turn)] for turn in turns]
        means = stack.values[places]
        best = min(range(len(turns)), key=lambda i: (-means[i], places[i]))
        nodes, none = int(stack.nodes[0]), np.full(len(turns), math.nan)
        lines = [_in_words(view, stack.lines[place], stack.lengths[place]) for place in places] if thorough else []
        visits = np.full(len(turns), nodes // len(found))
        cost: dict[str, float] = {"nodes": nodes, "depth": depth}
        return SearchResult(view, turns, visits, means, none, best, self.unit(view), 0, cost, lines)

    def unit(self, view: View) -> str:
        return hidden_of(view).unit


def _in_words(view: View, moves: Any, n: int) -> str:
    """What is expected to follow the first of these moves."""
    states = view.scratch(1)
    words = [play_in_words(view, states, int(packed(int(move)))) for move in moves[: min(n, 1 + _LINE)]]
    return ", ".join(words[1:])
