"""Counting packings and tessellations row by row, for boards that are too large to list them (see wong_kang.py for the words).

The squares are decided one by one in reading order. The profile is all that matters of the decided squares. It says for each column if
its last square is empty or to which component of covered squares it belongs, and if its domino has a half below. So the time depends on
the number of profiles, not on that of packings: there are some thousands on 7 x 7.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache

NOWHERE = -1
_EMPTY = 0  # in a profile; covered squares have the numbers of their components, from 1 on


@lru_cache
def tessellations(size: int, castle: int) -> int:
    """The ways to cover all squares but the castle with dominoes. They need not be checked for connection: everything is covered."""
    ways = {0: 1}  # by the squares that are covered already, of the next `size` ones: the lowest bit is the next square
    for square in range(size * size):
        after: dict[int, int] = defaultdict(int)
        for ahead, n in ways.items():
            if square == castle:
                if not ahead & 1:
                    after[ahead >> 1] += n
            elif ahead & 1:
                after[ahead >> 1] += n
            else:
                if square % size + 1 < size and not ahead & 2 and square + 1 != castle:
                    after[(ahead | 2) >> 1] += n
                if square + size < size * size and square + size != castle:
                    after[(ahead | 1 << size) >> 1] += n
        ways = after
    return ways.get(0, 0)


@lru_cache
def packings(size: int, castle: int) -> int:
    """All packings with the castle on this square: no two empty squares touch, and everything covered is connected over edges."""
    width = size
    # By the components of the profile, the columns whose domino has a half below (as bits), and whether it has one to the right.
    ways: dict[tuple[tuple[int, ...], int, int], int] = {((-1,) * width, 0, 0): 1}
    for square in range(size * size):
        after: dict[tuple[tuple[int, ...], int, int], int] = defaultdict(int)
        column = square % width
        here = 1 << column
        for (profile, below, right), n in ways.items():
            above = profile[column]
            left = profile[column - 1] if column else -1
            must_cover = bool(below & here) or bool(right)
            if square == castle:
                choices = [] if must_cover else [(True, 0, 0)]
            elif must_cover:
                choices = [] if below & here and right else [(True, 0, 0)]
            else:
                choices = [(True, here, 0)] if square + width < size * size else []
                if column + 1 < width:
                    choices.append((True, 0, 1))
                if _EMPTY not in (above, left):
                    choices.append((False, 0, 0))
            for covered, new_below, new_right in choices:
                found = _next_profile(profile, column, above, left, covered)
                if found is not None:
                    after[found, below & ~here | new_below, new_right] += n
        ways = after
    return sum(n for (profile, below, right), n in ways.items() if not below and not right and len(set(profile) - {_EMPTY}) == 1)


def _next_profile(profile: tuple[int, ...], column: int, above: int, left: int, covered: bool) -> tuple[int, ...] | None:
    """The profile after a square; None if a component of covered squares is cut off, because all must be one in the end.

    For a square outside the board, `above` or `left` is -1.
    """
    found = list(profile)
    if covered:
        touching = {component for component in (above, left) if component > _EMPTY}
        name = min(touching) if touching else max(0, *profile) + 1
        found[column] = name
        found = [name if component in touching else component for component in found]
    else:
        found[column] = _EMPTY
    if not covered and above > _EMPTY and above not in found:
        return None
    return _renumbered(found)


def _renumbered(profile: list[int]) -> tuple[int, ...]:
    """The same profile with its components numbered in the order in which they come."""
    names: dict[int, int] = {}
    return tuple(component if component <= _EMPTY else names.setdefault(component, len(names) + 1) for component in profile)


def honest_total(size: int, *, full: bool) -> int:
    """Packings, or only tessellations, with the castle on every square once. Mirror images are counted once."""
    count = tessellations if full else packings
    return sum(count(size, _representative(size, castle)) for castle in range(size * size))


def total_of_the_paper(size: int, *, full: bool) -> int:
    """The same as the paper adds up: four times the sum over one castle of each orbit of the rotations, the middle included."""
    count, half = tessellations if full else packings, size // 2
    quadrant = [y * size + x for y in range(half) for x in range(half + 1)] + [half * size + half]
    return 4 * sum(count(size, _representative(size, castle)) for castle in quadrant)


def _representative(size: int, castle: int) -> int:
    """The first of the squares that turning and mirroring the board leads to, so that each is counted once."""
    y, x = divmod(castle, size)
    y, x = min(y, size - 1 - y), min(x, size - 1 - x)
    return min(y, x) * size + max(y, x)


def closed_formula(rows: int, columns: int) -> int:
    """Kasteleyn's formula for the tilings of a board with even sides (section 2 of the paper)."""
    product = 1.0
    for j in range(1, rows // 2 + 1):
        for k in range(1, columns // 2 + 1):
            product *= 4 * math.cos(math.pi * j / (rows + 1)) ** 2 + 4 * math.cos(math.pi * k / (columns + 1)) ** 2
    return round(product)
