"""How a network of values learns: self-play of whole games, and a step towards TD(lambda) targets when each game ends.

Every seat takes the turn after which the network likes the position best; some turns are random. The position after a turn, as the seat
that took it sees it, should be worth what the seat finds after its next turn, mixed with how the game ends (lambda).
Chance after a turn is not looked at, and what the seat cannot know is drawn anew before it chooses.

learn_from_worths is for another teacher: it takes what the turns are worth from outside (training/teacher.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, next64, uniform
from kdenv.core.margins import best_rival, share_of_win
from kdenv.core.questions import choose, plays
from kdenv.core.turns import first_action, play_turn, play_turn_while_deciding
from kdenv.core.verbs import (
    CHANCE,
    OVER,
    apply_chance,
    begin,
    phase,
    resample_hidden,
    sample_chance,
    scores,
    seat,
    standings,
)
from kdenv.networks.network import RELU, Array, Network, add_input, go_on_from_first_layer, look, take_base
from kdenv.networks.players import Valued, best_of, list_turns_of, weigh_listed_turns, worth_of_end

MOST_TURNS = 4096  # of one game; the network does not learn from later turns
_MEASURED = 4  # on average one of this many steps measures gradients; square roots and divisions take more time than all the rest of a step
_KEPT = np.float32(0.996)  # the share of the running mean of squared gradients that is kept when they are measured
_LEAST = np.float32(1e-4)  # keeps the first steps small
_LARGEST = np.float32(8.0)  # a step is at most this many times the rate
_FIRST_SQUARE = 1e-3
_0, _1 = np.float32(0.0), np.float32(1.0)
N_SUMS = 4
GAMES, POSITIONS, SQUARED_ERRORS, TOO_LONG = range(N_SUMS)  # the places in Learner.sums


class BySeat(NamedTuple):
    """Up to four players: which[seat] says which of them decides."""

    which: NDArray[np.int64]
    first: Any
    second: Any
    third: Any
    fourth: Any


class Learner(NamedTuple):
    """A network that learns, and the buffers for it. Threads may share weights, squares and paces, and nothing else."""

    player: Valued
    squares: Array  # the running mean of the squared gradient of each weight,
    paces: Array  # ... and 1 / its root, by which steps are scaled
    slopes: Array  # row l: by how much the error grows with what layer l gives, before the activation
    states: Any  # 0: the game; 1: what the seat to move sees of it; 2: scratch of guides
    trail: Any  # the positions after the turns of this game
    trail_seats: NDArray[np.int64]  # whose turns these were; -1 for a turn that nothing is learned from
    targets: NDArray[np.float64]  # by seat
    sums: NDArray[np.float64]


class Schedule(NamedTuple):
    """How the network learns now."""

    rate: float  # the size of a step
    random: float  # the share of random turns
    lam: float  # how much the end counts against the next position, for each turn of a seat
    guided: float  # the probability that a guide plays a seat, drawn for each game and seat
    n_guides: int
    learns_from_guides: int  # whether the network learns from the turns of guides, too
    in_steps: int  # whether the first decision of a turn is chosen before the others, which is faster but may miss the best turn
    all_seats: int  # whether a position is learned as all seats see it; otherwise only as the one that took the turn does


@plays(BySeat)
@kernel
def _choose_by_seat(player, states, k, out, rng):
    which = player.which[seat(states[k])]
    if which == 0:
        return choose(player.first, states, k, out, rng)
    if which == 1:
        return choose(player.second, states, k, out, rng)
    if which == 2:
        return choose(player.third, states, k, out, rng)
    return choose(player.fourth, states, k, out, rng)


def first_squares(network: Network) -> Array:
    """What the mean squares are before the first step."""
    return np.full_like(network.weights, _FIRST_SQUARE)


def paces_of(squares: Array) -> Array:
    """The paces that belong to these mean squares."""
    return _1 / (np.sqrt(squares) + _LEAST)


def learner_for(player: Valued, state_dtype: Any, players: int, squares: Array, paces: Array) -> Learner:
    """Buffers for this player to learn in."""
    return Learner(
        player,
        squares,
        paces,
        np.zeros_like(player.network.layers),
        np.zeros(3, state_dtype),
        np.zeros(MOST_TURNS, state_dtype),
        np.zeros(MOST_TURNS, np.int64),
        np.zeros(players),
        np.zeros(N_SUMS),
    )


@kernel
def learn_from_games(learner, guides, schedule, players, variant, n_games, out, rng):
    """Play n_games from begin(), and learn from each. guides is a BySeat; its players take some seats, as the schedule says."""
    for _ in range(n_games):
        for each in range(players):
            guided = schedule.guided > 0.0 and uniform(rng) < schedule.guided
            guides.which[each] = below(rng, schedule.n_guides) if guided else -1
        n = _play_game(learner, guides, schedule, players, variant, out, rng)
        _learn_from_trail(learner, schedule, players, n, rng)
        learner.sums[GAMES] += 1.0


@kernel
def _play_game(learner, guides, schedule, players, variant, out, rng):
    """Play a game, and keep the positions after its turns in the trail; return how many there are."""
    s, trail, n = learner.states[0], learner.trail, 0
    begin(s, players, variant)
    while phase(s) != OVER:
        if phase(s) == CHANCE:
            apply_chance(s, sample_chance(s, rng))
            continue
        mover = seat(s)
        learner.states[1] = s
        resample_hidden(learner.states[1], mover, rng)
        is_guided = guides.which[mover] >= 0
        if is_guided and not (schedule.random > 0.0 and uniform(rng) < schedule.random):
            turn = choose(guides, learner.states, 1, out, rng)
        else:
            turn = _turn_of(learner.player, learner.states, schedule, rng)
        play_turn_while_deciding(s, turn, mover)
        if n == trail.shape[0]:
            learner.sums[TOO_LONG] += 1.0
        elif phase(s) != OVER:
            trail[n] = s
            learner.trail_seats[n] = mover if not is_guided or schedule.learns_from_guides != 0 else -1
            n += 1
    return n


@kernel
def _turn_of(player, states, schedule, rng):
    """The turn that the player takes in states[1]; sometimes a random one, as the schedule says."""
    room = player.room
    if schedule.random > 0.0 and uniform(rng) < schedule.random:
        return room.turns[below(rng, list_turns_of(player, states, 1))]
    n = list_turns_of(player, states, 1)
    first, end = 0, n
    if schedule.in_steps != 0:
        first, end = _best_first_action(player, n, below(rng, 1 << 20))
    weigh_listed_turns(player, first, end)
    return room.turns[best_of(room.worths, first, end)]


@kernel
def _best_first_action(player, n, drawn):
    """Compare the first actions of the listed turns, each by one of its turns; return where the turns with the best one begin and end.

    It is the same rest for all, as far as possible. So a turn of two decisions is found by looking at the sum of their numbers of actions,
    not at the product.
    """
    turns, worths = player.room.turns, player.room.worths
    best, best_first, best_end, first = -np.inf, 0, n, 0
    while first < n:
        end = first + 1
        while end < n and first_action(turns[end]) == first_action(turns[first]):
            end += 1
        i = first + drawn % (end - first)
        weigh_listed_turns(player, i, i + 1)
        if worths[i] > best:
            best, best_first, best_end = worths[i], first, end
        first = end
    return best_first, best_end


@kernel
def learn_from_worths(learner, turns, worths, shares, rate, rng):
    """Learn what the position after each of these turns, which are open in learner.states[0], is worth to the seat that takes it.

    shares: by turn, how much of the rate its step has. What the end of the game is worth is not learned.
    """
    states = learner.states
    mover = seat(states[0])
    for i in range(turns.shape[0]):
        states[1] = states[0]
        play_turn(states[1], turns[i])
        if phase(states[1]) == OVER:
            continue
        found = step_towards(learner, states, 1, mover, worths[i], rate * shares[i], below(rng, _MEASURED) == 0)
        learner.sums[POSITIONS] += 1.0
        learner.sums[SQUARED_ERRORS] += (found - worths[i]) * (found - worths[i])


@kernel
def _learn_from_trail(learner, schedule, players, n, rng):
    """Learn from the game in states[0], which is over, and from the n positions of its trail, backwards."""
    player = learner.player
    for each in range(players):
        learner.targets[each] = worth_of_end(player.goal, learner.states, 0, each, player.room.numbers)
    lam = schedule.lam ** (1.0 / players) if schedule.all_seats != 0 else schedule.lam
    for i in range(n - 1, -1, -1):
        mover = learner.trail_seats[i]
        if schedule.all_seats != 0:
            for each in range(players):
                _learn_one(learner, schedule, i, each, lam, rng)
        elif mover >= 0:
            _learn_one(learner, schedule, i, mover, lam, rng)


@kernel
def _learn_one(learner, schedule, i, seat, lam, rng):
    """Learn that position i of the trail is worth targets[seat] to the seat, and set the target for the position before."""
    target = learner.targets[seat]
    found = step_towards(learner, learner.trail, i, seat, target, schedule.rate, below(rng, _MEASURED) == 0)
    learner.targets[seat] = (1.0 - lam) * found + lam * target
    learner.sums[POSITIONS] += 1.0
    learner.sums[SQUARED_ERRORS] += (found - target) * (found - target)


@kernel
def step_towards(learner, states, k, seat, target, rate, measures):
    """Change the weights a little, so that what the seat sees of states[k] is worth more nearly this. Return what it was worth before.

    measures: whether the gradients of this step count in the mean squares.
    """
    network = learner.player.network
    look(network, states, k, seat)
    take_base(network)
    go_on_from_first_layer(network)
    last = network.weights_at.shape[0] - 1
    found = float(network.layers[last, 0])
    learner.slopes[last, 0] = np.float32(found - target)
    _step_back(learner, np.float32(rate), measures)
    return found


@kernel
def _step_back(learner, rate, measures):
    """Change all weights by the slopes of the last layer, which are given; the slopes of the other layers are computed."""
    network, slopes = learner.player.network, learner.slopes
    for layer in range(network.weights_at.shape[0] - 1, 0, -1):
        n_in, n_out = network.sizes[layer], network.sizes[layer + 1]
        before, at = network.layers[layer - 1], network.weights_at[layer]
        for i in range(n_in):
            slopes[layer - 1, i] = _0
        if n_out == 1:
            add_input(network.weights, at, slopes[layer, 0], n_in, slopes[layer - 1])
            _change(learner, at, slopes[layer, 0], before, n_in, rate, measures)
        else:
            for i in range(n_in):
                if network.activation == RELU and before[i] == _0:
                    continue
                for j in range(n_out):
                    slopes[layer - 1, i] += network.weights[at + i * n_out + j] * slopes[layer, j]
                _change(learner, at + i * n_out, before[i], slopes[layer], n_out, rate, measures)
        for i in range(n_in):
            if network.activation == RELU:
                slopes[layer - 1, i] = slopes[layer - 1, i] if before[i] > _0 else _0
            else:
                slopes[layer - 1, i] *= _1 - before[i] * before[i]
        _change(learner, network.biases_at[layer], _1, slopes[layer], n_out, rate, measures)
    n_out = network.sizes[1]
    for place in range(1, network.found[0] + 1):
        i = network.found[place]
        _change(learner, network.weights_at[0] + i * n_out, network.base[i], slopes[0], n_out, rate, measures)
    _change(learner, network.biases_at[0], _1, slopes[0], n_out, rate, measures)


@kernel
def _change(learner, at, x, slopes, n, rate, measures):
    """Change n weights from `at` on, whose input is x, against their gradients, each scaled by the running root mean square of its own."""
    weights, paces, squares = learner.player.network.weights, learner.paces, learner.squares
    at = max(at, 0)  # as in add_input
    if measures:
        for j in range(n):
            gradient = x * slopes[j]
            square = squares[at + j]
            if gradient != _0:  # else the mean of an input or unit that is rarely active would sink, and its next step be far too large
                square = _KEPT * square + (_1 - _KEPT) * (gradient * gradient)
            squares[at + j] = square
            paces[at + j] = np.divide(_1, np.sqrt(square) + _LEAST)
    for j in range(n):
        scaled = min(max(x * slopes[j] * paces[at + j], -_LARGEST), _LARGEST)
        weights[at + j] -= rate * scaled


@kernel
def measure_games(player, states, players, teams, variant, n_deals, out, margins, wins, numbers, chance, dice):
    """Let the first player of a BySeat play the second: n_deals deals, each with the first player in the place of every team in turn.

    Write the margin and the share of the win of the first player's team in every game. Chance is the same for all games of a deal.
    """
    s = states[0]
    n = 0
    for _ in range(n_deals):
        deal = next64(chance)
        for team in range(teams):
            chance[0] = deal | np.uint64(1)
            for each in range(players):
                player.which[each] = 0 if each % teams == team else 1
            begin(s, players, variant)
            while phase(s) != OVER:
                if phase(s) == CHANCE:
                    apply_chance(s, sample_chance(s, chance))
                    continue
                mover = seat(s)
                states[1] = s
                resample_hidden(states[1], mover, dice)
                play_turn_while_deciding(s, choose(player, states, 1, out, dice), mover)
            scores(s, numbers)
            margins[n] = float(numbers[team] - best_rival(numbers, team, teams))
            standings(s, numbers)
            wins[n] = share_of_win(numbers, team, teams)
            n += 1
