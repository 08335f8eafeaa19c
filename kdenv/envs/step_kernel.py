"""The steps of environments: one kernel call carries out a decision and everything up to the next decision.

In between there is chance and, if one seat learns and the others are compiled players, there are their turns. The same call
writes the mask of legal actions for the next decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel, machine_code
from kdenv.compiler.random import Rng
from kdenv.core import verbs
from kdenv.core.events import decide
from kdenv.core.questions import choose
from kdenv.core.table import Table
from kdenv.core.turns import MAX_DECISIONS, log_turn
from kdenv.core.verbs import DECIDE, legal, phase, resample_hidden, seat

NOBODY = -1  # the seat that decides in a finished game
NO_ACTION = -1  # in place of an action, if there is none to carry out
WORK = 2  # the number of scratch states of a compiled player
_CALLS = 50  # the calls of a kernel after which its machine code is looked up, because that takes as long as it saves in 40 calls

Mask = NDArray[np.int8]


@kernel
def _mover_and_mask(states, k, out, mask):
    """Return the seat that decides, or NOBODY, and set the mask to 1 for every legal action. The mask must be all 0 before."""
    if phase(states[k]) != DECIDE:
        return NOBODY
    n_legal = legal(states[k], out)
    for i in range(n_legal):
        mask[out[i]] = 1
    return seat(states[k])


@kernel
def _step(states, action, rng, log, n, out, mask):
    """Carry out a decision and the chance after it. Return the new length of the log and the seat that decides next."""
    n = decide(states, 0, action, rng, log, n)
    return n, _mover_and_mask(states, 0, out, mask)


@kernel
def turn_of(player, states, k, work, out, dice, rng, log, n):
    """Let the player decide for the seat to move in states[k] until its turn is over. Return the new length of the log.

    The player sees work[0], in which hidden information is drawn anew, as in a View; it draws from dice, and chance from rng.
    MAX_DECISIONS places must be free in the log.
    """
    mover = seat(states[k])
    work[0] = states[k]
    resample_hidden(work[0], mover, dice)
    return log_turn(states, k, choose(player, work, 0, out, dice), False, out, rng, log, n)


@kernel
def _step_with(player, states, action, stops, work, out, dice, rng, log, n, mask):
    """Do as _step does, and then let the player decide for all seats but those in `stops`, which has a bit for each seat.

    It stops when one of these decides, when the game is over, or when the log is almost full. See turn_of.
    """
    if action != NO_ACTION:
        n = decide(states, 0, action, rng, log, n)
    while n + MAX_DECISIONS < log.shape[1] and phase(states[0]) == DECIDE and (stops >> seat(states[0])) & 1 == 0:
        n = turn_of(player, states, 0, work, out, dice, rng, log, n)
    return n, _mover_and_mask(states, 0, out, mask)


def start(table: Table, rng: Rng, out: NDArray[np.int64], mask: Mask) -> int:
    """Carry out the chance that is due. Return the seat that decides next, or NOBODY, and write the legal actions to the mask.

    The mask must be all 0 before; out is room for a list of legal actions. It calls only kernels of the table, which are compiled already,
    because a kernel of its own would take half a second at the first reset of a game.
    """
    table.log.run_chance(table.states, rng)
    return _mover(table, out, mask)


def _mover(table: Table, out: NDArray[np.int64], mask: Mask) -> int:
    """Do as _mover_and_mask does."""
    if verbs.phase_at(table.states, 0) != DECIDE:
        return NOBODY
    mask[out[: verbs.legal_at(table.states, 0, out)]] = 1
    return int(verbs.seat_at(table.states, 0))


def step(table: Table, action: int, rng: Rng, out: NDArray[np.int64], mask: Mask) -> int:
    """Carry out a decision and the chance after it. Returns and writes the same as start; does not check the decision."""
    log = table.log
    n, mover = _step(table.states, action, rng, log.rows, log.n, out, mask)
    log.n = n
    # A full log stops chance early. go_on makes the log longer and carries out the rest.
    if n == log.rows.shape[1]:
        log.go_on(n, table.states, rng)
        mover = _mover(table, out, mask)
    return int(mover)


class CompiledOpponents:
    """The opponents in an environment of one seat as one compiled player, or None, and the seats of those that Python must ask.

    It belongs to one environment, because its machine code is for the types of the arrays there.
    """

    def __init__(self, player: Any, asked: Sequence[int]) -> None:
        self.player, self.asked = player, asked
        self._n_calls, self._code = 0, _step_with

    def play(self, *rest: Any) -> tuple[int, int]:
        """Call _step_with."""
        self._n_calls += 1
        if self._n_calls == _CALLS:
            self._code = machine_code(_step_with, self.player, *rest)
        n, mover = self._code(self.player, *rest)
        return n, mover


def step_with(
    opponents: CompiledOpponents,
    table: Table,
    action: int,
    stops: int,
    work: NDArray[Any],
    out: NDArray[np.int64],
    dice: Rng,
    rng: Rng,
    mask: Mask,
) -> int:
    """Do as step does, and then let the compiled opponents decide until a seat in `stops` decides or the game is over.

    `stops` has a bit for each seat. With NO_ACTION the opponents begin. work is an array of WORK states; they draw from dice, chance from
    rng.
    """
    log = table.log
    while True:
        n, mover = opponents.play(table.states, action, stops, work, out, dice, rng, log.rows, log.n, mask)
        log.n = n
        # The kernel also stops when the log is almost full. Then make the log longer and call it again.
        if (mover == NOBODY or stops >> mover & 1) and n < log.rows.shape[1]:
            return int(mover)
        log.go_on(n, table.states, rng, room=MAX_DECISIONS + 1)
        action = NO_ACTION
        mask[:] = 0
