"""UCT (Kocsis and Szepesvári 2006): a tree that grows by one node an iteration, where the turns look best.

Every iteration plays from the root again; no states are kept. Nodes and turns are numbers, and what is known of them lies in arrays.
A turn is valued by the score of the seat that makes it. What a node stands for is the part `chance` of the search:

- Positions(sampled=0): a position. Chance is drawn once for every node and kept (Gedda et al. 2018, Jansen and Tollisen 2014).
- Positions(sampled=1): a position. Chance is drawn anew every time, and a position it leads to is found by its fingerprint
  (Heyden 2009). In both, hidden things are what states[0] says.
- Decisions(information_sets=0): the decisions made so far. Chance and what the seat cannot see are drawn anew every time.
- Decisions(information_sets=1): all that the seat has seen, which is those decisions and the outcomes of chance shown to it:
  single-observer information set search (Cowling, Powley and Whitehouse 2012). A turn is open in some of the draws only;
  exploration counts the times it was open, not the visits of all the turns of its node.

Trees of decisions are in kdenv.search.kernels.decisions, all moves as first in amaf, and priors in priors.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import below, next64
from kdenv.compiler.state import state_dtype
from kdenv.core.turns import MAX_DECISIONS, play_turn, write_turns
from kdenv.core.verbs import CHANCE, DECIDE, apply_chance, phase, sample_chance, scores
from kdenv.core.verbs import seat as seat_to_move
from kdenv.search.kernels.fingerprint import fingerprint
from kdenv.search.outcome import ALL_SEATS, play_on
from kdenv.search.select import urgency

ROOT = 1
NONE = 0  # the number of no node and no turn: both are numbered from 1
MAX_DEPTH = 1024  # turns; an iteration goes on by its playout from there
N_STATES = 2 + MAX_DECISIONS  # that a search works in, the position included

ALL, OWNER, SEARCHER, MINE, OWN = range(5)  # which turns an iteration updates, see update()
SIBLINGS, PARENT = range(2)  # what N of the selection rule counts, see update()
RANDOM, LAST = range(2)  # which of equally urgent turns is tried
MEAN, MAX = range(2)  # what a turn is worth, see value_by_best_reply()
NODES, TURNS = range(2)  # the places in Tree.used


class Positions(NamedTuple):
    """A node is a position; chance is drawn once for each (sampled=0), or anew every time (1)."""

    sampled: int


class Decisions(NamedTuple):
    """A node is what has been decided and, with information_sets=1, what chance has shown the searching seat."""

    information_sets: int


class Plan(NamedTuple):
    """How the tree is grown."""

    most_decisions: int  # of a turn
    in_order: int  # whether untried turns are tried as listed; if not, at random
    first_urgency: float  # of turns not tried yet; if infinite, all are tried before any is repeated
    least: int  # visits of a turn of the root before its urgency counts; at least 1
    least_below: int  # the same for all other turns
    with_gains: int  # whether the selection rule asks for the points gained at once
    update: int  # ALL, OWNER, SEARCHER, MINE, OWN
    total: int  # SIBLINGS, PARENT; PARENT is only for trees of positions
    equals: int  # RANDOM, LAST
    backup: int  # MEAN, MAX; MAX is only for trees of positions
    teams: int
    rave: float  # RAVE: after this many visits the own mean and the all-moves-as-first mean count alike; 0: no RAVE
    guide: Any  # in which order turns are tried for the first time: NoPriors, or see kdenv.search.kernels.priors
    dealer: Any  # answers deal, in trees of decisions


NODE = state_dtype(  # of a tree of positions
    ("first", np.int32),  # its first turn; the others follow it, those tried before those that are not
    ("n_turns", np.int32),  # 0 until the turns are listed
    ("n_tried", np.int32),
    ("passes", np.int32),  # N of the selection rule: the visits of its turns together, or (PARENT) its own
    ("key", np.uint64),  # its fingerprint, where chance is sampled
)

# What is known of a turn. What is read most lies in front, where a processor fetches it at once. Numbers of turns that kernels go along
# lists by are unsigned, because numba checks signed indices for being negative.
COUNTS = state_dtype(
    ("sums", np.float64),  # of worths to the mover
    ("squares", np.float64),
    ("visits", np.int32),
    ("child", np.uint32),  # in trees of positions: a node it led to, the only one unless chance is sampled; of decisions: see Tree
    ("next", np.uint32),  # in trees of decisions: the next turn of the same node, in the order of `rank`; NONE after the last
    ("times_open", np.int32),  # in trees of decisions: iterations in which it could have been made
    ("rank", np.uint64),  # in trees of decisions: see rank_of
    ("gains", np.float64),  # the mover's points gained at once, if asked for; the prior, if there are priors
    ("amaf_sums", np.float64),  # for RAVE: what the iterations were worth in which the same mover made the same turn here or later
    ("amaf_visits", np.int64),  # how many these were
)


class Tree(NamedTuple):
    """The nodes and their turns, from number 1 on.

    A tree of positions lists the turns of a node when it first comes back to it. A tree of decisions adds a turn when it is first
    tried; an outcome of chance that the seat has seen is kept there like a turn (see shown). There the node that a turn leads to
    has the number of the turn, and `child` is the first of that node's own turns; number 1, the root, is no turn.
    """

    used: np.ndarray  # how many nodes and turns there are
    seed: np.ndarray  # of the draws of chance that are kept
    nodes: np.ndarray
    turns: np.ndarray  # packed
    counts: np.ndarray  # by turn
    table: np.ndarray  # a hash table of nodes by key, its size a power of two; NONE where it is empty
    slots: np.ndarray  # by node: where it is in the table


class Workspace(NamedTuple):
    """The memory that an iteration works in."""

    path: np.ndarray  # by depth: the node, the turn, the mover, and (for MAX) whether chance comes after the turn
    turns: np.ndarray
    known: np.ndarray
    actions: np.ndarray
    n_actions: np.ndarray
    at_action: np.ndarray
    values: np.ndarray  # what the last playout came to, by seat; the same memory as that of the playouts
    numbers: np.ndarray  # by seat
    drawn: np.ndarray  # a generator


@question
def descend(chance, tree, space, states, raw, seat, plan, rule, rng):
    """Go down the tree in states[1] to a node that is new (or to the end of the game); return the length of the path."""


@question
def count_pass(chance, tree, node):
    """Count that one more visit of a turn of this node has been counted, if the kind of tree asks for that."""


class NoPriors(NamedTuple):
    """Turns not tried yet are tried as listed or at random, as the plan says."""


@question
def arrange(guide, tree, space, states, node, n):
    """Put the n turns just listed for a node, which are those in space.turns and open in states[1], in the order of their priors."""


@question
def urgency_of_next(guide, tree, node, plan):
    """How urgent it is to try one more of the turns that a node has not tried yet; -inf if it may not be."""


@question
def urgency_of_new(guide, space, tree, states, node, n, n_known, passes, plan):
    """How urgent it is to add one more of the n turns in space.turns to a node of decisions; its place there; its prior.

    n_known of them are in space.known, with these visits together. -inf if none may be added. A place of NONE - 1 leaves the choice
    to the caller.
    """


@answers(arrange, NoPriors)
@kernel
def _leave_as_listed(guide, tree, space, states, node, n):
    return


@answers(urgency_of_next, NoPriors)
@kernel
def _urgency_of_any_next(guide, tree, node, plan):
    return plan.first_urgency


@answers(urgency_of_new, NoPriors)
@kernel
def _urgency_of_any_new(guide, space, tree, states, node, n, n_known, passes, plan):
    return plan.first_urgency, NONE - 1, 0.0


class NoLearner(NamedTuple):
    """Plain UCT: an iteration teaches the turns on its path what it came to, and nothing else."""


@question
def learn(learner, chance, tree, space, depth):
    """Learn from all turns of an iteration, those of its playout too; see kdenv.search.kernels.amaf."""


@answers(learn, NoLearner)
@kernel
def _learn_nothing(learner, chance, tree, space, depth):
    return


@kernel
def grow(tree, space, states, raw, seat, n_iterations, chance, plan, rule, playouts, learner, rng):
    """Make n_iterations for the seat that decides in states[0].

    The first N_STATES states are worked in; raw is the same memory as integers, a row per state.
    """
    for _ in range(n_iterations):
        # 1. Selection and expansion: down the tree by urgency, and one node beyond it.
        states[1] = states[0]
        depth = descend(chance, tree, space, states, raw, seat, plan, rule, rng)
        # 2. Simulation: to the end of the game by the playout policy, or until it is broken off.
        play_on(playouts, states, 1, space.path[depth - 1, 2] if depth > 0 else seat, ALL_SEATS, rng)
        # 3. Backpropagation: what came of it, to every turn on the path.
        update(chance, tree, space, depth, seat, plan)
        learn(learner, chance, tree, space, depth)


@kernel
def update(chance, tree, space, depth, seat, plan):
    """Count the worths in space.values for every turn on the path, each for its mover.

    All but ALL are readings of UCT_mod (Jansen and Tollisen 2014): only turns of the team that moved last are updated (OWNER); or only
    those of the searching team (SEARCHER); or nothing is, when the team that moved last is not the searching one (MINE); or the first and
    the last together (OWN). With PARENT a visit counts for the node that the turn leads to, and every iteration for the root; else it
    counts for the node in which the turn is taken.
    """
    if depth == 0:
        return
    owner = space.path[depth - 1, 2]
    if plan.total == PARENT:
        count_pass(chance, tree, ROOT)
    if plan.update >= MINE and (owner - seat) % plan.teams != 0:
        return
    for d in range(depth):
        node, at, mover = space.path[d, 0], space.path[d, 1], space.path[d, 2]
        if (plan.update == OWNER or plan.update == OWN) and (owner - mover) % plan.teams != 0:
            continue
        if plan.update == SEARCHER and (seat - mover) % plan.teams != 0:
            continue
        value = space.values[mover]
        if plan.total == PARENT:
            node = space.path[d + 1, 0] if d + 1 < depth else np.int64(tree.counts[at].child)
        count_pass(chance, tree, node)
        tree.counts[at].visits += 1
        tree.counts[at].sums += value
        tree.counts[at].squares += value * value
    if plan.backup == MAX:
        value_by_best_reply(tree, space, depth)


@kernel
def value_by_best_reply(tree, space, depth):
    """Give turns on the path, the last first, the mean of the best turn after them, where it is sure that this can be taken.

    That is so if the same seat goes on and chance does not come before (Jansen and Tollisen 2014, 3.4.4).
    """
    for d in range(depth - 2, -1, -1):
        if space.path[d, 2] != space.path[d + 1, 2] or space.path[d, 3] != 0:
            continue
        at, after = space.path[d, 1], space.path[d + 1, 0]
        first, best = int(tree.nodes[after].first), -np.inf
        for other in range(first, first + int(tree.nodes[after].n_tried)):
            known = tree.counts[other]
            if known.visits > 0:
                best = max(best, known.sums / known.visits)
        if best != -np.inf:
            tree.counts[at].sums = best * tree.counts[at].visits
            tree.counts[at].squares = best * tree.counts[at].sums


# Trees of positions


@answers(descend, Positions)
@kernel
def _descend_positions(chance, tree, space, states, raw, seat, plan, rule, rng):
    node, depth = ROOT, 0
    while depth < MAX_DEPTH and phase(states[1]) == DECIDE:
        if tree.nodes[node].n_turns == 0 and not list_turns_of(tree, space, states, node, plan):
            break
        at = most_urgent(tree, space, node, plan, rule, rng)
        note(space, depth, node, at, seat_to_move(states[1]))
        depth += 1
        take(tree, space, states, at, plan)
        if plan.backup == MAX:
            space.path[depth - 1, 3] = int(phase(states[1]) == CHANCE)
        n_nodes = tree.used[NODES]
        node = _follow(chance, tree, space, states, raw, at, rng)
        if node == NONE or node > n_nodes:
            break
    return depth


@answers(count_pass, Positions)
@kernel
def _count_pass(chance, tree, node):
    tree.nodes[node].passes += 1


@kernel
def list_turns_of(tree, space, states, node, plan):
    """List the turns of a node whose position is in states[1]. Returns whether there was room for them."""
    n = write_turns(states, 1, plan.most_decisions, space.actions, space.n_actions, space.at_action, space.turns)
    first = tree.used[TURNS] + 1
    if first + n > tree.turns.shape[0]:
        return False
    for i in range(n):
        tree.turns[first + i] = space.turns[i]
    tree.nodes[node].first = first
    tree.nodes[node].n_turns = n
    tree.used[TURNS] += n
    arrange(plan.guide, tree, space, states, node, n)
    return True


@kernel
def most_urgent(tree, space, node, plan, rule, rng):
    """The turn of a node to try now: one not tried yet, or the most urgent."""
    first, n_tried = int(tree.nodes[node].first), int(tree.nodes[node].n_tried)
    of_next = urgency_of_next(plan.guide, tree, node, plan) if n_tried < tree.nodes[node].n_turns else -np.inf
    if of_next == np.inf:
        return _untried(tree, node, plan, rng)
    for i in range(n_tried):
        space.known[i] = first + i
    chosen, urgent = most_urgent_of_known(tree, space, node, n_tried, int(tree.nodes[node].passes), 0, plan, rule, rng)
    return _untried(tree, node, plan, rng) if of_next > urgent else chosen


@kernel
def most_urgent_of_known(tree, space, node, n_known, passes, by_times_open, plan, rule, rng):
    """The most urgent of the turns of a node in space.known, and its urgency; NONE and -inf if there are none.

    N of the selection rule is the number of passes, or (by_times_open) of the times that each turn was open.
    """
    least = plan.least if node == ROOT else plan.least_below
    log_n = 0.0 if by_times_open != 0 else math.log(max(1, passes))
    best, n_best, chosen = -np.inf, 0, NONE
    for i in range(n_known):
        at = space.known[i]
        known = tree.counts[at]
        visits = int(known.visits)
        if visits < least:
            return at, np.inf
        if by_times_open != 0:
            log_n = math.log(known.times_open)
        u = urgency(rule, visits, known.sums, known.squares, known.gains, log_n, rng)
        if plan.rave != 0.0:
            u += _rave_bonus(known, visits, plan)
        if u > best:
            best, n_best, chosen = u, 1, at
        elif u == best:
            n_best += 1
            if plan.equals == LAST or below(rng, n_best) == 0:
                chosen = at
    return chosen, best


@kernel
def _rave_bonus(known, visits, plan):
    """What RAVE (Gelly and Silver 2007) adds to the mean of a turn: its share of the all-moves-as-first mean falls with the visits."""
    if known.amaf_visits == 0:
        return 0.0
    share = math.sqrt(plan.rave / (3.0 * visits + plan.rave))
    return share * (known.amaf_sums / known.amaf_visits - known.sums / visits)


@kernel
def _untried(tree, node, plan, rng):
    """Choose a turn of the node that has not been tried: the next one listed, or any; it counts as tried from now on."""
    first, n_tried = int(tree.nodes[node].first), int(tree.nodes[node].n_tried)
    at = first + n_tried
    if plan.in_order == 0:
        other = at + below(rng, int(tree.nodes[node].n_turns) - n_tried)
        turn = tree.turns[at]
        tree.turns[at] = tree.turns[other]
        tree.turns[other] = turn
        if plan.rave != 0.0:
            _swap_amaf(tree.counts[at], tree.counts[other])
    tree.nodes[node].n_tried += 1
    return at


@kernel
def _swap_amaf(one, other):
    visits, sums = one.amaf_visits, one.amaf_sums
    one.amaf_visits, one.amaf_sums = other.amaf_visits, other.amaf_sums
    other.amaf_visits, other.amaf_sums = visits, sums


@kernel
def note(space, depth, node, at, mover):
    space.path[depth, 0] = node
    space.path[depth, 1] = at
    space.path[depth, 2] = mover


@kernel
def take(tree, space, states, at, plan):
    """Carry out a turn in states[1]; the first time, see what it gains, if that is asked for."""
    if plan.with_gains == 0 or tree.counts[at].visits > 0:
        play_turn(states[1], tree.turns[at])
        return
    mover = seat_to_move(states[1])
    scores(states[1], space.numbers)
    before = space.numbers[mover]
    play_turn(states[1], tree.turns[at])
    scores(states[1], space.numbers)
    tree.counts[at].gains = space.numbers[mover] - before


@kernel
def _follow(chance, tree, space, states, raw, at, rng):
    """The node that a turn just taken in states[1] leads to, after chance; NONE if there is no room for a new one."""
    is_chance = phase(states[1]) == CHANCE
    if is_chance and chance.sampled != 0:
        run_chance(states, rng)
        key = fingerprint(raw, 1, at)
        slot = slot_of(tree, key)
        node = int(tree.table[slot])
        if node == NONE:
            node = _new_node(tree)
            if node != NONE:
                tree.nodes[node].key = key
                tree.table[slot] = node
                tree.slots[node] = slot
            tree.counts[at].child = node
        return node
    if tree.counts[at].child == NONE:
        tree.counts[at].child = _new_node(tree)
    node = int(tree.counts[at].child)
    if is_chance:
        space.drawn[0] = tree.seed[0] ^ np.uint64(node)
        space.drawn[0] = next64(space.drawn) | np.uint64(1)  # neighbouring seeds become unrelated ones
        run_chance(states, space.drawn)
    return node


@kernel
def run_chance(states, rng):
    while phase(states[1]) == CHANCE:
        apply_chance(states[1], sample_chance(states[1], rng))


@kernel
def _new_node(tree):
    if tree.used[NODES] + 1 >= tree.nodes.shape[0]:
        return NONE
    tree.used[NODES] += 1
    return tree.used[NODES]


# The hash table


@kernel
def slot_of(tree, key):
    """The slot of the table where the node of this key is, or would be put."""
    last = tree.table.shape[0] - 1
    slot = np.int64(key >> np.uint64(20)) & last
    while tree.table[slot] != NONE and tree.nodes[tree.table[slot]].key != key:
        slot = (slot + 1) & last
    return slot
