"""Scores: the value of a finished game to a seat. They are parts of searches, and most come from papers.

Seats of one team win and lose together. The team of a seat is the seat modulo the number of teams; a game without teams has one team
for each seat.
"""

from typing import NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.core.margins import best_rival, share_of_win
from kdenv.core.verbs import scores, standings


@question
def worths(score, states, k, values, numbers):
    """Write the value of the finished game in states[k] to each seat to values (float64); numbers is scratch, one int64 per seat."""


class WinDrawLoss(NamedTuple):
    """1 for the best team, 1/k for each of k teams that share first place, 0 for all others (WDL)."""

    teams: int


class Win(NamedTuple):
    """1 for the best team if it does not share first place, else 0."""

    teams: int


class HalfWin(NamedTuple):
    """1 for the best team, 1/2 for every team that shares first place, 0 for all others (WDL in the words of Gedda et al. 2018)."""

    teams: int


class Lead(NamedTuple):
    """1 for more points than the best opponent, else 0 (Jansen and Tollisen 2014, eq. 9). Tie-breaking rules do not count."""

    teams: int


class LeadAndMargin(NamedTuple):
    """Lead (0 or 1) plus a hundredth of the margin, so that winning counts first and the margin second (their eq. 12)."""

    teams: int


class Points(NamedTuple):
    """The points of the seat (P)."""

    teams: int


class Relative(NamedTuple):
    """Own points divided by own points plus the best opponent's (R), cut to 0 to 1. If that sum is negative: the opponent's share of it."""

    teams: int


class Margin(NamedTuple):
    """Own points minus the best opponent's points."""

    teams: int


@question
def worth(score, numbers, seat):
    """Return the value of a finished game to the seat, from the standings or the points of all seats."""


@answers(worths, WinDrawLoss)
@answers(worths, Win)
@answers(worths, HalfWin)
@kernel
def _worths_by_standings(score, states, k, values, numbers):
    standings(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] = worth(score, numbers, seat)


@answers(worths, Lead)
@answers(worths, LeadAndMargin)
@answers(worths, Points)
@answers(worths, Relative)
@answers(worths, Margin)
@kernel
def _worths_by_points(score, states, k, values, numbers):
    scores(states[k], numbers)
    for seat in range(numbers.shape[0]):
        values[seat] = worth(score, numbers, seat)


@answers(worth, WinDrawLoss)
@kernel
def _share_of_win(score, numbers, seat):
    return share_of_win(numbers, seat, score.teams)


@answers(worth, Win)
@kernel
def _sole_win(score, numbers, seat):
    return 1.0 if share_of_win(numbers, seat, score.teams) == 1.0 else 0.0


@answers(worth, HalfWin)
@kernel
def _win_or_half(score, numbers, seat):
    share = share_of_win(numbers, seat, score.teams)
    return 0.5 if 0.0 < share < 1.0 else share


@answers(worth, Lead)
@kernel
def _lead(score, numbers, seat):
    return 1.0 if _margin(score, numbers, seat) > 0.0 else 0.0


@answers(worth, LeadAndMargin)
@kernel
def _lead_and_margin(score, numbers, seat):
    return _lead(score, numbers, seat) + _margin(score, numbers, seat) / 100.0


@answers(worth, Points)
@kernel
def _points(score, numbers, seat):
    return float(numbers[seat])


@answers(worth, Relative)
@kernel
def _relation(score, numbers, seat):
    mine, best = numbers[seat], best_rival(numbers, seat, score.teams)
    both = mine + best
    if both == 0:
        return 0.5 if mine == best else 1.0 if mine > best else 0.0
    share = mine / both if both > 0 else best / both
    return min(1.0, max(0.0, share))


@answers(worth, Margin)
@kernel
def _margin(score, numbers, seat):
    return float(numbers[seat] - best_rival(numbers, seat, score.teams))


SCORES = {
    "wdl": WinDrawLoss,
    "points": Points,
    "relative": Relative,
    "margin": Margin,
    "win": Win,
    "half": HalfWin,
    "lead": Lead,
    "windiff": LeadAndMargin,
}
OUTCOMES = ("wdl", "win", "half", "lead")  # those that depend only on who won
SCORE_UNITS = {
    "wdl": "win probability",
    "win": "sole wins",
    "half": "wins + ties/2",
    "lead": "leads",
    "windiff": "leads + margin/100",
    "points": "points",
    "relative": "share of points",
    "margin": "margin",
}
