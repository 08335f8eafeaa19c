"""Priors: a part says of the turns of a node, before any is tried, with what probability each is the one to take.

Turns are tried for the first time in the order of their priors. PUCT (Rosin 2011, Silver et al. 2017) explores by them, and tries a turn
for the first time when that is more urgent than to repeat another. With progressive widening (Coulom 2007) a node that has been visited n
times has ceil(n ** widening) turns at most, those with the greatest priors.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.search.kernels.decisions import find
from kdenv.search.kernels.uct import NONE, arrange, urgency_of_new, urgency_of_next


class Priors(NamedTuple):
    """The order of turns by their priors."""

    source: Any  # answers write_priors
    priors: np.ndarray  # room for those of a node
    explore: float  # c of PUCT; 0: the plan says how urgent turns are that have not been tried
    widening: float  # 0: no widening


@question
def write_priors(source, states, k, turns, n, priors):
    """Write the priors of these n turns, which are all that are open in states[k], packed; together they are 1."""


@answers(arrange, Priors)
@kernel
def _sort_by_priors(guide, tree, space, states, node, n):
    """Sort the turns of the node, the most probable first; equals keep their order. Their priors are kept as gains."""
    write_priors(guide.source, states, 1, space.turns, n, guide.priors)
    first = int(tree.nodes[node].first)
    for i in range(n):
        turn, prior, at = space.turns[i], guide.priors[i], first + i
        while at > first and tree.counts[at - 1].gains < prior:
            tree.turns[at] = tree.turns[at - 1]
            tree.counts[at].gains = tree.counts[at - 1].gains
            at -= 1
        tree.turns[at] = turn
        tree.counts[at].gains = prior


@answers(urgency_of_next, Priors)
@kernel
def _urgency_of_most_probable_next(guide, tree, node, plan):
    first, n_tried = int(tree.nodes[node].first), int(tree.nodes[node].n_tried)
    total = 0.0
    for at in range(first, first + n_tried):
        total += tree.counts[at].sums
    return _first_urgency(guide, n_tried, int(tree.nodes[node].passes), total, tree.counts[first + n_tried].gains, plan.first_urgency)


@answers(urgency_of_new, Priors)
@kernel
def _urgency_of_most_probable_new(guide, space, tree, states, node, n, n_known, passes, plan):
    """The priors are those of the draw in states[1]; a turn keeps those that it had when it was added."""
    if _is_full(guide, n_known, passes):
        return -np.inf, NONE - 1, 0.0
    write_priors(guide.source, states, 1, space.turns, n, guide.priors)
    best = NONE - 1
    for i in range(n):
        if best == NONE - 1 or guide.priors[i] > guide.priors[best]:
            _, at = find(tree, node, int(space.turns[i]))
            if at == NONE:
                best = i
    total = 0.0
    for i in range(n_known):
        total += tree.counts[space.known[i]].sums
    return _first_urgency(guide, n_known, passes, total, guide.priors[best], plan.first_urgency), best, guide.priors[best]


@kernel
def _first_urgency(guide, n_tried, passes, total, prior, otherwise):
    """How urgent it is to try the turn with this prior. Without a first play urgency it is taken to be worth what the others are."""
    if _is_full(guide, n_tried, passes):
        return -np.inf
    if guide.explore == 0.0:
        return otherwise
    worth = total / max(1, passes) if otherwise == np.inf else otherwise
    return worth + guide.explore * prior * math.sqrt(passes)


@kernel
def _is_full(guide, n_tried, passes):
    """Whether a node with this many turns may not have one more yet."""
    return guide.widening > 0.0 and n_tried >= math.ceil((passes + 1.0) ** guide.widening)
