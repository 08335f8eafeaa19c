"""Programs that play on a server: kdenv.client, `kdenv join`, the examples, and agents that are called back."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from served import Served
from test_games import ALL

import kdenv
from kdenv.cli.remote import Remote
from kdenv.client import Refused, Seat, make
from kdenv.compiler.random import make_rng
from kdenv.server.serve import _hosts_to_call
from kdenv.server.settings import ServerSettings

HOME = Path(__file__).parents[2]
SHORT = {"size": 3, "dominoes": 4}


def run(*arguments: str) -> "subprocess.Popen[str]":
    """A program that runs beside the tests."""
    pipe = subprocess.PIPE
    env = {**os.environ, "PYTHONPATH": str(HOME)}
    return subprocess.Popen([sys.executable, *arguments], stdout=pipe, stderr=pipe, text=True, encoding="utf-8", env=env)


def told(program: "subprocess.Popen[str]") -> str:
    out, error = program.communicate(timeout=120)
    assert program.returncode == 0, error
    return out


def url(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


@pytest.mark.parametrize("game", ALL)
def test_a_policy_decides_on_a_server_as_at_a_table(served: Served, game: str) -> None:
    """The position that a seat is sent is enough: a policy without chance chooses the same as at the table of the record."""
    id = make(url(served), game, seats=["open", *["random"] * (3 if game in ("dominoes", "kingdomino") else 1)])
    seat = Seat.join(url(served), id, "Ann")
    player = kdenv.policy({"kingdomino": "full_greedy", "dominion": "single_witch", "carcassonne": "greedy", "dominoes": "greedy"}[game])
    chosen: list[tuple[int, int]] = []
    remote = Remote(player)

    def choose(state: dict[str, Any]) -> int:
        chosen.append((state["step"], remote(state)))
        return chosen[-1][1]

    end = seat.play(choose)
    assert end["result"]["finished"]
    table = kdenv.replay(served.get(f"/games/{id}/record"))
    assert [event.number for event in table.events()][chosen[0][0]] == chosen[0][1]
    assert len(chosen) > 10


def test_a_policy_that_plays_on_a_server_searches_a_turn_once(served: Served) -> None:
    id = make(url(served), "carcassonne", seats=["open", "greedy"])
    seat = Seat.join(url(served), id, "Ann")
    player = kdenv.policy("mce(playouts=4)")
    remote, turns = Remote(player), list[tuple[int, int]]()  # the step and the playouts so far of each decision

    def choose(state: dict[str, Any]) -> int:
        action = remote(state)
        turns.append((state["step"], player.n_playouts))
        return action

    seat.play(choose)
    rest = [(before, after) for before, after in pairwise(turns) if after[0] == before[0] + 1]
    assert len(rest) > 3  # a meeple was placed, or none, after a tile
    assert all(after[1] == before[1] for before, after in rest)
    assert turns[-1][1] > 10 * 4


def test_a_decision_that_was_undone_is_made_anew() -> None:
    table = kdenv.table("kingdomino", players=2)
    table.run_chance(make_rng(1))

    def state(step: int) -> dict[str, Any]:
        legal = [{"action": action, "words": table.name(action)} for action in table.legal()]
        position = {"game": "kingdomino", "players": 2, "options": {}, "position": table.position()}
        return {**position, "seat": table.seat, "step": step, "legal": legal}

    remote = Remote(kdenv.policy("full_greedy"))
    first = state(6)
    assert remote(first) == remote({**first, "step": 7})  # the step of the next decision, in the position of the first


def test_kdenv_join_and_the_examples_play_one_game(served: Served) -> None:
    id = make(url(served), "kingdomino", options=SHORT)
    where = url(served), id
    programs = [
        run("-m", "kdenv", "join", *where, "mce(playouts=5)", "--name", "Searcher", "--seed", "1"),
        *(run(str(HOME / "examples" / "server" / f"{name}.py"), *where, name) for name in ("agent", "ten_lines", "called_back")),
    ]
    words = [told(program) for program in programs]
    assert "over: " in words[0]
    assert "place" in words[1]
    assert json.loads(words[2])
    assert re.search(r"called [1-3] times", words[3])
    assert served.get(f"/games/{id}")["result"]["finished"]


def test_kdenv_join_takes_a_waiting_game_by_name_and_tells_mistakes(served: Served) -> None:
    for arguments, sentence in [
        ((url(served), "no-such-game", "random"), "the server says: there is no"),
        ((url(served), "kingdomino", "rndom"), "did you mean random?"),
        (("127.0.0.1", "kingdomino", "random"), "is no address of a server"),
    ]:
        program = run("-m", "kdenv", "join", *arguments)
        _, error = program.communicate(timeout=60)
        assert program.returncode == 2
        assert sentence in error
        assert "Traceback" not in error


def test_a_refusal_is_the_sentence_of_the_server(served: Served) -> None:
    id = make(url(served), "carcassonne")
    Seat.join(url(served), id, "Ann")
    with pytest.raises(Refused, match="plays in this game already") as refusal:
        Seat.join(url(served), id, "Ann")
    assert refusal.value.status == 409


class Listener:
    """Takes calls, notes them, and answers what it is told to answer."""

    def __init__(self, *statuses: int, seconds: float = 0.0) -> None:
        self.calls: list[tuple[str, bytes]] = []
        answers = list(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:  # noqa: N805
                body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
                time.sleep(seconds)
                self.calls.append((handler.path, body))
                status = answers.pop(0) if answers else 204
                handler.send_response(status)
                handler.send_header("Location", "/elsewhere")
                handler.send_header("Content-Length", "0")
                handler.end_headers()

            do_GET = do_POST  # noqa: N815

            def log_message(handler, *values: object) -> None:  # noqa: N805
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/turn?x=1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener(500, 302)
    yield listening
    listening.server.shutdown()
    listening.server.server_close()


def until(condition: Any) -> bool:
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(condition())


def test_an_agent_is_called_again_after_a_failure_and_no_redirect_is_followed(served: Served, listener: Listener) -> None:
    id = make(url(served), "carcassonne", seats=["open", "greedy"])
    seat = Seat.join(url(served), id, "Ann", callback=listener.url)
    assert until(lambda: len(listener.calls) == 2)  # the first was answered with 500, the second with a redirect
    assert listener.calls[0] == listener.calls[1]
    path, body = listener.calls[0]
    assert path == "/turn?x=1"
    assert json.loads(body) == {"game": id, "seat": 0, "step": seat.state()["step"]}
    assert seat.token not in str(listener.calls)
    time.sleep(0.5)
    assert {path for path, _ in listener.calls} == {"/turn?x=1"}


def test_a_slow_agent_holds_up_nobody(tmp_path: Path) -> None:
    slow = Listener(seconds=5.0)
    with Served(tmp_path / "games.sqlite") as served:
        id = make(url(served), "carcassonne")
        seats = [Seat.join(url(served), id, name, callback=slow.url) for name in ("Ann", "Bob")]
        for _ in range(6):
            mover = seats[served.get(f"/games/{id}")["turn"]]
            state = mover.state()
            mover.act(state, state["legal"][0]["action"])
        assert len(slow.calls) < 6  # all six, had the game waited for them
    slow.server.shutdown()
    slow.server.server_close()


@pytest.mark.parametrize(
    "address",
    ["http://10.0.0.1/", "http://127.0.0.1.evil.org/", "http://evil.org@127.0.0.1/", "file:///etc/passwd", "ftp://127.0.0.1/", "x", "http://",
     "http://127.0.0.1:99999/", "http://127.0.0.1/\r\nX: y", "http://169.254.169.254/", "http://127.0.0.1 /"],
)  # fmt: skip
def test_only_hosts_of_the_operators_choice_are_called(served: Served, address: str) -> None:
    id = make(url(served), "carcassonne")
    status, answer = served.ask("POST", f"/games/{id}/join", {"name": "Ann", "callback": address})
    assert status in (403, 422)
    assert "call" in answer["error"]
    assert [seat["kind"] for seat in served.get(f"/games/{id}")["seats"]] == ["open", "open"]


def test_the_servers_own_ports_are_called_on_no_host(tmp_path: Path) -> None:
    with Served(tmp_path / "games.sqlite", kdom=True, callbacks=("127.0.0.1", "Games.example.org")) as served:
        id = make(url(served), "carcassonne")
        for host in ("127.0.0.1", "games.example.org"):
            for port in (served.port, served.kdom_port):
                address = f"http://{host}:{port}/api/v1/games"
                status, answer = served.ask("POST", f"/games/{id}/join", {"name": "Ann", "callback": address})
                assert (status, "on which it listens itself" in answer["error"]) == (403, True)


@pytest.mark.parametrize(("host", "hosts"), [("127.0.0.1", {"127.0.0.1", "::1", "localhost"}), ("0.0.0.0", set())])
def test_nobody_is_called_unless_asked_for_if_others_reach_the_server(host: str, hosts: set[str]) -> None:
    with socket.socket() as bound:
        bound.bind((host, 0))  # nothing listens on it
        assert set(_hosts_to_call(ServerSettings(), [bound])) == hosts
        assert _hosts_to_call(ServerSettings(callbacks=("10.0.0.1",)), [bound]) == ("10.0.0.1",)


def test_a_server_that_calls_nobody_says_so_and_makes_no_call_of_a_game_from_before(tmp_path: Path, listener: Listener) -> None:
    database = tmp_path / "games.sqlite"
    with Served(database) as served:
        id = make(url(served), "carcassonne")
        seats = [Seat.join(url(served), id, name, callback=listener.url) for name in ("Ann", "Bob")]
        assert until(lambda: len(listener.calls) == 2)
    with Served(database, callbacks=()) as served:
        other = make(url(served), "carcassonne")
        status, answer = served.ask("POST", f"/games/{other}/join", {"name": "Ann", "callback": listener.url})
        assert (status, "calls nobody back" in answer["error"]) == (403, True)
        for _ in range(4):
            mover = replace(seats[served.get(f"/games/{id}")["turn"]], url=url(served))
            state = mover.state()
            mover.act(state, state["legal"][0]["action"])
        time.sleep(0.5)
        assert len(listener.calls) == 2
