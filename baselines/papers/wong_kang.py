"""Wong and Kang, "Simulating Kingdomino": the number of ways to fill a kingdom.

    python -m baselines.papers.wong_kang    # their counts and ours

A *packing* lays dominoes without faces on a board. It has size x size squares and a castle. Every domino is connected, over edges, to
the castle, and no two empty squares share an edge, so that no other domino fits. A packing is a *tessellation* if no square
is empty. Two packings are the same if they have the same dominoes on the same squares. They may differ and cover the same
squares: on 3 x 3 with the castle in a corner, 12 packings cover 7 different sets of squares. The order in which the dominoes
were laid does not count.

The connection of every domino must be checked, because empty squares on a diagonal can cut off the dominoes in a corner. On 3 x 3
this never happens. On 5 x 5, 284,262 packings would be counted instead of 275,764.

The paper adds up one castle per orbit of the rotations and multiplies by four, so that the castle in the middle counts four times
(144 and 303,388). `honest_total` counts every square of the castle once (114 and 275,764).

A *picture* is what one sees of a packing that is laid with the printed dominoes by the rules: the terrain of every square. Two
packings with the same picture count once (otherwise there would be 1,275,352 on 3 x 3 instead of 994,074). Crowns and numbers
do not count. The paper's own numbers, 989,421 and 801,973, are those of the rule of its program (wong_kang_program.py).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from baselines.papers import best_kingdom, profiles, wong_kang_program
from kdenv.author import bit, has, kernel, lowest
from kdenv.games.kingdomino import DOMINOES, TERRAINS

Integers = NDArray[np.int64]

N_TERRAINS = len(TERRAINS)
NOWHERE = -1  # the castle of a board that has none
MOST = 5  # the largest size whose packings are visited one by one; profiles.py counts larger ones
_NOTHING = np.uint64(0)
_UNDECIDED, _EMPTY, _RIGHT, _DOWN, _NO_MORE = range(5)  # the choices for a square, in the order in which they are tried
# What the paper counts.
THEIR_PACKINGS = {3: (144, 24), 5: (303_388, 2_768)}  # by size: packings, tessellations
THEIR_PICTURES = (989_421, 801_973)  # of 3 x 3: all, those without an empty square


def packings(size: int, castle: int) -> tuple[int, int]:
    """Count all packings, and the tessellations among them.

    castle is a square's number in reading order, or NOWHERE. Without a castle the dominoes need not be connected.
    """
    counts = np.zeros(2, np.int64)
    _count(size, castle, *_stack(size, castle), counts)
    return int(counts[0]), int(counts[1])


def list_packings(size: int, castle: int) -> Iterator[list[tuple[int, int]]]:
    """List the packings, each as the two squares of every domino, numbered in reading order."""
    at, choice = _stack(size, castle)
    depth = _next_packing(size, castle, at, choice, 0)
    while depth >= 0:
        steps = {_RIGHT: 1, _DOWN: size}
        yield [(square, square + steps[c]) for square, c in zip(at[: depth + 1].tolist(), choice.tolist(), strict=False) if c in steps]
        depth = _next_packing(size, castle, at, choice, depth)


def honest_total(size: int) -> tuple[int, int]:
    """Count packings and tessellations with the castle on every square once."""
    total = np.array([packings(size, castle) for castle in range(size * size)]).sum(0)
    return int(total[0]), int(total[1])


def total_of_the_paper(size: int) -> tuple[int, int]:
    """Count as the paper does: four times the sum over one castle of each orbit of the rotations, the middle included. size is odd."""
    half = size // 2
    quadrant = [y * size + x for y in range(half) for x in range(half + 1)] + [half * size + half]
    total = 4 * np.array([packings(size, castle) for castle in quadrant]).sum(0)
    return int(total[0]), int(total[1])


def pictures(castle: int, *, by_their_program: bool = False) -> tuple[int, int]:
    """Count the pictures of 3 x 3 with the castle on this square, and those among them that have no empty square.

    With by_their_program, count only those that the program of the paper finds.
    """
    _check(3, castle)
    stock = Counter((min(a, b), max(a, b)) for (a, _), (b, _) in DOMINOES)  # how many dominoes of every pair of terrains
    pairs = sorted(stock)
    faces = np.array([(a, b, kind) for kind, pair in enumerate(pairs) for a, b in sorted({pair, pair[::-1]})])
    n_dominoes = np.zeros((N_TERRAINS + 1) ** 9, np.int8)  # by picture; 0 if a number is no picture
    left = np.array([stock[pair] for pair in pairs])
    room = wong_kang_program.new_room()
    for packing in list_packings(3, castle):
        parts = np.zeros(4, np.int64), np.zeros(9, np.int64), by_their_program, room, n_dominoes
        _mark_pictures(np.array(packing), castle, faces, left, *parts)
    return int(np.count_nonzero(n_dominoes)), int(np.count_nonzero(n_dominoes == 4))


def _stack(size: int, castle: int) -> tuple[Integers, Integers]:
    """The squares and choices with which _next_packing begins."""
    _check(size, castle)
    at, choice = np.zeros(size * size, np.int64), np.zeros(size * size, np.int64)
    at[0] = 1 if castle == 0 else 0
    return at, choice


def _check(size: int, castle: int) -> None:
    if not 2 <= size <= MOST or not NOWHERE <= castle < size * size:
        raise ValueError(
            f"size={size}, castle={castle}: packings are counted from 2 x 2 to {MOST} x {MOST}, the castle on a square or NOWHERE"
        )


@kernel
def _count(size: int, castle: int, at: Integers, choice: Integers, counts: Integers) -> None:
    """Add the numbers of packings and of tessellations to counts."""
    depth = _next_packing(size, castle, at, choice, 0)
    while depth >= 0:
        is_full = True
        for i in range(depth + 1):
            is_full = is_full and choice[i] != _EMPTY
        counts[0] += 1
        counts[1] += 1 if is_full else 0
        depth = _next_packing(size, castle, at, choice, depth)


@kernel
def _next_packing(size: int, castle: int, at: Integers, choice: Integers, depth: int) -> int:
    """Turn a stack of choices, one per square in reading order, into that of the next packing.

    Returns the depth of the stack, or -1 if there is no other packing.
    """
    board = bit(size * size) - np.uint64(1)
    covered, empty = (bit(castle), _NOTHING) if castle != NOWHERE else (_NOTHING, _NOTHING)
    for i in range(depth + 1):
        covered, empty = _toggle(covered, empty, size, at[i], choice[i])
    while depth >= 0:
        # 1. Take back what was chosen last, and choose the next thing that fits.
        square = at[depth]
        covered, empty = _toggle(covered, empty, size, square, choice[depth])
        choice[depth] += 1
        while choice[depth] != _NO_MORE and not _fits(covered | empty, empty, size, square, choice[depth]):
            choice[depth] += 1
        if choice[depth] == _NO_MORE:
            depth -= 1
            continue
        covered, empty = _toggle(covered, empty, size, square, choice[depth])
        # 2. Go on to the next open square; if there is none, this is a packing.
        left = board & ~covered & ~empty
        if left != _NOTHING:
            depth += 1
            at[depth] = lowest(left)
            choice[depth] = _UNDECIDED
        elif castle == NOWHERE or _is_connected(covered, size, castle):
            return depth
    return -1


@kernel
def _toggle(covered: np.uint64, empty: np.uint64, size: int, square: int, choice: int) -> tuple[np.uint64, np.uint64]:
    """Carry out a choice, or take it back if it was carried out. Returns the squares covered and those left empty."""
    if choice == _EMPTY:
        empty ^= bit(square)
    elif choice == _RIGHT:
        covered ^= bit(square) | bit(square + 1)
    elif choice == _DOWN:
        covered ^= bit(square) | bit(square + size)
    return covered, empty


@kernel
def _fits(decided: np.uint64, empty: np.uint64, size: int, square: int, choice: int) -> bool:
    """True if a choice is possible: no two empty squares may touch, and the other half of a domino needs an open square of the board."""
    column = square % size
    if choice == _EMPTY:
        beside = column > 0 and has(empty, square - 1)
        return not beside and not (square >= size and has(empty, square - size))
    if choice == _RIGHT:
        return column + 1 < size and not has(decided, square + 1)
    return square + size < size * size and not has(decided, square + size)


@kernel
def _is_connected(covered: np.uint64, size: int, castle: int) -> bool:
    """True if all covered squares are connected over edges."""
    one, wide = np.uint64(1), np.uint64(size)
    first_column = _NOTHING
    for row in range(size):
        first_column |= bit(row * size)
    last_column = first_column << np.uint64(size - 1)
    reached = bit(castle)
    while True:
        grown = reached | (reached << wide) | (reached >> wide)
        grown |= ((reached & ~last_column) << one) | ((reached & ~first_column) >> one)
        grown &= covered
        if grown == reached:
            return bool(reached == covered)
        reached = grown


@kernel
def _mark_pictures(
    packing: Integers,
    castle: int,
    faces: Integers,
    stock: Integers,
    chosen: Integers,
    terrain: Integers,
    by_their_program: bool,
    room: tuple[Integers, Integers, Integers, Integers],
    n_dominoes: NDArray[np.int8],
) -> None:
    """Give the dominoes of a packing on 3 x 3 all combinations of faces, and mark the pictures that can be laid.

    A face is a terrain for each half and the kind of pair that these are. A picture is marked with its number of dominoes.
    """
    while True:
        can_be_had = _enough(packing.shape[0], chosen, faces, stock)
        if can_be_had and by_their_program:
            can_be_had = wong_kang_program.is_laid(packing, castle, faces, chosen, terrain, room)
        elif can_be_had:
            can_be_had = _can_be_laid(packing, castle, faces, chosen, terrain)
        if can_be_had:
            picture = 0
            for square in range(9):
                picture = picture * (N_TERRAINS + 1) + terrain[square]
            n_dominoes[picture] = packing.shape[0]
        # Go on to the next combination of faces, counting up like an odometer.
        wheel = 0
        while wheel < packing.shape[0] and chosen[wheel] + 1 == faces.shape[0]:
            chosen[wheel] = 0
            wheel += 1
        if wheel == packing.shape[0]:
            return
        chosen[wheel] += 1


@kernel
def _enough(n: int, chosen: Integers, faces: Integers, stock: Integers) -> bool:
    """True if the box has enough dominoes of every pair that was chosen."""
    for i in range(n):
        needed = 0
        for j in range(n):
            needed += 1 if faces[chosen[j], 2] == faces[chosen[i], 2] else 0
        if needed > stock[faces[chosen[i], 2]]:
            return False
    return True


@kernel
def _can_be_laid(packing: Integers, castle: int, faces: Integers, chosen: Integers, terrain: Integers) -> bool:
    """Return True if the dominoes can be laid in some legal order. Write the picture to terrain: 0 if empty, else the terrain + 1."""
    for square in range(9):
        terrain[square] = 0
    n_laid = 0
    while True:
        before = n_laid
        for i in range(packing.shape[0]):
            a, b = packing[i, 0], packing[i, 1]
            face_a, face_b = faces[chosen[i], 0] + 1, faces[chosen[i], 1] + 1
            if terrain[a] == 0 and (_touches(a, castle, face_a, terrain) or _touches(b, castle, face_b, terrain)):
                terrain[a], terrain[b] = face_a, face_b
                n_laid += 1
        if n_laid == packing.shape[0]:
            return True
        if n_laid == before:
            return False


@kernel
def _touches(square: int, castle: int, face: int, terrain: Integers) -> bool:
    """True if the castle or the same terrain lies beside the square, so that this half may be laid there."""
    column = square % 3
    for step in (-3, -1, 1, 3):
        if (step == -1 and column == 0) or (step == 1 and column == 2):
            continue
        other = square + step
        if 0 <= other < 9 and (other == castle or terrain[other] == face):
            return True
    return False


def best_score(castle: int) -> int:
    """The most points, without bonuses, that a kingdom of 3 x 3 with the castle on this square can have: every one is tried."""
    _check(3, castle)
    stock = Counter(min((one, other), (other, one)) for one, other in DOMINOES)  # how many dominoes have these faces
    kinds = sorted(stock)
    faces = np.array(
        [(a[0], b[0], kind, a[1], b[1]) for kind, (one, other) in enumerate(kinds) for a, b in sorted({(one, other), (other, one)})]
    )
    left = np.array([stock[kind] for kind in kinds])
    best = np.zeros(1, np.int64)
    for packing in list_packings(3, castle):
        _find_best(np.array(packing), castle, faces, left, np.zeros(4, np.int64), np.zeros(9, np.int64), np.zeros(9, np.int64), best)
    return int(best[0])


@kernel
def _find_best(
    packing: Integers, castle: int, faces: Integers, stock: Integers, chosen: Integers, terrain: Integers, crowns: Integers, best: Integers
) -> None:
    """Give the dominoes of a packing all combinations of faces, and keep the most points of those that can be laid."""
    n = packing.shape[0]
    while True:
        for square in range(9):
            terrain[square] = 0
            crowns[square] = 0
        for i in range(n):
            face = chosen[i]
            terrain[packing[i, 0]], terrain[packing[i, 1]] = faces[face, 0] + 1, faces[face, 1] + 1
            crowns[packing[i, 0]], crowns[packing[i, 1]] = faces[face, 3], faces[face, 4]
        points = _points(terrain, crowns)
        if points > best[0] and _enough(n, chosen, faces, stock) and _can_be_laid(packing, castle, faces, chosen, terrain):
            best[0] = points
        wheel = 0
        while wheel < n and chosen[wheel] + 1 == faces.shape[0]:
            chosen[wheel] = 0
            wheel += 1
        if wheel == n:
            return
        chosen[wheel] += 1


@kernel
def _points(terrain: Integers, crowns: Integers) -> int:
    """Squares x crowns of every area of 3 x 3. Terrain is 0 where no domino lies."""
    seen, points = 0, 0
    for start in range(9):
        if terrain[start] == 0 or (seen >> start) & 1:
            continue
        area, before = 1 << start, 0
        while area != before:
            before = area
            for square in range(9):
                if (area >> square) & 1 == 0 and terrain[square] == terrain[start]:
                    column = square % 3
                    near = (square >= 3 and (area >> (square - 3)) & 1) or (square < 6 and (area >> (square + 3)) & 1)
                    near = near or (column > 0 and (area >> (square - 1)) & 1) or (column < 2 and (area >> (square + 1)) & 1)
                    area |= (1 << square) if near else 0
        n_squares, n_crowns = 0, 0
        for square in range(9):
            if (area >> square) & 1:
                n_squares += 1
                n_crowns += crowns[square]
        seen |= area
        points += n_squares * n_crowns
    return points


# What expected/wong_kang.csv calls


def count(board: str, what: str, how: str = "honest") -> int:
    """Packings (what = all) or tessellations (full) of an odd board: each castle once (honest), or as the paper adds up (paper)."""
    size = int(board)
    total = profiles.honest_total if how == "honest" else profiles.total_of_the_paper
    return total(size, full=what == "full")


def castles(board: str) -> int:
    """The number of squares for the castle, where squares that a rotation of the board makes equal count once."""
    last = int(board) - 1
    orbits = {min((x, y), (last - y, x), (last - x, last - y), (y, last - x)) for x in range(last + 1) for y in range(last + 1)}
    return len(orbits)


def without_castle(board: str, what: str) -> int:
    """Packings or tessellations of an even board without a castle."""
    return packings(int(board), NOWHERE)[0] if what == "all" else profiles.tessellations(int(board), NOWHERE)


def formula(board: str) -> int:
    """The closed formula of section 2 for an even board."""
    return profiles.closed_formula(int(board), int(board))


def pictures_in_all(what: str, how: str = "rules") -> int:
    """The pictures of 3 x 3 with the castle in a corner, at an edge and in the middle, together: all, or those that are full.

    They follow the rules of the game or, with how="program", the rule of the paper's program.
    """
    return sum(pictures(castle, by_their_program=how == "program")[what == "full"] for castle in (0, 1, 4))


def most_points(board: str, what: str) -> int:
    """A bound on the points of a kingdom, or those of the best kingdom found."""
    size = int(board)
    return best_kingdom.most_by_counting(size * size // 2) if what == "bound" else best_kingdom.best_found(size)


def best_of_3() -> int:
    """The most points on 3 x 3, wherever the castle is."""
    return max(best_score(castle) for castle in (0, 1, 4))


def _rows() -> Iterator[tuple[str, tuple[int, int], tuple[int, int] | None]]:
    """Yield each thing that is counted, its numbers (all, and those without an empty square), and those of the paper, if any."""
    for size, theirs in THEIR_PACKINGS.items():
        yield f"packings of {size} x {size}, every castle once", honest_total(size), None
        yield f"packings of {size} x {size}, as the paper adds up", total_of_the_paper(size), theirs
    corner, edge, centre = (pictures(castle) for castle in (0, 1, 4))
    total = corner[0] + edge[0] + centre[0], corner[1] + edge[1] + centre[1]
    yield "pictures of 3 x 3", total, THEIR_PICTURES


def main() -> None:
    """Print every count beside that of the paper, as soon as it is known."""
    argparse.ArgumentParser(prog="python -m baselines.papers.wong_kang", description=(__doc__ or "").splitlines()[0]).parse_args()
    print(f"{'':44}{'all':>9}{'no square empty':>17}{'Wong and Kang':>23}", flush=True)
    for what, (n, n_full), theirs in _rows():
        print(f"{what:44}{n:9,}{n_full:17,}{f'{theirs[0]:,} / {theirs[1]:,}' if theirs else '':>23}", flush=True)


if __name__ == "__main__":
    main()
