"""What a game may offer to the searches of imperfect information, as parts: a solver, ways to deal, beliefs.

A solver answers `solve` for positions in which nothing is hidden. A dealer answers `deal` with a position that its seat
holds possible. A belief is a game in which everybody plays what he *may* hold, each move with a probability; it keeps its
positions by level, so that a search can go down and come back without copying.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kdenv.core.kernel import kernel
from kdenv.core.part import answers, part
from kdenv.core.protocol import resample_hidden

TO_THE_END = -1  # as a depth
SOLVER_STATES = 8  # that a solver may use after states[k]


@part
def solve(solver, states, k, turns, n_turns, depth, rng, values):
    """Write what each of these turns is worth to the seat to move in states[k], nothing being hidden.

    Depth counts the turns after it that are looked at, or is TO_THE_END. The SOLVER_STATES after states[k] are scratch.
    Returns the effort: nodes, or playouts.
    """


@part
def deal(dealer, states, k, seat, rng):
    """Replace what is hidden from seat in states[k] by a draw, which must not depend on the truth."""


class ExactDeals(NamedTuple):
    """Draws by the rules: resample_hidden."""


@answers(deal, ExactDeals)
@kernel
def _deal_exactly(dealer, states, k, seat, rng):
    resample_hidden(states[k], seat, rng)


@part
def believe(belief, states, k):
    """Make level 0 what the seat to move in states[k] believes."""


@part
def guesses(belief, level, moves, chances):
    """Write the moves that may be possible at this level, and how probably; return how many: 0 when the game has ended."""


@part
def suppose(belief, level, move):
    """Make level + 1 what follows from the move."""


@part
def outlook(belief, level):
    """What this level is expected to be worth to the seat to move in it, ended or not."""


@dataclass(frozen=True)
class Hidden:
    """What a game offers. The makers get the variant and raise NotSupported where it cannot be done by such rules."""

    solver: Callable[[Any], Any]  # makes the part that answers solve
    turns_so_far: Callable[[Any, int], int]  # (states, k) -> turns since the hidden things were dealt, passes included
    unit: str  # of the values of the solver and the beliefs
    most_turns: int  # from the deal on
    dealers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)  # besides "exact"
    beliefs: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)  # by name
