"""Reads files of results as plain columns, for pandas and other tools: `pandas.DataFrame(kdenv.arena.read("match.jsonl"))`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kdenv.arena.match import Match, Result
from kdenv.arena.results import FORMAT, MOST, parse_header, result_of
from kdenv.core.errors import BadOption, BadRecord
from kdenv.core.files import ordinary

_IN_A_ROW = {"scores": "score", "margins": "margin", "wins": "win"}  # columns that are not named after their field
_FRACTIONS = ("win", "seconds", "luck")  # columns of numbers that are not whole
_LONG = ("record", "pace")  # fields that are not numbers, and that are read only if they are wanted


class _GameRow(NamedTuple):
    """A game, and the file that has it."""

    file: str
    match: Match
    result: Result


def read(path: Path | str, *, records: bool = False) -> dict[str, Any]:
    """Read the results in a file, or in all .jsonl files of a folder, as columns: numpy arrays of numbers, and lists of texts.

    There is a row for each policy in each game. The columns are: `file`, `game` (its name), `seed`, `line_up` (1 for the second line-up of
    a comparison), `place` (in the line-up), `policy`, `seat`, and the fields of a Result: `number`, `deal`, `score`, `margin`, `win`,
    `seconds` (of all decisions), `turns`, `playouts` and `luck`. Seconds and luck that were not measured are nan. With
    `records=True` there are `record` and `pace` (a list of the seconds and the playouts of every turn, or None), too.
    Files of matches, comparisons, curves and leagues have the same format. A last line that was cut is left out, so a file may be read
    while a match writes to it.

    >>> from pathlib import Path
    >>> from kdenv.arena import compare, read
    >>> _ = compare("kingdomino", "full_greedy", "random", players=2, deals=3, processes=1, out=Path("games.jsonl"))
    >>> games = read("games.jsonl")
    >>> games["policy"][:2], games["margin"].shape, int(games["margin"].sum())
    (['full_greedy', 'random'], (12,), 0)
    """
    path = Path(path)
    paths = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not paths:
        raise BadOption(f"the folder {path} has no files of results, whose names end in .jsonl")
    names = [each.name for each in fields(Result) if records or each.name not in _LONG]
    columns: dict[str, Any] = {"file": [], "game": [], "seed": [], "line_up": array("q"), "place": array("q"), "policy": []}
    columns["seat"] = array("q")
    for name in names:
        column = _IN_A_ROW.get(name, name)
        columns[column] = [] if name in _LONG else array("d" if column in _FRACTIONS else "q")
    for each in (game for path in paths for game in _games_in(path)):
        _add(columns, names, each)
    return {name: np.array(column) if isinstance(column, array) else column for name, column in columns.items()}


def _add(columns: dict[str, Any], names: list[str], game: _GameRow) -> None:
    """Add the rows of a game."""
    match, result, n = game.match, game.result, len(game.match.line_up)
    _, rotation, which = match.find(result.number)
    seats = match.seats(rotation)
    columns["file"] += [game.file] * n
    columns["game"] += [match.game] * n
    columns["seed"] += [match.seed] * n
    columns["policy"] += [str(text) for text in match.line_ups[which]]
    columns["line_up"].extend([which] * n)
    columns["place"].extend(range(n))
    columns["seat"].extend(seats.index(place) for place in range(n))
    for name in names:
        value = getattr(result, name)
        if value is None and name not in _LONG:
            value = float("nan")
        columns[_IN_A_ROW.get(name, name)].extend(value if isinstance(value, list) else [value] * n)


def _games_in(path: Path) -> Iterator[_GameRow]:
    """The games in a file, in its order."""
    with ordinary(path).open("rb") as file:
        match = _match_of(path, file.readline())
        for number, line in enumerate(file, 2):
            if not line.endswith(b"\n"):
                return
            try:
                result = result_of(line, match)
            except BadRecord as error:
                raise BadRecord(f"line {number} of {path} is damaged: {error}; delete this line") from None
            yield _GameRow(path.name, match, result)


def _match_of(path: Path, line: bytes) -> Match:
    """The match that the first line of a file of results describes, with the largest number of games."""
    found = parse_header(line)
    if found.get("format") != FORMAT or not isinstance(found.get("match"), dict):
        raise BadRecord(f"{path} does not begin with a line of {FORMAT!r}, so it is not a file of match results")
    try:
        match = Match(**{**found["match"], "games": MOST})
        match.check()
    except TypeError as error:
        raise BadRecord(f"the first line of {path} describes no match: {error}") from None
    return match
