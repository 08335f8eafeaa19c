"""The rules of Kingdomino as kernels: the state and the verbs. README.md beside this file has the rules in words.

An action places (square and direction), discards, or picks a slot of the draft; chance draws a domino
(outcome: number - 1) or, in the first round, says whose king is next (outcome: seat). Nothing here
checks legality: tables, environments and parsers do.
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

NOBODY = -1
NO_DOMINO = 0

# What happens next (s.stage).
DRAWING, CALLING, PLACING, PICKING, FINISHED = range(5)

# The variant, as begin() receives it.
V_SIZE, V_DOMINOES, V_MIDDLE, V_HARMONY, V_TIEBREAK = range(5)
SHARED, OFFICIAL = 0, 1  # values of V_TIEBREAK

STATE = state_dtype(
    ("land", np.uint64, (4, N_TERRAINS)),  # the squares of each terrain, by seat (see board.py)
    ("crowns", np.uint64, (4, 2)),  # the squares whose number of crowns has bit 0, bit 1 set
    ("taken", np.uint64, 4),  # all squares used, castle included
    ("unseen", np.uint64),  # dominoes that have not been drawn: bit number - 1
    ("left", np.int8, 4),  # the outermost columns and rows used
    ("right", np.int8, 4),
    ("top", np.int8, 4),
    ("bottom", np.int8, 4),
    ("draft", np.int8, 4),  # the new draft, ascending
    ("draft_king", np.int8, 4),  # the seat whose king stands on it, or NOBODY
    ("queue", np.int8, 4),  # the draft of the round before, still to be placed from `turn` on
    ("queue_king", np.int8, 4),
    ("turn", np.int8),  # how many have finished their turn this round
    ("caller", np.int8),  # first round: the seat chance has called
    ("n_drawn", np.int8),  # dominoes of the new draft on the table
    ("round", np.int8),  # 0 (only picking) .. n_drafts (only placing)
    ("stage", np.int8),
    ("players", np.int8),
    ("kings", np.int8),  # kings on the table = dominoes in a draft
    ("n_drafts", np.int8),
    ("size", np.int8),
    ("middle", np.int8),
    ("harmony", np.int8),
    ("tiebreak", np.int8),
)


@kernel
def begin(s, players, variant):
    """Empty kingdoms, the box full; variant: size, dominoes, middle, harmony, tiebreak."""
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
    """Dominoes and the order of the first round are chance; the rest is decided."""
    if s.stage == FINISHED:
        return OVER
    return CHANCE if s.stage <= CALLING else DECIDE


@kernel
def seat(s):
    """The owner of the king whose turn it is."""
    return int(s.caller) if s.round == 0 else int(s.queue_king[s.turn])


# Actions: place = cell * 4 + direction of the second half, cells in reading order over the
# (2 * size - 1) squared window with the castle in its middle; then discard; then the slots.


@kernel
def n_cells(size):
    """How many squares the window of all squares that could ever be used has."""
    return (2 * size - 1) * (2 * size - 1)


def _coordinates() -> tuple[np.ndarray, np.ndarray]:
    """By size and cell: x and y. A division would cost more than all the rest of a placement."""
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
    """The action that discards the domino."""
    return 4 * n_cells(size)


@kernel
def pick_action(size, slot):
    """The action that picks a slot of the draft."""
    return 4 * n_cells(size) + 1 + slot


@kernel
def place_action(size, x, y, direction):
    """The action that lays the first half on (x, y) and the second half beside it."""
    return ((y + size - 1) * (2 * size - 1) + x + size - 1) * 4 + direction


@kernel
def legal(s, out):
    """Free slots while picking; while placing all that fits, or else the discard."""
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
    """The free squares that keep the kingdom within size x size, as far as one domino reaches."""
    return reach(int(s.size), int(s.left[seat]), int(s.right[seat]), int(s.top[seat]), int(s.bottom[seat])) & ~s.taken[seat]


@kernel
def _list_placements(s, seat, domino, out):
    """Write all placements of the domino to out, ascending; of the two names for a double the smaller."""
    size = int(s.size)
    left_x = max(int(s.right[seat]) - size + 1, int(s.left[seat]) - 2)
    top_y = max(int(s.bottom[seat]) - size + 1, int(s.top[seat]) - 2)
    if size == 7:
        return _list_on_full_torus(s, seat, size, domino, left_x, top_y, out)
    # Seen from the top left of what is in reach, bits count in reading order and, as the reach of smaller
    # kingdoms is at most seven columns and rows, a neighbour is a plain shift: over an edge it leaves the reach.
    free = moved_to_origin(reachable(s, seat), left_x, top_y)
    near_a = _beside(moved_to_origin(s.land[seat, TERRAIN_A[domino]] | CASTLE, left_x, top_y)) & free
    near_b = near_a
    if TERRAIN_B[domino] != TERRAIN_A[domino]:
        near_b = _beside(moved_to_origin(s.land[seat, TERRAIN_B[domino]] | CASTLE, left_x, top_y)) & free
    # For each direction of the second half: where the first half may lie.
    right = free & (free >> _1) & (near_a | (near_b >> _1))
    down = free & (free >> _8) & (near_a | (near_b >> _8))
    left = up = NONE
    if domino > N_DOUBLES:
        left = free & (free << _1) & (near_a | (near_b << _1))
        up = free & (free << _8) & (near_a | (near_b << _8))
    return _list_in_reading_order(right, down, left, up, place_action(size, left_x, top_y, RIGHT), 2 * size - 1, out)


@kernel
def _beside(squares):
    """The neighbours of squares that lie clear of the last column and row."""
    return (squares << _1) | (squares >> _1) | (squares << _8) | (squares >> _8)


@kernel
def _list_in_reading_order(right, down, left, up, origin, width, out):
    """Write the placements given as first halves by direction; origin is the action of bit 0, to the right."""
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
    """The same for 7x7, where what is in reach may fill the torus, or exceed it by a column or row."""
    free = reachable(s, seat)
    near_a = neighbours(s.land[seat, TERRAIN_A[domino]] | CASTLE) & free
    near_b = neighbours(s.land[seat, TERRAIN_B[domino]] | CASTLE) & free
    # 1. Six wide: the reach is eight columns, and what lies across the seam is not adjacent.
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
    # 2. Five wide: the reach is nine columns, and the ninth shares its bits with the first. From the first one
    # no domino points left, so those that seem to are in the ninth; likewise rows and up.
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
    """Put the action where it belongs among the n ascending ones; return n + 1."""
    i = n
    while i > 0 and out[i - 1] > action:
        out[i] = out[i - 1]
        i -= 1
    out[i] = action
    return n + 1


@kernel
def apply(s, action):
    """Place, discard or pick; then it is the next king's turn."""
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
    """Add one square to a kingdom."""
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
    """The next king of this round; after the last one the next round."""
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
    """How many kings of this seat have not had their turn in the first round."""
    kings = int(s.kings) // int(s.players)
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == seat:
            kings -= 1
    return kings


@kernel
def chances(s, out, weights):
    """Any domino not seen yet, all alike; or any king not called yet."""
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
    """A domino from the unseen, or a king from the bag."""
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
    """Lay the domino into the draft, kept in ascending order; or call the seat."""
    if s.stage == CALLING:
        s.caller = outcome
        s.stage = PICKING
        return
    s.unseen &= ~bit(outcome)
    domino = outcome + 1
    for slot in range(int(s.n_drawn) + 1):  # carry the greater one on; behind the last there is NO_DOMINO
        here = int(s.draft[slot])
        smaller = here != NO_DOMINO and here < domino
        s.draft[slot] = here if smaller else domino
        domino = domino if smaller else here
    s.n_drawn += 1
    if s.n_drawn == s.kings:
        s.stage = CALLING if s.round == 0 else PLACING


@kernel
def witnesses(s):
    """Everybody: the draft lies open."""
    return -1


@kernel
def points_of_kingdom(s, seat):
    """Squares times crowns of every area, and the bonuses in play."""
    points = 0
    for terrain in range(N_TERRAINS):
        points += points_of(s.land[seat, terrain], s.crowns[seat, 0], s.crowns[seat, 1])
    return points + bonus_for_middle(s, seat) + bonus_for_harmony(s, seat)


@kernel
def bonus_for_middle(s, seat):
    """10 if the castle is (or can still be) in the middle: nothing lies more than size // 2 away ("Middle Kingdom")."""
    reach = int(s.size) // 2
    inside = s.left[seat] >= -reach and s.right[seat] <= reach and s.top[seat] >= -reach and s.bottom[seat] <= reach
    return MIDDLE_BONUS if s.middle != 0 and inside else 0


@kernel
def bonus_for_harmony(s, seat):
    """5 if every square of the size x size kingdom is filled ("Harmony")."""
    return HARMONY_BONUS if s.harmony != 0 and popcount(s.taken[seat]) == int(s.size) * int(s.size) else 0


@kernel
def scores(s, out):
    """The points of every kingdom as it lies."""
    for seat in range(int(s.players)):
        out[seat] = points_of_kingdom(s, seat)


@kernel
def standings(s, out):
    """By points; with the official tie-break then by the largest area, then by crowns."""
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
    """Nothing: the table is open, and what is still in the box is a set until it is drawn."""
