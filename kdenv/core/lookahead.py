"""What a search of limited depth asks a game: the worth of a position, how far worths may go, and which turns look best.

Like players (core.player) these are parts: NamedTuples whose kernels a game keeps in its room and lists in `Game.evaluators`
and `Game.orders`.
"""

from kdenv.core.part import part

N_RANKS = 16  # a rank is below this


@part
def estimate(evaluator, states, k, seat, numbers):
    """What states[k] is worth to the seat against its rivals, as a float; numbers is scratch, one int64 per seat.

    Exact once the game is over. In two-player games the other seat's is the negative of this.
    """


@part
def reach(evaluator, states, k, seat, numbers):
    """The most that any position after states[k] is taken to be worth, to either side: estimates beyond are cut to it."""


@part
def rank(order, s, turn):
    """The place of a packed turn open in s, from 0 (to be tried first) to N_RANKS - 1; equals stay as the game lists them."""
