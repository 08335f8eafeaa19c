"""Positions and actions of Kingdomino as text, and back. No other file reads or writes this notation.

Squares are named as in chess: a column letter and a row counted from the bottom. With size 5 they are a1 to i9 and the castle is e5.
Actions: `place 12 e4 e5` (the domino, the square of its first half, the square of its second half), `discard 12`, `pick 34`.
Chance: `draw 8`, `king 1`.

A position is words: `round=4 stage=place turn=1 kingdoms=wf+./fXf/f.l+,.w./fpf/fXf,f+fl+/wX./.l./.p++.,.w+./wl./wXw/fww
queue=1:3,7:0,12:2,43:1 draft=8:3,24,28,36 box=6,9-11,14,16-19,21-23,27,29-32,35,37-41,44-48`. A kingdom is its rows from the top, cut to
the rows and columns in use. Its squares are w field, f forest, l water, p pasture, c clay, m mine, each with a + per crown; X is the
castle, and . is empty. `queue` and `draft` are dominoes, with :seat where a king stands. `box` lists the dominoes that have not been drawn.
"""

from __future__ import annotations

import re
from typing import Any

from kdenv.core.errors import BadRecord, shown
from kdenv.core.parsing import number_in, read_number, read_words
from kdenv.games.kingdomino import placements, rules, validate
from kdenv.games.kingdomino.board import STEP_X, STEP_Y, column_of, row_of, square
from kdenv.games.kingdomino.tables import N_DOMINOES, N_DOUBLES

LETTERS = "wflpcm"  # one per terrain
_STAGES = {"draw": rules.DRAWING, "call": rules.CALLING, "place": rules.PLACING, "pick": rules.PICKING, "over": rules.FINISHED}
_STAGE_NAMES = {stage: word for word, stage in _STAGES.items()}
_SQUARE = re.compile(r"([wflpcm])(\+{0,3})|(X)|(\.)")


def square_name(x: int, y: int, size: int) -> str:
    """The name of a square. The castle is at x = y = 0, and y grows downwards."""
    return f"{chr(ord('a') + x + size - 1)}{size - y}"


def square_from(name: str, size: int) -> tuple[int, int]:
    """The x and y of the square of this name."""
    window = 2 * size - 1
    if re.fullmatch(r"[a-z][0-9]{1,2}", name):
        x, y = ord(name[0]) - ord("a") - size + 1, size - int(name[1:])
        if abs(x) < size and abs(y) < size:
            return x, y
    raise BadRecord(f"{shown(name)} is no square; squares are a1 to {chr(ord('a') + window - 1)}{window}")


def action_text(states: Any, k: int, action: int) -> str:
    """The action in words, as it is called in states[k]."""
    s = states[k]
    size = int(s["size"])
    discard = placements.discard_action(size)
    if action > discard:
        slot = action - discard - 1
        if slot >= 4 or s["draft"][slot] == rules.NO_DOMINO:
            raise BadRecord(f"there is no slot {slot} in the draft")
        return f"pick {s['draft'][slot]}"
    if s["stage"] != rules.PLACING:
        raise BadRecord("there is no domino to place")
    domino = int(s["queue"][int(s["turn"])])
    if action == discard:
        return f"discard {domino}"
    x, y, to_x, to_y = halves(action, size)
    if max(abs(to_x), abs(to_y)) >= size:
        raise BadRecord(f"action {action} leads from {square_name(x, y, size)} off the board")
    return f"place {domino} {square_name(x, y, size)} {square_name(to_x, to_y, size)}"


def halves(action: int, size: int) -> tuple[int, int, int, int]:
    """The x and y of the first half, then those of the second half, of a placement."""
    cell, direction = divmod(action, 4)
    row, column = divmod(cell, 2 * size - 1)
    x, y = column - size + 1, row - size + 1
    return x, y, x + int(STEP_X[direction]), y + int(STEP_Y[direction])


def action_from(states: Any, k: int, text: str) -> int:
    """The action that these words mean in states[k]. It is not checked that it is legal."""
    s = states[k]
    size = int(s["size"])
    words = text.split()
    match words:
        case ["pick", number]:
            slots = [int(domino) for domino in s["draft"]]
            picked = number_in(number, 1, N_DOMINOES)
            if picked not in slots:
                raise BadRecord(f"domino {shown(number)} is not in the draft: {_dominoes(slots)}")
            return int(placements.pick_action(size, slots.index(picked)))
        case ["discard", number]:
            _check_in_hand(s, number)
            return int(placements.discard_action(size))
        case ["place", number, first, second]:
            domino = _check_in_hand(s, number)
            (x, y), (to_x, to_y) = square_from(first, size), square_from(second, size)
            if domino <= N_DOUBLES and (y, x) > (to_y, to_x):  # a double has two names, and only the smaller is legal
                x, y, to_x, to_y = to_x, to_y, x, y
            for direction in range(4):
                if (x + STEP_X[direction], y + STEP_Y[direction]) == (to_x, to_y):
                    return int(placements.place_action(size, x, y, direction))
            raise BadRecord(f"{first} and {second} are not neighbours")
    raise BadRecord(f"{shown(text)!r} is no action; write 'place 12 e4 e5', 'discard 12' or 'pick 34'")


def _check_in_hand(s: Any, number: str) -> int:
    """The domino that must be placed now. Raises BadRecord for any other number."""
    if s["stage"] != rules.PLACING:
        raise BadRecord("there is no domino to place")
    domino = int(s["queue"][int(s["turn"])])
    if number != str(domino):
        raise BadRecord(f"domino {shown(number)} is not the one to place; that is {domino}")
    return domino


def _dominoes(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers if number != rules.NO_DOMINO) or "it is empty"


def chance_text(states: Any, k: int, outcome: int) -> str:
    """The outcome of chance in words, as it is called in states[k]."""
    return f"king {outcome}" if states[k]["stage"] == rules.CALLING else f"draw {outcome + 1}"


def chance_from(states: Any, k: int, text: str) -> int:
    """The outcome that these words mean in states[k]. It is not checked that it is possible."""
    words = text.split()
    number = number_in(words[1], 0, N_DOMINOES) if len(words) == 2 else None
    if number is not None:
        expected = "king" if states[k]["stage"] == rules.CALLING else "draw"
        if words[0] != expected:
            raise BadRecord(f"{shown(text)!r} cannot happen here; next is '{expected} <number>'")
        return number if expected == "king" else number - 1
    raise BadRecord(f"{shown(text)!r} is nothing that chance does; it is 'draw 8' or 'king 1'")


# Positions


def position_text(states: Any, k: int) -> str:
    """The position in one line."""
    s = states[k]
    players = int(s["players"])
    words = [f"round={s['round']}", f"stage={_STAGE_NAMES[int(s['stage'])]}", f"turn={s['turn']}"]
    if s["stage"] == rules.PICKING and s["round"] == 0:
        words.append(f"caller={s['caller']}")
    words.append("kingdoms=" + ",".join(_kingdom_text(s, seat) for seat in range(players)))
    words.append("queue=" + _row_text(s["queue"], s["queue_king"]))
    words.append("draft=" + _row_text(s["draft"], s["draft_king"]))
    words.append("box=" + _ranges_text([n for n in range(1, N_DOMINOES + 1) if int(s["unseen"]) >> (n - 1) & 1]))
    return " ".join(words)


def kingdom_squares(s: Any, seat: int) -> dict[tuple[int, int], tuple[int, int]]:
    """The squares of a kingdom without the castle: (x, y) -> (terrain, crowns)."""
    squares = {}
    left, top = int(s["left"][seat]), int(s["top"][seat])
    low, high = (int(plane) for plane in s["crowns"][seat])
    for terrain, land in enumerate(s["land"][seat]):
        for b in range(64):
            if int(land) >> b & 1:
                squares[int(column_of(b, left)), int(row_of(b, top))] = terrain, (low >> b & 1) + 2 * (high >> b & 1)
    return squares


def _kingdom_text(s: Any, seat: int) -> str:
    squares = kingdom_squares(s, seat)
    rows = []
    for y in range(int(s["top"][seat]), int(s["bottom"][seat]) + 1):
        row = ""
        for x in range(int(s["left"][seat]), int(s["right"][seat]) + 1):
            terrain, crowns = squares.get((x, y), (None, 0))
            row += "X" if x == y == 0 else "." if terrain is None else LETTERS[terrain] + "+" * crowns
        rows.append(row)
    return "/".join(rows)


def _row_text(dominoes: Any, kings: Any) -> str:
    """The queue or the draft: dominoes, each with the seat whose king stands on it."""
    lying = [(domino, king) for domino, king in zip(dominoes, kings, strict=True) if domino != rules.NO_DOMINO]
    return ",".join(f"{domino}" if king == rules.NOBODY else f"{domino}:{king}" for domino, king in lying)


def _ranges_text(numbers: list[int]) -> str:
    """Ascending numbers, with runs written as first-last."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def position_from(text: str, states: Any, k: int) -> None:
    """Write the position to states[k], on which begin() has been called with the players and options."""
    words = read_words(text, ("box", "caller", "draft", "kingdoms", "queue", "round", "stage", "turn"), optional=("caller",))
    s = states[k]
    players, kings = int(s["players"]), int(s["kings"])
    if words["stage"] not in _STAGES:
        raise BadRecord(f"stage={shown(words['stage'])} is not one of {', '.join(_STAGES)}")
    s["stage"] = _STAGES[words["stage"]]
    s["round"] = read_number("round=", words["round"], int(s["n_drafts"]))
    s["turn"] = read_number("turn=", words["turn"], kings)
    s["caller"] = read_number("caller=", words["caller"], players - 1) if "caller" in words else rules.NOBODY
    kingdoms = words["kingdoms"].split(",")
    if len(kingdoms) != players:
        raise BadRecord(f"{len(kingdoms)} kingdoms for {players} players")
    for seat, kingdom in enumerate(kingdoms):
        _read_kingdom(s, seat, kingdom)
    seen: list[int] = []
    for row in ("queue", "draft"):
        seen += _read_row(s, row, words[row], players, kings)
    for domino in seen:
        if seen.count(domino) > 1:
            raise BadRecord(f"domino {domino} is on the table twice")
    s["n_drawn"] = sum(int(domino) != rules.NO_DOMINO for domino in s["draft"])
    box = _read_ranges(words["box"])
    for domino in box:
        if domino in seen:
            raise BadRecord(f"domino {domino} is both in the box and on the table")
    s["unseen"] = sum(1 << (domino - 1) for domino in box)
    validate.check(s, len(box), [kingdom_squares(s, seat).keys() for seat in range(players)])


def _read_kingdom(s: Any, seat: int, text: str) -> None:
    """Write a kingdom, with its castle at x = y = 0."""
    rows = []
    for row in text.split("/"):
        squares = list(_SQUARE.finditer(row))
        if "".join(match[0] for match in squares) != row:
            raise BadRecord(f"the row {shown(row)!r} of kingdom {seat} is not made of w f l p c m, + for crowns, X and .")
        rows.append(squares)
    castles = [(x, y) for y, row in enumerate(rows) for x, match in enumerate(row) if match[3]]
    if len(castles) != 1:
        raise BadRecord(f"kingdom {seat} has {len(castles)} castles (X), not one")
    size = int(s["size"])
    if len(rows) > size or any(len(row) != len(rows[0]) for row in rows) or len(rows[0]) > size:
        raise BadRecord(f"the rows of kingdom {seat} are not all alike and within {size} x {size}")
    (castle_x, castle_y) = castles[0]
    low = high = 0
    land = [0] * len(LETTERS)
    for y, matches in enumerate(rows):
        for x, match in enumerate(matches):
            if match[1]:
                here = 1 << int(square(x - castle_x, y - castle_y))
                crowns = len(match[2])
                land[LETTERS.index(match[1])] |= here
                low |= here * (crowns & 1)
                high |= here * (crowns >> 1)
    s["land"][seat] = land
    s["crowns"][seat] = low, high
    s["taken"][seat] = sum(land) | 1
    s["left"][seat], s["right"][seat] = -castle_x, len(rows[0]) - 1 - castle_x
    s["top"][seat], s["bottom"][seat] = -castle_y, len(rows) - 1 - castle_y


def _read_row(s: Any, row: str, text: str, players: int, kings: int) -> list[int]:
    """Write the queue or the draft; return its dominoes."""
    entries = text.split(",") if text else []
    if len(entries) > kings:
        raise BadRecord(f"{row} has {len(entries)} dominoes; {kings} are drawn at a time")
    dominoes, owners = [], []
    for entry in entries:
        number, colon, king = entry.partition(":")
        dominoes.append(_domino(number))
        owners.append(read_number(f"the king on domino {number} in {row}=", king, players - 1) if colon else rules.NOBODY)
    if dominoes != sorted(set(dominoes)):
        raise BadRecord(f"the dominoes of {row} do not ascend: {shown(text)}")
    empty = 4 - len(entries)
    s[row] = dominoes + [rules.NO_DOMINO] * empty
    s[row + "_king"] = owners + [rules.NOBODY] * empty
    return dominoes


def _read_ranges(text: str) -> list[int]:
    """The dominoes in a list such as 1-7,9."""
    dominoes: list[int] = []
    for part in text.split(",") if text else []:
        first, _, last = part.partition("-")
        dominoes += range(_domino(first), _domino(last or first) + 1)
    if len(set(dominoes)) != len(dominoes):
        raise BadRecord(f"box={shown(text)} lists a domino twice")
    return dominoes


def _domino(text: str) -> int:
    domino = number_in(text, 1, N_DOMINOES)
    if domino is None:
        raise BadRecord(f"{shown(text)!r} is no domino; dominoes are 1 to {N_DOMINOES}")
    return domino
