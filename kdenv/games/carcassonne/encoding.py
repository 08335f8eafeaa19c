"""The encodings of Carcassonne: `compact` (compact.py, the default), `prospects` (prospects.py) and `planes`, which is here.

`planes` shows the window of 31 x 31 cells as planes, with rows from north to south. The bag, the hands and the stage follow as a vector.
Seats are relative: the observer comes first, then the next seat. A feature is shown on all its tiles: every edge of a city has the same
numbers. `layout` lists the parts.
"""

from collections.abc import Mapping
from typing import Any

from kdenv.compiler.bits import ONE, lowest
from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Encoding, Part, clear
from kdenv.games.carcassonne.compact import COMPACT
from kdenv.games.carcassonne.encoding_parts import (
    CLAIMS,
    seat_parts,
    stage_parts,
    tile_parts,
    write_claims,
    write_seats,
    write_stage,
    write_tiles,
)
from kdenv.games.carcassonne.features import NOBODY, NONE, closed_cities_at, find, meeples_of
from kdenv.games.carcassonne.landscape import WORDS
from kdenv.games.carcassonne.prospects import PROSPECTS
from kdenv.games.carcassonne.rules import ALL_FIELDS, PLACING
from kdenv.games.carcassonne.tables import CITY, FIELD
from kdenv.games.carcassonne.tiles import CITY_AT, CLOISTER, EDGE, FIELD_CORNER, FIT, N_CELLS, NO_SEGMENT, PENNANTS, ROAD_AT, SIZE

TILE_PLANES = (
    *("tile", "newest tile", "cloister", "pennant"),
    *("city N", "city E", "city S", "city W", "road N", "road E", "road S", "road W"),
    *("joined NE", "joined NS", "joined NW", "joined ES", "joined EW", "joined SW"),  # two edges share a city or road of this tile
)
N_TILE_PLANES = len(TILE_PLANES)
N_FEATURE_PLANES = 9
N_LEGAL_PLANES = 4
N_MEEPLE_PLANES = 9  # per seat

# The place of each plane within its part.
TILE, NEWEST, HAS_CLOISTER, HAS_PENNANT, CITY_EDGE, ROAD_EDGE, SHARED = 0, 1, 2, 3, 4, 8, 12
COMPLETE, CITIES_AT_FIELD, AROUND_CLOISTER = 0, 4, 8
AT_EDGE, AT_CORNER, AT_CLOISTER = 0, 4, 8


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of the vector by name, in their order."""
    return {
        "tiles": Part(
            (N_TILE_PLANES, SIZE, SIZE), "1 where there is: " + ", ".join(TILE_PLANES) + " (joined: two edges share a city or road)"
        ),
        "features": Part(
            (N_FEATURE_PLANES, SIZE, SIZE),
            "1 if the city or road at the N, E, S, W edge is complete (4 planes). "
            "Then complete cities that the field at the NW, NE, SE, SW corner touches / 4 (4); tiles of the 3 x 3 around a cloister / 9",
        ),
        "legal": Part(
            (N_LEGAL_PLANES, SIZE, SIZE), "1 where the drawn tile fits, by quarter turns clockwise; all 0 unless it is to be placed"
        ),
        "meeples": Part(
            (players, N_MEEPLE_PLANES, SIZE, SIZE),
            "by seat, its meeples / 3 on the whole feature at each edge N, E, S, W (4 planes), at each corner NW, NE, SE, SW (4), "
            "on the cloister",
        ),
        **tile_parts(),
        **seat_parts(players),
        "claims": CLAIMS,
        **stage_parts(players),
    }


@kernel
def observe(states, k, seat, out):
    """Write the observation of the seat in states[k] to out."""
    s = states[k]
    clear(out)
    players = int(s.players)
    # Where the parts begin that have planes; the vector follows them.
    features = N_TILE_PLANES * N_CELLS
    legal = features + N_FEATURE_PLANES * N_CELLS
    meeples = legal + N_LEGAL_PLANES * N_CELLS
    for tile in range(int(s.n_tiles)):
        _write_tile(s, tile, out)
        _write_edges(s, tile, seat, out, features, meeples)
        _write_fields(s, tile, seat, out, features, meeples, legal)
    for field in range(ALL_FIELDS):  # _write_fields has kept its notes in the part `legal`, which is written below
        out[legal + field] = 0.0
    out[NEWEST * N_CELLS + int(s.tile_cell[int(s.n_tiles) - 1])] = 1.0
    for i in range(int(s.n_cloisters)):
        cell, owner = int(s.cloister_cell[i]), int(s.cloister_seat[i])
        out[features + AROUND_CLOISTER * N_CELLS + cell] = s.cloister_tiles[i] / 9.0
        if owner != NOBODY:
            out[meeples + (N_MEEPLE_PLANES * ((owner - seat) % players) + AT_CLOISTER) * N_CELLS + cell] = 1.0 / 3.0
    if s.stage == PLACING:
        _write_legal(s, out, legal)
    at = write_tiles(s, out, meeples + players * N_MEEPLE_PLANES * N_CELLS)
    at = write_claims(s, out, write_seats(s, seat, out, at))
    write_stage(s, seat, out, at)


@kernel
def _write_tile(s, tile, out):
    """Write the planes that show the tile itself, whatever lies around it."""
    cell, face = int(s.tile_cell[tile]), int(s.tile_face[tile])
    out[TILE * N_CELLS + cell] = 1.0
    out[HAS_CLOISTER * N_CELLS + cell] = float(CLOISTER[face >> 2])
    out[HAS_PENNANT * N_CELLS + cell] = float(PENNANTS[face >> 2])
    pair = SHARED
    for edge in range(4):
        kind = int(EDGE[face, edge])
        if kind != FIELD:
            out[((CITY_EDGE if kind == CITY else ROAD_EDGE) + edge) * N_CELLS + cell] = 1.0
        for other in range(edge + 1, 4):
            same_city = CITY_AT[face, edge] == CITY_AT[face, other] and CITY_AT[face, edge] != NO_SEGMENT
            same_road = ROAD_AT[face, edge] == ROAD_AT[face, other] and ROAD_AT[face, edge] != NO_SEGMENT
            if same_city or same_road:
                out[pair * N_CELLS + cell] = 1.0
            pair += 1


@kernel
def _write_edges(s, tile, seat, out, features, meeples):
    """Write the planes of the cities and roads at the edges of a tile."""
    cell, face = int(s.tile_cell[tile]), int(s.tile_face[tile])
    for edge in range(4):
        kind = int(EDGE[face, edge])
        if kind == FIELD:
            continue
        if kind == CITY:
            city = find(s.city_parent, int(s.tile_city[tile]) + int(CITY_AT[face, edge]))
            complete, held = s.city_open[city] == 0, int(s.city_meeples[city])
        else:
            road = find(s.road_parent, int(s.tile_road[tile]) + int(ROAD_AT[face, edge]))
            complete, held = s.road_open[road] == 0, int(s.road_meeples[road])
        if complete:
            out[features + (COMPLETE + edge) * N_CELLS + cell] = 1.0
        _write_meeples(s, held, seat, out, meeples + (AT_EDGE + edge) * N_CELLS + cell)


@kernel
def _write_fields(s, tile, seat, out, features, meeples, notes):
    """Write the planes of the fields at the corners of a tile.

    out[notes + field] keeps 1 + the number of complete cities that a field touches. So each field is counted only once.
    """
    cell, face = int(s.tile_cell[tile]), int(s.tile_face[tile])
    for corner in range(4):
        segment = int(FIELD_CORNER[face, corner])
        if segment == NO_SEGMENT:
            continue
        field = find(s.field_parent, int(s.tile_field[tile]) + segment)
        if out[notes + field] == 0.0:
            out[notes + field] = 1.0 + closed_cities_at(s, field)
        out[features + (CITIES_AT_FIELD + corner) * N_CELLS + cell] = (out[notes + field] - 1.0) / 4.0
        _write_meeples(s, int(s.field_meeples[field]), seat, out, meeples + (AT_CORNER + corner) * N_CELLS + cell)


@kernel
def _write_meeples(s, held, seat, out, at):
    """Write the number of meeples of each seat on a feature, each into the planes of its seat."""
    if held == 0:
        return
    players = int(s.players)
    for relative in range(players):
        out[at + relative * N_MEEPLE_PLANES * N_CELLS] = meeples_of(held, (seat + relative) % players) / 3.0


@kernel
def _write_legal(s, out, legal):
    """Write the cells and rotations in which the drawn tile fits."""
    for word in range(WORDS):
        cells = s.frontier[word]
        while cells != NONE:
            cell = 64 * word + lowest(cells)
            cells &= cells - ONE
            rotations = int(FIT[int(s.drawn), int(s.code[cell])])
            for rotation in range(4):
                out[legal + rotation * N_CELLS + cell] = float((rotations >> rotation) & 1)


ENCODINGS = (COMPACT, Encoding("planes", layout, observe, "planes over the window, for convolutional networks"), PROSPECTS)
