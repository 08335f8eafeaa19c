"""Networks as sources of priors for the turns of a tree: by the values of the positions after them, or by the odds of their actions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.core.turns import first_action, rest_of
from kdenv.core.verbs import apply, legal, seat
from kdenv.networks.network import Network, look, values
from kdenv.networks.players import Valued, look_at_first, weigh_listed_turns
from kdenv.search.kernels.priors import write_priors


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
    _softmax(priors, n)


@answers(write_priors, ByOdds)
@kernel
def _by_odds(source, states, k, turns, n, priors):
    """Compute the odds of each first action once, and those of later actions after the actions before them."""
    look(source.network, states, k, seat(states[k]))
    source.states[0] = states[k]
    for i in range(n):
        priors[i] = 0.0
    _add_odds(source, turns, 0, n, priors)
    for i in range(n):
        rest = rest_of(turns[i])
        if rest != 0:
            source.states[0] = states[k]
            apply(source.states[0], first_action(turns[i]))
            while rest != 0:
                priors[i] += _log_odds(source, first_action(rest))
                apply(source.states[0], first_action(rest))
                rest = rest_of(rest)
    _softmax(priors, n)


@kernel
def _add_odds(source, turns, first, end, priors):
    """Add the logarithm of the odds of the first action to each prior. Turns with the same first action follow each other."""
    i = first
    while i < end:
        action = first_action(turns[i])
        odds = _log_odds(source, action)
        while i < end and first_action(turns[i]) == action:
            priors[i] += odds
            i += 1


@kernel
def _log_odds(source, action):
    """Return the logarithm of the probability of this action in source.states[0]."""
    network, s = source.network, source.states[0]
    values(network, source.states, 0, seat(s))
    given = network.layers[network.weights_at.shape[0] - 1]
    n = legal(s, source.legal)
    most = given[source.legal[0]]
    for i in range(n):
        most = max(most, given[source.legal[i]])
    total = 0.0
    for i in range(n):
        total += np.exp(float(given[source.legal[i]] - most) / source.temperature)
    return float(given[action] - most) / source.temperature - np.log(total)


@kernel
def _softmax(numbers, n):
    """Replace the first n numbers by their softmax."""
    most, total = numbers[0], 0.0
    for i in range(n):
        most = max(most, numbers[i])
    for i in range(n):
        numbers[i] = np.exp(numbers[i] - most)
        total += numbers[i]
    for i in range(n):
        numbers[i] /= total
