"""The pictures of 3 x 3 that the program of Wong and Kang can lay: 989,421 of the 994,074 that the rules allow.

Their program walks through the kingdom from the castle, square by square. For each empty square it notes the first square
that it came from and that is the castle or has a terrain of the domino. Both halves may lie beside the castle. Elsewhere a half must have
the noted terrain. So where an empty square lies between two terrains, both of which the domino has, the program lays it in one way only.
This follows from their published program; the paper does not mention it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kdenv.author import kernel

Integers = NDArray[np.int64]

CASTLE = 7  # what is noted beside the castle; terrains are numbers from 1 to 6
_STEPS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])  # in the order in which their program looks
_MOST_NOTED = 40  # a square may wait several times to be walked through, once for each neighbour


def new_room() -> tuple[Integers, Integers, Integers, Integers]:
    """Room for is_laid: the squares to walk through, which have been, what is noted, and which sets of dominoes can be laid."""
    return np.zeros(_MOST_NOTED, np.int64), np.zeros(9, np.int64), np.zeros(9, np.int64), np.zeros(16, np.int64)


@kernel
def is_laid(
    packing: Integers,
    castle: int,
    faces: Integers,
    chosen: Integers,
    terrain: Integers,
    room: tuple[Integers, Integers, Integers, Integers],
) -> bool:
    """Return True if their program lays these dominoes in some order. Write the picture to terrain: 0 if empty, else the terrain + 1."""
    laid = room[3]
    n = packing.shape[0]
    laid[:] = 0
    laid[0] = 1
    for dominoes in range(1 << n):
        if not laid[dominoes]:
            continue
        terrain[:] = 0
        for i in range(n):
            if (dominoes >> i) & 1:
                terrain[packing[i, 0]] = faces[chosen[i], 0] + 1
                terrain[packing[i, 1]] = faces[chosen[i], 1] + 1
        for i in range(n):
            if not (dominoes >> i) & 1 and not laid[dominoes | (1 << i)]:
                one, other = faces[chosen[i], 0] + 1, faces[chosen[i], 1] + 1
                _note(castle, one, other, terrain, room)
                noted, a, b = room[2], packing[i, 0], packing[i, 1]
                fits = noted[a] == one or noted[b] == other or noted[a] == CASTLE or noted[b] == CASTLE
                laid[dominoes | (1 << i)] = 1 if fits else 0
    return bool(laid[(1 << n) - 1])  # the last set that was looked at is that of all dominoes, so terrain is the picture


@kernel
def _note(castle: int, one: int, other: int, terrain: Integers, room: tuple[Integers, Integers, Integers, Integers]) -> None:
    """Walk through the kingdom, and note for each empty square what a half of a domino with these terrains must match there."""
    waiting, walked, noted, _ = room
    walked[:] = 0
    noted[:] = 0
    waiting[0] = castle
    first, end = 0, 1
    while first < end:
        square = waiting[first]
        first += 1
        walked[square] = 1
        mine = CASTLE if square == castle else terrain[square]
        for k in range(4):
            x, y = square // 3 + _STEPS[k, 0], square % 3 + _STEPS[k, 1]
            if 0 <= x < 3 and 0 <= y < 3:
                near = x * 3 + y
                if not walked[near] and not noted[near]:
                    if near == castle or terrain[near]:
                        waiting[end] = near
                        end += 1
                    elif mine in (CASTLE, one, other):
                        noted[near] = mine
