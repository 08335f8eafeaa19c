"""The encodings of Kingdomino, which write what a seat sees as numbers. Seats are relative: the observer comes first.

`planes` shows the kingdoms square by square. `areas` adds what a small network cannot see in the squares: how they are connected.

A kingdom is shown in a window of W x W squares, W = 2 * size - 1, with the castle in its middle; rows run from top to bottom. A
domino is 15 numbers: number / 48, then for each half its terrain (6 numbers) and crowns / 3. `layout` and `layout_with_areas`
describe the parts.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kdenv.compiler.bits import has, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Encoding, Part, clear
from kdenv.games.kingdomino import prospects
from kdenv.games.kingdomino.board import CASTLE, NONE, area_around, centred_box, column_of, neighbours, row_of
from kdenv.games.kingdomino.placements import reachable
from kdenv.games.kingdomino.rules import NO_DOMINO, NOBODY, PICKING, PLACING, points_of_kingdom
from kdenv.games.kingdomino.rules import seat as seat_to_move
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, N_DOMINOES, N_TERRAINS, TERRAIN_A, TERRAIN_B

N_PLANES = N_TERRAINS + 1  # the planes of one kingdom
DOMINO = 1 + 2 * (N_TERRAINS + 1)  # the numbers of one domino
N_OF_AREA = 4
N_OF_SHAPE = 5
ONE = np.uint64(1)


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """The parts of the vector for this many players and these options."""
    window = 2 * options["size"] - 1
    return {
        "kingdoms": Part(
            (players, N_PLANES, window, window),
            "by seat, six planes, 1 where that terrain lies (field, forest, water, pasture, clay, mine), then crowns / 3",
        ),
        "scores": Part((players,), "points now / 100"),
        "queue": Part((4, DOMINO + players), "the dominoes taken last round, ascending, not placed yet: the domino, 1 for its owner"),
        "draft": Part((4, DOMINO + players), "the new draft, ascending: the domino, 1 for the seat whose king stands on it (all 0: free)"),
        "in_hand": Part((DOMINO,), "the domino that the seat to move places now; 0 while it picks"),
        "unseen": Part((N_DOMINOES,), "1 for every domino that has not been drawn: the pile is this set, there is no order"),
        "to_move": Part((players,), "1 for the seat that decides; all 0 at a chance node and at the end"),
        "progress": Part((3,), "round / rounds; 1 if the decision is a placement; 1 if it is a pick"),
    }


def layout_with_areas(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """The parts of `planes`, and the areas and shapes of the kingdoms."""
    return layout(players, options) | {
        "areas": Part(
            (players, N_TERRAINS, N_OF_AREA),
            "by seat and terrain: of the area that is worth most (of equal ones, the largest) its squares / 10, crowns / 5, and the free "
            "squares beside it / 8; the points of the terrain / 20",
        ),
        "shapes": Part(
            (players, N_OF_SHAPE),
            "by seat: columns and rows / size; squares used / size squared; 1 if the castle can still be in the middle; empty squares "
            "that nothing can fill any more / 5",
        ),
    }


@kernel
def observe(states, k, seat, out):
    """Write what the seat sees as `layout` says."""
    _write_planes(states, k, seat, out)


@kernel
def observe_with_areas(states, k, seat, out):
    """Write what the seat sees as `layout_with_areas` says."""
    at = _write_planes(states, k, seat, out)
    s = states[k]
    players = int(s.players)
    for relative in range(players):
        owner = (seat + relative) % players
        free = reachable(s, owner)
        for terrain in range(N_TERRAINS):
            _write_area(s, owner, terrain, free, out, at)
            at += N_OF_AREA
    for relative in range(players):
        _write_shape(s, (seat + relative) % players, out, at)
        at += N_OF_SHAPE


@kernel
def _write_area(s, seat, terrain, free, out, at):
    """Write the four numbers of `areas` for one terrain from out[at] on, which holds 0."""
    land, low, high = s.land[seat, terrain], s.crowns[seat, 0], s.crowns[seat, 1]
    most, points = -1, 0
    best = NONE
    while land != NONE:
        area = area_around(land & ~(land - ONE), land)
        land &= ~area
        squares, crowns = popcount(area), popcount(area & low) + 2 * popcount(area & high)
        points += squares * crowns
        if 64 * squares * crowns + squares > most:
            most, best = 64 * squares * crowns + squares, area
    if best != NONE:
        out[at] = popcount(best) / 10.0
        out[at + 1] = (popcount(best & low) + 2 * popcount(best & high)) / 5.0
        out[at + 2] = popcount(neighbours(best) & free) / 8.0
        out[at + 3] = points / 20.0


@kernel
def _write_shape(s, seat, out, at):
    """Write the numbers of `shapes` for one kingdom from out[at] on."""
    size, half = int(s.size), int(s.size) // 2
    left, right, top, bottom = int(s.left[seat]), int(s.right[seat]), int(s.top[seat]), int(s.bottom[seat])
    out[at] = (right - left + 1) / size
    out[at + 1] = (bottom - top + 1) / size
    out[at + 2] = popcount(s.taken[seat]) / (size * size)
    in_middle = max(max(-left, right), max(-top, bottom)) <= half
    out[at + 3] = 1.0 if in_middle else 0.0
    empty = reachable(s, seat)
    if in_middle:
        empty &= centred_box(size)
    out[at + 4] = popcount(empty & ~neighbours(empty | CASTLE)) / 5.0


@kernel
def _write_planes(states, k, seat, out):
    """Write the parts of `layout`, and 0 to the rest of out; return how many numbers these parts have."""
    s = states[k]
    clear(out)
    players = int(s.players)
    at = 0
    for relative in range(players):
        at = _write_kingdom(s, (seat + relative) % players, out, at)
    for relative in range(players):
        out[at + relative] = points_of_kingdom(s, (seat + relative) % players) * 0.01
    at += players
    for slot in range(4):
        gone = slot < s.turn or (slot == s.turn and s.stage == PICKING)
        if s.queue[slot] != NO_DOMINO and not gone:
            _write_domino(int(s.queue[slot]), out, at)
            out[at + DOMINO + (int(s.queue_king[slot]) - seat) % players] = 1.0
        at += DOMINO + players
    for slot in range(4):
        if s.draft[slot] != NO_DOMINO:
            _write_domino(int(s.draft[slot]), out, at)
            if s.draft_king[slot] != NOBODY:
                out[at + DOMINO + (int(s.draft_king[slot]) - seat) % players] = 1.0
        at += DOMINO + players
    if s.stage == PLACING:
        _write_domino(int(s.queue[s.turn]), out, at)
    at += DOMINO
    unseen = s.unseen
    while unseen != NONE:
        out[at + lowest(unseen)] = 1.0
        unseen &= unseen - np.uint64(1)
    at += N_DOMINOES
    if s.stage == PLACING or s.stage == PICKING:
        out[at + (seat_to_move(s) - seat) % players] = 1.0
    at += players
    out[at] = s.round / s.n_drafts
    out[at + 1] = 1.0 if s.stage == PLACING else 0.0
    out[at + 2] = 1.0 if s.stage == PICKING else 0.0
    return at + 3


@kernel
def _write_kingdom(s, seat, out, at):
    """Write the planes of one kingdom from out[at] on, which holds 0; return the index behind them."""
    size = int(s.size)
    window = 2 * size - 1
    plane = window * window
    left, top = int(s.left[seat]), int(s.top[seat])
    for terrain in range(N_TERRAINS):
        squares = s.land[seat, terrain]
        while squares != NONE:
            b = lowest(squares)
            squares &= squares - np.uint64(1)
            cell = (row_of(b, top) + size - 1) * window + column_of(b, left) + size - 1
            out[at + terrain * plane + cell] = 1.0
            crowns = (1 if has(s.crowns[seat, 0], b) else 0) + (2 if has(s.crowns[seat, 1], b) else 0)
            out[at + N_TERRAINS * plane + cell] = crowns / 3.0
    return at + N_PLANES * plane


@kernel
def _write_domino(number, out, at):
    """Write the 15 numbers of a domino from out[at] on, which holds 0."""
    out[at] = number / 48.0
    out[at + 1 + int(TERRAIN_A[number])] = 1.0
    out[at + 7] = CROWNS_A[number] / 3.0
    out[at + 8 + int(TERRAIN_B[number])] = 1.0
    out[at + 14] = CROWNS_B[number] / 3.0


ENCODINGS = (
    Encoding("planes", layout, observe, "the kingdoms as planes, the dominoes as rows of numbers"),
    Encoding("areas", layout_with_areas, observe_with_areas, "the same, and the areas and shapes of the kingdoms; for small networks"),
    Encoding("prospects", prospects.layout, prospects.observe, "areas, shapes, and what the dominoes could add to them; for small networks"),
)
