"""Single-observer information set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012).

Every iteration draws what the searching seat cannot see, and goes down one tree that all draws share. A node is what that
seat will have seen: the decisions of all seats, which are public in all our games, and what chance shows it. A move is
only open in some draws; its exploration counts the times it was open, not the visits of its parent (the paper's n').
"""

from math import log, sqrt

import numpy as np

from kdenv.core.kernel import kernel
from kdenv.core.protocol import (
    CHANCE,
    OVER,
    apply,
    apply_chance,
    legal,
    phase,
    resample_hidden,
    sample_chance,
    witnesses,
)
from kdenv.core.protocol import seat as seat_of
from kdenv.core.random import below
from kdenv.core.state import state_dtype
from kdenv.search.playout import play_out
from kdenv.search.score import worth

SCRATCH = 5  # states: the position, the one played in, and those of the players of the playout

NODE = state_dtype(
    ("total", np.float64),  # what its visits were worth to the team that moved here,
    ("squares", np.float64),  # ... and the squares of that
    ("visits", np.int32),
    ("open", np.int32),  # how often it could be moved to
    ("move", np.int32),  # the action that leads here, or the outcome of chance
    ("first", np.int32),  # of its children, which are in the order of their moves; 0 for none
    ("next", np.int32),  # of its siblings
    ("team", np.int32),  # that moved here
)


@kernel
def grow(states, seat, teams, n_iterations, c, player, score, nodes, n_nodes, path, out, numbers, rewards, rng):
    """Make n_iterations from states[0]; nodes have room for one more each. Returns the number of nodes there are then."""
    for _ in range(n_iterations):
        # 1. Draw what is hidden.
        states[1] = states[0]
        resample_hidden(states[1], seat, rng)
        # 2. Go down the tree until a new node is made or the game is over.
        n_path, n_now = _go_down(states, seat, teams, c, nodes, n_nodes, path, out, rng)
        # 3. Play on to the end.
        play_out(player, states, 1, out, rng)
        # 4. Tell the nodes on the way what it was worth.
        for team in range(teams):
            rewards[team] = worth(score, states, 1, team, numbers)
        for i in range(n_path):
            node = nodes[path[i]]
            node.visits += 1
            node.total += rewards[node.team]
            node.squares += rewards[node.team] * rewards[node.team]
        n_nodes = n_now
    return n_nodes


@kernel
def _go_down(states, seat, teams, c, nodes, n_nodes, path, out, rng):
    """Play states[1] down the tree; returns the length of the path, whose nodes are the children gone to, and the number of nodes."""
    s = states[1]
    at, n_path = 0, 0
    while n_path < path.shape[0]:
        now = phase(s)
        if now == OVER:
            break
        if now == CHANCE:
            outcome = sample_chance(s, rng)
            seen = (witnesses(s) >> seat) & 1
            apply_chance(s, outcome)
            if not seen:
                continue
            out[0] = outcome
            chosen, before, move = _look(nodes, at, out, 1, c, rng)
            team = 0
        else:
            team = seat_of(s) % teams
            chosen, before, move = _look(nodes, at, out, legal(s, out), c, rng)
            apply(s, move)
        is_new = chosen == 0
        if is_new:
            chosen = n_nodes
            _add(nodes, chosen, at, before, move, team)
            n_nodes += 1
        path[n_path] = chosen
        n_path += 1
        at = chosen
        if is_new:
            break
    return n_path, n_nodes


@kernel
def _look(nodes, at, moves, n, c, rng):
    """Which child of this node to go to: an untried move, any, if there is one (child 0), else the best by UCB.

    Returns the child, the child before it in the order, and the move. Both lists ascend, so one walk compares them.
    """
    best, best_worth = 0, -np.inf
    n_untried, untried, before_untried = 0, 0, 0
    before, child = 0, int(nodes[at].first)
    for i in range(n):
        move = moves[i]
        while child != 0 and nodes[child].move < move:
            before = child
            child = int(nodes[child].next)
        if child != 0 and nodes[child].move == move:
            node = nodes[child]
            node.open += 1
            if n_untried == 0:
                value = node.total / node.visits + c * sqrt(log(node.open) / node.visits)
                if value > best_worth:
                    best, best_worth = child, value
        else:
            n_untried += 1
            if n_untried == 1 or below(rng, n_untried) == 0:
                untried, before_untried = move, before
    if n_untried > 0:
        return 0, before_untried, untried
    return best, 0, int(nodes[best].move)


@kernel
def _add(nodes, new, parent, before, move, team):
    """Make a child of this parent, after the child `before` (0: as the first)."""
    node = nodes[new]
    node.total = 0.0
    node.squares = 0.0
    node.visits = 0
    node.open = 1
    node.move = move
    node.team = team
    node.first = 0
    if before == 0:
        node.next = nodes[parent].first
        nodes[parent].first = new
    else:
        node.next = nodes[before].next
        nodes[before].next = new
