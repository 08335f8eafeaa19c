"""Learning of value networks: TD(lambda) on afterstates, from games of self-play.

Every seat makes the turn after which the network gives the position the greatest value; some turns are random. When a game has ended, the
network learns the positions after turns (afterstates), as the seats that made the turns see them. The target mixes the value of the
next afterstate of the seat and the result of the game (lambda). Chance after a turn is not part of the afterstate. Before a seat
chooses, the information hidden from it is drawn anew.

learn_from_worths learns the values of turns that a search has found (training/teacher.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, uniform
from kdenv.core.questions import choose
from kdenv.core.turns import first_action, play_turn, play_turn_while_deciding
from kdenv.core.verbs import OVER, begin, phase, seat
from kdenv.networks.network import RELU, Array, Network, add_input, derive_activation, value_alone
from kdenv.networks.players import Valued, best_of, list_turns_of, weigh_listed_turns, worth_of_end
from kdenv.networks.self_play import GAMES, N_SUMS, NO_GUIDE, POSITIONS, SQUARED_ERRORS, TOO_LONG, comes_to_decide

MOST_TURNS = 4096  # of one game; the network does not learn from later turns
_MEASURED = 4  # on average one of this many steps updates the squared gradients: their roots take longer than the rest of a step
_KEPT = np.float32(0.996)  # the decay of the running mean of squared gradients
_LEAST = np.float32(1e-4)  # is added to the root of the mean, as epsilon in RMSProp
_LARGEST = np.float32(8.0)  # a step is at most this many times the rate
_FIRST_SQUARE = 1e-3  # the running mean before the first step
_0, _1 = np.float32(0.0), np.float32(1.0)
_NOT_LEARNED = -1  # in Learner.trail_seats instead of a seat: the position after a turn from which nothing is learned


class Learner(NamedTuple):
    """A network that learns, and the buffers for it. Threads may share weights, squares and paces, and nothing else."""

    player: Valued
    squares: Array  # by weight: the running mean of its squared gradient
    paces: Array  # by weight: 1 / the root of this mean, by which steps are scaled
    slopes: Array  # row l: the derivative of the error by the sums of layer l, before the activation
    states: Any  # 0: the game; 1: the same with hidden information drawn anew, as the seat to move sees it; 2: scratch of guides
    trail: Any  # the positions after the turns of this game
    trail_seats: NDArray[np.int64]  # the seats that made these turns, or _NOT_LEARNED
    targets: NDArray[np.float64]  # by seat: the target of the position learned next
    sums: NDArray[np.float64]  # statistics since they were set to 0


class Schedule(NamedTuple):
    """The settings of learning, which change during a training."""

    rate: float  # the learning rate
    random: float  # the share of random turns
    lam: float  # lambda, for each turn of a seat
    guided: float  # the probability that a guide plays a seat, drawn for each game and seat
    n_guides: int
    learns_from_guides: int  # whether the network learns also from the turns of guides
    in_steps: int  # whether the first decision of a turn is chosen before the others, which is faster but may miss the best turn
    all_seats: int  # whether a position is learned as all seats see it, or only as the seat that made the turn does


def first_squares(network: Network) -> Array:
    """Return the running means of squared gradients before the first step."""
    return np.full_like(network.weights, _FIRST_SQUARE)


def paces_of(squares: Array) -> Array:
    """Return the paces for these running means."""
    return _1 / (np.sqrt(squares) + _LEAST)


def learner_for(player: Valued, state_dtype: Any, players: int, squares: Array, paces: Array) -> Learner:
    """Make a learner with new buffers for this player."""
    return Learner(
        player=player,
        squares=squares,
        paces=paces,
        slopes=np.zeros_like(player.network.layers),
        states=np.zeros(3, state_dtype),
        trail=np.zeros(MOST_TURNS, state_dtype),
        trail_seats=np.zeros(MOST_TURNS, np.int64),
        targets=np.zeros(players),
        sums=np.zeros(N_SUMS),
    )


@kernel
def learn_from_games(learner, guides, schedule, players, variant, n_games, out, rng):
    """Play n_games from begin(), and learn from each. The players of guides, a Seated, play some of the seats, by the schedule."""
    for _ in range(n_games):
        for each in range(players):
            guided = schedule.guided > 0.0 and uniform(rng) < schedule.guided
            guides.which[each] = below(rng, schedule.n_guides) if guided else NO_GUIDE
        n = _play_game(learner, guides, schedule, players, variant, out, rng)
        _learn_from_trail(learner, schedule, players, n, rng)
        learner.sums[GAMES] += 1.0


@kernel
def _play_game(learner, guides, schedule, players, variant, out, rng):
    """Play a game and keep the positions after its turns in the trail; return how many there are."""
    s, trail, n = learner.states[0], learner.trail, 0
    begin(s, players, variant)
    while comes_to_decide(learner.states, rng, rng):
        # 1. The seat chooses a turn without the information hidden from it.
        mover = seat(s)
        is_guided = guides.which[mover] != NO_GUIDE
        if is_guided and not (schedule.random > 0.0 and uniform(rng) < schedule.random):
            turn = choose(guides, learner.states, 1, out, rng)
        else:
            turn = _turn_of(learner.player, learner.states, schedule, rng)
        # 2. Carry the turn out in the game itself, and keep the afterstate. The end of the game is known exactly and so is not learned.
        play_turn_while_deciding(s, turn, mover)
        if n == trail.shape[0]:
            learner.sums[TOO_LONG] += 1.0
        elif phase(s) != OVER:
            trail[n] = s
            learner.trail_seats[n] = mover if not is_guided or schedule.learns_from_guides != 0 else _NOT_LEARNED
            n += 1
    return n


@kernel
def _turn_of(player, states, schedule, rng):
    """Return the turn that the player chooses in states[1], or sometimes a random one, by the schedule."""
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
    """Compare the first actions of the listed turns; return where the turns with the best first action begin and end.

    Only one turn with each first action is evaluated. The random number `drawn` chooses its rest, which is the same for all first actions
    as far as possible. So a turn of two decisions costs as many evaluations as the sum of their numbers of actions, not the product.
    """
    turns, worths = player.room.turns, player.room.worths
    best, best_first, best_end, first = -np.inf, 0, n, 0
    while first < n:  # turns with the same first action follow each other in the list
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
    """Learn the values of the positions after these turns, which are legal in learner.states[0], for the seat that makes them.

    The arrays have a value (worths) and a factor of the rate (shares) for each turn. Finished games are not learned.
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
    """Learn the n positions of the trail, from the last to the first. The game in states[0] is over."""
    player = learner.player
    for each in range(players):
        learner.targets[each] = worth_of_end(player.goal, learner.states, 0, each, player.room.numbers)
    # With all_seats a seat learns about `players` positions for each of its turns, so lambda is spread over them.
    lam = schedule.lam ** (1.0 / players) if schedule.all_seats != 0 else schedule.lam
    for i in range(n - 1, -1, -1):
        mover = learner.trail_seats[i]
        if schedule.all_seats != 0:
            for each in range(players):
                _learn_one(learner, schedule, i, each, lam, rng)
        elif mover != _NOT_LEARNED:
            _learn_one(learner, schedule, i, mover, lam, rng)


@kernel
def _learn_one(learner, schedule, i, seat, lam, rng):
    """Learn targets[seat] as the value of position i of the trail for the seat, and set the target of the position before it."""
    target = learner.targets[seat]
    found = step_towards(learner, learner.trail, i, seat, target, schedule.rate, below(rng, _MEASURED) == 0)
    learner.targets[seat] = (1.0 - lam) * found + lam * target
    learner.sums[POSITIONS] += 1.0
    learner.sums[SQUARED_ERRORS] += (found - target) * (found - target)


@kernel
def step_towards(learner, states, k, seat, target, rate, measures):
    """Make a gradient step towards this target for states[k] as the seat sees it; return the value before the step.

    If `measures` is true, the gradients update their running mean squares.
    """
    network = learner.player.network
    found = float(value_alone(network, states, k, seat))
    # The error is half the squared difference, so its derivative by the value is the difference.
    learner.slopes[network.weights_at.shape[0] - 1, 0] = np.float32(found - target)
    _step_back(learner, np.float32(rate), measures)
    return found


@kernel
def _step_back(learner, rate, measures):
    """Backpropagation: compute the slopes of all layers from those of the last one, and change all weights."""
    network, slopes = learner.player.network, learner.slopes
    last, head = network.weights_at.shape[0] - 1, network.head[0]
    for layer in range(last, 0, -1):
        # 1. The slopes of the outputs of the layer before. They need the weights before the step, so each row is read, then changed.
        n_in, n_out = network.sizes[layer], network.sizes[layer + 1]
        before, at, bias_at = network.layers[layer - 1], network.weights_at[layer], network.biases_at[layer]
        if layer == last:
            at, bias_at = at + head * n_in, bias_at + head
        for i in range(n_in):
            slopes[layer - 1, i] = _0
        if n_out == 1:  # the weights follow each other; a gradient is input times slope, so these may change places in _change
            add_input(network.weights, at, slopes[layer, 0], n_in, slopes[layer - 1])
            _change(learner, at, slopes[layer, 0], before, n_in, rate, measures)
        else:
            for i in range(n_in):
                if network.activation == RELU and before[i] == _0:  # its slope and the gradients of its weights are 0
                    continue
                for j in range(n_out):
                    slopes[layer - 1, i] += network.weights[at + i * n_out + j] * slopes[layer, j]
                _change(learner, at + i * n_out, before[i], slopes[layer], n_out, rate, measures)
        # 2. The slopes of the sums, from those of the outputs.
        derive_activation(network.activation, before, n_in, slopes[layer - 1])
        _change(learner, bias_at, _1, slopes[layer], n_out, rate, measures)
    # 3. The first layer: only the weights of inputs that are not 0 have a gradient.
    n_out = network.sizes[1]
    for place in range(1, network.found[0] + 1):
        i = network.found[place]
        _change(learner, network.weights_at[0] + i * n_out, network.base[i], slopes[0], n_out, rate, measures)
    _change(learner, network.biases_at[0], _1, slopes[0], n_out, rate, measures)


@kernel
def _change(learner, at, x, slopes, n, rate, measures):
    """Make a step of RMSProp for n weights from `at` on, whose input is x. The slopes are those of their outputs."""
    weights, paces, squares = learner.player.network.weights, learner.paces, learner.squares
    at = max(at, 0)  # as in add_input
    if measures:
        for j in range(n):
            gradient = x * slopes[j]
            square = squares[at + j]
            if gradient != _0:  # else the mean of a rarely active input would sink, and its next step be too large
                square = _KEPT * square + (_1 - _KEPT) * (gradient * gradient)
            squares[at + j] = square
            paces[at + j] = np.divide(_1, np.sqrt(square) + _LEAST)
    for j in range(n):
        scaled = min(max(x * slopes[j] * paces[at + j], -_LARGEST), _LARGEST)
        weights[at + j] -= rate * scaled
