"""Positions of Kingdomino as pictures: `ansi` for a terminal, and `svg`, which needs no fonts.

The table is open, so every seat sees the same picture. scene.py has the contents of a picture. The shapes are in terrain_art.py, the
letters in kdenv/drawing/letters.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kdenv.core.protocols import LastTurn
from kdenv.drawing import letters as lettering
from kdenv.drawing.letters import write
from kdenv.drawing.shapes import box, mark, moved, rectangle
from kdenv.games.kingdomino import placements, rules
from kdenv.games.kingdomino.notation import halves, square_name
from kdenv.games.kingdomino.scene import Kingdom, kingdoms_of, last_change, mover, n_in_box, round_text, waiting
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, TERRAIN_A, TERRAIN_B, TERRAINS
from kdenv.games.kingdomino.terminal import ansi
from kdenv.games.kingdomino.terrain_art import GOLD, HINT, INK, LINE, MUTED, PANEL, PAPER, PLAYERS, TEXT, TILE, definitions
from kdenv.games.kingdomino.told import meanings, told, told_chance

__all__ = ["DARK", "SEAT_COLOURS", "ansi", "buttons", "ghosts", "meanings", "svg", "targets", "told", "told_chance"]

SEAT_COLOURS = tuple(colour for colour, _ in PLAYERS)
DARK = {PAPER: "#24222a", PANEL: "#322f39", LINE: "#4b4755", HINT: "#3b3743", TEXT: "#ece6f2", MUTED: "#a9a1b0"}

# Every part is drawn with its left upper corner at (0, 0) and then moved to its place.
_KINGDOM_W, _KINGDOM_H = 440, 524
_LAND_X, _LAND_Y, _LAND = 46, 72, 376  # the square in a kingdom's panel where its land lies
_HALF = 58  # the side of half a domino in the draft
_ROW_W, _ROW_H = 162, 76  # the width of a domino in the draft with its number; the height from one domino to the next
_SECTION_H = 30 + 4 * _ROW_H  # the height of a draft with its heading
_CROWN_H = 62  # the height of the crown above the result
_QUEUE, _DRAFT = "queue", "draft"
_HEAD_H = 148  # the height above the drafts, for the name of the game and the round
_UPRIGHT = 1.22  # the scale of the drafts where one stands below the other
_NARROW_MARGIN, _NARROW_HEAD = 10, 26  # of a narrow picture
_NARROW, _WIDE = 246, 390  # the width of the table if the drafts stand one below the other, and if they stand side by side

# By number of players: left and top of the kingdoms; left, top, width and height of the table.
_MARGIN, _GAP = 28, 22
_RIGHT, _BELOW = _MARGIN + _KINGDOM_W + _GAP, _MARGIN + _KINGDOM_H + _GAP
_ACROSS_2, _ACROSS_4 = _RIGHT + _WIDE + _GAP, _RIGHT + _NARROW + _GAP
_LAYOUTS = {
    2: (((_MARGIN, _MARGIN), (_ACROSS_2, _MARGIN)), (_RIGHT, _MARGIN, _WIDE, _KINGDOM_H)),
    3: (((_MARGIN, _MARGIN), (_RIGHT, _MARGIN), (_MARGIN, _BELOW)), (_RIGHT, _BELOW, _KINGDOM_W, _KINGDOM_H)),
    4: (
        ((_MARGIN, _MARGIN), (_ACROSS_4, _MARGIN), (_MARGIN, _BELOW), (_ACROSS_4, _BELOW)),
        (_RIGHT, _MARGIN, _NARROW, 2 * _KINGDOM_H + _GAP),
    ),
}


class _Layout(NamedTuple):
    """The places of a picture: of each kingdom its left, top and scale; left, top, width and height of the table; and the whole size."""

    kingdoms: list[tuple[float, float, float]]
    table: tuple[float, float, float, float]
    width: float
    height: float
    head: float  # the height above the drafts


def _layout(players: int, seat: int | None, narrow: bool) -> _Layout:
    """Place everything. In a narrow picture the kingdom of the observer is the first, the drafts are below it, and the others are small."""
    if not narrow:
        corners, (x, y, width, height) = _LAYOUTS[players]
        across = max(x + width, *(left + _KINGDOM_W for left, _ in corners)) + _MARGIN
        return _Layout([(left, top, 1.0) for left, top in corners], (x, y, width, height), across, y + height + _MARGIN, _HEAD_H)
    first, small = max(0, seat or 0), (_KINGDOM_W - _GAP) / 2 / _KINGDOM_W
    table = (_NARROW_MARGIN, _NARROW_MARGIN + _KINGDOM_H, float(_KINGDOM_W), _NARROW_HEAD + 14.0 + _SECTION_H)
    below, places = table[1] + table[3], {first: (float(_NARROW_MARGIN), float(_NARROW_MARGIN), 1.0)}
    for i in range(players - 1):
        left, top = _NARROW_MARGIN + i % 2 * (_KINGDOM_W + _GAP) / 2, below + i // 2 * (_KINGDOM_H * small + _GAP)
        places[(first + 1 + i) % players] = float(left), top, small
    below += (players // 2) * (_KINGDOM_H * small + _GAP)
    return _Layout([places[of] for of in range(players)], table, 2 * _NARROW_MARGIN + _KINGDOM_W, below, _NARROW_HEAD)


def svg(states: Any, k: int, seat: int | None = None, last: LastTurn | None = None, *, narrow: bool = False) -> str:
    """Draw the position as SVG, with frames around the domino placed last and the one picked after it. Every seat sees the same."""
    s = states[k]
    kingdoms = kingdoms_of(states, k)
    layout = _layout(len(kingdoms), seat, narrow)
    cell = _cell(kingdoms)
    parts = [moved(x, y, _kingdom(s, kingdom, cell), scale) for kingdom, (x, y, scale) in zip(kingdoms, layout.kingdoms, strict=True)]
    parts.append(moved(*layout.table[:2], _table(s, kingdoms, layout)))
    parts.append(mark(_changed(s, kingdoms, last, layout)) if last else "")
    return lettering.picture(f"Kingdomino, {round_text(s)}", layout.width, layout.height, PAPER, "".join(parts), definitions())


def targets(states: Any, k: int, actions: Sequence[int], seat: int | None = None, *, narrow: bool = False) -> dict[int, list[str]]:
    """Return the outlines to click for each action: the squares of both halves, a domino to pick, or the domino to discard."""
    s, kingdoms = states[k], kingdoms_of(states, k)
    size = int(s["size"])
    discard = int(placements.discard_action(size))
    layout = _layout(len(kingdoms), seat, narrow)
    found = {}
    for action in actions:
        if action < discard:
            x1, y1, x2, y2 = halves(action, size)
            found[action] = [_squares(kingdoms, layout, mover(s), [at]) for at in ((x1, y1), (x2, y2))]
        elif action == discard:
            found[action] = [_slot(layout, _QUEUE, int(s["turn"]))]
        else:
            found[action] = [_slot(layout, _DRAFT, action - discard - 1)]
    return found


def ghosts(states: Any, k: int, actions: Sequence[int], seat: int | None = None, *, narrow: bool = False) -> dict[int, str]:
    """Return the domino to be placed as each placement would lay it."""
    s = states[k]
    if s["stage"] != rules.PLACING:
        return {}
    kingdoms, size, number = kingdoms_of(states, k), int(s["size"]), int(s["queue"][int(s["turn"])])
    (x, y, scale), cell = _layout(len(kingdoms), seat, narrow).kingdoms[mover(s)], _cell(kingdoms)
    origin_x, origin_y = _origin(kingdoms[mover(s)], cell)
    found = {}
    for action in actions:
        if action < placements.discard_action(size):
            x1, y1, x2, y2 = halves(action, size)
            land = _square(int(TERRAIN_A[number]), int(CROWNS_A[number]), TILE * x1, TILE * y1, number % 2)
            land += _square(int(TERRAIN_B[number]), int(CROWNS_B[number]), TILE * x2, TILE * y2, 1 - number % 2)
            found[action] = moved(x + origin_x * scale, y + origin_y * scale, land, scale * cell / TILE)
    return found


def buttons(states: Any, k: int, actions: Sequence[int], seat: int | None = None) -> dict[int, str]:
    """Return the words on the button that discards the domino."""
    discard = int(placements.discard_action(int(states[k]["size"])))
    return {discard: "discard the domino"} if discard in actions else {}


def _changed(s: Any, kingdoms: list[Kingdom], last: LastTurn, layout: _Layout) -> list[str]:
    """The outlines of the domino that a seat has placed, unless it was discarded, and of the one that it has picked after that."""
    change = last_change(last, int(s["size"]))
    outlines = [_squares(kingdoms, layout, last.seat, change.squares)] if change.squares else []
    if change.slot is not None:  # a full draft becomes the queue
        outlines.append(_slot(layout, _DRAFT if s["draft_king"][change.slot] == last.seat else _QUEUE, change.slot))
    return outlines


def _squares(kingdoms: list[Kingdom], layout: _Layout, seat: int, places: list[tuple[int, int]]) -> str:
    """The outline of one square of a kingdom, or of two that lie side by side."""
    cell, (x, y, scale) = _cell(kingdoms), layout.kingdoms[seat]
    origin_x, origin_y = _origin(kingdoms[seat], cell)
    columns, rows = sorted(column for column, _ in places), sorted(row for _, row in places)
    wide, tall = (columns[-1] - columns[0] + 1) * cell, (rows[-1] - rows[0] + 1) * cell
    return box(x + (origin_x + columns[0] * cell) * scale, y + (origin_y + rows[0] * cell) * scale, wide * scale, tall * scale)


def _slot(layout: _Layout, which: str, row: int) -> str:
    """The outline of a domino that is to be placed or picked."""
    x, y, *_ = layout.table
    queue, draft, scale = _places_of_dominoes(layout)
    left, top = queue if which == _QUEUE else draft
    return box(x + left + (_ROW_W - 2 * _HALF) * scale, y + top + _row_y(row) * scale, 2 * _HALF * scale, _HALF * scale)


def _cell(kingdoms: list[Kingdom]) -> float:
    """The side of a square of land."""
    return _LAND / max(max(len(kingdom.columns), len(kingdom.rows)) for kingdom in kingdoms)


def _origin(kingdom: Kingdom, cell: float) -> tuple[float, float]:
    """The left upper corner of the castle in the panel of its kingdom."""
    columns, rows = kingdom.columns, kingdom.rows
    x = _LAND_X + _LAND / 2 - (columns[0] + columns[-1] + 1) / 2 * cell
    return x, _LAND_Y + _LAND / 2 - (rows[0] + rows[-1] + 1) / 2 * cell


def _places_of_dominoes(layout: _Layout) -> tuple[tuple[float, float], tuple[float, float], float]:
    """The places of the queue and the draft on the table, and their scale."""
    _, _, width, _ = layout.table
    if width > _NARROW:
        return (width / 4 - _ROW_W / 2, layout.head + 14), (width * 3 / 4 - _ROW_W / 2, layout.head + 14), 1.0
    left = (width - _ROW_W * _UPRIGHT) / 2
    return (left, layout.head + 24), (left, layout.head + 24 + _SECTION_H * _UPRIGHT + 24), _UPRIGHT


def _use(name: str, x: float, y: float, fill: str = "") -> str:
    return f'<use href="#k-{name}" x="{x:g}" y="{y:g}"' + (f' fill="{fill}"/>' if fill else "/>")


def _king(seat: int, x: float, y: float, scale: float = 1) -> str:
    """A king standing on (x, y), with the number of its seat."""
    colour, on_colour = PLAYERS[seat]
    king = _use("king", 0, 0, colour) + write(str(seat), 0, -4.5, 9, on_colour, 2, 0.5)
    return f'<g class="king seat-{seat}">{moved(x, y, king, scale)}</g>'


def _square(terrain: int, crowns: int, x: int, y: int, lively: int) -> str:
    """A square of land with its crowns on a dark plaque in the left upper corner."""
    square = _use(f"{terrain}-{lively}", x, y)
    if crowns:
        square += rectangle(x + 4, y + 4, 19 * crowns + 2, 18, f'fill="{INK}" fill-opacity=".75"', 7)
    return square + "".join(_use("crown", x + 14.5 + 19 * i, y + 13) for i in range(crowns))


def _kingdom(s: Any, kingdom: Kingdom, cell: float) -> str:
    """The panel of one seat: its number, its task, its points, its land."""
    colour, on_colour = PLAYERS[kingdom.seat]
    over = s["stage"] == rules.FINISHED
    band, ink = (LINE, TEXT) if not kingdom.task else (GOLD, INK) if over else (colour, on_colour)
    role = "" if not kingdom.task else " winner" if over else " to-move"
    points = str(kingdom.points)
    parts = [
        f"<title>player {kingdom.seat}: {points} points</title>",
        rectangle(0, 0, _KINGDOM_W, _KINGDOM_H, f'fill="{PANEL}" stroke="{band}" stroke-width="{5 if kingdom.task else 2}"', 16),
        f'<path d="M0 16a16 16 0 0 1 16-16H{_KINGDOM_W - 16}a16 16 0 0 1 16 16V54H0z" fill="{band}"/>',
        f'<circle cx="33" cy="28" r="25" fill="{PANEL}"/>',
        _king(kingdom.seat, 33, 47, 0.98),
        write(f"player {kingdom.seat}", 68, 33, 15, ink, 1.6),
        write(points, _KINGDOM_W - 20, 38, 22, ink, 1.9, 1),
    ]
    if kingdom.task:
        parts.append(rectangle(164, 13, lettering.width_of(kingdom.task, 12.5) + 24, 28, f'fill="{PANEL}"', 14))
        parts.append(write(kingdom.task, 176, 32, 12.5, TEXT, 1.6))
    x = _KINGDOM_W - 36 - lettering.width_of(points, 22)
    for i, bonus in enumerate(kingdom.bonuses):
        parts.append(write(bonus, x, (24 if len(kingdom.bonuses) == 2 else 31) + 16 * i, 9.5, ink, 1.5, 1))
    land = _land(kingdom, int(s["size"]), cell)
    return f'<g class="kingdom seat-{kingdom.seat}{role}">{"".join(parts)}{land}{_area_points(kingdom)}</g>'


def _land(kingdom: Kingdom, size: int, cell: float) -> str:
    """The squares of a kingdom, hints on the free squares in view, and the names of columns and rows at the edges."""
    columns, rows, squares = kingdom.columns, kingdom.rows, kingdom.squares
    taken = {*squares, (0, 0)}
    free = [(x, y) for y in rows for x in columns if (x, y) not in taken]
    hint = "".join(f"M{TILE * x + 9} {TILE * y + 9}h46v46h-46z" for x, y in free)
    parts = [f'<path class="free" d="{hint}" fill="{HINT}" stroke="{HINT}" stroke-width="10"/>'] if free else []
    parts.append(_use("castle", 0, 0, PLAYERS[kingdom.seat][0]))
    for (x, y), (terrain, crowns) in sorted(squares.items()):
        lively = int((5 * x + 3 * y + terrain) % 4 == 0)
        parts.append(_square(terrain, crowns, TILE * x, TILE * y, lively))
    parts.append(_borders(kingdom))
    origin_x, origin_y = _origin(kingdom, cell)
    land = ['<g class="land">', moved(origin_x, origin_y, "".join(parts), cell / TILE), "</g>"]
    left, bottom = origin_x + columns[0] * cell - 14, origin_y + (rows[-1] + 1) * cell + 19
    land += [_edge(square_name(x, 0, size)[0], origin_x + (x + 0.5) * cell, bottom) for x in columns]
    land += [_edge(square_name(0, y, size)[1:], left, origin_y + (y + 0.5) * cell + 4.5) for y in rows]
    return "".join(land)


def _edge(name: str, x: float, y: float) -> str:
    return write(name, x, y, 9.5, MUTED, 1.5, 0.5)


def _borders(kingdom: Kingdom) -> str:
    """The lines around the kingdom, those between different terrains, and faint ones within an area."""
    kinds: dict[tuple[int, int], int] = {at: terrain for at, (terrain, _) in kingdom.squares.items()} | {(0, 0): -1}
    outer: list[str] = []
    between: list[str] = []
    within: list[str] = []
    for x, y in sorted(kinds):
        for to_x, to_y, line in ((x + 1, y, f"M{TILE * (x + 1)} {TILE * y}v{TILE}"), (x, y + 1, f"M{TILE * x} {TILE * (y + 1)}h{TILE}")):
            other = kinds.get((to_x, to_y))
            (outer if other is None else between if other != kinds[x, y] else within).append(line)
        for to_x, to_y, line in ((x - 1, y, f"M{TILE * x} {TILE * y}v{TILE}"), (x, y - 1, f"M{TILE * x} {TILE * y}h{TILE}")):
            if (to_x, to_y) not in kinds:
                outer.append(line)
    return (
        f'<g fill="none"><path d="{"".join(within)}" stroke="#fff" stroke-opacity=".3" stroke-width="1.5"/>'
        f'<path d="{"".join(between)}" stroke="{PANEL}" stroke-width="4"/><path d="{"".join(outer)}" stroke="{INK}" stroke-width="4"/></g>'
    )


def _area_points(kingdom: Kingdom) -> str:
    """The points of each terrain, below the land."""
    frame = f'<path d="M0 0h64v64H0z" fill="none" stroke="{INK}" stroke-width="4"/>'
    parts = []
    x = 24.0
    for terrain, points in enumerate(kingdom.areas):
        if points:
            square = moved(x, _KINGDOM_H - 37, _use(f"{terrain}-0", 0, 0) + frame, 0.375)
            text = write(str(points), x + 31, _KINGDOM_H - 19, 11, TEXT, 1.6)
            parts.append(f"<g><title>{TERRAINS[terrain]}: {points}</title>{square}{text}</g>")
            x += 46 + lettering.width_of(str(points), 11)
    return "".join(parts)


def _table(s: Any, kingdoms: list[Kingdom], layout: _Layout) -> str:
    """The middle of the table: the round, the number of dominoes in the box, the queue and the draft, or the result."""
    over = s["stage"] == rules.FINISHED
    _, _, width, height = layout.table
    box_text, round_name = f"{n_in_box(s)} dominoes in the box", "the end" if over else round_text(s)
    if layout.head == _HEAD_H:
        parts = [
            write("kingdomino", width / 2, 48, 24, TEXT, 2.1, 0.5),
            write(round_name, width / 2, 82, 13, TEXT, 1.6, 0.5),
            _rounds(s, width / 2, 102),
            write(box_text, width / 2, 132, 10, MUTED, 1.6, 0.5),
        ]
    else:
        parts = [write(f"{round_name} - {box_text}", width / 2, 22, 12, TEXT, 1.6, 0.5)]
    queue, draft, scale = _places_of_dominoes(layout)
    if over:
        left = (width - _ROW_W * scale) / 2
        result_h = (_row_y(len(kingdoms)) + _CROWN_H) * scale
        parts.append(moved(left, layout.head + (height - layout.head - result_h) / 2, _result(kingdoms), scale))
    else:
        parts += [moved(*queue, _queue(s), scale), moved(*draft, _draft(s), scale)]
    return f'<g class="table">{"".join(parts)}</g>'


def _rounds(s: Any, x: float, y: float) -> str:
    """A dot per round. Those of rounds that have begun are golden."""
    n = int(s["n_drafts"])
    step = min(16, 220 / n)
    dots = []
    for i in range(n):
        begun = i < s["round"]
        dots.append(f'<circle cx="{x + (i - (n - 1) / 2) * step:.4g}" cy="{y}" r="{step * 0.3:.3g}" fill="{GOLD if begun else LINE}"/>')
    return "".join(dots)


def _queue(s: Any) -> str:
    """The dominoes of the round before, which are placed in this round; in the first round, the kings that wait to pick."""
    parts = []
    if s["round"] == 0:
        parts.append(write("waiting", _ROW_W / 2, 14, 12, TEXT, 1.6, 0.5))
        for i, seat in enumerate(waiting(s)):
            moves = i == 0 and s["stage"] == rules.PICKING
            y = _row_y(i)
            parts.append((_halo(seat, y) if moves else "") + _king(seat, _ROW_W / 2, y + _HALF - 5, 1.12))
        return "".join(parts)
    parts.append(write("to place", _ROW_W - _HALF, 14, 12, TEXT, 1.6, 0.5))
    for i in range(int(s["kings"])):
        y = _row_y(i)
        seat = int(s["queue_king"][i])
        moves = i == s["turn"] and s["stage"] != rules.DRAWING
        placed = i < s["turn"] or (moves and s["stage"] == rules.PICKING)
        if moves:
            parts.append(_halo(seat, y))
        parts.append(_empty_slot(y) if placed else _domino(int(s["queue"][i]), y))
        if i >= s["turn"]:
            parts.append(_standing(seat, y))
    return "".join(parts)


def _draft(s: Any) -> str:
    """The dominoes to pick from, and the kings that stand on those that are taken."""
    picks = s["stage"] == rules.PICKING
    parts = [write("to pick", _ROW_W - _HALF, 14, 12, TEXT, 1.6, 0.5)]
    for i in range(int(s["kings"])):
        y, domino, seat = _row_y(i), int(s["draft"][i]), int(s["draft_king"][i])
        if domino == rules.NO_DOMINO:
            parts.append(_empty_slot(y))
            continue
        parts.append(_domino(domino, y))
        if seat != rules.NOBODY:
            parts.append(_standing(seat, y))
        elif picks:
            colour = PLAYERS[mover(s)][0]
            dots = f'fill="none" stroke="{colour}" stroke-width="3.5" stroke-dasharray="0 7"'
            parts.append(rectangle(_ROW_W - 2 * _HALF - 5, y - 5, 2 * _HALF + 10, _HALF + 10, dots, 13))
    return "".join(parts)


def _row_y(i: int) -> int:
    return 30 + i * _ROW_H


def _halo(seat: int, y: float) -> str:
    """The mark of the king whose turn it is."""
    return rectangle(-8, y - 8, _ROW_W + 16, _HALF + 16, f'class="turn" fill="{PANEL}" stroke="{PLAYERS[seat][0]}" stroke-width="4"', 16)


def _standing(seat: int, y: float) -> str:
    return _king(seat, _ROW_W - _HALF, y + _HALF - 5, 1.12)


def _empty_slot(y: float) -> str:
    dashes = f'fill="none" stroke="{LINE}" stroke-width="3" stroke-dasharray="2 8"'
    return rectangle(_ROW_W - 2 * _HALF + 1, y + 1, 2 * _HALF - 2, _HALF - 2, dashes)


def _domino(number: int, y: float) -> str:
    """A domino with its number to the left of it."""
    first = _square(int(TERRAIN_A[number]), int(CROWNS_A[number]), 0, 0, number % 2)
    second = _square(int(TERRAIN_B[number]), int(CROWNS_B[number]), TILE, 0, 1 - number % 2)
    frame = rectangle(0, 0, 2 * TILE, TILE, f'fill="none" stroke="{INK}" stroke-width="3.5"', 9)
    domino = moved(_ROW_W - 2 * _HALF, y, f'<g clip-path="url(#k-domino)">{first}{second}</g>{frame}', _HALF / TILE)
    return write(str(number), _ROW_W - 2 * _HALF - 10, y + _HALF / 2 + 6.5, 13, TEXT, 1.7, 1) + domino


def _result(kingdoms: list[Kingdom]) -> str:
    """The place of every seat, the best first."""
    parts = [moved(_ROW_W / 2, 36, _use("crown", 0, 0), 4.5)]
    for i, kingdom in enumerate(sorted(kingdoms, key=lambda kingdom: kingdom.place)):
        y = _row_y(i) + _CROWN_H
        if kingdom.place == 1:
            parts.append(rectangle(-14, y - 6, _ROW_W + 28, _HALF + 12, f'fill="{PANEL}" stroke="{GOLD}" stroke-width="4"', 16))
        parts.append(write(str(kingdom.place), 4, y + 38, 16, MUTED, 1.7))
        parts.append(_king(kingdom.seat, 62, y + _HALF - 6, 1.2))
        parts.append(write(str(kingdom.points), _ROW_W, y + 40, 22, TEXT, 1.9, 1))
    return "".join(parts)
