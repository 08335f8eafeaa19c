"""The common part of searches that make playouts: their parameters, the playouts themselves, and the choice of the best turn.

A search has one worker or several (root parallelisation). Workers search independently, on as many threads as the policy sets. Their
counts are added up. Flat Monte Carlo is in flat.py, UCT in uct.py. Flat Monte Carlo on deals (hidden.py) uses only the playouts.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, below, make_rng, next64
from kdenv.core import verbs
from kdenv.core.errors import BadOption
from kdenv.core.game import Game
from kdenv.core.questions import choose_at
from kdenv.core.turns import carry_out
from kdenv.core.view import View
from kdenv.policies.networks import ValueNetwork
from kdenv.policies.playouts import Playout, Random
from kdenv.policies.result import SearchResult, half_interval
from kdenv.policies.searching import TRIAL, Searcher, SearchPolicy
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value
from kdenv.policies.tree_view import Node
from kdenv.search.budget import Budget, run_together
from kdenv.search.kernels.flat import Tally
from kdenv.search.outcome import CutShort, Playouts
from kdenv.search.score import SCORE_UNITS, SCORES

MOST_WORKERS = 256  # the largest value of threads= and of trees=
GOAL = "goal"  # the score that a network of values predicts
ALL_SCORES = (*SCORES, GOAL)
MEANING_OF_SCORE = (
    "the value of a finished game: by wins (wdl, win, half, lead), points (points, relative, margin), or both (windiff); "
    "with a leaf, the network's prediction (goal)"
)


@dataclass(frozen=True, kw_only=True, repr=False)
class PlayoutParameters(Value):
    """The parameters of playouts: who plays them, their score, and a network that values positions where they are cut short."""

    is_tree: ClassVar[bool] = False  # whether the search has a tree, from which playouts can learn

    playout: Playout = param("the player that plays the playouts", default=Random(), kw_only=False)  # noqa: RUF009  (a Random is never changed)
    score: str = param(MEANING_OF_SCORE, default="relative", choices=ALL_SCORES, kw_only=False)
    leaf: ValueNetwork | None = param(  # noqa: RUF009  (as above)
        "a network of values, which values the positions where playouts are cut short; if not given, playouts end with the game",
        default=None,
    )
    turns: int = param("with a leaf: after this many turns a playout is cut short; 0: before its first turn", default=0, least=0, most=1000)

    @cached_property
    def valued(self) -> ValueNetwork | None:
        """The network of values that sets the score and the unit of the search: here the leaf. None if there is none."""
        return self.leaf

    def __post_init__(self) -> None:
        """Refuse playouts that learn from a tree if the search has none, and scores in another unit than that of the network."""
        super().__post_init__()
        if self.valued is not None and self.score != GOAL:
            what = "a leaf" if self.valued is self.leaf else "a prior"
            raise BadOption(
                f"score={self.score} is not possible with {what}, because games must end in the network's unit; write score=goal"
            )
        if self.valued is None and self.score == GOAL:
            raise BadOption("score=goal needs a network that values positions; give leaf=learned(<model>)")
        if self.leaf is None and self.turns:
            raise BadOption(f"turns={self.turns} needs a network that values positions; give leaf=learned(<model>)")
        if self.playout.learns and not self.is_tree:
            raise BadOption(f"playout={self.playout} is not possible here; it learns from a tree: uct(playout={self.playout}, ...)")


@dataclass(frozen=True, kw_only=True, repr=False)
class ChoiceParameters(Value):
    """The parameters of a search that counts visits by turn: the choice of the final turn, and how many workers search."""

    least = 1  # minimum visits per turn; with choice=visits, smaller counts are treated as equal

    choice: str = param(
        "the turn to take in the end: that with the best mean, or with the most visits", default="mean", choices=("mean", "visits")
    )
    ties: str = param(
        "the turn to take of several equally good ones: that which gains the most points at once, a random one, or the first in the list",
        default="gains",
        choices=("gains", "random", "first"),
    )
    reflex: bool = param("whether obvious turns are made without a search, by the rules that the papers on the game give", default=False)
    threads: int = param("the number of threads that search at the same time", default=1, least=1, most=MOST_WORKERS)
    whole: bool = param(
        "whether each thread or tree has the whole budget of playouts or nodes; if not, the budget is divided among them", default=False
    )

    @property
    def workers(self) -> int:
        """The number of independent searches; their statistics are added up."""
        return self.threads


class PlayoutPolicy(SearchPolicy, PlayoutParameters, ChoiceParameters):
    """A policy that searches by playouts and counts visits by turn."""


class Worker(ABC):
    """One search of the turns that are open in a view."""

    @abstractmethod
    def run(self, steps: Iterable[int]) -> int:
        """Make playouts; `steps` gives the number for each step. Return the number of playouts made."""

    @abstractmethod
    def nodes(self) -> int:
        """The number of its nodes; for searches without nodes, of its playouts."""

    @abstractmethod
    def tally(self) -> Tally:
        """The visits and sums by turn."""

    def means(self, tally: Tally) -> NDArray[np.float64]:
        """The values of turns, given the tally of one worker or of all; nan where a turn has not been tried."""
        return np.where(tally.visits > 0, tally.sums / np.maximum(tally.visits, 1), math.nan)

    def possible(self, tally: Tally) -> NDArray[np.bool_]:
        """A mask of the turns that may be taken in the end, given its tally: those that have been tried."""
        return tally.visits > 0

    def root(self) -> Node | None:
        """The root of a copy of its tree; None if it has no tree."""
        return None

    def line(self, turn: int) -> str:
        """The continuation that it expects after this turn, in the words of the game; empty if it cannot give one."""
        return ""


class PlayoutSearcher(Searcher):
    """Tries the turns open to its seat by playouts, and takes the best."""

    policy: PlayoutPolicy

    @abstractmethod
    def worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        """Worker `number`, to search these turns with this budget."""

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Let the workers search, add up their counts, and choose the best turn."""
        since = time.perf_counter()
        workers = self._workers(view, turns, budget, rng)
        if budget is TRIAL or len(turns) == 1:  # a forced turn needs no playouts; a trial only compiles the kernels
            playouts = sum(worker.run([0]) for worker in workers)
            if budget is TRIAL:  # compile the kernels that _best calls when turns are equal
                self._gains(view, turns[:1])
                below(rng, 1)
        elif len(workers) == 1:
            playouts = workers[0].run(budget.steps(since=since, nodes=workers[0].nodes))
        else:
            playouts = run_together(workers, [self._share(budget, i) for i in range(len(workers))], self.policy.threads, since)
        tally, possible = _added(workers)
        n, means = len(turns), workers[0].means(tally)
        best = self._best(view, turns, tally, means, possible, rng) if playouts else 0
        cost: dict[str, float] = {"playouts": playouts}
        if self.policy.is_tree:
            cost["nodes"] = sum(worker.nodes() for worker in workers)
        by_visits = self.policy.choice == "visits"
        if not thorough:
            return SearchResult(
                view, turns, tally.visits, means, [math.nan] * n, best, self.unit(view), playouts, cost, by_visits=by_visits
            )
        half_widths = [half_interval(*of_turn) for of_turn in zip(*tally, strict=True)]
        lines = [workers[0].line(i) for i in range(n)]
        trees = [root for worker in workers if (root := worker.root())]
        return SearchResult(view, turns, tally.visits, means, half_widths, best, self.unit(view), playouts, cost, lines, by_visits, trees)

    def _workers(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng) -> list[Worker]:
        """The workers. If there are several, each has its own generator and its own share of the budget."""
        n = self.policy.workers
        if n == 1 or budget is TRIAL:
            return [self.worker(view, turns, budget, rng, 0)]
        rngs = [make_rng(int(next64(rng) >> np.uint64(1))) for _ in range(n)]
        return [self.worker(view, turns, self._share(budget, i), rngs[i], i) for i in range(n)]

    def _share(self, budget: Budget, number: int) -> Budget:
        """The budget of one of several workers."""
        return budget if self.policy.whole else budget.share(number, self.policy.workers)

    def unit(self, view: View) -> str:
        return self._unit

    @cached_property
    def _unit(self) -> str:
        return unit_of(self.policy)

    def _best(
        self, view: View, turns: NDArray[np.int64], tally: Tally, means: NDArray[np.float64], possible: NDArray[np.bool_], rng: Rng
    ) -> int:
        """The index of the best of the possible turns. Ties go to the turn with the most points at once, a random one, or the first."""
        for keys in (means,) if self.policy.choice == "mean" else (np.maximum(tally.visits, self.policy.least), means):
            possible = possible & (keys == keys[possible].max())
        best = possible.nonzero()[0]
        if len(best) > 1 and self.policy.ties == "gains":
            gains = self._gains(view, turns[best])
            best = best[gains == gains.max()]
        return int(best[below(rng, len(best))] if len(best) > 1 and self.policy.ties != "first" else best[0])

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
        """The turn of the game's reflex rules, if the policy uses them; 0 if they give none."""
        if not self.policy.reflex or view.game.knowledge.reflex is None:
            return 0
        return int(choose_at(view.game.knowledge.reflex.make(), view.scratch(2), 0, view.game.buffer(), rng))

    def playout_player(self, view: View) -> Any:
        """The compiled player of the playouts."""
        return self.policy.playout.player(view)


def _added(workers: Sequence[Worker]) -> tuple[Tally, NDArray[np.bool_]]:
    """The sum of the workers' tallies by turn, and a mask of the turns that at least one of them may take in the end."""
    if len(workers) == 1:
        tally = workers[0].tally()
        return tally, workers[0].possible(tally)
    tallies = [worker.tally() for worker in workers]
    possible = [worker.possible(tally) for worker, tally in zip(workers, tallies, strict=True)]
    return Tally(*(np.sum(parts, axis=0) for parts in zip(*tallies, strict=True))), np.any(possible, axis=0)


def new_playouts(
    policy: PlayoutParameters, view: View, *, player: Any = None, values: NDArray[np.float64] | None = None, at_once: int = 0
) -> Any:
    """Make the playouts of a policy in such a view, for kernels: Playouts, or CutShort if the policy has a leaf.

    Args:
        policy: The policy, or its parameters.
        view: A view of the game.
        player: The compiled player that plays, if it is not that of the policy's playout.
        values: The array that receives the values of a playout, by seat.
        at_once: The number of decisions that the search makes before a playout, if it does not make whole turns.
    """
    player = policy.playout.player(view) if player is None else player
    network = None if policy.valued is None else policy.valued.player(view)
    return playouts_with(policy, view.game, view.players, player, network, values=values, at_once=at_once)


def playouts_with(
    policy: PlayoutParameters,
    game: Game,
    players: int,
    player: Any,
    network: Any,
    *,
    values: NDArray[np.float64] | None = None,
    at_once: int = 0,
) -> Any:
    """Make the playouts without a view. network: the compiled network of values; None if the policy has none."""
    playouts = Playouts(
        player=player,
        score=SCORES[policy.score](game.teams(players)) if network is None else network.goal,
        out=game.buffer(),
        values=np.empty(players) if values is None else values,
        numbers=np.empty(players, np.int64),
    )
    if policy.leaf is None:
        return playouts
    return CutShort(
        **playouts._asdict(),
        evaluator=network,
        turns=policy.turns,
        teams=network.goal.teams,
        most_decisions=game.most_decisions,
        unfinished=game.most_decisions - at_once if at_once else 0,
    )


def unit_of(policy: PlayoutParameters) -> str:
    """The unit of a search's values, such as points."""
    return SCORE_UNITS[policy.score] if policy.valued is None else policy.valued.unit
