"""Expert iteration (Anthony and others 2017) for networks that score turns: a small search with the network itself improves its policy.

A share of the decisions of self-play is searched, as Danihelka and others (2022) propose for few simulations:

1. The `considered` actions with the greatest sums of Gumbel noise and log odds are tried: a draw without replacement.
2. Sequential halving gives them the playouts. A playout ends where the seat decides again in its next turn, or one after that; there the
   network estimates the value. All seats take the best action by the network. The actions of a round have the same chance.
3. The improved policy is the softmax of log odds and weighed values, where actions without playouts have an average value. The network
   learns it, and the action with the greatest sum of noise, log odds and weighed value is taken.

The other decisions are drawn by the policy. From them only values are learned, which need more games than policies do (Wu 2020, whose
name for this is playout cap randomization).

The weight of values is fixed. Danihelka and others divide it by the range of the values, which is mostly noise after a few playouts.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.compiler.random import Rng, make_rng, next64, uniform
from kdenv.core.game import Game
from kdenv.core.verbs import CHANCE, OVER, apply, apply_chance, legal, phase, resample_hidden, sample_chance, seat, truncated
from kdenv.networks.network import value, value_alone
from kdenv.networks.players import worth_of_end
from kdenv.networks.policy_learning import derive_scores, value_of_hidden
from kdenv.networks.rollout import DECISIONS, choose_place
from kdenv.search.kernels.gumbel import complete_values, gumbel_noise
from kdenv.search.softmax import draw_by_log_odds, softmax

_NOT_SEARCHED = np.float32(-1.0)  # in Rollout.policies


class Expert(NamedTuple):
    """The search that improves the policy, and its buffers. Arrays by action have a number for each legal one of the decision."""

    searched: float  # the share of decisions that are searched
    playouts: int  # for a decision
    considered: int  # actions that get playouts
    ahead: int  # turns of the seat after which a playout ends
    weight: float  # of a value beside a logarithm of odds
    states: Any  # 0: the playout; 1: after an action
    actions: NDArray[np.int64]
    noise: NDArray[np.float64]
    keys: NDArray[np.float64]  # by which the considered actions are ranked
    order: NDArray[np.int64]  # the considered actions, the best first
    sums: NDArray[np.float64]  # of the values of playouts
    visits: NDArray[np.int64]
    values: NDArray[np.float64]  # the completed ones
    policy: NDArray[np.float64]
    out: NDArray[np.int64]  # the legal actions in a playout
    chance: Rng


class Imitation(NamedTuple):
    """The loss of a batch: the cross-entropy of the improved policy and the policy, and the weighed squared error of the value."""

    value_weight: float


def expert_for(game: Game, considered: int, ahead: int, weight: float, searched: float = 1.0) -> Expert:
    """Make a search with new buffers. It has no playouts yet."""
    by_action = game.max_legal
    return Expert(
        searched=searched,
        playouts=0,
        considered=considered,
        ahead=ahead,
        weight=weight,
        states=np.zeros(2, game.state_dtype),
        actions=np.zeros(by_action, np.int64),
        noise=np.zeros(by_action),
        keys=np.zeros(by_action),
        order=np.zeros(by_action, np.int64),
        sums=np.zeros(by_action),
        visits=np.zeros(by_action, np.int64),
        values=np.zeros(by_action),
        policy=np.zeros(by_action),
        out=game.buffer(),
        chance=make_rng(0),
    )


@answers(choose_place, Expert)
@kernel
def _search(expert, learner, rollout, mover, n, out, rng):
    """Search the decision that is about to be added to the rollout; keep the improved policy with it."""
    log_odds, order, d = learner.log_odds, expert.order, rollout.filled[DECISIONS]
    if uniform(rng) >= expert.searched:
        for i in range(n):
            rollout.policies[rollout.lists_at[d] + 1 + i] = _NOT_SEARCHED
        return draw_by_log_odds(log_odds, n, rng)
    # 1. Draw the considered actions.
    for i in range(n):
        expert.actions[i], expert.sums[i], expert.visits[i], order[i] = out[i], 0.0, 0, i
        expert.noise[i] = gumbel_noise(rng)
        expert.keys[i] = expert.noise[i] + log_odds[i]
    left = min(n, expert.considered)
    _sort_best(expert, n, left)
    # 2. Try them, and keep the better half, until one is left.
    made, rounds = 0, math.ceil(math.log2(left))
    while left > 1 and made < expert.playouts:
        for _ in range(max(1, expert.playouts // (rounds * left))):
            drawn = next64(rng) | np.uint64(1)
            for rank in range(left):
                expert.chance[0] = drawn
                expert.sums[order[rank]] += _playout(expert, learner, mover, expert.actions[order[rank]])
                expert.visits[order[rank]] += 1
            made += left
        improve_policy(log_odds, expert.sums, expert.visits, n, rollout.values[d], expert.weight, expert.values, expert.policy)
        for rank in range(left):
            i = order[rank]
            expert.keys[i] = expert.noise[i] + log_odds[i] + expert.weight * expert.values[i]
        _sort_best(expert, left, left)
        left = (left + 1) // 2
    # 3. The policy to learn. The first list of a decision is the position before it.
    improve_policy(log_odds, expert.sums, expert.visits, n, rollout.values[d], expert.weight, expert.values, expert.policy)
    for i in range(n):
        rollout.policies[rollout.lists_at[d] + 1 + i] = expert.policy[i]
    return order[0]


@kernel
def _sort_best(expert, n, n_best):
    """Sort the best of the first n actions of the order by their keys, the best first."""
    order, keys = expert.order, expert.keys
    for rank in range(n_best):
        best = rank
        for other in range(rank + 1, n):
            if keys[order[other]] > keys[order[best]]:
                best = other
        order[rank], order[best] = order[best], order[rank]


@kernel
def improve_policy(log_odds, sums, visits, n, found, weight, values, policy):
    """Write the completed values of n actions, and the policy improved by them. `found` is the value of the position by the network."""
    for i in range(n):
        policy[i] = np.exp(log_odds[i])
    complete_values(policy, sums, visits, n, found, values)
    for i in range(n):
        policy[i] = log_odds[i] + weight * values[i]
    softmax(policy, n)


@kernel
def _playout(expert, learner, mover, action):
    """Play on after the action; return the value for the seat where it is to move again, or of the end."""
    states = expert.states
    s, left, others_decided = states[0], expert.ahead, False
    states[0] = learner.states[1]
    resample_hidden(states[0], mover, expert.chance)
    apply(s, action)
    while phase(s) != OVER:
        if phase(s) == CHANCE:
            apply_chance(s, sample_chance(s, expert.chance))
            continue
        decides = seat(s)
        if decides != mover:
            others_decided = True
        elif others_decided:
            left -= 1
            others_decided = False
            if left == 0:
                value_alone(learner.network, states, 0, mover)
                return value_of_hidden(learner)
        n = legal(s, expert.out)
        apply(s, expert.out[_best_place(expert, learner, decides, n) if n > 1 else 0])
    if truncated(states, 0):  # as in estimate_advantages
        return 0.0
    return worth_of_end(learner.goal, states, 0, mover, learner.points)


@kernel
def _best_place(expert, learner, decides, n):
    """Return the place of the action that the network scores highest, of the n legal ones in states[0]."""
    network, states, best, most = learner.network, expert.states, 0, np.float32(-np.inf)
    for i in range(n):
        states[1] = states[0]
        apply(states[1], expert.out[i])
        score = value(network, states, 1, decides) if i > 0 else value_alone(network, states, 1, decides)
        if score > most:
            best, most = i, score
    return best


@answers(derive_scores, Imitation)
@kernel
def _derive_imitation(objective, learner, rollout, d, n, share):
    loss, first = 0.0, rollout.lists_at[d] + 1
    for i in range(n):
        if rollout.policies[first] == _NOT_SEARCHED:
            learner.scores[i] = 0.0
            continue
        wanted = float(rollout.policies[first + i])
        loss -= wanted * learner.log_odds[i]
        learner.scores[i] = share * (np.exp(learner.log_odds[i]) - wanted)
    return share * loss
