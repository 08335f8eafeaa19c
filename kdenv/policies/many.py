"""`search_many` searches many games at once with a network of your own.

The network is a function of a batch of observations: numpy in, numpy out. It may be made with torch, JAX or ONNX. Each row is what a
seat observes right after a turn, as in `afterstates` of views and environments. The function gets nothing else: no table, and nothing
that the searching seat cannot know, because hidden things are drawn before a row is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.notice import compiling
from kdenv.core.errors import BadOption, NotSupported, WrongOrder, shown
from kdenv.core.fields import seeds_of
from kdenv.core.view import SeenPositions, View
from kdenv.policies.asked_network import AskedNetwork, Evaluate
from kdenv.policies.base import Policy, rng_of
from kdenv.policies.base import policy as policy_of
from kdenv.policies.flat import HALVING, ROTATION, Mce
from kdenv.policies.many_searches import ManyFlat, ManyTrees, Options, SearchResults
from kdenv.policies.networks import GivenNetwork, PriorNetwork
from kdenv.policies.uct import Uct

_TREES = ("open", "information_sets")  # the values of chance= with which turns have scores


class HasPositions(Protocol):
    """An environment of many games: SelfPlay, SeatVectorEnv or SeatVecEnv."""

    def seen(self) -> SeenPositions:
        """The positions of all games, each as the seat to move sees it."""


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
        policy: A search in which the word `network` is your network, as text or object. This is flat Monte Carlo with rotation or halving:
            `mce(leaf=network, score=goal, turns=4, sampling=halving, playouts=64)`, also with `prior=network`. Or it is a tree:
            `uct(leaf=network, priors=network, score=goal, select=puct, chance=open, playouts=64)`. With chance=open or
            chance=information_sets, each simulation draws anew what is hidden. Priors need one of these two.
        games: Views of seats that are to move, all of one game, number of players and options. Or a SelfPlay, SeatVectorEnv or SeatVecEnv.
        evaluate: The network: a function of an array of float32 (rows x size of the encoding), which the next call writes to again. It
            returns one value for each row, or a tuple of values and scores.
        encoding: The name of the encoding of the rows; None is that of the batch, or with views the default encoding of the game.
        whole: Whether the turns of the search are whole turns. If False they are single actions, for a network that learned from
            `afterstates(whole=False)`, as kdenv.rl.TurnPPO does.
        gumbel: With priors, the number of turns of the root that are drawn without replacement by Gumbel noise. Simulations are divided
            among them by sequential halving (Danihelka et al. 2022). With 0 the selection rule decides at the root, too.
        seed: The seed of the first game, of which each further game takes the next number; or a list of seeds. Game i is searched as by
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
    seen = games.seen() if hasattr(games, "seen") else seen_in(games)
    n = len(seen.states)
    seeds = seeds_of(seed, n)
    if seeds is None or None in seeds:
        raise BadOption("seed=None is not possible in search_many; give a whole number from 0 up, or a list of such numbers")
    rngs = np.concatenate([rng_of(int(each)) for each in seeds if each is not None]).reshape(n, 1)
    return search_positions(policy_of(policy), seen, evaluate, Options(encoding or seen.encoding, bool(whole), gumbel), rngs)


def seen_in(views: Any) -> SeenPositions:
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


def search_positions(policy: Policy, seen: SeenPositions, evaluate: Evaluate, options: Options, rngs: NDArray[np.uint64]) -> SearchResults:
    """Search with these generators, which are changed."""
    checked = check_search(policy, options.gumbel)
    checked.needs(seen.game, seen.players, seen.variant)
    network = AskedNetwork(evaluate, seen.game.observer(seen.players, seen.variant, options.encoding))
    parts = seen, network, options, rngs
    search = ManyFlat(checked, *parts) if isinstance(checked, Mce) else ManyTrees(checked, *parts)
    with compiling(f"{policy} for {seen.game.name}"):
        search.start()
    for _ in range(search.n_playouts):
        if not search.step():
            break
    return search.results()


def check_search(policy: Policy, gumbel: int) -> Mce | Uct:
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
