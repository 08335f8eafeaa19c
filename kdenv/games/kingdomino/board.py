"""Sets of squares as bits: a kingdom of any allowed size on an 8 x 8 torus, one uint64 per terrain.

The castle is at x = y = 0, but it may end up anywhere in its kingdom. So the coordinates of a square lie between -(size - 1) and size - 1.
That is 9 x 9 squares for size 5 and 13 x 13 for size 7. A kingdom never spans more than `size` rows or columns, though. So coordinates
modulo 8 are different for any two of its squares, and moving to a neighbour is a rotation of the bits. The square (x, y) is bit
(y & 7) * 8 + (x & 7).
"""

import numpy as np

from kdenv.compiler.bits import ONE, popcount
from kdenv.compiler.kernel import kernel

NONE = np.uint64(0)
CASTLE = np.uint64(1)  # the set of the square x = y = 0 alone
FIRST_COLUMN = np.uint64(0x0101010101010101)
FIRST_ROW = np.uint64(0xFF)
_LAST_COLUMN = np.uint64(0x8080808080808080)
_7, _8, _56, _64 = (np.uint64(n) for n in (7, 8, 56, 64))

RIGHT, DOWN, LEFT, UP = range(4)
STEP_X = np.array([1, 0, -1, 0], np.int64)
STEP_Y = np.array([0, 1, 0, -1], np.int64)


@kernel
def square(x, y):
    """Return the bit number of a square."""
    return (y & 7) * 8 + (x & 7)


@kernel
def east(squares):
    """Return the right neighbours of these squares."""
    return ((squares & ~_LAST_COLUMN) << ONE) | ((squares & _LAST_COLUMN) >> _7)


@kernel
def west(squares):
    """Return the left neighbours of these squares."""
    return ((squares & ~FIRST_COLUMN) >> ONE) | ((squares & FIRST_COLUMN) << _7)


@kernel
def south(squares):
    """Return the neighbours below these squares."""
    return (squares << _8) | (squares >> _56)


@kernel
def north(squares):
    """Return the neighbours above these squares."""
    return (squares >> _8) | (squares << _56)


@kernel
def neighbours(squares):
    """Return all squares that share an edge with one of these squares."""
    return east(squares) | west(squares) | south(squares) | north(squares)


@kernel
def area_around(start, land):
    """Return the squares of land that are connected to start, and start itself."""
    area = start
    while True:
        grown = area | (neighbours(area) & land)
        if grown == area:
            return area
        area = grown


@kernel
def points_of(land, crowns_low, crowns_high):
    """Return the points of one terrain: squares times crowns, summed over its connected areas."""
    points = 0
    left = land & (crowns_low | crowns_high)  # an area without crowns scores nothing, so areas are found from their crowns
    while left != NONE:
        area = area_around(left & ~(left - ONE), land)  # around the lowest of the squares left
        crowns = popcount(area & crowns_low) + 2 * popcount(area & crowns_high)
        points += popcount(area) * crowns
        left &= ~area
    return points


def _low_bits_of_rows() -> np.ndarray:
    """Return by k from 0 to 7 the columns 0 to 7 - k of every row."""
    masks = np.array([sum(((0xFF >> k) << (8 * row)) for row in range(8)) for k in range(8)], np.uint64)
    masks.flags.writeable = False
    return masks


_LOW = _low_bits_of_rows()


@kernel
def moved_to_origin(squares, x, y):
    """Return the same squares, moved so that (x, y) becomes bit 0. From there bits count in reading order."""
    # 1. Rotate the rows: whole bytes, round the whole word.
    turn = np.uint64(8 * (y & 7))
    squares = (squares >> turn) | (squares << ((_64 - turn) & np.uint64(63)))
    # 2. Rotate the columns: bits, round each byte.
    k = x & 7
    if k == 0:
        return squares
    return ((squares >> np.uint64(k)) & _LOW[k]) | ((squares << np.uint64(8 - k)) & ~_LOW[k])


def _reachable(size: int, least: int, most: int) -> range:
    """Return the columns (rows) that a domino may still use in a kingdom that spans least..most.

    A domino reaches two squares beyond the kingdom, and the kingdom may not become larger than `size`.
    """
    return range(max(most - size + 1, least - 2), min(least + size - 1, most + 2) + 1)


def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    columns = np.zeros((8, 7, 7), np.uint64)
    rows = np.zeros((8, 7, 7), np.uint64)
    seam_columns = np.zeros((8, 7, 7), np.uint64)
    seam_rows = np.zeros((8, 7, 7), np.uint64)
    one_column, one_row = 0x0101010101010101, 0xFF
    for size in (3, 5, 7):
        for least in range(-size + 1, 1):
            for most in range(least + size):
                reachable = _reachable(size, least, most)
                at = size, -least, most
                columns[at] = np.uint64(sum({one_column << (x & 7) for x in reachable}))
                rows[at] = np.uint64(sum({one_row << (8 * (y & 7)) for y in reachable}))
                if most - least + 1 == 6:
                    seam_columns[at] = np.uint64(one_column << (reachable[-1] & 7))
                    seam_rows[at] = np.uint64(one_row << (8 * (reachable[-1] & 7)))
    for table in (columns, rows, seam_columns, seam_rows):
        table.flags.writeable = False
    return columns, rows, seam_columns, seam_rows


# By size, -(the least used column or row) and the greatest: the squares in reach of a domino. In a 7x7 kingdom that is six wide these
# fill all eight columns of the torus. SEAM_COLUMN has the last of these columns: its right neighbour on the torus is no neighbour in
# the kingdom. SEAM_ROW is the same for rows. Both are empty for all other kingdoms.
REACHABLE_COLUMNS, REACHABLE_ROWS, SEAM_COLUMN, SEAM_ROW = _tables()


@kernel
def reach(size, left, right, top, bottom):
    """Return the squares that a domino may use in a kingdom that spans these columns and rows, taken ones included."""
    return REACHABLE_COLUMNS[size, -left, right] & REACHABLE_ROWS[size, -top, bottom]


@kernel
def behind(squares, direction):
    """Return the squares whose neighbour in this direction is one of these."""
    if direction == RIGHT:
        return west(squares)
    if direction == DOWN:
        return north(squares)
    return east(squares) if direction == LEFT else south(squares)


@kernel
def first_halves(free, near_a, near_b, direction):
    """Return the squares where the first half of a domino may lie if the second half lies in this direction from it.

    Both squares must be free, and the first half must lie in near_a or the second in near_b. These are the squares beside the castle or
    the terrain of that half.
    """
    return free & behind(free, direction) & (near_a | behind(near_b, direction))


@kernel
def across_seam(size, left, right, top, bottom, direction):
    """Return the squares from which a step in this direction crosses the seam of the torus: some if a 7x7 kingdom is six wide (or high)."""
    if direction == RIGHT:
        return SEAM_COLUMN[size, -left, right]
    if direction == LEFT:
        return east(SEAM_COLUMN[size, -left, right])
    if direction == DOWN:
        return SEAM_ROW[size, -top, bottom]
    return south(SEAM_ROW[size, -top, bottom])


@kernel
def towards(b, direction):
    """Return the bit number of the neighbour of square b in this direction."""
    if direction == RIGHT:
        return (b & 56) | ((b + 1) & 7)
    if direction == LEFT:
        return (b & 56) | ((b - 1) & 7)
    return (b + 8) & 63 if direction == DOWN else (b - 8) & 63


@kernel
def centred_box(size):
    """Return the size x size squares around the castle."""
    return reach(size, -(size // 2), size // 2, -(size // 2), size // 2)


@kernel
def has_hole(taken, box):
    """Return whether an empty square of the box can never be filled.

    No domino within the box covers a square that has neither an empty square of the box nor the castle beside it.
    """
    empty = box & ~taken
    return empty & ~neighbours(empty | CASTLE) != NONE


@kernel
def column_of(bit, leftmost):
    """Return the x of a bit number. The square must lie at x = leftmost or up to seven columns to the right of it."""
    return leftmost + ((bit - leftmost) & 7)


@kernel
def row_of(bit, topmost):
    """Return the y of a bit number. The square must lie at y = topmost or up to seven rows below it."""
    return topmost + (((bit >> 3) - topmost) & 7)


@kernel
def largest_area(land):
    """Return the number of squares of the largest connected area of one terrain."""
    largest = 0
    while land != NONE:
        area = area_around(land & ~(land - ONE), land)
        largest = max(largest, popcount(area))
        land &= ~area
    return largest
