"""Texts of positions and records with random changes, and a look at all that a table can show."""

import random
import re
from collections.abc import Iterator

from kdenv.core.table import Table


def mutants(text: str, seed: int, many: int) -> Iterator[str]:
    """This text with a few random changes: of letters, numbers, words and lines."""
    dice = random.Random(seed)
    for _ in range(many):
        mutant = text
        for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
            mutant = dice.choice([change_letter, change_number, change_word, change_line])(mutant, dice)
        yield mutant


def change_letter(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(["", *"0179:=,-+*./ \nXwl\0é²٣"]) + text[at + dice.choice([0, 1]) :]


def change_number(text: str, dice: random.Random) -> str:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text
    match = dice.choice(numbers)
    number = dice.choice([0, 1, 2, 3, 4, 5, 7, 8, 48, 49, 64, 127, 128, 256, 10**20, int(match[0]) + 1, int(match[0]) - 1])
    return text[: match.start()] + str(number) + text[match.end() :]


def change_word(text: str, dice: random.Random, between: str = r"([ ,:=/])") -> str:
    words = re.split(between, text)
    i, j = dice.randrange(len(words)), dice.randrange(len(words))
    words[i] = dice.choice(["", words[j], words[i] * 2])
    return "".join(words)


def change_line(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[i] = dice.choice(["", lines[j], lines[i] + "\n" + lines[j]])
    return "\n".join(lines)


def look_at_everything(table: Table) -> None:
    """Whatever a kernel, a drawing or a notation could stumble over."""
    for seat in range(table.players):
        table.observation(seat)
        table.view(seat)
    table.scores(), table.standings(), str(table), table.svg(), table.chances()
    assert all(table.action(table.name(action)) == action for action in table.legal())
