"""The rules of Kingdomino as kernels: the state and the verbs. README.md beside this file has the rules in words.

An action places a domino (by square and direction), discards it, or picks a slot of the draft. Chance draws a domino (outcome:
number - 1) or, in the first round, says whose king is next (outcome: seat). Nothing here checks legality; tables, environments and
parsers do.
"""

import numpy as np

from kdenv.compiler.bits import bit, lowest, nth, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.compiler.state import state_dtype
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.games.kingdomino.board import (
    CASTLE,
    DOWN,
    FIRST_COLUMN,
    FIRST_ROW,
    LEFT,
    NONE,
    RIGHT,
    STEP_X,
    STEP_Y,
    UP,
    across_seam,
    first_halves,
    largest_area,
    moved_to_origin,
    neighbours,
    points_of,
    reach,
    square,
)
from kdenv.games.kingdomino.tables import (
    CROWNS_A,
    CROWNS_B,
    HARMONY_BONUS,
    MIDDLE_BONUS,
    N_DOMINOES,
    N_DOUBLES,
    N_TERRAINS,
    TERRAIN_A,
    TERRAIN_B,
)

_1, _8 = np.uint64(1), np.uint64(8)

NOBODY = -1  # in place of a seat
NO_DOMINO = 0  # in place of the number of a domino

# The values of s.stage: what happens next.
DRAWING, CALLING, PLACING, PICKING, FINISHED = range(5)

# The places in the variant that begin() receives.
V_SIZE, V_DOMINOES, V_MIDDLE, V_HARMONY, V_TIEBREAK = range(5)
SHARED, OFFICIAL = 0, 1  # values of V_TIEBREAK

STATE = state_dtype(
    ("land", np.uint64, (4, N_TERRAINS)),  # the squares of each terrain, by seat (see board.py)
    ("crowns", np.uint64, (4, 2)),  # the squares whose number of crowns has bit 0 set, and those where it has bit 1 set
    ("taken", np.uint64, 4),  # all squares used, the castle included
    ("unseen", np.uint64),  # the dominoes that have not been drawn; the domino `number` is bit number - 1
    ("left", np.int8, 4),  # the outermost columns and rows used, by seat
    ("right", np.int8, 4),
    ("top", np.int8, 4),
    ("bottom", np.int8, 4),
    ("draft", np.int8, 4),  # the new draft, ascending
    ("draft_king", np.int8, 4),  # the seats whose kings stand on these, or NOBODY
    ("queue", np.int8, 4),  # the draft of the round before; from `turn` on its dominoes are still to be placed
    ("queue_king", np.int8, 4),  # the seats whose kings stand on these
    ("turn", np.int8),  # how many kings have finished their turn this round
    ("caller", np.int8),  # the seat that chance has called in the first round, or NOBODY
    ("n_drawn", np.int8),  # how many dominoes of the new draft lie on the table
    ("round", np.int8),  # from 0 (picking only) to n_drafts (placing only)
    ("stage", np.int8),
    ("players", np.int8),
    ("kings", np.int8),  # the number of kings, which is also that of dominoes in a draft
    ("n_drafts", np.int8),
    ("size", np.int8),
    ("middle", np.int8),
    ("harmony", np.int8),
    ("tiebreak", np.int8),
)


@kernel
def begin(s, players, variant):
    """Begin with empty kingdoms and a full box. variant holds size, dominoes, middle, harmony, tiebreak."""
    s.players = players
    s.kings = 3 if players == 3 else 4
    s.size = variant[V_SIZE]
    s.n_drafts = variant[V_DOMINOES] // s.kings
    s.middle = variant[V_MIDDLE]
    s.harmony = variant[V_HARMONY]
    s.tiebreak = variant[V_TIEBREAK]
    s.unseen = bit(N_DOMINOES) - np.uint64(1)
    for seat in range(4):
        for terrain in range(N_TERRAINS):
            s.land[seat, terrain] = NONE
        s.crowns[seat, 0] = NONE
        s.crowns[seat, 1] = NONE
        s.taken[seat] = CASTLE
        s.left[seat] = 0
        s.right[seat] = 0
        s.top[seat] = 0
        s.bottom[seat] = 0
        s.queue[seat] = NO_DOMINO
        s.queue_king[seat] = NOBODY
    s.round = 0
    s.turn = 0
    s.caller = NOBODY
    _clear_draft(s)
    s.stage = DRAWING


@kernel
def _clear_draft(s):
    s.n_drawn = 0
    for slot in range(4):
        s.draft[slot] = NO_DOMINO
        s.draft_king[slot] = NOBODY


@kernel
def phase(s):
    """CHANCE while dominoes are drawn or a king is called in the first round, then DECIDE, and OVER after the last round."""
    if s.stage == FINISHED:
        return OVER
    return CHANCE if s.stage <= CALLING else DECIDE


@kernel
def seat(s):
    """The seat that owns the king whose turn it is."""
    return int(s.caller) if s.round == 0 else int(s.queue_king[s.turn])


# An action that places is cell * 4 + direction of the second half. Cells are numbered in reading order over the window of
# (2 * size - 1) squared squares with the castle in its middle. Then comes the discard, then a pick for each slot.


@kernel
def n_cells(size):
    """The number of squares of the window, which has all squares that could ever be used."""
    return (2 * size - 1) * (2 * size - 1)


def _coordinates() -> tuple[np.ndarray, np.ndarray]:
    """Tables of x and y by size and cell. A division would cost more than all the rest of a placement."""
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
    """The action that discards the domino to be placed."""
    return 4 * n_cells(size)


@kernel
def pick_action(size, slot):
    """The action that picks the domino in this slot of the draft."""
    return 4 * n_cells(size) + 1 + slot


@kernel
def place_action(size, x, y, direction):
    """The action that places the first half on (x, y) and the second half beside it in this direction."""
    return ((y + size - 1) * (2 * size - 1) + x + size - 1) * 4 + direction


@kernel
def legal(s, out):
    """List the legal actions, ascending: picks of free slots, or all placements, or the discard if there are none. Return how many."""
    size = int(s.size)
    if s.stage == PICKING:
        n = 0
        for slot in range(int(s.kings)):
            out[n] = pick_action(size, slot)
            n += 1 if s.draft_king[slot] == NOBODY else 0
        return n
    n = _list_placements(s, seat(s), int(s.queue[s.turn]), out)
    if n == 0:
        out[0] = discard_action(size)
        return 1
    return n


@kernel
def reachable(s, seat):
    """The free squares that a domino may use without making the kingdom larger than size x size."""
    return reach(int(s.size), int(s.left[seat]), int(s.right[seat]), int(s.top[seat]), int(s.bottom[seat])) & ~s.taken[seat]


@kernel
def _list_placements(s, seat, domino, out):
    """Write all placements of the domino to out, ascending; return how many. Of the two names for a double, only the smaller counts."""
    size = int(s.size)
    left_x = max(int(s.right[seat]) - size + 1, int(s.left[seat]) - 2)
    top_y = max(int(s.bottom[seat]) - size + 1, int(s.top[seat]) - 2)
    if size == 7:
        return _list_on_full_torus(s, seat, size, domino, left_x, top_y, out)
    # Squares are moved so that bits count in reading order from the top left of the squares in reach. In a smaller kingdom these span
    # at most seven columns and rows. So neighbours are plain shifts: a step across an edge leaves the squares in reach.
    free = moved_to_origin(reachable(s, seat), left_x, top_y)
    near_a = _beside(moved_to_origin(s.land[seat, TERRAIN_A[domino]] | CASTLE, left_x, top_y)) & free
    near_b = near_a
    if TERRAIN_B[domino] != TERRAIN_A[domino]:
        near_b = _beside(moved_to_origin(s.land[seat, TERRAIN_B[domino]] | CASTLE, left_x, top_y)) & free
    # For each direction of the second half: the squares where the first half may lie.
    right = free & (free >> _1) & (near_a | (near_b >> _1))
    down = free & (free >> _8) & (near_a | (near_b >> _8))
    left = up = NONE
    if domino > N_DOUBLES:
        left = free & (free << _1) & (near_a | (near_b << _1))
        up = free & (free << _8) & (near_a | (near_b << _8))
    return _list_in_reading_order(right, down, left, up, place_action(size, left_x, top_y, RIGHT), 2 * size - 1, out)


@kernel
def _beside(squares):
    """The neighbours of squares that do not lie in the last column or row of the torus."""
    return (squares << _1) | (squares >> _1) | (squares << _8) | (squares >> _8)


@kernel
def _list_in_reading_order(right, down, left, up, origin, width, out):
    """Write the placements with these first halves, ascending; return how many. origin is the action of bit 0 to the right."""
    n = 0
    cells = right | down | left | up
    while cells != NONE:
        b = lowest(cells)
        cells &= cells - _1
        action = origin + 4 * ((b >> 3) * width + (b & 7))
        shift = np.uint64(b)
        out[n] = action + RIGHT
        n += np.int64((right >> shift) & _1)
        out[n] = action + DOWN
        n += np.int64((down >> shift) & _1)
        out[n] = action + LEFT
        n += np.int64((left >> shift) & _1)
        out[n] = action + UP
        n += np.int64((up >> shift) & _1)
    return n


@kernel
def _list_on_full_torus(s, seat, size, domino, left_x, top_y, out):
    """Do the same as _list_placements for 7x7, where the squares in reach may fill the torus or be a column or row larger."""
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
        ninth_column &= ninth_column - _1
        n = _insert(out, n, place_action(size, left_x + 8, top_y + (b >> 3), RIGHT) + LEFT)
    while ninth_row != NONE:
        b = lowest(ninth_row)
        ninth_row &= ninth_row - _1
        n = _insert(out, n, place_action(size, left_x + (b & 7), top_y + 8, RIGHT) + UP)
    return n


@kernel
def _insert(out, n, action):
    """Insert the action among the n ascending ones in out; return n + 1."""
    i = n
    while i > 0 and out[i - 1] > action:
        out[i] = out[i - 1]
        i -= 1
    out[i] = action
    return n + 1


@kernel
def apply(s, action):
    """Place, discard or pick. After a pick, and after each action of the last round, it is the next king's turn."""
    size = int(s.size)
    discard = discard_action(size)
    if action > discard:
        slot = action - discard - 1
        s.draft_king[slot] = seat(s)
        _end_turn(s)
        return
    if action < discard:
        _place(s, seat(s), int(s.queue[s.turn]), action)
    if s.round < s.n_drafts:
        s.stage = PICKING
    else:
        _end_turn(s)


@kernel
def _place(s, seat, domino, action):
    x = int(X_OF[int(s.size), action >> 2])
    y = int(Y_OF[int(s.size), action >> 2])
    _settle(s, seat, x, y, int(TERRAIN_A[domino]), int(CROWNS_A[domino]))
    direction = action & 3
    _settle(s, seat, x + STEP_X[direction], y + STEP_Y[direction], int(TERRAIN_B[domino]), int(CROWNS_B[domino]))


@kernel
def _settle(s, seat, x, y, terrain, crowns):
    """Add a square of this terrain to a kingdom."""
    here = bit(square(x, y))
    s.land[seat, terrain] |= here
    s.taken[seat] |= here
    if crowns & 1:
        s.crowns[seat, 0] |= here
    if crowns & 2:
        s.crowns[seat, 1] |= here
    if x < s.left[seat]:
        s.left[seat] = x
    if x > s.right[seat]:
        s.right[seat] = x
    if y < s.top[seat]:
        s.top[seat] = y
    if y > s.bottom[seat]:
        s.bottom[seat] = y


@kernel
def _end_turn(s):
    """Go on to the next king of this round, or, after the last one, to the next round or the end."""
    s.turn += 1
    if s.turn < s.kings:
        s.stage = CALLING if s.round == 0 else PLACING
        return
    if s.round == s.n_drafts:
        s.stage = FINISHED
        return
    for slot in range(4):
        s.queue[slot] = s.draft[slot]
        s.queue_king[slot] = s.draft_king[slot]
    _clear_draft(s)
    s.round += 1
    s.turn = 0
    s.stage = DRAWING if s.round < s.n_drafts else PLACING


@kernel
def _kings_to_call(s, seat):
    """The number of kings of this seat that have not had their turn in the first round."""
    kings = int(s.kings) // int(s.players)
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == seat:
            kings -= 1
    return kings


@kernel
def chances(s, out, weights):
    """List the dominoes that have not been drawn, or the seats with kings not called yet, weighted by these; return how many."""
    n = 0
    if s.stage == DRAWING:
        unseen = s.unseen
        while unseen != NONE:
            out[n] = lowest(unseen)
            weights[n] = 1
            unseen &= unseen - np.uint64(1)
            n += 1
        return n
    for seat in range(int(s.players)):
        kings = _kings_to_call(s, seat)
        if kings > 0:
            out[n] = seat
            weights[n] = kings
            n += 1
    return n


@kernel
def sample_chance(s, rng):
    """Draw a domino that has not been drawn, or a king that has not been called."""
    if s.stage == DRAWING:
        return nth(s.unseen, below(rng, popcount(s.unseen)))
    king = below(rng, int(s.kings) - int(s.turn))
    seat = 0
    while True:
        king -= _kings_to_call(s, seat)
        if king < 0:
            return seat
        seat += 1


@kernel
def apply_chance(s, outcome):
    """Put the domino into the draft, which stays in ascending order, or call the seat."""
    if s.stage == CALLING:
        s.caller = outcome
        s.stage = PICKING
        return
    s.unseen &= ~bit(outcome)
    domino = outcome + 1
    for slot in range(int(s.n_drawn) + 1):  # carry the greater of two dominoes on; behind the last one is NO_DOMINO
        here = int(s.draft[slot])
        smaller = here != NO_DOMINO and here < domino
        s.draft[slot] = here if smaller else domino
        domino = domino if smaller else here
    s.n_drawn += 1
    if s.n_drawn == s.kings:
        s.stage = CALLING if s.round == 0 else PLACING


@kernel
def witnesses(s):
    """All seats (-1) see what chance does, because the draft lies open."""
    return -1


@kernel
def points_of_kingdom(s, seat):
    """The points of a kingdom as it lies: squares times crowns of every area, and the bonuses in play."""
    points = 0
    for terrain in range(N_TERRAINS):
        points += points_of(s.land[seat, terrain], s.crowns[seat, 0], s.crowns[seat, 1])
    return points + bonus_for_middle(s, seat) + bonus_for_harmony(s, seat)


@kernel
def bonus_for_middle(s, seat):
    """10 if no square is more than size // 2 rows or columns from the castle ("Middle Kingdom"), else 0. A kingdom begins with 10."""
    reach = int(s.size) // 2
    inside = s.left[seat] >= -reach and s.right[seat] <= reach and s.top[seat] >= -reach and s.bottom[seat] <= reach
    return MIDDLE_BONUS if s.middle != 0 and inside else 0


@kernel
def bonus_for_harmony(s, seat):
    """5 if every square of the size x size kingdom is filled ("Harmony"), else 0."""
    return HARMONY_BONUS if s.harmony != 0 and popcount(s.taken[seat]) == int(s.size) * int(s.size) else 0


@kernel
def scores(s, out):
    """Write the points of every kingdom as it lies."""
    for seat in range(int(s.players)):
        out[seat] = points_of_kingdom(s, seat)


@kernel
def standings(s, out):
    """Write a number by which seats rank: by points, and with the official tie-break then by the largest area, then by crowns."""
    for seat in range(int(s.players)):
        rank = points_of_kingdom(s, seat)
        if s.tiebreak == OFFICIAL:
            rank = (rank * 64 + _largest_area(s, seat)) * 64 + popcount(s.crowns[seat, 0]) + 2 * popcount(s.crowns[seat, 1])
        out[seat] = rank


@kernel
def _largest_area(s, seat):
    largest = 0
    for terrain in range(N_TERRAINS):
        largest = max(largest, largest_area(s.land[seat, terrain]))
    return largest


@kernel
def resample_hidden(s, seat, rng):
    """Change nothing, because nothing is hidden. The dominoes in the box have no order until they are drawn."""
