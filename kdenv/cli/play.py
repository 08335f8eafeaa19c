"""`kdenv play`: a person plays a game in the terminal, against policies."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli import arguments, files, terminal
from kdenv.cli.arguments import Commands
from kdenv.cli.interrupts import all_signals, interruptible
from kdenv.core.errors import BadOption, KdenvError

if TYPE_CHECKING:
    from kdenv.core.table import Table


def add(commands: Commands) -> None:
    parser = commands.add(
        "play",
        _run,
        "play a game in the terminal",
        "kdenv play kingdomino full_greedy gprd random",
        "kdenv play carcassonne greedy --seat 1 --record game.txt",
    )
    arguments.add_game(parser)
    parser.add_argument("policies", nargs="*", metavar="policy", help="your opponents, in the order of their seats (default: random)")
    parser.add_argument("--seat", type=arguments.whole(), default=0, metavar="N", help="your seat (default: 0)")
    arguments.add_players(parser, "the number of players (default: you and the opponents that you name)")
    arguments.add_seed(parser, None, "the seed of chance and of the opponents (default: taken from the clock)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the record of the game to this file")


def _run(parsed: argparse.Namespace) -> int:
    players = parsed.players
    if players is None and parsed.policies:
        players = len(parsed.policies) + 1
    table = arguments.table(parsed.game, players, parsed.option)
    texts = list(parsed.policies) or ["random"] * (table.players - 1)
    if len(texts) != table.players - 1:
        raise BadOption(f"{table.players} players are you and {table.players - 1} policies, but you named {len(texts)}")
    if parsed.seat >= table.players:
        raise BadOption(f"--seat {parsed.seat} is not at this table; the seats are 0 to {table.players - 1}")
    texts.insert(parsed.seat, "you")
    with all_signals():
        if parsed.record is not None:
            files.write(parsed.record, table.record())  # a file that cannot be written is noticed before the game, not after it
        try:
            _play(table, parsed.seat, texts, time.time_ns() if parsed.seed is None else parsed.seed)
        finally:
            if parsed.record is not None:
                _keep(table, parsed.record)
    if table.over:
        terminal.show(f"\n{table}\n")
        for place, (points, rank) in enumerate(zip(table.scores(), table.ranks(), strict=True)):
            print(f"{rank}. seat {place} ({texts[place]}): {points}")
    return 0


def _play(table: Table, mine: int, texts: list[str], seed: int) -> None:
    """Play to the end of the game, or until the person leaves."""
    from kdenv.compiler.random import derive_seed, make_rng
    from kdenv.policies import policy

    opponents = {place: policy(text) for place, text in enumerate(texts) if place != mine}
    for place, opponent in opponents.items():
        opponent.reset(derive_seed("policy", seed, place))
    chance = make_rng(seed)
    while True:
        table.run_chance(chance)
        seat = table.seat
        if seat is None:
            return
        if seat != mine:
            opponent, view = opponents[seat], table.view(seat)
            action = interruptible(lambda: opponent.act(view))  # noqa: B023  (it is called at once)
            print(f"seat {seat} ({texts[seat]}): {table.name(action)}")
            table.play(action)
        elif not _ask(table, seat):
            return


def _keep(table: Table, path: Path) -> None:
    """Write the record of a game, finished or not, and print where it is."""
    files.write(path, table.record())
    print(f"kdenv: the record {'is in' if table.over else 'so far (unfinished) is in'} {path}", file=sys.stderr)


def _ask(table: Table, seat: int) -> bool:
    """Let the person at the terminal decide. Return False if the person leaves the game."""
    from kdenv.core.game import whole_number

    legal = table.legal()
    terminal.show(f"\n{table.view(seat)}\n")
    for number, action in enumerate(legal, 1):
        print(f"{number:4}  {table.name(action)}", end="\n" if number % 4 == 0 or number == len(legal) else "\t")
    while True:
        try:
            answer = input("your action (number or words, q to leave): ").strip()
        except EOFError:
            print()
            return False
        if answer == "q":
            return False
        place = whole_number(answer)
        try:
            action = legal[place - 1] if place is not None and 1 <= place <= len(legal) else table.action(answer)
        except KdenvError as error:
            said = terminal.sentence(error)
            print(said.split(" is not legal in ")[0] + " is not legal here" if "is not legal in" in said else said)
            continue
        table.play(action)
        return True
