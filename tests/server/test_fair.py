"""One client must not stop the rest: queues in turn, work that ends when nobody waits for it, and bounds on what a client may hold."""

import asyncio
import contextlib
import dataclasses
import gzip
import json
import logging
import secrets
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served import GENEROUS, Served
from test_games import decide, seated

import kdenv
from kdenv.server import api, kdom, visibility
from kdenv.server.callbacks import Callbacks
from kdenv.server.connections import Connections, OnceAMinute
from kdenv.server.errors import RequestError
from kdenv.server.running_game import Live, carry_out
from kdenv.server.service import Hall
from kdenv.server.settings import Limits, ServerSettings
from kdenv.server.store import Store, StoredGame, StoredSeat
from kdenv.server.turns import Cancelled, Results, Threads, Turns


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def casual_game() -> Live:
    """A casual game of one person in which half of 40 decisions were undone."""
    settings = {"casual": True, "turn_seconds": 60, "called": ""}
    seats = [StoredSeat("player", "Ann"), StoredSeat("program", "greedy", "greedy")]
    kept = StoredGame(str(uuid.uuid4()), "carcassonne", 2, {}, settings, secrets.token_bytes(32), True, 0.0, 0.0, seats=seats)
    live = Live(kept)
    live.take(live.start(), "running", 0.0, None)
    for number in range(40):
        seat = live.table.seat
        assert seat is not None
        live.take(live.after(seat, live.table.legal()[-1:]), "running", 0.0, None)
        if number % 2:
            live.take(live.undone(seat), "running", 0.0, None)
    return live


# Turns, threads and results


def test_places_go_to_the_lowest_rank_and_to_one_client_after_the_other() -> None:
    async def order() -> list[str]:
        turns, done = Turns(1), list[str]()

        async def work(name: str, client: str, rank: int) -> None:
            async with turns.place(client, rank):
                done.append(name)
                await asyncio.sleep(0)

        asked = [
            ("first", "x", 1),
            ("a1", "a", 1),
            ("a2", "a", 1),
            ("a3", "a", 1),
            ("b1", "b", 1),
            ("p1", "p", 0),
            ("p2", "p", 0),
            ("q1", "q", 0),
        ]
        await asyncio.gather(*(work(*each) for each in asked))
        return done

    assert asyncio.run(order()) == ["first", "p1", "q1", "p2", "a1", "b1", "a2", "a3"]


def test_a_place_of_cancelled_work_goes_on_and_a_full_queue_refuses() -> None:
    async def main() -> None:
        turns = Turns(1)

        async def hold(client: str) -> None:
            async with turns.place(client, most=2):
                await asyncio.sleep(0.01)

        async with turns.place("a"):
            waiting = [asyncio.create_task(hold("b")) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(RequestError, match="2 of your requests wait"):
                await hold("b")
            other = asyncio.create_task(hold("c"))
            await asyncio.sleep(0)
            waiting[0].cancel()
        await asyncio.wait_for(asyncio.gather(waiting[1], other), 5)
        async with asyncio.timeout(5), turns.place("d"):
            pass

    asyncio.run(main())


def test_results_are_found_once_kept_and_cancelled_when_nobody_waits() -> None:
    async def main() -> None:
        results, begun, cancelled = Results(10), list[str](), list[str]()

        async def work(key: str) -> str:
            begun.append(key)
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                cancelled.append(key)
                raise
            return key * 4

        both = [asyncio.create_task(results.get("a", lambda: work("a"))) for _ in range(2)]
        await asyncio.sleep(0)
        both[0].cancel()
        assert await both[1] == "aaaa"
        assert await results.get("a", lambda: work("a")) == "aaaa"
        assert begun == ["a"]
        gone = asyncio.create_task(results.get("b", lambda: work("b")))
        await asyncio.sleep(0.001)
        gone.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone
        await asyncio.sleep(0.001)
        assert cancelled == ["b"]
        for key in "cd":  # twelve letters do not fit into ten
            await results.get(key, lambda key=key: work(key))
        assert ["a" in results, "c" in results, "d" in results] == [False, True, True]

    asyncio.run(main())


def test_kept_documents_count_for_the_memory_that_they_take() -> None:
    """A curve of 400 steps takes 80 KB. All counted for 2 KB, so that 64 MB of results were gigabytes."""

    async def main() -> int:
        results = Results(1_000_000)
        for number in range(100):

            async def curve() -> dict[str, list[list[int]]]:
                return {"scores": [[300 + step] * 4 for step in range(400)]}

            await results.get(number, curve)
        return sum(number in results for number in range(100))

    assert 5 < asyncio.run(main()) < 15


def test_work_in_a_thread_ends_when_it_is_cancelled_and_no_end_waits_for_it() -> None:
    begun, ended, stuck = threading.Event(), threading.Event(), threading.Event()

    def endless(check: Callable[[], None]) -> None:
        begun.set()
        try:
            while True:
                time.sleep(0.001)
                check()
        except Cancelled:
            ended.set()
            raise

    async def main() -> None:
        threads = Threads(2)
        doing = asyncio.create_task(threads.do(endless))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        doing.cancel()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(threads.do(lambda check: stuck.wait(20)), 0.05)
        assert await threads.do(lambda check: 5) == 5

    started = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - started < 10
    assert ended.wait(5)
    stuck.set()


# A client that asks for much


def test_a_curve_plays_no_line_again_and_undoing_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    live = casual_game()
    expected = [visibility._scores(live, live.table_at(step), None) for step in range(live.step + 1)]
    assert sum(row.kind == "undo" for row in live.rows) == 20
    carried_out = []
    from kdenv.server import running_game

    monkeypatch.setattr(running_game, "carry_out", lambda table, row: (carried_out.append(row), carry_out(table, row)))
    assert visibility.curve(live, None)["scores"] == expected
    assert len(carried_out) == live.step - 20
    again = Live(live.kept, live.rows)
    assert again.table.record() == live.table.record()
    assert len(carried_out) == 2 * (live.step - 20)


def test_a_game_has_so_many_undos(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite", limits=dataclasses.replace(GENEROUS, undos=2)) as served:
        id = served.make("carcassonne", ["open", "greedy"], casual=True)
        token = served.join(id, "Ann")
        for _ in range(3):
            state = served.get(f"/games/{id}/seat", token)
            while not state["legal"]:
                state = served.get(f"/games/{id}/seat?since={state['step']}&wait=20", token)
            state = served.post(f"/games/{id}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, token)
            while not state["legal"]:
                state = served.get(f"/games/{id}/seat?since={state['step']}&wait=20", token)
            status, answer = served.ask("POST", f"/games/{id}/undo", {"step": state["step"]}, token)
        assert (status, answer["error"][:31]) == (409, "2 decisions have been undone in")


@pytest.fixture
def slow_curves(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Curves that take 20 s. The list holds what became of each."""
    notes: list[str] = []

    def curve(live: Live, viewer: int | None, check: Callable[[], None]) -> Any:
        notes.append("begun")
        try:
            for _ in range(2000):
                time.sleep(0.01)
                check()
        except Cancelled:
            notes.append("cancelled")
            raise
        return {"scores": []}

    monkeypatch.setattr(visibility, "curve", curve)
    yield notes


def ask_and_go(port: int, path: str, seconds: float = 0.3) -> None:
    """Send a request, and close the connection without reading."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(seconds)


def test_work_is_cancelled_when_its_client_goes_and_others_are_served(tmp_path: Path, slow_curves: list[str]) -> None:
    with Served(tmp_path / "games.sqlite") as served:
        games = [seated(served, "carcassonne")[0] for _ in range(8)]
        clients = [threading.Thread(target=ask_and_go, args=(served.port, f"/api/v1/games/{id}/curve")) for id in games]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        started = time.monotonic()
        assert served.raw("GET", f"/api/v1/games/{games[0]}/steps/0/picture.svg")[0] == 200
        assert time.monotonic() - started < 10
        until(lambda: slow_curves.count("begun") == slow_curves.count("cancelled") >= 1)


def test_an_end_waits_for_no_work(tmp_path: Path, slow_curves: list[str]) -> None:
    with Served(tmp_path / "games.sqlite") as served:
        id, _ = seated(served, "carcassonne")
        waiting = threading.Thread(target=_quietly, args=(served, id), daemon=True)
        waiting.start()
        until(lambda: bool(slow_curves))
        started = time.monotonic()
    assert time.monotonic() - started < 10
    waiting.join(10)


@pytest.mark.cold
def test_the_process_that_makes_a_film_ends_when_nobody_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A film takes up to half a minute of work."""
    made = list[Any]()
    start = asyncio.create_subprocess_exec

    async def noted(*command: Any, **about: Any) -> Any:
        made.append(await start(*command, **about))
        return made[-1]

    async def main() -> int:
        monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
        table = kdenv.table("carcassonne")
        film = asyncio.create_task(api._gif(table.record()))
        while not made:
            await asyncio.sleep(0.01)
        film.cancel()
        async with asyncio.timeout(10):
            return int(await made[0].wait())

    assert asyncio.run(main()) != 0


def _quietly(served: Served, id: str) -> None:
    with contextlib.suppress(Exception):
        served.raw("GET", f"/api/v1/games/{id}/curve")


def test_a_list_that_takes_long_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 20,000 games in the file, a page of the games of a player took 40 to 80 ms, in which nobody else was answered."""
    reading, go_on = threading.Event(), threading.Event()

    def listed(self: Store, **about: Any) -> tuple[list[StoredGame], int]:
        reading.set()
        go_on.wait(30)
        return [], 0

    monkeypatch.setattr(Store, "listed", listed)
    with Served(tmp_path / "games.sqlite", kdom=True) as served:
        for path, port in (("/api/v1/games?player=Ann", 0), ("/games/", served.kdom_port)):
            lister = threading.Thread(target=served.raw, args=("GET", path), kwargs={"port": port})
            lister.start()
            assert reading.wait(30)
            started = time.monotonic()
            assert served.get("/limits")["games"]
            assert time.monotonic() - started < 20
            go_on.set()
            lister.join()
            reading.clear()
            go_on.clear()


def test_a_list_of_the_papers_port_plays_no_game_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The positions of 100 games were kept. With 200, each list played all of them again: 75 ms, a thousand times a second."""

    async def main() -> list[int]:
        hall, counts = Hall(Store(tmp_path / "games.sqlite"), ServerSettings()), list[int]()
        server = kdom.Kdom(hall, Callbacks((), ()), 1)
        monkeypatch.setattr(kdom, "carry_out", lambda table, row: (counts.append(1), carry_out(table, row)))
        games = [hall.make("kingdomino", 2, {}, [], client=str(number)) for number in range(120)]
        for live in games:
            for name in ("Ann", "Bob"):
                hall.join(live, name)
        found = []
        for _ in range(3):
            counts.clear()
            assert (await server._answer("GET", b"/games/", {}, "a", "")).body.count(b'"uuid"') >= len(games)
            found.append(len(counts))
            seat = games[5].mover
            assert seat is not None
            hall.act(games[5], seat, games[5].step, games[5].table.legal()[:1])
        await hall.close()
        return found

    first, *others = asyncio.run(main())
    assert first >= 120
    assert all(1 <= each < 10 for each in others)


# Connections


def test_a_client_has_so_many_connections_and_idle_ones_are_closed(tmp_path: Path) -> None:
    limits = dataclasses.replace(GENEROUS, connections=5, header_seconds=1.5, body_seconds=0.5)
    with Served(tmp_path / "games.sqlite", limits=limits) as served, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=20)) for _ in range(5)]
        time.sleep(0.2)
        refused = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=20))
        with contextlib.suppress(ConnectionResetError):
            refused.sendall(b"GET /api/v1/limits HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert refused.recv(100) == b""
        idle[0].sendall(b"GET /api/v1/limits HTTP/1.1\r\n")  # the rest comes letter by letter, which gives no more time
        for letter in b"Host: localhost":
            with contextlib.suppress(OSError):
                idle[0].sendall(bytes([letter]))
            time.sleep(0.12)
        for connection in idle:
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(100) == b""
        assert served.get("/limits")["connections"] == 5
        slow = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=20))
        slow.sendall(b"POST /api/v1/games HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
        started = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            assert slow.recv(100) == b""
        assert time.monotonic() - started < 10


def test_a_client_has_at_most_half_of_the_connections_and_a_proxy_all() -> None:
    connections = Connections(Limits(), 10, proxy="10.0.0.1")
    assert [connections.admit("10.0.0.2") for _ in range(6)] == [True] * 5 + [False]
    assert [connections.admit("10.0.0.1") for _ in range(6)] == [True] * 5 + [False]
    connections.leave("10.0.0.2")
    assert connections.admit("10.0.0.3")


def test_a_log_has_a_text_once_a_minute() -> None:
    now = [0.0]
    log = OnceAMinute(lambda: now[0])

    def lets(text: str) -> bool:
        return log.filter(logging.LogRecord("asyncio", logging.ERROR, "", 0, text, (), None))

    assert [lets("socket.accept() out of system resource") for _ in range(1000)].count(True) == 1
    assert lets("another")
    now[0] = 61.0
    assert lets("socket.accept() out of system resource")


def test_a_client_has_so_many_listeners(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite", limits=dataclasses.replace(GENEROUS, listeners_of_client=3, listeners=5)) as served:
        id, _ = seated(served, "carcassonne")
        step = served.get(f"/games/{id}")["step"]
        path = f"/api/v1/games/{id}/events?since={step}&wait=20"
        clients = [threading.Thread(target=ask_and_go, args=(served.port, path, 1.5)) for _ in range(3)]
        for client in clients:
            client.start()
        time.sleep(0.5)
        status, headers, body = served.raw("GET", path)
        assert (status, headers["retry-after"], b"3 of your requests" in body) == (429, "1", True)
        assert served.get(f"/games/{id}/events?since=0&wait=20")["events"]  # there is nothing to wait for
        for client in clients:
            client.join()
        until(lambda: served.raw("GET", path.replace("wait=20", "wait=1"))[0] == 200)  # those who went are not counted


# Programs


def test_so_many_games_run_in_which_only_programs_play(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite", limits=dataclasses.replace(GENEROUS, games_without_people=4)) as served:
        for _ in range(2):
            served.make("carcassonne", ["mce(seconds=5)", "mce(seconds=5)"])
        status, answer = served.ask("POST", "/games", {"game": "carcassonne", "seats": ["greedy", "greedy"]})
        assert (status, "only programs play" in answer["error"]) == (429, True)
        served.make("carcassonne", ["open", "greedy"])


@pytest.mark.parametrize(("limit", "seats"), [("games", ["open", "open"]), ("games_without_people", ["mce(seconds=5)", "mce(seconds=5)"])])
def test_one_client_has_half_of_the_games_and_others_the_rest(limit: str, seats: list[str]) -> None:
    async def main() -> list[int]:
        hall = Hall(Store(":memory:"), ServerSettings(limits=dataclasses.replace(Limits(), **{limit: 4})))
        statuses = []
        for client in ("a", "a", "a", "b", "b", "c"):
            try:
                hall.make("carcassonne", None, {}, seats, client=client)
                statuses.append(201)
            except RequestError as error:
                statuses.append(error.status)
        await hall.close()
        return statuses

    assert asyncio.run(main()) == [201, 201, 429, 201, 201, 503]


def test_analyses_of_one_client_leave_room_for_the_hints_of_others() -> None:
    """16 analyses of one client were all that could wait, and the hints of all others were refused."""

    async def main() -> tuple[list[str], int]:
        hall = Hall(Store(":memory:"), ServerSettings(limits=dataclasses.replace(Limits(), analyses=3)))
        live, done = hall.make("carcassonne", None, {}, [], analysis=True), list[str]()
        for name in ("Ann", "Bob"):
            hall.join(live, name)

        async def analyse(client: str, number: int) -> str:
            try:
                await hall.analyse(live, live.step, live.mover, f"mce(playouts={20 + number})", client)
            except RequestError as error:
                return str(error.status)
            done.append(client)
            return "done"

        asked = [asyncio.create_task(analyse("many", number)) for number in range(8)]
        await asyncio.sleep(0)
        asked.append(asyncio.create_task(analyse("one", 9)))
        answers = await asyncio.gather(*asked)
        await hall.close()
        assert answers[-1] == "done"
        return done, answers.count("503")

    done, n_refused = asyncio.run(main())
    assert n_refused == 4  # one runs, and three wait
    assert done.index("one") <= 2  # it does not wait for all of them


@pytest.mark.cold
def test_programs_of_a_person_and_hints_come_before_games_of_programs(tmp_path: Path) -> None:
    """One process, and twelve seats of programs that take 1 s each: a person's program and a hint wait for one of them."""
    with Served(tmp_path / "games.sqlite") as served:
        id = served.make("kingdomino", ["open", "mce(playouts=2)"], players=2, casual=True)
        token = served.join(id, "Ann")
        for _ in range(6):
            served.make("kingdomino", ["mce(seconds=1)", "mce(seconds=1)"], players=2)
        seen, decided = 0, time.monotonic()
        while seen < 2:
            state = served.get(f"/games/{id}/seat", token)
            if state["legal"]:
                asked = {"policy": f"mce(playouts={20 + seen})"}
                assert served.post(f"/games/{id}/steps/{state['step']}/analysis", asked, token)["candidates"]
                served.post(f"/games/{id}/act", {"step": state["step"], "action": state["legal"][0]["action"]}, token)
                seen += 1
            else:
                served.get(f"/games/{id}?since={state['step']}&wait=20")
        assert served.hall is not None
        queues = served.hall._slow._turns._waiting
        assert any(len(tasks) for tasks in queues[1].values())  # the others wait meanwhile
        assert time.monotonic() - decided < 60


def test_rule_players_decide_without_a_process_once_their_code_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> tuple[int, int]:
        hall, asked = Hall(Store(":memory:"), ServerSettings()), list[str]()
        do = hall._quick.do

        async def noted(job: Any, *about: Any) -> Any:
            asked.append(job.text)
            return await do(job, *about)

        monkeypatch.setattr(hall._quick, "do", noted)
        live = hall.make("dominoes", None, {}, ["greedy"] * 4)
        while live.status != "over":
            async with asyncio.timeout(300):
                await live.changed.wait()
        await hall.close()
        return len(asked), sum(row.kind == "action" for row in live.rows)

    n_asked, n_decisions = asyncio.run(main())
    assert n_asked == 1
    assert n_decisions > 20


# What is sent


def test_answers_are_compressed_and_drawings_of_open_games_are_kept_by_the_browser(served: Served) -> None:
    id, _ = seated(served, "kingdomino", players=2)
    path = f"/api/v1/games/{id}/steps/0/picture.svg"
    plain = served.raw("GET", path)
    status, headers, small = served.raw("GET", path, None, {"Accept-Encoding": "gzip"})
    assert (status, headers["content-encoding"]) == (200, "gzip")
    assert gzip.decompress(small) == plain[2]
    assert len(small) < len(plain[2]) / 4
    assert "immutable" in headers["cache-control"]
    assert "authorization" in headers["vary"].lower()
    hidden, _ = seated(served, "dominoes")
    assert served.raw("GET", f"/api/v1/games/{hidden}/steps/0/picture.svg")[1]["cache-control"] == "no-store"


@pytest.mark.parametrize("game", ["kingdomino", "dominoes"])
def test_the_answer_to_act_may_have_the_next_drawing(served: Served, game: str) -> None:
    id, tokens = seated(served, game)
    turn = served.get(f"/games/{id}")["turn"]
    state = served.get(f"/games/{id}/seat", tokens[turn])
    body = {"step": state["step"], "action": state["legal"][0]["action"]}
    done = served.post(f"/games/{id}/act?drawing=true", body, tokens[turn])
    place = f"/games/{id}/steps/{done['step']}"
    assert done["picture"] == served.get(f"{place}/picture.svg", tokens[turn])
    assert done["shapes"] == served.get(f"{place}/shapes", tokens[turn])["shapes"]
    assert "picture" not in served.post(f"/games/{id}/act", body, tokens[turn])


@pytest.mark.parametrize("game", ["kingdomino", "carcassonne", "dominoes"])
def test_an_answer_to_act_makes_few_calls(game: str) -> None:
    """It made 535 in Kingdomino, since it drew a board in letters. A turn with many legal actions names each of them."""

    async def main() -> list[int]:
        hall, counts = Hall(Store(":memory:"), ServerSettings()), list[int]()
        live = hall.make(game, None, {}, [])
        for seat in range(live.kept.players):
            hall.join(live, f"player {seat}")

        def count(frame: object, event: str, about: object) -> None:
            counts[-1] += event == "call"

        for _ in range(14):
            seat = live.mover
            assert seat is not None
            action = live.table.legal()[0]
            counts.append(0)
            sys.setprofile(count)
            try:
                hall.act(live, seat, live.step, [action])
                state = visibility.for_seat(live, seat)
            finally:
                sys.setprofile(None)
            if len(state["legal"]) > 8:
                counts.pop()
        await hall.close()
        return sorted(counts)

    counts = asyncio.run(main())
    assert counts[len(counts) // 2] <= 250


def test_a_seat_sees_its_position_in_letters_when_it_asks(served: Served) -> None:
    id, tokens = seated(served, "dominion")
    assert "\x1b" not in served.get(f"/games/{id}/seat?view=true", tokens[0])["view"]
    assert "view" not in served.get(f"/games/{id}/seat", tokens[0])
    assert "view" not in decide(served, id, tokens, lambda legal: legal[0])
    assert json.loads(served.raw("GET", "/api/v1/limits")[2])["undos"] == 200
