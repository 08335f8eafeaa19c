"""Values from a network outside of kernels: searches write the positions to value as rows, and a kernel takes the answers.

One call of the network values the rows of many searches. So a simulation is made in two parts, by two kernels: the first goes down to a
leaf and writes rows, the second takes the answers and updates the statistics. The loops over searches are in kdenv.search.kernels.many.
"""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.core.encoding import observe_by
from kdenv.core.questions import estimate


class Asked(NamedTuple):
    """An evaluator that writes what a seat sees of a position to a row. Its estimate is 0, and values_from takes the answer later."""

    encoding: Any  # answers observe_by
    rows: np.ndarray  # float32
    seats: np.ndarray  # by row: the seat that sees the position
    turns: np.ndarray  # by row: the turn before the position, if the row is one of a list of turns
    is_over: np.ndarray  # by row: whether the game is over, in such a list; its value is then in `exact`
    exact: np.ndarray
    n: np.ndarray  # [0]: the number of rows written
    n_listed: np.ndarray  # [0]: the number of turns listed by the current simulation; 0 if it ended at a leaf


@answers(estimate, Asked)
@kernel
def _write_row(evaluator, states, k, seat, numbers):
    row = evaluator.n[0]
    observe_by(evaluator.encoding, states, k, seat, evaluator.rows[row])
    evaluator.seats[row] = seat
    evaluator.is_over[row] = False
    evaluator.n[0] = row + 1
    return 0.0


@kernel
def values_from(asked, given, first, end, teams, values):
    """Write the value of a position to each seat, from the answers for the rows first to end - 1.

    With two teams there is one row, and the values of the teams are the negatives of each other. With more, there is a row for each seat.
    """
    for row in range(first, end):
        seat = asked.seats[row]
        if teams > 2:
            values[seat] = given[row]
            continue
        for each in range(values.shape[0]):
            values[each] = given[row] if (each - seat) % teams == 0 else -given[row]
