"""The beliefs that IMS searches over: the tiles that each seat may hold along imagined play (believe, guesses, suppose, outlook).

Seats are relative: 0 is the searching seat, then come the next seat, the partner, the previous seat. A tile belongs to the class of
the seats that may hold it. A class is a set of bits: 1, 2 and 4 are the relative seats 1, 2 and 3; class 0 is the searcher's hand.
Imagined play never excludes a seat. A seat passes in it only if it can have nothing that fits, also with calls, and nobody calls. So
classes stay the same, and only the tiles left and the sizes of hands change.

The belief "paper" gives each tile to the seats of its class in proportion to the tiles they have left. "exact" counts the deals.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kdenv.compiler.bits import ONE, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.compiler.state import state_dtype
from kdenv.core.game import Variant
from kdenv.core.questions import believe, guesses, outlook, suppose
from kdenv.games.dominoes.belief import Unseen, exact_shares, unseen_by
from kdenv.games.dominoes.rules import MOST_TURNS, NO_END, V_RULES, cover, n_tiles
from kdenv.games.dominoes.tables import (
    ALL_TILES,
    BLOCKED,
    BLOCKED_IN_THEIR_CODE,
    DOMINAI_CODE,
    NO_TILES,
    PASS,
    PIPS,
    SUITS,
    TILES_WITH,
    UNMIRRORED,
)

CLASSES = 8
_IMPOSSIBLE = 1e-12  # a smaller probability is 0 but for rounding
OWN, A, B, AB, C, AC, BC, ABC = range(CLASSES)

# The position after this many imagined turns.
LEVEL = state_dtype(
    ("rest", np.uint64),  # the tiles not laid yet
    ("shares", np.float64, (CLASSES, 4)),  # the probability that a tile of a class is with a relative seat
    ("pips", np.int16, CLASSES),  # the pips of a class that are not laid yet
    ("tiles", np.int8, 4),  # the tiles left to each relative seat
    ("left", np.int8),
    ("right", np.int8),
    ("passes", np.int8),  # passes in a row
    ("turn", np.int8),  # the relative seat to move
)


class PaperBelief(NamedTuple):
    """A belief with the paper's estimate of probabilities."""

    levels: np.ndarray
    classes: np.ndarray  # the tiles of each class
    passes: int  # the number of passes in a row that block a round
    tile: float  # the value, in pips, of each tile that a team has laid more than the other


class ExactBelief(NamedTuple):
    """A belief with exact probabilities, from counting the deals."""

    levels: np.ndarray
    classes: np.ndarray
    passes: int
    tile: float


def paper_belief(variant: Variant, tile: float = 0.0) -> PaperBelief:
    """Return the paper's belief, with memory for one search at a time."""
    return PaperBelief(*_memory(variant), tile)


def exact_belief(variant: Variant, tile: float = 0.0) -> ExactBelief:
    """Return the exact belief, with memory for one search at a time."""
    return ExactBelief(*_memory(variant), tile)


# "paper_tiles" and "exact_tiles" have the other evaluation that the paper tried (IV.A, the asterisk in its figure 1): it adds the
# difference in tiles laid. The paper gives no weight for it; here a tile counts as one pip.
BELIEFS: dict[str, Callable[[Variant], Any]] = {
    "paper": paper_belief,
    "exact": exact_belief,
    "paper_tiles": partial(paper_belief, tile=1.0),
    "exact_tiles": partial(exact_belief, tile=1.0),
}


def _memory(variant: Variant) -> tuple[np.ndarray, np.ndarray, int]:
    blocked = BLOCKED_IN_THEIR_CODE if variant[V_RULES] == DOMINAI_CODE else BLOCKED
    return np.zeros(MOST_TURNS + 2, LEVEL), np.zeros(CLASSES, np.uint64), blocked


@answers(believe, PaperBelief)
@kernel
def _believe_paper(belief, states, k):
    _begin(belief, states[k])
    _share_by_hands(belief, belief.levels[0])


@answers(believe, ExactBelief)
@kernel
def _believe_exactly(belief, states, k):
    _begin(belief, states[k])
    _share_by_counting(belief, belief.levels[0])


@answers(suppose, PaperBelief)
@kernel
def _suppose_paper(belief, level, move):
    _play(belief, level, move)
    _share_by_hands(belief, belief.levels[level + 1])


@answers(suppose, ExactBelief)
@kernel
def _suppose_exactly(belief, level, move):
    _play(belief, level, move)
    _share_by_counting(belief, belief.levels[level + 1])


@kernel
def _begin(belief, s):
    """Write the classes and level 0 from the knowledge of the seat to move, except the shares."""
    me = int(s.turn)
    u = unseen_by(s, me)
    belief.classes[OWN] = s.hands[me] & ALL_TILES
    belief.classes[A] = u.only_a
    belief.classes[B] = u.only_b
    belief.classes[AB] = u.ab
    belief.classes[C] = u.only_c
    belief.classes[AC] = u.ac
    belief.classes[BC] = u.bc
    belief.classes[ABC] = u.abc
    now = belief.levels[0]
    now.rest = NO_TILES
    for i in range(CLASSES):
        now.rest |= belief.classes[i]
        now.pips[i] = _weight(belief.classes[i])
    for i in range(4):
        now.tiles[i] = n_tiles(s.hands[(me + i) & 3])
    now.left = s.left
    now.right = s.right
    now.passes = s.passes
    now.turn = 0


@kernel
def _weight(tiles):
    """Return the pips of a set of tiles that is not mirrored."""
    total = 0
    while tiles != NO_TILES:
        total += PIPS[lowest(tiles)]
        tiles &= tiles - ONE
    return total


@kernel
def _play(belief, level, move):
    """Write the position after this move to the next level, except the shares."""
    belief.levels[level + 1] = belief.levels[level]
    now = belief.levels[level + 1]
    me = int(now.turn)
    now.turn = (me + 1) & 3
    if move == PASS:
        now.passes += 1
        return
    c = move // SUITS
    e = move - c * SUITS
    tile = UNMIRRORED[move]
    now.rest &= ~tile
    now.tiles[me] -= 1
    now.passes = 0
    for i in range(CLASSES):
        if belief.classes[i] & tile != NO_TILES:
            now.pips[i] -= PIPS[move]
    cover(now, c, e)


@kernel
def _share_by_hands(belief, now):
    """Write the paper's shares: the seats of a class share its tiles in proportion to their tiles left."""
    now.shares[OWN, 0] = 1.0
    for i in range(1, CLASSES):
        # The bits of the class select the seats. A class of seats that are all out has no tiles left, so its shares do not matter.
        a = int(now.tiles[1]) * (i & 1)
        b = int(now.tiles[2]) * (i >> 1 & 1)
        c = int(now.tiles[3]) * (i >> 2)
        total = max(a + b + c, 1)
        now.shares[i, 1] = a / total
        now.shares[i, 2] = b / total
        now.shares[i, 3] = c / total


@kernel
def _share_by_counting(belief, now):
    """Write the exact shares: those of all deals of the tiles that are left."""
    # Certain tiles leave each seat fewer places for the others, so they are counted apart (free_a, free_b, free_c).
    only_a, only_b, only_c = belief.classes[A] & now.rest, belief.classes[B] & now.rest, belief.classes[C] & now.rest
    u = Unseen(
        only_a,
        only_b,
        only_c,
        belief.classes[AB] & now.rest,
        belief.classes[AC] & now.rest,
        belief.classes[BC] & now.rest,
        belief.classes[ABC] & now.rest,
        int(now.tiles[1]) - popcount(only_a),
        int(now.tiles[2]) - popcount(only_b),
        int(now.tiles[3]) - popcount(only_c),
    )
    p = exact_shares(u)
    now.shares[OWN, 0] = 1.0
    now.shares[A, 1] = 1.0
    now.shares[B, 2] = 1.0
    now.shares[C, 3] = 1.0
    now.shares[AB, 1] = p.ab_to_a
    now.shares[AB, 2] = 1.0 - p.ab_to_a
    now.shares[AC, 1] = p.ac_to_a
    now.shares[AC, 3] = 1.0 - p.ac_to_a
    now.shares[BC, 2] = p.bc_to_b
    now.shares[BC, 3] = 1.0 - p.bc_to_b
    now.shares[ABC, 1] = p.abc_to_a
    now.shares[ABC, 2] = p.abc_to_b
    now.shares[ABC, 3] = max(0.0, 1.0 - p.abc_to_a - p.abc_to_b)  # rounding could make it negative


@answers(guesses, ExactBelief)
@answers(guesses, PaperBelief)
@kernel
def _guesses(belief, level, moves, chances):
    """List the moves that the seat to move may have, with their probabilities. Returns their number, which is 0 if the round has ended.

    These are all ways to lay a fitting tile that it may hold, the most pips first, equals by number; a pass if there are none.
    """
    now = belief.levels[level]
    me = int(now.turn)
    if now.tiles[(me + 3) & 3] == 0 or now.passes == belief.passes:
        return 0
    n = 0
    for i in range(CLASSES):
        # All tiles of a class are with this seat with the same probability. The searcher's own tiles are with nobody else.
        share = now.shares[i, me]
        if share < _IMPOSSIBLE or (me > 0 and i == OWN):
            continue
        tiles = now.rest & belief.classes[i]
        if now.left != NO_END:
            tiles &= TILES_WITH[(1 << int(now.left)) | (1 << int(now.right))]
        while tiles != NO_TILES:
            tile = lowest(tiles)
            tiles &= tiles - ONE
            n = _add_tile(now, tile, share, moves, chances, n)
    if n == 0:
        moves[0] = PASS
        chances[0] = 1.0
        n = 1
    return n


@kernel
def _add_tile(now, tile, share, moves, chances, n):
    """Insert the ways to lay this tile into the list, which is ordered by pips."""
    low = tile // SUITS
    high = tile - low * SUITS
    if now.left == NO_END:
        return _insert(tile, share, moves, chances, n)
    if now.left == low or now.right == low:
        n = _insert(tile, share, moves, chances, n)
    if high != low and (now.left == high or now.right == high):
        n = _insert(SUITS * high + low, share, moves, chances, n)
    return n


@kernel
def _insert(move, share, moves, chances, n):
    """Insert a move into the list of n moves, by pips and then by number. Returns the new length."""
    at = n
    while at > 0 and (PIPS[moves[at - 1]] < PIPS[move] or (PIPS[moves[at - 1]] == PIPS[move] and moves[at - 1] > move)):
        moves[at] = moves[at - 1]
        chances[at] = chances[at - 1]
        at -= 1
    moves[at] = move
    chances[at] = share
    return n + 1


@answers(outlook, ExactBelief)
@answers(outlook, PaperBelief)
@kernel
def _outlook(belief, level):
    """Return the value of the position to the team to move: the pips expected with the other team minus those with its own.

    If the other team has gone out, it is minus the pips expected with the team to move. The belief's weight of tiles laid is added.
    """
    now = belief.levels[level]
    me = int(now.turn)
    own, partner = 0.0, 0.0
    total = 0
    for i in range(CLASSES):
        total += int(now.pips[i])
        own += now.pips[i] * now.shares[i, me]
        partner += now.pips[i] * now.shares[i, (me + 2) & 3]
    mine = own + partner
    ahead = belief.tile * (int(now.tiles[(me + 1) & 3]) + int(now.tiles[(me + 3) & 3]) - int(now.tiles[me]) - int(now.tiles[(me + 2) & 3]))
    if now.tiles[(me + 3) & 3] == 0:
        return ahead - mine
    return ahead + total - 2.0 * mine
