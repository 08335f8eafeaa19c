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

from kdenv.core.bits import bit, has, lowest, popcount
from kdenv.core.errors import BadOption
from kdenv.core.kernel import kernel
from kdenv.core.player import RulePlayer, packed, plays, then
from kdenv.core.random import below
from kdenv.games.kingdomino.board import (
    CASTLE,
    DOWN,
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

MAX_TURNS = 4096
_MAX_AREAS = 48  # of one terrain
_IMPOSSIBLE = -1


class FullGreedy(NamedTuple):
    """FULL GREEDY; repaired (1): greedy too when nothing that can be picked would fit."""

    repaired: int


class GreedyPlacement(NamedTuple):
    """GPRD: greedy placement, random draft."""


class Areas(NamedTuple):
    """The areas of a kingdom, by terrain: scratch space, reused for every kingdom looked at."""

    n: np.ndarray
    size: np.ndarray
    crowns: np.ndarray
    beside: np.ndarray  # the neighbours of an area
    points: np.ndarray  # of all areas of a terrain


@plays(FullGreedy)
@kernel
def _choose_full_greedy(player, states, k, out, rng):
    turns = np.empty(MAX_TURNS, np.int64)
    return turns[below(rng, full_greedy_turns(states[k], player.repaired, out, turns))]


@plays(GreedyPlacement)
@kernel
def _choose_greedy_placement(player, states, k, out, rng):
    turns = np.empty(MAX_TURNS, np.int64)
    return turns[below(rng, greedy_placement_turns(states[k], out, turns))]


@kernel
def full_greedy_turns(s, repaired, out, turns):
    """Write the turns between which FULL GREEDY chooses; return how many. `out` is scratch for legal actions."""
    if s.round <= 1:
        return _turns_with_most_crowns(s, out, turns)
    n = 0
    if s.round < s.n_drafts:
        n = _best_look_aheads(s, True, True, out, turns)
        if n == 0:
            n = _best_look_aheads(s, True, False, out, turns)
    if n > 0:
        return n
    return greedy_placement_turns(s, out, turns) if repaired else _all_turns(s, out, turns)


@kernel
def greedy_placement_turns(s, out, turns):
    """Write the turns between which GPRD chooses; return how many."""
    if s.round <= 1:
        return _turns_with_most_crowns(s, out, turns)
    n = _best_look_aheads(s, False, True, out, turns)
    return n if n > 0 else _best_look_aheads(s, False, False, out, turns)


@kernel
def _all_turns(s, out, turns):
    """Every turn, whatever it leads to."""
    n_actions = legal(s, out)
    n = 0
    for i in range(n_actions):
        n = _append(s, out[i], turns, n)
    return n


@kernel
def _append(s, action, turns, n):
    """Append this action with every pick that may follow it."""
    if s.stage == PICKING or s.round == s.n_drafts:
        turns[n] = packed(action)
        return n + 1
    for slot in range(int(s.kings)):
        if s.draft_king[slot] == NOBODY:
            turns[n] = then(action, pick_action(int(s.size), slot))
            n += 1
    return n


@kernel
def _turns_with_most_crowns(s, out, turns):
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
                turns[n] = packed(pick)
                n += 1
            else:
                for i in range(n_actions):
                    turns[n] = then(out[i], pick)
                    n += 1
    return n


@kernel
def _crowns_on_one_square(domino):
    return max(int(CROWNS_A[domino]), int(CROWNS_B[domino]))


@kernel
def _best_look_aheads(s, with_pick, tidy, out, turns):
    """Write the turns that may lead to the most points; return how many.

    with_pick: the picked domino is placed too, and turns after which it cannot be are left out. tidy: only tidy
    kingdoms count. Harmony is no part of the points: all kingdoms compared have equally many squares.
    """
    seat = seat_to_move(s)
    size = int(s.size)
    box = centred_box(size)
    if tidy and (s.taken[seat] & ~box != NONE or has_hole(s.taken[seat], box)):
        return 0
    # 1. The areas before the turn.
    shape = (2, N_TERRAINS, _MAX_AREAS)
    areas = Areas(
        np.empty((2, N_TERRAINS), np.int64),
        np.empty(shape, np.int64),
        np.empty(shape, np.int64),
        np.empty(shape, np.uint64),
        np.empty((2, N_TERRAINS), np.int64),
    )
    gains = np.empty((2, 64), np.int64)
    low, high = s.crowns[seat, 0], s.crowns[seat, 1]
    points_before = 0
    for terrain in range(N_TERRAINS):
        points_before += _list_areas(areas, 0, terrain, s.land[seat, terrain], low, high)
    # 2. Every placement (none if it has been made already), then every pick.
    placed_already = s.stage == PICKING
    n_places = 1 if placed_already else legal(s, out)
    best, n = _IMPOSSIBLE, 0
    for i in range(n_places):
        places = not placed_already and out[i] != discard_action(size)
        terrain_a = terrain_b = -1
        square_a = square_b = NONE
        low, high = s.crowns[seat, 0], s.crowns[seat, 1]
        left, right, top, bottom = int(s.left[seat]), int(s.right[seat]), int(s.top[seat]), int(s.bottom[seat])
        points = points_before
        if places:
            domino = int(s.queue[s.turn])
            cell, direction = out[i] >> 2, out[i] & 3
            xa, ya = int(X_OF[size, cell]), int(Y_OF[size, cell])
            xb, yb = xa + STEP_X[direction], ya + STEP_Y[direction]
            square_a, square_b = bit(square(xa, ya)), bit(square(xb, yb))
            left, right = min(left, xa, xb), max(right, xa, xb)
            top, bottom = min(top, ya, yb), max(bottom, ya, yb)
        taken = s.taken[seat] | square_a | square_b
        inside = max(-left, right, -top, bottom) <= size // 2
        if tidy and not (inside and not has_hole(taken, box)):
            continue
        if places:
            terrain_a, terrain_b = int(TERRAIN_A[domino]), int(TERRAIN_B[domino])
            crowns_a, crowns_b = int(CROWNS_A[domino]), int(CROWNS_B[domino])
            low |= (square_a if crowns_a & 1 else NONE) | (square_b if crowns_b & 1 else NONE)
            high |= (square_a if crowns_a & 2 else NONE) | (square_b if crowns_b & 2 else NONE)
            land = s.land[seat, terrain_a] | square_a | (square_b if terrain_b == terrain_a else NONE)
            points += _list_areas(areas, 1, terrain_a, land, low, high) - areas.points[0, terrain_a]
            if terrain_b != terrain_a:
                land = s.land[seat, terrain_b] | square_b
                points += _list_areas(areas, 1, terrain_b, land, low, high) - areas.points[0, terrain_b]
        bonus = MIDDLE_BONUS if s.middle and inside else 0
        if not with_pick:
            if points + bonus > best:
                best, n = points + bonus, 0
            if points + bonus == best:
                n = _append(s, out[i], turns, n) if not placed_already else _all_turns(s, out, turns)
            continue
        free = reach(size, left, right, top, bottom) & ~taken
        if tidy:
            free &= box
        for slot in range(int(s.kings)):
            if s.draft_king[slot] != NOBODY:
                continue
            picked = int(s.draft[slot])
            layer_a = 1 if TERRAIN_A[picked] == terrain_a or TERRAIN_A[picked] == terrain_b else 0
            layer_b = 1 if TERRAIN_B[picked] == terrain_a or TERRAIN_B[picked] == terrain_b else 0
            near_a = _beside_terrain(areas, layer_a, int(TERRAIN_A[picked])) & free
            near_b = _beside_terrain(areas, layer_b, int(TERRAIN_B[picked])) & free
            is_double = picked <= N_DOUBLES
            most = bonus
            if not is_double:
                most += _fill_gains(areas, layer_a, int(TERRAIN_A[picked]), int(CROWNS_A[picked]), free, gains, 0)
                most += _fill_gains(areas, layer_b, int(TERRAIN_B[picked]), int(CROWNS_B[picked]), free, gains, 1)
                if points + most < best:
                    continue
            # 3. Every placement of the picked domino: only what is at least as good as the best is looked at closely.
            is_listed = False
            for direction in range(2 if is_double else 4):
                firsts = first_halves(free, near_a, near_b, direction) & ~across_seam(size, left, right, top, bottom, direction)
                while firsts != NONE:
                    first = lowest(firsts)
                    firsts &= firsts - CASTLE
                    second = towards(first, direction)
                    if is_double:
                        gain = _gain_of_double(areas, layer_a, int(TERRAIN_A[picked]), bit(first) | bit(second))
                    else:
                        gain = gains[0, first] + gains[1, second]
                    total = points + gain
                    if bonus and has(box, first) and has(box, second):
                        total += bonus
                    if total < best or (total == best and is_listed):
                        continue
                    if tidy and has_hole(taken | bit(first) | bit(second), box):
                        continue
                    if total > best:
                        best, n = total, 0
                    pick = pick_action(size, slot)
                    turns[n] = packed(pick) if placed_already else then(out[i], pick)
                    n += 1
                    is_listed = True
    return n


@kernel
def _list_areas(areas, layer, terrain, land, low, high):
    """Write the areas of one terrain into this layer; return their points."""
    n, points = 0, 0
    while land != NONE:
        area = area_around(bit(lowest(land)), land)
        land &= ~area
        size = popcount(area)
        crowns = popcount(area & low) + 2 * popcount(area & high)
        areas.size[layer, terrain, n] = size
        areas.crowns[layer, terrain, n] = crowns
        areas.beside[layer, terrain, n] = neighbours(area)
        points += size * crowns
        n += 1
    areas.n[layer, terrain] = n
    areas.points[layer, terrain] = points
    return points


@kernel
def _beside_terrain(areas, layer, terrain):
    """The neighbours of the castle and of all areas of a terrain."""
    beside = neighbours(CASTLE)
    for i in range(areas.n[layer, terrain]):
        beside |= areas.beside[layer, terrain, i]
    return beside


@kernel
def _fill_gains(areas, layer, terrain, crowns, free, gains, half):
    """Write for every free square what this half of a domino gains there; return the most."""
    for b in range(64):
        gains[half, b] = crowns
    most = crowns
    once, twice = NONE, NONE
    for i in range(areas.n[layer, terrain]):
        beside = areas.beside[layer, terrain, i] & free
        twice |= once & beside
        once |= beside
        gain = crowns * (1 + areas.size[layer, terrain, i]) + areas.crowns[layer, terrain, i]
        if beside != NONE:
            most = max(most, gain)
        while beside != NONE:
            gains[half, lowest(beside)] = gain
            beside &= beside - CASTLE
    while twice != NONE:  # squares that join areas
        b = lowest(twice)
        twice &= twice - CASTLE
        gains[half, b] = _gain_of_joining(areas, layer, terrain, bit(b), 1, crowns)
        most = max(most, gains[half, b])
    return most


@kernel
def _gain_of_double(areas, layer, terrain, squares):
    """What the two squares of a double, which has no crowns, gain together."""
    return _gain_of_joining(areas, layer, terrain, squares, 2, 0)


@kernel
def _gain_of_joining(areas, layer, terrain, squares, n_squares, crowns):
    """What squares of a terrain gain by forming one area with all the areas they touch."""
    joined_size, joined_crowns, points = n_squares, crowns, 0
    for i in range(areas.n[layer, terrain]):
        if areas.beside[layer, terrain, i] & squares != NONE:
            size, more_crowns = areas.size[layer, terrain, i], areas.crowns[layer, terrain, i]
            joined_size += size
            joined_crowns += more_crowns
            points += size * more_crowns
    return joined_size * joined_crowns - points


def _full_greedy(variant: str = "fixed") -> FullGreedy:
    if variant not in ("fixed", "paper"):
        raise BadOption(f"variant={variant} is not possible; variant may be fixed or paper")
    return FullGreedy(int(variant == "fixed"))


RULE_PLAYERS = {
    "full_greedy": RulePlayer(
        _full_greedy,
        "the most points after this placement and that of the domino picked; variant=paper takes any turn when nothing picked would fit",
        "Gedda et al. 2018, FG",
    ),
    "gprd": RulePlayer(GreedyPlacement, "the most points after this placement, a random pick", "Gedda et al. 2018, GPRD"),
}
