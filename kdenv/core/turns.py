"""Turns: the consecutive decisions of one seat, up to the next chance, the decision of another seat or the end of the game.

A turn is packed into an int64 of four fields of 16 bits. Each field holds an action + 1, and the first action is in the lowest field. The
fields after the last action are 0.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import allocating_kernel, kernel
from kdenv.core.events import decide
from kdenv.core.questions import choose
from kdenv.core.verbs import DECIDE, apply, apply_at, legal, phase, seat

MAX_DECISIONS = 4  # the most decisions that fit into a packed turn
SCRATCH = MAX_DECISIONS  # how many states after states[k] list_turns uses as scratch
_ACTION = 0xFFFF  # the bits of an action in a packed turn
ILLEGAL = -1  # what log_turn returns in place of a length

# Packing


@kernel
def packed(action: Any) -> Any:
    """Return a packed turn of one action.

    >>> from kdenv.author import first_action, packed
    >>> first_action(packed(7))
    7
    """
    return action + 1


@kernel
def then(first: Any, second: Any) -> Any:
    """Return a packed turn of two actions.

    >>> from kdenv.author import first_action, rest_of, then
    >>> turn = then(7, 9)
    >>> first_action(turn), first_action(rest_of(turn)), rest_of(rest_of(turn))
    (7, 9, 0)
    """
    return (first + 1) | ((second + 1) << 16)


@kernel
def first_action(turn: Any) -> Any:
    """Return the action that a packed turn begins with.

    >>> from kdenv.author import first_action, then
    >>> first_action(then(7, 9))
    7
    """
    return (turn & _ACTION) - 1


@kernel
def rest_of(turn: Any) -> Any:
    """Return the packed turn that is left after the first action; 0 if nothing is left.

    >>> from kdenv.author import packed, rest_of, then
    >>> rest_of(then(7, 9)) == packed(9)
    True
    """
    return turn >> 16


def first_actions(turns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first action of each of these packed turns. For Python."""
    return (turns & _ACTION) - 1


def actions_of(turn: int) -> Iterator[int]:
    """Yield the actions of a packed turn, in order. For Python."""
    while turn:
        yield int(first_action(turn))
        turn = int(rest_of(turn))


# Listing


@allocating_kernel
def list_turns(states: Any, k: int, most_decisions: int, max_legal: int, turns: Any) -> Any:
    """Write the turns that are open to the seat to move in states[k] to `turns`, packed, in the order of the rules; return how many.

    A turn of more than most_decisions decisions is cut after that many; its rest is another turn. At most turns.shape[0] turns are
    written. The states from k + 1 to k + MAX_DECISIONS are scratch. most_decisions and max_legal are those of the game.

    >>> import kdenv
    >>> import numpy as np
    >>> from kdenv.author import first_action, list_turns, make_rng
    >>> table = kdenv.table("kingdomino", players=2)
    >>> table.run_chance(make_rng(1))
    >>> states = np.zeros(8, table.states.dtype)
    >>> states[0] = table.states[0]
    >>> turns = np.zeros(50, np.int64)
    >>> n = list_turns(states, 0, 1, table.game.n_actions(2, table.variant), turns)
    >>> [table.name(first_action(turn)) for turn in turns[:n]]
    ['pick 11', 'pick 15', 'pick 19', 'pick 41']
    """
    actions = np.empty((MAX_DECISIONS, max_legal), np.int64)
    counts = np.empty((2, MAX_DECISIONS), np.int64)
    return write_turns(states, k, most_decisions, actions, counts[0], counts[1], turns)


@kernel
def write_turns(states, k, most_decisions, actions, n_actions, at, turns):
    """Do the same as list_turns with arrays of the caller: `actions` with MAX_DECISIONS rows, and n_actions and `at` of this length."""
    n_first = legal(states[k], actions[0])
    if most_decisions == 1:
        n_first = min(n_first, turns.shape[0])
        for i in range(n_first):
            turns[i] = packed(actions[0, i])
        return n_first
    mover = seat(states[k])
    at[0] = 0
    n_actions[0] = n_first
    # Search depth-first. `line` has the actions before this depth, packed; states[k + 1 + depth] is the position after the action at it.
    n, depth, line = 0, 0, 0
    while depth >= 0:
        if at[depth] == n_actions[depth]:
            depth -= 1  # all actions here have been tried: go back by one, and remove the last action of the line
            line &= (1 << (16 * max(depth, 0))) - 1
            continue
        action = actions[depth, at[depth]]
        at[depth] += 1
        turn = line | (packed(action) << (16 * depth))
        if depth + 1 < most_decisions:  # else the turn is cut here, and the next seat does not matter
            after = k + 1 + depth
            states[after] = states[after - 1]
            apply(states[after], action)
            if still_decides(states[after], mover):
                depth += 1
                line = turn
                at[depth] = 0
                n_actions[depth] = legal(states[after], actions[depth])
                continue
        if n < turns.shape[0]:
            turns[n] = turn
            n += 1
    return n


# Carrying out


@kernel
def still_decides(s, mover):
    """Return whether it is this seat's decision in s."""
    return phase(s) == DECIDE and seat(s) == mover


@kernel
def play_turn(s: Any, turn: Any) -> None:
    """Apply all actions of a packed turn to s. This does not check that they are legal.

    >>> import kdenv
    >>> import numpy as np
    >>> from kdenv.author import make_rng, packed, play_turn
    >>> table = kdenv.table("kingdomino", players=2)
    >>> table.run_chance(make_rng(1))
    >>> states = np.zeros(8, table.states.dtype)
    >>> states[0] = table.states[0]
    >>> play_turn(states[0], packed(table.legal()[0]))
    >>> states[0].tobytes() == table.states[0].tobytes()
    False
    """
    while turn != 0:
        apply(s, first_action(turn))
        turn = rest_of(turn)


@kernel
def play_turn_while_deciding(s, turn, mover):
    """Apply the actions of a packed turn to s as long as the seat `mover` decides. The first action is always applied.

    A turn that was chosen without the hidden information may end early.
    """
    while True:
        apply(s, first_action(turn))
        turn = rest_of(turn)
        if turn == 0 or not still_decides(s, mover):
            return


@kernel
def finish_turn(player, states, k, mover, most_decisions, out, rng):
    """Let the player decide in states[k] while the seat `mover` decides, at most most_decisions times; return a packed turn.

    A player may choose only a part of a turn at once; then it is asked again.
    """
    s = states[k]
    turn, n, chosen = 0, 0, 0
    while n < most_decisions and still_decides(s, mover):
        if chosen == 0:
            chosen = choose(player, states, k, out, rng)
        turn |= packed(first_action(chosen)) << (16 * n)
        apply(s, first_action(chosen))
        chosen = rest_of(chosen)
        n += 1
    return turn


@kernel
def log_turn(states, k, turn, checks, out, rng, log, n):
    """Carry out a packed turn and the chance after each action, and write the events to the log (see core.events.decide).

    The rest of a turn is dropped after chance or when another seat decides, because it was chosen for another position. Return the new
    length of the log. If `checks` is true and an action is not legal, return ILLEGAL. MAX_DECISIONS places must be free in the log.
    """
    mover = seat(states[k])
    while True:
        action, turn = first_action(turn), rest_of(turn)
        if checks and not _is_among(out, legal(states[k], out), action):
            return ILLEGAL
        before = n
        n = decide(states, k, action, rng, log, n)
        # More than one new event: chance followed the action.
        if turn == 0 or n != before + 1 or not still_decides(states[k], mover):
            return n


@kernel
def _is_among(actions, n, action):
    """Return whether an action is among the first n of these."""
    found = False
    for i in range(n):
        found |= actions[i] == action
    return found


def carry_out(states: Any, turn: int) -> None:
    """Apply all actions of a packed turn to states[0]. For Python: it uses the verbs, which every table has compiled."""
    for action in actions_of(turn):
        apply_at(states, 0, action)
