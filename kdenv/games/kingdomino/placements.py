"""The numbers of actions, and the legal placements of a domino.

An action that places a domino is cell * 4 + the direction of the second half. Cells are numbered in reading order over the window of
(2 * size - 1) squared squares with the castle in its middle. The discard follows, and then a pick for each slot of the draft.
"""

from typing import Any

import numpy as np

from kdenv.compiler.bits import ONE, lowest
from kdenv.compiler.kernel import kernel
from kdenv.games.kingdomino.board import (
    CASTLE,
    DOWN,
    FIRST_COLUMN,
    FIRST_ROW,
    LEFT,
    NONE,
    RIGHT,
    UP,
    across_seam,
    first_halves,
    moved_to_origin,
    neighbours,
    reach,
)
from kdenv.games.kingdomino.tables import N_DOUBLES, TERRAIN_A, TERRAIN_B

_8 = np.uint64(8)  # bits from a row to the next


@kernel
def n_cells(size):
    """Return the number of squares of the window, which has all squares that could ever be used."""
    return (2 * size - 1) * (2 * size - 1)


def _coordinates() -> tuple[np.ndarray, np.ndarray]:
    """Return tables of x and y by size and cell. A division would cost more than all the rest of a placement."""
    xs, ys = np.zeros((8, 13 * 13), np.int8), np.zeros((8, 13 * 13), np.int8)
    for size in (3, 5, 7):
        for cell in range((2 * size - 1) ** 2):
            ys[size, cell], xs[size, cell] = np.array(divmod(cell, 2 * size - 1)) - size + 1
    for table in (xs, ys):
        table.flags.writeable = False
    return xs, ys


X_OF, Y_OF = _coordinates()


@kernel
def discard_action(size):
    """Return the action that discards the domino to be placed."""
    return 4 * n_cells(size)


@kernel
def pick_action(size, slot):
    """Return the action that picks the domino in this slot of the draft."""
    return 4 * n_cells(size) + 1 + slot


@kernel
def place_action(size, x, y, direction):
    """Return the action that places the first half on (x, y) and the second half beside it in this direction."""
    return ((y + size - 1) * (2 * size - 1) + x + size - 1) * 4 + direction


@kernel
def reachable(s, seat):
    """Return the free squares that a domino may use without making the kingdom larger than size x size."""
    return reach(int(s.size), int(s.left[seat]), int(s.right[seat]), int(s.top[seat]), int(s.bottom[seat])) & ~s.taken[seat]


@kernel
def list_placements(s, seat, domino, out):
    """Write all placements of the domino to out, ascending. Returns their number. A double has only the smaller of its two names."""
    size = int(s.size)
    # The leftmost column and the topmost row in reach: two beyond the kingdom, unless that makes it too large.
    left_x = max(int(s.right[seat]) - size + 1, int(s.left[seat]) - 2)
    top_y = max(int(s.bottom[seat]) - size + 1, int(s.top[seat]) - 2)
    if size == 7:
        return _list_on_full_torus(s, seat, size, domino, left_x, top_y, out)
    # Move squares so that bits count in reading order from the top left of the squares in reach. In a smaller kingdom these span
    # at most seven columns and rows. So neighbours are plain shifts: a step across an edge leaves the squares in reach.
    free = moved_to_origin(reachable(s, seat), left_x, top_y)
    near_a = _beside(moved_to_origin(s.land[seat, TERRAIN_A[domino]] | CASTLE, left_x, top_y)) & free
    near_b = near_a
    if TERRAIN_B[domino] != TERRAIN_A[domino]:
        near_b = _beside(moved_to_origin(s.land[seat, TERRAIN_B[domino]] | CASTLE, left_x, top_y)) & free
    # For each direction of the second half: the squares where the first half may lie. Both squares must be free, and one half must lie
    # beside the castle or its own terrain.
    right = free & (free >> ONE) & (near_a | (near_b >> ONE))
    down = free & (free >> _8) & (near_a | (near_b >> _8))
    left = up = NONE
    if domino > N_DOUBLES:  # a double turned by half a turn is the same placement
        left = free & (free << ONE) & (near_a | (near_b << ONE))
        up = free & (free << _8) & (near_a | (near_b << _8))
    return _list_in_reading_order(right, down, left, up, place_action(size, left_x, top_y, RIGHT), 2 * size - 1, out)


@kernel
def _beside(squares):
    """Return the neighbours of squares that do not lie in the last column or row of the torus."""
    return (squares << ONE) | (squares >> ONE) | (squares << _8) | (squares >> _8)


@kernel
def _list_in_reading_order(right, down, left, up, origin, width, out):
    """Write the placements with these first halves, ascending. Returns their number. origin is the action of bit 0 to the right."""
    n: Any = 0  # numba infers np.int64
    cells = right | down | left | up
    while cells != NONE:
        b = lowest(cells)
        cells &= cells - ONE
        action = origin + 4 * ((b >> 3) * width + (b & 7))
        # Write all four directions, but count only those that are legal: the next one overwrites the others. This has no branches.
        shift = np.uint64(b)
        out[n] = action + RIGHT
        n += np.int64((right >> shift) & ONE)
        out[n] = action + DOWN
        n += np.int64((down >> shift) & ONE)
        out[n] = action + LEFT
        n += np.int64((left >> shift) & ONE)
        out[n] = action + UP
        n += np.int64((up >> shift) & ONE)
    return n


@kernel
def _list_on_full_torus(s, seat, size, domino, left_x, top_y, out):
    """Do the same as list_placements for 7x7. There the squares in reach may fill the torus, or have a column or row more than it."""
    free = reachable(s, seat)
    near_a = neighbours(s.land[seat, TERRAIN_A[domino]] | CASTLE) & free
    near_b = neighbours(s.land[seat, TERRAIN_B[domino]] | CASTLE) & free
    # 1. In a kingdom six wide, eight columns are in reach, and squares across the seam are not adjacent.
    left_most, right_most, top_most, bottom_most = int(s.left[seat]), int(s.right[seat]), int(s.top[seat]), int(s.bottom[seat])
    right = down = left = up = NONE
    for direction in range(2 if domino <= N_DOUBLES else 4):
        firsts = first_halves(free, near_a, near_b, direction) & ~across_seam(size, left_most, right_most, top_most, bottom_most, direction)
        firsts = moved_to_origin(firsts, left_x, top_y)
        if direction == RIGHT:
            right = firsts
        elif direction == DOWN:
            down = firsts
        elif direction == LEFT:
            left = firsts
        else:
            up = firsts
    # 2. In a kingdom five wide, nine columns are in reach, and the ninth shares its bits with the first. No domino points left from the
    # first column, so those that seem to do so begin in the ninth. The same holds for rows and up.
    ninth_column = left & FIRST_COLUMN
    ninth_row = up & FIRST_ROW
    left &= ~FIRST_COLUMN
    up &= ~FIRST_ROW
    n = _list_in_reading_order(right, down, left, up, place_action(size, left_x, top_y, RIGHT), 2 * size - 1, out)
    while ninth_column != NONE:
        b = lowest(ninth_column)
        ninth_column &= ninth_column - ONE
        n = _insert(out, n, place_action(size, left_x + 8, top_y + (b >> 3), RIGHT) + LEFT)
    while ninth_row != NONE:
        b = lowest(ninth_row)
        ninth_row &= ninth_row - ONE
        n = _insert(out, n, place_action(size, left_x + (b & 7), top_y + 8, RIGHT) + UP)
    return n


@kernel
def _insert(out, n, action):
    """Insert the action among the n ascending ones in out. Returns n + 1."""
    i = n
    while i > 0 and out[i - 1] > action:
        out[i] = out[i - 1]
        i -= 1
    out[i] = action
    return n + 1
