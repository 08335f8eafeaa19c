"""Flat Monte Carlo whose playouts go where they promise most: the turns open now are the arms of a bandit.

The selection formulas are in search.select; what is counted is the Tally of search.montecarlo.
"""

import math

import numpy as np

from kdenv.core.kernel import kernel
from kdenv.core.random import below
from kdenv.search.montecarlo import try_turn
from kdenv.search.select import urgency


@kernel
def sample_by_urgency(states, seat, turns, n_turns, n_playouts, rule, least, player, score, out, numbers, rng, tally):
    """Give n_playouts, one by one, to the most urgent turn; first, in rotation, `least` of them to every turn."""
    n_done = 0
    for turn in range(n_turns):
        n_done += tally.visits[turn]
    for i in range(n_done, n_done + n_playouts):
        turn = i % n_turns if i < least * n_turns else most_urgent(rule, tally, n_turns, math.log(i), rng)
        try_turn(states, seat, turns, turn, player, score, out, numbers, rng, tally)


@kernel
def most_urgent(rule, tally, n_turns, log_n, rng):
    """The turn of the greatest urgency, ties at random; all have visits."""
    best, n_best, chosen = -np.inf, 0, 0
    for turn in range(n_turns):
        u = urgency(rule, tally.visits[turn], tally.sums[turn], tally.squares[turn], 0.0, log_n, rng)
        if u > best:
            best, n_best, chosen = u, 1, turn
        elif u == best:
            n_best += 1
            if below(rng, n_best) == 0:
                chosen = turn
    return chosen
