"""The look-ahead of the greedy players: the turns that lead to the most points.

A turn is a placement and a pick. The look-ahead places the picked domino right after the turn, as if no other domino were placed in
between. Whole kingdoms are not scored again for this second placement. It adds the gains of its two squares, which follow from the
areas that the squares touch.
"""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.bits import ONE, bit, has, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.core.turns import packed, then
from kdenv.games.kingdomino.board import (
    CASTLE,
    NONE,
    STEP_X,
    STEP_Y,
    across_seam,
    area_around,
    centred_box,
    first_halves,
    has_hole,
    neighbours,
    reach,
    square,
    towards,
)
from kdenv.games.kingdomino.placements import X_OF, Y_OF, discard_action, pick_action
from kdenv.games.kingdomino.rules import NOBODY, PICKING, legal
from kdenv.games.kingdomino.rules import seat as seat_to_move
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, MIDDLE_BONUS, N_DOUBLES, N_TERRAINS, TERRAIN_A, TERRAIN_B

_IMPOSSIBLE = -1  # fewer points than any kingdom has
_NO_PLACEMENT = -1  # the action of a seat that does not place a domino
_UNCHANGED = -1  # the terrain of a seat that does not place a domino

# The layout of the scratch buffer that players get. The legal actions come first, from index 0 on.
MAX_LEGAL = 1024
MAX_TURNS = 4096
TURNS = MAX_LEGAL  # the packed turns that a player likes equally well
_MAX_AREAS = 48  # of one terrain
# Two layers of areas. Layer 0 has all areas before the turn. Layer 1 has the areas of the terrains that the placement in question
# changes, as they are after it. So one list of the areas before the turn serves all placements.
_BEFORE, _AFTER = 0, 1
_N_AREAS = TURNS + MAX_TURNS  # the number of areas, by layer and terrain; _list_areas writes these and the next two
_POINTS = _N_AREAS + 2 * N_TERRAINS  # the points of the areas, by layer and terrain
_AREAS = _POINTS + 2 * N_TERRAINS  # the areas themselves, by layer, terrain and area
_SIZE, _CROWNS, _BESIDE, _AREA = 0, 1, 2, 3  # an area is three numbers: squares, crowns, its neighbours as bits
_GAINS = _AREAS + 2 * N_TERRAINS * _MAX_AREAS * _AREA  # the points that each half of a domino gains, by half and square
SCRATCH_SIZE = _GAINS + 2 * 64


@kernel
def all_turns(s, out):
    """List every legal turn. Returns their number."""
    n_actions = legal(s, out)
    n = 0
    for i in range(n_actions):
        n = append_turns(s, out[i], out, n)
    return n


@kernel
def append_turns(s, action, out, n):
    """Append this action with every pick that may follow it to the n turns listed in out. Returns the new number of turns."""
    if s.stage == PICKING or s.round == s.n_drafts:
        out[TURNS + n] = packed(action)
        return n + 1
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == NOBODY:
            out[TURNS + n] = then(action, pick_action(int(s.size), slot))
            n += 1
    return n


class _Kingdom(NamedTuple):
    """The kingdom of the seat to move after a placement, or as it is if nothing is placed."""

    taken: np.uint64  # squares, the castle included
    left: int  # the columns and rows it spans
    right: int
    top: int
    bottom: int
    is_centred: int  # 1 if it lies within the box around the castle
    terrain_a: int  # the terrains that the placement has changed, or _UNCHANGED; their areas are in the layer _AFTER
    terrain_b: int


@kernel
def best_turns(s, with_pick, tidy, out):
    """List the turns that may lead to the most points, packed, in out from index TURNS on. Returns their number.

    Harmony does not count, because all kingdoms that are compared have equally many squares.

    If with_pick, points are counted after the picked domino is placed too, and turns after which it does not fit are left out.
    If tidy, turns that do not lead to a tidy kingdom are left out.
    """
    seat = seat_to_move(s)
    size = int(s.size)
    box = centred_box(size)
    # A kingdom that is untidy stays so: nothing moves a square back into the box or closes a hole.
    if tidy and (s.taken[seat] & ~box != NONE or has_hole(s.taken[seat], box)):
        return 0
    # 1. List the areas before the turn.
    points_before = 0
    for terrain in range(N_TERRAINS):
        points_before += _list_areas(out, _BEFORE, terrain, s.land[seat, terrain], s.crowns[seat, 0], s.crowns[seat, 1])
    # 2. Try every placement, or none if it has been made already, and then every pick.
    placed_already = s.stage == PICKING
    n_places = 1 if placed_already else legal(s, out)
    best, n = _IMPOSSIBLE, 0
    for i in range(n_places):
        action = _NO_PLACEMENT if placed_already or out[i] == discard_action(size) else out[i]
        kingdom = _kingdom_after(s, seat, action)
        if tidy and not (kingdom.is_centred and not has_hole(kingdom.taken, box)):
            continue
        points = points_before + _points_gained(s, seat, action, out)
        bonus = MIDDLE_BONUS if s.middle and kingdom.is_centred else 0
        if with_pick:
            for slot in range(int(s.kings)):
                if s.draft_king[slot] == NOBODY:
                    turn = _turn_with_pick(s, placed_already, out[i], slot)
                    best, n = _list_if_best(s, kingdom, points, bonus, slot, tidy, turn, best, n, out)
            continue
        # Without a look at the pick, all picks after this placement are equally good.
        if points + bonus > best:
            best, n = points + bonus, 0
        if points + bonus == best:
            n = append_turns(s, out[i], out, n) if not placed_already else all_turns(s, out)
    return n


@kernel
def _turn_with_pick(s, placed_already, action, slot):
    """Return the packed turn that ends with this pick. It begins with the action unless the placement has been made already."""
    pick = pick_action(int(s.size), slot)
    return packed(pick) if placed_already else then(action, pick)


@kernel
def _kingdom_after(s, seat, action):
    """Return the kingdom of a seat after this placement, or as it is if the action is _NO_PLACEMENT."""
    left, right, top, bottom = int(s.left[seat]), int(s.right[seat]), int(s.top[seat]), int(s.bottom[seat])
    taken = s.taken[seat]
    terrain_a = terrain_b = _UNCHANGED
    size = int(s.size)
    if action != _NO_PLACEMENT:
        domino = int(s.queue[s.turn])
        terrain_a, terrain_b = int(TERRAIN_A[domino]), int(TERRAIN_B[domino])
        cell, direction = action >> 2, action & 3
        xa, ya = int(X_OF[size, cell]), int(Y_OF[size, cell])
        xb, yb = xa + STEP_X[direction], ya + STEP_Y[direction]
        taken |= bit(square(xa, ya)) | bit(square(xb, yb))
        left, right = min(left, xa, xb), max(right, xa, xb)
        top, bottom = min(top, ya, yb), max(bottom, ya, yb)
    is_centred = int(max(-left, right, -top, bottom) <= size // 2)
    return _Kingdom(taken, left, right, top, bottom, is_centred, terrain_a, terrain_b)


@kernel
def _points_gained(s, seat, action, out):
    """Return the points that a placement adds to the areas of a seat. Lists the areas that it changes in the layer _AFTER."""
    if action == _NO_PLACEMENT:
        return 0
    size, domino = int(s.size), int(s.queue[s.turn])
    cell, direction = action >> 2, action & 3
    xa, ya = int(X_OF[size, cell]), int(Y_OF[size, cell])
    square_a = bit(square(xa, ya))
    square_b = bit(square(xa + STEP_X[direction], ya + STEP_Y[direction]))
    terrain_a, terrain_b = int(TERRAIN_A[domino]), int(TERRAIN_B[domino])
    crowns_a, crowns_b = int(CROWNS_A[domino]), int(CROWNS_B[domino])
    # The crowns of a square are a number of two bits: its low bit is in low, its high bit in high.
    low = s.crowns[seat, 0] | (square_a if crowns_a & 1 else NONE) | (square_b if crowns_b & 1 else NONE)
    high = s.crowns[seat, 1] | (square_a if crowns_a & 2 else NONE) | (square_b if crowns_b & 2 else NONE)
    # Areas of other terrains keep their points, so only those of the terrains of the domino are listed again.
    if terrain_a == terrain_b:
        land = s.land[seat, terrain_a] | square_a | square_b
        return _list_areas(out, _AFTER, terrain_a, land, low, high) - out[_POINTS + terrain_a]
    gained = _list_areas(out, _AFTER, terrain_a, s.land[seat, terrain_a] | square_a, low, high) - out[_POINTS + terrain_a]
    return gained + _list_areas(out, _AFTER, terrain_b, s.land[seat, terrain_b] | square_b, low, high) - out[_POINTS + terrain_b]


@kernel
def _list_if_best(s, kingdom, points, bonus, slot, tidy, turn, best, n, out):
    """Place the domino of this slot everywhere, and list the turn if that leads to the most points so far.

    The bonus is for the castle in the middle. It is lost if the picked domino leaves the box. Returns the most points so far and the
    number of turns that are listed.
    """
    size = int(s.size)
    box = centred_box(size)
    left, right, top, bottom = kingdom.left, kingdom.right, kingdom.top, kingdom.bottom
    free = reach(size, left, right, top, bottom) & ~kingdom.taken
    if tidy:
        free &= box
    picked = int(s.draft[slot])
    terrain_a, terrain_b = int(TERRAIN_A[picked]), int(TERRAIN_B[picked])
    layer_a, layer_b = _layer_of(kingdom, terrain_a), _layer_of(kingdom, terrain_b)
    near_a = _beside_terrain(out, layer_a, terrain_a) & free
    near_b = _beside_terrain(out, layer_b, terrain_b) & free
    is_double = picked <= N_DOUBLES
    # 1. Compute the gain of each half on each square. If the greatest two together are too little, no placement can be good enough.
    # The halves of a double have the same terrain, so one of them changes the gain of the other: doubles are computed in step 2.
    if not is_double:
        most = _fill_gains(out, layer_a, terrain_a, int(CROWNS_A[picked]), free, 0)
        most += _fill_gains(out, layer_b, terrain_b, int(CROWNS_B[picked]), free, 1)
        if points + bonus + most < best:
            return best, n
    # 2. Try every placement. The search for holes is expensive. It comes last, and only if the placement could change the list.
    is_listed = False
    for direction in range(2 if is_double else 4):  # a double turned by half a turn is the same placement
        firsts = first_halves(free, near_a, near_b, direction) & ~across_seam(size, left, right, top, bottom, direction)
        while firsts != NONE:
            first = lowest(firsts)
            firsts &= firsts - ONE
            second = towards(first, direction)
            if is_double:
                total = points + _gain_of_double(out, layer_a, terrain_a, bit(first) | bit(second))
            else:
                total = points + out[_GAINS + first] + out[_GAINS + 64 + second]
            if bonus and has(box, first) and has(box, second):
                total += bonus
            if total < best or (total == best and is_listed):  # a turn is listed once, however many placements are best
                continue
            if tidy and has_hole(kingdom.taken | bit(first) | bit(second), box):
                continue
            if total > best:
                best, n = total, 0
            out[TURNS + n] = turn
            n += 1
            is_listed = True
    return best, n


@kernel
def _layer_of(kingdom, terrain):
    """Return the layer of the scratch that has the areas of this terrain in this kingdom."""
    return _AFTER if terrain in (kingdom.terrain_a, kingdom.terrain_b) else _BEFORE


@kernel
def _area(layer, terrain, i):
    """Return the index in the scratch at which area i of a terrain begins."""
    return _AREAS + ((layer * N_TERRAINS + terrain) * _MAX_AREAS + i) * _AREA


@kernel
def _list_areas(out, layer, terrain, land, low, high):
    """Write the areas of one terrain into this layer of the scratch. Returns their points."""
    n, points = 0, 0
    while land != NONE:
        squares = area_around(bit(lowest(land)), land)
        land &= ~squares
        size = popcount(squares)
        crowns = popcount(squares & low) + 2 * popcount(squares & high)
        area = _area(layer, terrain, n)
        out[area + _SIZE] = size
        out[area + _CROWNS] = crowns
        out[area + _BESIDE] = np.int64(neighbours(squares))
        points += size * crowns
        n += 1
    out[_N_AREAS + layer * N_TERRAINS + terrain] = n
    out[_POINTS + layer * N_TERRAINS + terrain] = points
    return points


@kernel
def _beside_terrain(out, layer, terrain):
    """Return all squares beside the castle or beside an area of the terrain."""
    beside = neighbours(CASTLE)
    for i in range(out[_N_AREAS + layer * N_TERRAINS + terrain]):
        beside |= np.uint64(out[_area(layer, terrain, i) + _BESIDE])
    return beside


@kernel
def _fill_gains(out, layer, terrain, crowns, free, half):
    """Write for every free square the points that this half (0 or 1) of a domino gains there. Returns the greatest gain."""
    # Where no area lies beside it, the half begins an area of one square.
    gains = _GAINS + 64 * half
    for b in range(64):
        out[gains + b] = crowns
    most = crowns
    # Beside one area, it adds its crowns for each square of the area, and itself for each crown of the area.
    once, twice = NONE, NONE  # the free squares beside at least one area, and beside at least two
    for i in range(out[_N_AREAS + layer * N_TERRAINS + terrain]):
        area = _area(layer, terrain, i)
        beside = np.uint64(out[area + _BESIDE]) & free
        twice |= once & beside
        once |= beside
        gain = crowns * (1 + out[area + _SIZE]) + out[area + _CROWNS]
        if beside != NONE:
            most = max(most, gain)
        while beside != NONE:
            out[gains + lowest(beside)] = gain
            beside &= beside - ONE
    # Beside two areas or more, it joins them, and the gain above is wrong.
    while twice != NONE:
        b = lowest(twice)
        twice &= twice - ONE
        gain = _gain_of_joining(out, layer, terrain, bit(b), 1, crowns)
        out[gains + b] = gain
        most = max(most, gain)
    return most


@kernel
def _gain_of_double(out, layer, terrain, squares):
    """Return the points that the two squares of a double gain together. Doubles have no crowns."""
    return _gain_of_joining(out, layer, terrain, squares, 2, 0)


@kernel
def _gain_of_joining(out, layer, terrain, squares, n_squares, crowns):
    """Return the points that n_squares squares of a terrain with these crowns gain by joining all the areas they touch."""
    # points: of the areas as they are, which the joined area replaces
    joined_size, joined_crowns, points = n_squares, crowns, 0
    for i in range(out[_N_AREAS + layer * N_TERRAINS + terrain]):
        area = _area(layer, terrain, i)
        if np.uint64(out[area + _BESIDE]) & squares != NONE:
            joined_size += out[area + _SIZE]
            joined_crowns += out[area + _CROWNS]
            points += out[area + _SIZE] * out[area + _CROWNS]
    return joined_size * joined_crowns - points
