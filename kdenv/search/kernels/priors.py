"""Priors: the probability of each turn of a node that it is the best one, estimated before the turns are tried.

Turns are first tried in the order of their priors. PUCT (Rosin 2011, Silver et al. 2017) explores in proportion to the priors, and tries
a new turn once its urgency exceeds those of the others. With progressive widening (Coulom 2007) a node with n visits has at most
ceil(n ** widening) turns, those with the greatest priors.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.search.kernels.decisions import find
from kdenv.search.kernels.uct import ANY, NONE, arrange, urgency_of_new, urgency_of_next


class Priors(NamedTuple):
    """The order of turns by their priors."""

    source: Any  # answers write_priors
    priors: np.ndarray  # scratch for the priors of a node
    explore: float  # c of PUCT; 0: the urgency of an untried turn is that of the plan
    widening: float  # the exponent of progressive widening; 0: no widening


@question
def write_priors(source, states, k, turns, n, priors):
    """Write the priors of these n packed turns, which are all legal turns in states[k]; their sum is 1."""


@answers(arrange, Priors)
@kernel
def _sort_by_priors(guide, tree, space, states, node, n):
    """Sort the turns of the node, the most probable first, and keep their priors as the bias. Turns with equal priors keep their order."""
    write_priors(guide.source, states, 1, space.turns, n, guide.priors)
    first = int(tree.nodes[node].first)
    for i in range(n):
        turn, prior, at = space.turns[i], guide.priors[i], first + i
        while at > first and tree.counts[at - 1].bias < prior:
            tree.turns[at] = tree.turns[at - 1]
            tree.counts[at].bias = tree.counts[at - 1].bias
            at -= 1
        tree.turns[at] = turn
        tree.counts[at].bias = prior


@answers(urgency_of_next, Priors)
@kernel
def _urgency_of_most_probable_next(guide, tree, node, plan):
    first, n_tried = int(tree.nodes[node].first), int(tree.nodes[node].n_tried)
    total = 0.0
    for at in range(first, first + n_tried):
        total += tree.counts[at].sums
    return first_urgency(guide, n_tried, int(tree.nodes[node].passes), total, tree.counts[first + n_tried].bias, plan.first_urgency)


@answers(urgency_of_new, Priors)
@kernel
def _urgency_of_most_probable_new(guide, space, tree, states, node, n, n_known, passes, plan):
    """The priors are those of the draw in states[1]. A turn keeps the prior that it had when it was added."""
    if _is_full(guide, n_known, passes):
        return -np.inf, ANY, 0.0
    write_priors(guide.source, states, 1, space.turns, n, guide.priors)
    # The most probable of the turns that the node does not have. Its list is only searched for turns that would be better.
    best = ANY
    for i in range(n):
        if best == ANY or guide.priors[i] > guide.priors[best]:
            _, at = find(tree, node, int(space.turns[i]))
            if at == NONE:
                best = i
    total = 0.0
    for i in range(n_known):
        total += tree.counts[space.known[i]].sums
    return first_urgency(guide, n_known, passes, total, guide.priors[best], plan.first_urgency), best, guide.priors[best]


@kernel
def first_urgency(guide, n_tried, passes, total, prior, otherwise):
    """Return the urgency of trying the turn with this prior. Its mean is taken to be that of the others if `otherwise` is infinite."""
    if _is_full(guide, n_tried, passes):
        return -np.inf
    if guide.explore == 0.0:
        return otherwise
    worth = total / max(1, passes) if otherwise == np.inf else otherwise
    return worth + guide.explore * prior * math.sqrt(passes)


@kernel
def _is_full(guide, n_tried, passes):
    """Return whether progressive widening allows the node no further turn yet."""
    return guide.widening > 0.0 and n_tried >= math.ceil((passes + 1.0) ** guide.widening)
