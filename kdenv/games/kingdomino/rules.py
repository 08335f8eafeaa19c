"""The rules of Kingdomino as kernels: the state and the verbs. README.md beside this file has the rules in words.

An action places a domino (by square and direction), discards it, or picks a slot of the draft. Chance draws a domino (outcome:
number - 1) or, in the first round, calls the next king (outcome: its seat). placements.py has the numbers of actions. Nothing here checks
legality; tables, environments and parsers do.
"""

import numpy as np

from kdenv.compiler.bits import ONE, bit, lowest, nth, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.compiler.state import state_dtype
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.games.kingdomino.board import (
    CASTLE,
    NONE,
    STEP_X,
    STEP_Y,
    largest_area,
    points_of,
    square,
)
from kdenv.games.kingdomino.placements import X_OF, Y_OF, discard_action, list_placements, pick_action
from kdenv.games.kingdomino.tables import (
    CROWNS_A,
    CROWNS_B,
    HARMONY_BONUS,
    MIDDLE_BONUS,
    N_DOMINOES,
    N_TERRAINS,
    TERRAIN_A,
    TERRAIN_B,
)

NOBODY = -1  # in place of a seat
NO_DOMINO = 0  # in place of the number of a domino

# The values of s.stage: what happens next.
DRAWING, CALLING, PLACING, PICKING, FINISHED = range(5)

# The places in the variant that begin() receives.
V_SIZE, V_DOMINOES, V_MIDDLE, V_HARMONY, V_TIEBREAK = range(5)
SHARED, OFFICIAL = 0, 1  # values of V_TIEBREAK

STATE = state_dtype(
    ("land", np.uint64, (4, N_TERRAINS)),  # the squares of each terrain, by seat (see board.py)
    ("crowns", np.uint64, (4, 2)),  # the squares with bit 0 set in their number of crowns, and those with bit 1 set
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
    ("turn", np.int8),  # the number of kings that have finished their turn this round
    ("caller", np.int8),  # the seat that chance has called in the first round, or NOBODY
    ("n_drawn", np.int8),  # the number of dominoes of the new draft on the table
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
    s.unseen = bit(N_DOMINOES) - ONE
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
    """Return CHANCE while dominoes are drawn or a king is called in the first round, then DECIDE, and OVER after the last round."""
    if s.stage == FINISHED:
        return OVER
    return CHANCE if s.stage <= CALLING else DECIDE


@kernel
def seat(s):
    """Return the seat that owns the king whose turn it is."""
    return int(s.caller) if s.round == 0 else int(s.queue_king[s.turn])


@kernel
def legal(s, out):
    """List the legal actions, ascending: picks of free slots, or all placements, or the discard if there are none. Returns their number."""
    size = int(s.size)
    if s.stage == PICKING:
        n = 0
        for slot in range(int(s.kings)):
            out[n] = pick_action(size, slot)
            n += 1 if s.draft_king[slot] == NOBODY else 0
        return n
    n = list_placements(s, seat(s), int(s.queue[s.turn]), out)
    if n == 0:
        out[0] = discard_action(size)
        return 1
    return n


@kernel
def apply(s, action):
    """Place, discard or pick. After a pick, and after each action of the last round, it is the next king's turn."""
    size = int(s.size)
    discard = discard_action(size)
    if action > discard:  # a pick
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
    _add_square(s, seat, x, y, int(TERRAIN_A[domino]), int(CROWNS_A[domino]))
    direction = action & 3
    _add_square(s, seat, x + STEP_X[direction], y + STEP_Y[direction], int(TERRAIN_B[domino]), int(CROWNS_B[domino]))


@kernel
def _add_square(s, seat, x, y, terrain, crowns):
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
    """Begin the turn of the next king of this round. After the last one begin the next round, or end the game."""
    s.turn += 1
    if s.turn < s.kings:
        s.stage = CALLING if s.round == 0 else PLACING
        return
    if s.round == s.n_drafts:
        s.stage = FINISHED
        return
    # The draft becomes the queue: its kings move in the order of their dominoes. The round after the last draft has no new one.
    for slot in range(4):
        s.queue[slot] = s.draft[slot]
        s.queue_king[slot] = s.draft_king[slot]
    _clear_draft(s)
    s.round += 1
    s.turn = 0
    s.stage = DRAWING if s.round < s.n_drafts else PLACING


@kernel
def _kings_to_call(s, seat):
    """Return the number of kings of this seat that have not had their turn in the first round."""
    kings = int(s.kings) // int(s.players)
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == seat:
            kings -= 1
    return kings


@kernel
def chances(s, out, weights):
    """List the dominoes not drawn yet, or the seats with kings not called yet, weighted by these kings. Returns the number of outcomes."""
    n = 0
    if s.stage == DRAWING:
        unseen = s.unseen
        while unseen != NONE:
            out[n] = lowest(unseen)
            weights[n] = 1
            unseen &= unseen - ONE
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
    # Insert it: from its place on, each slot takes the domino carried and gives up its own. Behind the last one is NO_DOMINO.
    for slot in range(int(s.n_drawn) + 1):
        here = int(s.draft[slot])
        smaller = here != NO_DOMINO and here < domino
        s.draft[slot] = here if smaller else domino
        domino = domino if smaller else here
    s.n_drawn += 1
    if s.n_drawn == s.kings:
        s.stage = CALLING if s.round == 0 else PLACING


@kernel
def witnesses(s):
    """Return -1, for all seats: the draft lies open, so everybody sees what chance does."""
    return -1


@kernel
def points_of_kingdom(s, seat):
    """Return the points of a kingdom as it lies: squares times crowns of every area, and the bonuses in play."""
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
def progress(s):
    """Return the share of the rounds that are over."""
    return 1.0 if s.stage == FINISHED else s.round / (s.n_drafts + 1)


@kernel
def scores(s, out):
    """Write the points of every kingdom as it lies."""
    for seat in range(int(s.players)):
        out[seat] = points_of_kingdom(s, seat)


@kernel
def standings(s, out):
    """Write a number by which seats rank: by points. The official tie-break ranks equal points by the largest area, then by crowns."""
    for seat in range(int(s.players)):
        rank = points_of_kingdom(s, seat)
        if s.tiebreak == OFFICIAL:  # a kingdom has fewer than 64 squares, and the box has 39 crowns
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
