"""Many games at once, played by random agents over HTTP on this machine, while searches run. `--slow` plays 500 games for a minute."""

import asyncio
import json
import random
import resource
import time
from pathlib import Path
from typing import Any

import pytest
from served import GENEROUS, Served

from kdenv.server import visibility
from kdenv.server.service import Hall
from kdenv.server.settings import ServerSettings
from kdenv.server.store import Store

pytestmark = pytest.mark.cold

GAMES = [("kingdomino", {"players": 2}), ("carcassonne", {}), ("dominoes", {}), ("dominion", {"players": 2})]
THINKING = 4.0  # seconds that an agent thinks on average, as quick people and programs do


class Wire:
    """One connection that is kept."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        writer.write(f"{head}Authorization: Bearer {token}\r\n\r\n".encode() + data)
        status = int((await reader.readline()).split()[1])
        length = 0
        while (line := await reader.readline()) != b"\r\n":
            name, _, value = line.decode("latin-1").partition(":")
            length = int(value) if name.lower() == "content-length" else length
        answer = json.loads(await reader.readexactly(length))
        assert status in (200, 201), (method, path, status, answer)
        return answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


async def play(port: int, number: int, end: float, times: list[float], thinking: float) -> int:
    """Play games one after the other until the time is up. Return how many requests were made."""
    rng, wire, n = random.Random(number), Wire(port), 0
    name, more = GAMES[number % len(GAMES)]
    await asyncio.sleep(rng.uniform(0, thinking))
    while time.monotonic() < end:
        made = await wire.ask("POST", "/games", {"game": name, **more})
        tokens = [(await wire.ask("POST", f"/games/{made['id']}/join", {"name": f"{seat}"}))["token"] for seat in range(made["players"])]
        state = await wire.ask("GET", f"/games/{made['id']}")
        n += 2 + len(tokens)
        while state["status"] == "running" and time.monotonic() < end:
            await asyncio.sleep(rng.expovariate(1 / thinking) if thinking else 0)
            token = tokens[state["turn"]]
            mine = await wire.ask("GET", f"/games/{made['id']}/seat", token=token)
            action = rng.choice(mine["legal"])["action"]
            start = time.perf_counter()
            state = await wire.ask("POST", f"/games/{made['id']}/act", {"step": mine["step"], "action": action}, token)
            times.append(time.perf_counter() - start)
            n += 2
    wire.close()
    return n


async def load(port: int, games: int, seconds: float, thinking: float) -> tuple[int, list[float], int]:
    """Return the number of requests, the times of decisions of players, and the number of decisions of programs that play by rules."""
    wire, times = Wire(port), list[float]()
    for _ in range(2):  # two searches run all the time
        await wire.ask("POST", "/games", {"game": "carcassonne", "seats": ["mce(seconds=5)", "mce(seconds=5)"]})
    programs = [(await wire.ask("POST", "/games", {"game": "dominoes", "seats": ["greedy"] * 4}))["id"] for _ in range(10)]
    wire.close()
    end = time.monotonic() + seconds
    counts = await asyncio.gather(*(play(port, number, end, times, thinking) for number in range(games)))
    wire, decided = Wire(port), 0
    for id in programs:
        events = (await wire.ask("GET", f"/games/{id}/events"))["events"]
        decided += sum(event["kind"] == "action" for event in events)
    wire.close()
    return sum(counts), sorted(times), decided


def test_many_games_at_once(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """No error, and most decisions are answered at once. (Only --slow, on a quiet machine, says how quick: no test depends on time.)"""
    slow = request.config.getoption("--slow")
    games, seconds = (500, 60.0) if slow else (24, 4.0)
    with Served(tmp_path / "games.sqlite", workers=2) as served:
        started = time.process_time()
        n, times, decided = asyncio.run(load(served.port, games, seconds, THINKING if slow else 0.3))
        processor = time.process_time() - started
        assert len(times) > games
        at = {share: 1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.9, 0.99)}
        print(
            f"{games} games, {seconds:g} s: {n} requests ({n / seconds:.0f} a second), {len(times)} decisions answered, "
            f"{decided} decisions of programs by rules; "
            f"ms: {', '.join(f'{100 * share:g} % within {ms:.1f}' for share, ms in at.items())}; "
            f"processor time of server and agents together {1000 * processor / n:.2f} ms a request"
        )
        assert decided > 100  # ten matches of about 200, as far as the first compiles in time
        assert served.get("/games?status=running&size=1")["total"] >= min(games, 2)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_games(tmp_path: Path) -> None:
    """2,000 short games, each with its events in words: the server keeps 100 finished ones, and the words of no others."""

    def used() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20

    async def main() -> list[float]:
        hall, rng, at = Hall(Store(tmp_path / "games.sqlite"), ServerSettings(limits=GENEROUS)), random.Random(1), list[float]()
        for number in range(2000):
            live = hall.make("kingdomino", 2, {"size": 3, "dominoes": 4}, [])
            for seat in range(2):
                hall.join(live, f"{number} {seat}")
            while (seat_to_move := live.mover) is not None:
                hall.act(live, seat_to_move, live.step, [rng.choice(live.table.legal())])
                await hall.tell(live)
                visibility.for_seat(live, seat_to_move, told=True)
            if number % 250 == 249:
                at.append(used())
        assert hall.n_over == 2000
        await hall.close()
        return at

    at = asyncio.run(main())
    print(f"MB after each 250 games: {', '.join(f'{each:.1f}' for each in at)}")
    assert at[-1] - at[5] < 4  # the last 500 games; those before fill what is kept, such as the texts of 10,000 times
