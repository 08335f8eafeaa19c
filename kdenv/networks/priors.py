"""Networks as sources of priors for the turns of a tree: by the values of the positions after them, or by the odds of their actions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.core.turns import first_action, rest_of
from kdenv.core.verbs import apply, legal, seat
from kdenv.networks.network import Network, look, values
from kdenv.networks.players import Scored, Valued, look_at_first, score_actions, weigh_listed_turns
from kdenv.search.kernels.priors import write_priors
from kdenv.search.softmax import greatest, log_softmax, softmax


class ByValues(NamedTuple):
    """Priors that are the softmax of the values of the positions after the turns, divided by the temperature."""

    player: Valued
    temperature: float


class ByOdds(NamedTuple):
    """Priors that are products of the odds of the actions: the softmax of the outputs for the legal actions, divided by the temperature."""

    network: Network
    temperature: float
    states: Any  # one state
    legal: NDArray[np.int64]  # room for the legal actions
    log_odds: NDArray[np.float64]  # by legal action


class ByScores(NamedTuple):
    """Priors that are products of the odds of the actions: the softmax of the scores after them, divided by the temperature."""

    player: Scored
    temperature: float
    states: Any
    legal: NDArray[np.int64]
    log_odds: NDArray[np.float64]


@question
def score_legal(source):
    """Write the legal actions of source.states[0] to source.legal, and their scores to source.log_odds; return how many there are.

    The greatest score is subtracted from all, in the precision of the network.
    """


@answers(write_priors, ByValues)
@kernel
def _by_values(source, states, k, turns, n, priors):
    room = source.player.room
    room.states[0] = states[k]
    for i in range(n):
        room.turns[i] = turns[i]
    look_at_first(source.player)
    weigh_listed_turns(source.player, 0, n)
    for i in range(n):
        priors[i] = room.worths[i] / source.temperature
    softmax(priors, n)


@answers(write_priors, ByOdds)
@kernel
def _by_odds(source, states, k, turns, n, priors):
    look(source.network, states, k, seat(states[k]))
    _multiply_odds(source, states, k, turns, n, priors)


@answers(write_priors, ByScores)
@kernel
def _by_scores(source, states, k, turns, n, priors):
    _multiply_odds(source, states, k, turns, n, priors)


@kernel
def _multiply_odds(source, states, k, turns, n, priors):
    """Compute the odds of the first actions once, and those of later actions in the positions after the actions before them."""
    source.states[0] = states[k]
    _write_log_odds(source)
    at = 0
    for i in range(n):
        while source.legal[at] != first_action(turns[i]):  # turns are listed in the order of their first actions
            at += 1
        priors[i] = source.log_odds[at]
    for i in range(n):
        rest = rest_of(turns[i])
        if rest != 0:
            source.states[0] = states[k]
            apply(source.states[0], first_action(turns[i]))
            while rest != 0:
                priors[i] += _log_odds_of(source, first_action(rest))
                apply(source.states[0], first_action(rest))
                rest = rest_of(rest)
    softmax(priors, n)


@kernel
def _log_odds_of(source, action):
    at = 0
    _write_log_odds(source)
    while source.legal[at] != action:
        at += 1
    return source.log_odds[at]


@kernel
def _write_log_odds(source):
    n = score_legal(source)
    for i in range(n):
        source.log_odds[i] /= source.temperature
    log_softmax(source.log_odds, n, source.log_odds)


@answers(score_legal, ByOdds)
@kernel
def _score_by_outputs(source):
    network, s = source.network, source.states[0]
    values(network, source.states, 0, seat(s))
    given = network.layers[network.weights_at.shape[0] - 1]
    n = legal(s, source.legal)
    most = given[source.legal[0]]
    for i in range(n):
        most = max(most, given[source.legal[i]])
    for i in range(n):
        source.log_odds[i] = float(given[source.legal[i]] - most)
    return n


@answers(score_legal, ByScores)
@kernel
def _score_by_positions(source):
    n, room = score_actions(source.player, source.states, 0), source.player.room
    most = greatest(room.worths, n)
    for i in range(n):
        source.legal[i] = first_action(room.turns[i])
        source.log_odds[i] = room.worths[i] - most
    return n
