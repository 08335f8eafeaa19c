"""The data of a search of limited depth (kernels/expectimax.py): its levels, its task, scratch, and the transposition table."""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.state import state_dtype
from kdenv.core.turns import MAX_DECISIONS, SCRATCH

# The stages of a level: what it does next.
OPEN, TURNS, PROBE, SEARCH, DONE = range(5)

LEVEL = state_dtype(
    ("alpha", np.float64),  # the window, from the view of the side: outside of it, only whether the value is below or above matters
    ("beta", np.float64),
    ("best", np.float64),  # the best value of the turns tried so far; in a level that is done, its value or a bound of it
    # At a chance node, with the letters of the thesis:
    ("sum", np.float64),  # what the outcomes searched so far contribute to the value (X)
    ("left", np.float64),  # the probability of the outcomes after the current one (Y)
    ("floor", np.float64),  # the least that the outcomes not searched yet contribute (W)
    ("low", np.float64),  # if the current outcome is worth at most this, the node is worth at most alpha (A)
    ("high", np.float64),  # if the current outcome is worth at least this, the node is worth at least beta (B)
    # At every node:
    ("key", np.uint64),  # the fingerprint of the position, for the transposition table
    ("first", np.int64),  # the turn that is tried first, or 0
    ("chosen", np.int64),  # the best turn
    ("stage", np.int64),
    ("side", np.int64),  # 0: the team whose decision is searched, 1: all others
    ("depth", np.int64),  # how many turns are still to be looked ahead
    ("n", np.int64),  # the number of turns or outcomes
    ("at", np.int64),  # the index of the current turn or outcome
    ("spread", np.int64),  # the product of the numbers of outcomes of the chances since the last turn
    ("until", np.int64),  # how many turns are tried: all, or the first few in a probe
    ("is_probe", np.int64),  # whether only the first turns are tried, for a bound
)

ENTRY = state_dtype(
    ("key", np.uint64),
    ("lower", np.float64),  # the bounds of the value, from the view of side 0
    ("upper", np.float64),
    ("turn", np.int64),  # the best turn found
    ("depth", np.int64),  # how many turns were looked ahead
)

# The indices of Search.counters: the current level, the nodes searched, the leaves at which the game was not over, and the
# leaves on the last level, which could not be searched any deeper.
CURRENT, NODES, CUT_SHORT, TOO_DEEP = range(4)
_LEVELS_A_TURN = 8  # levels for a turn and the chances in a row after it


class Task(NamedTuple):
    """What is searched, and how."""

    seat: int  # whose decision it is
    teams: int
    most_decisions: int  # in a turn
    cuts: bool  # whether bounds save nodes; if not, the search is plain Expectimax
    probes: int  # how many turns after each outcome are tried first: 0 in Star1, 1 in Star2, more in Star2.5
    most: float  # the values of leaves are cut to -most to most (U)
    slack: float  # turns at the root whose value is below the best by less than this get exact values, too
    widest: int  # where chances in a row have more outcomes than this, the position is a leaf


class Search(NamedTuple):
    """The arrays that a search works in. Those of positions and levels have a row for each level of the search."""

    states: np.ndarray
    words: np.ndarray  # the same memory as `states`, as rows of integers, for fingerprints
    levels: np.ndarray  # records of type LEVEL
    branches: np.ndarray  # packed turns, or outcomes
    odds: np.ndarray  # the probabilities of the outcomes
    floors: np.ndarray  # the least that each outcome is worth
    probed: np.ndarray  # the value that the probe of each outcome has found
    tried: np.ndarray  # how many turns this probe has tried
    firsts: np.ndarray  # the turn that this probe has tried first, or 0
    ranks: np.ndarray  # this and the next four are scratch for listing and sorting
    sorted: np.ndarray
    actions: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    values: np.ndarray  # the values of the turns at the root, in the order of branches[0]
    visits: np.ndarray  # how many nodes had been searched when each of these turns was done
    counters: np.ndarray
    table: np.ndarray  # the transposition table; if it has one entry, it is not used


def new_search(states: Any, depth: int, players: int, max_turns: int, max_chances: int, max_legal: int, table_bits: int = 0) -> Search:
    """Make the arrays for a search of the position in states[0] down to this depth in turns."""
    levels = _LEVELS_A_TURN * depth + 2
    own = np.zeros(levels + 1 + SCRATCH, states.dtype)
    own[0] = states[0]
    word = np.uint64 if own.dtype.itemsize % 8 == 0 else np.uint8
    words = own.view(np.uint8).view(word).reshape(own.shape[0], -1)
    per_outcome = (levels, max_chances)
    width = max(max_turns, max_chances)
    return Search(
        states=own,
        words=words,
        levels=np.zeros(levels, LEVEL),
        branches=np.zeros((levels, width), np.int64),
        odds=np.zeros(per_outcome),
        floors=np.zeros(per_outcome),
        probed=np.zeros(per_outcome),
        tried=np.zeros(per_outcome, np.int64),
        firsts=np.zeros(per_outcome, np.int64),
        ranks=np.zeros(width, np.int64),
        sorted=np.zeros(width, np.int64),
        actions=np.zeros((MAX_DECISIONS, max_legal), np.int64),
        counts=np.zeros((2, MAX_DECISIONS), np.int64),
        numbers=np.zeros(players, np.int64),
        values=np.zeros(width),
        visits=np.zeros(width, np.int64),
        counters=np.zeros(4, np.int64),
        table=np.zeros(1 << table_bits, ENTRY),
    )


@kernel
def rounding(task):
    """The largest difference of two values that rounding alone may cause."""
    return 1e-9 * task.most


# The transposition table


@kernel
def _place(search, key):
    return np.int64(key & np.uint64(search.table.shape[0] - 1))


@kernel
def is_known(search, f):
    """Whether the table has the value of this level, which is then done. If not, the table may give it a turn to try first."""
    entry = search.table[_place(search, f.key)]
    if entry.key != f.key:
        return False
    if f.first == 0 and f.at == 0:
        f.first = entry.turn
    if entry.depth != f.depth:
        return False
    lower, upper = (entry.lower, entry.upper) if f.side == 0 else (-entry.upper, -entry.lower)
    if lower == upper or lower >= f.beta:
        f.best = lower
    elif upper <= f.alpha:
        f.best = upper
    else:
        return False
    f.stage = DONE
    return True


@kernel
def remember(search, task, f):
    """Put the result of a level into the table: a value if it lies inside the window, else a bound."""
    if search.table.shape[0] <= 1 or f.is_probe != 0:
        return
    entry = search.table[_place(search, f.key)]
    lower = f.best if f.best > f.alpha + rounding(task) else -np.inf
    upper = f.best if f.best < f.beta - rounding(task) else np.inf
    entry.key = f.key
    entry.depth = f.depth
    entry.turn = f.chosen
    entry.lower, entry.upper = (lower, upper) if f.side == 0 else (-upper, -lower)
