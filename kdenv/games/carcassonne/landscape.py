"""Kernels that lay a tile, join its segments to those of its neighbours, and find the types that still fit."""

import numpy as np

from kdenv.compiler.bits import ONE, bit, lowest
from kdenv.compiler.kernel import kernel
from kdenv.games.carcassonne.features import NOBODY, NONE, find, join_cities, join_fields, join_roads
from kdenv.games.carcassonne.tables import CITY, ROAD
from kdenv.games.carcassonne.tiles import (
    CITY_AT,
    CITY_EDGES,
    CITY_PENNANTS,
    CLOISTER,
    EDGE,
    FIELD_AT,
    FIELD_CITIES,
    N_CELLS,
    N_CITIES,
    N_FIELDS,
    N_ROADS,
    NEIGHBOUR,
    NO_CELL,
    ROAD_AT,
    ROAD_EDGES,
    SIZE,
    TYPES_FITTING,
)

WORDS = (N_CELLS + 63) // 64  # 64-bit words of a set of cells


@kernel
def lay(s, cell, face):
    """Lay a tile and join its segments to those of its neighbours. Nothing is scored, and it is not checked that the tile fits."""
    # 1. Put it on the board. Its cell is no longer empty, so it leaves the frontier.
    tile = int(s.n_tiles)
    s.n_tiles = tile + 1
    s.tile_cell[tile] = cell
    s.tile_face[tile] = face
    s.board[cell] = tile + 1
    s.code[cell] = 0
    s.frontier[cell >> 6] &= ~bit(cell & 63)
    # 2. Add its segments as new features, and join them to those of the neighbours across each edge.
    _add_segments(s, tile, face >> 2)
    cities, roads, fields = int(s.tile_city[tile]), int(s.tile_road[tile]), int(s.tile_field[tile])
    for edge in range(4):
        kind = int(EDGE[face, edge])
        beyond = int(NEIGHBOUR[cell, edge])
        if beyond == NO_CELL:
            s.shown_outside = int(s.shown_outside) | (1 << kind)
            continue
        facing = (edge + 2) & 3
        neighbour = int(s.board[beyond]) - 1
        if neighbour < 0:  # an empty cell, which joins the frontier and must match this edge
            s.code[beyond] = int(s.code[beyond]) | (kind << (2 * facing))
            s.frontier[beyond >> 6] |= bit(beyond & 63)
            continue
        its_face = int(s.tile_face[neighbour])
        if kind == CITY:
            join_cities(s, cities + int(CITY_AT[face, edge]), int(s.tile_city[neighbour]) + int(CITY_AT[its_face, facing]))
            continue
        # Half-edges count clockwise on both tiles, so the first of this edge meets the second of the neighbour's.
        its_fields = int(s.tile_field[neighbour])
        join_fields(s, fields + int(FIELD_AT[face, 2 * edge]), its_fields + int(FIELD_AT[its_face, 2 * facing + 1]))
        if kind == ROAD:  # a road has a second field on its other side
            join_fields(s, fields + int(FIELD_AT[face, 2 * edge + 1]), its_fields + int(FIELD_AT[its_face, 2 * facing]))
            join_roads(s, roads + int(ROAD_AT[face, edge]), int(s.tile_road[neighbour]) + int(ROAD_AT[its_face, facing]))
    # 3. Note the completed cities, for fields, and count the tile for cloisters.
    _close_cities(s, cities)
    _surround_cloisters(s, cell, int(CLOISTER[face >> 2]))


@kernel
def _add_segments(s, tile, tile_type):
    """Make every segment of a tile a new feature."""
    city, road, field = int(s.n_cities), int(s.n_roads), int(s.n_fields)
    s.tile_city[tile] = city
    s.tile_road[tile] = road
    s.tile_field[tile] = field
    s.tile_claim[tile] = 0
    n = int(N_CITIES[tile_type])
    twice = 0  # a tile with several cities is one bit in the sets that find tiles counted twice (features.py); roads likewise
    if n > 1:
        twice = 1 << int(s.n_with_cities)
        s.n_with_cities += 1
    for i in range(n):
        s.city_parent[city + i] = city + i
        s.city_open[city + i] = CITY_EDGES[tile_type, i]
        s.city_tiles[city + i] = 1
        s.city_pennants[city + i] = CITY_PENNANTS[tile_type, i]
        s.city_twice[city + i] = twice
        s.city_meeples[city + i] = 0
        s.city_parts[city + i] = bit(city + i)
    s.n_cities = city + n
    n = int(N_ROADS[tile_type])
    twice = 0
    if n > 1:
        twice = 1 << int(s.n_with_roads)
        s.n_with_roads += 1
    for i in range(n):
        s.road_parent[road + i] = road + i
        s.road_open[road + i] = ROAD_EDGES[tile_type, i]
        s.road_tiles[road + i] = 1
        s.road_twice[road + i] = twice
        s.road_meeples[road + i] = 0
    s.n_roads = road + n
    n = int(N_FIELDS[tile_type])
    for i in range(n):
        s.field_parent[field + i] = field + i
        s.field_meeples[field + i] = 0
        s.field_cities[field + i] = np.uint64(FIELD_CITIES[tile_type, i]) << np.uint64(city)  # the tile's cities begin with bit `city`
    s.n_fields = field + n


@kernel
def _close_cities(s, first):
    """Add the cities that the newest tile has completed to s.closed. Its city segments begin with first."""
    for segment in range(first, int(s.n_cities)):
        city = find(s.city_parent, segment)
        if s.city_open[city] == 0:
            n = int(s.n_closed)
            if n == 0 or s.closed[n - 1] != s.city_parts[city]:  # two segments of the tile may be one city
                s.closed[n] = s.city_parts[city]
                s.n_closed = n + 1


@kernel
def _surround_cloisters(s, cell, is_cloister):
    """Count the new tile for the cloisters around it. If it is a cloister itself, count its neighbours."""
    row, column = cell // SIZE, cell % SIZE
    n = int(s.n_cloisters)
    for i in range(n):
        other = int(s.cloister_cell[i])
        if abs(other // SIZE - row) <= 1 and abs(other % SIZE - column) <= 1:
            s.cloister_tiles[i] += 1
    if is_cloister == 0:
        return
    n_around = 0
    for r in range(max(row - 1, 0), min(row + 2, SIZE)):
        for c in range(max(column - 1, 0), min(column + 2, SIZE)):
            if s.board[r * SIZE + c] != 0:
                n_around += 1
    s.cloister_cell[n] = cell
    s.cloister_tiles[n] = n_around
    s.cloister_seat[n] = NOBODY
    s.n_cloisters = n + 1


@kernel
def types_that_fit(s, types):
    """Return the types among these, as bits, that can be placed somewhere in the window."""
    fitting = 0
    for word in range(WORDS):
        cells = s.frontier[word]
        while cells != NONE:
            cell = 64 * word + lowest(cells)
            cells &= cells - ONE
            fitting |= int(TYPES_FITTING[int(s.code[cell])]) & types
            if fitting == types:
                return fitting
    return fitting
