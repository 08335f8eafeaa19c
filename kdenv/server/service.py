"""All games of a server: they are made, joined, played, watched and ended here. It runs in one thread, and awaits long tasks.

Every change is written to the database before it is put into effect (see running_game.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import sqlite3
import time
import unicodedata
import uuid
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, TypeVar

from kdenv.core.entry_points import POLICIES
from kdenv.core.errors import BadOption, KdenvError, shown
from kdenv.core.table import Table
from kdenv.games import find_game, names
from kdenv.policies import Policy
from kdenv.policies.budgets import Budgeted
from kdenv.policies.players import RulePolicy
from kdenv.policies.playouts import Random
from kdenv.policies.searching import SearchPolicy
from kdenv.server import policy_limits
from kdenv.server.errors import Damaged, RequestError, StoreBusy
from kdenv.server.messages import Decision, Job
from kdenv.server.models import Found, Result, Searched, Status
from kdenv.server.pool import CannotDecide, Pool
from kdenv.server.running_game import FAILED, OUT_OF_TIME, RESIGNED, WHY, Change, Live
from kdenv.server.settings import ServerSettings
from kdenv.server.store import GameSettings, Store, StoredGame, StoredSeat
from kdenv.server.teller import Teller
from kdenv.server.tokens import hashed, new_token, seat_of
from kdenv.server.turns import Results, Threads, Turns
from kdenv.server.worker import do

_LOG = logging.getLogger("kdenv.server")
_KEPT = 100  # finished games that stay in memory, the most recently viewed
_LOOK = 0.5  # seconds between two checks of the clocks of all games
_KEPT_BYTES = 64 << 20  # of drawings, films, analyses and other results that may be requested again
_TEXTS = 10_000  # texts of programs for which it is remembered whether they search
_RULES, _QUICK, _SLOW = range(3)  # programs by rules, which decide here; programs that do not search; searches
_WITH_PEOPLE, _WITHOUT_PEOPLE = range(2)  # the ranks of searches. A hint has the first, too, and waits in a queue of its own
_TOLD_AT_ONCE = 40  # events, which take some ms
_AGAIN = 1.0  # seconds before another try to write a decision that the database did not take
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and marks that are printed as nothing
_T = TypeVar("_T")


class Hall:
    """The games of a server."""

    def __init__(self, store: Store, settings: ServerSettings) -> None:
        self.store, self.settings = store, settings
        self.live: dict[str, Live] = {}  # the games that wait or run
        self._over: OrderedDict[str, Live] = OrderedDict()  # finished games, the most recently viewed at the end
        self.closing = asyncio.Event()  # set when the server ends: all waiting requests are answered at once
        self.when_changed: list[Callable[[Live], None]] = []  # called after every change of a game
        self.results = Results(_KEPT_BYTES)
        self.n_over = 0  # games that have ended since the start
        self._turns, self._threads = Turns(1), Threads()
        self._quick = Pool(1, settings.policies)  # for programs that do not search
        self._slow = Pool(settings.workers, settings.policies)
        self._speeds: dict[str, int] = {}  # by text of a program: RULES, QUICK or SLOW
        self._ready: dict[tuple[str, str, int], int] = {}  # by text, game and players: decisions of a rule player elsewhere, up to 2
        self._here: dict[str, Any] = {}  # the rule players that decide in this process
        self._thinking: set[asyncio.Task[None]] = set()  # the tasks that ask programs for their decisions
        self._clock: asyncio.Task[None] | None = None

    # Beginning and end

    def prepare(self) -> None:
        """Compile or load the machine code of all games and load installed policies, so that nobody waits for them later."""
        POLICIES.load()
        for name in names():
            game = find_game(name)
            settings: GameSettings = {"turn_seconds": 1, "casual": False, "analysis": False, "called": ""}
            live = Live(StoredGame(str(uuid.uuid4()), name, game.players[0], {}, settings, secrets.token_bytes(32), False, 0.0, 0.0))
            change = live.start()
            table = live.new_table() if change.table.over else change.table
            view = table.view(table.seat or 0)
            view.observation(), str(view), view.svg(), table.scores(), table.standings()
            if table.seat is not None:
                live.take(change, "running", 0.0, None)
                live.after(table.seat, table.legal()[:1])

    async def begin(self) -> None:
        """Load the games that wait or run, and continue them. Damaged ones are set aside."""
        for kept in self.store.unfinished():
            with contextlib.suppress(Damaged):  # which the store has logged
                self.live[kept.id] = live = self._opened(kept)
                self._prompt(live)
        self._clock = asyncio.create_task(self._watch_clocks())

    async def close(self) -> None:
        """Answer all waiting requests, end all processes, and close the database."""
        self.closing.set()
        tasks = [*self._thinking, *([self._clock] if self._clock else [])]
        for live in self.live.values():
            live.wake()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.results.end()
        await self._quick.end()
        await self._slow.end()
        self.store.close()

    @property
    def pids(self) -> list[int]:
        """The processes in which programs decide."""
        return [*self._quick.pids, *self._slow.pids]

    # Games and seats

    def find(self, id: str) -> Live:
        """The game of this id, read from the database if it is over. RequestError if there is none."""
        live = self.live.get(id) or self._over.get(id)
        if live is None:
            kept = self.store.load(id) if len(id) == 36 else None
            if kept is None:
                raise RequestError(404, f"there is no game {shown(id)}; /api/v1/games lists the public ones")
            live = self._opened(kept)
        if live.status == "over":
            self._keep(live)
        return live

    def seat(self, live: Live, token: str | None) -> int:
        """The seat that a token plays in this game. RequestError if it plays none."""
        if token is None:
            raise RequestError(401, "this needs the token of a seat, in a header 'Authorization: Bearer <token>'; joining a game gives one")
        seat = seat_of(token, [seat.token for seat in live.kept.seats])
        if seat is None:
            raise RequestError(403, "this token plays no seat of this game; the token of a seat is in the answer to joining it")
        return seat

    def make(
        self,
        game: str,
        players: int | None,
        options: dict[str, Any],
        seats: Sequence[str],
        *,
        public: bool = True,
        turn_seconds: int | None = None,
        casual: bool = False,
        analysis: bool = False,
        called: str = "",
        client: str = "",
    ) -> Live:
        """Make a game for a client. `seats` holds "open", or the text of a program, for each seat; seats that it does not name are open."""
        limits = self.settings.limits
        self._check_room(client, self.live.values(), limits.games, "wait or run here")
        found = find_game(game)
        n, variant = found.variant(len(seats) if players is None and len(seats) in found.players else players, **options)
        if len(seats) > n:
            raise BadOption(f"{len(seats)} seats are named, but {n} play; name one for each player or fewer")
        taken = [
            self._filled(text, game, n, options) if text != "open" else StoredSeat() for text in (*seats, *["open"] * (n - len(seats)))
        ]
        for number, seat in enumerate(taken):
            others = {other.name for other in taken[:number]}
            if seat.name in others and seat.name:
                seat.name = next(name for i in range(2, n + 2) if (name := f"{seat.name} {i}") not in others)
        n_people, now = sum(seat.kind == "open" for seat in taken), time.time()
        if not n_people:
            alone = [each for each in self.live.values() if not each.has_people]
            self._check_room(client, alone, limits.games_without_people, "run here in which only programs play")
        if turn_seconds is not None and turn_seconds > limits.turn_seconds:
            raise BadOption(f"turn_seconds={turn_seconds} is not possible on this server; it may be at most {limits.turn_seconds}")
        usual = limits.turn_seconds if n_people < 2 else min(limits.usual_turn_seconds, limits.turn_seconds)  # else nobody waits
        settings: GameSettings = {
            "turn_seconds": usual if turn_seconds is None else turn_seconds,
            "casual": casual,
            "analysis": analysis,
            "called": self._checked_name(called, "game") if called else "",
        }
        kept = StoredGame(
            str(uuid.uuid4()), game, n, found.options_of(variant), settings, secrets.token_bytes(32), public, now, now, seats=taken
        )
        live = Live(kept)
        live.client = client
        change = self._beginning(live)
        kept.status = "running" if change else "waiting"
        self.store.add(kept, change.rows if change else ())
        self.live[kept.id] = live
        if change:
            self._take(live, change, "running", None)
        else:
            self._tell(live)
        return live

    def join(self, live: Live, name: str, number: int | None = None, *, callback: str = "", token: str | None = None) -> tuple[int, str]:
        """Take an open seat, the first one if none is named. Return the seat and its token, which nobody else gets."""
        name = self._checked_name(name, "player")
        if policy_limits.is_program(name):
            raise RequestError(409, f"{shown(name)} is the name of a program; choose another name")
        open_seats = [seat for seat, who in enumerate(live.kept.seats) if who.kind == "open"]
        if not open_seats:
            raise RequestError(409, "every seat of this game is taken; /api/v1/games?status=waiting lists games with open seats")
        if name in (seat.name for seat in live.kept.seats):
            raise RequestError(409, f"{shown(name)} plays in this game already; choose another name")
        number = open_seats[0] if number is None else number
        if number not in open_seats:
            raise RequestError(409, f"seat {number} is not open; open seats are {', '.join(map(str, open_seats))}")
        token = new_token() if token is None else token
        before, taken = live.kept.seats[number], StoredSeat("player", name, "", hashed(token), callback)
        live.kept.seats[number] = taken
        try:
            change = self._beginning(live)
            now = time.time()
            status: Status = "running" if change else "waiting"
            self.store.take_seat(live.id, number, taken, change.rows if change else (), status, now)
        except BaseException:
            live.kept.seats[number] = before
            raise
        if change:
            self._take(live, change, status, None, now)
        else:
            live.kept.updated = now
            live.wake()
            self._tell(live)
        return number, token

    def leave(self, live: Live, seat: int) -> bool:
        """Give a seat back before the game begins. Return True if the table is cancelled, because nobody is left at it."""
        if live.status != "waiting":
            raise RequestError(409, "the game has begun and cannot be left; a seat may be resigned")
        is_last = all(other.kind != "player" for number, other in enumerate(live.kept.seats) if number != seat)
        if is_last:
            self.store.remove(live.id)
            del self.live[live.id]
            live.kept.status = "over"
        else:
            now = time.time()
            self.store.take_seat(live.id, seat, StoredSeat(), (), "waiting", now)
            live.kept.seats[seat], live.kept.updated = StoredSeat(), now
        live.wake()
        self._tell(live)
        return is_last

    # Playing

    def act(self, live: Live, seat: int, step: int, actions: Sequence[int]) -> bool:
        """Carry out decisions of a seat, which it made after `step` events. Return False if this was done before."""
        if step < live.step:
            done = [row for row in live.rows[step:] if row.kind == "action"][: len(actions)]
            if [(row.seat, row.number) for row in done] == [(seat, action) for action in actions]:
                return False
            raise RequestError(
                409, f"the game has gone on to step {live.step}, and this decision was made at step {step}; ask for the state"
            )
        if step > live.step:
            raise RequestError(409, f"the game is at step {live.step}, and has not come to step {step} yet")
        self._check_turn(live, seat)
        self._write(live, live.after(seat, actions))
        return True

    def resign(self, live: Live, seat: int) -> None:
        """Let the server play on for a seat, or end the game if no two opponents are left."""
        self._check_running(live)
        if seat in live.left:
            return
        self._write(live, live.without(seat, RESIGNED))

    def undo(self, live: Live, seat: int, step: int) -> None:
        """Go back to before the last decision of a seat, in a casual game against programs."""
        self._check_running(live)
        if any(other.kind != "program" for number, other in enumerate(live.kept.seats) if number != seat):
            raise RequestError(409, "nothing can be undone in this game, because another person plays in it")
        if not live.kept.settings["casual"]:
            raise RequestError(409, "nothing can be undone in this game; it can in games that are made with casual=true")
        if seat in live.left:
            raise RequestError(409, f"seat {seat} has resigned and decides no more")
        if step != live.step:
            raise RequestError(409, f"the game is at step {live.step}, not {step}; ask for the state")
        most = self.settings.limits.undos
        if sum(row.kind == "undo" for row in live.rows) >= most:
            raise RequestError(409, f"{most} decisions have been undone in this game, and there may be no more; make a new game")
        self._write(live, live.undone(seat))

    async def tell(self, live: Live) -> None:
        """Find what people are told of all events of a game, a few at a time, because others wait meanwhile."""
        if live.teller is None:
            live.teller = Teller(live)
        while live.teller.go_on(_TOLD_AT_ONCE):
            await asyncio.sleep(0)

    async def in_turn(self, client: str, work: Callable[[Callable[[], None]], _T]) -> _T:
        """The result of work(check), which a thread does in the client's turn (turns.py)."""
        async with self._turns.place(client, most=self.settings.limits.tasks):
            return await self._threads.do(work)

    async def do_slowly(self, client: str, key: Hashable, work: Callable[[Callable[[], None]], _T]) -> _T:
        """The result of this key. If it is not kept, work(check) finds it in the client's turn."""
        return await self.results.get(key, lambda: self.in_turn(client, work))

    async def analyse(self, live: Live, step: int, viewer: int | None, text: str, client: str = "") -> Searched:
        """The analysis of a position by a search. RequestError if it would help somebody who plays.

        A repeated request, or the same search of the same position, gets the earlier result.
        """
        settings = live.kept.settings
        if live.status != "over" and not settings["analysis"] and not (live.is_casual and viewer is not None):
            raise RequestError(403, "this game may be analysed when it is over; casual games, and games with analysis=true, also before")
        table = live.table_at(step)
        seat = table.seat
        if seat is None:
            raise RequestError(409, f"no seat decides at step {step}; choose a step at which a seat decides")
        if not live.is_open and viewer != seat:
            raise RequestError(403, f"seat {seat} decides at step {step}, and while the game goes on only it may know what it sees")
        kept = live.kept
        policy_limits.checked_search(text, live.game, kept.players, kept.options, self.settings)
        return await self.results.get(("analysis", live.id, step, text), lambda: self._analysis(table.clone(), step, seat, text, client))

    async def _analysis(self, table: Table, step: int, seat: int, text: str, client: str) -> Searched:
        job, limits = Job(text, secrets.randbits(60), table, seat, analyse=True), self.settings.limits
        try:
            found: Found = await self._slow.do(job, 2 * limits.analysis_seconds + 1, f"hints of {client}", _WITH_PEOPLE, limits.analyses)
        except CannotDecide as error:
            raise RequestError(422, str(error)) from None
        return {"step": step, "seat": seat, "policy": text, **found}

    def record(self, live: Live) -> str:
        """The record of a game, as `kdenv replay` reads it. RequestError while it would show hidden information."""
        if not live.is_open:
            raise RequestError(403, "the record tells what is hidden, so there is none before the game is over")
        return live.table.record()

    # Details

    def _opened(self, kept: StoredGame) -> Live:
        """A game of the database, with its events carried out again. Raises Damaged if they cannot be, and sets it aside."""
        try:
            return Live(kept, self.store.rows(kept.id))
        except sqlite3.OperationalError:
            raise  # the file cannot be read now; the game need not be damaged
        except Exception as error:
            self.store.set_aside(kept.id, error)
            raise Damaged(kept.id) from None

    def _keep(self, live: Live) -> None:
        """Keep a finished game in memory for its next viewer. The least recently viewed games leave memory."""
        self._over[live.id] = live
        self._over.move_to_end(live.id)
        if len(self._over) > _KEPT:
            self._over.popitem(last=False)

    def _filled(self, text: str, game: str, players: int, options: dict[str, Any]) -> StoredSeat:
        made = policy_limits.checked(text, find_game(game), players, options, self.settings, self.settings.limits.search_seconds)
        self._speed_of(text, made)
        return StoredSeat("program", text, text)

    def _speed_of(self, text: str, made: Policy) -> int:
        """The speed of a program, which is remembered."""
        if len(self._speeds) >= _TEXTS:
            self._speeds.clear()
        searches, is_compiled = isinstance(made, SearchPolicy | Budgeted), isinstance(made, RulePolicy | Random)
        self._speeds[text] = _SLOW if searches else _RULES if is_compiled else _QUICK
        return self._speeds[text]

    def _check_room(self, client: str, games: Collection[Live], most: int, what: str) -> None:
        """Refuse a client another one of these games, if there are too many of them or half of them are of this client."""
        if len(games) >= most:
            raise RequestError(503, f"{most} games {what}, and there may be no more; try again later")
        share = max(1, most // 2)
        if sum(live.client == client for live in games) >= share:
            raise RequestError(429, f"you have made {share} games that {what}, and one client may have no more; end or leave some")

    def _checked_name(self, name: str, what: str) -> str:
        name = unicodedata.normalize("NFC", name).strip()
        if not name or len(name) > self.settings.limits.name or not name.isprintable() or not _is_visible(name):
            most = self.settings.limits.name
            raise BadOption(f"{shown(name) or 'nothing'} is no name of a {what}; a name has 1 to {most} letters that can be printed")
        return name

    def _check_running(self, live: Live) -> None:
        if live.status != "running":
            raise RequestError(409, "the game is over" if live.status == "over" else "the game waits for players and has not begun")

    def _check_turn(self, live: Live, seat: int) -> None:
        self._check_running(live)
        if seat in live.left:
            raise RequestError(409, f"seat {seat} {WHY[live.left[seat]]}, and the server plays on for it")
        if live.mover != seat:
            raise RequestError(409, f"seat {live.mover} decides now, not seat {seat}")

    def _beginning(self, live: Live) -> Change | None:
        """The first change of a game; None while seats are open."""
        return None if any(seat.kind == "open" for seat in live.kept.seats) else live.start()

    def _write(self, live: Live, change: Change) -> None:
        """Write a change to the database, and put it into effect."""
        over = live.ends_with(change)
        result, now = live.result_of(change) if over else None, time.time()
        self.store.append(live.id, live.step, change.rows, "over" if over else "running", now, result)
        self._take(live, change, "over" if over else "running", result, now)

    def _take(self, live: Live, change: Change, status: Status, result: Result | None, now: float | None = None) -> None:
        live.take(change, status, now or live.kept.updated, result)
        if status == "over":
            self.n_over += 1
            del self.live[live.id]
            self._keep(live)
        self._tell(live)
        self._prompt(live)

    def _tell(self, live: Live) -> None:
        for listener in self.when_changed:
            listener(live)

    # Programs and clocks

    def _prompt(self, live: Live) -> None:
        """Start the task that asks programs for decisions, if a program decides now."""
        if live.program is not None and (live.thinking is None or live.thinking.done()):
            live.thinking = asyncio.create_task(self._let_programs_decide(live))
            self._thinking.add(live.thinking)
            live.thinking.add_done_callback(self._thinking.discard)

    async def _let_programs_decide(self, live: Live) -> None:
        """Ask programs for their decisions until a player decides or the game is over."""
        while not self.closing.is_set() and live.program is not None:
            step, seat, text = live.step, live.mover, live.program
            assert seat is not None
            try:
                action = await self._decision(live, seat, text)
                if live.step == step and not self.closing.is_set():
                    self._write(live, live.after(seat, [action]))
            except StoreBusy as error:
                _LOG.warning("game %s: %s", live.id, error)
                await asyncio.sleep(_AGAIN)
            except KdenvError as error:
                _LOG.warning("game %s: %s in seat %d: %s", live.id, text, seat, error)
                await self._replace(live, step, seat)
            except Exception:
                _LOG.exception("game %s: %s in seat %d", live.id, text, seat)
                await self._replace(live, step, seat)

    async def _decision(self, live: Live, seat: int, text: str) -> int:
        kept, limits = live.kept, self.settings.limits
        speed = self._speeds.get(text)
        if speed is None:
            made = policy_limits.checked(text, live.game, kept.players, kept.options, self.settings, limits.search_seconds)
            speed = self._speed_of(text, made)
        job = Job(text, live.seed("policy", seat), live.table.clone(), seat, live.memories.get(seat, b""))
        if speed == _RULES:
            decision = await self._by_rules(job, (text, live.game.name, kept.players))
        else:
            pool, rank = self._slow if speed == _SLOW else self._quick, _WITH_PEOPLE if live.has_people else _WITHOUT_PEOPLE
            decision = await pool.do(job, limits.decision_seconds, live.client, rank)
        live.memories[seat] = decision.memory
        return int(decision.action)

    async def _by_rules(self, job: Job, key: tuple[str, str, int]) -> Decision:
        """The decision of a rule player, which takes less than a message to a process, once it is compiled.

        The first decision is made in a process, which compiles, and the second in a thread, which loads the machine code.
        """
        done_before = self._ready.get(key, 0)
        if len(self._ready) >= _TEXTS:
            self._ready.clear()
        decision: Decision
        if done_before == 0:
            decision = await self._quick.do(job, self.settings.limits.decision_seconds)
        elif done_before == 1:
            decision = await self._threads.do(lambda check: do(job, {}))
        else:
            decision = do(job, self._here)
            await asyncio.sleep(0)  # other games and requests are between two decisions
        self._ready[key] = min(done_before + 1, 2)
        return decision

    async def _replace(self, live: Live, step: int, seat: int) -> None:
        """Play on for a program that has failed. If its replacement fails, too, take any legal action."""
        if live.step != step:
            return
        live.memories.pop(seat, None)
        change = live.without(seat, FAILED) if seat not in live.left else live.after(seat, [secrets.choice(live.table.legal())])
        try:
            self._write(live, change)
        except StoreBusy as error:
            _LOG.warning("game %s: %s", live.id, error)
            await asyncio.sleep(_AGAIN)

    async def _watch_clocks(self) -> None:
        """End the time of players who do not decide, and forget games that nobody joined."""
        while True:
            await asyncio.sleep(_LOOK)
            for live in list(self.live.values()):
                try:
                    self._look_at_clock(live)
                except StoreBusy as error:
                    _LOG.warning("game %s: %s", live.id, error)
                except Exception:
                    _LOG.exception("game %s: its clock cannot be looked at", live.id)

    def _look_at_clock(self, live: Live) -> None:
        if live.status == "waiting" and time.monotonic() > live.clock + self.settings.limits.waiting_seconds:
            self.store.remove(live.id)
            del self.live[live.id]
        elif live.is_late:
            assert live.mover is not None
            self._write(live, live.without(live.mover, OUT_OF_TIME))


def _is_visible(name: str) -> bool:
    """True if a name has a letter that can be seen, beside marks, and nothing that hides others."""
    return not any(letter in _BLANK for letter in name) and any(unicodedata.category(letter)[0] in "LNPS" for letter in name)
