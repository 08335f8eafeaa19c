"""A client of the paper's game server, written from the page about its protocol alone. Its requests look like those of Java.

It imports nothing of kdenv. It follows the page closely, and dies of what the authors' client would die of: a key that is there
and holds null, a double in one orientation, a name that has changed.
"""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

TERRAINS = {"castle", "field", "forest", "water", "pasture", "clay", "mine"}


class Server:
    """Asks a server by bytes, so that nothing is sent that Java would not send."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str) -> tuple[int, str, bytes]:
        """The status, the content type and the body. A POST has neither a body nor Content-Length."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as wire:
            lines = [
                f"{method} {path} HTTP/1.1",
                "User-Agent: Java/1.8.0_202",
                f"Host: 127.0.0.1:{self.port}",
                "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
                "Connection: close",
            ]
            wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            answer = b""
            while part := wire.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *headers = head.decode("latin-1").split("\r\n")
        told = {name.lower(): value for name, _, value in (line.partition(": ") for line in headers)}
        if told.get("transfer-encoding") == "chunked":
            body = _unchunked(body)
        return int(first.split()[1]), told.get("content-type", ""), body

    def document(self, method: str, path: str, status: int = 200) -> Any:
        """The document that is answered with this status."""
        got, kind, body = self.ask(method, path)
        assert (got, kind) == (status, "application/json"), (method, path, got, kind, body[:200])
        document = json.loads(body)
        _check_no_null(document)
        return document


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        whole, body = whole + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return whole


def _check_no_null(value: Any) -> None:
    assert value is not None
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_no_null(inside)


class Agent:
    """A player that checks every document it reads, and plays at random."""

    def __init__(self, server: Server, game: str, name: str, callback: str = "") -> None:
        self.server, self.game, self.name = server, game, name
        query = f"?callbackUrl={quote(callback, safe='')}" if callback else ""
        joined = server.document("POST", f"/new-games/{game}/join/{quote(name, safe='')}{query}")
        assert list(joined) == ["name", "uuid"] + (["callBackUrl"] if callback else [])
        assert joined["name"] == name
        self.token, self.rng, self.n_moves = joined["uuid"], random.Random(name), 0

    def look(self) -> Any:
        """The game; None before it is full."""
        status, _, body = self.server.ask("GET", f"/games/{self.game}")
        if status >= 400:
            return None
        game = json.loads(body)
        check_game(game)
        return game

    def move(self) -> Any:
        """Choose among the available moves, and make it. Return the game after it."""
        before = self.server.document("GET", f"/games/{self.game}")
        moves = self.server.document("GET", f"/games/{self.game}/available-moves")["moves"]
        check_moves(before, moves)
        chosen = self.rng.choice(moves)
        after = self.server.document("POST", f"/games/{self.game}/players/{self.token}/moves/{chosen['number']}")
        check_game(after)
        assert after["turn"] == before["turn"] + 1
        self.n_moves += 1
        return after

    def play(self) -> Any:
        """Poll and move until the game is over."""
        while (game := self.look()) is None:
            time.sleep(0.05)
        while not game["gameOver"]:
            if game["currentPlayer"]["name"] == self.name:
                game = self.move()
            else:
                time.sleep(0.02)
                game = self.look()
        return game


class Called(Agent):
    """An agent that looks at the game only when it is called."""

    def __init__(self, server: Server, game: str, name: str) -> None:
        self.calls: list[str] = []
        self._bell = threading.Semaphore(0)
        agent = self

        class Listener(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                assert "content-length" not in self.headers
                agent.calls.append(self.path)
                agent._bell.release()
                self.send_response(500)  # the answer is not read
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *values: object) -> None:
                pass

        self._listener = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
        threading.Thread(target=self._listener.serve_forever, daemon=True).start()
        super().__init__(server, game, name, f"http://127.0.0.1:{self._listener.server_port}/turn/{name}?x=1")

    def play(self) -> Any:
        """Wait for a call, look, and move if it is the turn."""
        game = None
        while game is None or not game["gameOver"]:
            assert self._bell.acquire(timeout=60)
            game = self.look()
            while not game["gameOver"] and game["currentPlayer"]["name"] == self.name:
                game = self.move()
        return game

    def end(self, calls: int) -> None:
        """Wait until so many calls have come, and stop listening."""
        deadline = time.monotonic() + 20
        while len(self.calls) < calls and time.monotonic() < deadline:
            time.sleep(0.05)
        self._listener.shutdown()
        self._listener.server_close()


def check_game(game: Any) -> None:
    """Check the document of a game against the page: keys in order, names in order, squares, scores."""
    keys = ["uuid", "created", "updated", "kingdoms", "usedDominoes", "currentDraft", "previousDraft", "currentPlayer", "gameOver", "turn"]
    assert list(game) == [key for key in keys if key != "currentPlayer" or not game["gameOver"]]
    names = [kingdom["player"]["name"] for kingdom in game["kingdoms"]]
    assert names == sorted(names, key=lambda name: name.encode("utf-16-be"))
    for kingdom in game["kingdoms"]:
        squares = {(each["position"]["row"], each["position"]["col"]): each["tile"] for each in kingdom["placedTiles"]}
        assert len(squares) == len(kingdom["placedTiles"])
        assert squares[0, 0] == {"terrain": "castle", "crowns": 0}
        assert {tile["terrain"] for tile in squares.values()} <= TERRAINS
        score = kingdom["score"]
        assert list(score) == ["total", "areaScores", "centerBonus", "completeBonus"]
        assert score["total"] == sum(score["areaScores"]) + score["centerBonus"] + score["completeBonus"]
        assert sorted(score["areaScores"]) == sorted(area_scores(squares))
        assert score["completeBonus"] == (5 if len(squares) == 25 else 0)
        assert score["centerBonus"] == (10 if all(max(abs(row), abs(col)) <= 2 for row, col in squares) else 0)
    for draft in ("currentDraft", "previousDraft"):
        numbers = [each["domino"]["number"] for each in game[draft]["dominoes"]]
        assert numbers == sorted(numbers)
        assert all(list(each) in (["domino"], ["player", "domino"]) for each in game[draft]["dominoes"])
    if game["previousDraft"]["dominoes"]:
        assert game["previousDraft"]["dominoes"][0]["player"] == game["currentPlayer"]


def area_scores(squares: dict[tuple[int, int], Any]) -> list[int]:
    """The points of every area: squares times crowns."""
    left, scores = set(squares), []
    while left:
        area, edge = set(), [left.pop()]
        while edge:
            row, col = edge.pop()
            area.add((row, col))
            for near in ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)):
                if near in left and squares[near]["terrain"] == squares[row, col]["terrain"]:
                    left.discard(near)
                    edge.append(near)
        scores.append(len(area) * sum(squares[square]["crowns"] for square in area))
    return scores


def check_moves(game: Any, moves: list[Any]) -> None:
    """Check a list of moves: its numbers, its order, and that it is the product of choices and placements, computed anew here."""
    assert [move["number"] for move in moves] == list(range(len(moves)))
    free = [each["domino"] for each in game["currentDraft"]["dominoes"] if "player" not in each]
    mine = next(kingdom for kingdom in game["kingdoms"] if kingdom["player"] == game["currentPlayer"])
    squares = {(each["position"]["row"], each["position"]["col"]): each["tile"]["terrain"] for each in mine["placedTiles"]}
    in_hand = game["previousDraft"]["dominoes"][0]["domino"] if game["previousDraft"]["dominoes"] else None
    places = placements(squares, in_hand) if in_hand else []
    expected = []
    for chosen in free or [None]:
        for place in places or [None]:
            move: dict[str, Any] = {"number": len(expected)}
            if chosen:
                move["chosenDomino"] = chosen
            if place:
                (row, col), (to_row, to_col) = place
                first, second = {"row": row, "col": col}, {"row": to_row, "col": to_col}
                move["placedDomino"] = {"domino": in_hand, "tile1Position": first, "tile2Position": second}
            expected.append(move)
    assert moves == expected
    assert all(list(move) == [key for key in ("number", "chosenDomino", "placedDomino") if key in move] for move in moves)


def placements(squares: dict[tuple[int, int], str], domino: Any) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where a domino may lie: it touches the castle or its own terrain with a half, and the kingdom stays within five by five."""
    found = []
    terrains = domino["tile1"]["terrain"], domino["tile2"]["terrain"]
    for row in range(-4, 5):
        for col in range(-4, 5):
            for d_row, d_col in ((-1, 0), (0, -1), (0, 1), (1, 0)):
                halves = (row, col), (row + d_row, col + d_col)
                if any(half in squares for half in halves):
                    continue
                whole = [*squares, *halves]
                if any(max(half[axis] for half in whole) - min(half[axis] for half in whole) > 4 for axis in (0, 1)):
                    continue
                near = [squares.get((half[0] + a, half[1] + b)) for half in halves for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]
                if any(near[4 * i + j] in ("castle", terrains[i]) for i in (0, 1) for j in range(4)):
                    found.append(halves)
    return sorted(found)
