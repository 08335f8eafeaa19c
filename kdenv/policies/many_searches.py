"""The searches of `search_many`: trees, and flat Monte Carlo with rotation or halving, each for many games at once.

Each simulation has two parts. A kernel goes down to a leaf in every game and writes rows for the network, and another one takes the
answers (kdenv.search.kernels.many). This module calls them in turn, and asks the network in between.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import make_rng
from kdenv.core.afterstates import AfterstateLister
from kdenv.core.questions import ExactDeals
from kdenv.core.turns import actions_of, first_actions
from kdenv.core.view import SeenPositions
from kdenv.policies.asked_network import AskedNetwork, Numbers
from kdenv.policies.base import Policy
from kdenv.policies.flat import HALVING, Mce, rounds_of_halving, weighed
from kdenv.policies.networks import GivenNetwork
from kdenv.policies.uct import CHANCES, Uct, as_integers, exploration, new_workspace, plan_of, size_of_tree
from kdenv.search.budget import Budget
from kdenv.search.kernels import flat, many, uct
from kdenv.search.kernels.gumbel import Gumbel
from kdenv.search.kernels.priors import Priors
from kdenv.search.kernels.scored import Scored
from kdenv.search.kernels.uct import Decisions, NoPriors, Positions
from kdenv.search.outcome import CutShort
from kdenv.search.playout import Uniform

_TEMPERATURE_OF_VALUES, _TEMPERATURE_OF_SCORES = 0.1, 1.0  # of priors, as of learned(<model>) and ppo(<model>)
_MOST_TURNS = 1 << 24  # of all trees together; memory is taken only as trees grow
_FIRST_ROWS = 64  # rows a game for which there is room at first


class Options(NamedTuple):
    """The options of search_many beside the policy."""

    encoding: str | None
    whole: bool
    gumbel: int


@dataclass(frozen=True, eq=False)
class SearchResults:
    """The results of searches of n games. `turns` to `policy` have one element for each legal turn of each game.

    Attributes:
        turns: The turns, packed; kdenv.author.first_action and rest_of take them apart.
        position: The index of the game to which a turn belongs.
        actions: The first action of each turn.
        visits: The simulations that tried the turn.
        means: The mean of their values, in the unit of the network's values; nan where a turn has not been tried.
        policy: The improved policy, which adds up to 1 for each game. It is the share of the visits or, with Gumbel noise, the softmax of
            logits and weighed means.
        starts: The turns starts[i] to starts[i + 1] - 1 belong to game i. There are n + 1 numbers.
        best: The index in `turns` of the turn to take in each game; -1 for a game that is over.
        calls: The number of calls of the network.
        rows: The number of rows of all calls.

    """

    turns: NDArray[np.int64]
    position: NDArray[np.int64]
    actions: NDArray[np.int64]
    visits: NDArray[np.int64]
    means: Numbers
    policy: Numbers
    starts: NDArray[np.int64]
    best: NDArray[np.int64]
    calls: int
    rows: int

    @property
    def first(self) -> NDArray[np.int64]:
        """The first action of the chosen turn of each game, for `step`; 0 for a game that is over."""
        found = np.zeros(len(self.best), np.int64)
        has_turns = self.best >= 0
        found[has_turns] = self.actions[self.best[has_turns]]
        return found

    @property
    def chosen(self) -> list[tuple[int, ...]]:
        """The actions of the chosen turn of each game; none for a game that is over."""
        return [tuple(actions_of(int(self.turns[at]))) if at >= 0 else () for at in self.best.tolist()]


class ManySearches(ABC):
    """The searches of all games: their turns, and the choice in the end."""

    def __init__(self, policy: Mce | Uct, seen: SeenPositions, network: AskedNetwork, options: Options, rngs: NDArray[np.uint64]) -> None:
        assert isinstance(policy.playouts, int) and isinstance(policy.leaf, GivenNetwork)
        self.policy, self.network, self.game, self.players = policy, network, seen.game, seen.players
        self.n, self.n_playouts = len(seen.states), policy.playouts
        self.goal = policy.leaf.goal(seen.game, seen.players)
        self.lister = AfterstateLister(seen.game, network.observer)
        turns, starts = self.lister.turns(seen.states, seen.seats, whole=options.whole)
        self.whole = options.whole
        self.games = many.Games(seen.states.copy(), seen.seats, rngs, starts, turns)
        self.position = np.repeat(np.arange(self.n), np.diff(starts))
        self.space = new_workspace(seen.game, seen.players)
        self.states = np.zeros(uct.N_STATES, seen.game.state_dtype)
        self._player: Any = Uniform()
        if policy.turns:
            assert isinstance(policy.playout, Policy)
            self._player = policy.playout.compiled(seen.game, seen.players)

    def playouts(self) -> CutShort:
        """The playouts, which write the positions where they are cut short as rows."""
        return CutShort(
            player=self._player,
            score=self.goal,
            out=self.game.buffer(),
            values=self.space.values,
            numbers=np.zeros(self.players, np.int64),
            evaluator=self.network.asked,
            turns=self.policy.turns,
            teams=self.goal.teams,
            most_decisions=self.game.most_decisions,
            unfinished=0,
        )

    @abstractmethod
    def start(self) -> None:
        """Begin the searches, and compile the kernels."""

    @abstractmethod
    def step(self) -> bool:
        """Make a simulation of each game, with one call of the network; return whether more are to be made."""

    @abstractmethod
    def results(self) -> SearchResults:
        """The results of all games."""

    def _results(
        self,
        visits: NDArray[np.int64],
        means: Numbers,
        policy: Numbers | None = None,
        best: NDArray[np.int64] | None = None,
        possible: NDArray[np.bool_] | None = None,
    ) -> SearchResults:
        """The results. Without a policy it is the share of the visits, and without a best turn it is chosen as by the search policy."""
        games, tried = self.games, visits > 0
        if best is None:
            best = np.zeros(self.n, np.int64)
            possible = tried if possible is None else possible & tried
            keys, others = np.where(tried, means, -math.inf), np.zeros(len(means))
            if self.policy.choice == "visits":
                keys, others = np.maximum(visits, self.policy.least).astype(np.float64), keys
            points = np.zeros(self.players, np.int64)
            ties = self.policy.ties == "gains", self.policy.ties == "first"
            many.choose_turns(games, possible.copy(), keys, others, *ties, np.zeros(len(means)), self.states, points, best)
        if policy is None:
            forced = np.diff(games.starts)[self.position] == 1
            shares = np.where(forced, 1, visits)
            policy = shares / np.bincount(self.position, shares, self.n)[self.position]
        turns = games.turns
        calls = self.network.calls, self.network.rows
        return SearchResults(turns, self.position, first_actions(turns), visits, means, policy, games.starts, best, *calls)


class ManyTrees(ManySearches):
    """A tree search of each game."""

    policy: Uct

    def __init__(self, policy: Uct, seen: SeenPositions, network: AskedNetwork, options: Options, rngs: NDArray[np.uint64]) -> None:
        super().__init__(policy, seen, network, options, rngs)
        self.search = np.zeros(1, np.int64)
        self.has_priors = policy.priors is not None
        self.rows_a_position = self.players if self.goal.teams > 2 else 1
        guide: Any = NoPriors()
        if self.has_priors:
            guide = Priors(None, np.zeros(1), exploration(policy), policy.widening)
        plan = plan_of(policy, seen.game, seen.players, guide, ExactDeals())
        self.plan = plan._replace(most_decisions=seen.game.most_decisions if options.whole else 1)
        self.trees = self._new_trees()
        n_most = self.game.max_turns if self.has_priors else 1
        self.most_rows = n_most * self.rows_a_position
        self.network.make_room(self.most_rows + self.n * (_FIRST_ROWS if self.has_priors else self.rows_a_position))
        longest = int(np.diff(self.games.starts).max()) if options.gumbel else 0
        shape, considered = (self.n, longest), min(int(options.gumbel), longest)
        self.gumbel = Gumbel(
            considered=considered,
            search=self.search,
            schedule=np.array([_schedule(m, self.n_playouts) for m in range(considered + 1)], np.int64),
            noise=np.zeros(shape),
            logits=np.zeros(shape),
            values=np.zeros(shape),
            priors=np.zeros(longest),
            visits=np.zeros(longest, np.int64),
            sums=np.zeros(longest),
            weighed=np.zeros(longest),
        )
        self.temperature = policy.temperature
        self.places, self.priors = np.zeros(self.game.max_turns, np.int64), np.zeros(self.game.max_turns)

    def _new_trees(self) -> many.Trees:
        """Trees of just the roots. The system provides pages of zeros when they are first written to."""
        n, is_list = self.n, not isinstance(CHANCES[self.policy.chance], Positions)
        width = self.game.max_turns if self.has_priors or not is_list else 1
        n_nodes, n_turns = size_of_tree(Budget(playouts=self.n_playouts), n, width)
        n_turns = min(n_turns, max(_MOST_TURNS // n, self.game.max_turns)) + 1
        n_slots = 1 if is_list else 1 << (2 * n_nodes + 1).bit_length()
        n_nodes = 1 if is_list else n_nodes + 1
        used = np.zeros((n, 2), np.int64)
        used[:, 0] = 1
        return many.Trees(
            roots=np.zeros(n, self.game.state_dtype),
            used=used,
            seed=np.zeros((n, 1), np.uint64),
            nodes=np.zeros((n, n_nodes), uct.NODE),
            turns=np.zeros((n, n_turns), np.int64),
            counts=np.zeros((n, n_turns), uct.COUNTS),
            table=np.zeros((n, n_slots), np.int32),
            slots=np.zeros((n, n_nodes), np.int32),
            paths=np.zeros((n, uct.MAX_DEPTH + 1, 4), np.int64),
            depths=np.zeros(n, np.int64),
            firsts=np.zeros(n, np.int64),
            ends=np.zeros(n, np.int64),
            n_listed=np.zeros(n, np.int64),
            values=np.zeros((n, self.players)),
        )

    def chance(self) -> Any:
        """The kind of the trees."""
        kind = CHANCES[self.policy.chance]
        if not self.has_priors:
            return kind
        assert isinstance(kind, Decisions)
        return Scored(
            information_sets=kind.information_sets,
            asked=self.network.asked,
            score=self.goal,
            rows_a_position=self.rows_a_position,
            temperature=_TEMPERATURE_OF_VALUES if self.temperature is None else self.temperature,
            places=self.places,
            priors=self.priors,
            gumbel=self.gumbel,
        )

    def start(self) -> None:
        many.plant_trees(self.games, self.trees)
        self._begin(self.n)  # compiles the kernel and begins no simulation

    def step(self) -> bool:
        """Make a simulation of each game."""
        network = self.network
        network.asked.n[0] = 0
        done = 0
        while (done := self._begin(done)) < self.n:
            network.make_room(2 * len(network.asked.rows) + self.most_rows)
        values, scores, are_values = network.answer()
        if self.temperature is None and not are_values:
            self.temperature = _TEMPERATURE_OF_SCORES
        parts = self.search, network.asked, self.space, self.chance(), self.plan, self.goal.teams
        many.end_simulations(self.games, self.trees, values, scores, *parts)
        return True

    def _begin(self, first: int) -> int:
        """Begin the simulations from game `first` on; return the first game without room for its rows, or the number of games."""
        parts = self.network.asked, self.space, self.states, as_integers(self.states), self.chance(), self.plan
        last = self.policy.rule(), self.playouts()
        return int(many.begin_simulations(self.games, self.trees, first, self.most_rows, self.search, *parts, *last))

    def results(self) -> SearchResults:
        n, chance = len(self.games.turns), self.chance()
        visits, sums = np.zeros(n, np.int64), np.zeros(n)
        many.add_up_roots(self.games, self.trees, chance, visits, sums)
        means = np.where(visits > 0, sums / np.maximum(visits, 1), math.nan)
        if not self.gumbel.considered:
            return self._results(visits, means)
        policy, best = np.zeros(n), np.zeros(self.n, np.int64)
        many.choose_all_by_gumbel(self.games, self.trees, self.search, self.space, self.states, chance, self.plan, policy, best)
        return self._results(visits, means, policy, best)


def _schedule(n_turns: int, n_playouts: int) -> list[int]:
    """For each simulation, the visits that the turn which it tries has before, in sequential halving among n_turns."""
    left, found = max(n_turns, 1), list[int]()
    rounds, done = rounds_of_halving(left), 0
    while len(found) < n_playouts:
        each = max(1, n_playouts // (rounds * left)) if left > 2 else n_playouts
        found += [done + i for i in range(each) for _ in range(left)]
        done, left = done + each, (left + 1) // 2 if left > 2 else left
    return found[:n_playouts]


class ManyFlat(ManySearches):
    """Flat Monte Carlo of each game, with rotation or sequential halving."""

    policy: Mce

    def start(self) -> None:
        """Ask for the priors, and sort the turns of each game by them."""
        policy, games = self.policy, self.games
        n, starts = len(games.turns), games.starts
        priors, self.trust = np.zeros(n), policy.weight_of_prior
        if policy.prior is not None:
            priors = self._priors()
        order = np.lexsort((-priors, self.position)) if policy.sampling == HALVING else np.arange(n)
        numbers = np.diff(starts)
        left = numbers if policy.widest is None else np.minimum(numbers, policy.widest)
        rounds = [rounds_of_halving(each) for each in left.tolist()] if policy.sampling == HALVING else np.zeros(self.n)
        self.flat = many.FlatSearches(
            places=order - starts[:-1][self.position],
            priors=priors[order],
            visits=np.zeros(n, np.int64),
            sums=np.zeros(n),
            squares=np.zeros(n),
            rows=np.zeros(n, np.int64),
            values=np.zeros(n),
            left=left.astype(np.int64),
            rounds=np.array(rounds, np.int64),
            made=np.zeros(self.n, np.int64),
            in_round=np.zeros(self.n, np.int64),
            now=np.zeros(self.n, np.int64),
            luck=make_rng(0),
        )
        self.network.asked.n[0] = 0
        self.network.make_room(int(numbers.max()) + self.n)
        self._begin(self.n)  # compiles the kernel and begins no playout

    def _priors(self) -> Numbers:
        """The network's value of the position after each turn; that of the rules, if the game is over then."""
        games = self.games
        after = self.lister.list(games.seen, games.seats, whole=self.whole)
        values, _ = self.network.ask(after.observations)
        numbers = np.zeros(self.players, np.int64)
        many.value_ends(games, self.states, self.position, after.over, self.goal, self.space.values, numbers, values)
        return values

    def step(self) -> bool:
        """Make a playout of each turn that is left in each game."""
        network = self.network
        network.asked.n[0] = 0
        done = 0
        while (done := self._begin(done)) < self.n:
            network.make_room(2 * len(network.asked.rows) + int(self.flat.left.max()))
        if not self.flat.now.any():
            return False
        values, _, _ = network.answer()
        parts = values, network.asked, self.space.values, self.goal.teams
        many.end_playouts(self.games, self.flat, self.n_playouts, self.trust, *parts)
        return True

    def _begin(self, first: int) -> int:
        parts = self.n_playouts, self.policy.common, self.states, self.network.asked, self.playouts()
        return int(many.begin_playouts(self.games, self.flat, first, *parts))

    def results(self) -> SearchResults:
        flat_ = self.flat
        at = self.games.starts[:-1][self.position] + flat_.places  # the index of each turn in the order of the rules
        place = np.arange(len(at)) - self.games.starts[:-1][self.position]
        visits, means, possible = np.zeros(len(at), np.int64), np.zeros(len(at)), np.zeros(len(at), np.bool_)
        visits[at], possible[at] = flat_.visits, place < flat_.left[self.position]
        tally = flat.Tally(flat_.visits, flat_.sums, flat_.squares)
        means[at] = weighed(tally, self.trust, flat_.priors)
        return self._results(visits, means, possible=possible)
