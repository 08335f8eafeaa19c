"""The places of the tiles of the line on the table, in half tiles from the opening tile in the middle.

The line grows to both sides and turns at the border, like a snake. The left arm is laid out like the right one and then turned by
180 degrees, so that a tile never moves once it is laid. Doubles lie crosswise, except around a corner.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kdenv.games.dominoes.tables import PASS, SUITS

REACH = 11.0  # half tiles from the middle to the border


class Laid(NamedTuple):
    """A tile in the line, read from left to right."""

    left: int
    right: int
    turn: int  # the turn of the round in which it was laid


class Half(NamedTuple):
    """Half a tile on the table. (x, y) is its middle."""

    x: float
    y: float
    pips: int


class Placed(NamedTuple):
    """A tile on the table, as its two halves and the turn of the round in which it was laid."""

    first: Half
    second: Half
    turn: int


def line_of(s: Any) -> tuple[list[Laid], int]:
    """Return the line from left to right, and the index of the opening tile in it."""
    line: list[Laid] = []
    opening = 0
    for turn, action in enumerate(map(int, s["turns"][: int(s["n_turns"])])):
        c, e = divmod(action, SUITS)
        if action >= PASS:
            continue
        if not line or line[0].left != c:
            line.append(Laid(c, e, turn))
        else:
            line.insert(0, Laid(e, c, turn))
            opening += 1
    return line, opening


def lay_out(line: list[Laid], opening: int, reach: float = REACH) -> list[Placed]:
    """Return the place of every tile of the line. opening: the index of the opening tile. reach: half tiles to the border."""
    if not line:
        return []
    middle = line[opening]
    if middle.left == middle.right:
        placed = [Placed(Half(0, -0.5, middle.left), Half(0, 0.5, middle.right), middle.turn)]
        edge = 0.5
    else:
        placed = [Placed(Half(-0.5, 0, middle.left), Half(0.5, 0, middle.right), middle.turn)]
        edge = 1.0
    placed += _arm(line[opening + 1 :], edge, reach)
    left_arm = [Laid(tile.right, tile.left, tile.turn) for tile in reversed(line[:opening])]
    placed += [Placed(_turned(first), _turned(second), turn) for first, second, turn in _arm(left_arm, edge, reach)]
    return placed


def _turned(half: Half) -> Half:
    return Half(-half.x, -half.y, half.pips)


def _arm(tiles: list[Laid], x: float, reach: float) -> list[Placed]:
    """Lay out one arm from x on, to the right at first. Each tile has its half towards the opening tile in `left`."""
    placed = []
    y, towards, around_corner = 0.0, 1, False
    for near, far, turn in tiles:
        length = 1 if near == far and not around_corner else 2
        if (x + towards * length) * towards > reach - 1:  # a corner tile takes one more half tile
            middle = x + towards / 2
            placed.append(Placed(Half(middle, y, near), Half(middle, y + 1, far), turn))
            x, y, towards, around_corner = x + towards, y + 2, -towards, True
            continue
        if length == 1:
            middle = x + towards / 2
            placed.append(Placed(Half(middle, y - 0.5, near), Half(middle, y + 0.5, far), turn))
        else:
            placed.append(Placed(Half(x + towards / 2, y, near), Half(x + towards * 1.5, y, far), turn))
        x += towards * length
        around_corner = False
    return placed
