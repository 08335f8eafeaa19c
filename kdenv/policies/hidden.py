"""Policies for games with hidden information. They sample it (`pimc`, `flat_deals`), weigh it by a belief (`ims`) or see it (`oracle`).

A deal is one possible assignment of everything that is hidden. The kernels are in kdenv.search.kernels.pimc and ims.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng
from kdenv.core import verbs
from kdenv.core.errors import BadOption, NotSupported, did_you_mean
from kdenv.core.game import Game, Variant
from kdenv.core.questions import SOLVER_STATES, TO_THE_END, Hidden, believe, choose_at
from kdenv.core.turns import list_turns, packed
from kdenv.core.view import View
from kdenv.games import find_game, names
from kdenv.policies.budgets import PlayoutBudget
from kdenv.policies.opponent_model import OpponentModel
from kdenv.policies.playout_search import ALL_SCORES, MEANING_OF_SCORE, PlayoutParameters, new_playouts, unit_of
from kdenv.policies.result import SearchResult, half_interval, play_in_words
from kdenv.policies.searching import TRIAL, Searcher, SearchPolicy
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named
from kdenv.search.budget import Budget
from kdenv.search.kernels import ims, pimc
from kdenv.search.kernels.flat import Tally, best_mean, new_tally
from kdenv.search.kernels.ims import PRUNINGS

EXACT = "exact"  # the dealer that every game has: it draws by the rules
_N_STATES = 2 + SOLVER_STATES  # the position, a deal, and the scratch of a solver
_LINE = 8  # the most turns of an expected line
_NODES_A_CALL = 20_000  # of a search that can be interrupted: about a hundredth of a second


# Parameters that these policies share


@dataclass(frozen=True, kw_only=True, repr=False)
class NeedsHidden(Value):
    """A search that needs the solver or the beliefs of the game (Knowledge.hidden)."""

    @classmethod
    def why_not(cls, game: Game) -> str:
        """The obstacle is a game without a solver and beliefs."""
        if game.knowledge.hidden is not None:
            return ""
        having = [name for name in names() if find_game(name).knowledge.hidden is not None]
        return f"needs a game with a solver and beliefs, which {game.name} is not; {' and '.join(having)} is"

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Check also that the game offers what the search needs, for these options of the rules."""
        super().needs(game, players, variant)
        assert game.knowledge.hidden is not None  # why_not found no obstacle
        self.needs_of(game.knowledge.hidden, game, variant)

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """Raise NotSupported or BadOption if the game does not offer what the parameters name, for these options of the rules."""
        hidden.solver(variant)


def _refuse_unless_offered(name: str, value: str, offered: Mapping[str, Any], game: Game) -> None:
    """Raise BadOption if the game does not offer this value of a parameter."""
    if value not in offered:
        hint = did_you_mean(value, offered)
        raise BadOption(f"{name}={value} is not possible{hint}; in {game.name} {name} may be {', '.join(offered)}")


@dataclass(frozen=True, kw_only=True, repr=False)
class GrowingDepth(Value):
    """A search whose depth grows with the turns played: floor(alpha * 2 ** (beta * floor(n / 4))) after n turns."""

    alpha: float | None = param(
        "the number of turns to look ahead at the start of a round; if not given, to the end", default=None, least=1, most=1000
    )
    beta: float = param("the growth of the depth during a round: it doubles in 4 / beta turns", default=1 / 3, least=0, most=10)

    def depth_in(self, view: View) -> int:
        """The depth in this position: floor(alpha * 2 ** (beta * floor(n / 4))), n turns after the deal; or to the end."""
        if self.alpha is None:
            return TO_THE_END
        hidden = _hidden_of(view)
        n = hidden.turns_so_far(view.states, 0)
        return min(int(self.alpha * 2 ** (self.beta * (n // 4))), hidden.most_turns)


@dataclass(frozen=True, kw_only=True, repr=False)
class DealsPolicy(SearchPolicy, OpponentModel, PlayoutBudget):
    """A search that tries the turns on random deals; its budget of playouts is the number of deals."""

    common: bool = param("whether all turns are tried on the same deals", default=True)


# The policies


@named("pimc")
class Pimc(DealsPolicy, NeedsHidden, GrowingDepth):
    """Perfect information Monte Carlo: draws random deals, solves each as if all were visible, and takes the turn with the best mean."""

    usual: ClassVar[Mapping[str, Any]] = {"playouts": 50}

    deals: str = param("the dealer that draws hidden information: exact (by the rules), or a dealer of the game", default=EXACT)

    def __post_init__(self) -> None:
        """Refuse two dealers."""
        super().__post_init__()
        if self.rivals is not None and self.deals != EXACT:
            raise BadOption(f"deals={self.deals} is not possible with rivals, which say themselves how hidden things are drawn")

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """Check also that the game has this dealer."""
        super().needs_of(hidden, game, variant)
        _refuse_unless_offered("deals", self.deals, {EXACT: None, **hidden.dealers}, game)

    def start(self) -> Searcher:
        """Make the search that solves deals."""
        return PimcSearcher(self)


@named("flat_deals")
class FlatDeals(DealsPolicy, PlayoutParameters):
    """Flat Monte Carlo on random deals: plays every turn out once on each deal, and takes the turn with the best mean."""

    usual: ClassVar[Mapping[str, Any]] = {"playouts": 100}

    score: str = param(MEANING_OF_SCORE, default="wdl", choices=ALL_SCORES, kw_only=False)

    def start(self) -> Searcher:
        """Make the search that plays deals out."""
        return FlatDealsSearcher(self)


@named("ims", "the dominoes paper, IMS (Algorithm 1)")
class Ims(SearchPolicy, NeedsHidden, GrowingDepth):
    """Imperfect minimax search: negamax over the hands that each seat may hold, with values weighted by their probability."""

    alpha: float = param("the number of turns to look ahead at the start of a round", default=5.0, least=1, most=1000)
    pruning: str = param(
        "the pruning of branches: as in the paper, none, or without changing the result (sound)", default="paper", choices=PRUNINGS
    )
    belief: str = param("the belief of the game, which gives the probability of each holding and the value of a position", default="paper")
    first: str = param(
        "whether the first turn of each seat after the deal is searched, too, or made by the greedy player of the game",
        default="search",
        choices=("search", "greedy"),
    )

    def needs_of(self, hidden: Hidden, game: Game, variant: Variant) -> None:
        """Check that the game has this belief."""
        _refuse_unless_offered("belief", self.belief, hidden.beliefs, game)
        hidden.beliefs[self.belief](variant)

    def start(self) -> Searcher:
        """Make the search over beliefs."""
        return ImsSearcher(self)


@named("oracle", "the dominoes paper, negamax oracle")
class Oracle(SearchPolicy, NeedsHidden, GrowingDepth):
    """Sees all hands and plays perfectly against perfect play; matches admit it only if they allow oracles."""

    is_oracle = True

    def start(self) -> Searcher:
        """Make the search that sees everything."""
        return OracleSearcher(self)


# Searches on deals


def _hidden_of(view: View) -> Hidden:
    """The game's solver, dealers and beliefs. NeedsHidden has checked that it has them."""
    assert view.game.knowledge.hidden is not None
    return view.game.knowledge.hidden


class _SolverCache:
    """Keeps the solver, whose table is large, from one decision to the next."""

    def __init__(self) -> None:
        self._of: tuple[str, bytes] = ("", b"")
        self._solver: Any = None

    def solver(self, view: View) -> Any:
        """The solver for the rules of this view."""
        of = (view.game.name, view.variant.tobytes())
        if of != self._of:
            self._of, self._solver = of, _hidden_of(view).solver(view.variant)
        return self._solver


class DealsSearcher(Searcher):
    """Draws deals, and tries all turns on each of them. With common=no, each turn has its own deals."""

    policy: DealsPolicy
    effort = "nodes"  # the unit of a solver's effort

    @abstractmethod
    def parts(self, view: View) -> tuple[Any, Any, int]:
        """The dealer, the solver, the depth."""

    def is_slow(self, depth: int) -> bool:
        """True if a single deal may take so long that a kernel should try only one deal before Python checks the budget."""
        return False

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Try all turns on random deals; the mean of a turn is over its deals."""
        dealer, solver, depth = self.parts(view)
        n = len(turns)
        group, depth = n if self.policy.common else 1, 0 if budget is TRIAL else depth  # group: turns that are tried on the same deal
        states, tally = view.scratch(_N_STATES), new_tally(n)
        parts = group, dealer, solver, depth, np.zeros(n), rng, tally
        deals, nodes = 0, 0
        for step in (Budget(playouts=1) if budget is TRIAL else budget).steps():
            at_once = 1 if self.is_slow(depth) else step  # so that Ctrl-C need not wait for many slow deals
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
        super().__init__(policy)
        self._cache = _SolverCache()

    def parts(self, view: View) -> tuple[Any, Any, int]:
        dealers = _hidden_of(view).dealers
        dealer = self.policy.dealer(view) if self.policy.deals == EXACT else dealers[self.policy.deals](view.variant)
        return dealer, self._cache.solver(view), self.policy.depth_in(view)

    def is_slow(self, depth: int) -> bool:
        """True if deals are solved to the end, because each may then take a twentieth of a second."""
        return depth == TO_THE_END

    def unit(self, view: View) -> str:
        return _hidden_of(view).unit


class FlatDealsSearcher(DealsSearcher):
    """Flat Monte Carlo on common deals: every turn is played out once on each."""

    policy: FlatDeals
    effort = "games played out"

    def parts(self, view: View) -> tuple[Any, Any, int]:
        """The dealer, playouts in place of a solver, and the depth."""
        return self.policy.dealer(view), new_playouts(self.policy, view), TO_THE_END

    def unit(self, view: View) -> str:
        return unit_of(self.policy)


class OracleSearcher(Searcher):
    """Sees all hands, and plays perfectly against perfect players, up to its depth."""

    policy: Oracle

    def __init__(self, policy: Oracle) -> None:
        super().__init__(policy)
        self._cache = _SolverCache()

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Solve every turn."""
        if not view.oracle:
            raise NotSupported(f"{self.policy} must see everything; only an oracle view shows that, as the arena gives it")
        n = len(turns)
        values = np.zeros(n)
        depth = 0 if budget is TRIAL else self.policy.depth_in(view)
        nodes = int(pimc.solve_open(view.scratch(_N_STATES), turns, n, self._cache.solver(view), depth, rng, values))
        best = int(best_mean(Tally(visits=np.ones(n, np.int64), sums=values, squares=values), n, rng))
        lines = [self._line(view, int(turn), depth, rng) for turn in turns] if thorough else []
        visits, none = np.full(n, nodes // n), np.full(n, math.nan)
        return SearchResult(view, turns, visits, values, none, best, self.unit(view), 0, {"nodes": nodes}, lines)

    def _line(self, view: View, turn: int, depth: int, rng: Rng) -> str:
        """The best play after this turn, within the depth and up to the next chance."""
        states, words, values = view.scratch(_N_STATES), list[str](), np.zeros(view.game.max_turns)
        play_in_words(view, states, turn)
        while len(words) < _LINE and depth != len(words) and int(verbs.phase_at(states, 0)) == verbs.DECIDE:
            # The turns so far count as depth, so what is left of it decides how deep the next turn is solved.
            turns = np.empty(view.game.max_turns, np.int64)
            n = int(list_turns(states, 0, view.game.most_decisions, view.game.max_legal, turns))
            pimc.solve_open(states, turns, n, self._cache.solver(view), max(depth - len(words) - 1, TO_THE_END), rng, values)
            turn = int(turns[int(values[:n].argmax())])
            words.append(play_in_words(view, states, turn))
        return ", ".join(words)

    def unit(self, view: View) -> str:
        return _hidden_of(view).unit


# The search over beliefs


class ImsSearcher(Searcher):
    """Imperfect minimax search over all hands that the seats may hold."""

    policy: Ims

    def reflex(self, view: View, rng: Rng) -> int:
        """With first=greedy, the greedy player's turn if this is the seat's first turn after the deal; else 0."""
        known = view.game.knowledge
        if self.policy.first == "search" or _hidden_of(view).turns_so_far(view.states, 0) >= view.players:
            return 0
        return int(choose_at(known.players[known.greedy].make(), view.scratch(2), 0, view.game.buffer(), rng))

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Search by negamax to the depth of this position."""
        belief = _hidden_of(view).beliefs[self.policy.belief](view.variant)
        depth = 1 if budget is TRIAL else self.policy.depth_in(view)
        stack = ims.make_stack(depth + 2, view.game.max_legal)
        believe(belief, view.scratch(1), 0)
        ims.start(belief, stack)
        pruning = PRUNINGS.index(self.policy.pruning)
        while not ims.go_on(belief, stack, depth, pruning, thorough, _NODES_A_CALL):
            pass
        # The search orders the turns. Of equal turns, the one that it found first is the best.
        found = {int(packed(int(move))): i for i, move in enumerate(stack.moves[0, : stack.n[0]])}
        of_search = [int(turn) in found for turn in turns]  # a belief may leave out turns that it regards as mistakes
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
        return _hidden_of(view).unit


def _in_words(view: View, moves: Any, n: int) -> str:
    """The expected continuation after the first of these moves."""
    states = view.scratch(1)
    words = [play_in_words(view, states, int(packed(int(move)))) for move in moves[: min(n, 1 + _LINE)]]
    return ", ".join(words[1:])
