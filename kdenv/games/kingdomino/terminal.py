"""Positions of Kingdomino as coloured text for a terminal.

Without the colours, the letters of the notation are left, and capital letters mark the domino that was placed last. Every character is
ASCII, so that any terminal can show it.
"""

from __future__ import annotations

from typing import Any

from kdenv.core.protocols import LastTurn
from kdenv.games.kingdomino import rules
from kdenv.games.kingdomino.notation import LETTERS, square_name
from kdenv.games.kingdomino.scene import Kingdom, kingdoms_of, last_change, n_in_box, round_text, waiting
from kdenv.games.kingdomino.tables import CROWNS_A, CROWNS_B, TERRAIN_A, TERRAIN_B, TERRAINS
from kdenv.games.kingdomino.terrain_art import GROUNDS, PLAYERS

_WIDTH = 100  # columns of the terminal
_LEAST_W = 22  # the least width of one kingdom, which has room for both bonuses
_SQUARE_W = 4  # the width of a square: a letter and up to three crowns
_PLAIN, _BOLD, _FAINT = "\033[0m", "\033[1m", "\033[2m"
_DARK_TEXT, _LIGHT_TEXT = "#201c28", "#ffffff"

_LEGEND = (
    f"{', '.join(f'{letter} {terrain}' for letter, terrain in zip(LETTERS, TERRAINS, strict=True))}; + a crown; X the castle; . empty",
    "capital letters: the domino placed last; *: the domino picked last; >: the seat that decides",
    "place 12 e4 e5: the left half of domino 12 lies on e4, its right half on e5",
)

# A piece of text and its width in columns, escape codes not counted.
_Piece = tuple[str, int]


def ansi(states: Any, k: int, seat: int | None = None, last: LastTurn | None = None) -> str:
    """The position as text, at most 100 columns wide. All is open, so seat makes no difference."""
    s = states[k]
    size, change = int(s["size"]), last_change(last, int(s["size"]))
    blocks = []
    for kingdom in kingdoms_of(states, k):
        marked = change.squares if last is not None and kingdom.seat == last.seat else []
        blocks.append(_kingdom(kingdom, size, marked))
    lines = [f"{_BOLD}Kingdomino{_PLAIN}, {round_text(s)}, {n_in_box(s)} dominoes in the box", ""]
    for row in _rows_of(blocks):
        lines += [*_side_by_side(row), ""]
    if s["stage"] != rules.FINISHED:
        picked = None if last is None or change.slot is None else (last.seat, change.slot)
        lines += [*_side_by_side([_queue(s, picked), _draft(s, picked)], 24), ""]
    return "\n".join([*lines, *(f"{_FAINT}{line}{_PLAIN}" for line in _LEGEND)])


def _width_of(block: list[_Piece]) -> int:
    return max(_LEAST_W, *(columns for _, columns in block))


def _rows_of(blocks: list[list[_Piece]]) -> list[list[list[_Piece]]]:
    """The blocks in rows, each row as many as fit beside each other on the terminal."""
    rows: list[list[list[_Piece]]] = [[]]
    for block in blocks:
        if rows[-1] and sum(_width_of(other) + 2 for other in rows[-1]) + _width_of(block) > _WIDTH:
            rows.append([])
        rows[-1].append(block)
    return rows


def _side_by_side(blocks: list[list[_Piece]], least: int = 0) -> list[str]:
    """The lines of these blocks side by side, each block as wide as its widest line and at least `least` columns."""
    lines, widths = [], [max(least, _width_of(block)) for block in blocks]
    for i in range(max(len(block) for block in blocks)):
        pieces = [block[i] if i < len(block) else ("", 0) for block in blocks]
        lines.append("  ".join(text + " " * (width - columns) for (text, columns), width in zip(pieces, widths, strict=True)).rstrip())
    return lines


def _on(ground: str, text: str) -> str:
    """Text on a coloured ground. It is dark on a light ground and light on a dark one."""
    red, green, blue = (int(ground[i : i + 2], 16) for i in (1, 3, 5))
    ink = _DARK_TEXT if 299 * red + 587 * green + 114 * blue > 140_000 else _LIGHT_TEXT
    ink_red, ink_green, ink_blue = (int(ink[i : i + 2], 16) for i in (1, 3, 5))
    return f"\033[48;2;{red};{green};{blue};38;2;{ink_red};{ink_green};{ink_blue}m{_BOLD}{text}{_PLAIN}"


def _square(terrain: int, crowns: int, marked: bool = False) -> str:
    letters = (LETTERS[terrain].upper() if marked else LETTERS[terrain]) + "+" * crowns
    return _on(GROUNDS[terrain], f" {letters:3}" if crowns < 3 else letters)


def _king(seat: int) -> str:
    return _on(PLAYERS[seat][0], f" {seat} ")


def _kingdom(kingdom: Kingdom, size: int, marked: list[tuple[int, int]]) -> list[_Piece]:
    """The seat, its task, its points and bonuses; then the rows of the kingdom.

    The kingdom of the seat that decides has all rows and columns in reach of its domino, the others are cut to those in use.
    """
    name = f"player {kingdom.seat}"
    points = str(kingdom.points)
    gap = " " * (_LEAST_W - 4 - len(name) - len(points))
    lines: list[_Piece] = [(f"{_king(kingdom.seat)} {name}{gap}{_BOLD}{points}{_PLAIN}", _LEAST_W)]
    lines.append((f"{_BOLD}> {kingdom.task}{_PLAIN}", 2 + len(kingdom.task)) if kingdom.task else ("", 0))
    bonuses = " ".join(kingdom.bonuses)
    lines += [(bonuses, len(bonuses)), ("", 0)]
    taken = {*kingdom.squares, (0, 0)}
    columns, rows = kingdom.columns, kingdom.rows
    if not kingdom.task:
        columns, rows = (range(min(used), max(used) + 1) for used in zip(*taken, strict=True))
    width = 3 + _SQUARE_W * len(columns)
    for y in rows:
        row = f"{_FAINT}{square_name(0, y, size)[1:]:>2}{_PLAIN} "
        for x in columns:
            if (x, y) == (0, 0):
                row += _on(PLAYERS[kingdom.seat][0], " X".ljust(_SQUARE_W))
            elif (x, y) in taken:
                row += _square(*kingdom.squares[x, y], (x, y) in marked)
            else:
                row += f"{_FAINT}{' .'.ljust(_SQUARE_W)}{_PLAIN}"
        lines.append((row, width))
    names = "".join(f" {square_name(x, 0, size)[0]}".ljust(_SQUARE_W) for x in columns)
    lines.append((f"   {_FAINT}{names}{_PLAIN}", width))
    return lines


def _queue(s: Any, picked: tuple[int, int] | None) -> list[_Piece]:
    """The dominoes to be placed and their kings; in the first round, the kings that wait to pick."""
    if s["round"] == 0:
        kings = waiting(s)
        moves = s["stage"] == rules.PICKING
        return [("  waiting", 9)] + [(("> " if moves and i == 0 else "  ") + _king(seat), 5) for i, seat in enumerate(kings)]
    lines: list[_Piece] = [("  to place", 10)]
    for i in range(int(s["turn"]), int(s["kings"])):
        moves = i == s["turn"] and s["stage"] != rules.DRAWING
        placed = moves and s["stage"] == rules.PICKING
        king = int(s["queue_king"][i])
        mark = "> " if moves else "* " if _is_full_again(s) and picked == (king, i) else "  "
        lines.append(_domino(mark, rules.NO_DOMINO if placed else int(s["queue"][i]), king))
    return lines


def _is_full_again(s: Any) -> bool:
    """True if nobody has picked of the draft, so that the last pick is now in the queue."""
    return all(king == rules.NOBODY for king in s["draft_king"])


def _draft(s: Any, picked: tuple[int, int] | None) -> list[_Piece]:
    """The dominoes to pick from, and the kings that stand on them."""
    dominoes = [i for i in range(int(s["kings"])) if s["draft"][i] != rules.NO_DOMINO]
    kings = [int(king) for king in s["draft_king"]]
    marks = ["* " if picked == (kings[i], i) else "  " for i in dominoes]
    return [("  to pick", 9)] + [_domino(mark, int(s["draft"][i]), kings[i]) for mark, i in zip(marks, dominoes, strict=True)]


def _domino(mark: str, number: int, seat: int) -> _Piece:
    """A domino, or a blank if it has been placed, and the king on it."""
    king = " " + _king(seat) if seat != rules.NOBODY else "    "
    if number == rules.NO_DOMINO:
        return mark + " " * (3 + 2 * _SQUARE_W) + king, 17
    halves = _square(int(TERRAIN_A[number]), int(CROWNS_A[number])) + _square(int(TERRAIN_B[number]), int(CROWNS_B[number]))
    return f"{mark}{number:>2} {halves}{king}", 17
