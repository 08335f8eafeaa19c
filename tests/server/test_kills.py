"""kill -9 of the server and its processes at random moments: every game goes on where it was, and nothing is lost or done twice."""

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import kdenv
from kdenv.client import Seat, ask, make

pytestmark = pytest.mark.cold

HOME = Path(__file__).parents[2]
Answered = list[tuple[int, int, int]]
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("kingdomino", {"players": 3, "seats": ["open", "mce(playouts=3)", "open"]}),
    ("carcassonne", {"players": 2}),
    ("dominoes", {"seats": ["open", "greedy", "open", "greedy"]}),
    ("dominion", {"players": 2}),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Process:
    """`kdenv serve` in a process of its own, on the same port and database after every start."""

    def __init__(self, database: Path, files: tuple[int, int] | None = None) -> None:
        """`files` are the soft and the hard limit of open files."""
        self.port, self._database, self._files = free_port(), database, files
        self.log: list[str] = []  # the lines of its log
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "kdenv", "serve", "--port", str(self.port), "--database", str(self._database)]
        limits = ["--requests", "100000", "--games-an-hour", "100000"]
        env = {**os.environ, "PYTHONPATH": str(HOME)}
        quiet, limited = subprocess.DEVNULL, []
        if self._files is not None:
            limited = ["sh", "-c", f'ulimit -Sn {self._files[0]} && ulimit -Hn {self._files[1]} && exec "$0" "$@"']
        self.process = subprocess.Popen(
            [*limited, *command, *limits], stdout=quiet, stderr=subprocess.PIPE, text=True, encoding="utf-8", env=env
        )
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        while "the page is at" not in said:
            assert self.process.poll() is None, said
            said = self.process.stderr.readline()
        self._reader = threading.Thread(target=self.log.extend, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    def workers(self) -> list[int]:
        """The processes in which programs decide."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    parent = int((entry / "stat").read_text(encoding="latin-1").rpartition(")")[2].split()[1])
                except OSError:
                    continue
                found += [int(entry.name)] if parent == self.process.pid else []
        return found

    def kill(self) -> None:
        self.process.kill()
        self.gone()

    def end(self, number: int = signal.SIGTERM) -> None:
        """Ask it to end, as an operator does."""
        self.process.send_signal(number)
        assert self.gone() == 0

    def gone(self) -> int:
        """Wait until it has ended, and its processes with it, which write to the same place. Return its exit code."""
        code = self.process.wait(60)
        self._reader.join(60)
        assert not self._reader.is_alive()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.kill()


def patient(do: Any) -> Any:
    """Do a request until there is a server that answers it."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return do()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)


def play_safely(url: str, game: str, seats: list[Seat], answered: Answered, seed: int, enough: threading.Event, errors: list[Any]) -> None:
    try:
        play(url, game, seats, answered, seed, enough)
    except BaseException as error:
        errors.append(error)


def play(url: str, game: str, seats: list[Seat], answered: Answered, seed: int, enough: threading.Event) -> None:
    """Play all seats of people in a game, and note every decision that was answered: its step, seat and action."""
    rng = random.Random(seed)
    while True:
        state = patient(lambda: ask(url, "GET", f"/games/{game}"))
        if state["status"] == "over" or enough.is_set():
            return
        for seat in seats:
            mine = patient(seat.state)
            if mine["legal"]:
                action = rng.choice(mine["legal"])["action"]
                patient(lambda seat=seat, mine=mine, action=action: seat.act(mine, action))
                answered.append((mine["step"], seat.seat, action))
        time.sleep(0.005)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of the server in /proc")
def test_nothing_is_lost_or_done_twice_when_processes_are_killed(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    slow = request.config.getoption("--slow")
    n_games, n_kills = (50, 20) if slow else (4, 2)
    rng = random.Random(16)
    with Process(tmp_path / "games.sqlite") as server:
        kill_while_playing(server, n_games, n_kills, rng)


def wait_for(games: list[tuple[str, Answered]], more: int, threads: list[threading.Thread]) -> None:
    """Wait until so many more decisions have been answered, or all games are over."""
    wanted, deadline = sum(len(answered) for _, answered in games) + more, time.monotonic() + 60
    while sum(len(answered) for _, answered in games) < wanted and time.monotonic() < deadline:
        if not any(thread.is_alive() for thread in threads):
            return
        time.sleep(0.02)


def kill_while_playing(server: Process, n_games: int, n_kills: int, rng: random.Random) -> None:
    enough, games, threads, errors = threading.Event(), [], [], list[BaseException]()
    for number in range(n_games):
        name, more = KINDS[number % len(KINDS)]
        game = make(server.url, name, **more)
        open_seats = [seat["seat"] for seat in ask(server.url, "GET", f"/games/{game}")["seats"] if seat["kind"] == "open"]
        seats = [Seat.join(server.url, game, f"player {seat}", seat=seat) for seat in open_seats]
        answered: list[tuple[int, int, int]] = []
        games.append((game, answered))
        threads.append(threading.Thread(target=play_safely, args=(server.url, game, seats, answered, number, enough, errors), daemon=True))
    for thread in threads:
        thread.start()
    killed = Counter[str]()
    for _ in range(n_kills):
        wait_for(games, rng.randrange(1, 3 * n_games), threads)
        time.sleep(rng.uniform(0.0, 0.2))
        workers = server.workers()
        if workers and killed["worker"] <= killed["server"] / 2:
            os.kill(rng.choice(workers), signal.SIGKILL)
            killed["worker"] += 1
        else:
            server.kill()
            server.start()
            killed["server"] += 1
    wait_for(games, 3 * n_games, threads)
    enough.set()
    for thread in threads:
        thread.join(180)
        assert not thread.is_alive()
    assert errors == []
    n_answered = sum(len(answered) for _, answered in games)
    assert killed["server"] >= 1
    server.kill()
    server.start()
    for game, answered in games:
        events = ask(server.url, "GET", f"/games/{game}/events")["events"]
        mine = [(event["event"], event["seat"], event["number"]) for event in events if event["kind"] == "action" and event["seat"] in
                {seat for _, seat, _ in answered}]  # fmt: skip
        assert mine == answered  # all of them, once, in order, and no others
        assert not any(event["kind"] == "left" for event in events)
        state = ask(server.url, "GET", f"/games/{game}")
        if state["status"] == "over":
            from urllib.request import urlopen

            with urlopen(f"{server.url}/api/v1/games/{game}/record") as record:
                table = kdenv.replay(record.read().decode())
            assert table.scores() == state["scores"]
            assert len(table.log) == state["step"]
    server.end()
    print(f"{n_answered} decisions were answered in {n_games} games; killed: {dict(killed)}")


def test_ctrl_c_and_sigterm_end_a_server_at_once_and_it_starts_again(tmp_path: Path) -> None:
    with Process(tmp_path / "games.sqlite") as server:
        end_and_start(server, tmp_path)


def end_and_start(server: Process, tmp_path: Path) -> None:
    game = make(server.url, "carcassonne", seats=["open", "mce(seconds=5)"])
    seat = Seat.join(server.url, game, "Ann")
    waiting = threading.Thread(target=lambda: seat.state(10**6), daemon=True)  # it is answered when the server ends
    waiting.start()
    time.sleep(0.5)
    server.end(signal.SIGINT)
    waiting.join(60)
    assert not waiting.is_alive()
    assert not (tmp_path / "games.sqlite.lock").exists()
    server.start()
    assert seat.state()["status"] == "running"
    second = subprocess.run(
        [sys.executable, "-m", "kdenv", "serve", "--port", "0", "--database", str(tmp_path / "games.sqlite")],
        capture_output=True, text=True, encoding="utf-8", timeout=60, env={**os.environ, "PYTHONPATH": str(HOME)},
    )  # fmt: skip
    assert second.returncode == 2
    assert "another server uses the database" in second.stderr
    third = subprocess.run(
        [sys.executable, "-m", "kdenv", "serve", "--port", str(server.port), "--database", str(tmp_path / "other.sqlite")],
        capture_output=True, text=True, encoding="utf-8", timeout=60, env={**os.environ, "PYTHONPATH": str(HOME)},
    )  # fmt: skip
    assert third.returncode == 2
    assert "nothing can listen on port" in third.stderr
    server.end()


@pytest.mark.skipif(sys.platform != "linux", reason="another address of this machine, and /proc, are needed")
def test_idle_connections_of_one_address_leave_room_for_others(tmp_path: Path) -> None:
    """1,100 idle connections under a limit of 1,024 files kept everybody out, and wrote 425,265 lines into the log."""
    server = Process(tmp_path / "games.sqlite", (300, 400))
    try:
        limits = Path(f"/proc/{server.process.pid}/limits").read_text(encoding="ascii")
        assert re.search(r"Max open files +400 +400", limits)  # it has raised its own
        with contextlib.ExitStack() as idle:
            for _ in range(500):
                idle.enter_context(socket.create_connection(("127.0.0.1", server.port), 20, source_address=("127.0.0.2", 0)))
            started = time.monotonic()
            assert ask(server.url, "GET", "/limits")["connections"]
            assert time.monotonic() - started < 5
            files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
            assert 136 < files < 200  # half of 400 - 128, and its own
        assert len(server.log) < 10
    finally:
        server.end()


def test_a_lean_install_says_which_extra_is_missing(tmp_path: Path) -> None:
    hide = tmp_path / "starlette.py"
    hide.write_text("raise ImportError('not here')", encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{HOME}"}
    done = subprocess.run(
        [sys.executable, "-m", "kdenv", "serve"], capture_output=True, text=True, encoding="utf-8", env=env, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.strip() == "kdenv: the server needs the extra 'serve': pip install '.[serve]' in a clone of kdenv"
