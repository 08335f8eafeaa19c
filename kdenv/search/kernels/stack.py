"""What a search of limited depth works with: a frame per level, the plan, the room, and the table of positions it has searched."""

from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.state import state_dtype
from kdenv.search.turns import MAX_DECISIONS, SCRATCH

# What a frame is about to do.
OPEN, TURNS, PROBE, SEARCH, DONE = range(5)

FRAME = state_dtype(
    ("alpha", np.float64),  # the window, as the side sees it: whether the value is below or above it is all that matters
    ("beta", np.float64),
    ("best", np.float64),  # of the turns tried so far; when done, the value or a bound of it
    ("sum", np.float64),  # at a chance: what the outcomes searched so far contribute (X)
    ("left", np.float64),  # ... the probability of those after the one at hand (Y)
    ("floor", np.float64),  # ... the least that those not searched yet contribute (W)
    ("low", np.float64),  # ... the outcome at hand makes the chance worth no more than alpha if its value is at most this (A)
    ("high", np.float64),  # ... and at least beta if it is at least this (B)
    ("key", np.uint64),  # of the position in the transposition table
    ("first", np.int64),  # the turn that has been put in front, or 0
    ("chosen", np.int64),  # the best turn
    ("stage", np.int64),
    ("side", np.int64),
    ("depth", np.int64),  # turns left
    ("n", np.int64),  # turns or outcomes
    ("at", np.int64),  # the one at hand
    ("spread", np.int64),  # in how many ways the chances since the last turn could have come out
    ("until", np.int64),  # how many turns are to be tried: all, or those of a probe
    ("is_probe", np.int64),
)

ENTRY = state_dtype(
    ("key", np.uint64),
    ("lower", np.float64),  # bounds of the value to side 0
    ("upper", np.float64),
    ("turn", np.int64),
    ("depth", np.int64),
)

# Search.counters
LEVEL, NODES, CUT_SHORT, TOO_DEEP = range(4)  # the frame at hand, nodes, leaves at which the game was not over, ... for want of levels
_LEVELS_A_TURN = 8  # the turn, and chances in a row before the next


class Plan(NamedTuple):
    """What to search, and how."""

    seat: int  # whose decision it is
    teams: int
    most_decisions: int  # of a turn
    cuts: bool  # whether bounds are used; if not, this is Expectimax
    probes: int  # turns after each outcome that are tried first: 0 Star1, 1 Star2, more Star2.5
    most: float  # no leaf counts more, to either side (U)
    slack: float  # turns at the root that are worth so much less than the best are told exactly, too
    widest: int  # chances in a row that have more outcomes than this are not looked past: leaves


class Search(NamedTuple):
    """The room a search works in, a row per level."""

    states: np.ndarray
    words: np.ndarray  # the same memory as numbers, for the transposition table
    frames: np.ndarray
    branches: np.ndarray  # packed turns, or outcomes
    odds: np.ndarray  # of the outcomes
    floors: np.ndarray  # the least each outcome is worth
    probed: np.ndarray  # what its probe has found,
    tried: np.ndarray  # ... with how many turns,
    firsts: np.ndarray  # ... and which in front
    ranks: np.ndarray  # scratch for sorting and listing
    sorted: np.ndarray
    actions: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    values: np.ndarray  # of the turns at the root, in the order of branches[0]
    visits: np.ndarray  # nodes spent on them
    counters: np.ndarray
    table: np.ndarray  # of positions searched; a table of one entry is not used


def new_search(states: Any, depth: int, players: int, max_turns: int, max_chances: int, max_legal: int, table_bits: int = 0) -> Search:
    """Room for a search of the position in states[0] down to a depth."""
    levels = _LEVELS_A_TURN * depth + 2
    own = np.zeros(levels + 1 + SCRATCH, states.dtype)
    own[0] = states[0]
    word = np.uint64 if own.dtype.itemsize % 8 == 0 else np.uint8
    words = own.view(np.uint8).view(word).reshape(own.shape[0], -1)
    per_outcome = (levels, max_chances)
    width = max(max_turns, max_chances)
    return Search(
        own,
        words,
        np.zeros(levels, FRAME),
        np.zeros((levels, width), np.int64),
        np.zeros(per_outcome),
        np.zeros(per_outcome),
        np.zeros(per_outcome),
        np.zeros(per_outcome, np.int64),
        np.zeros(per_outcome, np.int64),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros((MAX_DECISIONS, max_legal), np.int64),
        np.zeros((2, MAX_DECISIONS), np.int64),
        np.zeros(players, np.int64),
        np.zeros(width),
        np.zeros(width, np.int64),
        np.zeros(4, np.int64),
        np.zeros(1 << table_bits, ENTRY),
    )


@kernel
def rounding(plan):
    """Values that differ by less may be equal."""
    return 1e-9 * plan.most


# The transposition table


@kernel
def _place(search, key):
    return np.int64(key & np.uint64(search.table.shape[0] - 1))


@kernel
def is_known(search, f):
    """Whether the table has what this frame is to find out; then it is done. If not, maybe a turn to try first."""
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
def remember(search, plan, f):
    """Put what a frame has found into the table: the value if it lies inside the window, else a bound."""
    if search.table.shape[0] <= 1 or f.is_probe != 0:
        return
    entry = search.table[_place(search, f.key)]
    lower = f.best if f.best > f.alpha + rounding(plan) else -np.inf
    upper = f.best if f.best < f.beta - rounding(plan) else np.inf
    entry.key = f.key
    entry.depth = f.depth
    entry.turn = f.chosen
    entry.lower, entry.upper = (lower, upper) if f.side == 0 else (-upper, -lower)
