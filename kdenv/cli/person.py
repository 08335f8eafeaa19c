"""Asks a person at the terminal for a decision, and answers what the person asks first: help, a rule, a hint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from kdenv.cli import terminal
from kdenv.cli.interrupts import interruptible
from kdenv.core.errors import KdenvError

if TYPE_CHECKING:
    from kdenv.core.table import Table
    from kdenv.policies.base import Policy

_HELP = """Answer with the number of an action, or with its words. Or with one of these:
  help        show this; ? is the same
  help WORD   what the rules say about a card, a feature or anything else, as in 'help witch'
  hint        what a search would do, which sees what you see
  look        draw the table again
  undo        go back to your last decision
  q           leave the game; quit is the same"""
_IN_A_ROW = 4  # actions in a line
_TITLE = re.compile(r"^.*\n[=-]+\n", re.MULTILINE)


def ask(table: Table, seat: int, adviser: Policy) -> int | Literal["undo", "leave"]:
    """Show the position as the seat sees it, and let the person decide. Return a legal action, or what the person wants instead."""
    from kdenv.core.parsing import number_in

    _show(table, seat)
    legal = table.legal()
    while True:
        answer = terminal.answer("your action (number or words; help, hint, undo, q to leave): ")
        if answer in (None, "q", "quit"):
            return "leave"
        assert answer is not None
        command, _, rest = answer.partition(" ")
        if answer == "undo":
            return "undo"
        if answer == "look":
            _show(table, seat)
        elif answer == "hint":
            _hint(table, seat, adviser)
        elif command in ("help", "?"):
            print("\n".join(explain(table, rest.strip())) if rest.strip() else _HELP)
        else:
            place = number_in(answer, 1, len(legal))
            try:
                return legal[place - 1] if place is not None else table.action(answer)
            except KdenvError as error:
                said = terminal.sentence(error)
                print(said.split(" is not legal in ")[0] + " is not legal here" if "is not legal in" in said else said)


def _show(table: Table, seat: int) -> None:
    """Draw the table and list the legal actions, with the numbers by which they may be named."""
    terminal.show(f"\n{table.ansi(seat)}\n")
    cells = [f"{number:4}  {table.name(action)}" for number, action in enumerate(table.legal(), 1)]
    width = max(map(len, cells)) + 2
    for first in range(0, len(cells), _IN_A_ROW):
        print("".join(cell.ljust(width) for cell in cells[first : first + _IN_A_ROW]).rstrip())


def _hint(table: Table, seat: int, adviser: Policy) -> None:
    """Print the turns that the adviser likes best. It gets the view of the seat, and so knows no more than the person."""
    from kdenv.arena.match import reason
    from kdenv.policies.searching import SearchPolicy

    view = table.view(seat)
    try:
        if not isinstance(adviser, SearchPolicy):
            action = interruptible(lambda: adviser.act(view))
            print(f"{adviser} would play: {table.name(action)}")
            return
        found = interruptible(lambda: adviser.search(view))
    except (Exception, SystemExit) as error:
        print(f"there is no hint: {terminal.sentence(reason(error))}")
        return
    print(f"{adviser} thinks best ({found.unit}):")
    for candidate in found.candidates[:3]:
        value = "" if candidate.mean != candidate.mean else f"  {candidate.mean:.3f}"  # a forced turn has no value
        print(f"  {candidate.words}{value}")


def explain(table: Table, word: str) -> list[str]:
    """The paragraphs, items of lists and rows of tables with this word, from the rules of the game."""
    from kdenv.cli.rules import rules_of

    try:
        lines = list(rules_of(table.game))
    except KdenvError as error:
        return [terminal.sentence(error)]
    is_wanted = re.compile(rf"(?<!\w){re.escape(word)}(?:s|es)?(?!\w)", re.IGNORECASE)  # the whole word, also its plural
    text = _TITLE.sub("", "\n".join(lines))
    found: list[str] = []
    for paragraph in text.strip("\n").split("\n\n"):
        begin = r"\n(?=  \S)" if paragraph.startswith(" ") else r"\n(?=[-*] |\d+\. )"  # of a row of a table, or of an item of a list
        for item in re.split(begin, paragraph):
            if is_wanted.search(item):
                found += item.strip("\n").splitlines()
    return found or [f"the rules do not mention {word}; 'kdenv rules {table.game.name}' prints them all"]
