"""`kdenv replay`: plays a record again to check it, and shows or draws the game."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli import arguments, pictures, terminal
from kdenv.cli.arguments import Commands
from kdenv.core.errors import BadOption
from kdenv.core.files import read_text

if TYPE_CHECKING:
    from kdenv.core.table import Table


def add(commands: Commands) -> None:
    parser = commands.add(
        "replay",
        _run,
        "play a record again to check it, and show or draw the game",
        "kdenv replay game.txt --every",
        "kdenv replay game.txt --html game.html",
    )
    parser.add_argument("file", type=Path, help="a record, as 'kdenv play --record' writes it")
    add_step(parser)
    parser.add_argument("--every", action="store_true", help="show the position after every line")
    pictures.add_drawing(parser)


def add_step(parser: argparse.ArgumentParser) -> None:
    """Let a command take the line of a record at which to stop."""
    parser.add_argument("--step", type=arguments.whole(), metavar="N", help="stop after this many lines of the record")


def _run(parsed: argparse.Namespace) -> None:
    film = pictures.Film(parsed)
    lines = [line.strip() for line in read_text(parsed.file).splitlines() if line.strip()]
    for table, line in zip(replayed(parsed.file, parsed.step), lines, strict=False):  # the closing line leads nowhere
        if parsed.every:
            terminal.show(f"{table}\n")
        film.show(table, line)
    if not parsed.every:
        terminal.show(str(table))
    print(f"points: {' '.join(map(str, table.scores()))}" + ("" if table.over else " (unfinished)"))
    for path in film.write(f"{table.game.title}, {table.players} players"):
        print(f"the drawing is in {path}")


def replayed(file: Path, step: int | None) -> Iterator[Table]:
    """Yield the same table after each line of a record, up to the line of this number (the first is line 0) or to the end."""
    from kdenv.core.record import replay
    from kdenv.games import find_game

    line = -1
    for line, table in enumerate(replay(read_text(file), find_game)):
        yield table
        if line == step:
            return
    if step is not None:
        raise BadOption(f"--step {step} is beyond the end of the record: it has {line} lines to play after its first; choose 0 to {line}")
