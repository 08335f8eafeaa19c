"""The API of the server, /api/v1: its routes and their handlers. models.py has the types of requests and answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from kdenv.games import find_game, names
from kdenv.games.rulebook import rulebook
from kdenv.server import catalogue, models, openapi, visibility
from kdenv.server.callbacks import Callbacks
from kdenv.server.errors import RequestError
from kdenv.server.rate_limit import Limiter
from kdenv.server.running_game import Live
from kdenv.server.service import Hall
from kdenv.server.statistics import MOST, statistics
from kdenv.server.turns import Turns
from kdenv.server.web import Call, Route, route, routes_of

ROOT = "/api/v1"
_GAME = f"{ROOT}/games/{{id}}"
_STEP = f"{_GAME}/steps/{{step}}"
_KEEP_ALIVE = 15.0  # seconds between two comments on a stream without events
_OUTLINED = 4  # candidates of an analysis for which outlines are sent
_FILMS = 2  # films of one client that may wait
_LASTING = {"Cache-Control": "private, max-age=31536000, immutable", "Vary": "Authorization"}
_GIF_SECONDS = 120.0  # for making a GIF
_SVG = "image/svg+xml"
_T = TypeVar("_T")


class Api:
    """The handlers of all routes."""

    def __init__(self, hall: Hall, callbacks: Callbacks) -> None:
        self.hall, self._callbacks = hall, callbacks
        limits = hall.settings.limits
        self._making = Limiter(limits.games_an_hour / 3600, max(1, limits.games_an_hour))
        self._listeners: Counter[str] = Counter()  # requests that wait for events, by client
        self._filming = Turns(1)
        self._described: dict[str, Any] = {}

    def routes(self) -> list[Route]:
        """All routes of the API."""
        return list(routes_of(self))

    # What there is

    @route("GET", f"{ROOT}/rules")
    async def rules(self, call: Call) -> models.Rules:
        """The games that can be played here, and their options."""
        return {"games": [catalogue.rules_of(find_game(name)) for name in names()]}

    @route("GET", f"{ROOT}/rulebook")
    async def rulebook(self, call: Call, query: models.OfGame) -> models.Rulebook:
        """The rules of a game in words."""
        game = find_game(query.game)
        return {"game": game.name, "title": game.title, "markdown": rulebook(game)}

    @route("GET", f"{ROOT}/policies")
    async def policies(self, call: Call, query: models.OfGame) -> models.Policies:
        """The programs that can play a game, with a few of recommended strength."""
        game, settings = find_game(query.game), self.hall.settings
        return await self._slowly(call, ("policies", game.name), lambda check: catalogue.policies_of(game, settings))

    @route("GET", f"{ROOT}/limits")
    async def limits(self, call: Call) -> dict[str, Any]:
        """The limits for one client and one game."""
        return vars(self.hall.settings.limits)

    @route("GET", f"{ROOT}/openapi.json")
    async def openapi(self, call: Call) -> dict[str, Any]:
        """The description of all requests and answers."""
        if not self._described:
            self._described = openapi.describe(self.routes())
        return self._described

    @route("GET", f"{ROOT}/statistics")
    async def statistics(self, call: Call, query: models.StatisticsQuery) -> models.Statistics:
        """Results by name, with intervals, and head to head."""
        game, key = find_game(query.game), ("statistics", query.game, query.table, self.hall.n_over)
        past = self.hall.store.results(game.name, MOST)
        return await self._slowly(call, key, lambda check: statistics(game, past, query.table, check))

    # Games

    @route("GET", f"{ROOT}/games")
    async def games(self, call: Call, query: models.GamesQuery) -> models.Games:
        """Public games, those that changed last first."""
        about = {"status": query.status, "game": query.game, "player": query.player}
        first, most, listed = (query.page - 1) * query.size, query.size, self.hall.store.listed
        found, total = await call.unless_gone(self.hall.in_turn(call.client, lambda check: listed(**about, first=first, most=most)))
        games: list[models.Game] = []
        for kept in found:
            live = self.hall.live.get(kept.id)
            games.append({**visibility.brief(kept), "step": live.step if live else None, "turn": live.mover if live else None})
        return {"games": games, "total": total, "page": query.page, "size": query.size}

    @route("POST", f"{ROOT}/games", status=201)
    async def make(self, call: Call, body: models.MakeBody) -> models.State:
        """Make a game."""
        if self._making.take(call.client):
            raise RequestError(429, "you have made too many games in the last hour; join one, or wait")
        return visibility.public(self.hall.make(**structs.asdict(body), client=call.client))

    @route("GET", _GAME)
    async def state(self, call: Call, query: models.WaitQuery) -> models.State:
        """The public state of a game."""
        live = self._live(call)
        await self._wait(call, live, query)
        return visibility.public(live)

    @route("POST", f"{_GAME}/join")
    async def join(self, call: Call, body: models.JoinBody) -> models.Joined:
        """Take an open seat. The answer has its token, which is sent only once."""
        live = self._live(call)
        if body.callback:
            self._callbacks.check(body.callback)
        seat, token = self.hall.join(live, body.name, body.seat, callback=f"POST {body.callback}" if body.callback else "")
        return {"seat": seat, "token": token}

    @route("POST", f"{_GAME}/leave", token="required")
    async def leave(self, call: Call, body: models.Nothing) -> models.Left:
        """Give a seat back before the game begins. The table is cancelled if nobody is left at it."""
        live, seat = self._seated(call)
        return {"seat": seat, "cancelled": self.hall.leave(live, seat)}

    @route("GET", f"{_GAME}/seat", token="required")
    async def seat(self, call: Call, query: models.SeatQuery) -> models.SeatState:
        """The state of a game for the seat of the token, with its legal actions."""
        live, seat = self._seated(call)
        await self._wait(call, live, query)
        if query.told:
            await self.hall.tell(live)
        return visibility.for_seat(live, seat, numbers=query.numbers, drawn=query.view, told=query.told)

    @route("POST", f"{_GAME}/act", token="required")
    async def act(self, call: Call, query: models.DrawingQuery, body: models.ActBody) -> models.SeatState:
        """Decide for a seat. Sending the same again does nothing more."""
        live, seat = self._seated(call)
        actions = body.actions if body.action is None else [body.action]
        if actions is None or (body.action is not None and body.actions is not None):
            raise RequestError(422, "give either action, a whole number, or actions, a list of them")
        self.hall.act(live, seat, body.step, actions)
        if not query.drawing:
            return visibility.for_seat(live, seat)
        await self.hall.tell(live)
        state, step, table = visibility.for_seat(live, seat, told=True), live.step, live.table
        with contextlib.suppress(RequestError):  # too much of this client waits; the decision has been made all the same
            state["picture"] = await self._picture(call, live, step, seat, query)
            state["shapes"] = visibility.shapes(live, table, seat, narrow=query.narrow)["shapes"]
        return state

    @route("POST", f"{_GAME}/resign", token="required")
    async def resign(self, call: Call, body: models.Nothing) -> models.SeatState:
        """Give a seat up."""
        live, seat = self._seated(call)
        self.hall.resign(live, seat)
        return visibility.for_seat(live, seat)

    @route("POST", f"{_GAME}/undo", token="required")
    async def undo(self, call: Call, body: models.StepBody) -> models.SeatState:
        """Go back to before the last decision of a seat, in a casual game against programs."""
        live, seat = self._seated(call)
        self.hall.undo(live, seat, body.step)
        return visibility.for_seat(live, seat)

    # Looking at a game

    @route("GET", f"{_GAME}/events", token="optional")
    async def events(self, call: Call, query: models.EventsQuery) -> models.Events | Response:
        """The events from a number on. With Accept: text/event-stream, a stream of these and all later events."""
        live, viewer, first = *self._viewed(call), query.since
        if "text/event-stream" in call.request.headers.get("accept", ""):
            last = call.request.headers.get("last-event-id", "")
            if last.isascii() and last.isdecimal() and len(last) < 10:
                first = int(last) + 1
            self._check_listeners(call.client)
            stream = self._stream(call.client, live, first, viewer)
            return StreamingResponse(stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        await self._wait_for(call, live, first, query.wait)
        if query.told:
            await self.hall.tell(live)
        found = visibility.events(live, first, viewer, told=query.told)
        return {"events": found, "next": first + len(found), "step": live.step, "status": live.status, "turn": live.mover}

    @route("GET", f"{_GAME}/record", media="text/plain")
    async def record(self, call: Call) -> Response:
        """The whole game as text."""
        live = self._live(call)
        record = await self._slowly(call, ("record", live.id, live.step, live.status), lambda check: self.hall.record(live))
        return PlainTextResponse(record, headers={"Content-Disposition": f'attachment; filename="{live.id}.txt"'})

    @route("GET", f"{_STEP}/picture.svg", token="optional", media=_SVG)
    async def picture(self, call: Call, query: models.PictureQuery) -> Response:
        """The drawing of a position."""
        live, viewer = self._viewed(call)
        is_open = live.is_open  # else there will be another drawing of this step, when the game is over
        drawn = await self._picture(call, live, self._step(call, live), viewer, query)
        return Response(drawn, media_type=_SVG, headers=_LASTING if is_open else {"Cache-Control": "no-store"})

    @route("GET", f"{_STEP}/shapes", token="optional")
    async def shapes(self, call: Call, query: models.PictureQuery) -> models.Shapes:
        """The actions that can be clicked in a drawing, for the seat to move."""
        live, viewer = self._viewed(call)
        return visibility.shapes(live, live.table_at(self._step(call, live)), viewer, narrow=query.narrow)

    @route("GET", f"{_GAME}/curve", token="optional")
    async def curve(self, call: Call) -> models.Curve:
        """The points of all seats after every step."""
        live, viewer = self._viewed(call)
        key = ("curve", live.id, live.step, viewer, live.is_open)
        return await self._slowly(call, key, lambda check: visibility.curve(live, viewer, check))

    @route("POST", f"{_STEP}/analysis", token="optional")
    async def analysis(self, call: Call, query: models.PictureQuery, body: models.AnalysisBody) -> models.Analysis:
        """The analysis of a position by a search."""
        live, viewer = self._viewed(call)
        step = self._step(call, live)
        found = await call.unless_gone(self.hall.analyse(live, step, viewer, body.policy, call.client))
        table, best = live.table_at(step), [each["actions"] for each in found["candidates"][:_OUTLINED]]
        return {**found, "paths": [visibility.paths_of_turn(live, table, viewer, actions, narrow=query.narrow) for actions in best]}

    @route("GET", f"{_GAME}/film.gif", token="optional", media="image/gif")
    async def film(self, call: Call) -> Response:
        """The whole game as a film, when it is over. It is made for a seat of the game, and kept for everybody."""
        live, viewer = self._viewed(call)
        if live.status != "over":
            raise RequestError(409, "there is a film of a game when it is over")
        key = ("film", live.id)
        if viewer is None and key not in self.hall.results:
            raise RequestError(403, "a film is made for those who played the game; for others 'kdenv replay --gif' makes one of the record")

        async def make() -> bytes:
            async with self._filming.place(call.client, most=_FILMS):
                return await _gif(live.table.record())

        return Response(await call.unless_gone(self.hall.results.get(key, make)), media_type="image/gif")

    # Details

    def _live(self, call: Call) -> Live:
        return self.hall.find(call.path["id"])

    def _seated(self, call: Call) -> tuple[Live, int]:
        """The game, and the seat whose token comes with the request."""
        live = self._live(call)
        return live, self.hall.seat(live, call.token)

    def _viewed(self, call: Call) -> tuple[Live, int | None]:
        """The same; no seat if there is no token."""
        return self._seated(call) if call.token is not None else (self._live(call), None)

    def _step(self, call: Call, live: Live) -> int:
        step = int(call.path["step"])
        if step > live.step:
            raise RequestError(404, f"there is no step {step}; this game has the steps 0 to {live.step}")
        return step

    async def _slowly(self, call: Call, key: Hashable, work: Callable[[Callable[[], None]], _T]) -> _T:
        return await call.unless_gone(self.hall.do_slowly(call.client, key, work))

    async def _picture(self, call: Call, live: Live, step: int, viewer: int | None, query: models.PictureQuery) -> str:
        table, look = live.table_at(step).clone(), {"narrow": query.narrow, "dark": query.dark}
        key = "picture", live.id, step, viewer, live.is_open, *look.values()
        return await self._slowly(call, key, lambda check: visibility.picture(live, table, viewer, **look))

    async def _wait(self, call: Call, live: Live, query: models.WaitQuery) -> None:
        """Wait until the game is beyond the step that the client knows."""
        if query.since is not None:
            await self._wait_for(call, live, query.since, query.wait)

    async def _wait_for(self, call: Call, live: Live, step: int, seconds: float) -> None:
        """Wait until the game is beyond a step, if it is not. RequestError if too many requests wait."""
        if seconds <= 0 or live.step > step or live.status == "over":
            return
        self._check_listeners(call.client)
        with contextlib.suppress(TimeoutError), self._listening(call.client):  # if nothing happens, the answer shows it
            async with asyncio.timeout(seconds):
                await call.unless_gone(self._change(live, step))

    async def _change(self, live: Live, step: int) -> None:
        while live.step <= step and live.status != "over" and not self.hall.closing.is_set():
            await live.changed.wait()

    @contextlib.contextmanager
    def _listening(self, client: str) -> Iterator[None]:
        self._listeners[client] += 1
        try:
            yield
        finally:
            self._listeners[client] -= 1
            if not self._listeners[client]:
                del self._listeners[client]

    def _check_listeners(self, client: str) -> None:
        limits = self.hall.settings.limits
        if self._listeners[client] >= limits.listeners_of_client:
            raise RequestError(
                429, f"{limits.listeners_of_client} of your requests wait for events here, and there may be no more; ask later"
            )
        if self._listeners.total() >= limits.listeners:
            raise RequestError(503, f"{limits.listeners} requests wait for events here, and there may be no more; try again later")

    async def _stream(self, client: str, live: Live, first: int, viewer: int | None) -> AsyncIterator[str]:
        """All events from a number on, as Server-Sent Events, until the game is over or the server ends."""
        with self._listening(client):
            while True:
                changed = live.changed
                while found := visibility.events(live, first, viewer):
                    for event in found:
                        yield f"id: {event['event']}\nevent: {event['kind']}\ndata: {json.dumps(event)}\n\n"
                    first += len(found)
                if live.status == "over" or self.hall.closing.is_set():
                    yield f"event: end\ndata: {json.dumps({'status': live.status, 'step': live.step})}\n\n"
                    return
                try:
                    async with asyncio.timeout(_KEEP_ALIVE):
                        await changed.wait()
                except TimeoutError:
                    yield ": the game waits\n\n"


async def _gif(record: str) -> bytes:
    """A GIF of a game, drawn by `kdenv replay` in another process."""
    with tempfile.TemporaryDirectory() as folder:
        text, film = Path(folder, "game.txt"), Path(folder, "game.gif")
        text.write_text(record, encoding="utf-8")
        pipe = asyncio.subprocess.PIPE
        command = sys.executable, "-m", "kdenv", "replay", str(text), "--gif", str(film)
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL, stderr=pipe)
        try:
            async with asyncio.timeout(_GIF_SECONDS):
                _, said = await process.communicate()
        except TimeoutError:
            raise RequestError(503, "the film takes too long to make; download the record and use 'kdenv replay --gif'") from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode or not film.is_file():
            last = (said.decode("utf-8", "replace").strip().splitlines() or ["it cannot be drawn"])[-1]
            raise RequestError(501, f"this server makes no films: {last.removeprefix('kdenv: ')}")
        return film.read_bytes()
