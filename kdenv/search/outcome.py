"""The value of a playout: it is played to the end of the game and scored, or cut short, and then an evaluator estimates the position.

Searches call `play_on` for both kinds. Networks learn the values of positions right after a turn, as seen by the seat that made the
turn. So a playout is cut short right after a turn, before chance. Where possible, a seat's estimate is of a position after its own turn.
"""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.core.questions import estimate
from kdenv.core.turns import finish_turn
from kdenv.core.verbs import CHANCE, OVER, apply_chance, phase, sample_chance, seat
from kdenv.search.playout import play_out
from kdenv.search.score import worths

ALL_SEATS = -1


class Playouts(NamedTuple):
    """Playouts to the end of the game."""

    player: Any  # decides for all seats
    score: Any  # answers worths
    out: np.ndarray  # scratch for choose
    values: np.ndarray  # by seat: the value of the last playout
    numbers: np.ndarray  # scratch for worths


class CutShort(NamedTuple):
    """Playouts that are cut short after some turns. An evaluator estimates the position then, in the unit of the score."""

    player: Any
    score: Any
    out: np.ndarray
    values: np.ndarray
    numbers: np.ndarray
    evaluator: Any  # answers estimate
    turns: int  # the length of a playout
    teams: int
    most_decisions: int  # of a turn
    unfinished: int  # the most decisions that may be left of the turn made before a playout begins


@question
def play_on(playouts, states, k, mover, wanted, rng):
    """Make a playout from states[k], and write its value for the seat `wanted`, or for ALL_SEATS, to playouts.values.

    The seat `mover` moved last. The state after states[k] is scratch.
    """


@answers(play_on, Playouts)
@kernel
def _play_to_the_end(playouts, states, k, mover, wanted, rng):
    play_out(playouts.player, states, k, playouts.out, rng)
    worths(playouts.score, states, k, playouts.values, playouts.numbers)


@answers(play_on, CutShort)
@kernel
def _play_some_turns(playouts, states, k, mover, wanted, rng):
    """Play the turns and estimate the last position. With two teams the estimates of both are the negatives of each other.

    With more teams, if one seat is wanted, the playout continues until this seat has had a turn. If all are wanted, each estimate is of
    the position after the last turn of the seat; for seats without a turn it is of the last position.
    """
    n_seats = playouts.values.shape[0]
    by_seat = playouts.teams > 2
    asked, n = 0, 0  # the seats with an estimate, as bits; the turns played
    # 1. Finish the turn of the search, which may have made a part of it only.
    finish_turn(playouts.player, states, k, mover, playouts.unfinished, playouts.out, rng)
    # 2. Play the turns. Any of the last n_seats turns may be the last one of its seat.
    while phase(states[k]) != OVER and (n < playouts.turns or (by_seat and wanted != ALL_SEATS and mover != wanted)):
        if phase(states[k]) == CHANCE:
            apply_chance(states[k], sample_chance(states[k], rng))
            continue
        mover = seat(states[k])
        finish_turn(playouts.player, states, k, mover, playouts.most_decisions, playouts.out, rng)
        n += 1
        if by_seat and wanted == ALL_SEATS and n > playouts.turns - n_seats and phase(states[k]) != OVER:
            playouts.values[mover] = estimate(playouts.evaluator, states, k, mover, playouts.numbers)
            asked |= 1 << mover
    # 3. The end of the game is scored; else estimate for the seats that have no estimate yet.
    if phase(states[k]) == OVER:
        worths(playouts.score, states, k, playouts.values, playouts.numbers)
    elif not by_seat:
        value = estimate(playouts.evaluator, states, k, mover, playouts.numbers)
        for each in range(n_seats):
            playouts.values[each] = value if (each - mover) % playouts.teams == 0 else -value
    else:
        for each in range(n_seats):
            if wanted in (ALL_SEATS, each) and (asked >> each) & 1 == 0:
                playouts.values[each] = estimate(playouts.evaluator, states, k, each, playouts.numbers)
