"""Gumbel noise chooses the turns that a search tries, and completed values improve its policy (Danihelka et al. 2022).

For the root of a tree with scores (scored.py), and for the searches of expert iteration (networks/expert.py).
"""

import math
from typing import NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import uniform
from kdenv.search.softmax import softmax

# The weight of the mean of a turn beside its logarithmic prior, for means between 0 (the worst turn) and 1 (the best): Danihelka et al.
# call the numbers c_visit and c_scale.
_LEAST_WEIGHT, _WEIGHT_OF_MEAN = 50.0, 0.1


class Gumbel(NamedTuple):
    """The choice of the turns of the root. Arrays of searches have a row for each search, and in it a number for each legal turn."""

    considered: int  # the number of turns; 0: the selection rule chooses
    search: np.ndarray  # [0]: the index of the current search
    schedule: np.ndarray  # by the number of considered turns and of simulations made: the visits of the turn that is tried next
    noise: np.ndarray
    logits: np.ndarray
    values: np.ndarray  # of the position after the turn, by the network
    priors: np.ndarray  # scratch: those of the turns in the current search, and their visits and sums
    visits: np.ndarray
    sums: np.ndarray
    weighed: np.ndarray  # scratch: see _weigh_means


@kernel
def gumbel_noise(rng):
    """Return a draw of the Gumbel distribution. The index of the greatest of logits with such noise is a draw from their softmax."""
    return -math.log(max(-math.log(1.0 - uniform(rng)), 1e-300))


@kernel
def complete_values(priors, sums, visits, n, found, values):
    """Write the means of n turns to `values`, and the value of the position for turns without visits. `found` is its value by the network.

    That value is the average of `found`, which counts once, and of the means of the tried turns by their priors, which counts once a visit.
    """
    n_visits, share, tried = 0, 0.0, 0.0
    for i in range(n):
        if visits[i] > 0:
            n_visits += visits[i]
            share += priors[i]
            tried += priors[i] * sums[i] / visits[i]
    average = found if share == 0.0 else (found + n_visits * tried / share) / (1 + n_visits)
    for i in range(n):
        values[i] = sums[i] / visits[i] if visits[i] > 0 else average


@kernel
def considered_turn(chance, tree, n):
    """Return the index of the turn of the root that the next simulation tries. chance.places has the numbers of its n turns."""
    # Sequential halving needs no list of the turns that are left. The schedule names a number of visits, and the best turn that has this
    # number is tried. So the worse half stays behind with fewer visits, for which the schedule never asks again.
    gumbel, n_made = chance.gumbel, 0
    _read_root(gumbel, tree, chance.places, n)
    for i in range(n):
        n_made += gumbel.visits[i]
    return _best_considered(gumbel, n, gumbel.schedule[min(gumbel.considered, n), min(n_made, gumbel.schedule.shape[1] - 1)])


@kernel
def choose_by_gumbel(chance, tree, n, policy):
    """Return the index of the turn of the root to take: the best of those with the most visits.

    Write the improved policy, which is the softmax of logits and weighed means. chance.places has the numbers of the n turns.
    """
    gumbel, most = chance.gumbel, 0
    _read_root(gumbel, tree, chance.places, n)
    for i in range(n):
        most = max(most, gumbel.visits[i])
    best = _best_considered(gumbel, n, most)
    for i in range(n):
        policy[i] = gumbel.logits[gumbel.search[0], i] + gumbel.weighed[i]
    softmax(policy, n)
    return best


@kernel
def _read_root(gumbel, tree, places, n):
    for i in range(n):
        known = tree.counts[places[i]]
        gumbel.priors[i], gumbel.visits[i], gumbel.sums[i] = known.bias, known.visits, known.sums


@kernel
def _best_considered(gumbel, n, visits):
    """Return the index of the turn with the greatest sum of noise, score and weighed mean, of those with this number of visits."""
    search, best, greatest = gumbel.search[0], 0, -np.inf
    _weigh_means(gumbel, n)
    for i in range(n):
        if gumbel.visits[i] == visits:
            total = gumbel.noise[search, i] + gumbel.logits[search, i] + gumbel.weighed[i]
            if total > greatest:
                best, greatest = i, total
    return best


@kernel
def _weigh_means(gumbel, n):
    """Write what the completed means of the n turns of the root add to their logits to gumbel.weighed."""
    # 1. The means. The value of the position by the network is that of the positions after its turns, by their priors.
    found, most_visits = 0.0, 0
    for i in range(n):
        found += gumbel.priors[i] * gumbel.values[gumbel.search[0], i]
        most_visits = max(most_visits, gumbel.visits[i])
    complete_values(gumbel.priors, gumbel.sums, gumbel.visits, n, found, gumbel.weighed)
    # 2. In units of their range the means are between 0 and 1, whatever the unit of the network. They count more as visits grow.
    low, high = np.inf, -np.inf
    for i in range(n):
        low, high = min(low, gumbel.weighed[i]), max(high, gumbel.weighed[i])
    weight = (_LEAST_WEIGHT + most_visits) * _WEIGHT_OF_MEAN / max(high - low, 1e-8)
    for i in range(n):
        gumbel.weighed[i] = weight * (gumbel.weighed[i] - low)
