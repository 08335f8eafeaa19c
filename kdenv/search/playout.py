"""Playing a position to its end, by any players that `choose` knows; and players made of other players."""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.kernel import allocating_kernel, kernel
from kdenv.compiler.random import below, uniform
from kdenv.core.questions import choose, first_action, packed, plays, rest_of
from kdenv.core.verbs import CHANCE, DECIDE, OVER, apply, apply_chance, begin, legal, phase, sample_chance, scores, seat


class Uniform(NamedTuple):
    """Every decision at random among the legal actions."""


class EpsilonGreedy(NamedTuple):
    """Turn by turn: at random with probability epsilon, else as the greedy player does."""

    greedy: NamedTuple
    epsilon: float


class Split(NamedTuple):
    """One player for this seat, another for all other seats."""

    seat: int
    mine: NamedTuple
    others: NamedTuple


class Seated(NamedTuple):
    """Up to four players, each for some seats, which are given as bits; the last for all that are left.

    Not nested, as it could be with two: a kernel that calls itself through its parts cannot be kept on disk.
    """

    first_seats: int
    first: NamedTuple
    second_seats: int
    second: NamedTuple
    third_seats: int
    third: NamedTuple
    last: NamedTuple


@plays(Uniform)
@kernel
def _choose_uniformly(player, states, k, out, rng):
    n = legal(states[k], out)
    return packed(out[below(rng, n)])


@plays(EpsilonGreedy)
@kernel
def _choose_epsilon_greedily(player, states, k, out, rng):
    if uniform(rng) < player.epsilon:
        return random_turn(states, k, out, rng)
    return choose(player.greedy, states, k, out, rng)


@plays(Split)
@kernel
def _choose_by_seat(player, states, k, out, rng):
    if seat(states[k]) == player.seat:
        return choose(player.mine, states, k, out, rng)
    return choose(player.others, states, k, out, rng)


@plays(Seated)
@kernel
def _choose_as_seated(player, states, k, out, rng):
    mover = seat(states[k])
    if (player.first_seats >> mover) & 1:
        return choose(player.first, states, k, out, rng)
    if (player.second_seats >> mover) & 1:
        return choose(player.second, states, k, out, rng)
    if (player.third_seats >> mover) & 1:
        return choose(player.third, states, k, out, rng)
    return choose(player.last, states, k, out, rng)


@kernel
def random_turn(states, k, out, rng):
    """A whole turn, every decision at random; states[k + 1] is scratch."""
    states[k + 1] = states[k]
    s = states[k + 1]
    mover = seat(s)
    turn, shift = 0, 0
    while shift < 64 and phase(s) == DECIDE and seat(s) == mover:
        action = out[below(rng, legal(s, out))]
        turn |= (action + 1) << shift
        shift += 16
        apply(s, action)
    return turn


@kernel
def play_turn(s, turn):
    """Carry out a packed turn."""
    while turn != 0:
        apply(s, first_action(turn))
        turn = rest_of(turn)


@kernel
def play_out(player, states, k, out, rng):
    """Play states[k] to its end; states[k + 1] and out are scratch. Returns the number of turns."""
    n_turns = 0
    while True:
        now = phase(states[k])
        if now == OVER:
            return n_turns
        if now == CHANCE:
            apply_chance(states[k], sample_chance(states[k], rng))
        else:
            play_turn(states[k], choose(player, states, k, out, rng))
            n_turns += 1


@kernel
def decisions_left(player, states, mover, most_decisions, n_games, out, rng):
    """How many decisions the seat `mover` has left in states[0] if all go on like player, on average over n_games.

    A decision is a whole turn, or in games that think in single decisions one that is not forced.
    """
    n = 0
    for _ in range(n_games):
        states[1] = states[0]
        goes_on = False  # with a turn of the mover
        turn = 0
        while phase(states[1]) != OVER:
            if phase(states[1]) == CHANCE:
                apply_chance(states[1], sample_chance(states[1], rng))
                goes_on = False
                continue
            is_mine = seat(states[1]) == mover
            if is_mine and (legal(states[1], out) > 1 if most_decisions == 1 else not goes_on):
                n += 1
            goes_on = is_mine
            turn = choose(player, states, 1, out, rng) if turn == 0 else turn
            apply(states[1], first_action(turn))
            turn = rest_of(turn)
    return n / n_games


@allocating_kernel
def play_games(player, states, n_games, out, rng, totals):
    """Play n_games from states[0] to their ends, adding the points of each seat to totals; returns the turns played."""
    n_turns = 0
    points = np.zeros(totals.shape[0], np.int64)
    for _ in range(n_games):
        states[1] = states[0]
        n_turns += play_out(player, states, 1, out, rng)
        _add_scores(states, 1, points, totals)
    return n_turns


@kernel
def _add_scores(states, k, points, totals):
    scores(states[k], points)
    for i in range(totals.shape[0]):
        totals[i] += points[i]


@kernel
def random_games(states, n_games, players, variant, out, points, rng):
    """Whole games in states[1], from begin() to scores(), every decision at random: what the speed of rules is measured by."""
    for _ in range(n_games):
        s = states[1]
        begin(s, players, variant)
        while True:
            now = phase(s)
            if now == OVER:
                break
            if now == CHANCE:
                apply_chance(s, sample_chance(s, rng))
            else:
                apply(s, out[below(rng, legal(s, out))])
        scores(s, points)
