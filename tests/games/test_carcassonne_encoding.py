"""Observations of Carcassonne, number by number, at positions that can be checked by hand."""

import random

import numpy as np
import pytest
from contract import step_both
from naive.carcassonne import Carcassonne
from naive.carcassonne_prospects import prospects

from kdenv.compiler.random import make_rng
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.carcassonne import compact, encoding
from kdenv.games.carcassonne.tables import TILES
from kdenv.games.carcassonne.tiles import MIDDLE, ROTATIONS

GAME = find_game("carcassonne")
PLACE = "stage=place drawn=V turn=1 points=12,5 bag=A2,V3 tiles=D+0+0r0@W1,E+0+1r2,U+1+0r1@nw0,B+0-1r0@c0,E+1-1r1@E1,M-1+1r2,U+2+0r1@E0"


def cell(east: int, north: int) -> tuple[int, int]:
    return MIDDLE - north, MIDDLE + east


@pytest.fixture
def planes() -> dict[str, np.ndarray]:
    return Table(GAME).at_position(PLACE).parts(0, "planes")


def plane(parts: dict[str, np.ndarray], name: str) -> np.ndarray:
    return parts["tiles"][encoding.TILE_PLANES.index(name)]


def test_tiles_lie_where_they_lie(planes) -> None:
    assert plane(planes, "tile").sum() == 7
    assert plane(planes, "tile")[cell(-1, 1)] == 1
    assert np.argwhere(plane(planes, "newest tile")).tolist() == [list(cell(2, 0))]
    assert np.argwhere(plane(planes, "cloister")).tolist() == [list(cell(0, -1))]
    assert np.argwhere(plane(planes, "pennant")).tolist() == [list(cell(-1, 1))]


def test_edges_and_what_joins_them(planes) -> None:
    assert [plane(planes, f"city {edge}")[cell(0, 0)] for edge in "NESW"] == [1, 0, 0, 0]
    assert [plane(planes, f"road {edge}")[cell(0, 0)] for edge in "NESW"] == [0, 1, 0, 1]
    assert plane(planes, "joined EW")[cell(0, 0)] == 1
    assert plane(planes, "joined SW")[cell(-1, 1)] == 1


def test_complete_features_and_cities_of_fields(planes) -> None:
    assert planes["features"][0][cell(0, 0)] == 1  # the city of D and E
    assert planes["features"][1][cell(0, 0)] == 0  # the road
    assert planes["features"][4][cell(0, 0)] == 0.25  # the field at NW touches one complete city
    assert planes["features"][6][cell(0, 0)] == 0  # the one at SE none
    assert planes["features"][8][cell(0, -1)] == np.float32(4 / 9)


def test_meeples_are_shown_on_the_whole_feature_with_the_observer_first(planes) -> None:
    other = Table(GAME).at_position(PLACE).parts(1, "planes")
    east, nw = 1, 4
    assert planes["meeples"][1, east][cell(0, 0)] == np.float32(1 / 3)  # seat 1 at the west of D owns the road east too
    assert planes["meeples"][0, east][cell(2, 0)] == np.float32(1 / 3)  # and seat 0 joined it
    assert planes["meeples"][1, east][cell(2, 0)] == np.float32(1 / 3)
    assert planes["meeples"][0, nw][cell(1, 0)] == np.float32(1 / 3)
    assert planes["meeples"][0, 8][cell(0, -1)] == np.float32(1 / 3)
    assert np.array_equal(planes["meeples"], other["meeples"][::-1])
    assert np.array_equal(planes["tiles"], other["tiles"])


def test_legal_planes_are_the_legal_actions() -> None:
    table = Table(GAME).at_position(PLACE)
    flat = table.parts(0, "planes")["legal"].reshape(4, -1)
    assert sorted(4 * c + r for r, c in np.argwhere(flat == 1).tolist()) == table.legal()
    assert set(np.unique(flat)) == {0.0, 1.0}


def test_legal_planes_are_empty_at_a_claim() -> None:
    table = Table(GAME).at_position(PLACE)
    table.play(table.legal()[0])
    parts = table.parts(0, "planes")
    assert parts["phase"].tolist() == [0, 0, 1]
    assert not parts["legal"].any()
    assert np.flatnonzero(parts["claims"]).tolist() == [action - 3844 for action in table.legal()]


def test_vector_says_what_is_not_on_the_board(planes) -> None:
    assert np.flatnonzero(planes["drawn"]).tolist() == [21]
    assert planes["left"][[0, 21]].tolist() == [1, np.float32(3 / 9)]
    assert planes["scores"].tolist() == [np.float32(0.12), np.float32(0.05)]
    assert planes["hand"].tolist() == [np.float32(4 / 7), np.float32(5 / 7)]
    assert (planes["to_move"].tolist(), planes["phase"].tolist()) == ([0, 1], [0, 1, 0])
    assert planes["progress"].tolist() == [np.float32(7 / 72)]


def test_every_face_of_a_tile_has_planes_of_its_own() -> None:
    """79 faces look different: edges, joined edges, cloister and pennant identify a tile and its rotation."""
    faces = set()
    for number, tile in enumerate(TILES):
        for rotation in range(int(ROTATIONS[number])):
            table = Table(GAME).at_position(f"stage=draw turn=0 points=0,0 tiles={tile.letter}+0+0r{rotation} bag=H1,U1,V1,D1")
            faces.add(table.parts(0, "planes")["tiles"][:, MIDDLE, MIDDLE].tobytes())
    assert len(faces) == 79


@pytest.fixture
def short() -> dict[str, np.ndarray]:
    return Table(GAME).at_position(PLACE).parts(0, "compact")


def test_compact_has_a_few_hundred_numbers() -> None:
    assert [Table(GAME, players).observation(0).size for players in (2, 3, 4, 5)] == [322, 418, 514, 610]
    assert Table(GAME, 2).observation(0, "planes").size == 47157


def test_compact_says_what_features_would_pay(short) -> None:
    """Seat 0: half the road D U U (3), its cloister (4 tiles), a field with one city (3). Seat 1: the road, a city of one tile."""
    assert np.allclose(short["to_come"] * 20, [[0, 3, 4, 3], [1, 3, 0, 0]])
    assert np.allclose(short["out"] * 7, [[0, 1, 1, 1], [1, 1, 0, 0]])
    assert np.allclose(short["poor"] * 3, [1, 0])


def test_compact_lists_the_meeples(short) -> None:
    mine, theirs = short["meeples"]
    assert mine[:, compact.THERE].tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert theirs[:, compact.THERE].tolist() == [1, 1, 0, 0, 0, 0, 0]
    road = theirs[0]  # at the west of the start tile
    assert np.allclose(road[: compact.BESIDE], [0, 1, 0, 0, 3 / 20, 2 / 8, 1 / 3, 1 / 3, 0, 0])
    assert not mine[3:].any()


def test_compact_counts_where_types_fit(short) -> None:
    table = Table(GAME).at_position(PLACE)
    cells = {action // 4 for action in table.legal()}
    assert short["fits"][21] == pytest.approx(len(cells) / 20)
    assert short["drawn"][21] == 1


def test_compact_shows_the_slots_of_a_claim() -> None:
    table = Table(GAME).at_position("stage=claim turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2 bag=U1")
    parts = table.parts(0)
    south = parts["slots"][2]
    assert np.allclose(south, [1, 0, 0.4, 0])  # a city that pays four and has no open edge
    assert np.flatnonzero(parts["claims"]).tolist() == [0, 3, 5]
    assert not parts["slots"][0].any()


# What the tiles left can still finish


@pytest.mark.parametrize("players, seed", [(2, 1), (2, 2), (3, 3), (5, 4)])
def test_prospects_are_those_of_the_naive_rules(players: int, seed: int) -> None:
    table, oracle, dice, seen = Table(GAME, players), Carcassonne(players), random.Random(seed), np.zeros(3)
    while True:
        seat = dice.randrange(players)
        found, naive = table.parts(seat, "prospects"), prospects(oracle, seat)
        for name, numbers in naive.items():
            assert np.allclose(found[name], numbers, atol=1e-6), f"{name} of seat {seat} at {table.position()}"
        seen += [naive["claims_left"][:, :, 0].any(), naive["stuck"].any(), naive["cities_beside"][:, 1].any()]
        if table.over:
            break
        step_both(table, oracle, dice)
    assert seen.min() > 0


def test_prospects_begin_as_compact() -> None:
    table = Table(GAME).at_position(PLACE)
    compactly = table.observation(1, "compact")
    assert np.array_equal(table.observation(1, "prospects")[: compactly.size], compactly)


@pytest.mark.parametrize("players", [2, 5])
@pytest.mark.parametrize("kind", ["planes", "compact", "prospects"])
def test_numbers_stay_small_and_do_not_depend_on_what_was_in_the_buffer(players: int, kind: str) -> None:
    table, rng = Table(GAME, players), make_rng(players)
    while not table.over:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
            continue
        legal = table.legal()
        table.play(legal[-1])
        clean = table.observation(players - 1, kind)
        dirty = np.full_like(clean, 7.0)
        GAME.encoding(kind).observe(table.states, 0, players - 1, dirty)
        assert np.array_equal(clean, dirty)
        assert np.abs(clean).max() <= 5.0
