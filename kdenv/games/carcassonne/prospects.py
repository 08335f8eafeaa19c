"""The encoding `prospects` of Carcassonne: `compact`, and what the tiles that are left can still make of claims.

A place of a feature is an empty cell of the window at which it has an open edge, or an empty cell around a cloister. A tile fits a place
if its edges match the tiles around, whatever else is laid before. A claim can never come home if no tile that is left fits one of its
places. The tile that is drawn and not placed is counted with those in the bag.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kdenv.compiler.bits import ONE, bit, has, lowest
from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Encoding, Part
from kdenv.games.carcassonne import compact
from kdenv.games.carcassonne.claims import N_SLOTS, ON_CLOISTER, feature_at, has_meeple, kind_at
from kdenv.games.carcassonne.features import NONE, find, meeples_of, most
from kdenv.games.carcassonne.landscape import WORDS
from kdenv.games.carcassonne.rules import FINISHED, PLACING
from kdenv.games.carcassonne.tables import CITY, MEEPLES, ROAD
from kdenv.games.carcassonne.tiles import CITY_AT, NEIGHBOUR, SIZE, TYPES_FITTING

N_OF_CLAIM = 3
LEAST, SUM, STUCK = range(N_OF_CLAIM)
COMPLETE = 20  # in place of the least of a feature that has no places


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of the vector by name, in their order."""
    return {
        **compact.layout(players, options),
        "claims_left": Part(
            (players, MEEPLES, N_OF_CLAIM),
            "for each row of meeples: the tiles left that fit the place of its feature which the fewest fit / 20; the sum over its places "
            "of the tiles that fit each / 100; 1 if the meeple can never come home. If the feature has no places: 1, 0, 0. Fields: 0, 0, 1",
        ),
        "stuck": Part((players,), "meeples of a seat that can never come home / 7"),
        "cities_beside": Part(
            (players, 2), "open cities at fields of which a seat has the most meeples / 5: those that can be finished, and the others"
        ),
    }


@kernel
def observe(states, k, seat, out):
    """Write the observation of the seat in states[k] to out."""
    compact.observe(states, k, seat, out)
    s = states[k]
    if s.stage == FINISHED:
        return
    players = int(s.players)
    beside = out.shape[0] - 2 * players
    stuck = beside - players
    _write_claims_left(s, seat, out, stuck - players * MEEPLES * N_OF_CLAIM, stuck)
    dead = _dead_cities(s)
    for word in range(2):
        held = s.field_held[word]
        while held != NONE:
            _write_cities_beside(s, 64 * word + lowest(held), dead, seat, out, beside)
            held &= held - ONE


@kernel
def tiles_fitting(s, cell):
    """Return the number of tiles left that fit an empty cell."""
    types, n = np.uint64(TYPES_FITTING[int(s.code[cell])]), 0
    # The drawn tile has left the bag, and is not on the table yet.
    if s.stage == PLACING and has(types, int(s.drawn)):
        n = 1
    while types != NONE:
        n += int(s.bag[lowest(types)])
        types &= types - ONE
    return n


@kernel
def _write_claims_left(s, seat, out, at, stuck):
    """Write a row for each meeple on the table, in the order of the part `meeples`, and count those that never come home."""
    players = int(s.players)
    n_rows = 0  # the rows that each seat has so far, three bits a seat
    for tile in range(int(s.n_tiles)):
        if not has_meeple(s, tile):
            continue
        owner, slot = int(s.tile_claim[tile]) // N_SLOTS, int(s.tile_claim[tile]) % N_SLOTS
        relative = (owner - seat) % players
        row = at + (relative * MEEPLES + ((n_rows >> (3 * relative)) & 7)) * N_OF_CLAIM
        n_rows += 1 << (3 * relative)
        if slot == ON_CLOISTER:
            least, total = _around_cloister(s, int(s.tile_cell[tile]))
        else:
            least, total = _at_open_edges(s, kind_at(s, tile, slot), feature_at(s, tile, slot))
        out[row + LEAST] = least / 20.0
        out[row + SUM] = total / 100.0
        if least == 0:
            out[row + STUCK] = 1.0
            out[stuck + relative] += 1.0 / MEEPLES


@kernel
def _around_cloister(s, cell):
    """Return the least and the sum of the tiles that fit the empty cells around a cloister."""
    least, total, n = 1 << 10, 0, 0
    row, column = cell // SIZE, cell % SIZE
    for r in range(max(row - 1, 0), min(row + 2, SIZE)):
        for c in range(max(column - 1, 0), min(column + 2, SIZE)):
            if s.board[r * SIZE + c] == 0:
                fitting = tiles_fitting(s, r * SIZE + c)
                least, total, n = min(least, fitting), total + fitting, n + 1
    return least if n > 0 else COMPLETE, total


@kernel
def _at_open_edges(s, kind, feature):
    """Return the least and the sum of the tiles that fit the places of a city or road; both 0 for a field."""
    least, total, n = 1 << 10, 0, 0
    if kind != CITY and kind != ROAD:
        return 0, 0
    for word in range(WORDS):
        cells = s.frontier[word]
        while cells != NONE:
            cell = 64 * word + lowest(cells)
            cells &= cells - ONE
            if compact.touches(s, cell, kind, feature):
                fitting = tiles_fitting(s, cell)
                least, total, n = min(least, fitting), total + fitting, n + 1
    return least if n > 0 else COMPLETE, total


@kernel
def _dead_cities(s):
    """Return the set of the open cities that have a place which no tile fits."""
    dead = NONE
    for word in range(WORDS):
        cells = s.frontier[word]
        while cells != NONE:
            cell = 64 * word + lowest(cells)
            cells &= cells - ONE
            code = int(s.code[cell])
            if tiles_fitting(s, cell) > 0:
                continue
            # No tile fits, so all cities with an edge at this cell stay open. The city belongs to the tile on the other side of the edge.
            for edge in range(4):
                if (code >> (2 * edge)) & 3 == CITY:
                    tile = int(s.board[int(NEIGHBOUR[cell, edge])]) - 1
                    segment = int(CITY_AT[int(s.tile_face[tile]), (edge + 2) & 3])
                    dead |= bit(find(s.city_parent, int(s.tile_city[tile]) + segment))
    return dead


@kernel
def _write_cities_beside(s, field, dead, seat, out, at):
    """Count the open cities at a field for the seats that have the most meeples on it."""
    players, meeples = int(s.players), int(s.field_meeples[field])
    # Several segments at the field may belong to one city, which counts once.
    alive, others = 0, 0
    seen, segments = NONE, s.field_cities[field]
    while segments != NONE:
        city = find(s.city_parent, lowest(segments))
        segments &= segments - ONE
        if s.city_open[city] == 0 or has(seen, city):
            continue
        seen |= bit(city)
        if has(dead, city):
            others += 1
        else:
            alive += 1
    for relative in range(players):
        if meeples_of(meeples, (seat + relative) % players) == most(meeples):
            out[at + 2 * relative] += alive / 5.0
            out[at + 2 * relative + 1] += others / 5.0


PROSPECTS = Encoding("prospects", layout, observe, "compact, and what the tiles left can still finish, for small networks")
