"""`kdenv play`: people play a game in the terminal, against policies or with each other."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli import arguments, files, terminal
from kdenv.cli.arguments import Commands
from kdenv.cli.interrupts import all_signals, interruptible
from kdenv.core.errors import BadOption, NotSupported, shown

if TYPE_CHECKING:
    from kdenv.core.table import Table
    from kdenv.policies.base import Policy

YOU = "you"  # the name of a seat that a person plays


def add(commands: Commands) -> None:
    parser = commands.add(
        "play",
        _run,
        "play a game in the terminal",
        "kdenv play kingdomino --against full_greedy gprd random",
        "kdenv play carcassonne --against greedy --seat 1 --record game.txt",
        "kdenv play dominoes --against greedy --seat 0,2",
    )
    arguments.add_game(parser)
    arguments.add_against(parser, "strongest")
    parser.add_argument("--seat", type=_seats, default=[0], metavar="N,...", help="your seat, or the seats of several people (default: 0)")
    arguments.add_players(parser, "the number of players (default: you and the opponents that you name, if the game can be played so)")
    arguments.add_seed(parser, None, "the seed of chance and of the opponents (default: taken from the clock)")
    parser.add_argument("--hint", metavar="POLICY", help="the search that hints (default: strongest, which takes a second)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the record of the game to this file")


def _seats(words: str) -> list[int]:
    """The seats of people, as --seat gives them."""
    seats = [arguments.whole()(word) for word in words.split(",")]
    if len(set(seats)) < len(seats):
        raise argparse.ArgumentTypeError(f"{shown(words)} names a seat twice")
    return seats


def _run(parsed: argparse.Namespace) -> int:
    from kdenv.core.record import options_text
    from kdenv.games import find_game
    from kdenv.policies import policy

    players, wanted = parsed.players, len(parsed.against) + len(parsed.seat)
    if players is None and parsed.against and wanted in find_game(parsed.game).players:
        players = wanted
    table = arguments.table(parsed.game, players, parsed.option)
    for seat in parsed.seat:
        if seat >= table.players:
            raise BadOption(f"--seat {seat} is not at this table; the seats are 0 to {table.players - 1}")
    others = [seat for seat in range(table.players) if seat not in parsed.seat]
    if len(parsed.against) > len(others):
        raise BadOption(
            f"{len(parsed.against)} opponents are named for {len(others)} seat{'s' * (len(others) != 1)} at {table.players} players"
        )
    opponents = parsed.against or [_usual(table)]
    texts = {seat: opponents[number % len(opponents)] for number, seat in enumerate(others)}
    who = [texts.get(seat, YOU if len(parsed.seat) == 1 else "a person") for seat in range(table.players)]
    seats = [policy(texts[seat]) if seat in texts else None for seat in range(table.players)]
    seed = time.time_ns() if parsed.seed is None else parsed.seed
    game = _TerminalGame(table, seats, policy(parsed.hint or _usual(table)), seed)
    print(f"{table.game.title}, {table.players} players{options_text(arguments.options(parsed.option))}, seed {seed}")
    for seat, name in enumerate(who):
        print(f"  seat {seat}: {name}{_partner(table, seat)}")
    with all_signals():
        if parsed.record is not None:
            files.write(parsed.record, table.record())  # raises the error for a file that cannot be written before the game
        try:
            game.play()
        finally:
            if parsed.record is not None:
                _keep(game.table, parsed.record)
    if game.table.over:
        terminal.show(f"\n{game.table}\n")
        for rank, seat in sorted((rank, seat) for seat, rank in enumerate(game.table.ranks())):
            print(f"{rank}. seat {seat} ({who[seat]}): {game.table.scores()[seat]} points")
    return 0


def _partner(table: Table, seat: int) -> str:
    """The partners of this seat in a game with teams, in words."""
    teams = table.game.teams(table.players)
    partners = [str(other) for other in range(seat % teams, table.players, teams) if other != seat]
    return f", with seat {' and '.join(partners)}" if partners else ""


def _usual(table: Table) -> str:
    """The default opponent and adviser: the strongest policy, or flat Monte Carlo at a table for which none has been measured."""
    from kdenv.policies import Strongest

    try:
        Strongest().needs(table.game, table.players, table.variant)
    except NotSupported:
        return "mce(seconds=1)"
    return "strongest"


def _keep(table: Table, path: Path) -> None:
    """Write the record of a game, finished or not, and print its path."""
    files.write(path, table.record())
    print(f"kdenv: the record {'is in' if table.over else 'so far (unfinished) is in'} {path}", file=sys.stderr)


class _TerminalGame:
    """A game of people and policies. It prints for each person the events since that person's last decision."""

    def __init__(self, table: Table, seats: list[Policy | None], adviser: Policy, seed: int) -> None:
        """`seats` has None for people. The adviser answers when a person asks for a hint."""
        from kdenv.arena.match import reset
        from kdenv.compiler.random import derive_seed, make_rng

        self.table, self.seats, self.adviser = table, seats, adviser
        self.chance = make_rng(seed)
        self._told = [0] * len(seats)  # the number of events that each seat has been shown
        self._words: list[str] = []  # each event in words, as its witnesses see it
        self._last = -1  # the person who looked at the screen last
        self._before: list[tuple[int, Table, int]] = []  # for each decision of a person: seat, table, and the state of chance
        for seat, player in enumerate([*seats, adviser]):
            if player is not None:
                reset(player, derive_seed("policy", seed, seat))

    def play(self) -> None:
        """Play to the end of the game, or until a person leaves."""
        from kdenv.cli.person import ask

        while True:
            self._run_chance()
            seat = self.table.seat
            if seat is None:
                self._tell_the_end()
                return
            player = self.seats[seat]
            if player is None:
                self._hand_over(seat)
                self._tell(seat)
                answer = ask(self.table, seat, self.adviser)
                if answer == "leave":
                    return
                if answer == "undo":
                    self._undo(seat)
                    continue
                self._before.append((seat, self.table.clone(), int(self.chance[0])))
                self._play(answer, YOU if self._people == 1 else f"seat {seat}")
                self._told[seat] = len(self._words)  # a person is not shown its own decision
            else:
                self._let_play(seat, player)

    def _let_play(self, seat: int, player: Policy) -> None:
        """Let a policy decide."""
        from kdenv.arena.match import failed

        who, view = f"seat {seat} ({player})", self.table.view(seat)
        try:
            self._play(interruptible(lambda: player.act(view)), who)
        except (Exception, SystemExit) as error:
            raise failed(who, error) from error

    @property
    def _people(self) -> int:
        return self.seats.count(None)

    def _play(self, answer: int, who: str) -> None:
        action = self.table.checked_action(answer)
        self._words.append(f"{who}: {self.table.name(action)}")
        self.table.play(action)

    def _run_chance(self) -> None:
        """Draw and carry out chance, with the same draws as Table.run_chance makes."""
        while self.table.at_chance:
            outcome = self.table.sample_chance(self.chance)
            self._words.append(f"chance: {self.table.chance_name(outcome)}")
            self.table.chance(outcome)

    def _hand_over(self, seat: int) -> None:
        """Before another person looks at a game that hides something, clear the screen and wait until that person sits there."""
        if self._last not in (-1, seat) and not self.table.game.open_information:
            terminal.clear()
            terminal.answer(f"seat {seat} decides; press Enter when nobody else looks: ")
        self._last = seat

    def _tell(self, seat: int) -> None:
        """Print the events that this seat has seen since the last time. Successive outcomes of chance are one line."""
        seen = self.table.log.seen_by(seat).events()
        told, draws, unseen = self._told[seat], list[str](), 0
        for event, words in zip(seen[told:], self._words[told:], strict=True):
            if event.is_chance:
                draws += [words.removeprefix("chance: ")] if event.number is not None else []
                unseen += event.number is None
                continue
            _print_chance(draws, unseen)
            draws, unseen = [], 0
            print(words)
        _print_chance(draws, unseen)
        self._told[seat] = len(self._words)

    def _tell_the_end(self) -> None:
        """Print the last events for the person who looked last; if nobody has looked yet, for the first person."""
        people = [seat for seat, player in enumerate(self.seats) if player is None]
        self._tell(self._last if self._last in people else people[0])

    def _undo(self, seat: int) -> None:
        """Go back to the last decision of this seat, if it has made one, and of nobody else."""
        for place in range(len(self._before) - 1, -1, -1):
            if self._before[place][0] == seat:
                break
        else:
            print("there is no decision of yours to go back to")
            return
        _, self.table, chance = self._before[place]
        del self._before[place:]
        self.chance[0] = chance
        del self._words[len(self.table.log) :]
        self._told = [min(told, len(self._words)) for told in self._told]
        print("back at your last decision; chance will draw the same again, and the others decide anew")


def _print_chance(draws: list[str], unseen: int) -> None:
    if unseen:
        draws = [*draws, f"{unseen} draw{'s' if unseen > 1 else ''} that you do not see"]
    if draws:
        print("chance:", ", ".join(draws))
