"""An evaluation for searches of limited depth, and a match of it against the game's own.

python examples/own_evaluation.py

It is a NamedTuple and two kernels. `estimate` returns the value of a position for a seat against its opponents. `reach` returns bounds
of this value, from which Star1 and Star2 know what they need not search.
"""

from typing import NamedTuple

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.author import answers, estimate, kernel, reach, scores


class Lead(NamedTuple):
    """Counts the points scored so far, each worth `weight`."""

    weight: float


@answers(estimate, Lead)
@kernel
def _estimate(evaluator, states, k, seat, numbers):
    scores(states[k], numbers)
    return evaluator.weight * (numbers[seat] - numbers[1 - seat])


@answers(reach, Lead)
@kernel
def _reach(evaluator, states, k, seat, numbers):
    return evaluator.weight * 300.0  # nobody has won a game of Carcassonne by more


kdenv.add_evaluator("carcassonne", "lead", Lead(1.0))


def main() -> None:
    """Let look-ahead play itself with both evaluations."""
    line_up = ["expectimax(depth=1, evaluate=lead)", "expectimax(depth=1)"]
    summary = Summary(Match("carcassonne", line_up, games=4, seed=1))
    play(summary.match, on_result=summary.add, processes=1)
    print(summary)


if __name__ == "__main__":
    main()
