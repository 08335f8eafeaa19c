"""Searches of limited depth: Expectimax, and Star1, Star2 and Star2.5, which find the same values with fewer nodes.

Each node has one of two sides: 0 is the team whose decision is searched, and 1 is all others, who are assumed to play together against
it. With two teams this is negamax. The depth is a number of turns; chance between turns does not count.

Bounds save nodes (Ballard 1983, Hauk 2004). The value of a leaf is at most `most` for either side, so the known values of some outcomes
of chance limit the contribution of the other outcomes. Star2 and Star2.5 try the first `probes` turns after every outcome before
they search any outcome.

There is no recursion: Search.levels holds the state of the search on each level. So a search can stop after any number of nodes,
look at the clock, and continue.
"""

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.core.questions import N_RANKS, estimate, rank, reach
from kdenv.core.turns import play_turn, write_turns
from kdenv.core.verbs import DECIDE, OVER, apply_chance, chances, phase, seat
from kdenv.search.kernels.fingerprint import fingerprint
from kdenv.search.kernels.stack import (
    CURRENT,
    CUT_SHORT,
    DONE,
    NODES,
    OPEN,
    PROBE,
    SEARCH,
    TOO_DEEP,
    TURNS,
    is_known,
    remember,
    rounding,
)


@kernel
def most_from(evaluator, states, k, seat, numbers):
    """Return the bound of the values of leaves (Task.most) for a search from states[k]."""
    return float(reach(evaluator, states, k, seat, numbers))


@kernel
def start(search, depth, first):
    """Begin a search of the position in states[0]. The turn `first` is tried before all others, unless it is 0."""
    search.counters[CURRENT] = 0
    search.counters[CUT_SHORT] = 0
    search.counters[TOO_DEEP] = 0
    _push(search, 0, depth, 0, -np.inf, np.inf)
    search.levels[0].first = first


@kernel
def go_on(search, task, evaluator, order, n_nodes):
    """Search about n_nodes more nodes; return whether the search is finished. Then levels[0] has the value and the chosen turn."""
    level = search.counters[CURRENT]
    enough = search.counters[NODES] + n_nodes
    while True:
        stage = search.levels[level].stage
        if stage == DONE:
            if level == 0:
                search.counters[CURRENT] = 0
                return True
            level -= 1
            _take(search, task, level)
        elif search.counters[NODES] >= enough:
            search.counters[CURRENT] = level
            return False
        elif stage == OPEN:
            _open(search, task, evaluator, order, level)
        elif stage == TURNS:
            level += _next_turn(search, task, evaluator, level)
        else:
            level += _next_outcome(search, task, level)


@kernel
def _push(search, level, depth, side, alpha, beta):
    """Reset a level for the position in states[level]."""
    node = search.levels[level]
    node.stage = OPEN
    node.depth = depth
    node.side = side
    node.alpha = alpha
    node.beta = beta
    node.best = -np.inf
    node.first = 0
    node.chosen = 0
    node.at = 0
    node.until = search.branches.shape[1]
    node.spread = 1
    node.is_probe = 0


@kernel
def _open(search, task, evaluator, order, level):
    """Open a new node: list its turns or outcomes, unless it is a leaf or in the table."""
    node = search.levels[level]
    s = search.states[level]
    search.counters[NODES] += 1
    now = phase(s)
    too_deep = level + 1 == search.levels.shape[0]
    if now == OVER or node.depth == 0 or too_deep:
        search.counters[TOO_DEEP] += 1 if too_deep else 0
        _open_leaf(search, task, evaluator, level)
        return
    if now != DECIDE:
        # Several chances in a row multiply their outcomes; such a position may be too wide to search.
        node.n = chances(search.states[level], search.branches[level], search.sorted)
        node.spread *= node.n
        if node.spread > task.widest:
            _open_leaf(search, task, evaluator, level)
            return
    if search.table.shape[0] > 1:
        node.key = fingerprint(search.words, level, 0)
        if level > 0 and node.is_probe == 0 and is_known(search, node):  # the root needs the values of all its turns
            return
    if now == DECIDE:
        _open_turns(search, task, order, level)
    else:
        _open_chance(search, task, level)


@kernel
def _open_leaf(search, task, evaluator, level):
    """Close a leaf with its estimate as the value."""
    node = search.levels[level]
    node.best = _leaf(search, task, evaluator, level, node.side)
    node.stage = DONE


@kernel
def _leaf(search, task, evaluator, k, side):
    """Return the estimate of states[k], cut to the bounds, from the view of the side."""
    value = float(estimate(evaluator, search.states, k, task.seat, search.numbers))
    if phase(search.states[k]) != OVER:
        search.counters[CUT_SHORT] += 1
    value = min(max(value, -task.most), task.most)
    return -value if side == 1 else value


@kernel
def _side(task, s):
    """Return the side of the seat to move in s: 0 or 1."""
    return 0 if (seat(s) - task.seat) % task.teams == 0 else 1


@kernel
def _look_from(node, side):
    """Convert the window of a new level to the view of this side."""
    if node.side != side:
        node.side = side
        alpha = node.alpha
        node.alpha = -node.beta
        node.beta = -alpha


@kernel
def _open_turns(search, task, order, level):
    """List the turns by rank, with the turn node.first before all others."""
    node = search.levels[level]
    s = search.states[level]
    turns = search.branches[level]
    _look_from(node, _side(task, s))
    n = write_turns(search.states, level, task.most_decisions, search.actions, search.counts[0], search.counts[1], turns)
    _sort(order, s, turns, n, search.ranks, search.sorted)
    if node.first != 0:
        _put_in_front(turns, n, node.first)
    node.n = n
    node.until = min(n, node.until)
    node.stage = TURNS


@kernel
def _sort(order, s, turns, n, ranks, by_rank):
    """Sort turns by rank. Turns of equal rank keep their order."""
    highest = 0
    for i in range(n):
        ranks[i] = rank(order, s, turns[i])
        highest = max(highest, ranks[i])
    if highest == 0:
        return
    n_sorted = 0
    for wanted in range(N_RANKS):
        for i in range(n):
            if ranks[i] == wanted:
                by_rank[n_sorted] = turns[i]
                n_sorted += 1
    for i in range(n):
        turns[i] = by_rank[i]


@kernel
def _put_in_front(turns, n, first):
    """Move a turn to the front, if it is among the turns."""
    at = 0
    while at < n and turns[at] != first:
        at += 1
    if at < n:
        for i in range(at, 0, -1):
            turns[i] = turns[i - 1]
        turns[0] = first


@kernel
def _open_chance(search, task, level):
    """Sort the outcomes just listed, the most probable first. The side of the node is the one that moves after the first outcome."""
    node = search.levels[level]
    outcomes, odds, weights = search.branches[level], search.odds[level], search.sorted
    n = node.n
    # 1. Insertion sort by probability: probable outcomes narrow the window of the others most.
    total = 0
    for i in range(n):
        outcome, weight = outcomes[i], weights[i]
        total += weight
        at = i
        while at > 0 and weights[at - 1] < weight:
            outcomes[at] = outcomes[at - 1]
            weights[at] = weights[at - 1]
            at -= 1
        outcomes[at] = outcome
        weights[at] = weight
    # 2. Nothing is known of any outcome yet.
    for i in range(n):
        odds[i] = weights[i] / total
        search.floors[level, i] = -task.most
        search.tried[level, i] = 0
    node.sum = 0.0
    node.left = 1.0
    node.floor = -task.most
    node.stage = SEARCH
    # 3. Probes are possible only where a seat decides after the outcome. Then `floor` is summed up from the probes.
    _bring(search, level, outcomes[0])
    if phase(search.states[level + 1]) == DECIDE:
        _look_from(node, _side(task, search.states[level + 1]))
        if task.cuts and task.probes > 0:
            node.floor = 0.0
            node.stage = PROBE


@kernel
def _bring(search, level, outcome):
    """Write the position after this outcome to the level below."""
    search.states[level + 1] = search.states[level]
    apply_chance(search.states[level + 1], outcome)


@kernel
def _next_turn(search, task, evaluator, level):
    """Go to the next turn: return 1 to go to the level below, or 0 if this level is done. At depth 1, estimate the turns here."""
    node = search.levels[level]
    turns = search.branches[level]
    while node.at < node.until and not (task.cuts and node.best >= node.beta):
        search.states[level + 1] = search.states[level]
        play_turn(search.states[level + 1], turns[node.at])
        if node.depth > 1:  # at the root, turns within `slack` of the best one get exact values, too
            alpha = max(node.alpha, node.best - task.slack if level == 0 else node.best) if task.cuts else -np.inf
            _push(search, level + 1, node.depth - 1, node.side, alpha, node.beta)
            return 1
        search.counters[NODES] += 1
        _take_turn(search, task, level, _leaf(search, task, evaluator, level + 1, node.side))
    node.stage = DONE
    remember(search, task, node)
    return 0


@kernel
def _take_turn(search, task, level, value):
    """Note the value of the current turn."""
    node = search.levels[level]
    if level == 0:
        search.values[node.at] = value
        search.visits[node.at] = search.counters[NODES]
        if value <= node.best + rounding(task):  # its value may be only a bound: rounding must not make it the choice
            node.at += 1
            return
    if value > node.best:
        node.best = value
        node.chosen = search.branches[level, node.at]
    node.at += 1


@kernel
def _next_outcome(search, task, level):
    """Go to the next outcome of a chance: return 1 to go to the level below, or 0 to stay on this level."""
    node = search.levels[level]
    # 1. After the last outcome the probes are followed by the search of all outcomes, and the search by the value.
    if node.at == node.n:
        if node.stage == PROBE:
            node.stage = SEARCH
            node.at = 0
            node.left = 1.0
        else:
            node.best = node.sum
            node.stage = DONE
            remember(search, task, node)
        return 0
    at = node.at
    p = search.odds[level, at]
    node.left -= p
    _bring(search, level, search.branches[level, at])
    child = search.levels[level + 1]
    # 2. Probe: try the first turns after every outcome, which gives a lower bound of its value. Unknown values lie between L = -U and U.
    if node.stage == PROBE:
        after = search.states[level + 1]
        if phase(after) != DECIDE or _side(task, after) != node.side:  # a few turns of the other side give no lower bound
            node.floor -= p * task.most
            node.at += 1
            return 0
        node.low = (node.alpha - task.most * (1.0 - p)) / p
        node.high = (node.beta - node.floor + task.most * node.left) / p
        _push(search, level + 1, node.depth, node.side, max(-task.most, node.low), min(task.most, node.high))
        child.until = task.probes
        child.is_probe = 1
        return 1
    # 3. Search: search the outcomes one after the other. Each continues after its probe, so no turn is searched twice.
    if not task.cuts:
        _push(search, level + 1, node.depth, node.side, -np.inf, np.inf)
        child.spread = node.spread
        return 1
    # The window of this outcome: the other outcomes contribute at least `sum` + `floor`, and at most `sum` + U * `left`.
    node.floor -= p * search.floors[level, at]
    node.low = (node.alpha - node.sum - task.most * node.left) / p
    node.high = (node.beta - node.sum - node.floor) / p
    _push(search, level + 1, node.depth, node.side, max(-task.most, node.low), min(task.most, node.high))
    child.spread = node.spread
    if search.tried[level, at] > 0:
        child.at = search.tried[level, at]
        child.best = search.probed[level, at]
        child.first = search.firsts[level, at]
    return 1


@kernel
def _take(search, task, level):
    """Use the value of the node on the level below, which is done."""
    node, child = search.levels[level], search.levels[level + 1]
    value = child.best if child.side == node.side else -child.best
    if node.stage == TURNS:
        _take_turn(search, task, level, value)
    elif node.stage == PROBE:
        _take_probe(search, task, level, value)
    else:
        _take_outcome(search, task, level, value)


@kernel
def _take_probe(search, task, level, value):
    """Note the value of the first turns after an outcome. It is a lower bound of the value of the outcome, unless the probe failed low."""
    node, child = search.levels[level], search.levels[level + 1]
    at, p = node.at, search.odds[level, node.at]
    least = value if value > max(-task.most, node.low) + rounding(task) else -task.most
    # The search of this outcome continues from here: after the turns tried, in the same order.
    search.floors[level, at] = least
    search.probed[level, at] = value
    search.tried[level, at] = child.at
    search.firsts[level, at] = child.first
    node.floor += p * least
    node.at += 1
    # The value of the node is at least beta, even if all outcomes after this one have the value L.
    if value >= node.high:
        node.best = node.floor - task.most * node.left
        node.stage = DONE
        remember(search, task, node)


@kernel
def _take_outcome(search, task, level, value):
    """Note the value of an outcome. Close the chance node early if the other outcomes cannot bring its value back into the window."""
    node = search.levels[level]
    node.sum += search.odds[level, node.at] * value
    node.at += 1
    if task.cuts and value >= node.high:
        node.best = node.sum + node.floor
    elif task.cuts and value <= node.low:
        node.best = node.sum + task.most * node.left
    else:
        return
    node.stage = DONE
    remember(search, task, node)
