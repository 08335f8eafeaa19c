"""The tiles of Carcassonne, checked when these tests are imported against the file they were typed from."""

import json
from pathlib import Path

import numpy as np
import pytest

from kdenv.games.carcassonne.tables import EDGES, LETTERS, N_TILES, START, TILES
from kdenv.games.carcassonne.tiles import COPIES, EDGE, FIELD_CITIES, FIELD_CORNER, FIT, KINDS, NEIGHBOUR, NO_CELL, ROTATIONS, SIZE

FILE = json.loads((Path(__file__).parents[1] / "data" / "carcassonne_tiles.json").read_text())
assert sum(tile.copies for tile in TILES) == N_TILES == FILE["total"] == 72
assert sum(tile.copies * pennants for tile in TILES for _, pennants in tile.cities) == 10
assert int(ROTATIONS.sum()) == 79


@pytest.mark.parametrize("number", range(24))
def test_tile_is_as_in_the_file(number: int) -> None:
    tile, printed = TILES[number], FILE["tiles"][number]
    assert (tile.letter, tile.copies, tile.edges, tile.cloister) == tuple(printed[key] for key in ("id", "count", "edges", "cloister"))
    assert [([EDGES.index(e) for e in edges], pennants) for edges, pennants in tile.cities] == [
        (city["edges"], city["pennants"]) for city in printed["cities"]
    ]
    assert [[EDGES.index(e) for e in edges] for edges in tile.roads] == printed["roads"]
    assert [([int(h) for h in halves], [int(c) for c in cities]) for halves, cities in tile.fields] == [
        (field["half_edges"], field["cities"]) for field in printed["fields"]
    ]
    assert FIELD_CORNER[4 * number].tolist() == printed["corner_field"]
    assert ROTATIONS[number] == printed["distinct_rotations"]


def test_start_tile_is_d() -> None:
    assert TILES[START].letter == FILE["start_tile"]


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: tile.letter)
def test_every_edge_is_consistent_with_its_segments(tile) -> None:
    """A city edge has one city and no field, a road edge a road between two half-edges, a field edge one field."""
    for edge, letter in enumerate(tile.edges):
        cities = [edges for edges, _ in tile.cities if EDGES[edge] in edges]
        roads = [edges for edges in tile.roads if EDGES[edge] in edges]
        halves = [[i for i, (h, _) in enumerate(tile.fields) if str(2 * edge + k) in h] for k in (0, 1)]
        assert (len(cities), len(roads)) == {"C": (1, 0), "R": (0, 1), "F": (0, 0)}[letter]
        assert [len(fields) for fields in halves] == ([0, 0] if letter == "C" else [1, 1])
        if letter == "F":
            assert halves[0] == halves[1]


def test_no_two_fields_share_a_corner() -> None:
    for tile in TILES:
        corners = [{(int(h) + 1) // 2 % 4 for h in halves} for halves, _ in tile.fields]
        assert sum(map(len, corners)) == len(set().union(*corners))
        assert all(corners)


def test_turning_clockwise_moves_the_northern_edge_to_the_east() -> None:
    edges = np.array([[LETTERS[kind] for kind in EDGE[4 * START + rotation]] for rotation in range(4)])
    assert ["".join(row) for row in edges] == ["CRFR", "RCRF", "FRCR", "RFRC"]


def test_fit_table_is_what_the_edges_say() -> None:
    for number in range(24):
        for code in (0b00000001, 0b10000001, 0b11010111, 0b11111111):
            wanted = [code >> 2 * edge & 3 for edge in range(4)]
            for rotation in range(int(ROTATIONS[number])):
                matches = all(w in (0, int(have)) for w, have in zip(wanted, EDGE[4 * number + rotation], strict=True))
                assert bool(FIT[number, code] >> rotation & 1) == matches


def test_window_has_edges() -> None:
    assert NEIGHBOUR[0].tolist() == [NO_CELL, 1, SIZE, NO_CELL]
    assert NEIGHBOUR[SIZE * SIZE - 1].tolist() == [SIZE * SIZE - 1 - SIZE, NO_CELL, NO_CELL, SIZE * SIZE - 2]


def test_what_fields_touch_and_kinds_of_edges() -> None:
    assert FIELD_CITIES[TILES.index(next(t for t in TILES if t.letter == "H"))].tolist() == [3, 0, 0, 0]
    assert [int(KINDS[i]) for i, tile in enumerate(TILES) if tile.letter in "BCX"] == [8, 2, 4]
    assert COPIES.tolist() == [tile.copies for tile in TILES]
