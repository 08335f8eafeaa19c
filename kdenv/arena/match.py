"""A match: a line-up of policies plays the same deals from every seat, on all cores, interruptible and resumable.

Jobs and results are plain JSON. Chance of a deal comes from one generator seeded by the match seed and the deal, so
every rotation of the line-up meets the same draws (as far as chance does not depend on what is played).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

from kdenv.arena.statistics import Estimate, estimate
from kdenv.core.errors import BadOption, BadRecord
from kdenv.core.game import Seat
from kdenv.core.random import derive_seed, make_rng
from kdenv.core.record import options_text
from kdenv.core.table import Table
from kdenv.core.view import OracleView, View
from kdenv.games import find_game
from kdenv.policies import Policy, policy

_START = 60.0  # seconds within which a process should have started
_LOOK = 0.1  # seconds between looks whether one has failed to
_PATIENCE = 3.0  # seconds that processes have to finish their games when a match is interrupted


@dataclass(frozen=True)
class Match:
    """What is to be played."""

    game: str
    line_up: Sequence[str]  # policies as text, one per seat in the first rotation
    games: int
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise what is wrong with the match before anything is played."""
        game = find_game(self.game)
        if not self.line_up:
            raise BadOption(f"a match of {self.game} needs a policy for every seat")
        game.variant(len(self.line_up), **self.options)
        if self.games < 1:
            raise BadOption(f"games={self.games} is not possible; a match is at least one game")
        for text in dict.fromkeys(self.line_up):
            policy(text)

    def seats(self, rotation: int) -> list[int]:
        """Which place of the line-up sits where: every place visits every seat in turn."""
        n = len(self.line_up)
        return [(seat - rotation) % n for seat in range(n)]

    def describe(self) -> str:
        """The match in one line."""
        options = options_text(self.options)
        return f"{self.game}, {len(self.line_up)} players{options}, {self.games} games, seed {self.seed}"


@dataclass
class Result:
    """One game of a match; lists are by place in the line-up, not by seat."""

    number: int
    deal: int
    scores: list[int]
    margins: list[int]
    wins: list[float]  # 1 for a sole win, shared in ties
    seconds: list[float]
    turns: list[int]
    playouts: list[int]
    record: str


def play_game(match: Match, number: int, policies: Sequence[Policy] | None = None) -> Result:
    """Play the game of this number: deal and rotation follow from it."""
    n = len(match.line_up)
    deal, rotation = divmod(number, n)
    players = [policy(text) for text in match.line_up] if policies is None else policies
    for place, player in enumerate(players):
        player.reset(derive_seed(match.seed, deal, rotation, 1 + place))
    table = Table(find_game(match.game), n, **match.options)
    chance = make_rng(derive_seed(match.seed, deal))
    seats = match.seats(rotation)
    seconds, turns = [0.0] * n, [0] * n
    last = None  # the seat whose turn goes on until chance or another seat
    table.run_chance(chance)
    prepare(players, seats, table)
    while not table.over:
        seat = table.seat
        assert seat is not None
        place = seats[seat]
        player = players[place]
        events = len(table.log)
        view = _view(player, table, seat)
        start = time.perf_counter()
        action = player.act(view)
        seconds[place] += time.perf_counter() - start
        turns[place] += seat != last
        table.play(action)
        table.run_chance(chance)
        last = seat if len(table.log) == events + 1 else None
    return _result(match, number, table, seats, seconds, turns, [player.n_playouts for player in players])


def prepare(players: Sequence[Policy], seats: Sequence[int], table: Table) -> None:
    """Let every policy compile and load what it needs before the clock runs."""
    for seat, place in enumerate(seats):
        players[place].prepare(_view(players[place], table, seat))


def _view(player: Policy, table: Table, seat: int) -> View:
    """What the policy may see: an oracle, and nobody else, sees everything."""
    return OracleView(table, Seat(seat)) if player.is_oracle else View(table, Seat(seat))


def _result(
    match: Match, number: int, table: Table, seats: list[int], seconds: list[float], turns: list[int], playouts: list[int]
) -> Result:
    n = table.players
    teams = table.game.teams(n)
    scores, standings = table.scores(), table.standings()
    best = max(standings)
    winners = {seat % teams for seat in range(n) if standings[seat] == best}
    by_place: dict[int, tuple[int, int, float]] = {}
    for seat, place in enumerate(seats):
        rivals = [scores[other] for other in range(n) if other % teams != seat % teams]
        win = 1 / len(winners) if seat % teams in winners else 0.0
        by_place[place] = scores[seat], scores[seat] - max(rivals, default=0), win
    places = [by_place[place] for place in range(n)]
    return Result(
        number=number,
        deal=number // n,
        scores=[score for score, _, _ in places],
        margins=[margin for _, margin, _ in places],
        wins=[win for _, _, win in places],
        seconds=seconds,
        turns=turns,
        playouts=playouts,
        record=table.record(),
    )


# Many games


def play(match: Match, *, processes: int | None = None, done: Iterable[int] = (), on_result: Callable[[Result], None]) -> bool:
    """Play all games that are not done yet, each result as it comes; False if interrupted by Ctrl-C.

    Stops cleanly: results handed on so far are complete games.
    """
    match.check()
    finished = set(done)
    numbers = [number for number in range(match.games) if number not in finished]
    processes = min(processes or os.cpu_count() or 1, len(numbers))
    if processes <= 1:
        return _play_here(match, numbers, on_result)
    context = multiprocessing.get_context("spawn")  # fork is unsafe where torch or another threaded library is loaded
    pool, stopped = None, context.Event()
    todo = itertools.takewhile(lambda number: not stopped.is_set(), numbers)
    try:
        with _interrupts_held():
            started = context.Semaphore(0)
            others = set(multiprocessing.active_children())
            pool = context.Pool(processes, _start_worker, (match, started, stopped))
            _wait(processes, started, set(multiprocessing.active_children()) - others)
        for result in pool.imap_unordered(_work, todo):
            assert result is not None  # nothing has been stopped
            on_result(result)
    except KeyboardInterrupt:
        return False
    finally:
        if pool is not None:
            _end(pool, stopped)
    return True


def _wait(processes: int, started: Any, workers: Iterable[Any]) -> None:
    """Until all processes have started: one that is ended while it starts would complain, one that cannot start be tried for ever."""
    deadline = time.monotonic() + _START
    for _ in range(processes):
        while not started.acquire(timeout=_LOOK) and time.monotonic() < deadline:
            if any(worker.exitcode for worker in workers):
                raise BadOption(
                    "the processes that play cannot start: each imports your script anew. Put what it does under "
                    "'if __name__ == \"__main__\":', and what it adds (games, cards) above that; or play with processes=1"
                )


def _end(pool: Pool, stopped: Any) -> None:
    """End the processes: between two games if they come to that soon, for one ended while it hands a result on hangs us up."""
    stopped.set()
    pool.close()
    waiting = threading.Thread(target=pool.join, daemon=True)
    waiting.start()
    waiting.join(_PATIENCE)
    pool.terminate()


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the end of this, and the processes started here never get one: it is the business of their parent."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    held: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))  # other threads may be given the signal
    resource_tracker.ensure_running()  # which would let signals through again if it had to be started later
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # is passed on to processes
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if held:
        raise KeyboardInterrupt


def _play_here(match: Match, numbers: Sequence[int], on_result: Callable[[Result], None]) -> bool:
    policies = [policy(text) for text in match.line_up]
    try:
        for number in numbers:
            on_result(play_game(match, number, policies))
    except KeyboardInterrupt:
        return False
    return True


_match: Match
_policies: list[Policy]
_stopped: Any  # an event: no more games


def _start_worker(match: Match, started: Any, stopped: Any) -> None:
    """Set a worker process up."""
    global _match, _policies, _stopped
    _stopped = stopped
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    match.check()
    _match, _policies = match, [policy(text) for text in match.line_up]
    started.release()


def _work(number: int) -> Result | None:
    return None if _stopped.is_set() else play_game(_match, number, _policies)


# Results kept in a file: a line that describes the match, then a line per game


def read_results(path: Path, match: Match) -> Iterator[Result]:
    """The results of this match that the file holds; a last line cut short by a crash is left out."""
    lines = path.read_text().splitlines()
    if not lines:
        return
    try:
        described = json.loads(lines[0])
    except ValueError:
        raise BadRecord(f"{path} is not a file of match results; choose another --out") from None
    if not isinstance(described, dict) or {**described, "games": 0} != {**json.loads(json.dumps(asdict(match))), "games": 0}:
        raise BadRecord(f"{path} holds the results of another match ({lines[0][:120]}); choose another --out")
    for number, line in enumerate(lines[1:], 2):
        try:
            result = Result(**json.loads(line))
        except (ValueError, TypeError):
            if number == len(lines):
                return
            raise BadRecord(f"line {number} of {path} is damaged") from None
        if result.number < match.games:
            yield result


def append_result(path: Path, match: Match, result: Result) -> None:
    """Add a result to the file, which is made if it does not exist."""
    if not path.exists() or path.stat().st_size == 0:
        path.write_text(json.dumps(asdict(match)) + "\n")
    with path.open("a") as file:
        file.write(json.dumps(asdict(result)) + "\n")


# What follows from the results


@dataclass(frozen=True)
class Row:
    """How a policy did, over all places of the line-up it has."""

    policy: str
    places: int
    games: int
    margin: Estimate
    score: Estimate
    wins: Estimate
    seconds_per_turn: Estimate
    playouts_per_turn: Estimate


def table_of(match: Match, results: Sequence[Result]) -> list[Row]:
    """A row per policy, in the order of the line-up."""
    rows = []
    deals = [result.deal for result in results]
    for text in dict.fromkeys(match.line_up):
        places = [place for place, other in enumerate(match.line_up) if other == text]

        def mean(of: Callable[[Result, int], float], places: list[int] = places) -> Estimate:
            return estimate([sum(of(result, place) for place in places) / len(places) for result in results], deals)

        rows.append(
            Row(
                policy=text,
                places=len(places),
                games=len(results),
                margin=mean(lambda result, place: result.margins[place]),
                score=mean(lambda result, place: result.scores[place]),
                wins=mean(lambda result, place: result.wins[place]),
                seconds_per_turn=mean(lambda result, place: result.seconds[place] / max(1, result.turns[place])),
                playouts_per_turn=mean(lambda result, place: result.playouts[place] / max(1, result.turns[place])),
            )
        )
    return rows
