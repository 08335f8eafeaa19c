"""`kdenv rules`: prints the rules of a game, from the README of its package."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kdenv.cli.arguments import Commands
from kdenv.cli.terminal import WIDTH
from kdenv.games.rulebook import rulebook

if TYPE_CHECKING:
    from kdenv.core.game import Game

_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
_MARKS = re.compile(r"`([^`]*)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*")
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")


def add(commands: Commands) -> None:
    parser = commands.add("rules", _run, "print the rules of a game, as they are played here", "kdenv rules carcassonne")
    parser.add_argument("game", help="the name of a game")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.games import find_game

    for line in rules_of(find_game(parsed.game)):
        print(line)


def rules_of(game: Game) -> Iterator[str]:
    """The lines of the rules, for a terminal."""
    return _plain(rulebook(game))


def _plain(markdown: str) -> Iterator[str]:
    """A page of Markdown as lines for a terminal: paragraphs and items are filled anew, tables are aligned, code is left out."""
    for block in re.split(r"\n\s*\n", _CODE.sub("", markdown).strip()):
        lines = block.splitlines()
        if lines[0].startswith("|"):
            yield from _table(lines)
        elif lines[0].startswith("#"):
            title = lines[0].lstrip("# ")
            yield title.upper() if lines[0].startswith("# ") else title
            yield ("=" if lines[0].startswith("# ") else "-") * len(title)
            continue  # no empty line after a title
        else:
            for paragraph in _paragraphs(lines):
                item = _ITEM.match(paragraph)
                yield from textwrap.wrap(_text(paragraph), WIDTH, subsequent_indent=" " * (len(item[0]) if item else 0))
        yield ""


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """The lines of a block, put together. An item of a list is a paragraph of its own."""
    found: list[str] = []
    for line in lines:
        if found and not _ITEM.match(line):
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
    return iter(found)


def _table(lines: list[str]) -> Iterator[str]:
    """A table: the first column of every row, and the others beside each other, filled to the width of the terminal."""
    rows = [[_text(cell.strip()) for cell in line.strip().strip("|").split("|")] for line in lines if not re.fullmatch(r"[|:\s-]+", line)]
    first = min(max(len(row[0]) for row in rows), 24)
    for row in rows:
        rest = "; ".join(cell for cell in row[1:] if cell)
        yield from textwrap.wrap(rest, WIDTH, initial_indent=f"  {row[0]:{first}}  ", subsequent_indent=" " * (first + 4)) or [
            f"  {row[0]}"
        ]


def _text(words: str) -> str:
    """Words without the marks of Markdown."""
    return _MARKS.sub(lambda found: next(group for group in found.groups() if group is not None), _LINK.sub(r"\1", words))
