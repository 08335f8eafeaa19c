"""The printed game: 24 types of tile, 72 tiles, and their points. These are facts only; tiles.py turns them into arrays."""

from typing import NamedTuple

CITY, ROAD, FIELD = 1, 2, 3
LETTERS = ".CRF"  # the letter of an edge, by its kind
EDGES = "NESW"
CORNERS = ("NW", "NE", "SE", "SW")


class Tile(NamedTuple):
    """A type of tile as it lies unturned.

    Half-edges count clockwise from the western half of the northern edge: 0 and 1 north, 2 and 3 east,
    4 and 5 south, 6 and 7 west.
    """

    letter: str
    copies: int  # in the box of 72, the start tile included
    edges: str  # C city, R road, F field: north, east, south, west
    cities: tuple[tuple[str, int], ...]  # (the edges it reaches, pennants)
    roads: tuple[str, ...]  # the edges that each road reaches; a crossing ends roads
    fields: tuple[tuple[str, str], ...]  # (the half-edges it reaches, the numbers of the tile's cities it touches)
    cloister: bool


TILES = (
    Tile("A", 2, "FFRF", (), ("S",), (("01234567", ""),), True),
    Tile("B", 4, "FFFF", (), (), (("01234567", ""),), True),
    Tile("C", 1, "CCCC", (("NESW", 1),), (), (), False),
    Tile("D", 4, "CRFR", (("N", 0),), ("EW",), (("27", "0"), ("3456", "")), False),
    Tile("E", 5, "CFFF", (("N", 0),), (), (("234567", "0"),), False),
    Tile("F", 2, "FCFC", (("EW", 1),), (), (("01", "0"), ("45", "0")), False),
    Tile("G", 1, "FCFC", (("EW", 0),), (), (("01", "0"), ("45", "0")), False),
    Tile("H", 3, "FCFC", (("E", 0), ("W", 0)), (), (("0145", "01"),), False),
    Tile("I", 2, "CCFF", (("N", 0), ("E", 0)), (), (("4567", "01"),), False),
    Tile("J", 3, "CRRF", (("N", 0),), ("ES",), (("2567", "0"), ("34", "")), False),
    Tile("K", 3, "CFRR", (("N", 0),), ("SW",), (("2347", "0"), ("56", "")), False),
    Tile("L", 3, "CRRR", (("N", 0),), ("E", "S", "W"), (("27", "0"), ("34", ""), ("56", "")), False),
    Tile("M", 2, "CCFF", (("NE", 1),), (), (("4567", "0"),), False),
    Tile("N", 3, "CCFF", (("NE", 0),), (), (("4567", "0"),), False),
    Tile("O", 2, "CRRC", (("NW", 1),), ("ES",), (("25", "0"), ("34", "")), False),
    Tile("P", 3, "CRRC", (("NW", 0),), ("ES",), (("25", "0"), ("34", "")), False),
    Tile("Q", 1, "CCFC", (("NEW", 1),), (), (("45", "0"),), False),
    Tile("R", 3, "CCFC", (("NEW", 0),), (), (("45", "0"),), False),
    Tile("S", 2, "CCRC", (("NEW", 1),), ("S",), (("4", "0"), ("5", "0")), False),
    Tile("T", 1, "CCRC", (("NEW", 0),), ("S",), (("4", "0"), ("5", "0")), False),
    Tile("U", 8, "RFRF", (), ("NS",), (("0567", ""), ("1234", "")), False),
    Tile("V", 9, "FFRR", (), ("SW",), (("012347", ""), ("56", "")), False),
    Tile("W", 4, "FRRR", (), ("E", "S", "W"), (("0127", ""), ("34", ""), ("56", "")), False),
    Tile("X", 1, "RRRR", (), ("N", "E", "S", "W"), (("07", ""), ("12", ""), ("34", ""), ("56", "")), False),
)
N_TYPES = len(TILES)
N_TILES = 72
START = 3  # type D
MOST_SEATS = 5
MEEPLES = 7  # that each seat has

# Points.
CITY_POINTS = 2  # per tile and per pennant of a city that is complete
CLOISTER_POINTS = 9  # of a cloister that is complete: itself and its eight neighbours
FIELD_POINTS = 3  # at the end, per complete city that a field touches
