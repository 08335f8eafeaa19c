"""All moves as first (AMAF): a search learns from all turns of an iteration, including those of its playout. RAVE and MAST use this.

RAVE (Gelly and Silver 2007) changes the statistics of the tree. The value of an iteration counts for a turn of a node if the mover of
the node made this turn there or later in the same iteration. It helps only where a turn has a similar effect later, as in Dominion
and dominoes. MAST (Finnsson and Björnsson 2008) changes the playouts. It keeps, for every seat and action, the average value of the
iterations in which the seat chose the action. Playouts choose the action with the best average, or a random one with probability epsilon.
"""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import below, stirred, uniform
from kdenv.core.questions import choose, plays
from kdenv.core.turns import first_action, packed, rest_of, still_decides
from kdenv.core.verbs import apply, legal, seat
from kdenv.search.kernels.uct import NONE, PATH_MOVER, PATH_NODE, PATH_TURN, Decisions, Positions, learn

MOST_RECORDED = 2048  # turns of a playout; later turns are ignored


class Record(NamedTuple):
    """The turns of the current playout, in the order in which they were made."""

    seats: np.ndarray
    turns: np.ndarray
    n: np.ndarray  # [0]: how many there are


class Recorded(NamedTuple):
    """A player that decides as `player` does and writes its turns to the record."""

    player: NamedTuple
    most_decisions: int  # in a turn
    record: Record


class Averages(NamedTuple):
    """For each seat and action: the number of iterations in which the seat took the action, and the sum of their values to the seat."""

    visits: np.ndarray
    sums: np.ndarray


class MastPlayer(NamedTuple):
    """A player that takes an action without visits, else the one with the best average; with probability epsilon, a random one."""

    averages: Averages
    epsilon: float


class AmafLearner(NamedTuple):
    """The part of a search that learns from all turns of an iteration. A turn that a seat made twice counts once."""

    record: Record
    averages: Averages
    has_averages: int  # whether MAST needs the averages
    # The set of the turns of the current iteration: a list, and a hash table of indices into it.
    seats: np.ndarray
    turns: np.ndarray
    homes: np.ndarray  # by index in the list: the slot of the turn in the hash table
    slots: np.ndarray  # the hash table; its size is a power of two. It is never cleared: a slot is empty unless its entry has it as home


@plays(Recorded)
@kernel
def _choose_and_record(player, states, k, out, rng):
    mover, record = seat(states[k]), player.record
    if player.most_decisions == 1:
        turn = choose(player.player, states, k, out, rng)
    else:  # the tree has whole turns, so the player's decisions are joined to one; it plays them in states[k + 1]
        states[k + 1] = states[k]
        turn, n, part = 0, 0, 0
        # Not by finish_turn: playouts that are broken off ask this player by it, and no kernel may reach itself.
        while n < player.most_decisions and still_decides(states[k + 1], mover):
            if part == 0:
                part = choose(player.player, states, k + 1, out, rng)
            turn |= packed(first_action(part)) << (16 * n)
            apply(states[k + 1], first_action(part))
            part = rest_of(part)
            n += 1
    # A tree of decisions with most_decisions=1 has a node for each action, so the actions of a turn are recorded one by one.
    left = turn
    while left != 0 and record.n[0] < record.turns.shape[0]:
        record.seats[record.n[0]] = mover
        record.turns[record.n[0]] = packed(first_action(left)) if player.most_decisions == 1 else left
        record.n[0] += 1
        left = rest_of(left) if player.most_decisions == 1 else 0
    return turn


@plays(MastPlayer)
@kernel
def _choose_by_average(player, states, k, out, rng):
    n = legal(states[k], out)
    if uniform(rng) < player.epsilon:
        return packed(out[below(rng, n)])
    mover = seat(states[k])
    # An action without visits has an infinite average. Ties are broken by reservoir sampling.
    best, n_best, chosen = -np.inf, 0, 0
    for i in range(n):
        visits = int(player.averages.visits[mover, out[i]])
        average = player.averages.sums[mover, out[i]] / visits if visits > 0 else np.inf
        if average > best:
            best, n_best = average, 0
        if average == best:
            n_best += 1
            if below(rng, n_best) == 0:
                chosen = out[i]
    return packed(chosen)


@answers(learn, AmafLearner)
@kernel
def _learn_from_all_turns(learner, chance, tree, space, depth):
    """Go through the iteration backwards. So at each node the set holds exactly the turns that were made there or later."""
    # 1. All turns of the playout come after all nodes of the path.
    n = 0
    for i in range(learner.record.n[0]):
        n = _add(learner, n, learner.record.seats[i], learner.record.turns[i])
    learner.record.n[0] = 0
    # 2. The path, from the end: add the turn made in a node, then update the turns of this node that are in the set.
    for d in range(depth - 1, -1, -1):
        node, at, mover = space.path[d, PATH_NODE], space.path[d, PATH_TURN], space.path[d, PATH_MOVER]
        n = _add(learner, n, mover, tree.turns[at])
        credit(chance, learner, n, tree, node, mover, space.values[mover])
    # 3. The set has all turns of the iteration now.
    if learner.has_averages != 0:
        for i in range(n):
            _average(learner.averages, learner.seats[i], learner.turns[i], space.values[learner.seats[i]])


@kernel
def _average(averages, mover, turn, value):
    """Add the value to the averages of the actions of a turn."""
    while turn != 0:
        averages.visits[mover, first_action(turn)] += 1
        averages.sums[mover, first_action(turn)] += value
        turn = rest_of(turn)


@question
def credit(chance, learner, n, tree, node, mover, value):
    """Add the value to those turns of a node that its mover made there or later, which are among the first n turns of the learner."""


@answers(credit, Positions)
@kernel
def _credit_positions(chance, learner, n, tree, node, mover, value):
    first = int(tree.nodes[node].first)
    for at in range(first, first + int(tree.nodes[node].n_turns)):
        if _place(learner, n, _slot_of(learner, n, mover, tree.turns[at])) < n:
            _count(tree, at, value)


@answers(credit, Decisions)
@kernel
def _credit_decisions(chance, learner, n, tree, node, mover, value):
    at = int(tree.counts[node].child)
    while at != NONE:
        if _place(learner, n, _slot_of(learner, n, mover, tree.turns[at])) < n:
            _count(tree, at, value)
        at = int(tree.counts[at].next)


@kernel
def _count(tree, at, value):
    tree.counts[at].amaf_visits += 1
    tree.counts[at].amaf_sums += value


# The set of the turns of an iteration


@kernel
def _add(learner, n, mover, turn):
    """Add a turn to the set of n turns, unless it is in it or the set is full; return the new number of turns."""
    slot = _slot_of(learner, n, mover, turn)
    if n == learner.turns.shape[0] or _place(learner, n, slot) < n:
        return n
    learner.seats[n] = mover
    learner.turns[n] = turn
    learner.homes[n] = slot
    learner.slots[slot] = n
    return n + 1


@kernel
def _place(learner, n, slot):
    """Return the index of the turn in this slot; n if the slot is empty.

    Entries of earlier iterations are not cleared. They show because their index is too great, or that turn has another home now.
    """
    place = int(learner.slots[slot])
    return place if place < n and learner.homes[place] == slot else n


@kernel
def _slot_of(learner, n, mover, turn):
    """Return the slot that has this turn of this seat, or the empty slot for it."""
    last = learner.slots.shape[0] - 1
    slot = np.int64(stirred(stirred(np.uint64(0), np.uint64(turn)), np.uint64(mover)) & np.uint64(last))
    while True:
        place = _place(learner, n, slot)
        if place == n or (learner.turns[place] == turn and learner.seats[place] == mover):
            return slot
        slot = (slot + 1) & last
