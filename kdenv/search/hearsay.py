"""What whole iterations tell of turns: RAVE for the tree, MAST for the playouts.

RAVE (Gelly and Silver 2007): a turn of a node hears of every iteration through the node in which its mover made the same turn
there or at any time later, as if it had been made there ("all moves as first"). Only helpful where a turn means much the same
later, as in Dominion and dominoes. MAST (Finnsson and Björnsson 2008): how the iterations went on average in which a seat
took an action anywhere; playouts take the best such action, or any with probability epsilon.
"""

from typing import NamedTuple

import numpy as np

from kdenv.core.kernel import kernel
from kdenv.core.part import answers, part
from kdenv.core.protocol import DECIDE, apply, legal, phase, seat
from kdenv.core.questions import choose, first_action, packed, plays, rest_of
from kdenv.core.random import below, stirred, uniform
from kdenv.search.tree import NONE, Closed, Open, listen, place_of

MOST_NOTED = 2048  # turns of a playout; what goes on after so many is not heard


class Notes(NamedTuple):
    """The turns of the playout at hand, as they were made."""

    seats: np.ndarray
    turns: np.ndarray
    n: np.ndarray


class Noted(NamedTuple):
    """Another player, whose turns are noted."""

    player: NamedTuple
    most_decisions: int  # of a turn
    notes: Notes


class Averages(NamedTuple):
    """By seat and action: in how many iterations the seat took it, and what they were worth to the seat."""

    visits: np.ndarray
    sums: np.ndarray


class Mast(NamedTuple):
    """The action of the best average, one without an average before all others; any with probability epsilon."""

    averages: Averages
    epsilon: float


class Ears(NamedTuple):
    """What is heard of an iteration: every turn that a seat made in it, once."""

    notes: Notes
    averages: Averages
    has_averages: int  # whether they are asked for
    seats: np.ndarray
    turns: np.ndarray
    homes: np.ndarray  # the slot of each
    slots: np.ndarray  # a hash table with a power of two as its size; never cleared: what no entry has for its home is empty


@plays(Noted)
@kernel
def _choose_and_note(player, states, k, out, rng):
    mover, notes = seat(states[k]), player.notes
    if player.most_decisions == 1:
        turn = choose(player.player, states, k, out, rng)
    else:
        turn = _whole_turn(player.player, states, k, mover, player.most_decisions, out, rng)
    left = turn
    while left != 0 and notes.n[0] < notes.turns.shape[0]:
        notes.seats[notes.n[0]] = mover
        notes.turns[notes.n[0]] = packed(first_action(left)) if player.most_decisions == 1 else left
        notes.n[0] += 1
        left = rest_of(left) if player.most_decisions == 1 else 0
    return turn


@kernel
def _whole_turn(player, states, k, mover, most_decisions, out, rng):
    """A turn as write_turns lists it, from a player that may decide it piece by piece; it is played in states[k + 1]."""
    states[k + 1] = states[k]
    s = states[k + 1]
    turn, n, piece = 0, 0, 0
    while n < most_decisions and phase(s) == DECIDE and seat(s) == mover:
        if piece == 0:
            piece = choose(player, states, k + 1, out, rng)
        turn |= packed(first_action(piece)) << (16 * n)
        apply(s, first_action(piece))
        piece = rest_of(piece)
        n += 1
    return turn


@plays(Mast)
@kernel
def _choose_by_average(player, states, k, out, rng):
    n = legal(states[k], out)
    if uniform(rng) < player.epsilon:
        return packed(out[below(rng, n)])
    mover = seat(states[k])
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


@answers(listen, Ears)
@kernel
def _listen(ears, chance, tree, desk, depth):
    """Backwards, so that a node hears of what came after it."""
    n = 0
    for i in range(ears.notes.n[0]):
        n = _hear(ears, n, ears.notes.seats[i], ears.notes.turns[i])
    ears.notes.n[0] = 0
    for d in range(depth - 1, -1, -1):
        node, at, mover = desk.path[d, 0], desk.path[d, 1], desk.path[d, 2]
        n = _hear(ears, n, mover, tree.turn[at])
        tell(chance, ears, n, tree, node, mover, desk.values[mover])
    if ears.has_averages != 0:
        for i in range(n):
            _average(ears.averages, ears.seats[i], ears.turns[i], desk.values[ears.seats[i]])


@kernel
def _average(averages, mover, turn, value):
    while turn != 0:
        averages.visits[mover, first_action(turn)] += 1
        averages.sums[mover, first_action(turn)] += value
        turn = rest_of(turn)


@part
def tell(chance, ears, n, tree, node, mover, value):
    """Tell the turns of a node that its mover made in this iteration, there or later, what came of it."""


@answers(tell, Closed)
@kernel
def _tell_closed(chance, ears, n, tree, node, mover, value):
    first = int(tree.first[node])
    for at in range(first, first + int(tree.n_turns[node])):
        if _place(ears, n, _slot_of(ears, n, mover, tree.turn[at])) < n:
            _count(tree, at, value)


@answers(tell, Open)
@kernel
def _tell_open(chance, ears, n, tree, node, mover, value):
    for i in range(n):
        at = place_of(tree, node, ears.turns[i]) if ears.seats[i] == mover else NONE
        if at != NONE:
            _count(tree, at, value)


@kernel
def _count(tree, at, value):
    tree.heard[at] += 1
    tree.heard_sums[at] += value


# What is heard, each turn once


@kernel
def _hear(ears, n, mover, turn):
    """Remember a turn if it is new; returns how many there are then."""
    slot = _slot_of(ears, n, mover, turn)
    if n == ears.turns.shape[0] or _place(ears, n, slot) < n:
        return n
    ears.seats[n] = mover
    ears.turns[n] = turn
    ears.homes[n] = slot
    ears.slots[slot] = n
    return n + 1


@kernel
def _place(ears, n, slot):
    """Which of the n turns is in this slot; n for none."""
    place = int(ears.slots[slot])
    return place if place < n and ears.homes[place] == slot else n


@kernel
def _slot_of(ears, n, mover, turn):
    """The slot where this turn of this seat is, or would be put."""
    last = ears.slots.shape[0] - 1
    slot = np.int64(stirred(stirred(np.uint64(0), np.uint64(turn)), np.uint64(mover)) & np.uint64(last))
    while True:
        place = _place(ears, n, slot)
        if place == n or (ears.turns[place] == turn and ears.seats[place] == mover):
            return slot
        slot = (slot + 1) & last
