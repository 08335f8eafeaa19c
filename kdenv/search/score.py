"""What the end of a game is worth to a seat: the scores of the papers, as parts of a search.

Seats of one team (seat modulo the number of teams) win and lose together; without teams a team is one seat.
"""

from typing import NamedTuple

from kdenv.core.kernel import kernel
from kdenv.core.part import answers, part
from kdenv.core.protocol import scores, standings


@part
def worth(score, states, k, seat, numbers):
    """The worth of the finished states[k] to seat; numbers is scratch, one int64 per seat."""


class WinDrawLoss(NamedTuple):
    """1 for the sole best team, 1/k for k best teams, 0 for others (WDL)."""

    teams: int


class Points(NamedTuple):
    """The seat's own points (P)."""

    teams: int


class Relative(NamedTuple):
    """Own points in relation to own and the best rival's (R): between 0 and 1 while points are not negative."""

    teams: int


class Margin(NamedTuple):
    """Own points less the best rival's."""

    teams: int


@answers(worth, WinDrawLoss)
@kernel
def _win_draw_loss(score, states, k, seat, numbers):
    standings(states[k], numbers)
    n_best = 0
    for other in range(numbers.shape[0]):
        if numbers[other] > numbers[seat]:
            return 0.0
        if numbers[other] == numbers[seat]:
            n_best += 1
    return numbers.shape[0] / (n_best * score.teams)


@answers(worth, Points)
@kernel
def _points(score, states, k, seat, numbers):
    scores(states[k], numbers)
    return float(numbers[seat])


@answers(worth, Relative)
@kernel
def _relative(score, states, k, seat, numbers):
    scores(states[k], numbers)
    mine, best = numbers[seat], best_rival(numbers, seat, score.teams)
    return mine / (mine + best) if mine + best > 0 else 0.5


@answers(worth, Margin)
@kernel
def _margin(score, states, k, seat, numbers):
    scores(states[k], numbers)
    return float(numbers[seat] - best_rival(numbers, seat, score.teams))


@kernel
def best_rival(numbers, seat, teams):
    """The most points of any seat of another team."""
    best, found = 0, False
    for other in range(numbers.shape[0]):
        if (other - seat) % teams != 0 and (not found or numbers[other] > best):
            best, found = numbers[other], True
    return best


SCORES = {"wdl": WinDrawLoss, "points": Points, "relative": Relative, "margin": Margin}
SCORE_UNITS = {"wdl": "win probability", "points": "points", "relative": "share of points", "margin": "margin"}
