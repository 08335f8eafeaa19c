"""Searches that look some turns ahead: Expectimax, and Star1, Star2 and Star2.5, which find the same with fewer nodes.

The value of a node is seen from one of two sides: the team whose decision is searched (0), or all others (1), who are assumed to
play together against it. With two teams this is negamax. Depth counts turns; chance between turns does not count.

Bounds save nodes (Ballard 1983, Hauk 2004). No leaf is worth more than `most` to either side, so the known values of some outcomes of a
chance limit how much the other outcomes can still change. Star2 and Star2.5 try the first `probes` turns after every outcome before they
search any outcome.

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
    """The bound of the values of leaves (Task.most) for a search from states[k]."""
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
    """Begin this level anew, for the position in states[level]."""
    f = search.levels[level]
    f.stage = OPEN
    f.depth = depth
    f.side = side
    f.alpha = alpha
    f.beta = beta
    f.best = -np.inf
    f.first = 0
    f.chosen = 0
    f.at = 0
    f.until = search.branches.shape[1]
    f.spread = 1
    f.is_probe = 0


@kernel
def _open(search, task, evaluator, order, level):
    """Open a new node: list what there is to try, or find that it is a leaf or in the table."""
    f = search.levels[level]
    s = search.states[level]
    search.counters[NODES] += 1
    now = phase(s)
    too_deep = level + 1 == search.levels.shape[0]
    if now == OVER or f.depth == 0 or too_deep:
        search.counters[TOO_DEEP] += 1 if too_deep else 0
        _open_leaf(search, task, evaluator, level)
        return
    if now != DECIDE:
        f.n = chances(search.states[level], search.branches[level], search.sorted)
        f.spread *= f.n
        if f.spread > task.widest:
            _open_leaf(search, task, evaluator, level)
            return
    if search.table.shape[0] > 1:
        f.key = fingerprint(search.words, level, 0)
        if level > 0 and f.is_probe == 0 and is_known(search, f):
            return
    if now == DECIDE:
        _open_turns(search, task, order, level)
    else:
        _open_chance(search, task, level)


@kernel
def _open_leaf(search, task, evaluator, level):
    """Close a leaf: its value is its estimate."""
    f = search.levels[level]
    f.best = _leaf(search, task, evaluator, level, f.side)
    f.stage = DONE


@kernel
def _leaf(search, task, evaluator, k, side):
    """The estimate of states[k], cut to the bounds, from the view of the side."""
    value = float(estimate(evaluator, search.states, k, task.seat, search.numbers))
    if phase(search.states[k]) != OVER:
        search.counters[CUT_SHORT] += 1
    value = min(max(value, -task.most), task.most)
    return -value if side == 1 else value


@kernel
def _side(task, s):
    """The side of the seat to move in s: 0 or 1."""
    return 0 if (seat(s) - task.seat) % task.teams == 0 else 1


@kernel
def _look_from(f, side):
    """Turn the window of a new level so that it is seen from this side."""
    if f.side != side:
        f.side = side
        alpha = f.alpha
        f.alpha = -f.beta
        f.beta = -alpha


@kernel
def _open_turns(search, task, order, level):
    """List the turns by rank; the turn f.first goes to the front."""
    f = search.levels[level]
    s = search.states[level]
    turns = search.branches[level]
    _look_from(f, _side(task, s))
    n = write_turns(search.states, level, task.most_decisions, search.actions, search.counts[0], search.counts[1], turns)
    _sort(order, s, turns, n, search.ranks, search.sorted)
    if f.first != 0:
        _put_in_front(turns, n, f.first)
    f.n = n
    f.until = min(n, f.until)
    f.stage = TURNS


@kernel
def _sort(order, s, turns, n, ranks, by_rank):
    """Sort turns by rank; turns of equal rank keep their order."""
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
    """Move one turn to the front, if it is among the turns."""
    at = 0
    while at < n and turns[at] != first:
        at += 1
    if at < n:
        for i in range(at, 0, -1):
            turns[i] = turns[i - 1]
        turns[0] = first


@kernel
def _open_chance(search, task, level):
    """Sort the outcomes just listed, the most probable first. The node is seen from the side that moves after this first outcome."""
    f = search.levels[level]
    outcomes, odds, weights = search.branches[level], search.odds[level], search.sorted
    n = f.n
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
    for i in range(n):
        odds[i] = weights[i] / total
        search.floors[level, i] = -task.most
        search.tried[level, i] = 0
    f.sum = 0.0
    f.left = 1.0
    f.floor = -task.most
    f.stage = SEARCH
    _bring(search, level, outcomes[0])
    if phase(search.states[level + 1]) == DECIDE:
        _look_from(f, _side(task, search.states[level + 1]))
        if task.cuts and task.probes > 0:
            f.floor = 0.0
            f.stage = PROBE


@kernel
def _bring(search, level, outcome):
    search.states[level + 1] = search.states[level]
    apply_chance(search.states[level + 1], outcome)


@kernel
def _next_turn(search, task, evaluator, level):
    """Go to the next turn: return 1 to go to the level below, or 0 if this level is done. At depth 1, turns are estimated here."""
    f = search.levels[level]
    turns = search.branches[level]
    while f.at < f.until and not (task.cuts and f.best >= f.beta):
        search.states[level + 1] = search.states[level]
        play_turn(search.states[level + 1], turns[f.at])
        if f.depth > 1:
            alpha = max(f.alpha, f.best - task.slack if level == 0 else f.best) if task.cuts else -np.inf
            _push(search, level + 1, f.depth - 1, f.side, alpha, f.beta)
            return 1
        search.counters[NODES] += 1
        _take_turn(search, task, level, _leaf(search, task, evaluator, level + 1, f.side))
    f.stage = DONE
    remember(search, task, f)
    return 0


@kernel
def _take_turn(search, task, level, value):
    """Note the value of the current turn."""
    f = search.levels[level]
    if level == 0:
        search.values[f.at] = value
        search.visits[f.at] = search.counters[NODES]
        if value <= f.best + rounding(task):  # its value may be only a bound: rounding must not make it the choice
            f.at += 1
            return
    if value > f.best:
        f.best = value
        f.chosen = search.branches[level, f.at]
    f.at += 1


@kernel
def _next_outcome(search, task, level):
    """Go to the next outcome of a chance: return 1 to go to the level below, or 0 to stay on this level."""
    f = search.levels[level]
    if f.at == f.n:
        if f.stage == PROBE:
            f.stage = SEARCH
            f.at = 0
            f.left = 1.0
        else:
            f.best = f.sum
            f.stage = DONE
            remember(search, task, f)
        return 0
    at = f.at
    p = search.odds[level, at]
    f.left -= p
    _bring(search, level, search.branches[level, at])
    child = search.levels[level + 1]
    # 1. Probe: try the first turns after every outcome, for the least that the outcome is worth. Unknown values lie between L = -U and U.
    if f.stage == PROBE:
        after = search.states[level + 1]
        if phase(after) != DECIDE or _side(task, after) != f.side:
            f.floor -= p * task.most
            f.at += 1
            return 0
        f.low = (f.alpha - task.most * (1.0 - p)) / p
        f.high = (f.beta - f.floor + task.most * f.left) / p
        _push(search, level + 1, f.depth, f.side, max(-task.most, f.low), min(task.most, f.high))
        child.until = task.probes
        child.is_probe = 1
        return 1
    # 2. Search: search the outcomes one after the other. Each continues where its probe has ended, so no turn is searched twice.
    if not task.cuts:
        _push(search, level + 1, f.depth, f.side, -np.inf, np.inf)
        child.spread = f.spread
        return 1
    f.floor -= p * search.floors[level, at]
    f.low = (f.alpha - f.sum - task.most * f.left) / p
    f.high = (f.beta - f.sum - f.floor) / p
    _push(search, level + 1, f.depth, f.side, max(-task.most, f.low), min(task.most, f.high))
    child.spread = f.spread
    if search.tried[level, at] > 0:
        child.at = search.tried[level, at]
        child.best = search.probed[level, at]
        child.first = search.firsts[level, at]
    return 1


@kernel
def _take(search, task, level):
    """Note the value of the node on the level below, which is done."""
    f, child = search.levels[level], search.levels[level + 1]
    value = child.best if child.side == f.side else -child.best
    if f.stage == TURNS:
        _take_turn(search, task, level, value)
    elif f.stage == PROBE:
        _take_probe(search, task, level, value)
    else:
        _take_outcome(search, task, level, value)


@kernel
def _take_probe(search, task, level, value):
    """Note the value of the first turns after an outcome. The outcome is worth at least that, unless the probe failed low."""
    f, child = search.levels[level], search.levels[level + 1]
    at, p = f.at, search.odds[level, f.at]
    least = value if value > max(-task.most, f.low) + rounding(task) else -task.most
    search.floors[level, at] = least
    search.probed[level, at] = value
    search.tried[level, at] = child.at
    search.firsts[level, at] = child.first
    f.floor += p * least
    f.at += 1
    if value >= f.high:
        f.best = f.floor - task.most * f.left
        f.stage = DONE
        remember(search, task, f)


@kernel
def _take_outcome(search, task, level, value):
    """Note the value of an outcome. The chance node is done early if the other outcomes cannot bring it back into the window."""
    f = search.levels[level]
    f.sum += search.odds[level, f.at] * value
    f.at += 1
    if task.cuts and value >= f.high:
        f.best = f.sum + f.floor
    elif task.cuts and value <= f.low:
        f.best = f.sum + task.most * f.left
    else:
        return
    f.stage = DONE
    remember(search, task, f)
