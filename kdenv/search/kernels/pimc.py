"""Perfect information Monte Carlo: draw what is hidden, find out what every turn would be worth if it lay open, average.

If all turns are tried on the same deals, the luck of a deal does not decide between them; the paper draws deals for each. What
finds out is a part: the solver of a game, or playouts, which makes it flat Monte Carlo on common deals.
"""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.core.questions import deal, solve
from kdenv.core.verbs import seat as seat_of
from kdenv.search.playout import play_out, play_turn
from kdenv.search.score import worth


class Playouts(NamedTuple):
    """A solver that plays on to the end, once for every turn, and sees how it ends."""

    player: Any
    score: Any
    out: np.ndarray  # as choose needs it
    numbers: np.ndarray  # as worth needs it


@answers(solve, Playouts)
@kernel
def _play_each_out(solver, states, k, turns, n_turns, depth, rng, values):
    seat = seat_of(states[k])
    for i in range(n_turns):
        states[k + 1] = states[k]
        play_turn(states[k + 1], turns[i])
        play_out(solver.player, states, k + 1, solver.out, rng)
        values[i] = worth(solver.score, states, k + 1, seat, solver.numbers)
    return n_turns


@kernel
def solve_deals(states, seat, turns, n_turns, n_deals, group, dealer, solver, depth, values, rng, tally):
    """Try all turns open in states[0] on n_deals deals each; returns the effort. The states after the first are scratch.

    group: how many turns are tried on the same deal, all or 1.
    """
    effort = 0
    for _ in range(n_deals):
        for first in range(0, n_turns, group):
            states[1] = states[0]
            deal(dealer, states, 1, seat, rng)
            effort += solve(solver, states, 1, turns[first:], group, depth, rng, values[first:])
        for turn in range(n_turns):
            tally.visits[turn] += 1
            tally.sums[turn] += values[turn]
            tally.squares[turn] += values[turn] * values[turn]
    return effort


@kernel
def solve_open(states, turns, n_turns, solver, depth, rng, values):
    """Write what each turn open in states[0] is worth, taking the position for the truth; returns the effort."""
    return solve(solver, states, 0, turns, n_turns, depth, rng, values)
