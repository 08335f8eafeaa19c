"""`search_many` searches many games at once with a network of your own, and `NetworkPolicy` is a policy that asks such a network.

The network is a function of a batch of observations: numpy in, numpy out. It may be made with torch, JAX or ONNX. Each row is what a
seat observes right after a turn, as in `afterstates` of views and environments. The function gets nothing else: no table, and nothing
that the searching seat cannot know, because hidden things are drawn before a row is written.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.notice import compiling
from kdenv.compiler.random import Rng, make_rng
from kdenv.core.afterstates import AfterstateLister
from kdenv.core.encoding import Observer
from kdenv.core.errors import BadOption, NotSupported, WrongOrder, shown
from kdenv.core.questions import ExactDeals
from kdenv.core.turns import actions_of, first_actions
from kdenv.core.view import SeenPositions, View
from kdenv.policies.base import Policy, TurnPolicy, rng_of
from kdenv.policies.base import policy as policy_of
from kdenv.policies.flat import HALVING, ROTATION, Mce, weighed
from kdenv.policies.networks import GivenNetwork, PriorNetwork
from kdenv.policies.searching import SearchPolicy
from kdenv.policies.text.parameter import param
from kdenv.policies.uct import CHANCES, Uct, as_integers, exploration, new_workspace, plan_of, size_of_tree
from kdenv.search.budget import Budget
from kdenv.search.kernels import flat, many, uct
from kdenv.search.kernels.asked import Asked
from kdenv.search.kernels.priors import Priors
from kdenv.search.kernels.scored import Gumbel, Scored
from kdenv.search.kernels.uct import Decisions, NoPriors, Positions
from kdenv.search.outcome import CutShort
from kdenv.search.playout import Uniform

Evaluate = Callable[[NDArray[np.float32]], Any]
Numbers = NDArray[np.float64]

_TEMPERATURE_OF_VALUES, _TEMPERATURE_OF_SCORES = 0.1, 1.0  # of priors, as of learned(<model>) and ppo(<model>)
_MOST_TURNS = 1 << 24  # of all trees together; memory is taken only as trees grow
_FIRST_ROWS = 64  # rows a game for which there is room at first
_TREES = ("open", "information_sets")  # the values of chance= with which turns have scores


class HasPositions(Protocol):
    """An environment of many games: SelfPlay, SeatVectorEnv or SeatVecEnv."""

    def seen(self) -> SeenPositions:
        """The positions of all games, each as the seat to move sees it."""


@dataclass(frozen=True, eq=False)
class SearchResults:
    """The results of searches of n games. `turns` to `policy` have one element for each legal turn of each game.

    Attributes:
        turns: the turns, packed; kdenv.author.first_action and rest_of take them apart.
        position: the index of the game to which a turn belongs.
        actions: the first action of each turn.
        visits: the simulations that tried the turn.
        means: the mean of their values, in the unit of the network's values; nan where a turn has not been tried.
        policy: the improved policy, which adds up to 1 for each game: the share of the visits or, with Gumbel noise, the softmax of
            logits and weighed means.
        starts: n + 1 numbers; turns starts[i] to starts[i + 1] - 1 belong to game i.
        best: n numbers; the index in `turns` of the turn to take in each game; -1 for a game that is over.
        calls: the number of calls of the network.
        rows: the number of rows of all calls.

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


def search_many(
    policy: Any,
    games: Sequence[View] | HasPositions,
    evaluate: Evaluate,
    *,
    encoding: str | None = None,
    whole: bool = True,
    gumbel: int = 0,
    seed: int | Sequence[int] = 0,
) -> SearchResults:
    """Search many games at once. The values of positions, and the priors of turns, come from a network of your own.

    In each simulation of all games the network is called once, with the rows of all of them. A row is what a seat observes right after a
    turn. The network gives each row a value, which is the expected result for this seat. The result of a finished game is
    (1 - win) * margin / scale + win * (1, 0 or -1); the parameters of `network(win=..., scale=...)` are in it. The network may give each
    row a score, too. Then the scores of turns make the priors instead of the values.

    Args:
        policy: a search in which the word `network` is your network, as text or object: flat Monte Carlo with rotation or halving,
            `mce(leaf=network, score=goal, turns=4, sampling=halving, playouts=64)`, also with `prior=network`; or a tree,
            `uct(leaf=network, priors=network, score=goal, select=puct, chance=open, playouts=64)`. With chance=open or
            chance=information_sets, each simulation draws anew what is hidden. With priors, chance must be one of them.
        games: views of seats that are to move, all of one game, number of players and options; or SelfPlay, SeatVectorEnv, SeatVecEnv.
        evaluate: the network: a function of an array of float32 (rows x size of the encoding), which the next call writes to again. It
            returns one value for each row, or a tuple of values and scores.
        encoding: the name of the encoding of the rows; None is the default encoding of the game.
        whole: whether the turns of the search are whole turns; if False, single actions, for a network that learned from
            `afterstates(whole=False)`, as kdenv.rl.TurnPPO does.
        gumbel: with priors: the number of turns of the root, drawn without replacement by Gumbel noise, among which simulations are
            divided by sequential halving (Danihelka et al. 2022); 0: the selection rule decides at the root, too.
        seed: the seed of the first game, of which each further game takes the next number; or a list of seeds. Game i is searched as by
            a policy after reset(seed + i), alone or with others.

    >>> from kdenv.envs import SelfPlay
    >>> from kdenv.policies import search_many
    >>> batch = SelfPlay("dominoes", num_envs=64, mode="round", skip_forced=True)
    >>> now = batch.reset(seed=1)
    >>> search = "uct(leaf=network, priors=network, score=goal, select=puct, chance=information_sets, playouts=16)"
    >>> found = search_many(search, batch, lambda observations: observations.sum(axis=1) / 1000)
    >>> found.calls, bool(now.action_mask[range(64), found.first].all())
    (16, True)

    """
    seen = games.seen() if hasattr(games, "seen") else _seen_in(games)
    n = len(seen.states)
    seeds = [seed + i for i in range(n)] if isinstance(seed, (int, np.integer)) else list(seed)
    if len(seeds) != n:
        raise BadOption(f"seed= lists {len(seeds)} seeds for {n} games; give one for each game, or one number")
    rngs = np.concatenate([rng_of(int(each)) for each in seeds]).reshape(n, 1)
    return _search(policy_of(policy), seen, evaluate, _Options(encoding, bool(whole), gumbel), rngs)


def _seen_in(views: Any) -> SeenPositions:
    """The positions of these views."""
    if not isinstance(views, Sequence) or not views or not all(isinstance(view, View) for view in views):
        raise BadOption(f"search_many cannot search {shown(views)}; give a list of views, or SelfPlay, SeatVectorEnv or SeatVecEnv")
    first = views[0]
    for i, view in enumerate(views):
        if (view.game, view.players, view.variant.tobytes()) != (first.game, first.players, first.variant.tobytes()):
            raise BadOption(f"views[{i}] and views[0] have different games, players or options; give views of one kind")
        if view.oracle:
            raise BadOption(f"views[{i}] is an oracle view, which shows what is hidden; give table.view(seat)")
        if not view.to_move:
            raise WrongOrder(f"seat {view.seat} does not decide in views[{i}]; give the view of the seat to move")
    states = np.concatenate([view.states[:1] for view in views])
    return SeenPositions(first.game, first.players, first.variant, states, np.array([view.seat for view in views], np.int64))


class _Options(NamedTuple):
    """The options of search_many beside the policy."""

    encoding: str | None = None
    whole: bool = True
    gumbel: int = 0


def _search(policy: Policy, seen: SeenPositions, evaluate: Evaluate, options: _Options, rngs: NDArray[np.uint64]) -> SearchResults:
    """Search with these generators, which are changed."""
    checked = _checked(policy, options.gumbel)
    checked.needs(seen.game, seen.players, seen.variant)
    network = _Network(evaluate, seen.game.observer(seen.players, seen.variant, options.encoding))
    parts = seen, network, options, rngs
    search: _Flat | _Tree = _Flat(checked, *parts) if isinstance(checked, Mce) else _Tree(checked, *parts)
    with compiling(f"{policy} for {seen.game.name}"):
        search.start()
    for _ in range(search.n_playouts):
        if not search.step():
            break
    return search.results()


# Which searches are possible


def _checked(policy: Policy, gumbel: int) -> Mce | Uct:
    """The policy, if search_many can search as it does. Otherwise raise an error that says what would be possible."""
    if not isinstance(policy, (Mce, Uct)):
        raise NotSupported(f"search_many cannot search as {policy} does; give mce(...) or uct(...) with leaf=network, score=goal")
    if not isinstance(policy.leaf, GivenNetwork):
        raise BadOption(f"{policy} does not ask your network; write leaf=network, score=goal")
    if not isinstance(policy.playouts, int):
        raise BadOption(f"{policy} has no number of playouts, which all games need; write playouts=<number>")
    usual: dict[str, tuple[Any, ...]] = {"threads": (1,), "reflex": (False,)}
    inside: PriorNetwork | None
    if isinstance(policy, Mce):
        usual |= {"sampling": (ROTATION, HALVING), "base": (None,)}
        inside = policy.prior
    else:
        usual |= {"trees": (None, 1), "rave": (0.0,), "rivals": (None,)}
        inside = policy.priors
    for name, possible in usual.items():
        if (value := getattr(policy, name)) not in possible:
            p = policy.parameters()[name]
            raise NotSupported(f"{name}={p.write(value)} is not possible in search_many; {name} may be {', '.join(map(p.write, possible))}")
    if inside is not None and not isinstance(inside, GivenNetwork):
        raise NotSupported(f"{inside} is not possible in search_many, which asks your network; write network in its place")
    if policy.turns and not isinstance(policy.playout, Policy):
        raise NotSupported(f"playout={policy.playout} is not possible in search_many; a playout may be random or a rule-based player")
    if isinstance(policy, Uct) and policy.priors is not None:
        if policy.chance not in _TREES:
            raise NotSupported(f"chance={policy.chance} is not possible with priors=network; chance may be {', '.join(_TREES)}")
        if policy.turns:
            raise NotSupported(f"turns={policy.turns} is not possible with priors=network, which values positions right after a turn")
    if not isinstance(gumbel, (int, np.integer)) or gumbel < 0:
        raise BadOption(f"gumbel={shown(gumbel)} is not possible; give a number of turns, or 0")
    if gumbel and not (isinstance(policy, Uct) and policy.priors is not None):
        raise BadOption(f"gumbel={gumbel} needs priors, by which turns are drawn; give uct(priors=network, ...)")
    return policy


# The network


class _Network:
    """Your function, the rows for its next call, and the numbers of its calls and rows."""

    def __init__(self, evaluate: Evaluate, observer: Observer) -> None:
        self._evaluate, self.observer = evaluate, observer
        self.asked = _new_asked(observer, 0)
        self.calls, self.rows = 0, 0

    def make_room(self, n: int) -> None:
        """Make room for at least n rows, and keep those that are written."""
        if len(self.asked.rows) < n:
            old, self.asked = self.asked, _new_asked(self.observer, n)
            for name in ("rows", "seats", "turns", "is_over", "exact"):
                getattr(self.asked, name)[: len(old.rows)] = getattr(old, name)
            self.asked.n[0] = old.n[0]

    def answer(self) -> tuple[Numbers, Numbers, bool]:
        """Return the values and scores of the rows, and whether the scores are values. Ends of listed turns have exact values."""
        n = int(self.asked.n[0])
        if n == 0:
            return np.zeros(0), np.zeros(0), True
        values, scores = self.ask(self.asked.rows[:n])
        is_over = self.asked.is_over[:n]
        values[is_over] = self.asked.exact[:n][is_over]
        return values, values if scores is None else scores, scores is None

    def ask(self, rows: NDArray[np.float32]) -> tuple[Numbers, Numbers | None]:
        """Call the function, and check what it returns."""
        self.calls += 1
        self.rows += len(rows)
        given = self._evaluate(rows)
        if not isinstance(given, tuple):
            return _numbers(given, len(rows), "values"), None
        if len(given) != 2:
            raise BadOption(f"the network returned a tuple of {len(given)}; return the values, or a tuple of values and scores")
        return _numbers(given[0], len(rows), "values"), _numbers(given[1], len(rows), "scores")


def _numbers(given: Any, n: int, what: str) -> Numbers:
    """The numbers that the network returned, one for each row, as a new array."""
    found = np.array(given, np.float64)
    if found.shape not in ((n,), (n, 1)):
        raise BadOption(f"the {what} of the network have shape {found.shape}; return one number for each of the {n} rows")
    if not np.isfinite(found).all():
        raise BadOption(f"the {what} of the network have numbers that are not finite; return finite numbers")
    return found.reshape(n)


def _new_asked(observer: Observer, n: int) -> Asked:
    return Asked(
        encoding=observer.part(),
        rows=np.empty((n, observer.size), np.float32),
        seats=np.zeros(n, np.int64),
        turns=np.zeros(n, np.int64),
        is_over=np.zeros(n, np.bool_),
        exact=np.zeros(n),
        n=np.zeros(1, np.int64),
        n_listed=np.zeros(1, np.int64),
    )


# The searches


class _Search(ABC):
    """The searches of all games: their turns, and the choice in the end."""

    def __init__(self, policy: Mce | Uct, seen: SeenPositions, network: _Network, options: _Options, rngs: NDArray[np.uint64]) -> None:
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


class _Tree(_Search):
    """A tree search of each game."""

    policy: Uct

    def __init__(self, policy: Uct, seen: SeenPositions, network: _Network, options: _Options, rngs: NDArray[np.uint64]) -> None:
        super().__init__(policy, seen, network, options, rngs)
        gumbel = int(options.gumbel)
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
        longest = int(np.diff(self.games.starts).max()) if gumbel else 0
        shape = (self.n, longest)
        self.gumbel = Gumbel(
            considered=gumbel,
            search=self.search,
            schedule=np.array([_schedule(m, self.n_playouts) for m in range(gumbel + 1)], np.int64),
            noise=np.zeros(shape),
            logits=np.zeros(shape),
            values=np.zeros(shape),
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
    rounds, done = max(1, math.ceil(math.log2(left))), 0
    while len(found) < n_playouts:
        each = max(1, n_playouts // (rounds * left)) if left > 2 else n_playouts
        found += [done + i for i in range(each) for _ in range(left)]
        done, left = done + each, (left + 1) // 2 if left > 2 else left
    return found[:n_playouts]


class _Flat(_Search):
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
        rounds = [max(1, math.ceil(math.log2(max(each, 1)))) for each in left.tolist()] if policy.sampling == HALVING else np.zeros(self.n)
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


# A policy that asks a network


@dataclass(frozen=True, kw_only=True, repr=False)
class NetworkPolicy(TurnPolicy):
    """A policy that asks a network of your own. A class derived from it plays in matches, leagues and on the server by "module:Name".

    Write `evaluate`, and set `encoding` if the network does not read the default encoding of the game. The search is a parameter:
    `"mine:Mine(within=uct(leaf=network, priors=network, score=goal, select=puct, chance=open, playouts=64))"`. A class may set its own
    defaults by declaring the parameters again.

    >>> import kdenv
    >>> from kdenv.author import NetworkPolicy, make_rng
    >>> class Most(NetworkPolicy):
    ...     "Likes large numbers."
    ...     def evaluate(self, observations):
    ...         return observations.mean(axis=1)
    >>> kdenv.add_policy("most", Most)
    >>> table = kdenv.table("dominoes", mode="round")
    >>> table.run_chance(make_rng(1))
    >>> view = table.view(table.seat)
    >>> kdenv.policy("most(within=mce(leaf=network, score=goal, turns=2, playouts=40))").act(view) in view.legal()
    True

    """

    encoding: ClassVar[str | None] = None  # the name of the encoding that the network reads; None is the default encoding
    whole: ClassVar[bool] = True  # whether whole turns are searched, as for search_many

    within: SearchPolicy | None = param(  # noqa: RUF009  (a policy is never changed)
        "the search that asks the network, as for search_many; if not given, the turn with the greatest score, or value, is taken",
        default=None,
    )
    gumbel: int = param("the number of turns that Gumbel noise draws at the root; 0: none, see search_many", default=0, least=0)

    @abstractmethod
    def evaluate(self, observations: NDArray[np.float32]) -> Any:
        """The value of each row, or a tuple of values and scores, as for search_many."""

    def __post_init__(self) -> None:
        """Refuse a search that search_many cannot make."""
        super().__post_init__()
        if self.within is not None:
            _checked(self.within, self.gumbel)
        elif self.gumbel:
            raise BadOption(f"gumbel={self.gumbel} needs a search; give within=uct(leaf=network, priors=network, ...)")

    def choose_turn(self, view: View) -> int:
        """The turn that the search, or the network alone, chooses."""
        if self.within is not None:
            rng: Rng = self.memory.rng
            options = _Options(self.encoding, self.whole, self.gumbel)
            found = _search(self.within, _seen_in([view]), self.evaluate, options, rng.reshape(1, 1))
            self.memory.n_playouts += int(found.visits.sum())
            return int(found.turns[found.best[0]])
        after = view.afterstates(self.encoding, whole=self.whole)
        values, scores = _Network(self.evaluate, view.game.observer(view.players, view.variant, self.encoding)).ask(after.observations)
        return int(after.turns[after.best(values if scores is None else scores)[0]])
