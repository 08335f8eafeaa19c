"""Perfect information Monte Carlo (PIMC): draws the hidden information, solves each turn as if all were visible, and averages over draws.

Trying all turns on the same deals reduces the variance between turns; the paper draws other deals for each turn. The turns are solved
by the solver of a game, or by Playouts, which makes the search flat Monte Carlo on common deals.
"""

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.core.questions import deal, solve
from kdenv.core.turns import play_turn
from kdenv.core.verbs import seat as seat_of
from kdenv.search.outcome import CutShort, Playouts, play_on


@answers(solve, CutShort)
@answers(solve, Playouts)
@kernel
def _play_each_out(playouts, states, k, turns, n_turns, depth, rng, values):
    """Solve turns by one playout after each of them."""
    seat = seat_of(states[k])
    for i in range(n_turns):
        states[k + 1] = states[k]
        play_turn(states[k + 1], turns[i])
        play_on(playouts, states, k + 1, seat, seat, rng)
        values[i] = playouts.values[seat]
    return n_turns


@kernel
def solve_deals(states, seat, turns, n_deals, group, dealer, solver, depth, values, rng, tally):
    """Solve all turns that are legal in states[0] on n_deals deals each; return the effort (see solve). The other states are scratch.

    group: the number of turns tried on the same deal; all or 1.
    """
    n_turns, effort = turns.shape[0], 0
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
    """Write to values the value of each turn in states[0] as it is, with everything visible; return the effort (see solve)."""
    return solve(solver, states, 0, turns, n_turns, depth, rng, values)
