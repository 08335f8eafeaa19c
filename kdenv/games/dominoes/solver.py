"""Value each turn with all hands open: alpha-beta over the rest of the round, with a transposition table.

A value is the difference of the points that the round brings the team to move and the other team, by the rules in play. Partners sit
opposite, so the team to move changes with every turn, as negamax needs it. Hands may have wrong sizes, because the paper's deals do.
So a seat is out when it has laid seven tiles, not when its hand is empty. With calls, the turns to value may include a call, which is
settled by the hands, and an unjust pass, which counts as called at once. In the rest of the search nobody fouls or calls.
"""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.bits import ONE, bit, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.compiler.state import state_dtype
from kdenv.core.game import Variant
from kdenv.core.questions import TO_THE_END, solve
from kdenv.core.turns import first_action
from kdenv.games.dominoes.rules import (
    MOST_TURNS,
    NO_END,
    NOBODY,
    PLAYING,
    ROUND,
    _settle,
    _settle_call,
    apply,
    cover,
    pips,
)
from kdenv.games.dominoes.tables import (
    ALL_TILES,
    BLOCKED,
    BLOCKED_IN_THEIR_CODE,
    CALL,
    DOMINAI_CODE,
    HAND,
    MIRRORED,
    NO_TILES,
    PASS,
    PIPS,
    PUERTO_RICO,
    ROW,
    SUITS,
    UNMIRRORED,
)

_MOST = 400  # more points than any round brings
_EXACT, _AT_LEAST, _AT_MOST = range(3)  # the kinds of a stored value
_NO_MOVE = 63  # in place of a move
_HINT_WEIGHT = 127  # the weight of the move from the table, which is tried first

# An entry of the transposition table is one int64. From the lowest bit on: the value + _ZERO (10 bits), its kind (2), the best move (6),
# the depth + 1 (8), and from bit 32 on the number of the deal, without which its key may mean another position.
_ZERO = 512  # the stored value of 0, so that no stored value is negative
_VALUE_MASK, _KIND_MASK, _MOVE_MASK, _DEPTH_MASK = 0x3FF, 0x3, 0x3F, 0xFF
_KIND_AT, _MOVE_AT, _DEPTH_AT, _DEAL_AT = 10, 12, 18, 32
_DEAL_MASK = 0x7FFFFFFF  # numbers of deals start again after this one, so that entries are never negative

# A node on the path from the root to the node that is searched now.
FRAME = state_dtype(
    ("rest", np.uint64),  # the tiles in all hands, not mirrored
    ("key", np.uint64),  # the position, as in the transposition table
    ("moves", np.int8, 16),  # in the order in which they are tried
    ("weights", np.int8, 16),  # the weights by which the moves are ordered
    ("n", np.int8),  # how many moves there are
    ("at", np.int8),  # how many of them have been tried
    ("move", np.int8),  # the move that is tried now
    ("best_move", np.int8),
    ("left", np.int8),  # the open ends and the passes before the move, for taking it back
    ("right", np.int8),
    ("passes", np.int8),
    ("depth", np.int16),  # turns still to be searched, or TO_THE_END
    ("alpha", np.int16),
    ("beta", np.int16),
    ("floor", np.int16),  # alpha when the node was entered
    ("best", np.int16),  # the best value found so far
)


class AlphaBeta(NamedTuple):
    """A solver: the memory of its search, for one search at a time."""

    frames: np.ndarray
    keys: np.ndarray  # the transposition table: the position in each slot,
    entries: np.ndarray  # and its result, packed as _ZERO and the lines below it describe
    tiles: np.ndarray  # by seat: the tiles it has left to play
    pips: np.ndarray  # by team: the pips in its hands
    counts: np.ndarray  # the number of this deal, the nodes visited so far


def alpha_beta(variant: Variant, table_bits: int = 17) -> AlphaBeta:
    """Make a solver for this variant, with 2 ** table_bits slots in its table."""
    size = 1 << table_bits
    return AlphaBeta(
        np.zeros(MOST_TURNS + 2, FRAME),
        np.zeros(size, np.uint64),
        np.zeros(size, np.int64),
        np.zeros(4, np.int64),
        np.zeros(2, np.int64),
        np.zeros(2, np.int64),
    )


@answers(solve, AlphaBeta)
@kernel
def solve_turns(solver, states, k, turns, n_turns, depth, rng, values):
    """Write the value of each turn, which is exact if depth is TO_THE_END; return the number of nodes visited."""
    before = solver.counts[1]
    _new_deal(solver, states, k)
    for i in range(n_turns):
        values[i] = _value_of(solver, states, k, first_action(turns[i]), depth)
    return solver.counts[1] - before


@kernel
def _new_deal(solver, states, k):
    """Begin a new deal. Entries of the table that have the number of another deal count as empty from now on."""
    solver.counts[0] = (solver.counts[0] + 1) & _DEAL_MASK
    s = states[k]
    solver.pips[0] = pips(s.hands[0]) + pips(s.hands[2])
    solver.pips[1] = pips(s.hands[1]) + pips(s.hands[3])
    for seat in range(4):
        solver.tiles[seat] = HAND - popcount(s.played[seat])


@kernel
def _value_of(solver, states, k, action, depth):
    """Return the value of this action to the team to move in states[k]."""
    if action == CALL or (action == PASS and _may_play(states[k])):
        return _value_of_foul(states, k, action)
    # Frame 0 is the root: it has this one move, searched with the full window, so that every turn gets its exact value.
    states[k + 1] = states[k]
    s = states[k + 1]
    s.mode = ROUND  # the end of the round must not begin the next one
    f = solver.frames[0]
    f.rest = (s.hands[0] | s.hands[1] | s.hands[2] | s.hands[3]) & ALL_TILES
    f.move = action
    f.depth = depth + 1 if depth >= 0 else TO_THE_END
    f.alpha = -_MOST
    f.beta = _MOST
    _go_down(solver, s, 0)
    value = -_search(solver, states, k + 1)
    _come_back(solver, s, 0)
    return value


@kernel
def _may_play(s):
    """Return whether the seat to move has a tile that fits."""
    return s.hands[s.turn] & (ROW[s.left] | ROW[s.right] if s.left != NO_END else ALL_TILES) != NO_TILES


@kernel
def _value_of_foul(states, k, action):
    """Return the value of a call, or of an unjust pass that the next seat calls, to the team to move."""
    states[k + 1] = states[k]
    s = states[k + 1]
    team = int(s.turn) & 1
    s.mode = ROUND
    caller = int(s.turn)
    if action == PASS:
        apply(s, PASS)
        caller = (caller + 1) & 3
    if action == CALL or s.stage == PLAYING:  # a pass may have ended the round
        _settle_call(s, caller)
    return _margin(s, team)


@kernel
def _search(solver, states, k):
    """Return the value of states[k], the position of frame 1, to the team to move there. states[k] is as before at the end.

    The search is a loop over frames, because kernels cannot call themselves. One state is changed and changed back along the path.
    """
    s = states[k]
    frames = solver.frames
    level = 1
    while True:
        # 1. Enter the node of this level. Its value may be known without search.
        solver.counts[1] += 1
        known, value = _enter(solver, states, k, level)
        # 2. Pass a known value to the node above. That node's value is known too if it is cut off or has tried all its moves.
        while known:
            level -= 1
            if level == 0:
                return value
            _come_back(solver, s, level)
            f = frames[level]
            value = -value  # to the team to move one level up
            if value > f.best:
                f.best = value
                f.best_move = f.move
                if value > f.alpha:
                    f.alpha = value
            known = f.alpha >= f.beta or f.at == f.n
            if known:
                value = int(f.best)
                _store(solver, f)
        # 3. Try the next move of the lowest node that still has one.
        f = frames[level]
        f.move = f.moves[f.at]
        f.at += 1
        _go_down(solver, s, level)
        level += 1


@kernel
def _go_down(solver, s, level):
    """Carry out the move of this frame, and write to the next frame what it needs to begin with."""
    f = solver.frames[level]
    child = solver.frames[level + 1]
    me = int(s.turn)
    action = int(f.move)
    f.left = s.left
    f.right = s.right
    f.passes = s.passes
    s.turn = (me + 1) & 3
    child.rest = f.rest
    if action == PASS:
        s.passes += 1
    else:
        c = action // SUITS
        e = action - c * SUITS
        s.hands[me] &= ~MIRRORED[action]
        s.passes = 0
        cover(s, c, e)
        solver.tiles[me] -= 1
        solver.pips[me & 1] -= PIPS[action]
        child.rest &= ~UNMIRRORED[action]
    # A frame of depth 0 has no moves, so a depth that is not positive is TO_THE_END.
    child.depth = f.depth - 1 if f.depth > 0 else TO_THE_END
    child.alpha = -f.beta
    child.beta = -f.alpha


@kernel
def _come_back(solver, s, level):
    """Take back the move of this frame."""
    f = solver.frames[level]
    me = (int(s.turn) + 3) & 3
    action = int(f.move)
    s.turn = me
    s.left = f.left
    s.right = f.right
    s.passes = f.passes
    if action != PASS:
        s.hands[me] |= MIRRORED[action]
        solver.tiles[me] += 1
        solver.pips[me & 1] += PIPS[action]


@kernel
def _enter(solver, states, k, level):
    """Return whether the value of the node is known already, and this value. If not, prepare the frame of the node for search."""
    s = states[k]
    f = solver.frames[level]
    me = int(s.turn)
    # 1. It is known if the round has ended.
    last = (me + 3) & 3
    if solver.tiles[last] == 0 and s.passes == 0:
        return True, _won(states, k, last, me & 1)
    if s.passes == (BLOCKED_IN_THEIR_CODE if s.rules == DOMINAI_CODE else BLOCKED):
        return True, _won(states, k, NOBODY, me & 1)
    # 2. At the depth asked for, it is the pips of the other team minus those of the team to move.
    mine, theirs = solver.pips[me & 1], solver.pips[1 - (me & 1)]
    if f.depth == 0:
        return True, theirs - mine
    # 3. No team can win more than the pips still in the hands (puerto_rico) or in the losers' hands. These bounds may suffice for a cut.
    most = mine + theirs if s.rules == PUERTO_RICO else theirs
    least = -(mine + theirs) if s.rules == PUERTO_RICO else -mine
    if most <= f.alpha:
        return True, most
    if least >= f.beta:
        return True, least
    # 4. The table may hold the position from another order of moves.
    f.key = _key(s, f.rest)
    known, value, hint = _recall(solver, f)
    if known:
        return True, value
    f.floor = f.alpha
    f.best = -_MOST
    f.best_move = _NO_MOVE
    f.at = 0
    _order_moves(s, f, hint)
    return False, 0


@kernel
def _won(states, k, out, team):
    """Return the margin of this team if the round ends now. `out` is the seat that went out, or NOBODY."""
    states[k + 1] = states[k]
    _settle(states[k + 1], out)
    return _margin(states[k + 1], team)


@kernel
def _margin(s, team):
    """Return the points of this team minus those of the other in a round that has ended."""
    margin = (int(s.points[0]) - int(s.before[0])) - (int(s.points[1]) - int(s.before[1]))
    return margin if (s.rules == PUERTO_RICO) == (team == 0) else -margin  # in all other presets points are penalties


@kernel
def _key(s, rest):
    """Return the position as a number. The holders of the tiles are left out, because they follow from the deal."""
    # Bits 0 to 48 are the tiles left, 49 to 55 the suits of the open ends, 56 and 57 the turn, 58 on the passes in a row.
    ends = np.uint64(0) if s.left == NO_END else bit(int(s.left)) | bit(int(s.right))
    return rest | (ends << np.uint64(49)) | (np.uint64(s.turn) << np.uint64(56)) | (np.uint64(s.passes) << np.uint64(58))


@kernel
def _slot(solver, key):
    """Return the slot of this key in the table. It depends on every bit of the key (a step of a xorshift generator)."""
    key ^= key << np.uint64(21)
    key ^= key >> np.uint64(35)
    key ^= key << np.uint64(4)
    return np.int64(key & np.uint64(solver.keys.shape[0] - 1))


@kernel
def _recall(solver, f):
    """Return whether the table settles the value of this node, this value, and the move to try first (or _NO_MOVE)."""
    slot = _slot(solver, f.key)
    entry = solver.entries[slot]
    if solver.keys[slot] != f.key or entry >> _DEAL_AT != solver.counts[0]:
        return False, 0, _NO_MOVE
    # A value of another depth is of no use, but its best move is likely to be good here too.
    hint = (entry >> _MOVE_AT) & _MOVE_MASK
    if ((entry >> _DEPTH_AT) & _DEPTH_MASK) - 1 != f.depth:
        return False, 0, hint
    value = (entry & _VALUE_MASK) - _ZERO
    kind = (entry >> _KIND_AT) & _KIND_MASK
    # A bound settles the node only if it lies outside the window.
    settled = kind == _EXACT or (kind == _AT_LEAST and value >= f.beta) or (kind == _AT_MOST and value <= f.alpha)
    return settled, value, hint


@kernel
def _store(solver, f):
    """Store the result of this node in its slot, in the place of any older entry."""
    # A value outside the window of the node is only a bound.
    kind = _AT_MOST if f.best <= f.floor else _AT_LEAST if f.best >= f.beta else _EXACT
    slot = _slot(solver, f.key)
    solver.keys[slot] = f.key
    result = (int(f.best) + _ZERO) | (kind << _KIND_AT) | (int(f.best_move) << _MOVE_AT) | ((int(f.depth) + 1) << _DEPTH_AT)
    solver.entries[slot] = result | (solver.counts[0] << _DEAL_AT)


@kernel
def _order_moves(s, f, hint):
    """List the moves in the order to try: the move from the table, then by weight. A pass if no tile fits."""
    hand = s.hands[s.turn]
    moves = hand & (ROW[s.left] | ROW[s.right]) if s.left != NO_END else hand & ALL_TILES
    if moves == NO_TILES:
        f.moves[0] = PASS
        f.n = 1
        return
    n = 0
    while moves != NO_TILES:
        move = lowest(moves)
        moves &= moves - ONE
        weight = _HINT_WEIGHT if move == hint else _promise(s, move)
        at = n  # insertion sort: there are few moves
        while at > 0 and f.weights[at - 1] < weight:
            f.moves[at] = f.moves[at - 1]
            f.weights[at] = f.weights[at - 1]
            at -= 1
        f.moves[at] = move
        f.weights[at] = weight
        n += 1
    f.n = n


@kernel
def _promise(s, move):
    """Return the weight of a move: high for heavy tiles that leave the next seat few answers."""
    # By pips alone the tree is four times as large.
    c = move // SUITS
    e = move - c * SUITS
    other = int(s.right) if s.left == c else int(s.left)
    if s.left == NO_END:
        other = c
    answers = popcount(s.hands[(s.turn + 1) & 3] & (ROW[e] | ROW[other]))
    return PIPS[move] - 6 * answers
