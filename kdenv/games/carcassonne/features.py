"""Cities, roads and fields that tiles have grown into: union-find over the segments of the tiles laid so far.

A feature is named by its oldest segment. Its open edges, tiles, pennants and meeples are kept there; the
meeples of all seats share one integer, three bits a seat (nobody has more than seven). Which features
hold meeples is also kept as sets (`held`), so that scoring never walks over the empty ones.

A tile counts once per feature even if several of its segments belong to it. Only 5 tiles of the box have
more than one city and only 8 more than one road, so each feature keeps the set of those it has (`twice`) and
merging subtracts what both have.
"""

import numpy as np

from kdenv.core.bits import bit, popcount
from kdenv.core.kernel import kernel
from kdenv.games.carcassonne.tables import CITY_POINTS

NONE = np.uint64(0)
NOBODY = -1


@kernel
def find(parent, segment):
    """The feature a segment belongs to."""
    while int(parent[segment]) != segment:
        segment = int(parent[segment])
    return segment


@kernel
def _find_and_shorten(parent, segment):
    """The same; the next search on this path will be shorter."""
    while int(parent[segment]) != segment:
        parent[segment] = parent[int(parent[segment])]
        segment = int(parent[segment])
    return segment


@kernel
def join_cities(s, one, other):
    """Two segments meet at an edge: one city from now on, with two open edges less."""
    old, young = _find_and_shorten(s.city_parent, one), _find_and_shorten(s.city_parent, other)
    if old == young:
        s.city_open[old] -= 2
        return
    old, young = min(old, young), max(old, young)
    s.city_parent[young] = old
    s.city_open[old] = int(s.city_open[old]) + int(s.city_open[young]) - 2
    both = int(s.city_twice[old]) & int(s.city_twice[young])
    s.city_tiles[old] = int(s.city_tiles[old]) + int(s.city_tiles[young]) - popcount(np.uint64(both))
    s.city_twice[old] = int(s.city_twice[old]) | int(s.city_twice[young])
    s.city_pennants[old] = int(s.city_pennants[old]) + int(s.city_pennants[young])
    s.city_parts[old] |= s.city_parts[young]
    if s.city_meeples[young] != 0:
        s.city_meeples[old] = int(s.city_meeples[old]) + int(s.city_meeples[young])
        s.city_meeples[young] = 0
        s.city_held = (s.city_held & ~bit(young)) | bit(old)


@kernel
def join_roads(s, one, other):
    """Two segments meet at an edge: one road from now on, with two open ends less."""
    old, young = _find_and_shorten(s.road_parent, one), _find_and_shorten(s.road_parent, other)
    if old == young:
        s.road_open[old] -= 2
        return
    old, young = min(old, young), max(old, young)
    s.road_parent[young] = old
    s.road_open[old] = int(s.road_open[old]) + int(s.road_open[young]) - 2
    both = int(s.road_twice[old]) & int(s.road_twice[young])
    s.road_tiles[old] = int(s.road_tiles[old]) + int(s.road_tiles[young]) - popcount(np.uint64(both))
    s.road_twice[old] = int(s.road_twice[old]) | int(s.road_twice[young])
    if s.road_meeples[young] != 0:
        s.road_meeples[old] = int(s.road_meeples[old]) + int(s.road_meeples[young])
        s.road_meeples[young] = 0
        s.road_held = (s.road_held & ~bit(young)) | bit(old)


@kernel
def join_fields(s, one, other):
    """Two segments meet at half an edge: one field from now on, touching the cities of both."""
    old, young = _find_and_shorten(s.field_parent, one), _find_and_shorten(s.field_parent, other)
    if old == young:
        return
    old, young = min(old, young), max(old, young)
    s.field_parent[young] = old
    s.field_cities[old] |= s.field_cities[young]
    if s.field_meeples[young] != 0:
        s.field_meeples[old] = int(s.field_meeples[old]) + int(s.field_meeples[young])
        s.field_meeples[young] = 0
        release_field(s, young)
        hold_field(s, old)


@kernel
def hold_field(s, field):
    """Remember that the field has meeples."""
    s.field_held[field >> 6] |= bit(field & 63)


@kernel
def release_field(s, field):
    """Forget that the field has meeples."""
    s.field_held[field >> 6] &= ~bit(field & 63)


@kernel
def meeples_of(meeples, seat):
    """How many of the meeples of a feature are this seat's."""
    return (int(meeples) >> (3 * seat)) & 7


@kernel
def most(meeples):
    """The number of meeples of whoever has most of a feature."""
    largest = 0
    left = int(meeples)
    while left != 0:
        largest = max(largest, left & 7)
        left >>= 3
    return largest


@kernel
def closed_cities_at(s, field):
    """How many complete cities a field touches, each once."""
    n = 0
    touched = s.field_cities[field]
    for i in range(int(s.n_closed)):
        if s.closed[i] & touched != NONE:
            n += 1
    return n


@kernel
def city_pays(s, city):
    """The points of a city as it is: CITY_POINTS per tile and pennant if complete, else 1 as at the end of the game."""
    size = int(s.city_tiles[city]) + int(s.city_pennants[city])
    return CITY_POINTS * size if s.city_open[city] == 0 else size
