"""The rule-based players of the 2018 paper: FULL GREEDY, and GPRD (greedy placement, random draft).

Both list the turns they like equally well and choose among them at random. What they like:

1. In the first round, and with the first placement: any placement, and a domino with the most crowns on one square.
2. Later, the most points: FULL GREEDY looks at every (placement, pick, placement of the picked domino right after),
   GPRD at every (placement, pick).
3. But only tidy kingdoms, if any of these is: within the box around the castle, without a hole in it.
4. If no pick fits whatever is done (always so in the last round), FULL GREEDY as in the paper takes any turn;
   repaired, it places greedily.

Kingdoms are not scored anew for every look-ahead: the last placement adds the gains of its two squares, which
are known from the areas they touch.
"""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.bits import bit, has, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.errors import BadOption
from kdenv.core.questions import RulePlayer, packed, plays, then
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
from kdenv.games.kingdomino.rules import NOBODY, PICKING, X_OF, Y_OF, discard_action, legal, pick_action
from kdenv.games.kingdomino.rules import seat as seat_to_move
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, MIDDLE_BONUS, N_DOUBLES, N_TERRAINS, TERRAIN_A, TERRAIN_B

_IMPOSSIBLE = -1  # fewer points than any kingdom has
_NO_PLACEMENT = -1  # in place of an action
_UNCHANGED = -1  # in place of a terrain


class Greedy(NamedTuple):
    """The most points: with the domino picked placed too (looks_ahead), or after this placement, whatever is picked.

    repaired: greedy as well when looking ahead finds nothing, because nothing that can be picked would fit.
    """

    looks_ahead: int
    repaired: int


# Where things are in the scratch buffer that choosers get, behind the legal actions.
MAX_LEGAL = 1024
MAX_TURNS = 4096
_MAX_AREAS = 48  # of one terrain
_TURNS = MAX_LEGAL
_N_AREAS = _TURNS + MAX_TURNS  # by layer and terrain, see _list_areas
_POINTS = _N_AREAS + 2 * N_TERRAINS
_AREAS = _POINTS + 2 * N_TERRAINS
_SIZE, _CROWNS, _BESIDE, _AREA = 0, 1, 2, 3  # of an area: squares, crowns, its neighbours as bits; numbers each takes
_GAINS = _AREAS + 2 * N_TERRAINS * _MAX_AREAS * _AREA  # by half of a domino and square
SCRATCH = _GAINS + 2 * 64


@plays(Greedy)
@kernel
def _choose_greedily(player, states, k, out, rng):
    return out[_TURNS + below(rng, greedy_turns(states[k], player.looks_ahead, player.repaired, out))]


@kernel
def greedy_turns(s, looks_ahead, repaired, out):
    """List the turns between which the player chooses; return how many. They are in out from MAX_LEGAL on."""
    if s.round <= 1:
        return _turns_with_most_crowns(s, out)
    # First with the pick placed and tidy, then untidy, then (repaired) without the pick.
    for with_pick in range(looks_ahead, -1, -1):
        if with_pick and s.round == s.n_drafts:
            continue
        if looks_ahead and not with_pick and not repaired:
            return _all_turns(s, out)
        for tidy in range(1, -1, -1):
            n = _best_look_aheads(s, with_pick, tidy, out)
            if n > 0:
                return n
    return 0


@kernel
def _all_turns(s, out):
    """Every turn, whatever it leads to."""
    n_actions = legal(s, out)
    n = 0
    for i in range(n_actions):
        n = _append(s, out[i], out, n)
    return n


@kernel
def _append(s, action, out, n):
    """Append this action with every pick that may follow it."""
    if s.stage == PICKING or s.round == s.n_drafts:
        out[_TURNS + n] = packed(action)
        return n + 1
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == NOBODY:
            out[_TURNS + n] = then(action, pick_action(int(s.size), slot))
            n += 1
    return n


@kernel
def _turns_with_most_crowns(s, out):
    """Any placement, and a pick with the most crowns on one square."""
    most = -1
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == NOBODY:
            most = max(most, _crowns_on_one_square(int(s.draft[slot])))
    n_actions = legal(s, out)
    n = 0
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == NOBODY and _crowns_on_one_square(int(s.draft[slot])) == most:
            pick = pick_action(int(s.size), slot)
            if s.stage == PICKING:
                out[_TURNS + n] = packed(pick)
                n += 1
            else:
                for i in range(n_actions):
                    out[_TURNS + n] = then(out[i], pick)
                    n += 1
    return n


@kernel
def _crowns_on_one_square(domino):
    return max(int(CROWNS_A[domino]), int(CROWNS_B[domino]))


class _Kingdom(NamedTuple):
    """The kingdom of the seat to move after a placement, or as it is."""

    taken: np.uint64  # squares, the castle included
    left: int  # the columns and rows it spans
    right: int
    top: int
    bottom: int
    is_centred: int  # whether it lies within the box around the castle
    terrain_a: int  # the terrains that the placement has changed: their areas are in layer 1 of the scratch; UNCHANGED: none
    terrain_b: int


@kernel
def _best_look_aheads(s, with_pick, tidy, out):
    """List the turns that may lead to the most points; return how many.

    with_pick: the picked domino is placed too, and turns after which it cannot be are left out. tidy: only tidy
    kingdoms count. Harmony is no part of the points: all kingdoms compared have equally many squares.
    """
    seat = seat_to_move(s)
    size = int(s.size)
    box = centred_box(size)
    if tidy and (s.taken[seat] & ~box != NONE or has_hole(s.taken[seat], box)):
        return 0
    # 1. The areas before the turn.
    points_before = 0
    for terrain in range(N_TERRAINS):
        points_before += _list_areas(out, 0, terrain, s.land[seat, terrain], s.crowns[seat, 0], s.crowns[seat, 1])
    # 2. Every placement (none if it has been made already), then every pick.
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
        if points + bonus > best:
            best, n = points + bonus, 0
        if points + bonus == best:
            n = _append(s, out[i], out, n) if not placed_already else _all_turns(s, out)
    return n


@kernel
def _turn_with_pick(s, placed_already, action, slot):
    """The turn that ends with this pick."""
    pick = pick_action(int(s.size), slot)
    return packed(pick) if placed_already else then(action, pick)


@kernel
def _kingdom_after(s, seat, action):
    """The kingdom of a seat after it has placed its domino as this action says, or without a placement."""
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
    """What a placement adds to the points of a seat's areas. The areas it changes are listed in layer 1 of the scratch."""
    if action == _NO_PLACEMENT:
        return 0
    size, domino = int(s.size), int(s.queue[s.turn])
    cell, direction = action >> 2, action & 3
    xa, ya = int(X_OF[size, cell]), int(Y_OF[size, cell])
    square_a = bit(square(xa, ya))
    square_b = bit(square(xa + STEP_X[direction], ya + STEP_Y[direction]))
    terrain_a, terrain_b = int(TERRAIN_A[domino]), int(TERRAIN_B[domino])
    crowns_a, crowns_b = int(CROWNS_A[domino]), int(CROWNS_B[domino])
    low = s.crowns[seat, 0] | (square_a if crowns_a & 1 else NONE) | (square_b if crowns_b & 1 else NONE)
    high = s.crowns[seat, 1] | (square_a if crowns_a & 2 else NONE) | (square_b if crowns_b & 2 else NONE)
    if terrain_a == terrain_b:
        land = s.land[seat, terrain_a] | square_a | square_b
        return _list_areas(out, 1, terrain_a, land, low, high) - out[_POINTS + terrain_a]
    gained = _list_areas(out, 1, terrain_a, s.land[seat, terrain_a] | square_a, low, high) - out[_POINTS + terrain_a]
    return gained + _list_areas(out, 1, terrain_b, s.land[seat, terrain_b] | square_b, low, high) - out[_POINTS + terrain_b]


@kernel
def _list_if_best(s, kingdom, points, bonus, slot, tidy, turn, best, n, out):
    """Place the domino of this slot everywhere; if that leads to the most points so far, list the turn. Returns the most and how many."""
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
    # 1. What each square gains; if even the most is too little, no placement need be looked at.
    if not is_double:
        most = _fill_gains(out, layer_a, terrain_a, int(CROWNS_A[picked]), free, 0)
        most += _fill_gains(out, layer_b, terrain_b, int(CROWNS_B[picked]), free, 1)
        if points + bonus + most < best:
            return best, n
    # 2. Every placement: only what is at least as good as the best is looked at closely.
    is_listed = False
    for direction in range(2 if is_double else 4):
        firsts = first_halves(free, near_a, near_b, direction) & ~across_seam(size, left, right, top, bottom, direction)
        while firsts != NONE:
            first = lowest(firsts)
            firsts &= firsts - CASTLE
            second = towards(first, direction)
            if is_double:
                total = points + _gain_of_double(out, layer_a, terrain_a, bit(first) | bit(second))
            else:
                total = points + out[_GAINS + first] + out[_GAINS + 64 + second]
            if bonus and has(box, first) and has(box, second):
                total += bonus
            if total < best or (total == best and is_listed):
                continue
            if tidy and has_hole(kingdom.taken | bit(first) | bit(second), box):
                continue
            if total > best:
                best, n = total, 0
            out[_TURNS + n] = turn
            n += 1
            is_listed = True
    return best, n


@kernel
def _layer_of(kingdom, terrain):
    """The layer of the scratch that has the areas of this terrain."""
    return 1 if terrain in (kingdom.terrain_a, kingdom.terrain_b) else 0


# The areas of a kingdom in scratch. Layer 0 is the kingdom before the turn; layer 1 has the terrains that the
# placement looked at changes.


@kernel
def _area(layer, terrain, i):
    """Where area i of a terrain is in scratch."""
    return _AREAS + ((layer * N_TERRAINS + terrain) * _MAX_AREAS + i) * _AREA


@kernel
def _list_areas(out, layer, terrain, land, low, high):
    """Write the areas of one terrain into this layer; return their points."""
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
    """The neighbours of the castle and of all areas of a terrain."""
    beside = neighbours(CASTLE)
    for i in range(out[_N_AREAS + layer * N_TERRAINS + terrain]):
        beside |= np.uint64(out[_area(layer, terrain, i) + _BESIDE])
    return beside


@kernel
def _fill_gains(out, layer, terrain, crowns, free, half):
    """Write for every free square what this half of a domino gains there; return the most."""
    gains = _GAINS + 64 * half
    for b in range(64):
        out[gains + b] = crowns
    most = crowns
    once, twice = NONE, NONE
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
            beside &= beside - CASTLE
    while twice != NONE:  # squares that join areas
        b = lowest(twice)
        twice &= twice - CASTLE
        gain = _gain_of_joining(out, layer, terrain, bit(b), 1, crowns)
        out[gains + b] = gain
        most = max(most, gain)
    return most


@kernel
def _gain_of_double(out, layer, terrain, squares):
    """What the two squares of a double, which has no crowns, gain together."""
    return _gain_of_joining(out, layer, terrain, squares, 2, 0)


@kernel
def _gain_of_joining(out, layer, terrain, squares, n_squares, crowns):
    """What squares of a terrain gain by forming one area with all the areas they touch."""
    joined_size, joined_crowns, points = n_squares, crowns, 0
    for i in range(out[_N_AREAS + layer * N_TERRAINS + terrain]):
        area = _area(layer, terrain, i)
        if np.uint64(out[area + _BESIDE]) & squares != NONE:
            joined_size += out[area + _SIZE]
            joined_crowns += out[area + _CROWNS]
            points += out[area + _SIZE] * out[area + _CROWNS]
    return joined_size * joined_crowns - points


def _full_greedy(variant: str = "fixed") -> Greedy:
    if variant not in ("fixed", "paper"):
        raise BadOption(f"variant={variant} is not possible; variant may be fixed or paper")
    return Greedy(looks_ahead=1, repaired=int(variant == "fixed"))


def _gprd() -> Greedy:
    return Greedy(looks_ahead=0, repaired=1)


RULE_PLAYERS = {
    "full_greedy": RulePlayer(
        _full_greedy,
        "the most points after this placement and that of the domino picked; variant=paper takes any turn when nothing picked would fit",
        "Gedda et al. 2018, FG",
    ),
    "gprd": RulePlayer(_gprd, "the most points after this placement; a random pick", "Gedda et al. 2018, GPRD"),
}
