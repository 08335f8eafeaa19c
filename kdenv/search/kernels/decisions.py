"""Trees of decisions for UCT (uct.py): a node is a sequence of decisions, and of outcomes of chance that the seat has seen.

The legal turns of a node depend on the draw of the hidden information. So a node does not list its turns; a turn is added when it is
first tried.
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
    ANY,
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
        if at > n_nodes:  # the turn is new: each iteration adds one node
            break
        node = node_after(chance, tree, states, at, seat, rng)
    return depth


@answers(count_pass, Decisions)
@kernel
def count_no_pass(chance, tree, node):
    return


@kernel
def _most_urgent_of_open(chance, tree, space, states, node, plan, rule, rng):
    """Return the most urgent of the turns legal in states[1], or a new one, which is added to the tree.

    N counts the visits of the turns that are legal now. Returns NONE if the tree has none of these turns and no room for one.
    """
    # 1. Split the legal turns into those that the node has (space.known) and new ones. Both lists are sorted by rank, so one walk along
    #    the node's list is enough. `before` is the turn of the node after which a new turn belongs.
    n = write_turns(states, 1, plan.most_decisions, space.actions, space.n_actions, space.at_action, space.turns)
    room = _has_room(tree)
    n_known, passes = 0, 0
    n_new, new, before_new = 0, NONE, NONE
    before, at = NONE, int(tree.counts[node].child)
    for i in range(n):
        before, at, is_known = find_from(tree, before, at, space.turns[i])
        if is_known:
            space.known[n_known] = at
            n_known += 1
            passes += int(tree.counts[at].visits)
            tree.counts[at].times_open += 1
        elif room:
            # Keep the first new turn or, by reservoir sampling, a random one.
            n_new += 1
            if n_new == 1 or (plan.in_order == 0 and below(rng, n_new) == 0):
                new, before_new = int(space.turns[i]), before
    # 2. Compare the urgency of a new turn with those of the known ones. An infinite one makes the comparison unnecessary.
    of_new, place, prior = -np.inf, ANY, 0.0
    if n_new > 0:
        of_new, place, prior = urgency_of_new(plan.guide, space, tree, states, node, n, n_known, passes, plan)
    chosen, urgent = NONE, -np.inf
    if of_new != np.inf:
        chosen, urgent = most_urgent_of_known(tree, space, node, n_known, passes, chance.information_sets, plan, rule, rng)
    # 3. Add the new turn. The priors may have chosen another one than the walk, so its place in the list has to be found.
    if of_new > urgent:
        if place != ANY:
            new = int(space.turns[place])
            before_new, _ = find(tree, node, new)
        chosen = add_turn(tree, node, before_new, new)
        tree.counts[chosen].bias = prior
    return chosen


@kernel
def node_after(chance, tree, states, at, seat, rng):
    """Carry out the chance after turn `at` in states[1]; return the node that follows, or NONE if the tree has none yet."""
    if chance.information_sets != 0:
        return _see_chance(tree, states, at, seat, rng)
    run_chance(states, rng)
    return at


@kernel
def _see_chance(tree, states, node, seat, rng):
    """Carry out chance in states[1] after a node; return the node for the outcomes that the seat sees, or NONE if the tree has none yet.

    A missing node is added, if there is room.
    """
    while phase(states[1]) == CHANCE:
        is_seen = (witnesses(states[1]) >> seat) & 1
        outcome = sample_chance(states[1], rng)
        apply_chance(states[1], outcome)
        if is_seen != 0:  # outcomes that the seat does not see lead to the same information set
            before, at = find(tree, node, shown(outcome))
            if at == NONE:
                if _has_room(tree):
                    add_turn(tree, node, before, shown(outcome))
                return NONE
            node = at
    return node


@kernel
def shown(outcome):
    """Return an outcome of chance as a number that no packed turn has: the lowest 16 bits of a turn are action + 1, and here they are 0."""
    return (outcome + 1) << 16


@kernel
def _has_room(tree):
    return tree.used[NODES] + 1 < tree.turns.shape[0]


@kernel
def add_turn(tree, node, before, turn):
    """Insert a turn into the list of a node, after its turn `before`; if that is NONE, at the front."""
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
    """Return a number that sorts packed turns as they are listed: by their first action, then by their second, and so on."""
    if turn <= 0xFFFF:
        return np.uint64(turn) << np.uint64(48)
    rank = np.uint64(0)
    for _ in range(MAX_DECISIONS):
        rank = (rank << np.uint64(16)) | np.uint64(turn & 0xFFFF)
        turn >>= 16
    return rank


@kernel
def find(tree, node, turn):
    """Return the turn of a node before the place of this turn in the order, and this turn if the node has it; NONE for none."""
    before, at, is_known = find_from(tree, NONE, int(tree.counts[node].child), turn)
    return before, at if is_known else NONE


@kernel
def find_from(tree, before, at, turn):
    """Walk along the list of a node, from its turn `at`, which follows `before`, to the place of this turn in the order.

    Return the turns before and at this place, and whether the latter is this turn. For turns in their order one walk is enough.
    """
    rank = rank_of(turn)
    while at != NONE and tree.counts[at].rank < rank:
        before, at = at, int(tree.counts[at].next)
    return before, at, at != NONE and tree.counts[at].rank == rank
