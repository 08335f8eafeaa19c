"""Draw positions of dominoes: `ansi` for a terminal, and `svg`, which needs no fonts.

The observer sits below and the next seat to its right, as at a table where play goes round against the clock. A picture
for a seat shows the tiles of the others face down, and the suits that they have shown to lack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kdenv.drawing.letters import definitions, write
from kdenv.drawing.shapes import SEATS, box, disc, moved
from kdenv.games.dominoes import rules
from kdenv.games.dominoes.line_layout import REACH, Half, Placed, lay_out, line_of
from kdenv.games.dominoes.notation import tiles_in
from kdenv.games.dominoes.tables import ALL_TILES, CALL, PASS, PUERTO_RICO, SUITS, TILES
from kdenv.games.dominoes.told import told as told
from kdenv.games.dominoes.told import told_chance as told_chance

_PER_ROW = 12  # tiles in a row of the terminal


def _is_open(s: Any, looker: int | None, seat: int) -> bool:
    """Return whether the picture shows this hand face up. A looker of None sees all hands."""
    return looker is None or looker == seat or s["stage"] == rules.FINISHED


def _n_tiles(hand: Any) -> int:
    return (int(hand) & int(ALL_TILES)).bit_count()


def _lacks(s: Any, seat: int) -> list[int]:
    return [suit for suit in range(SUITS) if int(s["lacks"][seat]) >> suit & 1]


def _winners(s: Any) -> list[int]:
    """Return the seats that have won; none before the end or after a tie."""
    ours, theirs = (int(points) for points in s["points"])
    if s["stage"] != rules.FINISHED or ours == theirs:
        return []
    winner = int((ours < theirs) == (s["rules"] == PUERTO_RICO))
    return [winner, winner + 2]


# For a terminal


def ansi(states: Any, k: int, seat: int | None = None) -> str:
    """Draw the position as text with tiles such as [3|5], as this seat sees it (None sees all). Every second row of the line goes back."""
    s = states[k]
    limit = f"{rules.target(s)} {'win' if s['rules'] == PUERTO_RICO else 'lose'}"
    lines = [f"round {int(s['n_rounds']) + 1}   players 0+2: {s['points'][0]} points   players 1+3: {s['points'][1]} points   ({limit})"]
    lines += [_hand_line(s, seat, other) for other in range(4)]
    lines += ["", *_line_rows(s), "", _last_line(s)]
    return "\n".join(lines)


def _hand_line(s: Any, looker: int | None, seat: int) -> str:
    hand = s["hands"][seat]
    if _is_open(s, looker, seat):
        shown = " ".join(f"[{TILES[tile][0]}|{TILES[tile][1]}]" for tile in tiles_in(hand))
    else:
        shown = " ".join(["[ : ]"] * _n_tiles(hand))
    mark = ">" if s["stage"] == rules.PLAYING and s["turn"] == seat else "*" if seat in _winners(s) else " "
    lacks = _lacks(s, seat)
    return f"{mark} player {seat}  {shown:<42}{'no ' + ' '.join(map(str, lacks)) if lacks else ''}".rstrip()


def _line_rows(s: Any) -> list[str]:
    """Return the rows of the line of tiles. Every second one goes from right to left."""
    line, _ = line_of(s)
    rows = []
    for start in range(0, len(line), _PER_ROW):
        row = line[start : start + _PER_ROW]
        if start // _PER_ROW % 2 == 0:
            rows.append("".join(f"[{tile.left}|{tile.right}]" for tile in row))
        else:
            rows.append("".join(f"[{tile.right}|{tile.left}]" for tile in reversed(row)).rjust(5 * _PER_ROW))
    return rows or ["no tile on the table"]


def _last_line(s: Any) -> str:
    if s["stage"] == rules.FINISHED:
        winners = _winners(s)
        return f"over: players {winners[0]} and {winners[1]} win" if winners else "over: a tie"
    if s["stage"] == rules.DRAWING:
        return "the lead is drawn next"
    if s["stage"] == rules.DEALING:
        return f"player {s['turn']} is dealt the next tile"
    passes = f", after {s['passes']} pass{'es' * (int(s['passes']) > 1)}" if s["passes"] else ""
    ends = f"ends {s['left']} and {s['right']}; " if s["left"] != rules.NO_END else ""
    return f"{ends}player {s['turn']} plays{passes}"


# For a browser


class _Table(NamedTuple):
    """The places of a picture. Hands and badges are below, right, above and left; in a narrow picture all others are above."""

    width: float
    height: float
    middle: tuple[float, float]  # of the line
    reach: float  # half tiles from there to the border
    half: float  # the side of half a tile in the line
    hands: tuple[tuple[float, float], ...]
    badges: tuple[tuple[float, float], ...]
    halves: tuple[float, float]  # the sides of half tiles in the hand below, and in the other hands
    is_narrow: bool


_WIDE = _Table(760, 600, (380, 272), REACH, 23.0, ((380, 522), (706, 272), (380, 52), (54, 272)),
               ((232, 522), (706, 382), (276, 52), (54, 382)), (26.0, 17.0), False)  # fmt: skip
_NARROW = _Table(500, 730, (250, 415), 8.5, 26.0, ((275, 672), (420, 164), (250, 164), (80, 164)),
                 ((62, 672), (420, 108), (250, 108), (80, 108)), (36.0, 11.0), True)  # fmt: skip
_TEAM = (SEATS[1], SEATS[0])
SEAT_COLOURS = 2 * _TEAM
_CLOTH, _RIM, _PALE, _GOLD, _RED = "#24584f", "#1b443e", "#dfe9e2", "#f5c33b", "#b3261e"
_IVORY, _SHADE, _PIP, _BACK = "#f7f1e1", "#b7a98a", "#262b3a", "#46506b"
_PIPS = {0: "", 1: "c", 2: "ai", 3: "aci", 4: "aghi", 5: "acghi", 6: "abghij"}
_PIP_AT = {"a": (-1, -1), "b": (-1, 0), "c": (0, 0), "g": (-1, 1), "h": (1, -1), "i": (1, 1), "j": (1, 0)}
_NUMBER_H = 12.0


def svg(states: Any, k: int, seat: int | None = None, *, narrow: bool = False) -> str:
    """Draw the table as SVG, as this seat sees it. None sees all hands, from seat 0."""
    s, at = states[k], _NARROW if narrow else _WIDE
    below = max(0, seat or 0)
    parts = [f'<rect x="0" y="0" width="{at.width}" height="{at.height}" rx="26" fill="{_RIM}"/>']
    parts.append(f'<rect x="12" y="12" width="{at.width - 24}" height="{at.height - 24}" rx="18" fill="{_CLOTH}"/>')
    parts.append(_score_board(s))
    parts.append(moved(at.width - _WIDE.width, 0, _round_number(s)) if narrow else _round_number(s))
    parts.append(_line(s, at) if s["stage"] >= rules.PLAYING else _pile(s, at))
    parts += [_place_at_table(s, seat, (below + ahead) % 4, ahead, at) for ahead in range(4)]
    drawing = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {at.width} {at.height}" width="{at.width}" height="{at.height}">'
        f"<title>dominoes, round {int(s['n_rounds']) + 1}</title><defs>{definitions(drawing)}</defs>{drawing}</svg>"
    )


def targets(states: Any, k: int, actions: Sequence[int], seat: int | None = None, *, narrow: bool = False) -> dict[int, list[str]]:
    """Return the outlines to click for each action: a tile in the hand and then its place in the line, or the badge to pass."""
    s, table = states[k], _NARROW if narrow else _WIDE
    ahead = (int(s["turn"]) - (seat or 0)) % 4
    tiles, at, half, lies = _hand(s, int(s["turn"]), ahead, table)
    wide, tall = (2 * half, half) if lies else (half, 2 * half)
    found = {}
    for action in actions:
        if action >= PASS:
            found[action] = [disc(*table.badges[ahead], 19)]
            continue
        x, y = at[tiles.index(TILES.index(tuple(sorted(divmod(action, SUITS)))))]
        found[action] = [box(x - wide / 2, y - tall / 2, wide, tall), _end(states, k, action, table)]
    return found


def buttons(states: Any, k: int, actions: Sequence[int], seat: int | None = None) -> dict[int, str]:
    """Return the words on the buttons to pass and to call."""
    return {action: words for action, words in ((PASS, "pass"), (CALL, "call")) if action in actions}


def _end(states: Any, k: int, action: int, at: _Table) -> str:
    """Return the outline of the tile that this action would lay."""
    after = states[k : k + 1].copy()
    turn = int(after[0]["n_turns"])
    after[0]["turns"][turn], after[0]["n_turns"] = action, turn + 1
    (x1, y1, _), (x2, y2, _), _ = next(tile for tile in lay_out(*line_of(after[0]), at.reach) if tile.turn == turn)
    left, top = at.middle[0] + (min(x1, x2) - 0.5) * at.half, at.middle[1] + (min(y1, y2) - 0.5) * at.half
    return box(left, top, (abs(x1 - x2) + 1) * at.half, (abs(y1 - y2) + 1) * at.half)


def _hand(s: Any, seat: int, ahead: int, table: _Table) -> tuple[list[int], list[tuple[float, float]], float, bool]:
    """Return the tiles in a hand, their middles, the side of half a tile, and whether they lie crosswise."""
    half, lies, (x, y) = table.halves[ahead > 0], ahead % 2 == 1 and not table.is_narrow, table.hands[ahead]
    tiles = tiles_in(s["hands"][seat])
    along = [(i - (len(tiles) - 1) / 2) * (half + 4) for i in range(len(tiles))]
    return tiles, [(x, y + far) if lies else (x + far, y) for far in along], half, lies


def _tile(tile: Placed, half: float, x: float, y: float, look: str = "") -> str:
    """Draw a tile face up. The places of its halves are counted from (x, y)."""
    (x1, y1, _), (x2, y2, _) = tile.first, tile.second
    left, top = x + (min(x1, x2) - 0.5) * half + 0.8, y + (min(y1, y2) - 0.5) * half + 0.8
    width, height = (abs(x1 - x2) + 1) * half - 1.6, (abs(y1 - y2) + 1) * half - 1.6
    middle_x, middle_y = x + (x1 + x2) / 2 * half, y + (y1 + y2) / 2 * half
    lies = y1 == y2
    dx, dy = (0.0, 0.33 * half) if lies else (0.33 * half, 0.0)
    parts = [_plate(left, top, width, height, half, _IVORY, look or f'stroke="{_SHADE}" stroke-width="1"')]
    groove = f"M{middle_x - dx:.1f} {middle_y - dy:.1f}L{middle_x + dx:.1f} {middle_y + dy:.1f}"
    parts.append(f'<path d="{groove}" stroke="{_SHADE}" stroke-width="1.2"/>')
    parts += [_pips(half_tile, half, x, y, lies) for half_tile in tile[:2]]
    return "".join(parts)


def _plate(left: float, top: float, width: float, height: float, half: float, fill: str, look: str) -> str:
    return f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{half * 0.18:.1f}" fill="{fill}" {look}/>'


def _pips(side: Half, half: float, x: float, y: float, lies: bool) -> str:
    """Draw the pips of half a tile. Those of 2, 3 and 6 turn with the tile."""
    step, radius = half * 0.25, half * 0.095
    dots = []
    for place in _PIPS[side.pips]:
        dx, dy = _PIP_AT[place]
        dx, dy = (dy, -dx) if lies else (dx, dy)
        dots.append(f'<circle cx="{x + side.x * half + dx * step:.1f}" cy="{y + side.y * half + dy * step:.1f}" r="{radius:.2f}"/>')
    return f'<g fill="{_PIP}">{"".join(dots)}</g>'


def _back(lies: bool, half: float, x: float, y: float) -> str:
    """Draw a tile face down with its middle at (x, y)."""
    width, height = (2 * half, half) if lies else (half, 2 * half)
    plate = _plate(x - width / 2 + 0.8, y - height / 2 + 0.8, width - 1.6, height - 1.6, half, _BACK, 'stroke="#2d3448" stroke-width="1"')
    d = half * 0.2
    return plate + f'<path d="M{x - d:.1f} {y:.1f}L{x:.1f} {y - d:.1f}L{x + d:.1f} {y:.1f}L{x:.1f} {y + d:.1f}Z" fill="#7d88a6"/>'


def _line(s: Any, at: _Table) -> str:
    """Draw the line of tiles. The one laid last has a golden border."""
    placed = lay_out(*line_of(s), at.reach)
    last = max((tile.turn for tile in placed), default=-1)
    gold = f'class="last" stroke="{_GOLD}" stroke-width="2.4"'
    placed.sort(key=lambda tile: tile.turn)
    return "".join(_tile(tile, at.half, *at.middle, gold if tile.turn == last else "") for tile in placed)


def _pile(s: Any, at: _Table) -> str:
    """Draw the tiles that are not dealt yet, face down in rows of seven."""
    places, (x, y) = [divmod(i, 7) for i in range(int(s["undealt"]).bit_count())], at.middle
    return "".join(_back(False, at.half, x + (column - 3) * (at.half + 4), y + (row - 1.5) * (2 * at.half + 4)) for row, column in places)


def _place_at_table(s: Any, looker: int | None, seat: int, ahead: int, table: _Table) -> str:
    """Draw a hand, the badge of its seat, and the suits it has shown to lack. ahead: the side of the table, 0 below, 1 right."""
    tiles, at, half, lies = _hand(s, seat, ahead, table)
    badge_x, badge_y = table.badges[ahead]
    parts = []
    for tile, (at_x, at_y) in zip(tiles, at, strict=True):
        if not _is_open(s, looker, seat):
            parts.append(_back(lies, half, at_x, at_y))
            continue
        a, b = TILES[tile]
        face_up = Placed(Half(-0.5, 0, a), Half(0.5, 0, b), 0) if lies else Placed(Half(0, -0.5, a), Half(0, 0.5, b), 0)
        parts.append(_tile(face_up, half, at_x, at_y))
    parts.append(_badge(s, seat, badge_x, badge_y))
    parts.append(_shown_lacks(s, seat, ahead, badge_x, badge_y, table.is_narrow))
    return "".join(parts)


def _badge(s: Any, seat: int, x: float, y: float) -> str:
    """Draw the number of a seat in its team's colour. A ring: it is to move; a flag: it leads; a bar: it passed; a star: it won."""
    parts = []
    if s["stage"] == rules.PLAYING and s["turn"] == seat:
        parts.append(f'<circle cx="{x}" cy="{y}" r="19" fill="none" stroke="{_GOLD}" stroke-width="3.5"/>')
    parts.append(f'<circle cx="{x}" cy="{y}" r="14.5" fill="{_TEAM[seat % 2]}"/>')
    parts.append(_number(seat, x, y + 6, "#ffffff"))
    if s["leader"] == seat:
        flag = f"M{x - 17} {y - 12}V{y - 32}L{x - 5} {y - 27.5}L{x - 17} {y - 23}"
        parts.append(f'<path d="{flag}" fill="{_PALE}" stroke="{_PALE}" stroke-width="1.5"/>')
    if s["passed_on"][seat]:
        parts.append(f'<circle cx="{x + 15}" cy="{y - 14}" r="8" fill="{_PALE}"/>')
        parts.append(f'<path d="M{x + 11} {y - 14}H{x + 19}" stroke="{_RED}" stroke-width="3"/>')
    if s["n_turns"] and int(s["turns"][int(s["n_turns"]) - 1]) == CALL and (int(s["turn"]) - 1) % 4 == seat:
        mark = f"M{x + 15} {y - 26}V{y - 13}M{x + 15} {y - 8}V{y - 7}"
        parts.append(f'<path d="{mark}" stroke="{_GOLD}" stroke-width="4" stroke-linecap="round"/>')
    if seat in _winners(s):
        parts.append(_star(x + 27, y + 4, 9))
    parts.append(write(f"player {seat}", x, y + 33, 9.5, _PALE, 1.3, 0.5))
    return "".join(parts)


def _shown_lacks(s: Any, seat: int, ahead: int, x: float, y: float, is_narrow: bool) -> str:
    """Draw the suits that a seat has shown to lack, as half tiles that are struck through."""
    parts = []
    suits = _lacks(s, seat)
    for i, suit in enumerate(suits):
        if ahead == 0:
            at_x, at_y = (x + (i - (len(suits) - 1) / 2) * 21, y - 48) if is_narrow else (x - 38 - 21 * i, y)
        elif ahead == 2 and not is_narrow:  # behind the hand, because the points are on the other side of the badge
            at_x, at_y = x + 204 + 21 * i, y
        else:
            at_x, at_y = x + (i % 3 - (min(len(suits), 3) - 1) / 2) * 21, y + (90 if is_narrow else 54) + 21 * (i // 3)
        box = _plate(at_x - 9, at_y - 9, 18, 18, 18, "#cfd6cb", "")
        strike = f'<path d="M{at_x - 9:.1f} {at_y + 9:.1f}L{at_x + 9:.1f} {at_y - 9:.1f}" stroke="{_RED}" stroke-width="2"/>'
        parts.append(box + _pips(Half(0, 0, suit), 18, at_x, at_y, False) + strike)
    return "".join(parts)


def _score_board(s: Any) -> str:
    """Draw the points of both teams beside those that end the match, where a star means a win and a cross a loss."""
    limit = int(rules.target(s))
    parts = []
    for team in range(2):
        y = 40 + 26 * team
        points = int(s["points"][team])
        parts.append("".join(f'<circle cx="{36 + 15 * i}" cy="{y}" r="6" fill="{_TEAM[team]}"/>' for i in range(2)))
        parts.append(f'<rect x="66" y="{y - 6}" width="96" height="12" rx="6" fill="{_RIM}"/>')
        filled = min(points / limit, 1) * 96
        if filled > 0:
            parts.append(f'<rect x="66" y="{y - 6}" width="{max(filled, 12):.1f}" height="12" rx="6" fill="{_TEAM[team]}"/>')
        if s["rules"] == PUERTO_RICO:
            parts.append(_star(174, y, 7))
        else:
            parts.append(f'<path d="M170 {y - 4}l8 8m0-8l-8 8" stroke="#e5a49a" stroke-width="2.6" stroke-linecap="round"/>')
        parts.append(_number(points, 206, y + 6, _PALE))
    return "".join(parts)


def _round_number(s: Any) -> str:
    """Draw the number of the round within a round arrow."""
    arrow = "M718.3 58.9A20 20 0 1 1 721.8 39.2M723.9 31.5L721.8 39.2L715.3 34.6"
    look = f'fill="none" stroke="{_PALE}" stroke-width="2.2" stroke-linecap="round"'
    return f'<path d="{arrow}" {look}/>' + _number(int(s["n_rounds"]) + 1, 703, 52, _PALE)


def _number(number: int, x: float, baseline: float, colour: str) -> str:
    """Draw a number with its middle at x."""
    return f'<g stroke-linecap="round" stroke-linejoin="round">{write(str(number), x, baseline, _NUMBER_H, colour, 1.6, 0.5)}</g>'


def _star(x: float, y: float, radius: float) -> str:
    """A golden star with five points."""
    outer = ((0, -1), (0.95, -0.31), (0.59, 0.81), (-0.59, 0.81), (-0.95, -0.31))
    inner = ((0.24, -0.32), (0.38, 0.12), (0, 0.4), (-0.38, 0.12), (-0.24, -0.32))
    corners = " ".join(f"{x + radius * a:.1f},{y + radius * b:.1f}" for pair in zip(outer, inner, strict=True) for a, b in pair)
    return f'<polygon points="{corners}" fill="{_GOLD}"/>'
