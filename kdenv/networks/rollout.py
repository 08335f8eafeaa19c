"""Rollouts: the decisions of games that a network plays against itself, from which it learns (policy_learning.py).

The network scores the positions after the legal actions. A chooser takes an action: `BySoftmax` draws one by the policy, and `Expert`
(expert.py) searches. When a game has ended, the advantages of its decisions are estimated.

The positions after the actions of one decision differ in few inputs. So a rollout keeps one of them whole, and of the others only the
differences. The first layer, and its gradients, then cost little more for many actions than for one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import below, uniform
from kdenv.core.questions import choose
from kdenv.core.turns import play_turn_while_deciding
from kdenv.core.verbs import apply, begin, legal, seat, truncated
from kdenv.networks.network import Array, go_on_from_first_layer, look, move_base, read, take_base, take_changed
from kdenv.networks.players import worth_of_end
from kdenv.networks.policy_learning import value_of_hidden
from kdenv.networks.self_play import GAMES, NO_GUIDE, POSITIONS, SQUARED_ERRORS, comes_to_decide
from kdenv.search.softmax import draw_by_log_odds, log_softmax

_FIRST_DECISION, _FIRST_LISTS, _FIRST_ENTRIES = 1024, 16, 256  # the room of a rollout at first; the last two are for each decision
DECISIONS, LISTS, ENTRIES = range(3)  # the indices of Rollout.filled
_NO_ROOM = -1


class Rollout(NamedTuple):
    """The decisions of finished games, one after the other. Decisions with a single legal action are left out.

    Decision d has the lists lists_at[d] to lists_at[d + 1] - 1. The first one is what its seat observes. The second one has the differences
    of the position after the first legal action from it. The others have the differences of the positions after the other actions from
    that one. List l has the entries entries_at[l] to entries_at[l + 1] - 1, each the index of an input and a number.
    """

    seats: NDArray[np.int64]
    chosen: NDArray[np.int64]  # the place of the action among the legal ones
    log_probabilities: NDArray[np.float64]  # of the chosen action
    values: NDArray[np.float64]  # that the network gave
    advantages: NDArray[np.float64]
    targets: NDArray[np.float64]  # of the values
    lists_at: NDArray[np.int64]
    entries_at: NDArray[np.int64]
    heads: NDArray[np.int64]  # by list: the head of the network for the position
    policies: Array  # by list of an action: its probability in the policy that a search found (expert.py)
    inputs: NDArray[np.int32]
    numbers: Array
    filled: NDArray[np.int64]  # how many decisions, lists and entries there are


class BySoftmax(NamedTuple):
    """Draws an action by the policy."""


@question
def choose_place(chooser, learner, rollout, mover, n, out, rng):
    """Return the place of the action that the seat takes, of the n legal ones in out.

    The position is learner.states[1], and learner.log_odds has the policy. The lists of the decision are in the rollout.
    """


@answers(choose_place, BySoftmax)
@kernel
def _draw_by_softmax(chooser, learner, rollout, mover, n, out, rng):
    return draw_by_log_odds(learner.log_odds, n, rng)


def new_rollout(decisions: int = _FIRST_DECISION) -> Rollout:
    """Make an empty rollout with room for about this many decisions."""
    return _rollout_with(decisions, decisions * _FIRST_LISTS, decisions * _FIRST_ENTRIES)


def larger(rollout: Rollout) -> Rollout:
    """Return a rollout of twice the room, with the same decisions."""
    bigger = _rollout_with(2 * len(rollout.seats), 2 * len(rollout.entries_at), 2 * len(rollout.inputs))
    for name, old in rollout._asdict().items():
        getattr(bigger, name)[: len(old)] = old
    return bigger


def _rollout_with(decisions: int, lists: int, entries: int) -> Rollout:
    return Rollout(
        seats=np.zeros(decisions, np.int64),
        chosen=np.zeros(decisions, np.int64),
        log_probabilities=np.zeros(decisions),
        values=np.zeros(decisions),
        advantages=np.zeros(decisions),
        targets=np.zeros(decisions),
        lists_at=np.zeros(decisions + 1, np.int64),
        entries_at=np.zeros(lists + 1, np.int64),
        heads=np.zeros(lists, np.int64),
        policies=np.zeros(lists, np.float32),
        inputs=np.zeros(entries, np.int32),
        numbers=np.zeros(entries, np.float32),
        filled=np.zeros(3, np.int64),
    )


@kernel
def play_games(learner, rollout, chooser, guides, guided, n_guides, lam, players, variant, n_decisions, n_games, out, rng):
    """Play whole games until the rollout has n_decisions, at most n_games; return how many were played.

    If the rollout has no room for a game, end before it. A guide plays each seat with the probability `guided`.
    """
    filled = rollout.filled
    for n in range(n_games):
        if filled[DECISIONS] >= n_decisions:
            return n
        drawn, n_before, lists_before, entries_before = rng[0], filled[DECISIONS], filled[LISTS], filled[ENTRIES]
        for each in range(players):
            guides.which[each] = below(rng, n_guides) if guided > 0.0 and uniform(rng) < guided else NO_GUIDE
        if not _play_game(learner, rollout, chooser, guides, players, variant, out, rng):
            rng[0] = drawn
            filled[DECISIONS], filled[LISTS], filled[ENTRIES] = n_before, lists_before, entries_before
            return n
        estimate_advantages(learner, rollout, n_before, players, lam)
        learner.sums[GAMES] += 1.0
    return n_games


@kernel
def _play_game(learner, rollout, chooser, guides, players, variant, out, rng):
    """Play a game and keep its decisions. Return whether there was room for them."""
    states = learner.states
    s = states[0]
    begin(s, players, variant)
    while comes_to_decide(states, rng, rng):
        # The seat decides without the information hidden from it.
        mover = seat(s)
        if guides.which[mover] != NO_GUIDE:
            play_turn_while_deciding(s, choose(guides, states, 1, out, rng), mover)
            continue
        n = legal(states[1], out)
        place = 0
        if n > 1:
            place = _decide(learner, rollout, chooser, mover, n, out, rng)
            if place == _NO_ROOM:
                return False
        apply(s, out[place])
    return True


@kernel
def _decide(learner, rollout, chooser, mover, n, out, rng):
    """Choose one of the n legal actions, and add the decision to the rollout; return the place of the action."""
    network, states, filled, scores = learner.network, learner.states, rollout.filled, learner.scores
    last, d = network.weights_at.shape[0] - 1, filled[DECISIONS]
    if d == rollout.seats.shape[0] or filled[LISTS] + n + 1 >= rollout.entries_at.shape[0]:
        return _NO_ROOM
    look(network, states, 1, mover)
    if not _keep(rollout, network, network.found, network.base, False):
        return _NO_ROOM
    take_base(network)
    go_on_from_first_layer(network)
    rollout.values[d] = value_of_hidden(learner)
    for i in range(n):
        states[2] = states[1]
        apply(states[2], out[i])
        read(network, states, 2, mover)
        if not _keep(rollout, network, network.changed, network.now, True):
            return _NO_ROOM
        if i == 0:  # the other positions differ less from this one
            move_base(network)
            take_base(network)
        else:
            take_changed(network)
        go_on_from_first_layer(network)
        scores[i] = float(network.layers[last, 0])
    log_softmax(scores, n, learner.log_odds)
    place = choose_place(chooser, learner, rollout, mover, n, out, rng)
    rollout.lists_at[d + 1] = filled[LISTS]
    rollout.seats[d], rollout.chosen[d], rollout.log_probabilities[d] = mover, place, learner.log_odds[place]
    filled[DECISIONS] = d + 1
    return place


@kernel
def _keep(rollout, network, listed, inputs, differences):
    """Add the listed inputs to the rollout as a list, or their differences from the base. Return whether there was room."""
    filled, base = rollout.filled, network.base
    at, n = filled[ENTRIES], listed[0]
    if at + n > rollout.inputs.shape[0]:
        return False
    for place in range(n):
        i = listed[place + 1]
        rollout.inputs[at + place] = i
        rollout.numbers[at + place] = inputs[i] - base[i] if differences else inputs[i]
    filled[ENTRIES] = at + n
    rollout.heads[filled[LISTS]] = network.head[0]
    filled[LISTS] += 1
    rollout.entries_at[filled[LISTS]] = at + n
    return True


@kernel
def estimate_advantages(learner, rollout, first, players, lam):
    """Estimate the advantages of the decisions from `first` on, which are those of the finished game in states[0].

    This is generalised advantage estimation for each seat by itself: the next value of a decision is that of the seat's next decision, or
    its result. There are no rewards before the end, and later ones are not discounted.
    """
    next_value, next_advantage = learner.next_value, learner.next_advantage
    for each in range(players):
        next_value[each] = 0.0  # a game that a limit ended is undecided
        if not truncated(learner.states, 0):
            next_value[each] = worth_of_end(learner.goal, learner.states, 0, each, learner.points)
        next_advantage[each] = 0.0
    for d in range(rollout.filled[DECISIONS] - 1, first - 1, -1):
        mine, found = rollout.seats[d], rollout.values[d]
        advantage = next_value[mine] - found + lam * next_advantage[mine]
        rollout.advantages[d], rollout.targets[d] = advantage, found + advantage
        next_value[mine], next_advantage[mine] = found, advantage
        learner.sums[POSITIONS] += 1.0
        learner.sums[SQUARED_ERRORS] += advantage * advantage
