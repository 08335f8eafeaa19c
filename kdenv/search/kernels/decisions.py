"""Trees of decisions, a kind of tree that UCT grows (uct.py): a node stands for what has been decided, and for what the seat has seen.

The turns that are open differ from draw to draw of what is hidden. So a node does not list its turns; it gets them as they are tried.
"""

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.compiler.random import below
from kdenv.core.questions import deal
from kdenv.core.turns import MAX_DECISIONS, write_turns
from kdenv.core.verbs import CHANCE, DECIDE, apply_chance, phase, sample_chance, witnesses
from kdenv.core.verbs import seat as seat_to_move
from kdenv.search.kernels.uct import (
    MAX_DEPTH,
    NODES,
    NONE,
    ROOT,
    Decisions,
    count_pass,
    descend,
    most_urgent_of_known,
    note,
    run_chance,
    take,
    urgency_of_new,
)


@answers(descend, Decisions)
@kernel
def _descend_decisions(chance, tree, space, states, raw, seat, plan, rule, rng):
    deal(plan.dealer, states, 1, seat, rng)
    node, depth = ROOT, 0
    while node != NONE and depth < MAX_DEPTH and phase(states[1]) == DECIDE:
        n_nodes = tree.used[NODES]
        at = _most_urgent_of_open(chance, tree, space, states, node, plan, rule, rng)
        if at == NONE:
            break
        note(space, depth, node, at, seat_to_move(states[1]))
        depth += 1
        take(tree, space, states, at, plan)
        if at > n_nodes:
            break
        node = at
        if chance.information_sets != 0:
            node = _see_chance(tree, states, node, seat, rng)
        else:
            run_chance(states, rng)
    return depth


@answers(count_pass, Decisions)
@kernel
def _count_no_pass(chance, tree, node):
    return


@kernel
def _most_urgent_of_open(chance, tree, space, states, node, plan, rule, rng):
    """Of the turns open in states[1] now, one that the tree does not have yet, added to it, or the most urgent.

    N counts the visits of those turns that are open now. NONE if the tree has none of them and no room.
    """
    n = write_turns(states, 1, plan.most_decisions, space.actions, space.n_actions, space.at_action, space.turns)
    room = _has_room(tree)
    n_known, passes = 0, 0
    n_new, new, before_new = 0, NONE, NONE
    before, at = NONE, int(tree.counts[node].child)
    for i in range(n):  # both lists have the same order
        rank = rank_of(space.turns[i])
        while at != NONE and tree.counts[at].rank < rank:
            before, at = at, int(tree.counts[at].next)
        if at != NONE and tree.counts[at].rank == rank:
            space.known[n_known] = at
            n_known += 1
            passes += int(tree.counts[at].visits)
            tree.counts[at].times_open += 1
        elif room:
            n_new += 1
            if n_new == 1 or (plan.in_order == 0 and below(rng, n_new) == 0):
                new, before_new = int(space.turns[i]), before
    of_new, place, prior = -np.inf, NONE - 1, 0.0
    if n_new > 0:
        of_new, place, prior = urgency_of_new(plan.guide, space, tree, states, node, n, n_known, passes, plan)
    chosen, urgent = NONE, -np.inf
    if of_new != np.inf:
        chosen, urgent = most_urgent_of_known(tree, space, node, n_known, passes, chance.information_sets, plan, rule, rng)
    if of_new > urgent:
        if place != NONE - 1:
            new = int(space.turns[place])
            before_new, _ = find(tree, node, new)
        chosen = _add_turn(tree, node, before_new, new)
        tree.counts[chosen].gains = prior
    return chosen


@kernel
def _see_chance(tree, states, node, seat, rng):
    """Run chance in states[1] from a node on; the node that what the seat sees of it leads to, NONE when the tree has none yet.

    A node that is missing is added, if there is room.
    """
    while phase(states[1]) == CHANCE:
        is_seen = (witnesses(states[1]) >> seat) & 1
        outcome = sample_chance(states[1], rng)
        apply_chance(states[1], outcome)
        if is_seen != 0:
            before, at = find(tree, node, shown(outcome))
            if at == NONE:
                if _has_room(tree):
                    _add_turn(tree, node, before, shown(outcome))
                return NONE
            node = at
    return node


@kernel
def shown(outcome):
    """An outcome of chance as a number that no packed turn is: a turn begins with action + 1, this with 0."""
    return (outcome + 1) << 16


@kernel
def _has_room(tree):
    return tree.used[NODES] + 1 < tree.turns.shape[0]


@kernel
def _add_turn(tree, node, before, turn):
    """Add a turn to a node, after its turn `before`, or as its first."""
    tree.used[NODES] += 1
    at = tree.used[NODES]
    tree.turns[at] = turn
    tree.counts[at].rank = rank_of(turn)
    tree.counts[at].times_open = 1
    if before == NONE:
        tree.counts[at].next = tree.counts[node].child
        tree.counts[node].child = at
    else:
        tree.counts[at].next = tree.counts[before].next
        tree.counts[before].next = at
    return at


@kernel
def rank_of(turn):
    """A number by which turns, packed, have the order in which they are listed: by their first action, then by their second ..."""
    if turn <= 0xFFFF:
        return np.uint64(turn) << np.uint64(48)
    rank = np.uint64(0)
    for _ in range(MAX_DECISIONS):
        rank = (rank << np.uint64(16)) | np.uint64(turn & 0xFFFF)
        turn >>= 16
    return rank


@kernel
def find(tree, node, turn):
    """In a tree of decisions, the turn of the node before this one in the order, and this one; NONE for none."""
    rank = rank_of(turn)
    before, at = NONE, int(tree.counts[node].child)
    while at != NONE and tree.counts[at].rank < rank:
        before, at = at, int(tree.counts[at].next)
    return before, at if at != NONE and tree.counts[at].rank == rank else NONE
