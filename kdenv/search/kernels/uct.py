"""UCT (Kocsis and Szepesvári 2006): a tree search that adds a node in each iteration and tries the most promising turns most often.

Every iteration begins at the root, and no positions are kept. Nodes and turns are numbers, which are indices of arrays. The value of a
turn is a score of the seat that makes it. The argument `chance` of the kernels defines what a node is:

- Positions(sampled=0): a position. Each node draws chance once and keeps the outcome (Gedda et al. 2018, Jansen and Tollisen 2014).
- Positions(sampled=1): a position. Every iteration draws chance anew, and a fingerprint finds the node of the position after it
  (Heyden 2009). In both kinds, hidden information is that of states[0].
- Decisions(information_sets=0): the decisions made so far. Every iteration draws chance and hidden information anew.
- Decisions(information_sets=1): all that the seat has seen: those decisions and the outcomes of chance shown to it. This is
  single-observer information set search (Cowling, Powley and Whitehouse 2012). A turn is legal in some of the draws only, so exploration
  counts how often it was legal, not the visits of its siblings.

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
ANY = -1  # instead of the index of a turn in space.turns: the caller chooses one of the new turns
MAX_DEPTH = 1024  # turns from the root; below, an iteration has only its playout
N_STATES = 2 + MAX_DECISIONS  # the position and the scratch states of a search

ALL, OWNER, SEARCHER, MINE, OWN = range(5)  # the turns that an iteration updates, see update()
SIBLINGS, PARENT = range(2)  # the visits that N of the selection rule counts, see update()
RANDOM, LAST = range(2)  # how ties between equally urgent turns are broken
MEAN, MAX = range(2)  # the value of a turn: its mean, or see value_by_best_next_turn()
NODES, TURNS = range(2)  # the indices of Tree.used
PATH_NODE, PATH_TURN, PATH_MOVER, PATH_CHANCE = range(4)  # the columns of Workspace.path


class Positions(NamedTuple):
    """A node is a position. Chance is drawn once for each node (sampled=0) or anew in every iteration (sampled=1)."""

    sampled: int


class Decisions(NamedTuple):
    """A node is a sequence of decisions and, with information_sets=1, of the outcomes of chance shown to the searching seat."""

    information_sets: int


class Plan(NamedTuple):
    """The options of a tree search."""

    most_decisions: int  # of a turn
    in_order: int  # whether untried turns are tried as listed; if not, at random
    first_urgency: float  # the urgency of an untried turn; if infinite, all turns are tried before any is repeated
    least: int  # a turn of the root with fewer visits than this is tried before all others; at least 1
    least_below: int  # the same for all other turns
    with_gains: int  # whether the selection rule asks for the points gained at once
    update: int  # ALL, OWNER, SEARCHER, MINE, OWN
    total: int  # SIBLINGS, PARENT; PARENT is only for trees of positions
    equals: int  # RANDOM, LAST
    backup: int  # MEAN, MAX; MAX is only for trees of positions
    teams: int  # the number of teams; seat i is in team i % teams
    rave: float  # k of RAVE: after k visits the mean and the all-moves-as-first mean have equal weights; 0: no RAVE
    guide: Any  # the order in which turns are first tried: NoPriors, or see kdenv.search.kernels.priors
    dealer: Any  # answers deal, in trees of decisions


NODE = state_dtype(  # of a tree of positions
    ("first", np.int32),  # its first turn; the others follow it, those tried before those that are not
    ("n_turns", np.int32),  # the number of its turns; 0 until they are listed
    ("n_tried", np.int32),
    ("passes", np.int32),  # N of the selection rule: the visits of its turns together, or (PARENT) its own
    ("key", np.uint64),  # its fingerprint, where chance is sampled
)

# The statistics of a turn. Fields that are read most come first, in one cache line. Links to other turns are unsigned, because numba
# checks whether a signed index is negative.
COUNTS = state_dtype(
    ("sums", np.float64),  # of the values to the mover
    ("squares", np.float64),
    ("visits", np.int32),
    ("child", np.uint32),  # in trees of positions: a node after it, the only one unless chance is sampled; of decisions: see Tree
    ("next", np.uint32),  # in trees of decisions: the next turn of the same node, in the order of `rank`; NONE after the last
    ("times_open", np.int32),  # in trees of decisions: the number of iterations in which it was legal
    ("rank", np.uint64),  # in trees of decisions: see rank_of() in kdenv.search.kernels.decisions
    ("bias", np.float64),  # for the selection rule: the prior, if there are priors; else the points gained at once, if asked for
    ("amaf_sums", np.float64),  # for RAVE: the values of the iterations in which the same mover made the same turn here or later
    ("amaf_visits", np.int64),  # the number of these iterations
)


class Tree(NamedTuple):
    """The nodes and their turns, numbered from 1.

    A tree of positions lists all turns of a node at the second visit of the node. A tree of decisions adds a turn when it is first
    tried. It keeps an outcome of chance that the seat has seen like a turn (decisions.shown). In a tree of decisions the node after a
    turn has the number of the turn. `child` of a turn is then the first turn of that node. Number 1, the root, is no turn.
    """

    used: np.ndarray  # the number of nodes and of turns
    seed: np.ndarray  # the seed of the outcomes of chance that nodes keep
    nodes: np.ndarray
    turns: np.ndarray  # packed
    counts: np.ndarray  # by turn
    table: np.ndarray  # a hash table of nodes by key, its size a power of two; NONE where it is empty
    slots: np.ndarray  # by node: its index in the table


class Workspace(NamedTuple):
    """The scratch memory of an iteration."""

    path: np.ndarray  # by depth: a node, the turn made there, its mover, and (for MAX) whether chance comes after the turn
    turns: np.ndarray  # the legal turns, packed
    known: np.ndarray  # the numbers of those of them that the tree has and whose urgencies are compared
    actions: np.ndarray
    n_actions: np.ndarray
    at_action: np.ndarray
    values: np.ndarray  # by seat: the value of the last playout; the same memory as in the playouts
    numbers: np.ndarray  # by seat
    drawn: np.ndarray  # the generator of the outcomes of chance that nodes keep


@question
def descend(chance, tree, space, states, raw, seat, plan, rule, rng):
    """Play states[1] down the tree to a new node or to the end of the game; return the length of the path."""


@question
def count_pass(chance, tree, node):
    """Add 1 to the passes of a node, if this kind of tree has them."""


class NoPriors(NamedTuple):
    """Untried turns are tried in the order in which they are listed or at random, by the plan."""


@question
def arrange(guide, tree, space, states, node, n):
    """Sort the n turns just listed for a node by their priors. They are in space.turns too, and legal in states[1]."""


@question
def urgency_of_next(guide, tree, node, plan):
    """Return the urgency of trying one more untried turn of a node; -inf if that is not allowed yet."""


@question
def urgency_of_new(guide, space, tree, states, node, n, n_known, passes, plan):
    """Return the urgency of adding a turn to a node of decisions, the index of this turn in space.turns, and its prior.

    space.turns has n legal turns. The node has n_known of them, which are in space.known; `passes` is the sum of their visits. The
    urgency is -inf if none may be added. The index ANY leaves the choice to the caller.
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
    return plan.first_urgency, ANY, 0.0


class NoLearner(NamedTuple):
    """Plain UCT: an iteration updates the turns on its path only."""


@question
def learn(learner, chance, tree, space, depth):
    """Learn from all turns of an iteration, including those of its playout; see kdenv.search.kernels.amaf."""


@answers(learn, NoLearner)
@kernel
def _learn_nothing(learner, chance, tree, space, depth):
    return


@kernel
def grow(tree, space, states, raw, seat, n_iterations, chance, plan, rule, playouts, learner, rng):
    """Make n_iterations for the seat that decides in states[0].

    The first N_STATES states are scratch, except for states[0]; raw is the same memory as integers, a row per state.
    """
    for _ in range(n_iterations):
        # 1. Selection and expansion: go down the tree by urgency, and add one node.
        states[1] = states[0]
        depth = descend(chance, tree, space, states, raw, seat, plan, rule, rng)
        # 2. Simulation: play to the end of the game, or until the playout is cut short.
        play_on(playouts, states, 1, space.path[depth - 1, PATH_MOVER] if depth > 0 else seat, ALL_SEATS, rng)
        # 3. Backpropagation: update the turns on the path with the value of the playout.
        update(chance, tree, space, depth, seat, plan)
        learn(learner, chance, tree, space, depth)


@kernel
def update(chance, tree, space, depth, seat, plan):
    """Add space.values to every turn on the path, each turn with the value for its mover.

    OWNER, SEARCHER, MINE and OWN are interpretations of UCT_mod (Jansen and Tollisen 2014); the thesis is ambiguous. OWNER updates only
    turns of the team that moved last, and SEARCHER only those of the searching team. MINE updates nothing if the team that moved last is
    not the searching team. OWN does both OWNER and MINE. With PARENT a visit of a turn counts for the node after the turn, and each
    iteration counts for the root. With SIBLINGS it counts for the node in which the turn is made.
    """
    if depth == 0:
        return
    owner = space.path[depth - 1, PATH_MOVER]
    if plan.total == PARENT:
        count_pass(chance, tree, ROOT)
    # MINE and OWN: an iteration in which an opponent moved last updates no turn.
    if plan.update >= MINE and (owner - seat) % plan.teams != 0:
        return
    for d in range(depth):
        node, at, mover = space.path[d, PATH_NODE], space.path[d, PATH_TURN], space.path[d, PATH_MOVER]
        if (plan.update == OWNER or plan.update == OWN) and (owner - mover) % plan.teams != 0:
            continue
        if plan.update == SEARCHER and (seat - mover) % plan.teams != 0:
            continue
        value = space.values[mover]
        if plan.total == PARENT:  # the last node of the path is not on the path itself: it is the child of the last turn
            node = space.path[d + 1, PATH_NODE] if d + 1 < depth else np.int64(tree.counts[at].child)
        count_pass(chance, tree, node)
        tree.counts[at].visits += 1
        tree.counts[at].sums += value
        tree.counts[at].squares += value * value
    if plan.backup == MAX:
        value_by_best_next_turn(tree, space, depth)


@kernel
def value_by_best_next_turn(tree, space, depth):
    """Set the mean of a turn on the path to the mean of the best turn after it, if the same seat decides again and no chance comes before.

    The turns are updated from the last to the first (Jansen and Tollisen 2014, 3.4.4).
    """
    for d in range(depth - 2, -1, -1):
        if space.path[d, PATH_MOVER] != space.path[d + 1, PATH_MOVER] or space.path[d, PATH_CHANCE] != 0:
            continue
        # The same seat decides in the next node, so the value of this turn is the best mean there.
        at, after = space.path[d, PATH_TURN], space.path[d + 1, PATH_NODE]
        first, best = int(tree.nodes[after].first), -np.inf
        for other in range(first, first + int(tree.nodes[after].n_tried)):
            known = tree.counts[other]
            if known.visits > 0:
                best = max(best, known.sums / known.visits)
        if best != -np.inf:
            tree.counts[at].sums = best * tree.counts[at].visits
            tree.counts[at].squares = best * tree.counts[at].sums  # as if every visit had the value `best`


# Trees of positions


@answers(descend, Positions)
@kernel
def _descend_positions(chance, tree, space, states, raw, seat, plan, rule, rng):
    node, depth = ROOT, 0
    while depth < MAX_DEPTH and phase(states[1]) == DECIDE:
        # A node lists its turns at its second visit, since most nodes are visited once. Without room the playout begins here.
        if tree.nodes[node].n_turns == 0 and not list_turns_of(tree, space, states, node, plan):
            break
        at = most_urgent(tree, space, node, plan, rule, rng)
        note(space, depth, node, at, seat_to_move(states[1]))
        depth += 1
        take(tree, space, states, at, plan)
        if plan.backup == MAX:
            space.path[depth - 1, PATH_CHANCE] = int(phase(states[1]) == CHANCE)
        n_nodes = tree.used[NODES]
        node = _follow(chance, tree, space, states, raw, at, rng)
        if node == NONE or node > n_nodes:  # the tree is full, or the node is new: each iteration adds one node
            break
    return depth


@answers(count_pass, Positions)
@kernel
def _count_pass(chance, tree, node):
    tree.nodes[node].passes += 1


@kernel
def list_turns_of(tree, space, states, node, plan):
    """List the turns of a node whose position is in states[1]; return whether there was room for them."""
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
    """Return the turn of a node to try now: an untried one or the most urgent one."""
    first, n_tried = int(tree.nodes[node].first), int(tree.nodes[node].n_tried)
    next_urgency = urgency_of_next(plan.guide, tree, node, plan) if n_tried < tree.nodes[node].n_turns else -np.inf
    if next_urgency == np.inf:  # no urgency of a tried turn needs to be computed
        return _untried(tree, node, plan, rng)
    for i in range(n_tried):
        space.known[i] = first + i
    chosen, best_urgency = most_urgent_of_known(tree, space, node, n_tried, int(tree.nodes[node].passes), 0, plan, rule, rng)
    return _untried(tree, node, plan, rng) if next_urgency > best_urgency else chosen


@kernel
def most_urgent_of_known(tree, space, node, n_known, passes, by_times_open, plan, rule, rng):
    """Return the most urgent of the turns of a node in space.known, and its urgency; NONE and -inf if there are none.

    N of the selection rule is `passes` or, with by_times_open, the number of times that the turn was legal.
    """
    least = plan.least if node == ROOT else plan.least_below
    log_n = 0.0 if by_times_open != 0 else math.log(max(1, passes))
    best, n_best, chosen = -np.inf, 0, NONE
    for i in range(n_known):
        at = space.known[i]
        known = tree.counts[at]
        visits = int(known.visits)
        if visits < least:  # too few visits for a useful mean: try it at once
            return at, np.inf
        if by_times_open != 0:
            log_n = math.log(known.times_open)
        u = urgency(rule, visits, known.sums, known.squares, known.bias, log_n, rng)
        if plan.rave != 0.0:
            u += _rave_bonus(known, visits, plan)
        if u > best:
            best, n_best, chosen = u, 1, at
        elif u == best:  # the last of the equals or, by reservoir sampling, each with the same probability
            n_best += 1
            if plan.equals == LAST or below(rng, n_best) == 0:
                chosen = at
    return chosen, best


@kernel
def _rave_bonus(known, visits, plan):
    """Return the number that RAVE (Gelly and Silver 2007) adds to the mean of a turn; it shrinks as the visits grow.

    The sum is (1 - share) * mean + share * all-moves-as-first mean.
    """
    if known.amaf_visits == 0:
        return 0.0
    share = math.sqrt(plan.rave / (3.0 * visits + plan.rave))
    return share * (known.amaf_sums / known.amaf_visits - known.sums / visits)


@kernel
def _untried(tree, node, plan, rng):
    """Choose the next untried turn of the node or, with in_order=0, a random one; it counts as tried after that."""
    first, n_tried = int(tree.nodes[node].first), int(tree.nodes[node].n_tried)
    at = first + n_tried
    if plan.in_order == 0:  # swap a random one to the front, because tried turns come before untried ones
        other = at + below(rng, int(tree.nodes[node].n_turns) - n_tried)
        turn = tree.turns[at]
        tree.turns[at] = tree.turns[other]
        tree.turns[other] = turn
        if plan.rave != 0.0:  # RAVE has already counted iterations for untried turns; all their other numbers are 0
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
    """Append a turn to the path."""
    space.path[depth, PATH_NODE] = node
    space.path[depth, PATH_TURN] = at
    space.path[depth, PATH_MOVER] = mover


@kernel
def take(tree, space, states, at, plan):
    """Carry out a turn in states[1]. With with_gains the first visit of the turn notes the points that its mover gains at once."""
    if plan.with_gains == 0 or tree.counts[at].visits > 0:
        play_turn(states[1], tree.turns[at])
        return
    mover = seat_to_move(states[1])
    scores(states[1], space.numbers)
    before = space.numbers[mover]
    play_turn(states[1], tree.turns[at])
    scores(states[1], space.numbers)
    tree.counts[at].bias = space.numbers[mover] - before


@kernel
def _follow(chance, tree, space, states, raw, at, rng):
    """Carry out the chance after the turn just made in states[1]; return the node after that, or NONE if there is no room for a new one."""
    is_chance = phase(states[1]) == CHANCE
    # 1. Sampled chance: one turn leads to many positions, each of which is found by its fingerprint.
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
    # 2. Otherwise the turn has one child. Its number seeds the draw of chance, so each visit meets the same outcome.
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
    """Carry out chance in states[1]."""
    while phase(states[1]) == CHANCE:
        apply_chance(states[1], sample_chance(states[1], rng))


@kernel
def _new_node(tree):
    """Return the number of a new node; NONE if there is no room."""
    if tree.used[NODES] + 1 >= tree.nodes.shape[0]:
        return NONE
    tree.used[NODES] += 1
    return tree.used[NODES]


# The hash table


@kernel
def slot_of(tree, key):
    """Return the slot of the table that has the node of this key, or the empty slot for it."""
    last = tree.table.shape[0] - 1
    slot = np.int64(key >> np.uint64(20)) & last
    while tree.table[slot] != NONE and tree.nodes[tree.table[slot]].key != key:
        slot = (slot + 1) & last
    return slot
