"""Mutates valid records of all four games and reads them: each must be refused in one sentence or replayed to the same record.

    python tests/support/record_fuzz.py SEED MANY        # prints a line per game: tried, refused, read

A mistake is an exception of another kind, a sentence of more than one line or a table that does not write the record it came from.
"""

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a program, it finds its neighbours by itself

from mutants import change_line, change_word
from random_games import random_game

from kdenv.core.errors import KdenvError
from kdenv.core.record import replay
from kdenv.games import find_game, names

VARIANTS: dict[str, list[tuple[int, dict[str, object]]]] = {
    "kingdomino": [(4, {}), (2, {"size": 7, "dominoes": 48, "tiebreak": "official"}), (2, {"size": 3, "dominoes": 8})],
    "dominion": [(2, {}), (3, {"kingdom": "random", "kingdom_seed": 3}), (4, {"info": "thesis", "curses": True})],
    "carcassonne": [(2, {}), (5, {})],
    "dominoes": [(4, {})],
}
NUMBERS: list[int | str] = [0, 1, 2, 3, 4, 7, 8, 48, 49, 63, 64, 71, 72, 127, 128, 255, 256, 32767, 2**31, 2**63, 10**20]
NUMBERS += ["9" * 5000, "-1", "1e9", "0x1", "²", "٣"]
LETTERS = [*"0179:=,-+*./@; \n\t\r\0Xwl\"'%{}é²٣─\u2028\x1c", "\ud800", "kdenv ", "start ", "unfinished"]


def records(game: str, dice: random.Random) -> list[str]:
    """Games of this kind: broken off early and late, finished, and begun from a position."""
    found = []
    for players, options in VARIANTS[game]:
        for decisions in (0, 7, 40, None):
            table = random_game(find_game(game), dice.randrange(10**6), players, decisions, **options)
            lines = table.record().splitlines()
            found.append(table.record())
            if decisions == 7:
                found.append(f"{lines[0]}\nstart {table.position()}\n= unfinished\n")
    return found


def mutants(text: str, dice: random.Random, many: int) -> Iterator[str]:
    """This text with a few changes of letters, bytes, numbers, words and lines."""
    for _ in range(many):
        mutant = text
        for _ in range(dice.choice([1, 1, 1, 1, 2, 3, 8])):
            mutant = dice.choice([letter, byte, number, word, change_line, header])(mutant, dice)
        yield mutant


def letter(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(LETTERS) + text[at + dice.choice([0, 1]) :]


def byte(text: str, dice: random.Random) -> str:
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data).decode("utf-8", "replace")


def number(text: str, dice: random.Random) -> str:
    found = list(re.finditer(r"[0-9]+", text))
    if not found:
        return text
    match = dice.choice(found)
    near = [int(match[0][:9]) + 1, max(0, int(match[0][:9]) - 1)]
    return text[: match.start()] + str(dice.choice([*NUMBERS, *near, *near])) + text[match.end() :]


def word(text: str, dice: random.Random) -> str:
    return change_word(text, dice, r"([ ,:=/@;\n])")


def header(text: str, dice: random.Random) -> str:
    """Another option, or another value of one."""
    first, newline, rest = text.partition("\n")
    words = first.split(" ")
    name = dice.choice(["players", "game", "self", "size", "kingdom", "rules", "max_turns", "dominoes", "option"])
    value = dice.choice([*NUMBERS, "yes", "none", "random", "a,b", "=", ""])
    words.insert(dice.randrange(len(words) + 1), f"{name}={value}")
    return " ".join(words) + newline + rest


def read(text: str) -> str | None:
    """The record of the table that a text ends at, or None if it is refused."""
    try:
        *_, table = replay(text, find_game)
    except KdenvError as error:
        message = str(error)
        assert message, "an empty sentence"
        assert len(message.splitlines()) == 1, f"not one line: {message!r}"
        return None
    return table.record()


def fuzz(game: str, seed: int, many: int) -> dict[str, object]:
    """The numbers of mutants that were tried, refused and read."""
    dice = random.Random(f"{game} {seed}")
    texts = records(game, dice)
    tally: dict[str, object] = {"game": game, "tried": 0, "refused": 0, "read": 0}
    failures: list[list[str]] = []
    for i in range(many):
        (mutant,) = mutants(texts[i % len(texts)], dice, 1)
        try:
            again = read(mutant)
            if again is not None:
                assert read(again) == again, "it is not read back"
        except Exception as error:  # the very thing looked for
            failures.append([f"{type(error).__name__}: {error}"[:300], mutant[-300:] if len(mutant) > 300 else mutant])
            continue
        finally:
            tally["tried"] = i + 1
        tally["refused" if again is None else "read"] = int(str(tally["refused" if again is None else "read"])) + 1
    return {**tally, "failures": failures}


if __name__ == "__main__":
    for name in names():
        print(json.dumps(fuzz(name, int(sys.argv[1]), int(sys.argv[2]))), flush=True)
