"""The encoding `prospects` of Kingdomino: the areas of a kingdom, and the points that the dominoes on the table and in the box could add.

It has no picture of the squares. A network of one small layer cannot find areas in a picture, nor compute the points of a domino beside
them. So both are written as numbers. On 7x7, squares across the seam of the torus only seem to be neighbours (board.py). There some counts
of free squares may be too high by one or two.

Positions that are compared differ in one kingdom at most. So the part for kernels (Remembered) keeps what it wrote of each kingdom last.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.bits import ONE, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.core.encoding import Part, Vector, clear, observe_by
from kdenv.games.kingdomino.board import CASTLE, DOWN, NONE, RIGHT, area_around, behind, centred_box, first_halves, neighbours
from kdenv.games.kingdomino.placements import reachable
from kdenv.games.kingdomino.rules import NO_DOMINO, NOBODY, PICKING, PLACING, bonus_for_harmony, bonus_for_middle
from kdenv.games.kingdomino.rules import seat as seat_to_move
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, N_DOMINOES, N_TERRAINS, TERRAIN_A, TERRAIN_B

N_OF_AREA = 3  # numbers of one area
N_OF_AREAS = 2 * N_OF_AREA + 2  # of one terrain
N_OF_SHAPE = 7  # of one kingdom
N_OF_KINGDOM = N_TERRAINS * N_OF_AREAS + N_OF_SHAPE
N_OF_DOMINO = 2 + 2 * (N_TERRAINS + 1)  # of one domino, without its owner
N_OF_PROSPECT = 4  # of a domino in the kingdom of its owner
N_TO_COME = 4  # of one terrain
N_ROUNDS = 17  # the most rounds of any number of players; the last of them, in which dominoes are only placed, included
_MORE_THAN_SQUARES = 64  # a factor that ranks areas by points first and then by squares
_NO_AREA = -1  # a lower rank than any area has
_N_KEYS = N_TERRAINS + 3  # the words that identify a kingdom
_NEVER = -1  # in place of a version


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of the vector by name, in their order."""
    return {
        "areas": Part(
            (players, N_TERRAINS, N_OF_AREAS),
            "by seat and terrain: three numbers of the area with the most points (of equal ones, the largest), then of the next one. "
            "They are its squares / 10, its crowns / 5 and the free squares beside it / 8. "
            "Then the points of the terrain / 20 and the free squares beside it / 8",
        ),
        "shapes": Part(
            (players, N_OF_SHAPE),
            "by seat: columns and rows / size; squares used / size squared; 1 if the castle can still be in the middle. "
            "Then of the empty squares: those that nothing can fill / 5, connected fields of an odd number / 5, pairs of neighbours / 30",
        ),
        "scores": Part((2 * players,), "points now / 100; then points now minus those of the observer / 50"),
        "dominoes": Part(
            (8, N_OF_DOMINO + players + N_OF_PROSPECT),
            "the dominoes taken last round and not placed yet, then the new draft, each ascending. "
            "A domino is 1, its number / 48, for each half its terrain and crowns / 3, and 1 for its owner. "
            "Then for this owner: 1 if it fits; 1 if it fits into the box around the castle; about the points gained / 10; "
            "1 if both halves join the areas to which they add most",
        ),
        "to_come": Part(
            (N_TERRAINS, N_TO_COME),
            "by terrain, of the dominoes not drawn: squares / 20, crowns / 10. "
            "Then these crowns times the squares of the observer's area with the most points / 50, and these squares times its crowns / 50",
        ),
        "to_move": Part((players,), "1 for the seat that decides; all 0 at a chance node and at the end"),
        "rounds": Part((N_ROUNDS,), "1 for the number of rounds to come"),
        "progress": Part((3,), "round / rounds; 1 if the decision is a placement; 1 if it is a pick"),
    }


def _sets_of_dominoes() -> np.ndarray:
    """Return by terrain the dominoes with such a half, with two, with one crown (or three) on such halves, and with two (or three)."""
    sets = np.zeros((N_TERRAINS, 4), np.uint64)
    for number in range(1, N_DOMINOES + 1):
        here = np.uint64(1 << (number - 1))
        a, b = int(TERRAIN_A[number]), int(TERRAIN_B[number])
        sets[a, 0] |= here
        sets[b, 1 if a == b else 0] |= here
        for terrain, crowns in ((a, int(CROWNS_A[number])), (b, int(CROWNS_B[number]))):
            sets[terrain, 2] |= here if crowns & 1 else NONE
            sets[terrain, 3] |= here if crowns & 2 else NONE
    sets.flags.writeable = False
    return sets


SETS = _sets_of_dominoes()


class Nothing(NamedTuple):
    """The memory of `observe`, which remembers nothing between two calls."""


class Remembered(NamedTuple):
    """The part that writes the same numbers as `observe`. It computes only what differs from its last calls."""

    keys: NDArray[np.uint64]  # by seat: the kingdom that its row is about, in words
    rows: Vector  # by seat: the numbers of its kingdom, areas first
    points: NDArray[np.int64]
    versions: NDArray[np.int64]  # by seat: a number that no other row has had; and then how many there were
    numbers: NDArray[np.int64]  # by slot of a domino: which one it was, ...
    of_versions: NDArray[np.int64]  # ... and the version of its owner's kingdom
    prospects: Vector  # by slot


def remembered() -> Remembered:
    """Make the part, which remembers nothing at first."""
    return Remembered(
        keys=np.zeros((4, _N_KEYS), np.uint64),
        rows=np.zeros((4, N_OF_KINGDOM), np.float32),
        points=np.zeros(4, np.int64),
        versions=np.array([_NEVER] * 4 + [0], np.int64),
        numbers=np.zeros(8, np.int64),
        of_versions=np.full(8, _NEVER, np.int64),
        prospects=np.zeros((8, N_OF_PROSPECT), np.float32),
    )


@kernel
def observe(states, k, seat, out):
    """Write the observation of the seat in states[k] to out."""
    _observe_with(Nothing(), states[k], seat, out)


@answers(observe_by, Remembered)
@kernel
def _observe_again(encoding, states, k, seat, out):
    _observe_with(encoding, states[k], seat, out)


@kernel
def _observe_with(memory, s, seat, out):
    clear(out)
    players = int(s.players)
    shapes_at = players * N_TERRAINS * N_OF_AREAS
    scores_at = shapes_at + players * N_OF_SHAPE
    mine = 0
    # The areas give the points, so the part `scores`, which comes later in the vector, is written here too.
    for relative in range(players):
        owner = (seat + relative) % players
        points = _write_kingdom(memory, s, owner, out, relative * N_TERRAINS * N_OF_AREAS, shapes_at + relative * N_OF_SHAPE)
        mine = points if relative == 0 else mine
        out[scores_at + relative] = points * 0.01
        out[scores_at + players + relative] = (points - mine) / 50.0
    at = scores_at + 2 * players
    # The queue without the dominoes that have been placed: those of earlier turns, and that of this turn while its seat picks.
    for slot in range(4):
        gone = slot < s.turn or (slot == s.turn and s.stage == PICKING)
        if s.queue[slot] != NO_DOMINO and not gone:
            _write_domino(memory, s, slot, int(s.queue[slot]), int(s.queue_king[slot]), seat, out, at)
        at += N_OF_DOMINO + players + N_OF_PROSPECT
    for slot in range(4):
        if s.draft[slot] != NO_DOMINO:
            _write_domino(memory, s, 4 + slot, int(s.draft[slot]), int(s.draft_king[slot]), seat, out, at)
        at += N_OF_DOMINO + players + N_OF_PROSPECT
    for terrain in range(N_TERRAINS):
        _write_to_come(s, terrain, out, at)
        at += N_TO_COME
    _write_progress(s, seat, out, at)


@question
def _write_kingdom(memory, s, owner, out, areas_at, shape_at):
    """Write the parts `areas` and `shapes` of one kingdom to out, which holds 0 there; return the points of the kingdom."""


@answers(_write_kingdom, Nothing)
@kernel
def _compute_kingdom(memory, s, owner, out, areas_at, shape_at):
    free, points = reachable(s, owner), bonus_for_middle(s, owner) + bonus_for_harmony(s, owner)
    for terrain in range(N_TERRAINS):
        points += _write_areas(s, owner, terrain, free, out, areas_at + terrain * N_OF_AREAS)
    _write_shape(s, owner, out, shape_at)
    return points


@answers(_write_kingdom, Remembered)
@kernel
def _copy_kingdom(memory, s, owner, out, areas_at, shape_at):
    row, n_areas = memory.rows[owner], N_TERRAINS * N_OF_AREAS
    if not _is_remembered(memory, s, owner):
        clear(row)
        memory.points[owner] = _compute_kingdom(Nothing(), s, owner, row, 0, n_areas)
        memory.versions[owner] = memory.versions[4]
        memory.versions[4] += 1
    for i in range(n_areas):
        out[areas_at + i] = row[i]
    for i in range(N_OF_SHAPE):
        out[shape_at + i] = row[n_areas + i]
    return int(memory.points[owner])


@kernel
def _is_remembered(memory, s, owner):
    """Return whether the row of this seat is about its kingdom in s, and note that it will be."""
    keys, is_same = memory.keys[owner], memory.versions[owner] != _NEVER
    for i in range(_N_KEYS):
        if i < N_TERRAINS:
            key = s.land[owner, i]
        elif i < N_TERRAINS + 2:
            key = s.crowns[owner, i - N_TERRAINS]
        else:  # the columns and rows used, and the options that count
            sides = (int(s.left[owner]) + 64) << 24 | (int(s.right[owner]) + 64) << 16 | (int(s.top[owner]) + 64) << 8
            key = np.uint64((sides | (int(s.bottom[owner]) + 64)) << 24 | int(s.size) << 16 | int(s.middle) << 8 | int(s.harmony))
        is_same = is_same and keys[i] == key
        keys[i] = key
    return is_same


@kernel
def _write_areas(s, owner, terrain, free, out, at):
    """Write the numbers of `areas` for one terrain from out[at] on, which holds 0. Returns the points of the terrain."""
    land, low, high = s.land[owner, terrain], s.crowns[owner, 0], s.crowns[owner, 1]
    if land == NONE:
        return 0
    # Find the two areas with the most points.
    most, second, points = _NO_AREA, _NO_AREA, 0
    best = next_best = NONE
    left = land
    while left != NONE:
        area = area_around(left & ~(left - ONE), land)  # around the lowest of the squares left
        left &= ~area
        squares, crowns = popcount(area), popcount(area & low) + 2 * popcount(area & high)
        points += squares * crowns
        rank = _MORE_THAN_SQUARES * squares * crowns + squares
        if rank > most:
            second, next_best = most, best
            most, best = rank, area
        elif rank > second:
            second, next_best = rank, area
    _write_area(best, low, high, free, out, at)
    if next_best != NONE:
        _write_area(next_best, low, high, free, out, at + N_OF_AREA)
    out[at + 6] = points / 20.0
    out[at + 7] = popcount(neighbours(land) & free) / 8.0
    return points


@kernel
def _write_area(area, low, high, free, out, at):
    out[at] = popcount(area) / 10.0
    out[at + 1] = (popcount(area & low) + 2 * popcount(area & high)) / 5.0
    out[at + 2] = popcount(neighbours(area) & free) / 8.0


@kernel
def _write_shape(s, owner, out, at):
    """Write the numbers of `shapes` for one kingdom from out[at] on."""
    size, half = int(s.size), int(s.size) // 2
    left, right, top, bottom = int(s.left[owner]), int(s.right[owner]), int(s.top[owner]), int(s.bottom[owner])
    in_middle = max(max(-left, right), max(-top, bottom)) <= half
    out[at] = (right - left + 1) / size
    out[at + 1] = (bottom - top + 1) / size
    out[at + 2] = popcount(s.taken[owner]) / (size * size)
    out[at + 3] = 1.0 if in_middle else 0.0
    # The squares that the kingdom could still have: those of the box if it can keep its castle in the middle, else all in reach.
    empty = reachable(s, owner)
    if in_middle:
        empty &= centred_box(size)
    out[at + 4] = popcount(empty & ~neighbours(empty | CASTLE)) / 5.0
    # A domino fills two squares that are neighbours, so a connected field of an odd number keeps one empty.
    odd, left_over = 0, empty
    while left_over != NONE:
        field = area_around(left_over & ~(left_over - ONE), empty)
        left_over &= ~field
        odd += popcount(field) & 1
    out[at + 5] = odd / 5.0
    out[at + 6] = (popcount(empty & behind(empty, RIGHT)) + popcount(empty & behind(empty, DOWN))) / 30.0


@kernel
def _write_domino(memory, s, slot, number, owner, seat, out, at):
    """Write the numbers of `dominoes` for one domino from out[at] on, which holds 0. owner is NOBODY while it is free."""
    players = int(s.players)
    a, b = int(TERRAIN_A[number]), int(TERRAIN_B[number])
    crowns_a, crowns_b = int(CROWNS_A[number]), int(CROWNS_B[number])
    out[at] = 1.0
    out[at + 1] = number / 48.0
    out[at + 2 + a] = 1.0
    out[at + 2 + N_TERRAINS] = crowns_a / 3.0
    out[at + 3 + N_TERRAINS + b] = 1.0
    out[at + 3 + 2 * N_TERRAINS] = crowns_b / 3.0
    if owner == NOBODY:
        return
    out[at + N_OF_DOMINO + (owner - seat) % players] = 1.0
    _write_prospect(memory, s, slot, number, owner, out, at + N_OF_DOMINO + players)


@question
def _write_prospect(memory, s, slot, number, owner, out, at):
    """Write the numbers of a domino in the kingdom of its owner from out[at] on, which holds 0. `slot` counts queue and draft."""


@answers(_write_prospect, Remembered)
@kernel
def _copy_prospect(memory, s, slot, number, owner, out, at):
    if memory.numbers[slot] != number or memory.of_versions[slot] != memory.versions[owner]:
        memory.numbers[slot], memory.of_versions[slot] = number, memory.versions[owner]
        clear(memory.prospects[slot])
        _compute_prospect(Nothing(), s, slot, number, owner, memory.prospects[slot], 0)
    for i in range(N_OF_PROSPECT):
        out[at + i] = memory.prospects[slot, i]


@answers(_write_prospect, Nothing)
@kernel
def _compute_prospect(memory, s, slot, number, owner, out, at):
    a, b = int(TERRAIN_A[number]), int(TERRAIN_B[number])
    crowns_a, crowns_b = int(CROWNS_A[number]), int(CROWNS_B[number])
    # 1. The squares where it may lie: within the box if the bonus for the middle can be kept.
    free = reachable(s, owner)
    if not _fits(s, owner, a, b, free):
        return
    out[at] = 1.0
    boxed = free & centred_box(int(s.size))
    if bonus_for_middle(s, owner) > 0 and _fits(s, owner, a, b, boxed):
        out[at + 1] = 1.0
        free = boxed
    # 2. About the points that it gains: each half joins the area to which it adds most, if one placement lets both do so. Else one half
    # does, and the other gains its own crowns. It is no exact gain, as a half could join several areas or a second-best one.
    gain_a, beside_a = _best_side(s, owner, a, crowns_a, free)
    gain_b, beside_b = _best_side(s, owner, b, crowns_b, free)
    joins_both = NONE
    for direction in range(4):
        joins_both |= beside_a & behind(beside_b, direction)
    gain = crowns_a + crowns_b  # beside the castle alone
    if joins_both != NONE:
        gain = gain_a + gain_b
        out[at + 3] = 1.0
    else:
        if beside_a & neighbours(free) != NONE:
            gain = gain_a + (gain_a if a == b else crowns_b)
        if beside_b & neighbours(free) != NONE:
            gain = max(gain, gain_b + crowns_a)
    out[at + 2] = gain / 10.0


@kernel
def _fits(s, owner, a, b, free):
    """Return whether a domino of these terrains can lie on free squares of the kingdom."""
    near_a, near_b = neighbours(s.land[owner, a] | CASTLE), neighbours(s.land[owner, b] | CASTLE)
    firsts = NONE
    for direction in range(4):
        firsts |= first_halves(free, near_a, near_b, direction)
    return firsts != NONE


@kernel
def _best_side(s, owner, terrain, crowns, free):
    """Return the most points that a square with these crowns adds to an area of the terrain, and the free squares beside that area."""
    land, low, high = s.land[owner, terrain], s.crowns[owner, 0], s.crowns[owner, 1]
    most, beside = crowns, neighbours(CASTLE) & free
    left = land
    while left != NONE:
        area = area_around(left & ~(left - ONE), land)  # around the lowest of the squares left
        left &= ~area
        near = neighbours(area) & free
        gain = popcount(area) * crowns + popcount(area & low) + 2 * popcount(area & high) + crowns
        if near != NONE and gain > most:
            most, beside = gain, near
    return most, beside


@kernel
def _write_to_come(s, terrain, out, at):
    """Write the numbers of `to_come` for one terrain from out[at] on; the areas of the observer have been written."""
    # A domino with two such halves is in both of the first two sets. The other two have the low and the high bit of its crowns.
    squares = popcount(s.unseen & SETS[terrain, 0]) + popcount(s.unseen & SETS[terrain, 1])
    crowns = popcount(s.unseen & SETS[terrain, 2]) + 2 * popcount(s.unseen & SETS[terrain, 3])
    area = terrain * N_OF_AREAS  # the observer's best area of this terrain, as squares / 10 and crowns / 5
    out[at] = squares / 20.0
    out[at + 1] = crowns / 10.0
    if out[area + 2] > 0.0:  # an area without free squares beside it does not grow
        out[at + 2] = crowns * 10.0 * out[area] / 50.0
        out[at + 3] = squares * 5.0 * out[area + 1] / 50.0


@kernel
def _write_progress(s, seat, out, at):
    """Write `to_move`, `rounds` and `progress` from out[at] on, which holds 0."""
    players = int(s.players)
    if s.stage == PLACING or s.stage == PICKING:
        out[at + (seat_to_move(s) - seat) % players] = 1.0
    at += players
    out[at + int(s.n_drafts) - int(s.round)] = 1.0
    at += N_ROUNDS
    out[at] = s.round / s.n_drafts
    out[at + 1] = 1.0 if s.stage == PLACING else 0.0
    out[at + 2] = 1.0 if s.stage == PICKING else 0.0
