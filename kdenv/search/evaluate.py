"""The evaluator and the order of turns that every game has. A game may add its own; core/questions.py has their questions."""

from typing import NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.core.margins import best_rival
from kdenv.core.questions import estimate, rank, reach
from kdenv.core.verbs import scores


class ScoreMargin(NamedTuple):
    """The evaluator: own points minus the best opponent team's points. Later positions are assumed to differ by at most `room` points."""

    teams: int
    room: float


class AsListed(NamedTuple):
    """The order that gives all turns the same rank, so they stay in the order in which the rules list them."""


@answers(estimate, ScoreMargin)
@kernel
def _margin(evaluator, states, k, seat, numbers):
    scores(states[k], numbers)
    return float(numbers[seat] - best_rival(numbers, seat, evaluator.teams))


@answers(reach, ScoreMargin)
@kernel
def _reach_of_margin(evaluator, states, k, seat, numbers):
    return abs(_margin(evaluator, states, k, seat, numbers)) + evaluator.room


@answers(rank, AsListed)
@kernel
def _as_listed(order, s, turn):
    return 0
