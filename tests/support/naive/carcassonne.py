"""The rules of base-game Carcassonne in plain, slow Python, from the rule page alone.

This is the oracle with which the compiled engine is compared. It shares no code with it and prefers the obvious to the
fast. No feature is ever stored: a city, road or field is found anew each time, by walking from the segments of one tile
to those of its neighbours.

A *segment* is the piece of a city, road or field printed on one tile; a cloister is a segment too. A *spot* is a segment
on the board, written (cell, number of the segment on its tile). A *feature* is the set of all spots that belong together.
A *cell* is (row, col); rows grow to the south.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

Cell = tuple[int, int]
Spot = tuple[Cell, int]
Feature = frozenset[Spot]

NORTH, EAST, SOUTH, WEST = EDGES = range(4)
STEP = {NORTH: (-1, 0), EAST: (0, 1), SOUTH: (1, 0), WEST: (0, -1)}

WINDOW = 31  # rows and columns of the board
START_CELL: Cell = (15, 15)
MEEPLES = 7  # of each player

# Slots of the claim decision; an action is NO_MEEPLE + slot.
NO_MEEPLE = WINDOW * WINDOW * 4
FIRST_EDGE_SLOT, FIRST_CORNER_SLOT, CLOISTER_SLOT = 1, 5, 9


# --- Tiles -----------------------------------------------------------------------------------------------------------


class Segment(NamedTuple):
    """A piece of one feature on one tile, as the tile lies on the board.

    `sides` are edges for a city or road and half-edges (schema of the tile file) for a field; `slots` are all claim
    slots that mean this segment; `city_edges` are the edges of the cities that a field touches.
    """

    kind: str  # "city", "road", "field" or "cloister"
    sides: frozenset[int]
    slots: tuple[int, ...]
    pennants: int = 0
    city_edges: frozenset[int] = frozenset()


class Tile(NamedTuple):
    """A tile type in one rotation: the letters of its edges from north clockwise, and its segments."""

    edges: str
    segments: tuple[Segment, ...]

    def segment_with(self, kind: str, side: int) -> int:
        """The number of the segment of this kind that reaches this side."""
        return next(n for n, segment in enumerate(self.segments) if segment.kind == kind and side in segment.sides)


def rotated_tile(printed: dict[str, Any], quarters: int) -> Tile:
    """The tile of the tile file after this number of quarter turns clockwise."""

    def turned_edges(edges: Iterable[int]) -> frozenset[int]:
        return frozenset((edge + quarters) % 4 for edge in edges)

    def edge_segment(kind: str, edges: Iterable[int], pennants: int = 0) -> Segment:
        sides = turned_edges(edges)
        return Segment(kind, sides, tuple(FIRST_EDGE_SLOT + edge for edge in sorted(sides)), pennants)

    def field_segment(number: int, half_edges: Iterable[int], cities: Iterable[int]) -> Segment:
        sides = frozenset((half_edge + 2 * quarters) % 8 for half_edge in half_edges)
        corners = turned_edges(corner for corner in range(4) if printed["corner_field"][corner] == number)
        slots = tuple(FIRST_CORNER_SLOT + corner for corner in sorted(corners))
        touched = (edge for city in cities for edge in printed["cities"][city]["edges"])
        return Segment("field", sides, slots, city_edges=turned_edges(touched))

    letters = printed["edges"]
    cities = [edge_segment("city", city["edges"], city["pennants"]) for city in printed["cities"]]
    roads = [edge_segment("road", edges) for edges in printed["roads"]]
    fields = [field_segment(n, f["half_edges"], f["cities"]) for n, f in enumerate(printed["fields"])]
    cloisters = [Segment("cloister", frozenset(), (CLOISTER_SLOT,))] if printed["cloister"] else []
    return Tile(
        edges="".join(letters[(edge - quarters) % 4] for edge in EDGES),
        segments=tuple(cities + roads + fields + cloisters),
    )


PRINTED = json.loads((Path(__file__).parents[2] / "data" / "carcassonne_tiles.json").read_text())
TYPES = range(len(PRINTED["tiles"]))  # 0..23 for the letters A..X
LETTERS = "".join(printed["id"] for printed in PRINTED["tiles"])
START_TILE = LETTERS.index(PRINTED["start_tile"])
TILES = [[rotated_tile(printed, quarters) for quarters in range(4)] for printed in PRINTED["tiles"]]


def smallest_rotation(tile: int, rotation: int) -> int:
    """The smallest rotation in which the tile looks the same as in this one."""
    looks = [set(turned.segments) for turned in TILES[tile]]
    return looks.index(looks[rotation])


DISTINCT_ROTATIONS = [[r for r in range(4) if smallest_rotation(tile, r) == r] for tile in TYPES]


# --- Cells and actions -----------------------------------------------------------------------------------------------


def neighbour(cell: Cell, edge: int) -> Cell:
    """The cell across this edge."""
    return cell[0] + STEP[edge][0], cell[1] + STEP[edge][1]


def opposite(edge: int) -> int:
    """The edge of the neighbour that lies against this edge."""
    return (edge + 2) % 4


def surroundings(cell: Cell) -> list[Cell]:
    """The eight cells around this one."""
    row, col = cell
    return [(r, c) for r in (row - 1, row, row + 1) for c in (col - 1, col, col + 1) if (r, c) != cell]


def placement_action(cell: Cell, rotation: int) -> int:
    """The integer that names this placement of the drawn tile."""
    return (cell[0] * WINDOW + cell[1]) * 4 + rotation


def placement_of(action: int) -> tuple[Cell, int]:
    """The cell and the rotation that this integer names."""
    square, rotation = divmod(action, 4)
    return divmod(square, WINDOW), rotation


# --- The game --------------------------------------------------------------------------------------------------------


class Carcassonne:
    """One game in progress. A turn is: chance (the tile), a placement, and a claim if there is a choice.

    What may happen next is worked out once, on reaching each node: `odds` at chance, `options` at a decision, neither
    when the game is over.
    """

    def __init__(self, players: int = 2, unplaceable: str = "return") -> None:
        if not 2 <= players <= 5:
            raise ValueError(f"players={players}: Carcassonne is for 2 to 5")
        if unplaceable not in ("return", "discard"):
            raise ValueError(f"unplaceable={unplaceable!r}: expected 'return' or 'discard'")
        self.players = players
        self.unplaceable = unplaceable
        self.bag = [printed["count"] - printed["start"] for printed in PRINTED["tiles"]]
        self.board = {START_CELL: TILES[START_TILE][0]}
        self.meeple_on: dict[Spot, int] = {}  # the seat that owns it
        self.points = [0] * players
        self.to_move = 0
        self.drawn = START_TILE
        self.placed = START_CELL
        self.options: list[int] = []
        self.odds: dict[int, int] = {}
        self._go_to_the_draw()

    def phase(self) -> str:
        """The next event: "chance" (a tile is drawn), "decide" (the seat acts) or "over"."""
        return "chance" if self.odds else "decide" if self.options else "over"

    def seat(self) -> int:
        """The seat that has the turn, the draw of its tile included."""
        return self.to_move

    def legal(self) -> list[int]:
        """The legal actions, ascending; of several with the same outcome only the smallest."""
        return list(self.options)

    def chances(self) -> dict[int, int]:
        """The tile types that can be drawn, each with the number of copies left."""
        return dict(self.odds)

    def scores(self) -> list[int]:
        """The points of each seat: so far, or the result when the game is over."""
        return list(self.points)

    def standings(self) -> list[tuple[int, ...]]:
        """One value per seat, the higher the better, equal in a tie: the points, for there is no tie-break."""
        return [(points,) for points in self.points]

    def meeples(self) -> list[int]:
        """The meeples that each seat has in hand. Those still on the board at the end stay there."""
        owners = list(self.meeple_on.values())
        return [MEEPLES - owners.count(seat) for seat in range(self.players)]

    def set_bag(self, letters: str) -> None:
        """Leave only these tiles in the bag, one of each; a tile is to be drawn next."""
        self.bag = [int(letter in letters) for letter in LETTERS]
        self._go_to_the_draw()

    # --- One turn ----------------------------------------------------------------------------------------------------

    def apply_chance(self, outcome: int) -> None:
        """This tile type is drawn. Under "discard" one that fits nowhere is set aside and the next is drawn."""
        if outcome not in self.odds:
            raise ValueError(f"tile type {outcome} cannot be drawn; possible: {sorted(self.odds)}")
        self.bag[outcome] -= 1
        self.drawn = outcome
        self.odds = {}
        self.options = sorted(self._placements(outcome, self._frontier()))
        if not self.options:
            self._go_to_the_draw()

    def apply(self, action: int) -> None:
        """Place the drawn tile, or claim a feature of the tile just placed."""
        if action not in self.options:
            raise ValueError(f"action {action} is not legal; legal: {self.options}")
        if action < NO_MEEPLE:
            self._place(action)
        else:
            self._claim(action - NO_MEEPLE)

    def _place(self, action: int) -> None:
        """Lay the drawn tile. Without a feature to claim the turn ends here."""
        self.placed, rotation = placement_of(action)
        self.board[self.placed] = TILES[self.drawn][rotation]
        self.options = [NO_MEEPLE, *sorted(NO_MEEPLE + slot for slot in self._claimable())]
        if self.options == [NO_MEEPLE]:
            self._end_turn()

    def _claim(self, slot: int) -> None:
        """Put a meeple on the segment of this slot (0: on none). "Claim and score in one turn is allowed"."""
        if slot:
            self.meeple_on[self._spot_of(slot)] = self.to_move
        self._end_turn()

    def _end_turn(self) -> None:
        """Pay all features that the placed tile completed, give their meeples back, and pass the turn."""
        around = [spot for cell in surroundings(self.placed) for spot in self._spots_on(cell)]
        cloisters = [spot for spot in around if self._segment(spot).kind == "cloister"]
        for feature in self._features(self._spots_on(self.placed) + cloisters):
            if self.is_complete(feature):
                self._pay(feature)
                self._take_meeples_back(feature)
        self.to_move = (self.to_move + 1) % self.players
        self._go_to_the_draw()

    def _go_to_the_draw(self) -> None:
        """The next tile is to be drawn; if no remaining tile fits, the game ends."""
        self.options = []
        frontier = self._frontier()
        fitting = [tile for tile in TYPES if self.bag[tile] and self._fits_somewhere(tile, frontier)]
        may_be_drawn = TYPES if self.unplaceable == "discard" and fitting else fitting
        self.odds = {tile: self.bag[tile] for tile in may_be_drawn if self.bag[tile]}
        if not self.odds:
            self._score_the_end()

    def _score_the_end(self) -> None:
        """Every feature that still carries meeples pays: open ones their reduced worth, fields their cities."""
        for feature in self._features(self.meeple_on):
            self._pay(feature)

    # --- Placing -----------------------------------------------------------------------------------------------------

    def _frontier(self) -> set[Cell]:
        """The empty cells of the window that share an edge with a tile."""
        beside = {neighbour(cell, edge) for cell in self.board for edge in EDGES}
        return {cell for cell in beside - set(self.board) if min(cell) >= 0 and max(cell) < WINDOW}

    def _placements(self, tile: int, frontier: Iterable[Cell]) -> Iterator[int]:
        """Every distinct placement of this tile type, in no order."""
        for cell in frontier:
            for rotation in DISTINCT_ROTATIONS[tile]:
                if self._fits(TILES[tile][rotation], cell):
                    yield placement_action(cell, rotation)

    def _fits_somewhere(self, tile: int, frontier: Iterable[Cell]) -> bool:
        """Has this tile type any placement? One that lies outside the window does not count."""
        return next(self._placements(tile, frontier), None) is not None

    def _fits(self, tile: Tile, cell: Cell) -> bool:
        """Do all edges of the tile match those of the tiles already around the cell?"""
        return all(
            tile.edges[edge] == self.board[neighbour(cell, edge)].edges[opposite(edge)]
            for edge in EDGES
            if neighbour(cell, edge) in self.board
        )

    # --- Claiming ----------------------------------------------------------------------------------------------------

    def _claimable(self) -> list[int]:
        """The slots that the seat to move may claim: one for each unoccupied feature of the placed tile."""
        if self.meeples()[self.to_move] == 0:
            return []
        features = self._features(self._spots_on(self.placed))
        return [min(self._slots_of(feature)) for feature in features if not self._owners(feature)]

    def smallest_slot(self, slot: int) -> int:
        """The smallest slot that claims the same feature as this slot of the placed tile."""
        return min(self._slots_of(self.feature_of(self._spot_of(slot))))

    def _slots_of(self, feature: Feature) -> list[int]:
        """All slots that mean this feature: segments of the placed tile may have been joined by other tiles."""
        here = [spot for spot in feature if spot[0] == self.placed]
        return [slot for spot in here for slot in self._segment(spot).slots]

    def _spot_of(self, slot: int) -> Spot:
        """The spot on the placed tile that this slot means."""
        return next(spot for spot in self._spots_on(self.placed) if slot in self._segment(spot).slots)

    # --- Features ----------------------------------------------------------------------------------------------------

    def _segment(self, spot: Spot) -> Segment:
        cell, number = spot
        return self.board[cell].segments[number]

    def _spots_on(self, cell: Cell) -> list[Spot]:
        """All spots of the tile on this cell; none if the cell is empty."""
        return [(cell, number) for number in range(len(self.board[cell].segments))] if cell in self.board else []

    def _crossings(self, spot: Spot) -> list[tuple[Cell, int]]:
        """The places where the segment leaves its tile: each neighbouring cell, with the side of that cell it arrives at."""
        cell, segment = spot[0], self._segment(spot)
        if segment.kind != "field":
            return [(neighbour(cell, edge), opposite(edge)) for edge in segment.sides]
        # The two halves of an edge run clockwise, so the first half of one tile lies against the second of the other.
        halves = [divmod(half_edge, 2) for half_edge in segment.sides]
        return [(neighbour(cell, edge), 2 * opposite(edge) + 1 - half) for edge, half in halves]

    def feature_of(self, start: Spot) -> Feature:
        """All spots that belong to the same city, road or field as this one; a cloister is alone."""
        kind = self._segment(start).kind
        found, to_visit = {start}, [start]
        while to_visit:
            for cell, side in self._crossings(to_visit.pop()):
                if cell in self.board:
                    spot = (cell, self.board[cell].segment_with(kind, side))
                    if spot not in found:
                        found.add(spot)
                        to_visit.append(spot)
        return frozenset(found)

    def _features(self, spots: Iterable[Spot]) -> list[Feature]:
        """The features that these spots belong to, each once."""
        features: list[Feature] = []
        for spot in spots:
            if not any(spot in feature for feature in features):
                features.append(self.feature_of(spot))
        return features

    def _kind(self, feature: Feature) -> str:
        return self._segment(next(iter(feature))).kind

    def is_complete(self, feature: Feature) -> bool:
        """Can nothing more be added? A field is never complete."""
        if self._kind(feature) == "field":
            return False
        if self._kind(feature) == "cloister":
            return self._tiles_around(feature) == 8
        return all(cell in self.board for spot in feature for cell, _ in self._crossings(spot))

    def _tiles_around(self, cloister: Feature) -> int:
        """The number of tiles on the eight cells around the cloister."""
        ((cell, _),) = cloister
        return sum(around in self.board for around in surroundings(cell))

    # --- Points ------------------------------------------------------------------------------------------------------

    def _owners(self, feature: Feature) -> list[int]:
        """The seat of every meeple on the feature."""
        return [self.meeple_on[spot] for spot in feature if spot in self.meeple_on]

    def _pay(self, feature: Feature) -> None:
        """Full points to everyone who has the most meeples on the feature."""
        owners = self._owners(feature)
        most = max((owners.count(seat) for seat in owners), default=0)
        for seat in set(owners):
            if owners.count(seat) == most:
                self.points[seat] += self.worth(feature)

    def _take_meeples_back(self, feature: Feature) -> None:
        for spot in feature:
            self.meeple_on.pop(spot, None)

    def worth(self, feature: Feature) -> int:
        """The points of the feature as it stands. A tile counts once, however often the feature runs over it."""
        kind = self._kind(feature)
        tiles = len({cell for cell, _ in feature})
        if kind == "city":
            pennants = sum(self._segment(spot).pennants for spot in feature)
            return (tiles + pennants) * (2 if self.is_complete(feature) else 1)
        if kind == "road":
            return tiles
        if kind == "cloister":
            return 1 + self._tiles_around(feature)
        return 3 * self._completed_cities_at(feature)

    def _completed_cities_at(self, field: Feature) -> int:
        """The number of different completed cities that the field touches."""
        spots = (
            (cell, self.board[cell].segment_with("city", edge))
            for cell, number in field
            for edge in self.board[cell].segments[number].city_edges
        )
        return sum(self.is_complete(city) for city in self._features(spots))
