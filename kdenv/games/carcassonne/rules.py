"""The rules of Carcassonne as kernels: the state and the verbs. README.md beside this file has the rules in words.

In a turn chance draws a tile (the outcome is its type). Then the seat decides a placement, `cell * 4 + rotation`, and, if there is a
choice, a claim, `CLAIM + slot`. Nothing here checks legality: tables, environments and parsers do.
"""

import numpy as np

from kdenv.compiler.bits import ONE, bit, lowest
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.compiler.state import state_dtype, wipe
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.games.carcassonne.claims import CLAIM, N_SLOTS, can_claim, claim, list_claims
from kdenv.games.carcassonne.features import NOBODY, NONE, city_pays, closed_cities_at, find, meeples_of, most
from kdenv.games.carcassonne.landscape import WORDS, lay, types_that_fit
from kdenv.games.carcassonne.tables import CLOISTER_POINTS, FIELD_POINTS, MEEPLES, MOST_SEATS, N_TILES, N_TYPES, START
from kdenv.games.carcassonne.tiles import CLOISTER, COPIES, FIT, KINDS, N_CELLS, N_CITIES, N_FIELDS, N_ROADS, START_CELL

NO_TYPE = -1
N_ACTIONS = CLAIM + N_SLOTS

# The values of s.stage: what happens next. The encodings rely on this order (`stage <= CLAIMING`).
DRAWING, PLACING, CLAIMING, FINISHED = range(4)

# The variant, as begin() receives it.
V_UNPLACEABLE = 0
RETURN, DISCARD = 0, 1  # values of V_UNPLACEABLE

# The number of segments of each kind in the box of 72 tiles.
ALL_CITIES = int(np.sum(COPIES.astype(int) * N_CITIES))
ALL_ROADS = int(np.sum(COPIES.astype(int) * N_ROADS))
ALL_FIELDS = int(np.sum(COPIES.astype(int) * N_FIELDS))
ALL_CLOISTERS = int(np.sum(COPIES.astype(int) * CLOISTER))

STATE = state_dtype(
    # Features (see features.py). Every segment has a `parent`. The other fields of a feature hold at its oldest segment only.
    ("city_parts", np.uint64, ALL_CITIES),  # the segments of a city, as bits
    ("field_cities", np.uint64, ALL_FIELDS),  # the city segments that a field touches, as bits
    ("closed", np.uint64, ALL_CITIES // 2),  # the segments of each complete city, as bits
    ("city_held", np.uint64),  # the cities that have meeples, as bits; roads and fields follow
    ("road_held", np.uint64),
    ("field_held", np.uint64, 2),
    ("frontier", np.uint64, WORDS),  # the empty cells that touch a tile, as bits
    ("city_meeples", np.uint16, ALL_CITIES),  # three bits a seat
    ("road_meeples", np.uint16, ALL_ROADS),
    ("field_meeples", np.uint16, ALL_FIELDS),
    ("tile_cell", np.int16, N_TILES),  # the tiles in the order they were laid
    ("cloister_cell", np.int16, ALL_CLOISTERS),
    ("points", np.int16, MOST_SEATS),
    ("city_parent", np.uint8, ALL_CITIES),
    ("city_open", np.int8, ALL_CITIES),  # its edges where nothing has been laid yet
    ("city_tiles", np.uint8, ALL_CITIES),
    ("city_pennants", np.uint8, ALL_CITIES),
    ("city_twice", np.uint8, ALL_CITIES),  # those of its tiles that have more than one city, as bits
    ("road_parent", np.uint8, ALL_ROADS),
    ("road_open", np.int8, ALL_ROADS),
    ("road_tiles", np.uint8, ALL_ROADS),
    ("road_twice", np.uint8, ALL_ROADS),
    ("field_parent", np.uint8, ALL_FIELDS),
    ("cloister_tiles", np.int8, ALL_CLOISTERS),  # tiles laid in the 3 x 3 cells around it
    ("cloister_seat", np.int8, ALL_CLOISTERS),  # the seat of the meeple there, or NOBODY
    ("tile_face", np.int8, N_TILES),
    ("tile_city", np.uint8, N_TILES),  # the first segment of a tile; of each kind it has segments in a row
    ("tile_road", np.uint8, N_TILES),
    ("tile_field", np.uint8, N_TILES),
    ("tile_claim", np.int8, N_TILES),  # N_SLOTS * seat + slot of the meeple put on it, or NO_MEEPLE; it may have left (has_meeple)
    ("board", np.uint8, N_CELLS),  # the number of the tile on a cell + 1, or 0
    ("code", np.uint8, N_CELLS),  # the edges that the neighbours show to an empty cell (see tiles.FIT)
    ("bag", np.int8, N_TYPES),  # tiles of each type not drawn yet
    ("hand", np.int8, MOST_SEATS),  # meeples that a seat has in hand
    ("left", np.int32),  # the types in the bag, as bits
    ("fitting", np.int32),  # at a chance node, the types in the bag that can be placed, as bits
    ("n_left", np.int8),  # tiles in the bag
    ("n_tiles", np.int8),
    ("n_cities", np.int8),  # segments laid so far; roads and fields follow
    ("n_roads", np.int8),
    ("n_fields", np.uint8),
    ("n_cloisters", np.int8),
    ("n_closed", np.int8),
    ("n_with_cities", np.int8),  # tiles laid that have more than one city; those with more than one road follow
    ("n_with_roads", np.int8),
    ("drawn", np.int8),  # the type of the tile to be placed, or NO_TYPE
    ("turn", np.int8),  # the seat that has the turn
    ("stage", np.int8),
    ("shown_outside", np.int8),  # the kinds of edges that tiles at the rim show to the outside of the window, as bits
    ("clipped", np.int8),  # 1 once a tile could not be placed only because of the window
    ("players", np.int8),
    ("unplaceable", np.int8),
)


@kernel
def clear(s):
    """Clear the table: no tile is laid or drawn, and all are in the bag. The players and options stay."""
    players, unplaceable = s.players, s.unplaceable
    wipe(s)
    s.players = players
    s.unplaceable = unplaceable
    for tile_type in range(N_TYPES):
        s.bag[tile_type] = COPIES[tile_type]
    s.left = (1 << N_TYPES) - 1
    s.n_left = N_TILES
    for seat in range(MOST_SEATS):
        s.hand[seat] = MEEPLES if seat < s.players else 0
    s.drawn = NO_TYPE


@kernel
def begin(s, players, variant):
    """Lay the start tile in the middle and put the rest into the bag. The variant is the option `unplaceable`."""
    s.players = players
    s.unplaceable = variant[V_UNPLACEABLE]
    clear(s)
    take(s, START)
    lay(s, START_CELL, 4 * START)
    prepare_draw(s)


@kernel
def phase(s):
    """Return CHANCE while a tile is drawn, DECIDE while it is placed or a claim decided, and OVER at the end."""
    if s.stage == FINISHED:
        return OVER
    return CHANCE if s.stage == DRAWING else DECIDE


@kernel
def seat(s):
    """Return the seat whose turn it is."""
    return int(s.turn)


@kernel
def legal(s, out):
    """Write the placements of the drawn tile, or the claims on the tile just laid, to out. Returns their number."""
    if s.stage == CLAIMING:
        return list_claims(s, out, 0)
    drawn = int(s.drawn)
    n = 0
    for word in range(WORDS):
        cells = s.frontier[word]
        while cells != NONE:
            cell = 64 * word + lowest(cells)
            cells &= cells - ONE
            # Write every rotation, but count only those that fit: the next one overwrites the others. This has no branches.
            rotations = int(FIT[drawn, int(s.code[cell])])
            for rotation in range(4):
                out[n] = 4 * cell + rotation
                n += (rotations >> rotation) & 1
    return n


@kernel
def apply(s, action):
    """Lay the drawn tile, or put a meeple (or none) on the tile just laid. The turn ends when there is nothing to claim."""
    if s.stage == PLACING:
        lay(s, action >> 2, 4 * int(s.drawn) + (action & 3))
        s.drawn = NO_TYPE
        if can_claim(s):
            s.stage = CLAIMING
            return
    elif action != CLAIM:
        claim(s, action - CLAIM)
    end_turn(s)


@kernel
def end_turn(s):
    """Score all that is complete. Then the next seat draws, or the game is over if no tile can be placed."""
    settle(s)
    s.turn += 1
    if s.turn == s.players:
        s.turn = 0
    prepare_draw(s)


@kernel
def _award(s, meeples, points):
    """Give the points to every seat with the most meeples ("ties: all get the full points")."""
    largest = most(meeples)
    for seat in range(int(s.players)):
        if meeples_of(meeples, seat) == largest:
            s.points[seat] += points


@kernel
def _take_back(s, meeples):
    for seat in range(int(s.players)):
        s.hand[seat] += meeples_of(meeples, seat)


@kernel
def settle(s):
    """Score the features that the newest tile has completed, and give their meeples back."""
    # Only a segment of the newest tile can complete a city or road. Two of its segments may be one feature. That is paid once, because
    # its meeples are gone by then.
    tile = int(s.n_tiles) - 1
    for segment in range(int(s.tile_city[tile]), int(s.n_cities)):
        city = find(s.city_parent, segment)
        if s.city_open[city] == 0 and s.city_meeples[city] != 0:
            _award(s, s.city_meeples[city], city_pays(s, city))
            _take_back(s, s.city_meeples[city])
            s.city_meeples[city] = 0
            s.city_held &= ~bit(city)
    for segment in range(int(s.tile_road[tile]), int(s.n_roads)):
        road = find(s.road_parent, segment)
        if s.road_open[road] == 0 and s.road_meeples[road] != 0:
            _award(s, s.road_meeples[road], int(s.road_tiles[road]))
            _take_back(s, s.road_meeples[road])
            s.road_meeples[road] = 0
            s.road_held &= ~bit(road)
    # Cloisters are few, so all are looked at, not only those around the tile.
    for i in range(int(s.n_cloisters)):
        owner = int(s.cloister_seat[i])
        if s.cloister_tiles[i] == CLOISTER_POINTS and owner != NOBODY:
            s.points[owner] += CLOISTER_POINTS
            s.hand[owner] += 1
            s.cloister_seat[i] = NOBODY


@kernel
def _finish(s):
    """Score the open features and the fields. The meeples stay where they are."""
    s.stage = FINISHED
    held = s.city_held
    while held != NONE:
        city = lowest(held)
        held &= held - ONE
        _award(s, s.city_meeples[city], city_pays(s, city))
    held = s.road_held
    while held != NONE:
        road = lowest(held)
        held &= held - ONE
        _award(s, s.road_meeples[road], int(s.road_tiles[road]))
    for i in range(int(s.n_cloisters)):
        if s.cloister_seat[i] != NOBODY:
            s.points[int(s.cloister_seat[i])] += int(s.cloister_tiles[i])
    for word in range(2):
        held = s.field_held[word]
        while held != NONE:
            field = 64 * word + lowest(held)
            held &= held - ONE
            _award(s, s.field_meeples[field], FIELD_POINTS * closed_cities_at(s, field))


@kernel
def take(s, tile_type):
    """Take a tile out of the bag."""
    s.n_left -= 1
    s.bag[tile_type] -= 1
    if s.bag[tile_type] == 0:
        s.left = int(s.left) & ~(1 << tile_type)


@kernel
def prepare_draw(s):
    """Make chance next if any tile in the bag can be placed; else finish the game."""
    left = int(s.left)
    fitting = types_that_fit(s, left)
    s.fitting = fitting
    s.drawn = NO_TYPE
    s.stage = DRAWING
    # A type that fits nowhere might fit outside the window, if a tile at the rim shows an edge of one of its kinds to the outside.
    if s.shown_outside != 0 and fitting != left:
        for tile_type in range(N_TYPES):
            if ((left & ~fitting) >> tile_type) & 1 and int(KINDS[tile_type]) & int(s.shown_outside):
                s.clipped = 1
    if fitting == 0:
        _finish(s)


@kernel
def chances(s, out, weights):
    """Write the types in the bag with their numbers of tiles. Types that fit nowhere are left out unless they are discarded when drawn."""
    n = 0
    for tile_type in range(N_TYPES):
        if s.bag[tile_type] > 0 and (s.unplaceable == DISCARD or (int(s.fitting) >> tile_type) & 1):
            out[n] = tile_type
            weights[n] = s.bag[tile_type]
            n += 1
    return n


@kernel
def sample_chance(s, rng):
    """Return the type of a random tile from the bag. A tile that fits nowhere goes back, unless it will be discarded."""
    # Drawing again gives the types that fit the odds of `chances`.
    while True:
        tile = below(rng, int(s.n_left))
        tile_type = 0
        while tile >= s.bag[tile_type]:
            tile -= int(s.bag[tile_type])
            tile_type += 1
        if s.unplaceable == DISCARD or (int(s.fitting) >> tile_type) & 1:
            return tile_type


@kernel
def apply_chance(s, outcome):
    """Take the tile out of the bag. It is to be placed; or, if it fits nowhere, it is out of the game and chance is next again."""
    take(s, outcome)
    if (int(s.fitting) >> outcome) & 1:
        s.drawn = outcome
        s.stage = PLACING
        s.fitting = 0
    else:
        prepare_draw(s)


@kernel
def witnesses(s):
    """Return -1, for all seats: everybody sees the tile that is drawn."""
    return -1


@kernel
def progress(s):
    """Return the share of the tiles that have been laid beside the first one."""
    return 1.0 if s.stage == FINISHED else (s.n_tiles - 1) / (N_TILES - 1)


@kernel
def scores(s, out):
    """Write the points scored so far. Once the game is over they are the result."""
    for seat in range(int(s.players)):
        out[seat] = s.points[seat]


@kernel
def standings(s, out):
    """Write the points, which alone decide the places."""
    scores(s, out)


@kernel
def resample_hidden(s, seat, rng):
    """Do nothing: the table is open, and the bag has no order before a tile is drawn."""
