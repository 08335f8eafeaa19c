"""All eight symmetries of the board map games onto games; mirrors map the tiles J and K on each other.

A game is played in eight tables at once, each started from the start tile turned or mirrored.
"""

import random

import numpy as np
import pytest

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.carcassonne import rules
from kdenv.games.carcassonne.tables import TILES
from kdenv.games.carcassonne.tiles import MIDDLE, ROTATIONS, SIZE

GAME = find_game("carcassonne")
TYPES = "".join(tile.letter for tile in TILES)
SYMMETRIES = [(mirrored, turns) for mirrored in (False, True) for turns in range(4)]
# The mirror that swaps east and west: the new places of edges N E S W and of corners NW NE SE SW.
MIRROR_EDGE, MIRROR_CORNER = (0, 3, 2, 1), (1, 0, 3, 2)


def mirrored_half_edge(half_edge: int) -> int:
    """Half-edges run clockwise, mirrored anticlockwise from the eastern half of the northern edge."""
    return (1 - half_edge) % 8


def look(tile_type: int, rotation: int, mirrored: bool = False) -> tuple:
    """A tile as sets of the edges and half-edges of its segments, turned, and mirrored before that if asked."""
    tile = TILES[tile_type]

    def edges_of(word: str) -> frozenset:
        edges = ("NESW".index(letter) for letter in word)
        return frozenset(((MIRROR_EDGE[edge] if mirrored else edge) + rotation) % 4 for edge in edges)

    def halves_of(word: str) -> frozenset:
        return frozenset(((mirrored_half_edge(int(h)) if mirrored else int(h)) + 2 * rotation) % 8 for h in word)

    return (
        frozenset((edges_of(edges), pennants) for edges, pennants in tile.cities),
        frozenset(edges_of(edges) for edges in tile.roads),
        frozenset((halves_of(halves), frozenset(edges_of(tile.cities[int(c)][0]) for c in cities)) for halves, cities in tile.fields),
        tile.cloister,
    )


LOOKS = {look(tile_type, rotation): (tile_type, rotation) for tile_type in range(24) for rotation in range(int(ROTATIONS[tile_type]))}


def image_of_tile(tile_type: int, rotation: int, symmetry: tuple[bool, int]) -> tuple[int, int]:
    """The type and rotation of a turned tile after a symmetry of the board."""
    mirrored, turns = symmetry
    if mirrored:
        tile_type, zero = LOOKS[look(tile_type, 0, mirrored=True)]
        rotation = zero - rotation
    return tile_type, (rotation + turns) % int(ROTATIONS[tile_type])


def image_of_cell(cell: int, symmetry: tuple[bool, int]) -> int:
    mirrored, turns = symmetry
    row, column = divmod(cell, SIZE)
    if mirrored:
        column = SIZE - 1 - column
    for _ in range(turns):
        row, column = column, SIZE - 1 - row
    return row * SIZE + column


def image_of_slot(slot: int, symmetry: tuple[bool, int]) -> int:
    mirrored, turns = symmetry
    if slot in (0, 9):
        return slot
    first, mirror = (1, MIRROR_EDGE) if slot < 5 else (5, MIRROR_CORNER)
    place = mirror[slot - first] if mirrored else slot - first
    return first + (place + turns) % 4


def image_of_action(table: Table, action: int, drawn: int, symmetry: tuple[bool, int], other: Table) -> int:
    if action < rules.CLAIM:
        _, rotation = image_of_tile(drawn, action & 3, symmetry)
        return 4 * image_of_cell(action >> 2, symmetry) + rotation
    return int(other.action(_claim_text(image_of_slot(action - rules.CLAIM, symmetry), table.name(action))))


def _claim_text(slot: int, name: str) -> str:
    """The claim in words that the parser brings to the lowest slot of its feature."""
    words = name.split()
    if len(words) < 3:
        return name
    places = ("N", "E", "S", "W", "NW", "NE", "SE", "SW")
    return f"claim {words[1]} {places[slot - 1]}"


def start(symmetry: tuple[bool, int], players: int) -> Table:
    """The beginning of the game, seen through a symmetry."""
    tile_type, rotation = image_of_tile(3, 0, symmetry)
    bag = ",".join(f"{letter}{n}" for letter, n in zip(TYPES, Table(GAME).states[0]["bag"], strict=True))
    points = ",".join("0" * players)
    return Table(GAME, players).at_position(f"stage=draw turn=0 points={points} tiles={TYPES[tile_type]}+0+0r{rotation} bag={bag}")


def test_a_mirror_swaps_j_and_k_and_no_others() -> None:
    images = "".join(TYPES[image_of_tile(tile_type, 0, (True, 0))[0]] for tile_type in range(24))
    assert images == TYPES.replace("JK", "KJ")


def test_middle_stays_in_the_middle() -> None:
    assert {image_of_cell(MIDDLE * SIZE + MIDDLE, symmetry) for symmetry in SYMMETRIES} == {MIDDLE * SIZE + MIDDLE}


@pytest.mark.parametrize("seed", range(3))
def test_symmetries_map_games_onto_games(seed: int) -> None:
    players = 2 + seed
    tables = [start(symmetry, players) for symmetry in SYMMETRIES]
    table, dice, rng = tables[0], random.Random(seed), np.random.default_rng(seed)
    drawn = 0
    while not table.over:
        if table.at_chance:
            drawn = table.sample_chance(rng)
            for other, symmetry in zip(tables, SYMMETRIES, strict=True):
                assert sorted((image_of_tile(o, 0, symmetry)[0], p) for o, p in table.chances()) == other.chances()
            for other, symmetry in zip(tables, SYMMETRIES, strict=True):
                other.chance(image_of_tile(drawn, 0, symmetry)[0])
            continue
        legal = table.legal()
        action = dice.choice(legal)
        images = []
        for other, symmetry in zip(tables, SYMMETRIES, strict=True):
            assert sorted(image_of_action(table, a, drawn, symmetry, other) for a in legal) == other.legal()
            images.append(image_of_action(table, action, drawn, symmetry, other))
        for other, image in zip(tables, images, strict=True):
            other.play(image)
        assert all(other.scores() == table.scores() and other.seat == table.seat for other in tables)
    assert all(other.over for other in tables)
