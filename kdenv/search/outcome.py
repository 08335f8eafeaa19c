"""What a playout comes to: it is played to the end of the game and scored there, or it is broken off and the position is estimated.

Searches ask `play_on` and know neither. Networks learn what a position is worth from positions right after a turn, as the seat that took
the turn sees them. So a playout is broken off right after a turn, before chance, and where it can be, a seat is asked after its own turn.
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
    """Who plays games to their ends, what an end is worth, and room to work in."""

    player: Any
    score: Any
    out: np.ndarray  # scratch for choose
    values: np.ndarray  # what the last playout came to, by seat
    numbers: np.ndarray  # scratch for worths


class CutShort(NamedTuple):
    """Playouts that are broken off after some turns. An evaluator says what the position is worth then, in the unit of the score."""

    player: Any
    score: Any
    out: np.ndarray
    values: np.ndarray
    numbers: np.ndarray
    evaluator: Any  # answers estimate
    turns: int
    teams: int
    most_decisions: int  # of a turn
    unfinished: int  # how many decisions may be missing of the turn that led to a position from which a playout begins


@question
def play_on(playouts, states, k, mover, wanted, rng):
    """Play the game in states[k] on, and write to playouts.values what it comes to for the seat `wanted`, or for ALL_SEATS.

    mover: the seat that moved last. states[k + 1] is scratch.
    """


@answers(play_on, Playouts)
@kernel
def _play_to_the_end(playouts, states, k, mover, wanted, rng):
    play_out(playouts.player, states, k, playouts.out, rng)
    worths(playouts.score, states, k, playouts.values, playouts.numbers)


@answers(play_on, CutShort)
@kernel
def _play_some_turns(playouts, states, k, mover, wanted, rng):
    """Play the turns. With more than two teams, if one seat is wanted, go on until it has had a turn, and estimate there.

    If all are wanted, each is asked after its last turn of the playout, and those without a turn at the end.
    """
    n_seats = playouts.values.shape[0]
    by_seat = playouts.teams > 2
    asked, n = 0, 0  # the seats that have been asked, as bits; the turns played
    finish_turn(playouts.player, states, k, mover, playouts.unfinished, playouts.out, rng)
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
