"""Draw a position of Carcassonne as a picture (svg) or in letters for a terminal (ansi). The state is only read.

Everything on the table is public, so every seat sees the same picture. art.py draws the tiles and meeples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kdenv.drawing import letters as lettering
from kdenv.drawing.letters import write
from kdenv.drawing.shapes import box, disc, mark, polygon
from kdenv.games.carcassonne import claims, rules
from kdenv.games.carcassonne.art import INK, anchor, meeple_art, tile_art
from kdenv.games.carcassonne.notation import TYPES, kind_word, tile_text
from kdenv.games.carcassonne.tables import CITY, CORNERS, EDGES, MEEPLES, ROAD, TILES
from kdenv.games.carcassonne.tiles import CITY_AT, CLOISTER, EDGE, FIELD_CORNER, FIT, MIDDLE, N_CELLS, NO_SEGMENT, PENNANTS, SIZE

COLOURS = ("#c8352b", "#2467b5", "#f0bd28", "#2d2a2b", "#8e4ba0")
TABLE, FRAME, GOLD, FAINT = "#e7dcc3", "#b9a57c", "#ffd84a", "#7d6a45"
_TILE = 100
_PANEL = 300  # width of the panel beside the landscape
_MARGIN = 46
_SHOWN = 0.6  # default size of the picture, in pixels per unit of its coordinates


def laid_tiles(s: Any) -> list[tuple[int, int, int]]:
    """Return the cell, type and rotation of every tile, in the order in which they were laid."""
    return [(int(s["tile_cell"][i]), int(s["tile_face"][i]) >> 2, int(s["tile_face"][i]) & 3) for i in range(int(s["n_tiles"]))]


def meeples_out(s: Any) -> list[tuple[int, int, int]]:
    """Return the tile, slot and seat of every meeple on the table."""
    standing = [tile for tile in range(int(s["n_tiles"])) if claims.has_meeple(s, tile)]
    return [(tile, int(s["tile_claim"][tile]) % claims.N_SLOTS, int(s["tile_claim"][tile]) // claims.N_SLOTS) for tile in standing]


def legal_rotations(s: Any) -> dict[int, list[int]]:
    """Return, by cell, the rotations in which the drawn tile fits. There are none unless a tile is to be placed."""
    if s["stage"] != rules.PLACING:
        return {}
    frontier = [cell for cell in range(N_CELLS) if int(s["frontier"][cell >> 6]) >> (cell & 63) & 1]
    fits = {cell: int(FIT[int(s["drawn"]), int(s["code"][cell])]) for cell in frontier}
    return {cell: [r for r in range(4) if bits >> r & 1] for cell, bits in fits.items() if bits}


def _bounds(s: Any) -> tuple[int, int, int, int]:
    """Return the top row, bottom row, left and right column to show: the landscape and one cell around it."""
    rows = [cell // SIZE for cell, _, _ in laid_tiles(s)]
    columns = [cell % SIZE for cell, _, _ in laid_tiles(s)]
    return min(rows) - 1, max(rows) + 1, min(columns) - 1, max(columns) + 1


def _status(s: Any) -> str:
    """The stage in words."""
    if s["stage"] == rules.FINISHED:
        return "the game is over"
    if s["stage"] == rules.DRAWING:
        return f"a tile is drawn for player {s['turn']}"
    if s["stage"] == rules.PLACING:
        return f"player {s['turn']} places the tile drawn"
    return f"player {s['turn']} may claim"


# The picture


def svg(states: Any, k: int, seat: int | None = None) -> str:
    """Draw the landscape with all meeples, and a panel with scores, meeples left and the tile to be placed."""
    s = states[k]
    top, bottom, left, right = _bounds(s)
    width, height, down, corner = _frame(s)
    drawing = "".join(
        [
            *_scales(top, bottom, left, right, down),
            *_landscape(s, corner),
            *_legal_cells(s, corner),
            *_meeples(s, corner),
            *_claims(s, corner),
            *_panel(s, width),
        ]
    )
    wide, tall = width + _PANEL, round(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide * _SHOWN:.0f}" height="{tall * _SHOWN:.0f}" '
        f'stroke-linejoin="round"><title>Carcassonne, {_status(s)}</title><defs>{_definitions(s)}{lettering.definitions(drawing)}</defs>'
        f'<rect width="{wide}" height="{tall}" fill="{TABLE}"/>{drawing}</svg>'
    )


def _frame(s: Any) -> tuple[float, float, float, Callable[[int], tuple[float, float]]]:
    """Width and height of the landscape, the free space above it, and a function that gives the left upper corner of a cell."""
    top, bottom, left, right = _bounds(s)
    height = max((bottom - top + 1) * _TILE + 2 * _MARGIN, 250 + 112 * int(s["players"]) + 260)
    down = (height - 2 * _MARGIN - (bottom - top + 1) * _TILE) / 2

    def corner(cell: int) -> tuple[float, float]:
        return _MARGIN + (cell % SIZE - left) * _TILE, _MARGIN + down + (cell // SIZE - top) * _TILE

    return (right - left + 1) * _TILE + 2 * _MARGIN, height, down, corner


def targets(states: Any, k: int, actions: Sequence[int], seat: int | None = None) -> dict[int, list[str]]:
    """Return the outlines to click for each action.

    A placement is a cell, and then the side of it where the northern edge of the tile shall lie. A claim is the place of the meeple, and
    claiming nothing is the panel of the seat.
    """
    s = states[k]
    width, _, _, corner = _frame(s)
    found = {}
    for action in actions:
        slot = action - claims.CLAIM
        if slot < 0:
            x, y = corner(action >> 2)
            corners = [(x, y), (x + _TILE, y), (x + _TILE, y + _TILE), (x, y + _TILE)]
            side = corners[action & 3], corners[((action & 3) + 1) % 4]
            found[action] = [box(x, y, _TILE, _TILE), polygon((x + _TILE / 2, y + _TILE / 2), *side)]
        elif slot == claims.NO_MEEPLE:
            found[action] = [box(width + 14, 118 + 112 * int(s["turn"]), 248, 98)]
        else:
            tile = int(s["n_tiles"]) - 1
            (x, y), (dx, dy) = corner(int(s["tile_cell"][tile])), _spot(s, tile, slot)
            found[action] = [disc(x + dx, y + dy, 12)]
    return found


def _definitions(s: Any) -> str:
    """Define the art of every face that the picture needs; each tile then refers to it."""
    faces = {(tile_type, rotation) for _, tile_type, rotation in laid_tiles(s)}
    if s["stage"] == rules.PLACING:
        faces.add((int(s["drawn"]), 0))
    clip = '<clipPath id="square"><rect width="100" height="100" rx="2.5"/></clipPath>'
    art = [f'<g id="{_name(*face)}" clip-path="url(#square)">{tile_art(*face)}</g>' for face in sorted(faces)]
    return clip + "".join(art)


def _tile(tile_type: int, rotation: int, x: float, y: float, scale: float = 1.0) -> str:
    grown = f" scale({scale})" if scale != 1.0 else ""
    return f'<use href="#{_name(tile_type, rotation)}" transform="translate({x:.0f} {y:.0f}){grown}"/>'


def _name(tile_type: int, rotation: int) -> str:
    return f"{TYPES[tile_type]}{rotation}"


def _scales(top: int, bottom: int, left: int, right: int, down: float) -> list[str]:
    """Write beside every column and row how far east or north of the start tile it is."""
    return [
        write(_signed(column - MIDDLE), _MARGIN + (column - left) * _TILE + 50, _MARGIN + down - 14, 14, FAINT, 1.2, 0.5)
        for column in range(left, right + 1)
    ] + [
        write(_signed(MIDDLE - row), _MARGIN - 12, _MARGIN + down + (row - top) * _TILE + 56, 14, FAINT, 1.2, 1)
        for row in range(top, bottom + 1)
    ]


def _signed(n: int) -> str:
    return f"{n:+d}" if n else "0"


def _landscape(s: Any, corner: Any) -> list[str]:
    """Draw all tiles with their shadows, and a frame around the newest."""
    tiles = laid_tiles(s)
    shadow = '<rect x="{}" y="{}" width="100" height="100" rx="4" fill="#5c4a2a" fill-opacity="0.35"/>'
    frame = '<rect x="{}" y="{}" width="100" height="100" rx="2.5" fill="none" stroke="#3d4a22" stroke-opacity="0.38" stroke-width="1.2"/>'
    parts = [shadow.format(x + 4, y + 5) for x, y in (corner(cell) for cell, _, _ in tiles)]
    for cell, tile_type, rotation in tiles:
        x, y = corner(cell)
        parts.append(_tile(tile_type, rotation, x, y))
        parts.append(frame.format(x, y))
    x, y = corner(tiles[-1][0])
    return [*parts, mark([box(x + 1, y + 1, 98, 98)])]


def _legal_cells(s: Any, corner: Any) -> list[str]:
    """Mark the cells where the drawn tile fits. A triangle for each rotation points to where the northern edge of the tile would lie."""
    parts = []
    colour = COLOURS[int(s["turn"])]
    for cell, rotations in legal_rotations(s).items():
        x, y = corner(cell)
        parts.append(
            f'<rect x="{x + 7}" y="{y + 7}" width="86" height="86" rx="9" fill="#fffaf0" fill-opacity="0.6" '
            f'stroke="{colour}" stroke-width="2.6" stroke-dasharray="7 5"/>'
        )
        parts += [
            f'<path d="M50,20 L60,36 H40 Z" transform="translate({x} {y}) rotate({90 * rotation} 50 50)" fill="{colour}" opacity="0.85"/>'
            for rotation in rotations
        ]
    return parts


def _place_of(slot: int) -> str:
    is_corner = claims.FIRST_CORNER <= slot < claims.ON_CLOISTER
    return CORNERS[slot - claims.FIRST_CORNER] if is_corner else EDGES[(slot - claims.FIRST_EDGE) % 4]


def _spot(s: Any, tile: int, slot: int) -> tuple[float, float]:
    """Return where on its tile a meeple is drawn."""
    face = int(s["tile_face"][tile])
    return anchor(face >> 2, face & 3, kind_word(s, tile, slot), _place_of(slot))


def _meeples(s: Any, corner: Any) -> list[str]:
    """Draw all meeples: they stand, but lie in fields."""
    parts = []
    for tile, slot, owner in meeples_out(s):
        x, y = corner(int(s["tile_cell"][tile]))
        dx, dy = _spot(s, tile, slot)
        art = meeple_art(COLOURS[owner], kind_word(s, tile, slot) == "field")
        parts.append(f'<g transform="translate({x + dx:.1f} {y + dy:.1f})">{art}</g>')
    return parts


def _claims(s: Any, corner: Any) -> list[str]:
    """Draw rings where a meeple may be put, while a claim is to be decided."""
    if s["stage"] != rules.CLAIMING:
        return []
    tile = int(s["n_tiles"]) - 1
    x, y = corner(int(s["tile_cell"][tile]))
    colour = COLOURS[int(s["turn"])]
    parts = []
    for slot in claimable(s):
        dx, dy = _spot(s, tile, slot)
        at = f'cx="{x + dx:.1f}" cy="{y + dy:.1f}"'
        parts.append(f'<circle {at} r="10" fill="#fffaf0" fill-opacity="0.85" stroke="{INK}" stroke-width="1"/>')
        parts.append(f'<circle {at} r="6.5" fill="none" stroke="{colour}" stroke-width="4"/>')
    return parts


def claimable(s: Any) -> list[int]:
    """Return the slots of the newest tile that can be claimed. Claiming nothing is not among them."""
    out = np.empty(claims.N_SLOTS, np.int64)
    return [int(action) - claims.CLAIM for action in out[: claims.list_claims(s, out, 0)] if action != claims.CLAIM]


def _panel(s: Any, x: float) -> list[str]:
    """Draw the panel: scores, meeples in hand, the stage, and the tile to be placed."""
    tall = 138 + 112 * int(s["players"]) + (170 if s["stage"] == rules.PLACING else 0)
    parts = [
        f'<rect x="{x}" y="22" width="{_PANEL - 24}" height="{tall}" rx="16" fill="#f6efdd" stroke="{FRAME}" stroke-width="2"/>',
        write("carcassonne", x + 26, 66, 24, INK, 1.7),
        lettering.fitted(_status(s), x + 26, 96, 14, _PANEL - 24 - 2 * 26, FAINT, 1.2),
    ]
    y = 118.0
    for seat in range(int(s["players"])):
        parts += _seat(s, seat, x + 14, y)
        y += 112
    parts.append(write(f"{int(s['n_left'])} tiles in the bag", x + 26, y + 26, 14, FAINT, 1.2))
    if s["stage"] == rules.PLACING:
        parts.append(f'<rect x="{x + 70}" y="{y + 50}" width="136" height="136" rx="10" fill="#5c4a2a" opacity="0.25"/>')
        parts.append(_tile(int(s["drawn"]), 0, x + 73, y + 53, 1.3))
    return parts


def _seat(s: Any, seat: int, x: float, y: float) -> list[str]:
    """Draw one seat of the panel: its colour, its points, and a figure for every meeple in hand."""
    decides = s["stage"] != rules.FINISHED and int(s["turn"]) == seat
    best = s["stage"] == rules.FINISHED and s["points"][seat] == max(s["points"][: int(s["players"])])
    stroke = f'stroke="{GOLD if best else COLOURS[seat]}" stroke-width="{4 if decides or best else 0}"'
    parts = [
        f'<rect x="{x}" y="{y}" width="248" height="98" rx="12" fill="#fffaf0" {stroke}/>',
        f'<rect x="{x}" y="{y}" width="11" height="98" rx="5" fill="{COLOURS[seat]}"/>',
        write(f"player {seat}" + (" wins" if best else ""), x + 28, y + 35, 15, INK, 1.3),
        write(str(int(s["points"][seat])), x + 230, y + 43, 27, INK, 1.9, 1),
    ]
    for i in range(MEEPLES):
        in_hand = i < int(s["hand"][seat])
        art = meeple_art(COLOURS[seat])
        parts.append(f'<g transform="translate({x + 38 + 31 * i} {y + 72}) scale(0.88)" opacity="{1 if in_hand else 0.16}">{art}</g>')
    return parts


# For a terminal

_WIDTH, _HEIGHT = 6, 3  # the size of a cell in letters
_BENDS = {(1, 3): "─", (0, 2): "│", (0, 1): "╰", (1, 2): "╭", (2, 3): "╮", (0, 3): "╯"}


def ansi(states: Any, k: int, seat: int | None = None) -> str:
    """Draw the landscape in letters: # is a city, * a pennant, lines are roads, + is a cloister, and a digit is a meeple of that seat."""
    s = states[k]
    top, bottom, left, right = _bounds(s)
    shown = {cell: _letters(s, tile) for tile, (cell, _, _) in enumerate(laid_tiles(s))}
    for cell, rotations in legal_rotations(s).items():
        shown[cell] = [" ┌   ┐", f" {'r' + ''.join(map(str, rotations)):^5}", " └   ┘"]
    known = {divmod(cell, SIZE) for cell in shown}
    lines = [" " * 4 + "".join(f"{column - MIDDLE:^{_WIDTH}d}" for column in range(left, right + 1))]
    for row in range(top, bottom + 1):
        for i in range(_HEIGHT):
            label = f"{MIDDLE - row:>3} " if i == 1 else " " * 4
            letters = [shown[row * SIZE + column][i] if (row, column) in known else " " * _WIDTH for column in range(left, right + 1)]
            lines.append((label + "".join(letters)).rstrip())
    cell, tile_type, rotation = laid_tiles(s)[-1]
    seats = range(int(s["players"]))
    lines.append("   ".join(f"player {i}: {s['points'][i]} points, {s['hand'][i]} meeples" for i in seats))
    drawn = f" ({TYPES[int(s['drawn'])]})" if s["stage"] == rules.PLACING else ""
    lines.append(f"{_status(s)}{drawn}; last tile {tile_text(tile_type, cell, rotation)}; {s['n_left']} in the bag")
    return "\n".join(lines + _drawn_tile(s))


def _drawn_tile(s: Any) -> list[str]:
    """The tile to be placed, in every rotation in which it fits somewhere, each under the name of the rotation."""
    rotations = sorted({rotation for fitting in legal_rotations(s).values() for rotation in fitting})
    if not rotations:
        return []
    faces = [_face_letters(int(s["drawn"]) << 2 | rotation) for rotation in rotations]
    rows = ["   ".join("".join(face[row]) for face in faces) for row in range(_HEIGHT)]
    return ["", "   ".join(f"{f'r{rotation}':^5}" for rotation in rotations).rstrip(), *rows]


def _letters(s: Any, tile: int) -> list[str]:
    """Return one tile as three lines of six letters. The first letter of a line is a gap, which shows > beside the newest tile."""
    grid = _face_letters(int(s["tile_face"][tile]))
    if claims.has_meeple(s, tile):
        _put_meeple(s, tile, grid)
    newest = tile == int(s["n_tiles"]) - 1
    return [(">" if newest and i == 1 else " ") + "".join(row) for i, row in enumerate(grid)]


def _face_letters(face: int) -> list[list[str]]:
    """Return three rows of five letters for a face, which is a type of tile in one rotation."""
    grid = [["·"] * 5 for _ in range(3)]
    edges = [int(kind) for kind in EDGE[face]]
    rows_of = {0: [(0, 1), (0, 2), (0, 3)], 1: [(1, 4)], 2: [(2, 1), (2, 2), (2, 3)], 3: [(1, 0)]}
    corners = [(0, 0), (0, 4), (2, 4), (2, 0)]
    for edge, kind in enumerate(edges):
        if kind == CITY:
            for row, column in rows_of[edge]:
                grid[row][column] = "#"
    for corner, (row, column) in enumerate(corners):
        if FIELD_CORNER[face, corner] == NO_SEGMENT:
            grid[row][column] = "#"
    joined = any(list(CITY_AT[face]).count(city) > 1 for city in CITY_AT[face] if city != NO_SEGMENT)
    if joined:
        grid[1][1] = grid[1][2] = grid[1][3] = "#"
    for edge, place in enumerate(((0, 2), (1, 4), (2, 2), (1, 0))):
        if edges[edge] == ROAD:
            grid[place[0]][place[1]] = "│" if edge in (0, 2) else "─"
            if edge in (1, 3):
                grid[1][3 if edge == 1 else 1] = "─"
    grid[1][2] = _middle(face, edges, grid[1][2])
    if PENNANTS[face >> 2]:
        without_field = [place for place, segment in zip(corners, FIELD_CORNER[face], strict=True) if segment == NO_SEGMENT]
        row, column = without_field[0] if without_field else (1, 1)
        grid[row][column] = "*"
    return grid


def _middle(face: int, edges: list[int], otherwise: str) -> str:
    """Return the letter in the middle of a tile, which is `otherwise` unless roads or a cloister are there."""
    if CLOISTER[face >> 2]:
        return "+"
    roads = [edge for edge in range(4) if edges[edge] == ROAD]
    if not roads or len(TILES[face >> 2].roads) > 1:
        return "o" if roads else otherwise
    return _BENDS[tuple(roads)] if len(roads) == 2 else otherwise  # type: ignore[index]


def _put_meeple(s: Any, tile: int, grid: list[list[str]]) -> None:
    """Write the number of its seat where the meeple of a tile is."""
    seat, slot = divmod(int(s["tile_claim"][tile]), claims.N_SLOTS)
    places = {1: (0, 2), 2: (1, 4), 3: (2, 2), 4: (1, 0), 5: (0, 0), 6: (0, 4), 7: (2, 4), 8: (2, 0), 9: (1, 2)}
    row, column = places[slot]
    grid[row][column] = str(seat)
