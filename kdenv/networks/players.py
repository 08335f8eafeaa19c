"""Players that follow a network: `Valued` takes the turn after which the network likes the position best, `Drawn` asks it for an action.

Both are parts that answer `choose`, so they play at the table, in playouts and in the kernels of environments. They hold buffers. So
each thread needs a part of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.compiler.random import uniform
from kdenv.core.game import Game
from kdenv.core.margins import best_rival
from kdenv.core.questions import estimate, plays, reach
from kdenv.core.turns import MAX_DECISIONS, SCRATCH, packed, play_turn, write_turns
from kdenv.core.verbs import OVER, legal, phase, scores, seat, standings
from kdenv.networks.network import Network, look, value, value_alone, values_of
from kdenv.search.score import worths


class Goal(NamedTuple):
    """What the end of a game is worth to a seat, and so what a network of values predicts: a score like those of searches.

    It is (1 - win) * margin / scale + win * (1 for a win, 0 for a draw, -1 for a loss).
    """

    teams: int
    scale: float
    win: float


@kernel
def worth_of_end(goal, states, k, seat, numbers):
    """What the finished game in states[k] is worth to the seat; numbers is scratch, one int64 per seat."""
    scores(states[k], numbers)
    by_margin = float(numbers[seat] - best_rival(numbers, seat, goal.teams)) / goal.scale
    if goal.win == 0.0:
        return by_margin
    standings(states[k], numbers)
    rival = best_rival(numbers, seat, goal.teams)
    by_win = 1.0 if numbers[seat] > rival else 0.0 if numbers[seat] == rival else -1.0
    return (1.0 - goal.win) * by_margin + goal.win * by_win


@answers(worths, Goal)
@kernel
def _worths_by_goal(goal, states, k, values, numbers):
    for each in range(numbers.shape[0]):
        values[each] = worth_of_end(goal, states, k, each, numbers)


class Turns(NamedTuple):
    """Buffers for a list of turns, and what the position after each of them is worth."""

    most_decisions: int
    turns: NDArray[np.int64]
    worths: NDArray[np.float64]
    states: Any  # 0: the position; 1 to SCRATCH: positions after it
    actions: NDArray[np.int64]
    n_actions: NDArray[np.int64]
    at: NDArray[np.int64]
    numbers: NDArray[np.int64]  # one for each seat


def turns_for(game: Game, players: int) -> Turns:
    """New buffers for this game."""
    return Turns(
        game.most_decisions,
        np.zeros(game.max_turns, np.int64),
        np.zeros(game.max_turns),
        np.zeros(1 + SCRATCH, game.state_dtype),
        np.zeros((MAX_DECISIONS, game.max_legal), np.int64),
        np.zeros(MAX_DECISIONS, np.int64),
        np.zeros(MAX_DECISIONS, np.int64),
        np.zeros(players, np.int64),
    )


class Valued(NamedTuple):
    """A player that takes the turn after which the position is worth most, as the network sees it. It is an evaluator, too."""

    network: Network  # gives one number, the worth of a position to the seat that sees it
    goal: Goal
    room: Turns


class Drawn(NamedTuple):
    """A player that takes the legal action to which the network gives the greatest number, or draws one from their softmax."""

    network: Network  # gives a number for each action
    sample: int


@kernel
def weigh_turns(player, states, k):
    """List the turns open in states[k] in player.room.turns, and write what each is worth to room.worths; return how many there are.

    A turn is worth what the network says about the position after it, before any chance, as the seat that takes the turn sees it. If the
    game is over then, it is worth what the end is worth.
    """
    n = list_turns_of(player, states, k)
    weigh_listed_turns(player, 0, n)
    return n


@kernel
def weigh_often(player, states, k, n):
    """Weigh the turns open in states[k] n times, so that Python can measure how long it takes; return how many there are."""
    n_turns = 0
    for _ in range(n):
        n_turns = weigh_turns(player, states, k)
    return n_turns


@kernel
def list_turns_of(player, states, k):
    """List the turns open in states[k] in player.room.turns, and let the network look at the first of them; return how many there are."""
    room = player.room
    room.states[0] = states[k]
    n = write_turns(room.states, 0, room.most_decisions, room.actions, room.n_actions, room.at, room.turns)
    look_at_first(player)
    return n


@kernel
def look_at_first(player):
    """Let the network look at the position after the first of the listed turns, before they are weighed."""
    room = player.room
    room.states[1] = room.states[0]
    play_turn(room.states[1], room.turns[0])
    look(player.network, room.states, 1, seat(room.states[0]))


@kernel
def weigh_listed_turns(player, first, end):
    """Write what each of these listed turns is worth to player.room.worths."""
    room = player.room
    mover = seat(room.states[0])
    for i in range(first, end):
        room.states[1] = room.states[0]
        play_turn(room.states[1], room.turns[i])
        room.worths[i] = worth_of_position(player, room.states, 1, mover)


@kernel
def worth_of_position(player, states, k, seat):
    """What states[k] is worth to the seat, by what it sees. It differs little from the position that `look` has read last."""
    if phase(states[k]) == OVER:
        return worth_of_end(player.goal, states, k, seat, player.room.numbers)
    return float(value(player.network, states, k, seat))


@kernel
def best_of(worths, first, end):
    """The index of the greatest of the numbers from first to end - 1; of equal ones, the first."""
    best = first
    for i in range(first + 1, end):
        if worths[i] > worths[best]:
            best = i
    return best


@plays(Valued)
@kernel
def _choose_by_value(player, states, k, out, rng):
    n = weigh_turns(player, states, k)
    return player.room.turns[best_of(player.room.worths, 0, n)]


@answers(estimate, Valued)
@kernel
def _estimate(evaluator, states, k, seat, numbers):
    if phase(states[k]) == OVER:
        return worth_of_end(evaluator.goal, states, k, seat, numbers)
    return float(value_alone(evaluator.network, states, k, seat))


@answers(reach, Valued)
@kernel
def _reach(evaluator, states, k, seat, numbers):
    return 4.0 + evaluator.goal.win


@plays(Drawn)
@kernel
def _choose_by_odds(player, states, k, out, rng):
    network = player.network
    look(network, states, k, seat(states[k]))
    n = legal(states[k], out)
    values_of(network, out, n)
    given = network.layers[network.weights_at.shape[0] - 1]
    best = out[0]
    for i in range(1, n):
        if given[out[i]] > given[best]:
            best = out[i]
    if player.sample == 0:
        return packed(best)
    total = 0.0
    for i in range(n):
        total += np.exp(float(given[out[i]]) - float(given[best]))
    left = uniform(rng) * total
    for i in range(n):
        left -= np.exp(float(given[out[i]]) - float(given[best]))
        if left < 0.0:
            return packed(out[i])
    return packed(out[n - 1])
