"""Players that follow a network: `Valued` chooses the turn with the best value, and `Drawn` an action by the outputs of a policy network.

Both answer `choose`, so they play at the table, in playouts and in the kernels of environments. They hold buffers, so each thread needs
its own copy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.core.game import Game
from kdenv.core.margins import best_rival
from kdenv.core.questions import estimate, plays, reach
from kdenv.core.turns import MAX_DECISIONS, SCRATCH, packed, play_turn, write_turns
from kdenv.core.verbs import OVER, legal, phase, scores, seat, standings
from kdenv.networks.network import Network, look, value, value_alone, values_of
from kdenv.search.score import worths
from kdenv.search.softmax import draw_by_softmax


class Goal(NamedTuple):
    """The value of a finished game to a seat, which a value network predicts: a score like those of searches.

    It is (1 - win) * margin / scale + win * (1 for a win, 0 for a draw, -1 for a loss).
    """

    teams: int
    scale: float
    win: float


@kernel
def worth_of_end(goal, states, k, seat, numbers):
    """Return the value of the finished game in states[k] to the seat; numbers is scratch, one int64 per seat."""
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
    """Buffers for a list of turns and the values of the positions after them."""

    most_decisions: int
    turns: NDArray[np.int64]
    worths: NDArray[np.float64]
    states: Any  # 0: the position; 1 to SCRATCH: positions after it
    actions: NDArray[np.int64]
    n_actions: NDArray[np.int64]
    at: NDArray[np.int64]
    numbers: NDArray[np.int64]  # one for each seat


def turns_for(game: Game, players: int) -> Turns:
    """Make buffers for this game."""
    return Turns(
        most_decisions=game.most_decisions,
        turns=np.zeros(game.max_turns, np.int64),
        worths=np.zeros(game.max_turns),
        states=np.zeros(1 + SCRATCH, game.state_dtype),
        actions=np.zeros((MAX_DECISIONS, game.max_legal), np.int64),
        n_actions=np.zeros(MAX_DECISIONS, np.int64),
        at=np.zeros(MAX_DECISIONS, np.int64),
        numbers=np.zeros(players, np.int64),
    )


class Valued(NamedTuple):
    """A player that chooses the turn after which the network gives the position the greatest value. It is an evaluator, too."""

    network: Network  # has one output, the value of a position to the observer
    goal: Goal
    room: Turns


class Drawn(NamedTuple):
    """A player that chooses the legal action with the greatest output of the network, or draws one from the softmax of the outputs."""

    network: Network  # has an output for each action
    sample: int  # whether actions are drawn


class Scored(NamedTuple):
    """A player that takes the legal action after which the position has the greatest score, or draws one from the softmax of the scores.

    A score has no unit, and the end of the game has one like any other position.
    """

    network: Network  # gives one number, the score of a position to the seat that sees it
    sample: int
    room: Turns  # of single decisions


@kernel
def score_actions(player, states, k):
    """List the legal actions of states[k] as turns in player.room.turns, and write their scores to room.worths; return how many."""
    n = list_turns_of(player, states, k)
    room = player.room
    mover = seat(room.states[0])
    for i in range(n):
        room.states[1] = room.states[0]
        play_turn(room.states[1], room.turns[i])
        room.worths[i] = float(value(player.network, room.states, 1, mover))
    return n


@kernel
def weigh_turns(player, states, k):
    """List the legal turns of states[k] in player.room.turns, and write their values to room.worths; return how many there are.

    The value of a turn is the output of the network for the position after it, before any chance, as the seat that makes it sees it. If
    the game is over then, it is the value of the end.
    """
    n = list_turns_of(player, states, k)
    weigh_listed_turns(player, 0, n)
    return n


@kernel
def weigh_often(player, states, k, n):
    """Do the same as weigh_turns n times, so that Python can measure the time."""
    n_turns = 0
    for _ in range(n):
        n_turns = weigh_turns(player, states, k)
    return n_turns


@kernel
def list_turns_of(player, states, k):
    """List the legal turns of states[k] in player.room.turns, and let the network look at the first of them; return how many there are."""
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
    """Write the values of these listed turns to player.room.worths."""
    room = player.room
    mover = seat(room.states[0])
    for i in range(first, end):
        room.states[1] = room.states[0]
        play_turn(room.states[1], room.turns[i])
        room.worths[i] = worth_of_position(player, room.states, 1, mover)


@kernel
def worth_of_position(player, states, k, seat):
    """Return the value of states[k] to the seat. The position should differ little from the one that `look` has read last."""
    if phase(states[k]) == OVER:
        return worth_of_end(player.goal, states, k, seat, player.room.numbers)
    return float(value(player.network, states, k, seat))


@kernel
def best_of(worths, first, end):
    """Return the index of the greatest of the numbers from first to end - 1; of equal ones, the first."""
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
    for i in range(n):  # legal actions ascend, so out[i] >= i and no output is overwritten before it is read
        given[i] = given[out[i]]
    return packed(out[_chosen(given, n, player.sample, rng)])


@plays(Scored)
@kernel
def _choose_by_score(player, states, k, out, rng):
    n = score_actions(player, states, k)
    return player.room.turns[_chosen(player.room.worths, n, player.sample, rng)]


@kernel
def _chosen(numbers, n, sample, rng):
    """Return the index of the greatest of the first n numbers or, if `sample` is not 0, one drawn from their softmax."""
    return best_of(numbers, 0, n) if sample == 0 else draw_by_softmax(numbers, n, rng)
