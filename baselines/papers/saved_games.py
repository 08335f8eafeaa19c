"""Keeps the games of a match of the papers, so that a run continues where it stopped, also in a fresh clone.

A match has two files. NAME.jsonl, the journal, gets a line for each game as soon as it has ended, so that a kill loses the game in play and
no other; git ignores it. NAME.jsonl.gz has all games in order, and git has it: it is written when a run of the match ends or is stopped,
and takes over the journal. The first line of both says which match it is. Every other line is a Result with the commit that played it.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

from filelock import FileLock, Timeout

from kdenv.arena import Match, Result
from kdenv.author import BadOption, BadRecord

FORMAT = "kdenv games of papers 1"
MOST = 20_000_000  # bytes of all packed files
_WORTH = 0.02  # seconds of the processor: quicker games are played again in less time than git takes to bring them
_ROOT = Path(__file__).parents[2]


class Kept(NamedTuple):
    """A game, and the commit of kdenv that played it."""

    result: Result
    commit: str


class KeptGames:
    """The games of a match that are kept, by number. It is a context, inside which no other run plays this match."""

    def __init__(self, stem: Path, match: Match, counts: Callable[[str], bool] = lambda commit: True) -> None:
        """stem: the files without their endings. counts: whether games that a commit has played count; the others are dropped."""
        self._packed, self._journal = stem.with_name(f"{stem.name}.jsonl.gz"), stem.with_name(f"{stem.name}.jsonl")
        self._lock = FileLock(stem.with_name(f"{stem.name}.lock"))
        self._n, self._counts = len(match.line_up), counts
        self._match = json.loads(json.dumps({name: value for name, value in asdict(match).items() if name != "games"}))
        self.games: dict[int, Kept] = {}

    def __enter__(self) -> KeptGames:
        self._journal.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise BadOption(f"another run plays the match of {self._journal}; wait until it has ended, or choose another --out") from None
        try:
            for path in (self._packed, self._journal):
                self._read(path)
            self._file = self._open_journal()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._file.close()
            spent = sum(sum(kept.result.seconds or [0.0]) for kept in self.games.values())
            if self.games and spent >= _WORTH * len(self.games):
                self._pack(spent)
        finally:
            self._release()

    def add(self, result: Result, commit: str) -> Result:
        """Keep a game. Return it as it is kept: with four digits of its times."""
        result = replace(result, seconds=_rounded(result.seconds), pace=_rounded(result.pace))
        self.games[result.number] = Kept(result, commit)
        self._write(_line_of(self.games[result.number]))
        return result

    def _release(self) -> None:
        self._lock.release()
        Path(self._lock.lock_file).unlink(missing_ok=True)

    def _read(self, path: Path) -> None:
        """Take over the games in a file."""
        for number, line in enumerate(_lines(path) if path.exists() else (), 1):
            try:
                found = json.loads(line)
                if number > 1:
                    self._take(found)
                elif found["format"] != FORMAT or {"luck": ""} | found["match"] != self._match | {"luck": ""}:
                    raise ValueError("it begins with another match or format")
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise BadRecord(f"line {number} of {path} is damaged ({error}); remove the file, and its games are played again") from None

    def _take(self, found: dict[str, Any]) -> None:
        commit = found.pop("commit", None)
        try:
            result = Result(**found)
        except TypeError:
            raise ValueError("its fields are not those of a game") from None
        if type(result.number) is not int or type(commit) is not str:
            raise ValueError("it has no number of a game, or no commit")
        for name in ("scores", "margins", "wins", "turns", "playouts"):
            if len(getattr(result, name)) != self._n:
                raise ValueError(f"{name} has not {self._n} numbers, one for each policy")
        if self._counts(commit):
            self.games[result.number] = Kept(result, commit)

    def _open_journal(self) -> IO[bytes]:
        """The journal, to which games are appended, without a last line that a kill has cut."""
        whole = sum(map(len, _lines(self._journal))) if self._journal.exists() else 0
        file = self._journal.open("ab", buffering=0)
        file.truncate(whole)
        self._file = file
        if not whole:
            self._write(_as_line({"format": FORMAT, "match": self._match}))
        return file

    def _write(self, line: bytes) -> None:
        if self._file.write(line) != len(line):
            raise OSError(f"only a part of a game could be written to {self._journal}: the disk may be full")

    def _pack(self, spent: float) -> None:
        """Write all games by number, and remove the journal. A file that holds the same already is left as it is."""
        lines = [_as_line({"format": FORMAT, "match": self._match, "seconds": _rounded(spent)})]
        lines += [_line_of(kept) for _, kept in sorted(self.games.items())]
        if not self._packed.exists() or list(_lines(self._packed)) != lines:
            new = self._packed.with_name(f".{self._packed.name}.new")
            new.write_bytes(gzip.compress(b"".join(lines), 9, mtime=0))
            new.replace(self._packed)
        self._journal.unlink()


def forget(stem: Path, games: int) -> None:
    """Remove a journal whose games were not worth packing, as their numbers are known now, unless it has more games than these."""
    journal = stem.with_name(f"{stem.name}.jsonl")
    if journal.exists() and sum(1 for _ in _lines(journal)) <= 1 + games:
        journal.unlink()
        if not any(journal.parent.iterdir()):
            journal.parent.rmdir()


def trim(folder: Path, most: int = MOST) -> list[Path]:
    """Remove packed files until the others have at most this number of bytes, and return the removed ones.

    Files whose games are quickest to play again, by byte, come first.
    """
    files = sorted(folder.rglob("*.jsonl.gz"))
    sizes = {path: path.stat().st_size for path in files}
    removed: list[Path] = []
    if sum(sizes.values()) > most:
        by_worth = sorted(files, key=lambda path: _seconds_in(path) / sizes[path])
        while sum(sizes.values()) > most:
            removed.append(by_worth.pop(0))
            removed[-1].unlink()
            del sizes[removed[-1]]
    return removed


def _seconds_in(packed: Path) -> float:
    """The seconds of the processor that the games of a file have taken."""
    try:
        return float(json.loads(next(_lines(packed), b""))["seconds"])
    except (ValueError, KeyError, TypeError):
        raise BadRecord(f"line 1 of {packed} is damaged; remove the file, and its games are played again") from None


def commit_here() -> str:
    """The commit of this checkout, with a + if files that play have changed since; empty if it is no checkout of git."""
    try:
        top, commit = _git("rev-parse", "--show-toplevel", "--short=10", "HEAD").split()
        if Path(top).resolve() != _ROOT:
            return ""
        return commit + "+" * bool(_git("status", "--porcelain", "--", "kdenv", "baselines/papers/*.py"))
    except (OSError, subprocess.CalledProcessError, ValueError):
        return ""


def _git(*words: str) -> str:
    command = ["git", "-C", str(_ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout.strip()


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, without a last one that has no end. Raises BadRecord if it cannot be unpacked."""
    try:
        with gzip.GzipFile(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadRecord(f"{path} is damaged ({error}); remove it, and its games are played again") from None


def _line_of(kept: Kept) -> bytes:
    return _as_line({**asdict(kept.result), "commit": kept.commit})


def _as_line(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, separators=(",", ":")) + "\n").encode()


def _rounded(numbers: Any) -> Any:
    """The same with four digits of each fraction: more of a time means nothing, and cannot be packed."""
    if isinstance(numbers, (list, tuple)):
        return [_rounded(each) for each in numbers]
    return float(f"{numbers:.4g}") if isinstance(numbers, float) else numbers
