"""Tiles as arrays, and the window of cells on which they are laid.

A *face* is a type of tile with a rotation: type * 4 + quarter turns clockwise. Rotating by r takes edge e
to (e + r) % 4, half-edge h to (h + 2r) % 8, corner c to (c + r) % 4. The segments of a tile keep their
numbers when it is turned. A cell is row * 31 + column, rows from the north.
"""

import numpy as np
from numpy.typing import NDArray

from kdenv.games.carcassonne.tables import EDGES, LETTERS, N_TYPES, TILES

SIZE = 31  # rows and columns of the window; the start tile lies in its middle
MIDDLE = SIZE // 2
N_CELLS = SIZE * SIZE
START_CELL = MIDDLE * SIZE + MIDDLE
NO_SEGMENT = -1
NO_CELL = -1


def _fixed(values: object, kind: type) -> NDArray[np.generic]:
    array: NDArray[np.generic] = np.array(values, kind)
    array.flags.writeable = False
    return array


def _turned(places: list[int], rotation: int) -> list[int]:
    """Return the entries of places, one per edge or corner (4) or half-edge (8), in the order they have after turning."""
    shift = rotation * len(places) // 4
    return [places[(i - shift) % len(places)] for i in range(len(places))]


def _segment_at(segments: list[list[int]], n_places: int) -> list[int]:
    """Return the segment at every place, NO_SEGMENT where there is none."""
    return [next((i for i, segment in enumerate(segments) if place in segment), NO_SEGMENT) for place in range(n_places)]


def _by_face(of_type: list[list[int]]) -> NDArray[np.generic]:
    return _fixed([_turned(places, rotation) for places in of_type for rotation in range(4)], np.int8)


def _corners(half_edges: str) -> list[int]:
    """Return the corners that a field fills. Corner c lies between half-edges 2c - 1 and 2c."""
    return sorted({(int(h) + 1) // 2 % 4 for h in half_edges})


def _edge_numbers(edges: str) -> list[int]:
    return [EDGES.index(edge) for edge in edges]


# By face and edge (or half-edge, or corner): the kind of the edge in EDGE, the number of the segment there in the others.
EDGE = _by_face([[LETTERS.index(letter) for letter in tile.edges] for tile in TILES])
CITY_AT = _by_face([_segment_at([_edge_numbers(edges) for edges, _ in tile.cities], 4) for tile in TILES])
ROAD_AT = _by_face([_segment_at([_edge_numbers(edges) for edges in tile.roads], 4) for tile in TILES])
FIELD_AT = _by_face([_segment_at([[int(h) for h in half_edges] for half_edges, _ in tile.fields], 8) for tile in TILES])
FIELD_CORNER = _by_face([_segment_at([_corners(half_edges) for half_edges, _ in tile.fields], 4) for tile in TILES])

# By type.
COPIES = _fixed([tile.copies for tile in TILES], np.int8)
CLOISTER = _fixed([tile.cloister for tile in TILES], np.int8)
N_CITIES = _fixed([len(tile.cities) for tile in TILES], np.int8)
N_ROADS = _fixed([len(tile.roads) for tile in TILES], np.int8)
N_FIELDS = _fixed([len(tile.fields) for tile in TILES], np.int8)
PENNANTS = _fixed([sum(pennants for _, pennants in tile.cities) for tile in TILES], np.int8)
KINDS = _fixed([sum(1 << LETTERS.index(letter) for letter in set(tile.edges)) for tile in TILES], np.int8)  # kinds of its edges, as bits


def _of_segments(n: int, values: list[list[int]]) -> NDArray[np.generic]:
    return _fixed([row + [0] * (n - len(row)) for row in values], np.int8)


# By type and segment.
CITY_EDGES = _of_segments(2, [[len(edges) for edges, _ in tile.cities] for tile in TILES])
CITY_PENNANTS = _of_segments(2, [[pennants for _, pennants in tile.cities] for tile in TILES])
ROAD_EDGES = _of_segments(4, [[len(edges) for edges in tile.roads] for tile in TILES])
FIELD_CITIES = _of_segments(4, [[sum(1 << int(city) for city in cities) for _, cities in tile.fields] for tile in TILES])  # as bits


def _distinct(tile_type: int) -> int:
    """Return the number of rotations of a tile that look different: 1, 2 or 4."""
    looks = [_looks(tile_type, rotation) for rotation in range(4)]
    return next(n for n in (1, 2, 4) if looks[n % 4] == looks[0])


def _looks(tile_type: int, rotation: int) -> object:
    """Return the edges and half-edges that a turned tile connects, without the numbers of its segments."""
    tile = TILES[tile_type]
    return (
        {(frozenset((EDGES.index(e) + rotation) % 4 for e in edges), pennants) for edges, pennants in tile.cities},
        {frozenset((EDGES.index(e) + rotation) % 4 for e in edges) for edges in tile.roads},
        {frozenset((int(h) + 2 * rotation) % 8 for h in half_edges) for half_edges, _ in tile.fields},
    )


ROTATIONS = _fixed([_distinct(tile_type) for tile_type in range(N_TYPES)], np.int8)


# The code of an empty cell is the kinds of edges that its neighbours show to it: two bits an edge, 0 where no tile is.


def _fit_tables() -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    fit = np.zeros((N_TYPES, 256), np.int8)
    types = np.zeros(256, np.int64)
    for code in range(256):
        wanted = [code >> 2 * edge & 3 for edge in range(4)]
        for tile_type in range(N_TYPES):
            for rotation in range(ROTATIONS[tile_type]):
                if all(want in (0, have) for want, have in zip(wanted, EDGE[4 * tile_type + rotation], strict=True)):
                    fit[tile_type, code] |= 1 << rotation
            if fit[tile_type, code]:
                types[code] |= 1 << tile_type
    return _fixed(fit, np.int8), _fixed(types, np.int64)


FIT, TYPES_FITTING = _fit_tables()  # by type and code: the rotations that fit, as bits; by code: the types that fit


def _neighbours() -> NDArray[np.generic]:
    table = np.full((N_CELLS, 4), NO_CELL, np.int64)
    for cell in range(N_CELLS):
        row, column = divmod(cell, SIZE)
        for edge, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
            if 0 <= row + down < SIZE and 0 <= column + right < SIZE:
                table[cell, edge] = cell + down * SIZE + right
    return _fixed(table, np.int16)


NEIGHBOUR = _neighbours()  # by cell and edge; NO_CELL outside the window
