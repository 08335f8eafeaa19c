"""Writes a whole game as text, and reads it back. The lines are the same for every game, and the words are those of its notation.

    kdenv kingdomino players=4 size=5 dominoes=48 middle=yes harmony=yes tiebreak=shared
    * draw 8, draw 20, draw 30, draw 34, king 1
    1: pick 34
    ...
    = 52 48 37 55

Outcomes of chance follow a *, and a decision follows its seat. The last line has the points, or the word `unfinished`. So a file
that was cut short is noticed. If a game was set up from a position, the second line is `start <position>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.core.errors import BadRecord, KdenvError, shown
from kdenv.core.game import Game
from kdenv.core.parsing import number_in
from kdenv.core.table import Table
from kdenv.core.verbs import apply_at, apply_chance_at, seat_at

_UNFINISHED = "unfinished"
_LARGEST = 10**18  # number of players or of a seat that is read; the game and the table refuse what is too large
_ENDLESS = re.compile(r"\d{20,}")  # more digits than 64 bits hold, and perhaps more than Python reads


def write_record(table: Table) -> str:
    """Return the record of everything that has happened at this table."""
    return record_of(table.game, table.players, table.options, table.log.rows[0, : table.log.n], table.start)


def record_of(game: Game, players: int, options: dict[str, Any], events: NDArray[np.int32], start: str | None = None) -> str:
    """Return the record of these events, which are numbers as in a Log and are not checked. `start`: the position before them."""
    lines = [f"kdenv {game.name} players={players}{options_text(options)}"]
    twin = Table(game, players, **options)
    if start is not None:
        lines.append(f"start {start}")
        twin.at_position(start)
    states, notation = twin.states, game.notation
    chance: list[str] = []
    for event in events.tolist():
        if event < 0:
            chance.append(notation.chance_text(states, 0, ~event))
            apply_chance_at(states, 0, ~event)
            continue
        if chance:
            lines.append("* " + ", ".join(chance))
            chance = []
        lines.append(f"{seat_at(states, 0)}: {notation.action_text(states, 0, event)}")
        apply_at(states, 0, event)
    if chance:
        lines.append("* " + ", ".join(chance))
    lines.append("= " + (" ".join(map(str, twin.scores())) if twin.over else _UNFINISHED))
    return "\n".join(lines) + "\n"


def options_text(options: dict[str, Any]) -> str:
    """Return options as words, each with a space before it: ' size=5 middle=yes'."""
    return "".join(f" {name}={option_text(value)}" for name, value in options.items())


def option_text(value: Any) -> str:
    """Return the value of an option as one word."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def replay(text: str, find_game: Callable[[str], Game]) -> Iterator[Table]:
    """Play a record again, and yield the same table after every line. A line that is not possible raises BadRecord."""
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines or not lines[0][1].startswith("kdenv "):
        first = f"it begins with {lines[0][1][:40]!r}" if lines else "it is empty"
        raise BadRecord(f"this is not a record: {first}, not with 'kdenv <game> players=...'")
    if not lines[-1][1].startswith("="):
        number, last = lines[-1]
        raise BadRecord(f"the record is cut short: after line {number} ({last[:40]!r}) the closing line '= <points>' is missing")
    table = _on_line(lines[0], lambda line: _table_of(line, find_game))
    yield table
    for number, line in lines[1:-1]:
        _on_line((number, line), lambda line: _carry_out(table, line))
        yield table
    _on_line(lines[-1], lambda line: _check_end(table, line))


def _on_line(numbered: tuple[int, str], do: Callable[[str], Any]) -> Any:
    number, line = numbered
    try:
        return do(line)
    except KdenvError as error:
        raise BadRecord(f"line {number} of the record ({line[:60]!r}): {error}") from None


def _table_of(line: str, find_game: Callable[[str], Game]) -> Table:
    """Make the table that the first line of a record describes."""
    _, name, *words = line.split()
    game = find_game(name)
    options: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise BadRecord(f"{shown(word)!r} is not an option; write name=value")
        if key in options:
            raise BadRecord(f"{shown(key)} is given twice")
        options[key] = value
    players = None
    if "players" in options:
        word = options.pop("players")
        players = number_in(word, 0, _LARGEST)
        if players is None:
            raise BadRecord(f"players={shown(word)} is not a number")
    game.check_names(options)
    return Table(game, players, **options)


def _carry_out(table: Table, line: str) -> None:
    """Carry out one line of a record."""
    endless = _ENDLESS.search(line)
    if endless:
        raise BadRecord(f"{shown(endless[0])} is larger than any number of a game")
    if line.startswith("start "):
        if table.log:
            raise BadRecord("the position to start from must be the second line, before anything has happened")
        table.at_position(line.removeprefix("start "))
        return
    if line.startswith("*"):
        for word in line.removeprefix("*").split(","):
            table.chance(table.game.notation.chance_from(table.states, 0, word.strip()))
        return
    seat, colon, words = line.partition(":")
    number = number_in(seat.strip(), 0, _LARGEST)
    if not colon or number is None:
        raise BadRecord("a line is '* <chance>', '<seat>: <action>', 'start <position>' or '= <points>'")
    if table.seat != number:
        turn = "chance is next" if table.at_chance else "the game is over" if table.over else f"seat {table.seat} decides"
        raise BadRecord(f"it is not the turn of seat {number}: {turn}")
    table.play(table.action(words.strip()))


def _check_end(table: Table, line: str) -> None:
    """Raise BadRecord if the last line does not fit the table."""
    claimed = line.removeprefix("=").strip()
    if claimed == _UNFINISHED:
        if table.over:
            raise BadRecord(f"the game is over, so the closing line must be '= {' '.join(map(str, table.scores()))}'")
        return
    if not table.over:
        raise BadRecord("the game is not over, so the closing line must be '= unfinished'")
    if claimed.split() != [str(points) for points in table.scores()]:
        raise BadRecord(f"the points are wrong; the closing line must be '= {' '.join(map(str, table.scores()))}'")
