"""Prints the table of kdenv/arena/README.md on the coverage of rating intervals, for leagues drawn from known strengths.

    python -m baselines.tools.rated_leagues 1000     # leagues of each row

No game is played. Placings are drawn from the model, with ties, and with luck that some games of a deal share. The luck belongs to
the policies (the deal suits one of them, whatever its seat) or to the seats (then it turns round when they change seats).
"""

import math
import sys
from typing import NamedTuple

import numpy as np

from kdenv.arena.pairings import even_tables
from kdenv.arena.ratings import POINTS, Places, Placings


class League(NamedTuple):
    """A league: the strengths, the number of teams at a table, and the distribution of its games."""

    strengths: tuple[float, ...]
    teams: int
    deals: int
    shared: float  # the probability that a game shares its luck with the first one of its deal
    ties: float  # the probability of a tie, as a share of the largest that leaves the strengths unchanged
    of_seats: bool  # the luck belongs to the seats, not to the policies
    anchor: int | None = None


SPREAD = tuple(np.linspace(-1.2, 1.2, 6).round(6).tolist())
WIDE = tuple(np.linspace(-3.0, 3.0, 6).round(6).tolist())
EIGHT = tuple(np.linspace(-1.0, 1.0, 8).round(6).tolist())
LEAGUES = {
    "two policies": League((0.0, 0.8), 2, 20, 0.5, 0.1, False),
    "three policies, one has 0": League((-0.5, 0.0, 0.5), 2, 20, 0.5, 0.1, True, anchor=0),
    "six, games of a deal independent": League(SPREAD, 2, 20, 0.0, 0.3, False),
    "six, deals that suit a policy": League(SPREAD, 2, 20, 0.7, 0.3, False),
    "six, deals that suit a seat": League(SPREAD, 2, 20, 0.7, 0.3, True),
    "six, 10 deals a table": League(SPREAD, 2, 10, 0.7, 0.3, False),
    "six, 100 deals a table": League(SPREAD, 2, 100, 0.7, 0.3, True),
    "six that differ much": League(WIDE, 2, 50, 0.5, 0.3, True),
    "one far below": League((0.0, 0.3, 0.6, 0.9, -4.0), 2, 20, 0.5, 0.3, False),
    "eight at tables of four, deals that suit a policy": League(EIGHT, 4, 20, 0.7, 0.3, False),
    "eight at tables of four, deals that suit a seat": League(EIGHT, 4, 20, 0.7, 0.3, True),
    "eight at tables of three, 10 deals": League(EIGHT, 3, 10, 0.5, 0.3, False),
}
# Leagues in which somebody wins seldom or never.
FAR_APART = {
    "two, 850 points apart, 20 deals": League((0.0, 4.9), 2, 20, 0.5, 0.1, False),
    "two, 1,050 points apart, 20 deals": League((0.0, 6.0), 2, 20, 0.5, 0.1, False),
    "two, 1,050 points apart, 100 deals": League((0.0, 6.0), 2, 100, 0.5, 0.1, False),
    "two, 1,200 points apart, 100 deals": League((0.0, 7.0), 2, 100, 0.0, 0.1, False),
    "two, 1,400 points apart, 100 deals": League((0.0, 8.0), 2, 100, 0.5, 0.1, True),
    "four, each 700 points above the next": League((-6.0, -2.0, 2.0, 6.0), 2, 50, 0.5, 0.1, True),
    "five, the last 950 points below": League((0.0, 0.3, 0.6, 0.9, -5.0), 2, 50, 0.5, 0.3, False),
    "four at one table, the last 750 points below": League((0.0, 0.3, 0.6, -4.0), 4, 100, 0.5, 0.3, True),
}


class Coverage(NamedTuple):
    """Numbers of intervals with two ends and with one, and of those that contain the true rating."""

    closed: int
    closed_right: int
    open: int
    open_right: int


def coverage(league: League, leagues: int, seed: int = 14) -> Coverage:
    """Draw this number of leagues, rate them, and count the intervals that contain the true rating. The anchor has none."""
    rng = np.random.default_rng(seed)
    counts = [0, 0, 0, 0]
    for _ in range(leagues):
        ratings = drawn(league, rng).rate(league.anchor)
        truth = POINTS * (np.array(league.strengths) - np.mean([league.strengths[each] for each in ratings.reference]))
        for policy, estimate in enumerate(ratings.estimates):
            assert math.isfinite(estimate.mean)
            assert estimate.has_interval
            if policy != league.anchor:
                is_open = math.isinf(estimate.low) or math.isinf(estimate.high)
                counts[2 * is_open] += 1
                counts[2 * is_open + 1] += estimate.low <= truth[policy] <= estimate.high
    return Coverage(*counts)


def drawn(league: League, rng: np.random.Generator) -> Placings:
    """The games of a league, drawn from its strengths."""
    n = len(league.strengths)
    placings = Placings(n, league.teams)
    for table in even_tables(n, league.teams, 1, lambda one, other: True, []):
        strengths = np.array([league.strengths[policy] for policy in table])
        for deal in range(league.deals):
            first = rng.gumbel(size=league.teams)
            for game in range(league.teams):
                luck = rng.gumbel(size=league.teams)
                if rng.random() < league.shared:
                    luck = np.roll(first, game) if league.of_seats else first
                placings.add(table, deal, finish(strengths, luck, league.ties, rng))
    return placings


def finish(strengths: np.ndarray, luck: np.ndarray, ties: float, rng: np.random.Generator) -> Places:
    """The places of a game. A policy with more strength and luck (from a Gumbel distribution) is before one with less: Plackett and Luce.

    Two neighbours tie now and then, as often if the one is before the other as if it is behind. So breaking ties at random
    gives the places without ties, and the strengths are what they were.
    """
    order = np.argsort(-(strengths + luck))
    places = np.argsort(order)
    at = int(rng.integers(len(order) - 1))
    one, other = order[at], order[at + 1]
    behind = np.exp(strengths[order[at + 2 :]]).sum()
    odds = (math.exp(strengths[other]) + behind) / (math.exp(strengths[one]) + behind)  # of the two orders, the other against this one
    if rng.random() < ties * min(1.0, odds):
        places[other] = places[one]
    return tuple(places.tolist())


def main(leagues: int) -> None:
    """Print the table."""
    print("| league | two-sided intervals | hold the truth | one-sided | hold the truth |")
    print("|---|---|---|---|---|")
    for name, league in (LEAGUES | FAR_APART).items():
        found = coverage(league, leagues)
        open_right = f"{100 * found.open_right / found.open:.1f} %" if found.open else "-"
        print(
            f"| {name} | {found.closed:,} | {100 * found.closed_right / found.closed:.1f} % | {found.open:,} | {open_right} |", flush=True
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
