"""Meeples on tiles: the claims that are open on the newest tile, and the places of all meeples.

A slot is a place for a meeple on a tile. Slot 0 is none. Slots 1 to 4 are the city or road at the north, east, south and west edge. Slots
5 to 8 are the field at the corners NW, NE, SE and SW, and 9 is the cloister. If several slots mean one feature, the lowest names it.
"""

from kdenv.compiler.bits import bit
from kdenv.compiler.kernel import kernel
from kdenv.games.carcassonne.features import NOBODY, NONE, find, hold_field, release_field
from kdenv.games.carcassonne.tables import CITY, FIELD, ROAD
from kdenv.games.carcassonne.tiles import CITY_AT, CLOISTER, EDGE, FIELD_CORNER, N_CELLS, NO_SEGMENT, ROAD_AT

CLAIM = 4 * N_CELLS  # the action that claims nothing; CLAIM + slot puts a meeple on this slot
N_SLOTS = 10
NO_MEEPLE, FIRST_EDGE, FIRST_CORNER, ON_CLOISTER = 0, 1, 5, 9  # slots


@kernel
def can_claim(s):
    """Return whether the seat to move has a meeple in hand and the newest tile has a feature without a meeple."""
    if s.hand[s.turn] == 0:
        return False
    tile = int(s.n_tiles) - 1
    tile_type = int(s.tile_face[tile]) >> 2
    if CLOISTER[tile_type] != 0:  # a new cloister has no meeple
        return True
    for segment in range(int(s.tile_city[tile]), int(s.n_cities)):
        if s.city_meeples[find(s.city_parent, segment)] == 0:
            return True
    for segment in range(int(s.tile_road[tile]), int(s.n_roads)):
        if s.road_meeples[find(s.road_parent, segment)] == 0:
            return True
    free = False
    for segment in range(int(s.tile_field[tile]), int(s.n_fields)):
        free = free or s.field_meeples[find(s.field_parent, segment)] == 0
    return free


@kernel
def list_claims(s, out, n):
    """Write the claims on the newest tile to out from index n on: first to claim nothing, then each free feature by its lowest slot.

    Returns the index after the last of them. It is not checked that the seat has a meeple.
    """
    tile = int(s.n_tiles) - 1
    face = int(s.tile_face[tile])
    out[n] = CLAIM
    n += 1
    # Slots ascend, and tiles laid earlier may have joined several segments of this tile. So a feature is listed with its first slot only.
    cities = NONE  # cities and roads that are already listed, as bits
    roads = NONE
    for edge in range(4):
        kind = int(EDGE[face, edge])
        if kind == CITY:
            city = find(s.city_parent, int(s.tile_city[tile]) + int(CITY_AT[face, edge]))
            if s.city_meeples[city] == 0 and cities & bit(city) == NONE:
                cities |= bit(city)
                out[n] = CLAIM + FIRST_EDGE + edge
                n += 1
        elif kind == ROAD:
            road = find(s.road_parent, int(s.tile_road[tile]) + int(ROAD_AT[face, edge]))
            if s.road_meeples[road] == 0 and roads & bit(road) == NONE:
                roads |= bit(road)
                out[n] = CLAIM + FIRST_EDGE + edge
                n += 1
    low = NONE  # fields that are already listed, as bits: numbers below 64 in low, the rest in high
    high = NONE
    for corner in range(4):
        segment = int(FIELD_CORNER[face, corner])
        if segment == NO_SEGMENT:
            continue
        field = find(s.field_parent, int(s.tile_field[tile]) + segment)
        listed = low if field < 64 else high
        if s.field_meeples[field] == 0 and listed & bit(field & 63) == NONE:
            if field < 64:
                low |= bit(field)
            else:
                high |= bit(field & 63)
            out[n] = CLAIM + FIRST_CORNER + corner
            n += 1
    if CLOISTER[face >> 2] != 0:
        out[n] = CLAIM + ON_CLOISTER
        n += 1
    return n


@kernel
def feature_at(s, tile, slot):
    """Return the number of the city, road, field or cloister at a slot of a tile. It is not checked that there is one."""
    face = int(s.tile_face[tile])
    if slot == ON_CLOISTER:
        for i in range(int(s.n_cloisters)):
            if s.cloister_cell[i] == s.tile_cell[tile]:
                return i
        return NO_SEGMENT
    if slot >= FIRST_CORNER:
        return find(s.field_parent, int(s.tile_field[tile]) + int(FIELD_CORNER[face, slot - FIRST_CORNER]))
    edge = slot - FIRST_EDGE
    if EDGE[face, edge] == CITY:
        return find(s.city_parent, int(s.tile_city[tile]) + int(CITY_AT[face, edge]))
    return find(s.road_parent, int(s.tile_road[tile]) + int(ROAD_AT[face, edge]))


@kernel
def kind_at(s, tile, slot):
    """Return the kind at a slot from 1 to 8: that of the edge (CITY, ROAD or FIELD), or FIELD at a corner."""
    return int(EDGE[int(s.tile_face[tile]), slot - FIRST_EDGE]) if slot < FIRST_CORNER else FIELD


@kernel
def put_meeple(s, tile, slot, seat, n):
    """Put a meeple of a seat on the feature at a slot of a tile (n is 1), or take it back (n is -1)."""
    feature = feature_at(s, tile, slot)
    s.hand[seat] -= n
    s.tile_claim[tile] = N_SLOTS * seat + slot if n > 0 else NO_MEEPLE
    meeple = n << (3 * seat)  # three bits a seat (features.py)
    if slot == ON_CLOISTER:
        s.cloister_seat[feature] = seat if n > 0 else NOBODY
        return
    kind = kind_at(s, tile, slot)
    if kind == CITY:
        s.city_meeples[feature] = int(s.city_meeples[feature]) + meeple
        s.city_held = s.city_held | bit(feature) if s.city_meeples[feature] != 0 else s.city_held & ~bit(feature)
    elif kind == ROAD:
        s.road_meeples[feature] = int(s.road_meeples[feature]) + meeple
        s.road_held = s.road_held | bit(feature) if s.road_meeples[feature] != 0 else s.road_held & ~bit(feature)
    else:
        s.field_meeples[feature] = int(s.field_meeples[feature]) + meeple
        if s.field_meeples[feature] != 0:
            hold_field(s, feature)
        else:
            release_field(s, feature)


@kernel
def claim(s, slot):
    """Put a meeple of the seat to move on a slot of the newest tile."""
    put_meeple(s, int(s.n_tiles) - 1, slot, int(s.turn), 1)


@kernel
def has_meeple(s, tile):
    """Return whether a meeple was put on a tile and is still there. It goes back to its seat when the claimed feature is complete."""
    slot = int(s.tile_claim[tile]) % N_SLOTS
    if slot == NO_MEEPLE:
        return False
    feature = feature_at(s, tile, slot)
    if slot == ON_CLOISTER:
        return s.cloister_seat[feature] != NOBODY
    kind = kind_at(s, tile, slot)
    if kind == CITY:
        return s.city_meeples[feature] != 0
    return s.road_meeples[feature] != 0 if kind == ROAD else True  # a field is never complete
