"""Perfect information Monte Carlo (PIMC): draw what is hidden, find out what every turn is worth if all is visible, and average over draws.

If all turns are tried on the same deals, the luck of a deal does not decide between them; the paper draws other deals for every turn. A
part finds out what turns are worth. It is the solver of a game, or Playouts, which makes the search flat Monte Carlo on common deals.
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
    """A solver that makes one playout after each turn; the value of the turn is what it comes to."""
    seat = seat_of(states[k])
    for i in range(n_turns):
        states[k + 1] = states[k]
        play_turn(states[k + 1], turns[i])
        play_on(playouts, states, k + 1, seat, seat, rng)
        values[i] = playouts.values[seat]
    return n_turns


@kernel
def solve_deals(states, seat, turns, n_deals, group, dealer, solver, depth, values, rng, tally):
    """Solve all turns that are open in states[0] on n_deals deals each; return the effort (see solve). The other states are scratch.

    group: how many turns are tried on the same deal; all or 1.
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
    """Write to values what each turn is worth in states[0] as it is, with everything visible; return the effort (see solve)."""
    return solve(solver, states, 0, turns, n_turns, depth, rng, values)
