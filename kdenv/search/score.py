"""What the end of a game is worth to a seat: the scores of the papers, as parts of a search.

Seats of one team (seat modulo the number of teams) win and lose together; without teams a team is one seat.
"""

from typing import NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.core.verbs import scores, standings


@question
def worth(score, states, k, seat, numbers):
    """The worth of the finished states[k] to seat; numbers is scratch, one int64 per seat."""


@question
def worths(score, states, k, values, numbers):
    """Write the worth of the finished states[k] to every seat to values (float64); numbers is scratch as above."""


class WinDrawLoss(NamedTuple):
    """1 for the sole best team, 1/k for k best teams, 0 for others (WDL)."""

    teams: int


class Win(NamedTuple):
    """1 for the sole best team; a tie is worth nothing to anybody."""

    teams: int


class WinAndMargin(NamedTuple):
    """1 for the sole best team and 0 for others, and a hundredth of the margin: to win first, then by much."""

    teams: int


class Points(NamedTuple):
    """The seat's own points (P)."""

    teams: int


class Relative(NamedTuple):
    """Own points in relation to own and the best rival's (R), between 0 and 1; where points are penalties, the rival's share of them."""

    teams: int


class Margin(NamedTuple):
    """Own points less the best rival's."""

    teams: int


@kernel
def _share_of_win(numbers, seat, teams):
    """By standings."""
    n_best = 0
    for other in range(numbers.shape[0]):
        if numbers[other] > numbers[seat]:
            return 0.0
        if numbers[other] == numbers[seat]:
            n_best += 1
    return numbers.shape[0] / (n_best * teams)


@kernel
def _sole_win(numbers, seat, teams):
    return 1.0 if _share_of_win(numbers, seat, teams) == 1.0 else 0.0


@kernel
def _relation(numbers, seat, teams):
    mine, best = numbers[seat], best_rival(numbers, seat, teams)
    both = mine + best
    if both == 0:
        return 0.5 if mine == best else 1.0 if mine > best else 0.0
    share = mine / both if both > 0 else best / both
    return min(1.0, max(0.0, share))


@kernel
def _margin(numbers, seat, teams):
    return float(numbers[seat] - best_rival(numbers, seat, teams))


@kernel
def best_rival(numbers, seat, teams):
    """The most points of any seat of another team."""
    best, found = 0, False
    for other in range(numbers.shape[0]):
        if (other - seat) % teams != 0 and (not found or numbers[other] > best):
            best, found = numbers[other], True
    return best


@answers(worth, WinDrawLoss)
@kernel
def _worth_by_share(score, states, k, seat, numbers):
    standings(states[k], numbers)
    return _share_of_win(numbers, seat, score.teams)


@answers(worths, WinDrawLoss)
@kernel
def _worths_by_share(score, states, k, values, numbers):
    standings(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] = _share_of_win(numbers, seat, score.teams)


@answers(worth, Win)
@kernel
def _worth_by_win(score, states, k, seat, numbers):
    standings(states[k], numbers)
    return _sole_win(numbers, seat, score.teams)


@answers(worths, Win)
@kernel
def _worths_by_win(score, states, k, values, numbers):
    standings(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] = _sole_win(numbers, seat, score.teams)


@answers(worth, WinAndMargin)
@kernel
def _worth_by_win_and_margin(score, states, k, seat, numbers):
    standings(states[k], numbers)
    win = _sole_win(numbers, seat, score.teams)
    scores(states[k], numbers)
    return win + _margin(numbers, seat, score.teams) / 100.0


@answers(worths, WinAndMargin)
@kernel
def _worths_by_win_and_margin(score, states, k, values, numbers):
    standings(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] = _sole_win(numbers, seat, score.teams)
    scores(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] += _margin(numbers, seat, score.teams) / 100.0


@answers(worth, Points)
@kernel
def _worth_by_points(score, states, k, seat, numbers):
    scores(states[k], numbers)
    return float(numbers[seat])


@answers(worths, Points)
@kernel
def _worths_by_points(score, states, k, values, numbers):
    scores(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] = numbers[seat]


@answers(worth, Relative)
@kernel
def _worth_by_relation(score, states, k, seat, numbers):
    scores(states[k], numbers)
    return _relation(numbers, seat, score.teams)


@answers(worths, Relative)
@kernel
def _worths_by_relation(score, states, k, values, numbers):
    scores(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] = _relation(numbers, seat, score.teams)


@answers(worth, Margin)
@kernel
def _worth_by_margin(score, states, k, seat, numbers):
    scores(states[k], numbers)
    return _margin(numbers, seat, score.teams)


@answers(worths, Margin)
@kernel
def _worths_by_margin(score, states, k, values, numbers):
    scores(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] = _margin(numbers, seat, score.teams)


SCORES = {"wdl": WinDrawLoss, "points": Points, "relative": Relative, "margin": Margin, "win": Win, "windiff": WinAndMargin}
SCORE_UNITS = {
    "wdl": "win probability",
    "win": "sole wins",
    "windiff": "wins + margin/100",
    "points": "points",
    "relative": "share of points",
    "margin": "margin",
}
