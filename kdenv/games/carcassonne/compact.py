"""The encoding `compact` of Carcassonne: the position as a few hundred numbers, from which a small network can learn.

It has the numbers that an evaluation uses, by seat and by feature, and no picture of the board. Seats are relative: the observer
comes first, then the next seat. `layout` lists the parts.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kdenv.compiler.bits import ONE, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Encoding, Part, clear
from kdenv.games.carcassonne.claims import (
    FIRST_CORNER,
    FIRST_EDGE,
    N_SLOTS,
    ON_CLOISTER,
    feature_at,
    has_meeple,
    kind_at,
)
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
from kdenv.games.carcassonne.features import NOBODY, NONE, city_pays, closed_cities_at, find, meeples_of, most
from kdenv.games.carcassonne.heuristics import evaluate, final_weights
from kdenv.games.carcassonne.landscape import WORDS
from kdenv.games.carcassonne.rules import CLAIMING, FINISHED, PLACING
from kdenv.games.carcassonne.tables import CITY, CLOISTER_POINTS, FIELD, FIELD_POINTS, MEEPLES, N_TYPES, ROAD
from kdenv.games.carcassonne.tiles import (
    CITY_AT,
    CLOISTER,
    FIELD_CORNER,
    FIT,
    MIDDLE,
    NEIGHBOUR,
    NO_SEGMENT,
    ROAD_AT,
    SIZE,
    TYPES_FITTING,
)

WEIGHTS = final_weights()
_CLOISTER = 0  # in place of CITY, ROAD or FIELD, which are kinds of edges
_MANY_CITIES = 3  # complete cities that a field must touch so as not to be poor
# The numbers of a slot, and those of a meeple by name.
N_OF_SLOT = 4
N_OF_MEEPLE = 12
IS_CITY, IS_ROAD, IS_CLOISTER, IS_FIELD, PAYS, OPEN, OWN, OTHERS, ROW, COLUMN, BESIDE, THERE = range(N_OF_MEEPLE)


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of the vector by name, in their order."""
    return {
        **seat_parts(players),
        "to_come": Part((players, 4), "points for cities, roads, cloisters and fields that a seat would get if the game ended now / 20"),
        "out": Part((players, 4), "its meeples on cities, roads, cloisters and fields / 7"),
        "poor": Part((players,), "fields it holds that touch fewer than 3 complete cities / 3"),
        "value": Part((1,), "the evaluation with Heyden's weights / 5000"),
        **tile_parts(),
        "fits": Part((N_TYPES,), "cells where a tile of this type fits / 20, even if none is left"),
        "frontier": Part((7,), "empty cells beside 1, 2, 3, 4 tiles / 30; edges of tiles open for cities, roads, fields / 40"),
        "claims": CLAIMS,
        "slots": Part(
            (N_SLOTS - 1, N_OF_SLOT),
            "for each slot of the newest tile: 1 if it is a city, 1 if a road, its points now / 10, open edges / 8. "
            "All are 0 where nothing is, and unless a claim is to be decided",
        ),
        "meeples": Part(
            (players, MEEPLES, N_OF_MEEPLE),
            "a row for each meeple out, in the order in which their tiles were laid, then rows of 0. "
            "Of its feature: 1 if it is a city, road, cloister, field (4); points now / 20; open edges / 8. "
            "On it: meeples of this seat / 3; most meeples of another seat / 3. "
            "Then row and column from the middle / 15; placements of the drawn tile at the open edges / 8 (city, road); 1",
        ),
        **stage_parts(players),
    }


@kernel
def observe(states, k, seat, out):
    """Write the observation of the seat in states[k] to out."""
    s = states[k]
    clear(out)
    players = int(s.players)
    at = write_seats(s, seat, out, 0)
    _write_holdings(s, seat, out, at)
    at += 9 * players
    out[at] = evaluate(WEIGHTS, s, seat) / 5000.0
    at += 1
    at = write_tiles(s, out, at)
    _write_frontier(s, out, at)
    at = write_claims(s, out, at + N_TYPES + 7)
    if s.stage == CLAIMING:
        _write_slots(s, out, at)
    at += (N_SLOTS - 1) * N_OF_SLOT
    _write_meeples(s, seat, out, at)
    write_stage(s, seat, out, at + players * MEEPLES * N_OF_MEEPLE)


@kernel
def pays(s, kind, feature):
    """Return the points that a city, road, field or cloister would pay if the game ended now."""
    if kind == CITY:
        return city_pays(s, feature)
    if kind == ROAD:
        return int(s.road_tiles[feature])
    return FIELD_POINTS * closed_cities_at(s, feature) if kind == FIELD else int(s.cloister_tiles[feature])


@kernel
def _open_edges(s, kind, feature):
    if kind == CITY:
        return int(s.city_open[feature])
    if kind == ROAD:
        return int(s.road_open[feature])
    return 0 if kind == FIELD else CLOISTER_POINTS - int(s.cloister_tiles[feature])  # empty cells around the cloister


@kernel
def _meeples_on(s, kind, feature):
    """Return the meeples of all seats on a feature, three bits a seat."""
    if kind == CITY:
        return int(s.city_meeples[feature])
    if kind == ROAD:
        return int(s.road_meeples[feature])
    if kind == FIELD:
        return int(s.field_meeples[feature])
    owner = int(s.cloister_seat[feature])
    return 0 if owner == NOBODY else 1 << (3 * owner)


@kernel
def _column(kind):
    """Return the column of a kind in parts that have one each for city, road, cloister and field."""
    return IS_CITY if kind == CITY else IS_ROAD if kind == ROAD else IS_FIELD if kind == FIELD else IS_CLOISTER


@kernel
def _write_holdings(s, seat, out, at):
    """Write the parts to_come, out and poor, which sum up the features that each seat holds."""
    if s.stage == FINISHED:  # the features have been paid
        return
    held = s.city_held
    while held != NONE:
        _write_holding(s, CITY, lowest(held), seat, out, at)
        held &= held - ONE
    held = s.road_held
    while held != NONE:
        _write_holding(s, ROAD, lowest(held), seat, out, at)
        held &= held - ONE
    for word in range(2):
        held = s.field_held[word]
        while held != NONE:
            _write_holding(s, FIELD, 64 * word + lowest(held), seat, out, at)
            held &= held - ONE
    for i in range(int(s.n_cloisters)):
        _write_holding(s, _CLOISTER, i, seat, out, at)


@kernel
def _write_holding(s, kind, feature, seat, out, at):
    """Add one feature to the sums of the seats that have meeples on it."""
    players = int(s.players)
    meeples = _meeples_on(s, kind, feature)
    points = pays(s, kind, feature)
    for relative in range(players):
        mine = meeples_of(meeples, (seat + relative) % players)
        if mine == 0:
            continue
        out[at + 4 * (players + relative) + _column(kind)] += mine / 7.0
        if mine == most(meeples):
            out[at + 4 * relative + _column(kind)] += points / 20.0
            if kind == FIELD and points < _MANY_CITIES * FIELD_POINTS:
                out[at + 8 * players + relative] += 1.0 / 3.0


@kernel
def _write_frontier(s, out, at):
    """Write the parts fits and frontier."""
    for word in range(WORDS):
        cells = s.frontier[word]
        while cells != NONE:
            cell = 64 * word + lowest(cells)
            cells &= cells - ONE
            code = int(s.code[cell])  # two bits an edge: the kind that the neighbour shows, or 0
            types = np.uint64(TYPES_FITTING[code])
            while types != NONE:
                out[at + lowest(types)] += 0.05
                types &= types - ONE
            n = 0
            for edge in range(4):
                kind = (code >> (2 * edge)) & 3
                if kind != 0:
                    n += 1
                    out[at + N_TYPES + 3 + kind] += 0.025
            out[at + N_TYPES + n - 1] += 1.0 / 30.0


@kernel
def _write_slots(s, out, at):
    """Write the feature at each slot of the newest tile."""
    tile = int(s.n_tiles) - 1
    face = int(s.tile_face[tile])
    for slot in range(FIRST_EDGE, ON_CLOISTER + 1):
        if slot == ON_CLOISTER:
            if CLOISTER[face >> 2] == 0:
                continue
            kind = _CLOISTER
        else:
            kind = kind_at(s, tile, slot)
            if slot < FIRST_CORNER and kind == FIELD:
                continue
            if slot >= FIRST_CORNER and FIELD_CORNER[face, slot - FIRST_CORNER] == NO_SEGMENT:
                continue
        feature = feature_at(s, tile, slot)
        first = at + (slot - FIRST_EDGE) * N_OF_SLOT
        out[first] = 1.0 if kind == CITY else 0.0
        out[first + 1] = 1.0 if kind == ROAD else 0.0
        out[first + 2] = pays(s, kind, feature) / 10.0
        out[first + 3] = _open_edges(s, kind, feature) / 8.0


@kernel
def _write_meeples(s, seat, out, at):
    """Write a row for each meeple on the table."""
    players = int(s.players)
    n_rows = 0  # the rows that each seat has so far, three bits a seat
    for tile in range(int(s.n_tiles)):
        if not has_meeple(s, tile):
            continue
        owner, slot = int(s.tile_claim[tile]) // N_SLOTS, int(s.tile_claim[tile]) % N_SLOTS
        kind = _CLOISTER if slot == ON_CLOISTER else kind_at(s, tile, slot)
        feature = feature_at(s, tile, slot)
        meeples = _meeples_on(s, kind, feature)
        relative = (owner - seat) % players
        row = at + (relative * MEEPLES + ((n_rows >> (3 * relative)) & 7)) * N_OF_MEEPLE
        n_rows += 1 << (3 * relative)
        own = meeples_of(meeples, owner)
        out[row + _column(kind)] = 1.0
        out[row + PAYS] = pays(s, kind, feature) / 20.0
        out[row + OPEN] = _open_edges(s, kind, feature) / 8.0
        out[row + OWN] = own / 3.0
        # Without those of the owner, the most meeples are those of another seat.
        out[row + OTHERS] = most(meeples - (own << (3 * owner))) / 3.0
        out[row + ROW] = (int(s.tile_cell[tile]) // SIZE - MIDDLE) / 15.0
        out[row + COLUMN] = (int(s.tile_cell[tile]) % SIZE - MIDDLE) / 15.0
        if s.stage == PLACING and kind in (CITY, ROAD):
            out[row + BESIDE] = _placements_beside(s, kind, feature) / 8.0
        out[row + THERE] = 1.0


@kernel
def _placements_beside(s, kind, feature):
    """Count the placements of the drawn tile at the open edges of a city or road."""
    n = 0
    for word in range(WORDS):
        cells = s.frontier[word]
        while cells != NONE:
            cell = 64 * word + lowest(cells)
            cells &= cells - ONE
            rotations = int(FIT[int(s.drawn), int(s.code[cell])])
            if rotations != 0 and touches(s, cell, kind, feature):
                n += popcount(np.uint64(rotations))
    return n


@kernel
def touches(s, cell, kind, feature):
    """Return whether a city or road has an open edge at an empty cell."""
    for edge in range(4):
        if (int(s.code[cell]) >> (2 * edge)) & 3 != kind:
            continue
        tile = int(s.board[int(NEIGHBOUR[cell, edge])]) - 1
        face, facing = int(s.tile_face[tile]), (edge + 2) & 3
        if kind == CITY:
            other = find(s.city_parent, int(s.tile_city[tile]) + int(CITY_AT[face, facing]))
        else:
            other = find(s.road_parent, int(s.tile_road[tile]) + int(ROAD_AT[face, facing]))
        if other == feature:
            return True
    return False


COMPACT = Encoding("compact", layout, observe, "the numbers of an evaluation, for small networks")
