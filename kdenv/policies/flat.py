"""Flat Monte Carlo (`mce`, `bandit`): playouts estimate the turns that are open now, all equally often or by a selection rule."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng
from kdenv.core.errors import BadOption
from kdenv.core.game import Game
from kdenv.core.turns import MAX_DECISIONS, SCRATCH, finish_turn
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.policies.budgets import PlayoutBudget
from kdenv.policies.networks import ValueNetwork
from kdenv.policies.playout_search import PlayoutPolicy, PlayoutSearcher, Worker, new_playouts, playouts_with
from kdenv.policies.playouts import Playout
from kdenv.policies.searching import Searcher
from kdenv.policies.selection import SelectionRule, Ucb1
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named
from kdenv.search.budget import Budget
from kdenv.search.kernels import flat, flat_player
from kdenv.search.kernels.flat import Luck, Tally, new_luck, new_tally

ROTATION, AT_RANDOM, HALVING = "rotation", "random", "halving"  # the distribution of playouts without a selection rule
_TIES = {"gains": flat_player.BY_GAINS, "random": flat_player.BY_CHANCE, "first": flat_player.BY_ORDER}
_DEFAULT_TRUST = 10.0  # the weight of a prior, in playouts
_DEFAULT_CONFIDENCE = 2.0  # in standard errors
_MOST_EXPONENT = 700.0  # exp of more is no float
_MOST_COMPILED = 1000  # playouts of a turn in a kernel; a kernel with more could not be interrupted for too long
_LOOKS = 16  # in halving by seconds, the clock is read about this often in each step of the budget


# Parameters


@named("mce", "Gedda et al. 2018, MCE-TR, MCE-FG, MCE-PG, MCE-eG; WDL, P, R; Karnin, Koren and Somekh 2013, sequential halving")
class Mce(PlayoutPolicy, PlayoutBudget):
    """Flat Monte Carlo: makes playouts for all turns equally often, and takes the turn with the best mean."""

    sampling: str = param(
        "the turns that playouts try: all in rotation, or a random one each time. Halving tries all equally often in the first part of the "
        "budget, then the better half of them, and so on, until the better of two is taken",
        default=ROTATION,
        choices=(ROTATION, AT_RANDOM, HALVING),
    )
    common: bool = param(
        "whether the playouts of all turns begin with the same random numbers in each rotation (common random numbers), "
        "so that luck does not decide between turns",
        default=False,
    )
    prior: ValueNetwork | None = param(
        "a network of values; its value of the position right after a turn is averaged with the playouts of the turn", default=None
    )
    trust: float | None = param("the weight of the prior, as a number of playouts; if not given, 10", default=None, least=0, most=1e9)
    widest: int | None = param(
        "the most turns with which halving begins, those with the best priors; if not given, all turns", default=None, least=1
    )

    base: Playout | None = param(
        "the policy on which the search improves: its turn is taken unless the playouts of another turn are better by `confidence`. "
        "Needs common=yes",
        default=None,
    )
    confidence: float | None = param(
        "the standard errors by which another turn must be better than that of the base policy; with few playouts more are needed "
        "(Student's distribution). If not given, 2",
        default=None,
        least=0,
        most=1e9,
    )

    def __post_init__(self) -> None:
        """Refuse parameters without the parameters that they need."""
        super().__post_init__()
        if self.base is None and self.confidence is not None:
            raise BadOption(f"confidence={self.confidence:g} needs a policy whose turn stays; give base=<policy>")
        if self.base is not None and not self.common:
            raise BadOption(f"base={self.base} compares playouts that begin with the same random numbers; write common=yes")
        if self.base is not None and self.threads > 1:
            raise BadOption(f"threads={self.threads} is not possible with base={self.base}, whose turn each thread would judge by itself")
        if self.common and self.sampling == AT_RANDOM:
            raise BadOption("common=yes is not possible with sampling=random, which has no rotations; sampling may be rotation, halving")
        if self.prior is None:
            for name in ("trust", "widest"):
                value = getattr(self, name)
                if value is not None:
                    raise BadOption(f"{name}={value:g} needs a network that says what turns are worth; give prior=learned(<model>)")
        elif self.leaf is not None and self.leaf != self.prior:
            raise BadOption(f"leaf={self.leaf} is not possible with prior={self.prior}; both must be the same network, to have one unit")
        if self.widest is not None and self.sampling != HALVING:
            raise BadOption(f"widest={self.widest} is not possible with sampling={self.sampling}; write sampling=halving")

    @cached_property
    def valued(self) -> ValueNetwork | None:
        """The network of values whose unit the search uses; None if it has none."""
        return self.leaf or self.prior

    @property
    def weight_of_prior(self) -> float:
        """The weight of the prior, as a number of playouts; 0 without a prior."""
        return 0.0 if self.prior is None else _DEFAULT_TRUST if self.trust is None else self.trust

    @property
    def errors_needed(self) -> float:
        """The number of standard errors by which a turn must be better than that of the base policy."""
        return _DEFAULT_CONFIDENCE if self.confidence is None else self.confidence

    def start(self) -> Searcher:
        """Make the search that treats all turns alike."""
        return FlatSearcher(self, self.sampling)

    def compiled(self, game: Game, players: int) -> flat_player.FlatPlayer | None:
        """The compiled player, with its own buffers; None if a kernel cannot play as this policy does.

        A kernel plays with a fixed number of playouts, up to 1,000, by a compiled player for all seats. It has no halving, no prior, no
        base policy, no reflex and no threads, and takes the turn with the best mean.
        """
        if not isinstance(self.playouts, int) or self.playouts > _MOST_COMPILED or not isinstance(self.playout, Policy):
            return None
        if (
            self.sampling == HALVING
            or self.prior is not None
            or self.base is not None
            or self.choice != "mean"
            or self.reflex
            or self.threads > 1
        ):
            return None
        player = self.playout.compiled(game, players)
        if player is None:
            return None
        network = None if self.leaf is None else self.leaf.compiled(game, players)
        by_turn = flat_player.AT_RANDOM if self.sampling == AT_RANDOM else flat_player.IN_ROTATION
        return flat_player.FlatPlayer(
            playouts=playouts_with(self, game, players, player, network),
            n_playouts=self.playouts,
            sampling=flat_player.WITH_COMMON_LUCK if self.common else by_turn,
            ties=_TIES[self.ties],
            most_decisions=game.most_decisions,
            states=np.zeros(max(flat.N_STATES, 1 + SCRATCH), game.state_dtype),
            turns=np.zeros(game.max_turns, np.int64),
            actions=np.zeros((MAX_DECISIONS, game.max_legal), np.int64),
            n_actions=np.zeros(MAX_DECISIONS, np.int64),
            at_action=np.zeros(MAX_DECISIONS, np.int64),
            tally=new_tally(game.max_turns),
            luck=new_luck(game.max_turns),
            points=np.zeros(players, np.int64),
        )


@named("bandit", "Jansen and Tollisen 2014, UCB")
class Bandit(PlayoutPolicy, PlayoutBudget):
    """Flat Monte Carlo in which a selection rule chooses the turn for each playout, so good turns get more playouts."""

    select: SelectionRule = param("the rule that chooses the turn to try next", default=Ucb1())
    least: int = param("the minimum playouts of each turn, before the rule decides", default=1, least=1)

    def __post_init__(self) -> None:
        """Refuse a rule that needs priors or another score."""
        super().__post_init__()
        self.select.check_score(self.score)
        if self.select.needs_priors:
            raise BadOption(
                f"select={self.select} is not possible here; it needs priors: uct(select={self.select}, priors=learned(<model>))"
            )

    def start(self) -> Searcher:
        """Make the search that follows the rule."""
        return FlatSearcher(self, self.select.compiled())


# The search


class FlatSearcher(PlayoutSearcher):
    """Flat Monte Carlo: uniform sampling of the turns at the root, or by a selection rule (a bandit)."""

    policy: Mce | Bandit

    def __init__(self, policy: Mce | Bandit, rule: Any) -> None:
        """rule: rotation, random or halving, or a compiled selection rule."""
        super().__init__(policy)
        self.rule = rule

    def worker(self, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng, number: int) -> Worker:
        """A new worker for this decision."""
        if self.rule == HALVING:
            assert isinstance(self.policy, Mce)
            return Halving(self.policy, view, turns, budget, rng)
        return Flat(self.policy, self.rule, view, turns, rng)


class Flat(Worker):
    """Flat Monte Carlo: the same number of playouts for all turns, or the turns that a selection rule chooses."""

    def __init__(self, policy: Mce | Bandit, rule: Any, view: View, turns: NDArray[np.int64], rng: Rng) -> None:
        self.states, self.seat = view.scratch(flat.N_STATES), view.seat
        self.rule, self.least, self.playouts, self.rng = rule, policy.least, new_playouts(policy, view), rng
        self.counts = new_tally(len(turns))
        self.in_rotation: Callable[..., Any] = flat.sample_in_rotation
        self.luck: tuple[Luck, ...] = ()  # the argument of the kernel that gives all turns of a rotation the same random numbers
        if isinstance(policy, Mce) and policy.common:
            self.in_rotation, self.luck = flat.sample_with_common_luck, (new_luck(len(turns)),)
        self.trust, self.prior = 0.0, np.zeros(len(turns))  # the weight of priors, in playouts; the priors by turn
        if isinstance(policy, Mce) and policy.prior is not None:
            self.trust, self.prior = policy.weight_of_prior, policy.prior.worths(view, turns)
        self.places = np.arange(len(turns))  # the original index of each of self.turns
        if rule == HALVING:
            self.places = np.argsort(-self.prior, kind="stable")
        self.needed = -1.0  # the standard errors by which a turn must be better than self.turns[0]; -1 without a base policy
        if isinstance(policy, Mce) and policy.base is not None:
            self.needed = policy.errors_needed
            turn = self._turn_of(policy.base, view)
            own = int(np.flatnonzero(turns == turn)[0]) if view.to_move else 0  # a trial may begin where nobody decides
            self.places = np.concatenate(([own], self.places[self.places != own]))
        self.is_reordered = rule == HALVING or self.needed >= 0
        self.turns = turns[self.places]
        self.left = len(turns)  # the number of turns, from the first on, that are still tried

    def _turn_of(self, base: Playout, view: View) -> int:
        """The whole turn that a policy takes in this position."""
        game = view.game
        return int(finish_turn(base.player(view), view.scratch(2), 0, view.seat, game.most_decisions, game.buffer(), self.rng))

    def run(self, steps: Iterable[int]) -> int:
        """Make this many playouts in each step; return the number of playouts made."""
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
        """The visits and sums by turn, in the order of the rules."""
        return self._in_order(self.counts) if self.is_reordered else self.counts

    def _in_order(self, counts: Tally) -> Tally:
        back = np.argsort(self.places)
        return Tally(*(numbers[back] for numbers in counts))

    def possible(self, tally: Tally) -> NDArray[np.bool_]:
        """A mask of the turns that are tried to the end; with a base policy, of those that are better than its turn, or this turn alone."""
        tried: NDArray[np.bool_] = tally.visits > 0
        if self.left < len(self.turns):
            tried &= np.argsort(self.places) < self.left
        if self.needed < 0:
            return tried
        own, (luck,) = self.places[0], self.luck
        better = tried & better_than(own, self._in_order(luck.leads), self.trust, self.prior, self.needed)
        return better if better.any() else np.arange(len(tried)) == own

    def means(self, tally: Tally) -> NDArray[np.float64]:
        """The values of turns by their playouts and their priors."""
        return weighed(tally, self.trust, self.prior)


def weighed(tally: Tally, trust: float, priors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the playouts of each turn and of its prior, which counts as `trust` playouts; nan where a turn has no playouts."""
    return np.where(tally.visits > 0, (tally.sums + trust * priors) / (np.maximum(tally.visits, 1) + trust), math.nan)


def better_than(own: int, leads: Tally, trust: float, priors: NDArray[np.float64], confidence: float) -> NDArray[np.bool_]:
    """Return a mask of the turns that are better than turn `own` with this confidence.

    With many playouts the confidence is a number of standard errors of the mean difference. Few playouts say little about their spread.
    So the confidence becomes the quantile of Student's distribution.

    leads: of the differences between the playouts of each turn and those of turn `own` with the same random numbers. The difference of
    the priors counts as `trust` such differences, which have no error.
    """
    n = np.maximum(leads.visits, 1)
    mean, freedom = leads.sums / n, np.maximum(n - 1, 1)
    variance = np.maximum(0.0, leads.squares / n - mean * mean) / freedom
    lead = (leads.sums + trust * (priors - priors[own])) / (n + trust)
    error = np.sqrt(variance) * n / (n + trust)
    better: NDArray[np.bool_] = (leads.visits > 1) & (lead > of_student(confidence, freedom) * error)
    return better


def of_student(z: float, freedom: Any) -> Any:
    """Return the quantile of Student's distribution with the probability of the normal quantile z (Wallace 1959)."""
    exponent = (z * (8 * freedom + 3) / (8 * freedom + 1)) ** 2 / freedom
    return np.sqrt(freedom * np.expm1(np.minimum(exponent, _MOST_EXPONENT)))


def rounds_of_halving(n_turns: int) -> int:
    """Return the number of rounds of sequential halving, in which n_turns become two."""
    return max(1, math.ceil(math.log2(max(n_turns, 1))))


class Halving(Flat):
    """Sequential halving (Karnin, Koren and Somekh 2013): rounds of equal shares of the budget, each with the better half of the turns.

    In a round all turns that are left get the same number of playouts, at least one. The paper forgets the playouts of earlier rounds;
    here all playouts of a turn count.
    """

    def __init__(self, policy: Mce, view: View, turns: NDArray[np.int64], budget: Budget, rng: Rng) -> None:
        """budget: playouts, or seconds, which are counted from now."""
        super().__init__(policy, HALVING, view, turns, rng)
        self.left = len(turns) if policy.widest is None else min(len(turns), policy.widest)  # the number of turns left
        self.round, self.done = 0, 0  # the round; the playouts made in it
        self.rounds = rounds_of_halving(self.left)
        self.budget, self.start = budget, time.perf_counter()

    def run(self, steps: Iterable[int]) -> int:
        """Make this many playouts in each step; return the number of playouts made."""
        total = 0
        for n in steps:
            # A step may reach beyond the end of a round, after which the turns are halved. So it is made in parts.
            before = total
            while True:
                at_once = min(n - (total - before), self._before_next_look(n))
                left = Tally(*(numbers[: self.left] for numbers in self.counts))
                turns = self.turns[: self.left]
                self.in_rotation(self.states, self.seat, turns, at_once, self.done, self.playouts, self.rng, *self.luck, left)
                self.done += at_once
                total += at_once
                if self.left > 2 and self._is_round_over():  # the last round, of two turns, has the rest of the budget
                    self._halve()
                if total - before >= n:
                    break
        return total

    def _before_next_look(self, step: int) -> int:
        """The number of playouts to make before asking if the round is over. All turns have the same number of playouts then."""
        if self.left <= 2:
            return step
        if self.budget.playouts is not None:
            return self._in_round() - self.done
        at_once = max(1, step // _LOOKS // self.left) * self.left
        return at_once - self.done % self.left

    def _in_round(self) -> int:
        """The playouts of a round, for a budget of playouts. The last round has all that are left."""
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
        """Move the better half of the turns that are left to the front. Of equal turns, those that are in front stay in front.

        The turn of the base policy stays the first.
        """
        order = np.arange(len(self.turns))
        means = weighed(self.counts, self.trust, self.prior[self.places])[: self.left]
        if self.needed >= 0:
            means[0] = math.inf
        order[: self.left] = np.argsort(-means, kind="stable")
        for numbers in (self.turns, self.places, *self.counts, *(each for luck in self.luck for each in luck.leads)):
            numbers[:] = numbers[order]
        self.left, self.round, self.done = (self.left + 1) // 2, self.round + 1, 0
