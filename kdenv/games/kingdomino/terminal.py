"""Positions of Kingdomino as coloured text for a terminal.

Without the colours, the letters of the notation are left. Every character is ASCII, so that any terminal can show it.
"""

from __future__ import annotations

from typing import Any

from kdenv.games.kingdomino import rules
from kdenv.games.kingdomino.notation import LETTERS, square_name
from kdenv.games.kingdomino.scene import Kingdom, kingdoms_of, n_in_box, round_text, waiting
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, TERRAIN_A, TERRAIN_B
from kdenv.games.kingdomino.terrain_art import GROUNDS, PLAYERS

_WIDTH = 100  # columns of the terminal
_LEAST_W = 22  # the least width of one kingdom, which has room for both bonuses
_SQUARE_W = 4  # the width of a square: a letter and up to three crowns
_PLAIN, _BOLD, _FAINT = "\033[0m", "\033[1m", "\033[2m"
_DARK_TEXT, _LIGHT_TEXT = "#201c28", "#ffffff"

# A piece of text and its width in columns, escape codes not counted.
_Piece = tuple[str, int]


def ansi(states: Any, k: int, seat: int | None = None) -> str:
    """The position as text, at most 100 columns wide. All is open, so seat makes no difference."""
    s = states[k]
    kingdoms = kingdoms_of(states, k)
    width = max(_LEAST_W, 3 + _SQUARE_W * int(s["size"]))
    in_a_row = len(kingdoms) if len(kingdoms) * (width + 2) - 2 <= _WIDTH else (len(kingdoms) + 1) // 2
    lines = [f"{_BOLD}Kingdomino{_PLAIN}, {round_text(s)}, {n_in_box(s)} dominoes in the box", ""]
    for first in range(0, len(kingdoms), in_a_row):
        lines += _side_by_side([_kingdom(kingdom, int(s["size"])) for kingdom in kingdoms[first : first + in_a_row]], width)
        lines.append("")
    if s["stage"] != rules.FINISHED:
        lines += _side_by_side([_queue(s), _draft(s)], 24)
    return "\n".join(lines)


def _side_by_side(blocks: list[list[_Piece]], width: int) -> list[str]:
    """The lines of these blocks side by side, each block `width` columns wide."""
    lines = []
    for i in range(max(len(block) for block in blocks)):
        pieces = [block[i] if i < len(block) else ("", 0) for block in blocks]
        lines.append("  ".join(text + " " * (width - columns) for text, columns in pieces).rstrip())
    return lines


def _on(ground: str, text: str) -> str:
    """Text on a coloured ground. It is dark on a light ground and light on a dark one."""
    red, green, blue = (int(ground[i : i + 2], 16) for i in (1, 3, 5))
    ink = _DARK_TEXT if 299 * red + 587 * green + 114 * blue > 140_000 else _LIGHT_TEXT
    ink_red, ink_green, ink_blue = (int(ink[i : i + 2], 16) for i in (1, 3, 5))
    return f"\033[48;2;{red};{green};{blue};38;2;{ink_red};{ink_green};{ink_blue}m{_BOLD}{text}{_PLAIN}"


def _square(terrain: int, crowns: int) -> str:
    letters = LETTERS[terrain] + "+" * crowns
    return _on(GROUNDS[terrain], f" {letters:3}" if crowns < 3 else letters)


def _king(seat: int) -> str:
    return _on(PLAYERS[seat][0], f" {seat} ")


def _kingdom(kingdom: Kingdom, size: int) -> list[_Piece]:
    """The seat, its task, its points and bonuses; then the rows of the kingdom, cut to the rows and columns in use."""
    name = f"player {kingdom.seat}"
    points = str(kingdom.points)
    gap = " " * (_LEAST_W - 4 - len(name) - len(points))
    lines: list[_Piece] = [(f"{_king(kingdom.seat)} {name}{gap}{_BOLD}{points}{_PLAIN}", _LEAST_W)]
    lines.append((f"{_BOLD}> {kingdom.task}{_PLAIN}", 2 + len(kingdom.task)) if kingdom.task else ("", 0))
    bonuses = " ".join(kingdom.bonuses)
    lines += [(bonuses, len(bonuses)), ("", 0)]
    taken = {*kingdom.squares, (0, 0)}
    columns = range(min(x for x, _ in taken), max(x for x, _ in taken) + 1)
    width = 3 + _SQUARE_W * len(columns)
    for y in range(min(y for _, y in taken), max(y for _, y in taken) + 1):
        row = f"{_FAINT}{square_name(0, y, size)[1:]:>2}{_PLAIN} "
        for x in columns:
            if (x, y) == (0, 0):
                row += _on(PLAYERS[kingdom.seat][0], " X".ljust(_SQUARE_W))
            elif (x, y) in taken:
                row += _square(*kingdom.squares[x, y])
            else:
                row += f"{_FAINT}{' .'.ljust(_SQUARE_W)}{_PLAIN}"
        lines.append((row, width))
    names = "".join(f" {square_name(x, 0, size)[0]}".ljust(_SQUARE_W) for x in columns)
    lines.append((f"   {_FAINT}{names}{_PLAIN}", width))
    return lines


def _queue(s: Any) -> list[_Piece]:
    """The dominoes to be placed and their kings; in the first round, the kings that wait to pick."""
    if s["round"] == 0:
        kings = waiting(s)
        moves = s["stage"] == rules.PICKING
        return [("  waiting", 9)] + [(("> " if moves and i == 0 else "  ") + _king(seat), 5) for i, seat in enumerate(kings)]
    lines: list[_Piece] = [("  to place", 10)]
    for i in range(int(s["turn"]), int(s["kings"])):
        moves = i == s["turn"] and s["stage"] != rules.DRAWING
        placed = moves and s["stage"] == rules.PICKING
        lines.append(_domino("> " if moves else "  ", rules.NO_DOMINO if placed else int(s["queue"][i]), int(s["queue_king"][i])))
    return lines


def _draft(s: Any) -> list[_Piece]:
    """The dominoes to pick from, and the kings that stand on them."""
    dominoes = [i for i in range(int(s["kings"])) if s["draft"][i] != rules.NO_DOMINO]
    return [("  to pick", 9)] + [_domino("  ", int(s["draft"][i]), int(s["draft_king"][i])) for i in dominoes]


def _domino(mark: str, number: int, seat: int) -> _Piece:
    """A domino, or a blank if it has been placed, and the king on it."""
    king = " " + _king(seat) if seat != rules.NOBODY else "    "
    if number == rules.NO_DOMINO:
        return mark + " " * (3 + 2 * _SQUARE_W) + king, 17
    halves = _square(int(TERRAIN_A[number]), int(CROWNS_A[number])) + _square(int(TERRAIN_B[number]), int(CROWNS_B[number]))
    return f"{mark}{number:>2} {halves}{king}", 17
