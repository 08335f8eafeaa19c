"""Cities, roads and fields, which grow as tiles are laid: union-find over the segments of the tiles laid so far.

The number of a feature is that of its oldest segment. Its open edges, tiles, pennants and meeples are kept there. The meeples of all seats
share one integer, three bits a seat, because no seat has more than seven. The sets `city_held`, `road_held` and `field_held` are the
features with meeples. Scoring visits only these.

A tile counts once per feature even if several of its segments belong to it. Only 5 tiles of the box have more than one city, and only 8
more than one road. Each feature keeps the set of its tiles of this kind (`city_twice`, `road_twice`). When two features join, the tiles
in both sets are subtracted.
"""

import numpy as np

from kdenv.compiler.bits import bit, popcount
from kdenv.compiler.kernel import kernel
from kdenv.games.carcassonne.tables import CITY_POINTS

NONE = np.uint64(0)
NOBODY = -1  # the seat of a cloister without a meeple


@kernel
def find(parent, segment):
    """Return the feature that a segment belongs to."""
    while int(parent[segment]) != segment:
        segment = int(parent[segment])
    return segment


@kernel
def _join(parent, edges, tiles, twice, meeples, held, one, other):
    """Join two segments of cities (or roads) that meet at an edge: they are one feature from now on, with two open edges less.

    Returns the feature that stays, the one that joined it (the same if they were one already), and the set of features with meeples.
    """
    old, young = find(parent, one), find(parent, other)
    if old == young:  # the feature has closed a loop
        edges[old] -= 2
        return old, young, held
    # The older root stays, so that the number of a feature is that of its oldest segment whatever the order of joins.
    old, young = min(old, young), max(old, young)
    parent[young] = old
    edges[old] = int(edges[old]) + int(edges[young]) - 2
    both = int(twice[old]) & int(twice[young])
    tiles[old] = int(tiles[old]) + int(tiles[young]) - popcount(np.uint64(both))
    twice[old] = int(twice[old]) | int(twice[young])
    # Meeples of several seats can meet only here: a claim is of a feature without meeples.
    if meeples[young] != 0:
        meeples[old] = int(meeples[old]) + int(meeples[young])
        meeples[young] = 0
        held = (held & ~bit(young)) | bit(old)
    return old, young, held


@kernel
def join_cities(s, one, other):
    """Join two segments that meet at an edge: they are one city from now on."""
    old, young, s.city_held = _join(s.city_parent, s.city_open, s.city_tiles, s.city_twice, s.city_meeples, s.city_held, one, other)
    if old != young:
        s.city_pennants[old] = int(s.city_pennants[old]) + int(s.city_pennants[young])
        s.city_parts[old] |= s.city_parts[young]


@kernel
def join_roads(s, one, other):
    """Join two segments that meet at an edge: they are one road from now on."""
    _, _, s.road_held = _join(s.road_parent, s.road_open, s.road_tiles, s.road_twice, s.road_meeples, s.road_held, one, other)


@kernel
def join_fields(s, one, other):
    """Join two segments that meet at half an edge: they are one field from now on, which touches the cities of both."""
    old, young = find(s.field_parent, one), find(s.field_parent, other)
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
    """Return the number of meeples of this seat in the meeples of a feature."""
    return (int(meeples) >> (3 * seat)) & 7


@kernel
def most(meeples):
    """Return the most meeples that any one seat has on a feature."""
    largest = 0
    left = int(meeples)
    while left != 0:
        largest = max(largest, left & 7)
        left >>= 3
    return largest


@kernel
def closed_cities_at(s, field):
    """Return the number of complete cities that a field touches. Each counts once."""
    n = 0
    touched = s.field_cities[field]  # segments, of which several may be one city
    for i in range(int(s.n_closed)):
        if s.closed[i] & touched != NONE:
            n += 1
    return n


@kernel
def city_pays(s, city):
    """Return the points of a city as it is: CITY_POINTS per tile and pennant if it is complete, else 1, as at the end of the game."""
    size = int(s.city_tiles[city]) + int(s.city_pennants[city])
    return CITY_POINTS * size if s.city_open[city] == 0 else size
