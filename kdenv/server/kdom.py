"""The protocol of the Kingdomino paper's game server, so that its clients can play here. Routes, documents and layout are the same.

All public games of Kingdomino by the paper's rules are shown, also those made by the API or on the page. The API and the page show the
games that are made here. Unsafe parts of the original are not copied: a move does not take the game back, chance is secret, and only hosts
that the operator allows are called. Nobody waits for them. The documents come from kdenv/games/kingdomino/kdom.py.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote_plus
from weakref import WeakKeyDictionary
from xml.sax.saxutils import escape, quoteattr

from starlette.types import Receive, Scope, Send

from kdenv.core.errors import KdenvError
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.kingdomino import kdom as documents
from kdenv.server.callbacks import Callbacks
from kdenv.server.errors import Damaged, RequestError
from kdenv.server.origin_check import name_in
from kdenv.server.rate_limit import Limiter
from kdenv.server.running_game import Live, carry_out
from kdenv.server.service import Hall
from kdenv.server.store import StoredGame
from kdenv.server.tokens import new_uuid
from kdenv.server.visibility import moment

_LOG = logging.getLogger("kdenv.server")
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_LISTED = 200  # games that a list holds, those that changed last
_FASTER = 5  # times as many requests as by the API are allowed, because the paper's clients ask without pause
_JSON, _HTML = b"application/json", b"text/html;charset=utf-8"


class Answer(NamedTuple):
    """A status, a type and a body."""

    status: int
    kind: bytes
    body: bytes


_NOT_FOUND = Answer(404, _JSON, b"Not found")
_BAD = Answer(400, _JSON, b"Not found")
_NO_ROUTE = Answer(404, _HTML, b"<html><body><h2>404 Not found</h2></body></html>")


class Written(str):
    """A document that has been written, as a part of another one."""


def written(value: Any, level: int = 0) -> str:
    """A document in the layout of the original: two blanks for each level, a key on each line, the elements of a list side by side."""
    if isinstance(value, Written):
        return value
    if isinstance(value, dict):
        blanks = "  " * (level + 1)
        keys = ",\n".join(f"{blanks}{json.dumps(key)}:{written(inside, level + 1)}" for key, inside in value.items())
        return f"{{\n{keys}\n{'  ' * level}}}"
    if isinstance(value, list):
        return f"[{','.join(written(inside, level) for inside in value)}]"
    return json.dumps(value, ensure_ascii=False)


class _Past:
    """The positions of a game between turns, from the first to the last, and the dominoes that were placed until then."""

    def __init__(self, live: Live) -> None:
        self._done, self._table = 0, live.new_table()
        self.positions: list[tuple[Any, int]] = []  # a state of one game, and the number of dominoes placed before
        self.used: list[int] = []

    def go_on(self, live: Live) -> None:
        """Add the events of the game since the last call."""
        for row in live.rows[self._done :]:
            if row.kind == "action":
                placed = documents.placed_by(self._table.states[0], row.number)
                self.used += [] if placed is None else [placed]
            if row.kind in ("action", "chance"):
                carry_out(self._table, row)
                state = self._table.states
                if documents.is_between_turns(state[0]) and documents.n_moves(state[0]) == len(self.positions):
                    self.positions.append((state.copy(), len(self.used)))
        self._done = len(live.rows)


class Kdom:
    """The application that speaks the protocol."""

    def __init__(self, hall: Hall, callbacks: Callbacks, page_port: int) -> None:
        self._hall, self._callbacks, self._page_port = hall, callbacks, page_port
        self._game = find_game("kingdomino")
        self._standard = {n: self._game.options_of(self._game.variant(n)[1]) for n in self._game.players}
        limits = hall.settings.limits
        self._requests = Limiter(_FASTER * limits.requests, 2 * _FASTER * limits.requests)
        self._making = Limiter(limits.games_an_hour / 3600, max(1, limits.games_an_hour))
        self._pasts: WeakKeyDictionary[Live, _Past] = WeakKeyDictionary()
        self._briefs: dict[str, tuple[float, Written]] = {}  # by game: the brief document, and the time of the change that it tells
        self._told: dict[str, int] = {}  # by game: the number of moves after which its agents were last called
        hall.when_changed.append(self._tell)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        client = scope["client"][0] if scope.get("client") else "unknown"
        try:
            if self._requests.take(client):
                answer = Answer(429, _JSON, b"Not found")
            else:
                place = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
                answer = await self._answer(method, scope["raw_path"], await self._given(scope, receive), client, place)
        except (RequestError, KdenvError) as error:
            _LOG.info("refused: %s", error)
            busy = isinstance(error, RequestError) and error.status in (429, 503)
            answer = Answer(503, _JSON, b"Not found") if busy else _NOT_FOUND
        except Exception:
            _LOG.exception("a request of the paper's protocol failed")
            answer = Answer(500, _HTML, b"<html><body><h2>500 Internal Error</h2></body></html>")
        headers = [(b"content-type", answer.kind), (b"content-length", str(len(answer.body)).encode())]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer.body})

    async def _given(self, scope: Scope, receive: Receive) -> dict[str, str]:
        """The parameters of the query and, for a POST, of a form in the body. A body that is too long is not read."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        kinds = [value for name, value in scope["headers"] if name == b"content-type"]
        if scope["method"] == "POST" and kinds and kinds[0].startswith(b"application/x-www-form-urlencoded"):
            body, more = b"", True
            while more and len(body) <= self._hall.settings.limits.body:
                message = await receive()
                body, more = body + message.get("body", b""), message.get("more_body", False)
            pairs = [*parse_qsl(body.decode("latin-1"), keep_blank_values=True), *pairs]
        return dict(pairs)

    async def _answer(self, method: str, raw_path: bytes, given: dict[str, str], client: str, place: str) -> Answer:
        raw = raw_path.partition(b"?")[0].decode("latin-1")
        parts = [unquote_plus(part) for part in raw.split("/") if part]
        if raw.endswith("/") and parts:
            parts.append("")  # a slash at the end is a part of the route
        match method, parts:
            case "GET", []:
                return self._front(place)
            case "GET", ["ping"]:
                return Answer(200, _JSON, b"Server is up")
            case "GET", ["new-games", ""]:
                return await self._new_games(client)
            case "POST", ["new-games", ""]:
                return self._make(given, client)
            case "POST", ["new-games", id, "join", name]:
                return self._join(id, name, given)
            case "GET", ["games", ""]:
                return await self._games(client)
            case "GET", ["games", id] if id:
                return self._position(id, given, self._document)
            case "GET", ["games", id, "available-moves"]:
                return self._position(id, given, self._moves)
            case "POST", ["games", id, "players", token, "moves", number]:
                return self._move(id, token, number)
        return _NO_ROUTE

    def _front(self, place: str) -> Answer:
        """A page with a link to the server's page, under the name by which the client knows this machine."""
        host = name_in(place) or "localhost"
        address = f"http://{f'[{host}]' if ':' in host else host}:{self._page_port}/"
        words = f"This port speaks the protocol of the Kingdomino paper. People play at <a href={quoteattr(address)}>{escape(address)}</a>."
        return Answer(200, _HTML, f"<html><body><p>{words}</p></body></html>".encode())

    # Before the game

    def _make(self, given: dict[str, str], client: str) -> Answer:
        wanted = given.get("playerCount", "4")
        if wanted not in ("2", "3", "4") or self._making.take(client):
            return _BAD
        longest = self._hall.settings.limits.turn_seconds  # the protocol has no clock
        live = self._hall.make(self._game.name, int(wanted), {}, [], turn_seconds=longest, client=client)
        return Answer(201, _JSON, written(self._new_game(live.kept)).encode())

    async def _new_games(self, client: str) -> Answer:
        return _done({"newGames": [self._new_game(kept) for kept in await self._listed(client, "waiting")]})

    def _join(self, id: str, name: str, given: dict[str, str]) -> Answer:
        live = self._find(id)
        address = given.get("callbackUrl", "")
        if name != name.strip() or "\ufffd" in name:
            return _BAD  # it would be another name
        if address:
            try:
                self._callbacks.check(address)
            except RequestError as error:
                _LOG.warning("%s", error)
                return _BAD
        _, token = self._hall.join(live, name, callback=f"GET {address}" if address else "", token=new_uuid())
        return _done({"name": name, "uuid": token, **({"callBackUrl": address} if address else {})})

    def _new_game(self, kept: StoredGame) -> documents.Document:
        names = [seat.name for seat in kept.seats if seat.kind != "open"]
        return {
            **_head(kept),
            "numberOfPlayers": kept.players,
            "joinedPlayers": [documents.player(names[seat]) for seat in documents.seats_by_name(names)],
        }

    # The game

    async def _games(self, client: str) -> Answer:
        briefs: dict[str, tuple[float, Written]] = {}
        for kept in await self._listed(client, "running", "over"):
            brief = self._briefs.get(kept.id)
            with contextlib.suppress(Damaged):  # which is not listed
                if brief is None or brief[0] != kept.updated:
                    brief = kept.updated, Written(written(self._brief(kept), 1))
                briefs[kept.id] = brief
        self._briefs = briefs
        return _done({"games": [brief for _, brief in briefs.values()]})

    def _brief(self, kept: StoredGame) -> documents.Document:
        names, seat = [each.name for each in kept.seats], None
        turn = documents.n_moves_in_game(kept.players) + 1
        if kept.result is None or not kept.result["finished"]:  # else nothing need be loaded
            live = self._hall.find(kept.id)
            position, _ = self._past(live).positions[-1]
            turn = documents.n_moves(position[0]) + 1
            seat = documents.to_move(position[0]) if live.status == "running" else None
        return {
            **_head(kept),
            "players": [documents.player(names[seat]) for seat in documents.seats_by_name(names)],
            **({} if seat is None else {"playerOnTurn": documents.player(names[seat])}),
            "round": documents.round_of(kept.players, turn),
            "turn": turn,
            "gameOver": kept.status == "over",
        }

    def _position(self, id: str, given: dict[str, str], document: Any) -> Answer:
        """A document about the position now or, with `turn`, about an earlier one."""
        live = self._find(id)
        if live.status == "waiting":
            return _NOT_FOUND
        past = self._past(live)
        now = len(past.positions)
        turn = int(given["turn"]) if re.fullmatch("-?[0-9]{1,9}", given.get("turn", "")) else now
        if not 0 <= turn <= now:
            return _NOT_FOUND
        return _done(document(live, past, now - 1 if turn == now else turn, turn))

    def _document(self, live: Live, past: _Past, place: int, turn: int) -> documents.Document:
        """The position after some moves, as a game with this turn."""
        position, n_used = past.positions[place]
        s, names = position[0], _names(live)
        is_over = live.status == "over" and place == len(past.positions) - 1
        seat = None if is_over else documents.to_move(s)
        return {
            **_head(live.kept),
            "kingdoms": [documents.kingdom(s, seat, names[seat]) for seat in documents.seats_by_name(names)],
            "usedDominoes": [documents.domino(number) for number in past.used[:n_used]],
            "currentDraft": documents.current_draft(s, names),
            "previousDraft": documents.previous_draft(s, names),
            **({} if seat is None else {"currentPlayer": documents.player(names[seat])}),
            "gameOver": is_over,
            "turn": turn,
        }

    def _moves(self, live: Live, past: _Past, place: int, turn: int) -> documents.Document:
        is_over = live.status == "over" and place == len(past.positions) - 1
        found = [] if is_over else documents.moves(past.positions[place][0], 0, self._game.buffer())
        return {"moves": [move.document for move in found]}

    def _move(self, id: str, token: str, number: str) -> Answer:
        live = self._find(id)
        seat = self._hall.seat(live, token)
        if live.status != "running" or not re.fullmatch("[0-9]{1,9}", number) or not documents.is_between_turns(live.table.states[0]):
            return _NOT_FOUND
        found = documents.moves(live.table.states, 0, self._game.buffer())
        if live.mover != seat or int(number) >= len(found):
            return _NOT_FOUND
        self._hall.act(live, seat, live.step, found[int(number)].actions)
        past = self._past(live)
        return _done(self._document(live, past, len(past.positions) - 1, len(past.positions)))

    # Details

    def _find(self, id: str) -> Live:
        """The game of this id, if the protocol can show it."""
        live = self._hall.find(id.lower() if _UUID.fullmatch(id) else "")
        if not self._fits(live.kept):
            raise RequestError(404, "this game is not one of the paper's")
        return live

    def _fits(self, kept: StoredGame) -> bool:
        """True if a game is played by the paper's rules, and decisions cannot be undone."""
        return kept.game == self._game.name and kept.options == self._standard[kept.players] and not kept.settings["casual"]

    async def _listed(self, client: str, *statuses: str) -> list[StoredGame]:
        """The public games of these statuses that changed last, those made last first."""

        def find(check: Callable[[], None]) -> list[StoredGame]:
            listed = self._hall.store.listed
            return [kept for each in statuses for kept in listed(status=each, game=self._game.name, most=_LISTED)[0]]

        found = filter(self._fits, await self._hall.in_turn(client, find))
        return sorted(found, key=lambda kept: -kept.created)[:_LISTED]

    def _past(self, live: Live) -> _Past:
        past = self._pasts.get(live) or self._pasts.setdefault(live, _Past(live))
        past.go_on(live)
        return past

    def _tell(self, live: Live) -> None:
        """Call the agents of a game that gave an address, at its start and after every move."""
        called = [(seat, who.callback[4:]) for seat, who in enumerate(live.kept.seats) if who.callback.startswith("GET ")]
        table: Table = live.table
        if not called or live.status == "waiting" or not documents.is_between_turns(table.states[0]):
            return
        moves = documents.n_moves(table.states[0])
        if self._told.get(live.id) != moves:
            for seat, address in called:
                self._callbacks.call(f"{live.id}/{seat}", address, None)
        self._told[live.id] = moves
        if live.status == "over":
            del self._told[live.id]


def _head(kept: StoredGame) -> documents.Document:
    return {"uuid": kept.id, "created": moment(kept.created), "updated": moment(kept.updated)}


def _names(live: Live) -> list[str]:
    return [seat.name for seat in live.kept.seats]


def _done(document: documents.Document) -> Answer:
    return Answer(200, _JSON, written(document).encode())
