"""The API of the server, /api/v1: its routes and their handlers. openapi.py describes it for programs."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.responses import PlainTextResponse, Response, StreamingResponse

from kdenv.games import find_game, names
from kdenv.server import catalogue, openapi, visibility
from kdenv.server.callbacks import Callbacks
from kdenv.server.describe import Flag, Items, Options, Text, Whole
from kdenv.server.errors import RequestError
from kdenv.server.rate_limit import Limiter
from kdenv.server.running_game import Live
from kdenv.server.service import Hall
from kdenv.server.statistics import MOST, statistics
from kdenv.server.web import Call, Route

ROOT = "/api/v1"
_GAME = f"{ROOT}/games/{{id}}"
_KEEP_ALIVE = 15.0  # seconds between two comments on a stream without events
_PICTURES = 300  # drawings that are kept
_GIF_SECONDS = 120.0  # for making a GIF
_SVG = "image/svg+xml"


class Api:
    """The handlers of all routes."""

    def __init__(self, hall: Hall, callbacks: Callbacks) -> None:
        self.hall, self._callbacks = hall, callbacks
        limits = hall.settings.limits
        self._making = Limiter(limits.games_an_hour / 3600, max(1, limits.games_an_hour))
        self._listeners = 0
        self._filming = asyncio.Lock()
        self._described: dict[str, Any] = {}

    def routes(self) -> list[Route]:
        """All routes of the API."""
        limits = self.hall.settings.limits
        name = Text("a name, which everybody sees", most=limits.name)
        step = Whole("the step at which this was decided: `step` of the state", required=True, most=10**9)
        since = Whole("only when the game has come beyond this step", most=10**9)
        wait = Whole("seconds to wait for that, at most", default=0, most=int(limits.wait))
        policy = Text("a search, such as mce(seconds=1)", default="mce(seconds=1)", most=limits.policy)
        page = {
            "page": Whole("the number of the page", default=1, least=1, most=100_000),
            "size": Whole("games on a page", default=20, least=1, most=100),
        }
        return [
            Route("GET", f"{ROOT}/rules", "The games that can be played here, and their options.", self.rules, gives="Rules"),
            Route(
                "GET", f"{ROOT}/policies", "The programs that can play a game, with a few of recommended strength.", self.policies,
                {"game": Text("the name of a game", required=True, most=60)}, gives="Policies",
            ),
            Route("GET", f"{ROOT}/limits", "The limits for one client and one game.", self.limits, gives="object"),
            Route(
                "GET", f"{ROOT}/games", "Public games, those that changed last first.", self.games,
                {
                    "status": Text("only these games", choices=("waiting", "running", "over")),
                    "game": Text("only games of this name", most=60),
                    "player": Text("only games in which this name plays", most=limits.name),
                    **page,
                },
                gives="Games",
            ),
            Route(
                "POST", f"{ROOT}/games", "Make a game.", self.make,
                body={
                    "game": Text("the name of a game", required=True, most=60),
                    "players": Whole("how many play; if it is not given, as many as seats are named, or the usual number", most=16),
                    "options": Options("the options of its rules", default={}),
                    "seats": Items('for each seat "open", or the text of a program', default=[], of=Text("", most=limits.policy), most=16),
                    "public": Flag("true to list it; else only those who have its address find it", default=True),
                    "turn_seconds": Whole("the time for a decision of a player", least=1, most=limits.turn_seconds),
                    "casual": Flag("true to let a player undo and ask for hints", default=False),
                    "analysis": Flag("true to let everybody analyse it before it is over", default=False),
                    "called": Text("a name for the game", default="", most=limits.name),
                },
                gives="State", status=201,
            ),
            Route("GET", _GAME, "The public state of a game.", self.state, {"since": since, "wait": wait}, gives="State"),
            Route(
                "POST", f"{_GAME}/join", "Take an open seat. The answer has its token, which is sent only once.", self.join,
                body={
                    "name": Text(name.meaning, required=True, most=name.most),
                    "seat": Whole("the seat; the first open one if it is not given", most=15),
                    "callback": Text("an address that is called when the seat is to decide", default="", most=500),
                },
                gives="Joined",
            ),
            Route(
                "GET", f"{_GAME}/seat", "The state of a game for the seat of the token, with its legal actions.", self.seat,
                {"since": since, "wait": wait, "numbers": Flag("true to add the observation as numbers", default=False)},
                token="required", gives="SeatState",
            ),
            Route(
                "POST", f"{_GAME}/act", "Decide for a seat. Sending the same again does nothing more.", self.act,
                body={
                    "step": step,
                    "action": Whole("the action, as `legal` of the state has it", most=10**9),
                    "actions": Items("or the actions of a whole turn", of=Whole("", most=10**9), least=1, most=16),
                },
                token="required", gives="SeatState",
            ),
            Route("POST", f"{_GAME}/resign", "Give a seat up.", self.resign, body={}, token="required", gives="SeatState"),
            Route(
                "POST", f"{_GAME}/undo", "Go back to before the last decision of a seat, in a casual game against programs.", self.undo,
                body={"step": step}, token="required", gives="SeatState",
            ),
            Route(
                "GET", f"{_GAME}/events",
                "The events from a number on. With Accept: text/event-stream, a stream of these and all later events.", self.events,
                {"since": Whole("the number of the first event", default=0, most=10**9), "wait": wait}, token="optional", gives="Events",
            ),
            Route("GET", f"{_GAME}/record", "The whole game as text.", self.record, gives="text/plain"),
            Route("GET", f"{_GAME}/film.gif", "The whole game as a film, when it is over.", self.film, gives="image/gif"),
            Route("GET", f"{_GAME}/curve", "The points of all seats after every step.", self.curve, token="optional", gives="Curve"),
            Route(
                "GET", f"{_GAME}/steps/{{step}}/picture.svg", "The drawing of a position.", self.picture,
                token="optional", gives=_SVG,
            ),
            Route(
                "GET", f"{_GAME}/steps/{{step}}/shapes", "The actions that can be clicked in a drawing, for the seat to move.",
                self.shapes, token="optional", gives="Shapes",
            ),
            Route(
                "POST", f"{_GAME}/steps/{{step}}/analysis", "The analysis of a position by a search.", self.analysis,
                body={"policy": policy}, token="optional", gives="Analysis",
            ),
            Route(
                "GET", f"{ROOT}/statistics", "Results by name, with intervals, and head to head.", self.statistics,
                {"game": Text("the name of a game", required=True, most=60)}, gives="Statistics",
            ),
            Route("GET", f"{ROOT}/openapi.json", "This description.", self.openapi, gives="object"),
        ]  # fmt: skip

    # What there is

    async def rules(self, call: Call) -> Any:
        return {"games": [catalogue.rules_of(find_game(name)) for name in names()]}

    async def policies(self, call: Call) -> Any:
        return await asyncio.to_thread(catalogue.policies_of, find_game(call.query["game"]), self.hall.settings)

    async def limits(self, call: Call) -> Any:
        return vars(self.hall.settings.limits)

    async def openapi(self, call: Call) -> Any:
        if not self._described:
            self._described = openapi.describe(self.routes())
        return self._described

    async def statistics(self, call: Call) -> Any:
        game = find_game(call.query["game"])
        return await asyncio.to_thread(lambda: statistics(game.name, self.hall.store.results(game.name, MOST)))

    # Games

    async def games(self, call: Call) -> Any:
        query = call.query
        first = (query["page"] - 1) * query["size"]
        found, total = self.hall.store.listed(
            status=query["status"], game=query["game"], player=query["player"], first=first, most=query["size"]
        )
        games = []
        for kept in found:
            live = self.hall.live.get(kept.id)
            games.append({**visibility.brief(kept), "step": live.step if live else None, "turn": live.mover if live else None})
        return {"games": games, "total": total, "page": query["page"], "size": query["size"]}

    async def make(self, call: Call) -> Any:
        if self._making.take(call.client):
            raise RequestError(429, "you have made too many games in the last hour; join one, or wait")
        body = dict(call.body)
        live = self.hall.make(body.pop("game"), body.pop("players"), body.pop("options"), body.pop("seats"), **body)
        return visibility.public(live)

    async def state(self, call: Call) -> Any:
        live = self._live(call)
        await self._wait(live, call)
        return visibility.public(live)

    async def join(self, call: Call) -> Any:
        live, body = self._live(call), call.body
        if body["callback"]:
            self._callbacks.check(body["callback"])
        callback = f"POST {body['callback']}" if body["callback"] else ""
        seat, token = self.hall.join(live, body["name"], body["seat"], callback=callback)
        return {"seat": seat, "token": token}

    async def seat(self, call: Call) -> Any:
        live = self._live(call)
        seat = self.hall.seat(live, call.token)
        await self._wait(live, call)
        return visibility.for_seat(live, seat, call.query["numbers"])

    async def act(self, call: Call) -> Any:
        live = self._live(call)
        seat, body = self.hall.seat(live, call.token), call.body
        if (body["action"] is None) == (body["actions"] is None):
            raise RequestError(422, "give either action, a whole number, or actions, a list of them")
        self.hall.act(live, seat, body["step"], [body["action"]] if body["actions"] is None else body["actions"])
        return visibility.for_seat(live, seat)

    async def resign(self, call: Call) -> Any:
        live = self._live(call)
        seat = self.hall.seat(live, call.token)
        self.hall.resign(live, seat)
        return visibility.for_seat(live, seat)

    async def undo(self, call: Call) -> Any:
        live = self._live(call)
        seat = self.hall.seat(live, call.token)
        self.hall.undo(live, seat, call.body["step"])
        return visibility.for_seat(live, seat)

    # Looking at a game

    async def events(self, call: Call) -> Any:
        live, viewer, first = *self._viewed(call), call.query["since"]
        if "text/event-stream" in call.request.headers.get("accept", ""):
            last = call.request.headers.get("last-event-id", "")
            if last.isascii() and last.isdecimal() and len(last) < 10:
                first = int(last) + 1
            self._check_listeners()
            stream = self._stream(live, first, viewer)
            return StreamingResponse(stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        await self._wait_for(live, first, call.query["wait"])
        found = visibility.events(live, first, viewer)
        return {"events": found, "next": first + len(found), "step": live.step, "status": live.status, "turn": live.mover}

    async def record(self, call: Call) -> Any:
        live = self._live(call)
        record = await asyncio.to_thread(self.hall.record, live)
        return PlainTextResponse(record, headers={"Content-Disposition": f'attachment; filename="{live.id}.txt"'})

    async def picture(self, call: Call) -> Any:
        live, viewer = self._viewed(call)
        step = self._step(call, live)
        key, kept = (live.id, step, viewer, live.is_open), self.hall.pictures
        drawn = kept.get(key)
        if drawn is None:
            drawn = await asyncio.to_thread(lambda: visibility.picture(live, live.table_at(step), viewer))
        if len(kept) >= _PICTURES:
            kept.pop(next(iter(kept)))
        kept[key] = drawn
        return Response(drawn, media_type=_SVG, headers={"Cache-Control": "no-store"})

    async def shapes(self, call: Call) -> Any:
        live, viewer = self._viewed(call)
        return visibility.shapes(live, self.hall.table_at(live, self._step(call, live)), viewer)

    async def curve(self, call: Call) -> Any:
        live, viewer = self._viewed(call)
        return await asyncio.to_thread(visibility.curve, live, viewer)

    async def analysis(self, call: Call) -> Any:
        live, viewer = self._viewed(call)
        step = self._step(call, live)
        found = await self.hall.analyse(live, step, viewer, call.body["policy"])
        return {**found, "shapes": visibility.shapes(live, live.table_at(step), viewer)["shapes"]}

    async def film(self, call: Call) -> Any:
        live = self._live(call)
        if live.status != "over":
            raise RequestError(409, "there is a film of a game when it is over")
        async with self._filming:
            return Response(await _gif(await asyncio.to_thread(live.table.record)), media_type="image/gif")

    # Details

    def _live(self, call: Call) -> Live:
        return self.hall.find(call.path["id"])

    def _viewed(self, call: Call) -> tuple[Live, int | None]:
        """The game, and the seat whose token comes with the request; None if there is no token."""
        live = self._live(call)
        return live, None if call.token is None else self.hall.seat(live, call.token)

    def _step(self, call: Call, live: Live) -> int:
        step = int(call.path["step"])
        if step > live.step:
            raise RequestError(404, f"there is no step {step}; this game has the steps 0 to {live.step}")
        return step

    async def _wait(self, live: Live, call: Call) -> None:
        """Wait until the game is beyond the step that the client knows."""
        if call.query["since"] is not None:
            await self._wait_for(live, call.query["since"], call.query["wait"])

    async def _wait_for(self, live: Live, step: int, seconds: float) -> None:
        if seconds <= 0 or self._listeners >= self.hall.settings.limits.listeners:
            return
        self._listeners += 1
        try:
            async with asyncio.timeout(seconds):
                while live.step <= step and live.status != "over" and not self.hall.closing.is_set():
                    await live.changed.wait()
        except TimeoutError:
            pass  # nothing has happened, which the answer shows
        finally:
            self._listeners -= 1

    def _check_listeners(self) -> None:
        if self._listeners >= self.hall.settings.limits.listeners:
            raise RequestError(503, f"{self._listeners} listeners wait for events here, and there may be no more; try again later")

    async def _stream(self, live: Live, first: int, viewer: int | None) -> AsyncIterator[str]:
        """All events from a number on, as Server-Sent Events, until the game is over or the server ends."""
        self._listeners += 1
        try:
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
        finally:
            self._listeners -= 1


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
