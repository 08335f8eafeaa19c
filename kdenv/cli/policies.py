"""`kdenv policies`: lists the policies that can play a game, or explains one of them with all its parameters."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from kdenv.cli.arguments import Commands
from kdenv.cli.terminal import WIDTH

if TYPE_CHECKING:
    from kdenv.core.game import Game
    from kdenv.policies.listing import Entry

_HEADINGS = {
    "players": "Players of the game",
    "searches": "Searches",
    "papers": "Searches of papers, with the parameters and budgets of the paper",
    "others": "Learned and other policies",
    "elsewhere": "Searches of papers on other games, which play here too",
    "playouts": "Playouts of searches (playout=...); every player of the game is one, too",
    "rules": "Selection rules of searches (select=...)",
}
_PAPER = re.compile(r".*?\b(?:19|20)\d\d\b")  # the authors and the year, with which a source begins


def add(commands: Commands) -> None:
    parser = commands.add(
        "policies",
        _run,
        "list the policies that can play a game, or explain one",
        "kdenv policies kingdomino",
        "kdenv policies kingdomino mce",
    )
    parser.add_argument("game", help="the name of a game")
    parser.add_argument("name", nargs="?", help="a policy, playout or selection rule, which is explained with all its parameters")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.games import find_game
    from kdenv.policies.listing import entry_of

    game = find_game(parsed.game)
    for line in _overview(game) if parsed.name is None else _filled(_page(entry_of(parsed.name, game), game)):
        print(line)


def _overview(game: Game) -> Iterator[str]:
    """Every policy in a line, under the headings of the groups; then the playouts and rules that searches take as parameters."""
    from kdenv.policies.listing import listing, parts

    entries = [*listing(game), *parts(game)]
    for best in [entry for entry in entries if entry.name == "strongest"]:
        entries.remove(best)
        yield f"{best.name}  {best.meaning}"
        yield from _filled(f"  {line}" for line in best.cls.stands_for(game))
        yield ""
    for group, heading in _HEADINGS.items():
        inside = [entry for entry in entries if entry.group == group]
        if not inside:
            continue
        yield heading
        if group == "elsewhere":
            yield from textwrap.wrap(", ".join(entry.name for entry in inside), WIDTH, initial_indent="  ", subsequent_indent="  ")
        elif group == "papers":
            for paper, of_paper in groupby(inside, _paper):
                yield f"  {paper}"
                yield from _lines(list(of_paper), "    ")
        else:
            yield from _lines(inside, "  ")
        yield ""
    yield f"'kdenv policies {game.name} NAME' explains one of them and its parameters."


def _lines(entries: list[Entry], indent: str) -> Iterator[str]:
    """A line for each entry, with as much of its meaning as fits; the page of the entry has all of it."""
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        start = f"{indent}{entry.name:{width}}  "
        yield start + _cut(entry.meaning, WIDTH - len(start))


def _cut(meaning: str, room: int) -> str:
    """The meaning, cut after a clause if it is longer than the room, or between words if its first clause is too long, too."""
    if len(meaning) <= room:
        return meaning
    clauses = [end.start() for end in re.finditer(r"[;:] ", meaning) if 20 <= end.start() <= room]
    return meaning[: clauses[-1]] if clauses else textwrap.shorten(meaning, room, placeholder=" ...")


def _paper(entry: Entry) -> str:
    """The paper that an entry comes from, as REFERENCES.md names it."""
    found = _PAPER.match(entry.source)
    return found[0] if found else entry.source


def _page(entry: Entry, game: Game) -> Iterator[str]:
    """The meaning, the paper, the text, and each parameter with its meaning, its values and its default."""
    yield f"{entry.name}: {entry.meaning}"
    if entry.source:
        yield f"paper: {entry.source}"
    if entry.name != entry.cls.kind:
        presets = ", ".join(f"{name}={entry.default(name)}" for name in entry.presets)
        yield f"stands for: {entry.cls.kind}({presets})"
    elif entry.usage != entry.name:
        yield f"written: {entry.usage}"
    for i, line in enumerate(entry.cls.stands_for(game)):
        yield (" " * 12 if i else "stands for: ") + line
    if entry.parameters:
        yield ""
        yield "parameters:"
    for name, parameter in entry.parameters.items():
        default = entry.default(name)
        yield f"  {name}" + (f": {parameter.meaning}" if parameter.meaning else "")
        yield f"      It {parameter.possible()}. " + (f"Default: {default}." if default else _without_default(entry, name))


def _filled(lines: Iterable[str]) -> Iterator[str]:
    """The same lines, filled to the width of the terminal. Continued lines are indented by six columns."""
    for line in lines:
        yield from textwrap.wrap(line, WIDTH, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False) or [""]


def _without_default(entry: Entry, name: str) -> str:
    if entry.parameters[name].is_required:
        return "It must be given."
    alternatives = entry.cls.alternatives
    if name not in alternatives:
        return "It need not be given."
    preset = [f"{other}={entry.default(other)}" for other in alternatives if entry.default(other)]
    if preset:
        return f"If it is given, it takes the place of {preset[0]}."
    *others, last = alternatives
    return f"One of {', '.join(others)} and {last} must be given." if others else "It must be given."
