"""Evaluators and orders that every game has. A game's own are in its heuristics (core.questions says what they answer)."""

from typing import NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.core.questions import estimate, rank, reach
from kdenv.core.verbs import scores
from kdenv.search.score import best_rival


class ScoreMargin(NamedTuple):
    """Own points now less the best rival team's; no position further on is taken to be more than `room` points off."""

    teams: int
    room: float


class AsListed(NamedTuple):
    """Turns in the order in which the rules list them."""


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
