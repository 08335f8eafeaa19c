"""Keeps the results of a match in a file: a line that describes the match, then a line of JSON for every game.

A game is appended with one write, so a crash can only cut the last line. A lock allows only one match at a time to use a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from kdenv import __version__
from kdenv.arena.match import Finished, Match, Result
from kdenv.core.errors import BadOption, BadRecord
from kdenv.core.files import ordinary
from kdenv.core.game import Game
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.policies.learned import models_of

FORMAT = "kdenv results 1"
_LONGEST_HEADER = 1 << 24  # bytes
_VERSIONS = {"kdenv": "version of kdenv", "rules": "version of the rules of {game}"}
MOST = 2**53  # the largest number of a game; a float represents all integers up to it


class ResultsFile:
    """The results of a match in a file. It is a context manager, which creates the file if there is none, and locks it.

    Read the file with `results()` before anything is appended. Games of another version of kdenv or of the rules are refused. If
    `play_again` is given, which plays a game of a number, they count if the first of them is the same game now.
    """

    def __init__(self, path: Path, match: Match, play_again: Callable[[int], Result] | None = None) -> None:
        self.path, self.match, self._play_again = path, match, play_again
        self.finished = Finished()  # the numbers of the games that results() has read
        self._lock = FileLock(path.with_name(path.name + ".lock"))
        self._file: Any = None

    def __enter__(self) -> ResultsFile:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            ordinary(self.path)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            if not Path(self._lock.lock_file).exists():
                self.path.open("ab").close()  # raises the error if no file can be written here
            raise BadOption(f"another match is writing to {self.path}; wait until it has ended, or choose another --out") from None
        try:
            if self._play_again is not None and self.path.exists():
                self._renew(self._play_again)
            self._file = self.path.open("a+b", buffering=0)
            self._begin()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
        self._lock.release()

    def results(self) -> Iterator[Result]:
        """Yield the results in the file, after checking each. Results of games that this match does not have are left out."""
        seen = Finished()
        with self.path.open("rb") as file:
            file.readline()
            for number, line in enumerate(file, 2):
                try:
                    result = result_of(line, self.match)
                    if result.number in seen:
                        raise BadRecord(f"game {result.number} is in the file a second time")
                except BadRecord as error:
                    raise BadRecord(
                        f"line {number} of {self.path} is damaged: {error}; delete this line, and run the same command again"
                    ) from None
                seen.add(result.number)
                if result.number < self.match.games:
                    self.finished.add(result.number)
                    yield result

    def append(self, result: Result) -> None:
        """Add a result to the file."""
        self._write(json.dumps(asdict(result)))

    def _begin(self) -> None:
        """Check the first line, or write it. Then remove the last line if a crash has cut it."""
        mine = header(self.match)
        with self.path.open("rb") as file:
            first = file.readline()
            size = file.seek(0, os.SEEK_END)
        line = json.dumps(mine)
        if not first.endswith(b"\n") and (line + "\n").encode().startswith(first):  # the file is empty, or a crash has cut its first line
            self._cut(0)
            self._write(line)
            return
        _check_header(self.path, first, mine)
        end = self._end_of_last_line(size)
        if end < size:
            self._cut(end)

    def _renew(self, play_again: Callable[[int], Result]) -> None:
        """Give a file of other versions the first line of today, if its first game is the same one now."""
        mine = header(self.match)
        with self.path.open("rb") as file:
            found, games = parse_header(file.readline()), file.read()
        if found == mine or found | {key: mine[key] for key in _VERSIONS} != mine:
            return
        if b"\n" in games:
            kept = result_of(games[: games.index(b"\n")], self.match)
            again = play_again(kept.number)
            if any(getattr(kept, name) != getattr(again, name) for name in ("scores", "margins", "wins", "turns", "playouts")):
                raise BadRecord(
                    f"{self.path} holds the games of another version of kdenv or of the rules, and game {kept.number} is another one here; "
                    "choose another --out"
                )
        new = self.path.with_name(f".{self.path.name}.new")
        new.write_bytes(json.dumps(mine).encode() + b"\n" + games)
        new.replace(self.path)

    def _end_of_last_line(self, size: int) -> int:
        """The place in the file, in bytes, where the last complete line ends."""
        with self.path.open("rb") as file:
            end, block = size, 1 << 16
            while end > 0:
                start = max(0, end - block)
                file.seek(start)
                found = file.read(end - start).rfind(b"\n")
                if found >= 0:
                    return start + found + 1
                end = start
        return 0

    def _write(self, line: str) -> None:
        """Append a line with one write. If only a part could be written, as on a full disk, that part is removed."""
        data = (line + "\n").encode()
        before = self.path.stat().st_size
        try:
            written = self._file.write(data)
            if written != len(data):
                raise OSError(f"only a part of a result could be written to {self.path}: the disk may be full")
        except BaseException:
            with contextlib.suppress(OSError):  # if this fails too, the next match on this file removes the cut line
                self._cut(before)
            raise

    def _cut(self, size: int) -> None:
        os.truncate(self.path, size)


def header(match: Match) -> dict[str, Any]:
    """The first line of a file: the match without its number of games, and the versions and models that played it."""
    described = {key: value for key, value in asdict(match).items() if key != "games" and not (key == "luck" and not value)}
    said = {"format": FORMAT, **versions(match), "match": described}
    return dict(json.loads(json.dumps(said)))  # tuples become lists


def parse_header(line: bytes) -> dict[str, Any]:
    """The values in the first line of a file; empty if it is not a JSON object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def match_in(path: Path) -> dict[str, Any]:
    """The match in the first line of a file; empty if it is not a file of results."""
    with ordinary(path).open("rb") as file:
        match = parse_header(file.readline(_LONGEST_HEADER)).get("match")
    return match if isinstance(match, dict) else {}


def versions(match: Match) -> dict[str, Any]:
    """The versions of kdenv and of the rules, and digests of the models of a match, on which its games depend, too."""
    models: dict[str, str] = {}
    for player in (*match.line_up, *match.other, *([match.luck] if match.luck else [])):
        models |= models_of(policy(player))
    return {"kdenv": __version__, "rules": rules_digest(find_game(match.game)), **({"models": models} if models else {})}


def rules_digest(game: Game) -> str:
    """Twelve hexadecimal digits that change with any file in the package of a game, or with its module if it has no package."""
    paths: set[Path] = set()
    for module in game.room:
        file = getattr(module, "__file__", None)
        if file is not None:
            paths |= set(Path(file).parent.rglob("*.py")) if module.__package__ else {Path(file)}
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _check_header(path: Path, first: bytes, mine: dict[str, Any]) -> None:
    """Raise BadRecord for a file whose first line is not that of this match and this version."""
    found = parse_header(first)
    if not str(found.get("format", "")).startswith("kdenv results"):
        raise BadRecord(f"{path} is not a file of match results; choose another --out")
    if found["format"] != FORMAT:
        raise BadRecord(f"{path} is written as {found['format']!r}, and this version reads {FORMAT!r}; choose another --out")
    if found.get("match") != mine["match"]:
        raise BadRecord(f"{path} holds the results of another match ({json.dumps(found.get('match'))[:120]}); choose another --out")
    for key, what in _VERSIONS.items():
        if found.get(key) != mine[key]:
            raise BadRecord(
                f"{path} holds the results of another {what.format(**mine['match'])} ({str(found.get(key))[:40]}, here it is {mine[key]}), "
                "which cannot be counted together with new ones; choose another --out"
            )
    if name := changed_model(found, mine):
        raise BadRecord(f"{path} holds the results of another {name}: the file has changed since; choose another --out")


def changed_model(found: dict[str, Any], mine: dict[str, Any]) -> str:
    """The name of a model whose file has changed since the first line `found` was written; empty if there is none."""
    before, now = found.get("models"), mine.get("models", {})
    return next((name for name in now if isinstance(before, dict) and before.get(name, now[name]) != now[name]), "")


# Reading one line


def result_of(line: bytes, match: Match) -> Result:
    """Read a result from a line. Every field is checked; BadRecord names the one that is wrong."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise BadRecord("it is not one JSON object") from None
    expected = [each.name for each in fields(Result)]
    if isinstance(found, dict):
        found = {"pace": None, "luck": None} | found  # older files do not have them
    if not isinstance(found, dict) or sorted(found) != sorted(expected):
        raise BadRecord(f"it is not an object with the fields {', '.join(expected)}")
    n = len(match.line_up)
    number = found["number"]
    if not _is_whole(number, 0):
        raise BadRecord(f"number={_shown(number)} is not the number of a game")
    deal, _, _ = match.find(number)
    if not _is_whole(found["deal"], 0) or found["deal"] != deal:
        raise BadRecord(f"deal={_shown(found['deal'])} is not the deal of game {number}, which is {deal}")
    for name in ("scores", "margins", "turns", "playouts"):
        _check_list(name, found[name], n, lambda value, least=0 if name in ("turns", "playouts") else -MOST: _is_whole(value, least))
    if found["seconds"] is not None:  # the game was played without a clock
        _check_list("seconds", found["seconds"], n, lambda value: _is_number(value, MOST))
    if found["pace"] is not None:
        _check_list("pace", found["pace"], n, _is_pace)
    if (found["luck"] is None) == bool(match.luck):
        raise BadRecord(f"luck={_shown(found['luck'])} is not that of a match which measures {'it' if match.luck else 'none'}")
    if found["luck"] is not None:
        _check_list("luck", found["luck"], n, lambda value: type(value) in (int, float) and abs(value) <= MOST)
    _check_list("wins", found["wins"], n, lambda value: _is_number(value, 1))
    teams = find_game(match.game).teams(n)
    if not math.isclose(sum(found["wins"]), n / teams):
        raise BadRecord(f"wins={_shown(found['wins'])} do not add up to {n / teams:g}")
    if not isinstance(found["record"], str):
        raise BadRecord(f"record={_shown(found['record'])} is not a text")
    return Result(**found)


def _check_list(name: str, values: Any, n: int, is_right: Any) -> None:
    if not isinstance(values, list) or len(values) != n or not all(map(is_right, values)):
        raise BadRecord(f"{name}={_shown(values)} is not a list of {n} valid numbers, one for each policy")


def _is_pace(turns: Any) -> bool:
    """True for a list of turns, each with its seconds and its playouts."""
    return isinstance(turns, list) and all(
        isinstance(each, list) and len(each) == 2 and _is_number(each[0], MOST) and _is_whole(each[1], 0) for each in turns
    )


def _is_whole(value: Any, least: int) -> bool:
    return type(value) is int and least <= value <= MOST


def _is_number(value: Any, most: float) -> bool:
    return type(value) in (int, float) and 0 <= value <= most


def _shown(value: Any) -> str:
    """A value as text for a message, shortened. Python does not convert very long numbers to text."""
    return json.dumps(value)[:60] if not isinstance(value, int) or abs(value) <= MOST else "a number of many digits"
