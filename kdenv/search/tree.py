"""UCT: a tree of the turns that promise most, grown by one node a playout, every node valued by its own mover's score.

Nodes are positions, and lie in arrays; the turns of a node lie side by side in other arrays, those tried before those that
are not. No states are kept: every iteration plays again from the root. What follows a turn by chance depends on the part:

Closed(sampled=0): chance is drawn once for every node and kept, as in Gedda et al. (2018) and Jansen and Tollisen (2014);
a node's number seeds its draw. Closed(sampled=1): chance is drawn anew every time, and each position it leads to has a node
of its own, found by its fingerprint (Heyden 2009). In both, what is hidden is what states[0] says. Open(): chance and what
the searching seat cannot see are drawn anew every time, and a node is what has been decided, not what it led to.
"""

import math
from typing import NamedTuple

import numpy as np

from kdenv.core.kernel import kernel
from kdenv.core.part import answers, part
from kdenv.core.protocol import CHANCE, DECIDE, apply_chance, phase, resample_hidden, sample_chance, scores
from kdenv.core.protocol import seat as seat_to_move
from kdenv.core.random import below, next64, stirred
from kdenv.search.fingerprint import fingerprint
from kdenv.search.playout import play_out, play_turn
from kdenv.search.score import worths
from kdenv.search.select import urgency
from kdenv.search.turns import MAX_DECISIONS, write_turns

ROOT = 1
NONE = 0  # no node, no turn: both are numbered from 1
MAX_DEPTH = 1024  # of the tree, in turns; playouts go on from there
SCRATCH = 2 + MAX_DECISIONS  # states that a search works in, the position included

ALL, OWNER, MINE = range(3)  # which nodes an iteration updates, see update()
NODES, TURNS = range(2)  # places in Tree.used


class Closed(NamedTuple):
    """Nodes are positions; chance is drawn once for each, or sampled."""

    sampled: int


class Open(NamedTuple):
    """Nodes are what has been decided; chance and hidden things differ from one iteration to the next."""


class Plan(NamedTuple):
    """How the tree is grown."""

    most_decisions: int  # of a turn
    in_order: int  # whether untried turns are tried as listed, not at random
    first_urgency: float  # of turns not tried yet; infinite: all are tried before any is repeated
    least: int  # visits of a turn before its urgency counts; from 1
    with_gains: int  # whether the selection rule asks for the points gained at once
    update: int
    teams: int
    hearsay: float  # RAVE: of so many visits the own mean and the hearsay count alike; 0: hearsay does not count


class Tree(NamedTuple):
    """The nodes and their turns, from number 1 on."""

    used: np.ndarray  # how many nodes and turns there are
    seed: np.ndarray  # of the draws of chance that are kept
    # By node.
    first: np.ndarray  # its first turn
    n_turns: np.ndarray  # 0 until they are listed
    n_tried: np.ndarray
    passes: np.ndarray  # the visits of its turns together
    # By turn.
    turn: np.ndarray
    child: np.ndarray  # a node it led to, the only one unless chance is sampled
    visits: np.ndarray
    sums: np.ndarray  # of worths to the mover
    squares: np.ndarray
    gains: np.ndarray  # the mover's points gained at once, if asked for
    heard: np.ndarray  # iterations in which the same mover made the same turn here or later, for RAVE,
    heard_sums: np.ndarray  # ... and what they were worth to it
    # Nodes (or turns, when open) by fingerprint: a hash table with a power of two as its size, NONE where it is empty.
    table: np.ndarray
    keys: np.ndarray
    slots: np.ndarray  # by node (or turn, when open): where it is in the table


class Desk(NamedTuple):
    """What an iteration works with."""

    path: np.ndarray  # by depth: the node, the turn, the mover
    turns: np.ndarray
    known: np.ndarray
    actions: np.ndarray
    n_actions: np.ndarray
    at_action: np.ndarray
    out: np.ndarray  # for the players of playouts
    values: np.ndarray  # by seat
    numbers: np.ndarray  # by seat
    drawn: np.ndarray  # a generator


@part
def descend(chance, tree, desk, states, raw, seat, plan, rule, rng):
    """Go down the tree in states[1] to a node new in this iteration (or to the end); return the length of the path."""


class Deaf(NamedTuple):
    """Plain UCT: of an iteration counts what it came to, not what was done in its playout."""


@part
def listen(ears, chance, tree, desk, depth):
    """Learn from the turns of an iteration, its playout's too, see kdenv.search.hearsay."""


@answers(listen, Deaf)
@kernel
def _hear_nothing(ears, chance, tree, desk, depth):
    return


@kernel
def grow(tree, desk, states, raw, seat, n_iterations, chance, plan, rule, player, score, ears, rng):
    """Grow the tree of seat in states[0] by n_iterations.

    The SCRATCH states from states[0] on are worked in; raw is the same memory as integers, a row per state.
    """
    for _ in range(n_iterations):
        # 1. Down the tree by urgency, and one node beyond it.
        states[1] = states[0]
        depth = descend(chance, tree, desk, states, raw, seat, plan, rule, rng)
        # 2. To the end of the game by the playout policy.
        play_out(player, states, 1, desk.out, rng)
        # 3. What came of it, back up the path.
        worths(score, states, 1, desk.values, desk.numbers)
        update(tree, desk, depth, seat, plan)
        listen(ears, chance, tree, desk, depth)


@kernel
def update(tree, desk, depth, seat, plan):
    """Count the worths in desk.values for every turn on the path, each for its mover.

    OWNER and MINE are two readings of UCT_mod (Jansen and Tollisen 2014): only turns of the team that moved last are
    updated; or nothing is, when that is not the searching team.
    """
    if depth == 0:
        return
    owner = desk.path[depth - 1, 2]
    if plan.update == MINE and (owner - seat) % plan.teams != 0:
        return
    for d in range(depth):
        node, at, mover = desk.path[d, 0], desk.path[d, 1], desk.path[d, 2]
        if plan.update == OWNER and (owner - mover) % plan.teams != 0:
            continue
        value = desk.values[mover]
        tree.passes[node] += 1
        tree.visits[at] += 1
        tree.sums[at] += value
        tree.squares[at] += value * value


# Nodes that are positions


@answers(descend, Closed)
@kernel
def _descend_closed(chance, tree, desk, states, raw, seat, plan, rule, rng):
    node, depth = ROOT, 0
    while depth < MAX_DEPTH and phase(states[1]) == DECIDE:
        if tree.n_turns[node] == 0 and not list_turns_of(tree, desk, states, node, plan):
            break
        at = most_urgent(tree, desk, node, plan, rule, rng)
        _note(desk, depth, node, at, seat_to_move(states[1]))
        depth += 1
        _take(tree, desk, states, at, plan)
        n_nodes = tree.used[NODES]
        node = _follow(chance, tree, desk, states, raw, at, rng)
        if node == NONE or node > n_nodes:
            break
    return depth


@kernel
def list_turns_of(tree, desk, states, node, plan):
    """List the turns of a node whose position is in states[1]. Returns whether there was room for them."""
    n = write_turns(states, 1, plan.most_decisions, desk.actions, desk.n_actions, desk.at_action, desk.turns)
    first = tree.used[TURNS] + 1
    if first + n > tree.turn.shape[0]:
        return False
    for i in range(n):
        tree.turn[first + i] = desk.turns[i]
    tree.first[node] = first
    tree.n_turns[node] = n
    tree.used[TURNS] += n
    return True


@kernel
def most_urgent(tree, desk, node, plan, rule, rng):
    """The turn of a node to try now: one not tried yet, or the most urgent."""
    first, n_tried = int(tree.first[node]), int(tree.n_tried[node])
    has_untried = n_tried < tree.n_turns[node]
    if has_untried and plan.first_urgency == np.inf:
        return _untried(tree, node, plan, rng)
    for i in range(n_tried):
        desk.known[i] = first + i
    chosen, urgent = _most_urgent_of_known(tree, desk, n_tried, int(tree.passes[node]), plan, rule, rng)
    if has_untried and plan.first_urgency > urgent:
        return _untried(tree, node, plan, rng)
    return chosen


@kernel
def _most_urgent_of_known(tree, desk, n_known, passes, plan, rule, rng):
    """The most urgent of the turns in desk.known, ties at random, and how urgent it is; NONE and -inf if there are none."""
    log_n = math.log(max(1, passes))
    best, n_best, chosen = -np.inf, 0, NONE
    for i in range(n_known):
        at = desk.known[i]
        visits = int(tree.visits[at])
        if visits < plan.least:
            return at, np.inf
        u = urgency(rule, visits, tree.sums[at], tree.squares[at], tree.gains[at], log_n, rng) + _hearsay(tree, at, visits, plan)
        if u > best:
            best, n_best, chosen = u, 1, at
        elif u == best:
            n_best += 1
            if below(rng, n_best) == 0:
                chosen = at
    return chosen, best


@kernel
def _hearsay(tree, at, visits, plan):
    """What RAVE (Gelly and Silver 2007) adds to the mean of a turn: hearsay, the less of it the more visits there are."""
    if plan.hearsay == 0.0 or tree.heard[at] == 0:
        return 0.0
    share = math.sqrt(plan.hearsay / (3.0 * visits + plan.hearsay))
    return share * (tree.heard_sums[at] / tree.heard[at] - tree.sums[at] / visits)


@kernel
def _untried(tree, node, plan, rng):
    """One more turn of the node that is tried now: the next one listed, or any."""
    first, n_tried = int(tree.first[node]), int(tree.n_tried[node])
    at = first + n_tried
    if plan.in_order == 0:
        other = at + below(rng, int(tree.n_turns[node]) - n_tried)
        _swap(tree.turn, at, other)
        _swap(tree.heard, at, other)
        _swap(tree.heard_sums, at, other)
    tree.n_tried[node] += 1
    return at


@kernel
def _swap(numbers, i, j):
    number = numbers[i]
    numbers[i] = numbers[j]
    numbers[j] = number


@kernel
def _note(desk, depth, node, at, mover):
    desk.path[depth, 0] = node
    desk.path[depth, 1] = at
    desk.path[depth, 2] = mover


@kernel
def _take(tree, desk, states, at, plan):
    """Carry out a turn in states[1]; the first time, see what it gains, if that is asked for."""
    if plan.with_gains == 0 or tree.child[at] != NONE:
        play_turn(states[1], tree.turn[at])
        return
    mover = seat_to_move(states[1])
    scores(states[1], desk.numbers)
    before = desk.numbers[mover]
    play_turn(states[1], tree.turn[at])
    scores(states[1], desk.numbers)
    tree.gains[at] = desk.numbers[mover] - before


@kernel
def _follow(chance, tree, desk, states, raw, at, rng):
    """The node that a turn just taken in states[1] leads to, after chance; NONE if there is no room for a new one."""
    is_chance = phase(states[1]) == CHANCE
    if is_chance and chance.sampled != 0:
        _run_chance(states, rng)
        key = fingerprint(raw, 1, at)
        slot = slot_of(tree, key)
        node = int(tree.table[slot])
        if node == NONE:
            node = _new_node(tree)
            _enter(tree, slot, key, node)
            tree.child[at] = node
        return node
    if tree.child[at] == NONE:
        tree.child[at] = _new_node(tree)
    node = int(tree.child[at])
    if is_chance:
        desk.drawn[0] = tree.seed[0] ^ np.uint64(node)
        desk.drawn[0] = next64(desk.drawn) | np.uint64(1)  # neighbouring seeds become unrelated ones
        _run_chance(states, desk.drawn)
    return node


@kernel
def _run_chance(states, rng):
    while phase(states[1]) == CHANCE:
        apply_chance(states[1], sample_chance(states[1], rng))


@kernel
def _new_node(tree):
    if tree.used[NODES] + 1 >= tree.first.shape[0]:
        return NONE
    tree.used[NODES] += 1
    return tree.used[NODES]


# Nodes that are what has been decided


@answers(descend, Open)
@kernel
def _descend_open(chance, tree, desk, states, raw, seat, plan, rule, rng):
    resample_hidden(states[1], seat, rng)
    node, depth = ROOT, 0
    while depth < MAX_DEPTH and phase(states[1]) == DECIDE:
        n_turns = tree.used[TURNS]
        at = _most_urgent_of_open(tree, desk, states, node, plan, rule, rng)
        if at == NONE:
            break
        _note(desk, depth, node, at, seat_to_move(states[1]))
        depth += 1
        _take(tree, desk, states, at, plan)
        _run_chance(states, rng)
        if at > n_turns:
            tree.child[at] = _new_node(tree)
            break
        node = int(tree.child[at])
    return depth


@kernel
def _most_urgent_of_open(tree, desk, states, node, plan, rule, rng):
    """Of the turns open in states[1] now, one that the tree does not have yet, added to it, or the most urgent.

    N counts the visits of those turns that are open now. NONE if the tree has none of them and no room.
    """
    n = write_turns(states, 1, plan.most_decisions, desk.actions, desk.n_actions, desk.at_action, desk.turns)
    room = tree.used[NODES] + 1 < tree.first.shape[0] and tree.used[TURNS] + 1 < tree.turn.shape[0]
    n_known, n_new, new, passes = 0, 0, NONE, 0
    for i in range(n):
        at = place_of(tree, node, desk.turns[i])
        if at != NONE:
            desk.known[n_known] = at
            n_known += 1
            passes += int(tree.visits[at])
        elif room:
            n_new += 1
            if n_new == 1 or (plan.in_order == 0 and below(rng, n_new) == 0):
                new = int(desk.turns[i])
    if n_new > 0 and plan.first_urgency == np.inf:
        return _add_turn(tree, desk, node, new)
    chosen, urgent = _most_urgent_of_known(tree, desk, n_known, passes, plan, rule, rng)
    if n_new > 0 and plan.first_urgency > urgent:
        return _add_turn(tree, desk, node, new)
    return chosen


@kernel
def _add_turn(tree, desk, node, turn):
    tree.used[TURNS] += 1
    at = tree.used[TURNS]
    tree.turn[at] = turn
    key = _key_of(node, turn)
    _enter(tree, slot_of(tree, key), key, at)
    return at


@kernel
def place_of(tree, node, turn):
    """Where the statistics of a turn of a node are in an open tree; NONE if it has not been tried."""
    return int(tree.table[slot_of(tree, _key_of(node, turn))])


@kernel
def places_of(tree, turns, n_turns, places):
    """The same for all turns of the root."""
    for i in range(n_turns):
        places[i] = place_of(tree, ROOT, turns[i])


@kernel
def _key_of(node, turn):
    return stirred(stirred(np.uint64(0), np.uint64(turn)), np.uint64(node))


# The hash table


@kernel
def _enter(tree, slot, key, number):
    """Put a node (or turn) into the table; NONE leaves it as it is."""
    tree.table[slot] = number
    tree.keys[slot] = key
    tree.slots[number] = slot


@kernel
def slot_of(tree, key):
    """The slot of the table where this key is, or would be put."""
    last = tree.table.shape[0] - 1
    slot = np.int64(key >> np.uint64(20)) & last
    while tree.table[slot] != NONE and tree.keys[slot] != key:
        slot = (slot + 1) & last
    return slot
