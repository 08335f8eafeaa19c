"""Keeps games in an SQLite file. A game is its settings, its seats and its events, which are only ever added.

A decision counts once it is written: a game in memory changes only after its events are in the file. The write-ahead log keeps every
answered action through a kill of the process.

Everything is checked when it is read. A damaged game is set aside: it is logged once and not read again, and
nothing of it is changed or deleted.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict, TypeVar

import msgspec
from msgspec import Meta

from kdenv.core.errors import BadOption, shown
from kdenv.server.errors import Damaged, StoreBusy
from kdenv.server.models import EventKind, Result, SeatKind, Status

_LOG = logging.getLogger("kdenv.server")
_T = TypeVar("_T")
_VERSION = 1
_Time = Annotated[float, Meta(ge=0, le=253_402_300_799)]  # until the end of the year 9999, in seconds since 1970
_PATIENCE = 0.2  # seconds to wait for another's lock; the server answers nobody meanwhile
_TABLES = """
CREATE TABLE games (
    id TEXT PRIMARY KEY, game TEXT NOT NULL, players INTEGER NOT NULL, options TEXT NOT NULL, settings TEXT NOT NULL, secret BLOB NOT NULL,
    status TEXT NOT NULL, public INTEGER NOT NULL, created REAL NOT NULL, updated REAL NOT NULL, result TEXT
) WITHOUT ROWID;
CREATE INDEX games_by_status ON games (status, public, updated);
CREATE TABLE seats (
    game TEXT NOT NULL REFERENCES games (id), seat INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, policy TEXT NOT NULL,
    token BLOB, callback TEXT NOT NULL, PRIMARY KEY (game, seat)
) WITHOUT ROWID;
CREATE INDEX seats_by_name ON seats (name);
CREATE TABLE events (
    game TEXT NOT NULL REFERENCES games (id), n INTEGER NOT NULL, kind TEXT NOT NULL, seat INTEGER, number INTEGER NOT NULL,
    seen_by INTEGER NOT NULL, words TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (game, n)
) WITHOUT ROWID;
"""
_COUNTING = """
SELECT id, players, options, settings, result FROM games
WHERE status = 'over' AND public = 1 AND game = ? AND result IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM events AS gone WHERE gone.game = games.id AND gone.kind = 'left' AND NOT EXISTS (
        SELECT 1 FROM events AS done WHERE done.game = games.id AND done.n < gone.n AND done.kind = 'action' AND done.seat = gone.seat))
ORDER BY updated DESC LIMIT ?
"""


class GameRow(NamedTuple):
    """One event of a game, as it is kept."""

    kind: EventKind  # undo (number: the step that it goes back to) or left (a seat is played by the server from now on)
    seat: int | None
    number: int
    seen_by: int  # the seats that see it, as bits; -1 for everybody
    words: str
    time: _Time


class GameSettings(TypedDict):
    """The settings of a game beside its rules: its clock, and what is allowed."""

    turn_seconds: int
    casual: bool
    analysis: bool
    called: str  # the name that its maker gave it


@dataclass
class StoredSeat:
    """The occupant of a seat."""

    kind: SeatKind = "open"
    name: str = ""
    policy: str = ""  # the text of a program
    token: bytes | None = None  # the hash of a player's token
    callback: str = ""  # POST, or GET as in the paper's protocol, and the address


@dataclass
class StoredGame:
    """Everything that is kept of a game but its events."""

    id: Annotated[str, Meta(min_length=36, max_length=36)]
    game: str
    players: Annotated[int, Meta(ge=1, le=64)]
    options: dict[str, Any]
    settings: GameSettings
    secret: Annotated[bytes, Meta(max_length=64)]  # the root of all chance and all seeds of programs
    public: bool
    created: _Time
    updated: _Time
    status: Status = "waiting"
    result: Result | None = None
    seats: list[StoredSeat] = field(default_factory=list)


class PastGame(NamedTuple):
    """A game that is over, for statistics."""

    options: dict[str, Any]
    casual: bool
    result: Result
    names: list[str]  # by seat


class Store:
    """The file. Every method is one transaction, and raises StoreBusy if the file cannot be written."""

    def __init__(self, path: Path | str) -> None:
        """Open the file, or make it. BadOption if it is not ours or cannot be used."""
        self._path = path
        self.damaged: dict[str, str] = {}  # the games that are set aside, by id, each with the reason
        try:
            self._db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            self._db.text_factory = _text
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("PRAGMA foreign_keys=ON")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                (others,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if others:
                    raise BadOption(f"{path} is a database of another program; choose another --database")
                self._db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version={_VERSION}; COMMIT;")
            elif version != _VERSION:
                raise BadOption(f"{path} was written by another version of kdenv ({version}, not {_VERSION}); choose another --database")
        except sqlite3.Error as error:
            raise BadOption(f"the database {path} cannot be used: {error}; choose another --database") from None

    def close(self) -> None:
        """Write the log back into the file, and close it."""
        self._db.close()

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            raise StoreBusy(str(error)) from None

    # Writing

    def add(self, game: StoredGame, rows: Sequence[GameRow] = ()) -> None:
        """Keep a new game with its seats and, if all seats are taken, its first events."""
        with self._change() as db:
            db.execute(
                "INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(game.id, game.game, game.players, json.dumps(game.options), json.dumps(game.settings), game.secret),
                    *(game.status, game.public, game.created, game.updated, None),
                ),
            )
            for number, seat in enumerate(game.seats):
                db.execute("INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?, ?)", (game.id, number, *vars(seat).values()))
            _append(db, game.id, 0, rows, game.status, game.updated, game.result)

    def take_seat(self, game: str, number: int, seat: StoredSeat, rows: Sequence[GameRow], status: Status, updated: float) -> None:
        """Keep the occupant of a seat and, if it was the last open one, the first events of the game."""
        with self._change() as db:
            db.execute(
                "UPDATE seats SET kind = ?, name = ?, policy = ?, token = ?, callback = ? WHERE game = ? AND seat = ?",
                (*vars(seat).values(), game, number),
            )
            _append(db, game, 0, rows, status, updated, None)

    def append(self, game: str, first: int, rows: Sequence[GameRow], status: Status, updated: float, result: Result | None) -> None:
        """Add events, the first of which has this number, and the new status of the game."""
        with self._change() as db:
            _append(db, game, first, rows, status, updated, result)

    def remove(self, game: str) -> None:
        """Forget a game that never began."""
        with self._change() as db:
            for table, key in (("events", "game"), ("seats", "game"), ("games", "id")):
                db.execute(f"DELETE FROM {table} WHERE {key} = ?", (game,))

    # Reading

    def set_aside(self, game: str, why: Exception) -> None:
        """Stop reading this game, because it is damaged."""
        if game not in self.damaged:
            self.damaged[game] = reason = shown(why) if isinstance(why, ValueError) else f"{type(why).__name__}: {shown(why)}"
            _LOG.error("game %s is damaged and set aside, and nothing of it is deleted: %s", game, reason)

    def load(self, game: str) -> StoredGame | None:
        """The game of this id; None if there is none. Raises Damaged if it is set aside."""
        found = self._games("WHERE id = ?", (game,))
        if game in self.damaged:
            raise Damaged(game)
        return found[0] if found else None

    def rows(self, game: str) -> list[GameRow]:
        """The events of a game in order. ValueError if they are damaged."""
        found = self._db.execute(
            "SELECT n, kind, seat, number, seen_by, words, time FROM events WHERE game = ? ORDER BY n", (game,)
        ).fetchall()
        if missing := set(range(len(found))) - {row[0] for row in found}:
            raise ValueError(f"its event {min(missing)} is missing")
        return _checked("events", [row[1:] for row in found], list[GameRow])

    def unfinished(self) -> list[StoredGame]:
        """The games that wait or run."""
        try:
            return self._games("WHERE status != 'over' ORDER BY created", ())
        except sqlite3.DatabaseError as error:
            raise BadOption(f"the database {self._path} cannot be read: {error}; use a copy of it, or choose another --database") from None

    def listed(
        self, *, status: str | None = None, game: str | None = None, player: str | None = None, first: int = 0, most: int
    ) -> tuple[list[StoredGame], int]:
        """Public games of this status, game and player, those that changed last first, from the `first` on; and how many there are in all.

        Any thread may ask for them.
        """
        where, values = ["public = 1"], list[Any]()
        for column, value in (("status", status), ("game", game)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        if player is not None:
            where.append("id IN (SELECT game FROM seats WHERE name = ?)")
            values.append(player)
        condition = "WHERE " + " AND ".join(where)
        with self._reading() as db:
            (total,) = db.execute(f"SELECT count(*) FROM games {condition}", values).fetchone()
            return self._games(f"{condition} ORDER BY updated DESC, id LIMIT ? OFFSET ?", (*values, most, first), db), total

    def results(self, game: str, most: int) -> Iterator[PastGame]:
        """The last public games of a game that are over. Any thread may ask for them.

        A game counts if everybody who left it had decided before. A program is known by its text, whatever its seat was called.
        """
        with self._reading() as db:
            found = db.execute(_COUNTING, (game, most)).fetchall()
            names = "SELECT CASE kind WHEN 'program' THEN policy ELSE name END FROM seats WHERE game = ? ORDER BY seat"
            for id, players, options, settings, result in found:
                seated = [name for (name,) in db.execute(names, (id,))]
                try:
                    casual = _json("settings", settings, GameSettings)["casual"]
                    ended = _of_all_seats(_json("result", result, Result), players)
                    yield PastGame(_json("options", options, dict[str, Any]), casual, ended, seated)
                except ValueError as error:
                    self.set_aside(id, error)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for reading, so that a thread that reads much holds up nobody."""
        with closing(sqlite3.connect(self._path, timeout=_PATIENCE, check_same_thread=False)) as db:
            db.text_factory = _text
            yield db

    def _games(self, condition: str, values: Sequence[Any], db: sqlite3.Connection | None = None) -> list[StoredGame]:
        """The games of this condition, without those that are set aside."""
        db = db or self._db
        names = "id", "game", "players", "options", "settings", "secret", "public", "created", "updated", "status", "result"
        games = []
        for columns in db.execute(f"SELECT {', '.join(names)} FROM games {condition}", values).fetchall():
            id = columns[0]
            if id in self.damaged:
                continue
            try:
                seats = db.execute("SELECT seat, kind, name, policy, token, callback FROM seats WHERE game = ? ORDER BY seat", (id,))
                games.append(_game(dict(zip(names, columns, strict=True)), seats.fetchall()))
            except (ValueError, sqlite3.DatabaseError) as error:
                self.set_aside(id, error)
        return games


def _append(db: sqlite3.Connection, game: str, first: int, rows: Sequence[GameRow], *about: Any) -> None:
    """Add events, and set the status, the time and the result of the game."""
    db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ((game, first + i, *row) for i, row in enumerate(rows)))
    status, updated, result = about
    written = None if result is None else json.dumps(result)
    db.execute("UPDATE games SET status = ?, updated = ?, result = ? WHERE id = ?", (status, updated, written, game))


# Checks of what is read, by its types


def _game(columns: dict[str, Any], seated: Sequence[Sequence[Any]]) -> StoredGame:
    """The game of these columns and seats. ValueError if they are none of ours."""
    if [number for number, *_ in seated] != list(range(len(seated))):
        raise ValueError("its list of seats has gaps")
    for name in ("options", "settings", "result"):
        columns[name] = columns[name] if columns[name] is None else _json(name, columns[name], Any)
    seats = [dict(zip(StoredSeat.__annotations__, seat, strict=True)) for _, *seat in seated]
    game = _checked("data", {**columns, "public": columns["public"] != 0, "seats": seats}, StoredGame)
    if len(game.seats) != game.players:
        raise ValueError(f"its list of seats has {len(game.seats)}, and {game.players} play")
    if game.result is not None:
        _of_all_seats(game.result, game.players)
    return game


def _of_all_seats(result: Result, players: int) -> Result:
    """A result, if it has numbers for so many seats. ValueError if not."""
    if any(len(each) != players for each in (result["scores"], result["ranks"], result["wins"], result["margins"])):
        raise ValueError(f"its result is not one of {players} players")
    return result


def _checked(what: str, value: Any, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(value, kind, builtin_types=(bytes,))
    except msgspec.ValidationError as error:
        raise ValueError(f"its {what}: {error}") from None


def _json(what: str, text: Any, kind: Any) -> Any:
    """The value in a column of JSON."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, TypeError, RecursionError) as error:
        raise ValueError(f"its {what}: {error}") from None


def _text(raw: bytes) -> str:
    """A text of the file. One that is damaged must not stop the reading of others."""
    return raw.decode("utf-8", "replace")
