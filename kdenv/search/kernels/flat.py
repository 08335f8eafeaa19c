"""Flat Monte Carlo: every turn open now is tried by playouts to the end of the game; the best mean wins.

Uniform sampling: the turns take their playouts in rotation; or every playout is any turn's, as in the Monte Carlo Evaluation
of the 2018 Kingdomino paper, it seems: with fewer playouts than turns its results are met only so.
What the seat cannot see is drawn anew for every playout.
"""

import math
from typing import NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.verbs import resample_hidden
from kdenv.search.playout import play_out, play_turn
from kdenv.search.score import worth
from kdenv.search.select import urgency

SCRATCH = 4  # states that the playouts work in, the position included


class Tally(NamedTuple):
    """Per turn: how many playouts, and the sums of what they were worth and of its square."""

    visits: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


@kernel
def sample_in_rotation(states, seat, turns, n_turns, n_playouts, first, player, score, out, numbers, rng, tally):
    """Give the turns one playout each in rotation, n_playouts in all, beginning with turn `first`."""
    for i in range(first, first + n_playouts):
        try_turn(states, seat, turns, i % n_turns, player, score, out, numbers, rng, tally)


@kernel
def sample_at_random(states, seat, turns, n_turns, n_playouts, player, score, out, numbers, rng, tally):
    """Give each of n_playouts to any turn."""
    for _ in range(n_playouts):
        try_turn(states, seat, turns, below(rng, n_turns), player, score, out, numbers, rng, tally)


@kernel
def sample_by_urgency(states, seat, turns, n_turns, n_playouts, rule, least, player, score, out, numbers, rng, tally):
    """Give n_playouts, one by one, to the most urgent turn; first, in rotation, `least` of them to every turn."""
    n_done = 0
    for turn in range(n_turns):
        n_done += tally.visits[turn]
    for i in range(n_done, n_done + n_playouts):
        turn = i % n_turns if i < least * n_turns else most_urgent(rule, tally, n_turns, math.log(i), rng)
        try_turn(states, seat, turns, turn, player, score, out, numbers, rng, tally)


@kernel
def most_urgent(rule, tally, n_turns, log_n, rng):
    """The turn of the greatest urgency, ties at random; all have visits."""
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
def try_turn(states, seat, turns, turn, player, score, out, numbers, rng, tally):
    """Play the game to its end after one of the turns, in states[1], and count what it is worth."""
    states[1] = states[0]
    resample_hidden(states[1], seat, rng)
    play_turn(states[1], turns[turn])
    play_out(player, states, 1, out, rng)
    value = worth(score, states, 1, seat, numbers)
    tally.visits[turn] += 1
    tally.sums[turn] += value
    tally.squares[turn] += value * value


@kernel
def best_mean(tally, n_turns, rng):
    """The turn of the best mean, ties at random."""
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
