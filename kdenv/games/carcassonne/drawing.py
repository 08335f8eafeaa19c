"""Draw a position of Carcassonne as a picture (svg) or in letters for a terminal (ansi). The state is only read.

Everything on the table is public, so every seat sees the same picture. art.py draws the tiles and meeples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kdenv.drawing import letters as lettering
from kdenv.drawing.letters import write
from kdenv.drawing.shapes import SEATS, box, disc, mark, moved
from kdenv.games.carcassonne import claims, rules
from kdenv.games.carcassonne.art import INK, anchor, meeple_art, tile_art
from kdenv.games.carcassonne.notation import TYPES, kind_word, tile_text
from kdenv.games.carcassonne.tables import CITY, CORNERS, EDGES, MEEPLES, ROAD, TILES
from kdenv.games.carcassonne.tiles import CITY_AT, CLOISTER, EDGE, FIELD_CORNER, FIT, MIDDLE, N_CELLS, NO_SEGMENT, PENNANTS, SIZE
from kdenv.games.carcassonne.told import meanings as meanings
from kdenv.games.carcassonne.told import told as told
from kdenv.games.carcassonne.told import told_chance as told_chance

SEAT_COLOURS = SEATS
TABLE, FRAME, GOLD, FAINT, PANEL, CARD, WORDS = "#e7dcc3", "#b9a57c", "#ffd84a", "#7d6a45", "#f6efdd", "#fffaf0", "#33291f"
DARK = {TABLE: "#2a2620", FRAME: "#5d5340", FAINT: "#b5a583", PANEL: "#35302a", CARD: "#423c33", WORDS: "#efe6d4"}
_TILE = 100
_PANEL = 300  # width of the panel beside the landscape
_TALL = 1100  # height of a picture beyond which the panel grows with it
_STRIP = 538  # width of the panel above a narrow landscape, before it is scaled
_DRAWN_ROW = 156  # height of the row in it that has the drawn tile
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


class _Frame(NamedTuple):
    """The picture: its left upper corner, its size, and the place and scale of the panel. The start tile has its corner at (0, 0)."""

    x: float
    y: float
    width: float
    height: float
    panel: tuple[float, float]
    scale: float


def svg(states: Any, k: int, seat: int | None = None, *, narrow: bool = False) -> str:
    """Draw the landscape with all meeples, and a panel with scores, meeples left and the tile to be placed."""
    s = states[k]
    x, y, wide, tall, panel, scale = _frame(s, narrow)
    drawing = "".join(
        [*_scales(s), *_landscape(s), *_legal_cells(s), *_meeples(s), *_claims(s), moved(*panel, "".join(_panel(s, narrow)), scale)]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{x:.0f} {y:.0f} {wide:.0f} {tall:.0f}" width="{wide * _SHOWN:.0f}" '
        f'height="{tall * _SHOWN:.0f}" stroke-linejoin="round"><title>Carcassonne, {_status(s)}</title>'
        f"<defs>{_definitions(s)}{lettering.definitions(drawing)}</defs>"
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{tall:.0f}" fill="{TABLE}"/>{drawing}</svg>'
    )


def _frame(s: Any, narrow: bool) -> _Frame:
    """Place the landscape, and the panel to the right of it, or above it in a narrow picture."""
    top, bottom, left, right = _bounds(s)
    x, y = _corner(top * SIZE + left)
    x, y, width, height = x - _MARGIN, y - _MARGIN, (right - left + 1) * _TILE + 2 * _MARGIN, (bottom - top + 1) * _TILE + 2 * _MARGIN
    if narrow:
        scale = width / _STRIP
        strip = _strip_height(s) * scale
        return _Frame(x, y - strip, width, height + strip, (x, y - strip), scale)
    tall = max(height, 250 + 112 * int(s["players"]) + 260)
    y, scale = y - (tall - height) / 2, max(1.0, tall / _TALL)
    return _Frame(x, y, width + _PANEL * scale, tall, (x + width, y), scale)


def _corner(cell: int) -> tuple[float, float]:
    """Return the left upper corner of a cell."""
    return float((cell % SIZE - MIDDLE) * _TILE), float((cell // SIZE - MIDDLE) * _TILE)


def targets(states: Any, k: int, actions: Sequence[int], seat: int | None = None, *, narrow: bool = False) -> dict[int, list[str]]:
    """Return the outlines to click for each action.

    A placement is a cell; its rotation is seen by its ghost. A claim is the place of the meeple, and claiming nothing is the panel of the
    seat.
    """
    s = states[k]
    found = {}
    for action in actions:
        slot = action - claims.CLAIM
        if slot < 0:
            found[action] = [box(*_corner(action >> 2), _TILE, _TILE)]
        elif slot == claims.NO_MEEPLE:
            (x, y), scale = _frame(s, narrow).panel, _frame(s, narrow).scale
            at_x, at_y = _place_of_seat(int(s["turn"]), narrow)
            found[action] = [box(x + at_x * scale, y + at_y * scale, 248 * scale, 98 * scale)]
        else:
            tile = int(s["n_tiles"]) - 1
            (x, y), (dx, dy) = _corner(int(s["tile_cell"][tile])), _spot(s, tile, slot)
            found[action] = [disc(x + dx, y + dy, 15)]
    return found


def turn_targets(states: Any, k: int, actions: Sequence[int], seat: int | None = None, *, narrow: bool = False) -> list[str]:
    """Return the cell of a placement, and the place of the meeple that is put on the tile then."""
    after, found = states[k : k + 1].copy(), list[str]()
    for action in actions:
        if action != claims.CLAIM:
            found += targets(after, 0, [action], seat, narrow=narrow)[action]
        if action < claims.CLAIM:
            rules.apply(after[0], action)
    return found


def ghosts(states: Any, k: int, actions: Sequence[int], seat: int | None = None) -> dict[int, str]:
    """Return the drawn tile as each placement would lay it."""
    drawn = int(states[k]["drawn"])
    places = {action: _corner(action >> 2) for action in actions if action < claims.CLAIM}
    return {
        action: f'<use href="#{_name(drawn, 0)}" transform="translate({x:g} {y:g}) rotate({90 * (action & 3)} 50 50)"/>'
        for action, (x, y) in places.items()
    }


def buttons(states: Any, k: int, actions: Sequence[int], seat: int | None = None) -> dict[int, str]:
    """Return the words on the button of the action that has no place."""
    return {claims.CLAIM: "no meeple"} if claims.CLAIM in actions else {}


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


def _scales(s: Any) -> list[str]:
    """Write beside every column and row how far east or north of the start tile it is."""
    top, bottom, left, right = _bounds(s)
    x, y = _corner(top * SIZE + left)
    return [
        write(_signed(column - MIDDLE), (column - MIDDLE) * _TILE + 50, y - 14, 14, FAINT, 1.2, 0.5) for column in range(left, right + 1)
    ] + [write(_signed(MIDDLE - row), x - 12, (row - MIDDLE) * _TILE + 56, 14, FAINT, 1.2, 1) for row in range(top, bottom + 1)]


def _signed(n: int) -> str:
    return f"{n:+d}" if n else "0"


def _landscape(s: Any) -> list[str]:
    """Draw all tiles with their shadows, and a frame around the newest."""
    tiles = laid_tiles(s)
    shadow = '<rect x="{:g}" y="{:g}" width="100" height="100" rx="4" fill="#5c4a2a" fill-opacity="0.35"/>'
    frame = (
        '<rect x="{:g}" y="{:g}" width="100" height="100" rx="2.5" fill="none" stroke="#3d4a22" stroke-opacity="0.38" stroke-width="1.2"/>'
    )
    parts = [shadow.format(x + 4, y + 5) for x, y in (_corner(cell) for cell, _, _ in tiles)]
    for cell, tile_type, rotation in tiles:
        x, y = _corner(cell)
        parts.append(_tile(tile_type, rotation, x, y))
        parts.append(frame.format(x, y))
    x, y = _corner(tiles[-1][0])
    return [*parts, mark([box(x + 1, y + 1, 98, 98)])]


def _legal_cells(s: Any) -> list[str]:
    """Mark the cells where the drawn tile fits. A triangle for each rotation points to where the northern edge of the tile would lie."""
    parts = []
    colour = SEAT_COLOURS[int(s["turn"])]
    for cell, rotations in legal_rotations(s).items():
        x, y = _corner(cell)
        parts.append(
            f'<rect x="{x + 7:g}" y="{y + 7:g}" width="86" height="86" rx="9" fill="#fffaf0" fill-opacity="0.6" '
            f'stroke="{colour}" stroke-width="2.6" stroke-dasharray="7 5"/>'
        )
        arrow = f'<path d="M50,20 L60,36 H40 Z" fill="{colour}" opacity="0.85" transform="translate({x:g} {y:g})'
        parts += [f'{arrow} rotate({90 * rotation} 50 50)"/>' for rotation in rotations]
    return parts


def _place_of(slot: int) -> str:
    is_corner = claims.FIRST_CORNER <= slot < claims.ON_CLOISTER
    return CORNERS[slot - claims.FIRST_CORNER] if is_corner else EDGES[(slot - claims.FIRST_EDGE) % 4]


def _spot(s: Any, tile: int, slot: int) -> tuple[float, float]:
    """Return where on its tile a meeple is drawn."""
    face = int(s["tile_face"][tile])
    return anchor(face >> 2, face & 3, kind_word(s, tile, slot), _place_of(slot))


def _meeples(s: Any) -> list[str]:
    """Draw all meeples: they stand, but lie in fields."""
    parts = []
    for tile, slot, owner in meeples_out(s):
        x, y = _corner(int(s["tile_cell"][tile]))
        dx, dy = _spot(s, tile, slot)
        art = meeple_art(SEAT_COLOURS[owner], kind_word(s, tile, slot) == "field")
        parts.append(f'<g transform="translate({x + dx:.1f} {y + dy:.1f})">{art}</g>')
    return parts


def _claims(s: Any) -> list[str]:
    """Draw rings where a meeple may be put, while a claim is to be decided."""
    if s["stage"] != rules.CLAIMING:
        return []
    tile = int(s["n_tiles"]) - 1
    x, y = _corner(int(s["tile_cell"][tile]))
    colour = SEAT_COLOURS[int(s["turn"])]
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


def _place_of_seat(seat: int, narrow: bool) -> tuple[float, float]:
    """Return where in the panel a seat is drawn."""
    return (14 + 262 * (seat % 2), _DRAWN_ROW + 112 * (seat // 2)) if narrow else (14, 118 + 112 * seat)


def _strip_height(s: Any) -> float:
    """The height of the panel of a narrow picture."""
    return _DRAWN_ROW + 112 * ((int(s["players"]) + 1) // 2) + 10


def _panel(s: Any, narrow: bool) -> list[str]:
    """Draw the panel: scores, meeples in hand, the stage, and the tile to be placed."""
    placing, players = s["stage"] == rules.PLACING, int(s["players"])
    width, tall, top = float(_PANEL - 24), 138.0 + 112 * players + (170 if placing else 0), 22
    words, bag, at = (26, 66), (26, 144 + 112 * players), (73, 171 + 112 * players)
    if narrow:
        width, tall, top = _STRIP, _strip_height(s), 0
        words, bag, at = (164, 56), (164, 112), (16, 12)
    room = width - words[0] - 26
    return [
        f'<rect y="{top}" width="{width:g}" height="{tall:g}" rx="16" fill="{PANEL}" stroke="{FRAME}" stroke-width="2"/>',
        write("carcassonne", *words, 24, WORDS, 1.7),
        lettering.fitted(_status(s), words[0], words[1] + 30, 14, room, FAINT, 1.2),
        *(part for seat in range(players) for part in _seat(s, seat, *_place_of_seat(seat, narrow))),
        write(f"{int(s['n_left'])} tiles in the bag", *bag, 14, FAINT, 1.2),
        f'<rect x="{at[0] - 3}" y="{at[1] - 3}" width="136" height="136" rx="10" fill="#5c4a2a" opacity="0.25"/>' if placing else "",
        _tile(int(s["drawn"]), 0, *at, 1.3) if placing else "",
    ]


def _seat(s: Any, seat: int, x: float, y: float) -> list[str]:
    """Draw one seat of the panel: its colour, its points, and a figure for every meeple in hand."""
    decides = s["stage"] != rules.FINISHED and int(s["turn"]) == seat
    best = s["stage"] == rules.FINISHED and s["points"][seat] == max(s["points"][: int(s["players"])])
    stroke = f'stroke="{GOLD if best else SEAT_COLOURS[seat]}" stroke-width="{4 if decides or best else 0}"'
    parts = [
        f'<rect x="{x}" y="{y}" width="248" height="98" rx="12" fill="{CARD}" {stroke}/>',
        f'<rect x="{x}" y="{y}" width="11" height="98" rx="5" fill="{SEAT_COLOURS[seat]}"/>',
        write(f"player {seat}" + (" wins" if best else ""), x + 28, y + 35, 15, WORDS, 1.3),
        write(str(int(s["points"][seat])), x + 230, y + 43, 27, WORDS, 1.9, 1),
    ]
    for i in range(MEEPLES):
        in_hand = i < int(s["hand"][seat])
        art = meeple_art(SEAT_COLOURS[seat])
        parts.append(f'<g transform="translate({x + 38 + 31 * i} {y + 72}) scale(0.88)" opacity="{1 if in_hand else 0.16}">{art}</g>')
    return parts


# For a terminal

_WIDTH, _HEIGHT = 6, 3  # the size of a cell in letters
_LEGEND = (
    "# city, * pennant, ─ road, o crossing, + cloister, · field; 0 to 4: a meeple of this player; > newest tile",
    "place H+0+1r1: tile H, 0 cells east and 1 north of the start tile, turned as in the picture r1",
)
_BENDS = {(1, 3): "─", (0, 2): "│", (0, 1): "╰", (1, 2): "╭", (2, 3): "╮", (0, 3): "╯"}


def ansi(states: Any, k: int, seat: int | None = None) -> str:
    """Draw the landscape in letters, which the last lines explain."""
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
    return "\n".join([*lines, *_drawn_tile(s), "", *_LEGEND])


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
