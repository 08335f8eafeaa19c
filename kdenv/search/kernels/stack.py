"""The data of a search of limited depth (kernels/expectimax.py): its levels, its task, scratch, and the transposition table."""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.state import state_dtype
from kdenv.core.turns import MAX_DECISIONS, SCRATCH

# The stages of a level: open the node; try its turns; or probe the outcomes of chance, then search them; done.
OPEN, TURNS, PROBE, SEARCH, DONE = range(5)

LEVEL = state_dtype(
    ("alpha", np.float64),  # the window, from the view of the side: a value outside of it need not be exact
    ("beta", np.float64),
    ("best", np.float64),  # the best value of the turns tried so far; once the level is done, its value or a bound of it
    # At a chance node, with the letters of the thesis:
    ("sum", np.float64),  # the contribution of the outcomes searched so far to the value (X)
    ("left", np.float64),  # the probability of the outcomes after the current one (Y)
    ("floor", np.float64),  # the least contribution of the outcomes that are not searched yet (W)
    ("low", np.float64),  # if the value of the current outcome is at most this, that of the node is at most alpha (A)
    ("high", np.float64),  # if the value of the current outcome is at least this, that of the node is at least beta (B)
    # At every node:
    ("key", np.uint64),  # the fingerprint of the position, for the transposition table
    ("first", np.int64),  # the turn that is tried first, or 0
    ("chosen", np.int64),  # the best turn
    ("stage", np.int64),
    ("side", np.int64),  # 0: the team whose decision is searched, 1: all others
    ("depth", np.int64),  # the number of turns to search below this node
    ("n", np.int64),  # the number of turns or outcomes
    ("at", np.int64),  # the index of the current turn or outcome
    ("spread", np.int64),  # the product of the numbers of outcomes of the chances since the last turn
    ("until", np.int64),  # the number of turns to try: all, or the first few in a probe
    ("is_probe", np.int64),  # whether only the first turns are tried, which gives a bound
)

ENTRY = state_dtype(
    ("key", np.uint64),
    ("lower", np.float64),  # the bounds of the value, from the view of side 0
    ("upper", np.float64),
    ("turn", np.int64),  # the best turn found
    ("depth", np.int64),  # the number of turns searched below the position
)

# The indices of Search.counters: the current level, the nodes searched, the leaves at which the game was not over, and the
# leaves on the last level, which could not be searched any deeper.
CURRENT, NODES, CUT_SHORT, TOO_DEEP = range(4)
_LEVELS_A_TURN = 8  # levels for a turn and the chances in a row after it


class Task(NamedTuple):
    """The options of a search, and the seat that searches."""

    seat: int  # the seat whose decision it is
    teams: int
    most_decisions: int  # in a turn
    cuts: bool  # whether bounds save nodes; if not, the search is plain Expectimax
    probes: int  # the number of turns after each outcome that are tried first: 0 in Star1, 1 in Star2, more in Star2.5
    most: float  # the values of leaves are cut to -most to most (U)
    slack: float  # a turn at the root whose value is less than this below the best gets an exact value, too
    widest: int  # where chances in a row have more outcomes than this, the position is a leaf


class Search(NamedTuple):
    """The arrays of a search. Those of positions and levels have a row for each level of the search."""

    states: np.ndarray
    words: np.ndarray  # the same memory as `states`, as rows of integers, for fingerprints
    levels: np.ndarray  # records of type LEVEL
    branches: np.ndarray  # packed turns, or outcomes
    odds: np.ndarray  # the probabilities of the outcomes
    floors: np.ndarray  # a lower bound of the value of each outcome
    probed: np.ndarray  # the value that the probe of each outcome returned
    tried: np.ndarray  # the number of turns that this probe tried
    firsts: np.ndarray  # the turn that this probe tried first, or 0
    ranks: np.ndarray  # this and the next four are scratch for listing and sorting
    sorted: np.ndarray
    actions: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    values: np.ndarray  # the values of the turns at the root, in the order of branches[0]
    visits: np.ndarray  # the number of nodes searched until each of these turns was done
    counters: np.ndarray
    table: np.ndarray  # the transposition table; a table of one entry is not used


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
    """Return the index of the entry for this key; a new position replaces an old one."""
    return np.int64(key & np.uint64(search.table.shape[0] - 1))


@kernel
def is_known(search, node):
    """Close a level whose value is in the table and return True. Otherwise the table may suggest a turn to try first."""
    entry = search.table[_place(search, node.key)]
    if entry.key != node.key:
        return False
    # The best turn of a search to any depth is a good first turn. A level that continues after its probe keeps its order of turns.
    if node.first == 0 and node.at == 0:
        node.first = entry.turn
    if entry.depth != node.depth:
        return False
    # Entries are from the view of side 0. A bound closes the level only if it lies outside the window.
    lower, upper = (entry.lower, entry.upper) if node.side == 0 else (-entry.upper, -entry.lower)
    if lower == upper or lower >= node.beta:
        node.best = lower
    elif upper <= node.alpha:
        node.best = upper
    else:
        return False
    node.stage = DONE
    return True


@kernel
def remember(search, task, node):
    """Put the result of a level into the table: a value if it lies inside the window, else a bound."""
    if search.table.shape[0] <= 1 or node.is_probe != 0:
        return
    # A best value at or below alpha is an upper bound only, and one at or above beta a lower bound.
    entry = search.table[_place(search, node.key)]
    lower = node.best if node.best > node.alpha + rounding(task) else -np.inf
    upper = node.best if node.best < node.beta - rounding(task) else np.inf
    entry.key = node.key
    entry.depth = node.depth
    entry.turn = node.chosen
    entry.lower, entry.upper = (lower, upper) if node.side == 0 else (-upper, -lower)
