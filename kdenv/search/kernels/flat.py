"""Flat Monte Carlo: estimates the value of each legal turn by playouts, and chooses the turn with the best mean.

There are three ways to distribute the playouts: in rotation, at random, or by a selection rule. The Monte Carlo Evaluation of the 2018
Kingdomino paper seems to do it at random, because only this reproduces its results with fewer playouts than turns.
In rotation the turns may share their luck: the playouts of one rotation begin with the same random numbers (common random numbers).
Hidden information is drawn anew for every playout.
"""

import math
from typing import NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, make_rng, next64
from kdenv.core.turns import play_turn
from kdenv.core.verbs import resample_hidden
from kdenv.search.outcome import play_on
from kdenv.search.select import urgency

N_STATES = 3  # the position, a playout, and one that the player of the playout may write to


class Tally(NamedTuple):
    """For each turn: the number of its playouts, the sum of their values, and the sum of the squares of their values."""

    visits: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


def new_tally(n_turns: int) -> Tally:
    """Make a tally of no playouts."""
    return Tally(visits=np.zeros(n_turns, np.int64), sums=np.zeros(n_turns), squares=np.zeros(n_turns))


class Luck(NamedTuple):
    """The common random numbers of the playouts of one rotation, and the differences between these playouts."""

    seed: np.ndarray  # one number: the state of the generator with which each playout of this rotation begins
    drawn: np.ndarray  # the generator of the current playout
    first: np.ndarray  # one number: the value of the playout of the first turn in this rotation
    leads: Tally  # of the differences between the value of each turn and that of the first turn in the same rotation


def new_luck(n_turns: int) -> Luck:
    """Make the common random numbers of a search that has made no playouts."""
    return Luck(seed=np.zeros(1, np.uint64), drawn=make_rng(0), first=np.zeros(1), leads=new_tally(n_turns))


@kernel
def sample_in_rotation(states, seat, turns, n_playouts, first, playouts, rng, tally):
    """Make n_playouts in rotation: one for each turn, beginning with turn `first` modulo the number of turns."""
    for i in range(first, first + n_playouts):
        try_turn(states, seat, turns, i % turns.shape[0], playouts, rng, tally)


@kernel
def sample_with_common_luck(states, seat, turns, n_playouts, first, playouts, rng, luck, tally):
    """Do the same as sample_in_rotation, but begin all playouts of a rotation with the same random numbers.

    They meet the same outcomes of chance and the same hidden information, as long as they draw equally often. This reduces the variance
    of the difference between two turns.
    """
    for i in range(first, first + n_playouts):
        turn = i % turns.shape[0]
        if turn == 0:
            luck.seed[0] = next64(rng) | np.uint64(1)
        luck.drawn[0] = luck.seed[0]
        try_turn(states, seat, turns, turn, playouts, luck.drawn, tally)
        if turn == 0:
            luck.first[0] = playouts.values[seat]
        _count(luck.leads, turn, playouts.values[seat] - luck.first[0])


@kernel
def sample_at_random(states, seat, turns, n_playouts, playouts, rng, tally):
    """Make n_playouts, each for a random turn."""
    for _ in range(n_playouts):
        try_turn(states, seat, turns, below(rng, turns.shape[0]), playouts, rng, tally)


@kernel
def sample_by_urgency(states, seat, turns, n_playouts, rule, least, playouts, rng, tally):
    """Make n_playouts, each for the most urgent turn. Before that, every turn gets `least` playouts, in rotation."""
    n_turns, n_done = turns.shape[0], 0
    for turn in range(n_turns):
        n_done += tally.visits[turn]
    for i in range(n_done, n_done + n_playouts):
        turn = i % n_turns if i < least * n_turns else most_urgent(rule, tally, n_turns, math.log(i), rng)
        try_turn(states, seat, turns, turn, playouts, rng, tally)


@kernel
def most_urgent(rule, tally, n_turns, log_n, rng):
    """Return the index of the turn with the greatest urgency; ties are broken at random. Every turn must have visits."""
    best, n_best, chosen = -np.inf, 0, 0
    for turn in range(n_turns):
        u = urgency(rule, tally.visits[turn], tally.sums[turn], tally.squares[turn], 0.0, log_n, rng)
        if u > best:
            best, n_best, chosen = u, 1, turn
        elif u == best:
            n_best += 1
            if below(rng, n_best) == 0:
                chosen = turn
    return chosen


@kernel
def try_turn(states, seat, turns, turn, playouts, rng, tally):
    """Make a playout after turns[turn] in states[1], and add its value to the tally."""
    play_after(states, seat, turns[turn], playouts, rng)
    _count(tally, turn, playouts.values[seat])


@kernel
def _count(tally, turn, value):
    """Add a value to the tally of a turn."""
    tally.visits[turn] += 1
    tally.sums[turn] += value
    tally.squares[turn] += value * value


@kernel
def play_after(states, seat, turn, playouts, rng):
    """Make a playout after this turn in states[1]."""
    states[1] = states[0]
    resample_hidden(states[1], seat, rng)
    play_turn(states[1], turn)
    play_on(playouts, states, 1, seat, seat, rng)


@kernel
def best_mean(tally, n_turns, rng):
    """Return the index of the turn with the best mean of those with visits; ties are broken at random."""
    best, n_best, chosen = -np.inf, 0, 0
    for turn in range(n_turns):
        if tally.visits[turn] == 0:
            continue
        mean = tally.sums[turn] / tally.visits[turn]
        if mean > best:
            best, n_best = mean, 0
        if mean == best:
            n_best += 1
            if below(rng, n_best) == 0:
                chosen = turn
    return chosen
