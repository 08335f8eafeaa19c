"""Searches that make playouts, with one worker or several, whose counts are added up. Here is flat Monte Carlo; trees.py has trees.

Several workers search on their own (root parallelisation), on as many threads as the policy says.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, below, make_rng, next64
from kdenv.core import verbs
from kdenv.core.game import Game
from kdenv.core.questions import choose_at
from kdenv.core.turns import MAX_DECISIONS, SCRATCH, carry_out
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.policies.budgets import Played
from kdenv.policies.flat import Bandit, Mce
from kdenv.policies.result import SearchResult, half_interval
from kdenv.policies.searching import TRIAL, Searcher
from kdenv.policies.tree_view import Node
from kdenv.policies.uct import Uct
from kdenv.search.budget import Budget, run_together
from kdenv.search.kernels import flat
from kdenv.search.kernels.flat import Luck, Tally, new_tally
from kdenv.search.kernels.flat_player import AT_RANDOM as _AT_RANDOM
from kdenv.search.kernels.flat_player import IN_ROTATION, WITH_COMMON_LUCK, FlatPlayer
from kdenv.search.outcome import CutShort, Playouts
from kdenv.search.score import SCORE_UNITS, SCORES

ROTATION, AT_RANDOM, HALVING = "rotation", "random", "halving"  # how playouts are given to turns without a selection rule
MOST_COMPILED = 1000  # playouts of a turn; a kernel that makes more could not be interrupted for too long
_LOOKS = 16  # a round of halving whose end a clock decides looks at it about so often in a step of the budget


class Worker(ABC):
    """One search of the turns open in a view."""

    @abstractmethod
    def run(self, steps: Iterable[int]) -> int:
        """Make this many playouts in each step; return how many were made in all."""

    @abstractmethod
    def nodes(self) -> int:
        """How many nodes it has; for searches without nodes, playouts."""

    @abstractmethod
    def tally(self) -> Tally:
        """What it found, by turn."""

    def means(self, tally: Tally) -> NDArray[np.float64]:
        """What turns are worth, given this tally of one worker or of all; nan where a turn has not been tried."""
        return np.where(tally.visits > 0, tally.sums / np.maximum(tally.visits, 1), math.nan)

    def possible(self, tally: Tally) -> NDArray[np.bool_]:
        """Which turns may be taken in the end, given its tally: those that have been tried."""
        return tally.visits > 0

    def root(self) -> Node | None:
        """The root of a copy of its tree; None if it has no tree."""
        return None

    def line(self, turn: int) -> str:
        """How it expects the game to go on after this turn, in the words of the game; empty if it cannot tell."""
        return ""


class PlayoutSearcher(Searcher):
    """Tries the turns open to its seat by playouts, and takes the best."""

    policy: Mce | Bandit | Uct

    @abstractmethod
    def worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        """Worker `number`, to search these turns with this budget."""

    def search(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, *, thorough: bool = False) -> SearchResult:
        """Let the workers search, add up what they found, and choose the best turn."""
        since = time.perf_counter()
        workers = self._workers(view, turns, budget, rng)
        if budget is TRIAL or len(turns) == 1:  # what is forced is not tried; a trial only calls the kernels
            playouts = sum(worker.run([0]) for worker in workers)
            if budget is TRIAL:  # what _best calls where turns are equal
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
        halves = [half_interval(*of_turn) for of_turn in zip(*tally, strict=True)]
        lines = [workers[0].line(i) for i in range(n)]
        trees = [root for worker in workers if (root := worker.root())]
        return SearchResult(view, turns, tally.visits, means, halves, best, self.unit(view), playouts, cost, lines, by_visits, trees)

    def _workers(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng) -> list[Worker]:
        """The workers. If there are several, each has a generator and a share of the budget of its own."""
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
        self, view: View, turns: NDArray[np.int64], tally: Tally, means: NDArray[np.float64], left: NDArray[np.bool_], rng: Rng
    ) -> int:
        """The place of the best turn of those left; of equals the one that gains the most points at once, if the policy says so, or any."""
        for keys in (means,) if self.policy.choice == "mean" else (np.maximum(tally.visits, self.policy.least), means):
            left = left & (keys == keys[left].max())
        best = left.nonzero()[0]
        if len(best) > 1 and self.policy.ties == "gains":
            gains = self._gains(view, turns[best])
            best = best[gains == gains.max()]
        return int(best[below(rng, len(best))] if len(best) > 1 else best[0])

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
        """What the game's reflex does here, if it is asked for; 0 if nothing."""
        if not self.policy.reflex or view.game.knowledge.reflex is None:
            return 0
        return int(choose_at(view.game.knowledge.reflex.make(), view.scratch(2), 0, view.game.buffer(), rng))

    def playout_player(self, view: View) -> Any:
        """The compiled player of the playouts."""
        return self.policy.playout.player(view)


def _added(workers: Sequence[Worker]) -> tuple[Tally, NDArray[np.bool_]]:
    """What workers found, added up by turn, and which turns may be taken in the end by one of them at least."""
    if len(workers) == 1:
        tally = workers[0].tally()
        return tally, workers[0].possible(tally)
    tallies = [worker.tally() for worker in workers]
    possible = [worker.possible(tally) for worker, tally in zip(workers, tallies, strict=True)]
    return Tally(*(np.sum(parts, axis=0) for parts in zip(*tallies, strict=True))), np.any(possible, axis=0)


def new_playouts(policy: Played, view: View, *, player: Any = None, values: NDArray[np.float64] | None = None, at_once: int = 0) -> Any:
    """The playouts of a policy in such a view, for kernels: Playouts, or CutShort if the policy has a leaf.

    player: who plays, if it is not the usual compiled player of the playout. values: where to write what a playout comes to. at_once:
    the most decisions that the search makes in a turn, if it takes turns apart.
    """
    player = policy.playout.player(view) if player is None else player
    network = None if policy.valued is None else policy.valued.player(view)
    return playouts_with(policy, view.game, view.players, player, network, values=values, at_once=at_once)


def playouts_with(
    policy: Played, game: Game, players: int, player: Any, network: Any, *, values: NDArray[np.float64] | None = None, at_once: int = 0
) -> Any:
    """The same at any table with so many players, with this compiled player and, if the policy has a network of values, its part."""
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


def unit_of(policy: Played) -> str:
    """What the values of a search count."""
    return SCORE_UNITS[policy.score] if policy.valued is None else policy.valued.unit


class Flat(Worker):
    """Flat Monte Carlo: playouts for all turns alike, or as a selection rule has it."""

    def __init__(self, policy: Mce | Bandit, rule: Any, view: View, turns: NDArray[np.int64], rng: Rng) -> None:
        self.states, self.seat, self.turns = view.scratch(flat.N_STATES), view.seat, turns
        self.rule, self.least, self.playouts, self.rng = rule, policy.least, new_playouts(policy, view), rng
        self.counts = new_tally(len(turns))
        self.in_rotation: Callable[..., Any] = flat.sample_in_rotation
        self.luck: tuple[Luck, ...] = ()  # an argument of the kernel that gives all turns of a rotation the same luck
        if isinstance(policy, Mce) and policy.common:
            self.in_rotation, self.luck = flat.sample_with_common_luck, (Luck(seed=np.zeros(1, np.uint64), drawn=make_rng(0)),)
        self.trust, self.prior = 0.0, np.zeros(len(turns))  # for how many playouts the prior of a turn counts; the priors by turn
        if isinstance(policy, Mce) and policy.prior is not None:
            self.trust, self.prior = policy.weight_of_prior, policy.prior.worths(view, turns)

    def run(self, steps: Iterable[int]) -> int:
        """Make this many playouts in each step; return how many were made in all."""
        position = self.states, self.seat, self.turns
        parts = self.playouts, self.rng, self.counts
        done = 0
        for n in steps:
            if self.rule == ROTATION:
                self.in_rotation(*position, n, done, self.playouts, self.rng, *self.luck, self.counts)
            elif self.rule == AT_RANDOM:
                flat.sample_at_random(*position, n, *parts)
            else:
                flat.sample_by_urgency(*position, n, self.rule, self.least, *parts)
            done += n
        return done

    def nodes(self) -> int:
        return int(self.counts.visits.sum())

    def tally(self) -> Tally:
        """What was found, by turn."""
        return self.counts

    def means(self, tally: Tally) -> NDArray[np.float64]:
        """What turns are worth by their playouts and their priors."""
        return weighed(tally, self.trust, self.prior)


def weighed(tally: Tally, trust: float, priors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the playouts of each turn and of its prior, which counts for `trust` playouts; nan where a turn has no playouts."""
    return np.where(tally.visits > 0, (tally.sums + trust * priors) / (np.maximum(tally.visits, 1) + trust), math.nan)


class Halving(Flat):
    """Sequential halving (Karnin, Koren and Somekh 2013): rounds of equal shares of the budget, each with the better half of the turns.

    In a round all turns that are left get the same number of playouts, at least one. The paper forgets the playouts of earlier rounds;
    here all playouts of a turn count.
    """

    def __init__(self, policy: Mce, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng) -> None:
        """budget: playouts, or seconds, which are counted from now."""
        super().__init__(policy, HALVING, view, turns.copy(), rng)
        self.places = np.argsort(-self.prior, kind="stable")  # where each turn of self.turns was at first; those left are in front
        self.turns[:] = self.turns[self.places]
        self.left = len(turns) if policy.widest is None else min(len(turns), policy.widest)  # how many turns are left
        self.round, self.done = 0, 0  # the round; its playouts
        self.rounds = max(1, math.ceil(math.log2(self.left)))
        self.budget, self.start = budget, time.perf_counter()

    def run(self, steps: Iterable[int]) -> int:
        """Make this many playouts in each step; return how many were made in all."""
        total = 0
        for n in steps:
            before = total
            while True:
                at_once = min(n - (total - before), self._before_next_look(n))
                left = Tally(*(numbers[: self.left] for numbers in self.counts))
                turns = self.turns[: self.left]
                self.in_rotation(self.states, self.seat, turns, at_once, self.done, self.playouts, self.rng, *self.luck, left)
                self.done += at_once
                total += at_once
                if self.left > 2 and self._is_round_over():
                    self._halve()
                if total - before >= n:
                    break
        return total

    def _before_next_look(self, step: int) -> int:
        """How many playouts to make before asking whether the round is over: so that all turns have the same number then."""
        if self.left <= 2:
            return step
        if self.budget.playouts is not None:
            return self._in_round() - self.done
        at_once = max(1, step // _LOOKS // self.left) * self.left
        return at_once - self.done % self.left

    def _in_round(self) -> int:
        """How many playouts a round has, of a budget of playouts; the last round has those that are left then."""
        assert self.budget.playouts is not None
        return self.left * max(1, self.budget.playouts // (self.left * self.rounds))

    def _is_round_over(self) -> bool:
        if self.done == 0 or self.done % self.left:
            return False
        if self.budget.playouts is not None:
            return self.done >= self._in_round()
        assert self.budget.seconds is not None
        return time.perf_counter() - self.start >= self.budget.seconds * (self.round + 1) / self.rounds

    def _halve(self) -> None:
        """Keep the better half of the turns that are left in front; of equals those that were in front before."""
        order = np.arange(len(self.turns))
        means = weighed(self.counts, self.trust, self.prior[self.places])[: self.left]
        order[: self.left] = np.argsort(-means, kind="stable")
        for numbers in (self.turns, self.places, *self.counts):
            numbers[:] = numbers[order]
        self.left, self.round, self.done = (self.left + 1) // 2, self.round + 1, 0

    def tally(self) -> Tally:
        """What was found, by turn, in the order of the rules."""
        back = np.argsort(self.places)
        return Tally(*(numbers[back] for numbers in self.counts))

    def possible(self, tally: Tally) -> NDArray[np.bool_]:
        """The turns that are left, if they have been tried."""
        return (np.argsort(self.places) < self.left) & (tally.visits > 0)


def flat_player(policy: Mce, game: Game, players: int) -> FlatPlayer | None:
    """Flat Monte Carlo as a player in kernels, with room of its own; None if a kernel cannot play as this policy does.

    Then its budget is of too many playouts, of playouts by round or of seconds, its playouts have no compiled player for all seats, or it
    has options that only Python carries out.
    """
    if not isinstance(policy.playouts, int) or policy.playouts > MOST_COMPILED or not isinstance(policy.playout, Policy):
        return None
    if policy.sampling == HALVING or policy.prior is not None or policy.choice != "mean" or policy.reflex or policy.threads > 1:
        return None
    player = policy.playout.compiled(game, players)
    if player is None:
        return None
    network = None if policy.leaf is None else policy.leaf.compiled(game, players)
    n = game.max_turns
    return FlatPlayer(
        playouts=playouts_with(policy, game, players, player, network),
        n_playouts=policy.playouts,
        sampling=WITH_COMMON_LUCK if policy.common else _AT_RANDOM if policy.sampling == AT_RANDOM else IN_ROTATION,
        most_decisions=game.most_decisions,
        states=np.zeros(max(flat.N_STATES, 1 + SCRATCH), game.state_dtype),
        turns=np.zeros(n, np.int64),
        actions=np.zeros((MAX_DECISIONS, game.max_legal), np.int64),
        n_actions=np.zeros(MAX_DECISIONS, np.int64),
        at_action=np.zeros(MAX_DECISIONS, np.int64),
        tally=new_tally(n),
        luck=Luck(seed=np.zeros(1, np.uint64), drawn=make_rng(0)),
        points=np.zeros(players, np.int64),
    )


class FlatSearcher(PlayoutSearcher):
    """Flat Monte Carlo: uniform sampling of the turns at the root, or by a selection rule (a bandit)."""

    policy: Mce | Bandit

    def __init__(self, policy: Mce | Bandit, rule: Any) -> None:
        """rule: rotation, random or halving, or a compiled selection rule."""
        super().__init__(policy, policy.budget())
        self.rule = rule

    def worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        """A new worker for this decision."""
        if self.rule == HALVING:
            assert isinstance(self.policy, Mce)
            return Halving(self.policy, view, turns, budget, rng)
        return Flat(self.policy, self.rule, view, turns, rng)
