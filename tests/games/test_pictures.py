"""What the drawings of all games have in common: their letters, and the words they use."""

import re

import pytest
from random_games import random_game

from kdenv.drawing import letters as lettering
from kdenv.games import find_game, names


def gap(before: str, between: str, after: str) -> float:
    """From the last stroke of a letter to the first of the one that comes after these, at height 10."""
    drawn = lettering.write(before + between + after, 0, 0, 10, "#000")
    starts = [float(x or 0) for x in re.findall(r'<use href="#k\d+"(?: x="([\d.]+)")?/>', drawn)]
    numbers = [float(x) for x in re.findall(r"[MLHV ]?(-?\d*\.?\d+) -?\d*\.?\d+", lettering.LETTERS[before][1])]
    return starts[1] - max(numbers)


def test_a_blank_after_a_1_is_seen() -> None:
    """'1 action' was read as '1action'."""
    assert gap("1", " ", "a") > 2.5 * gap("2", "", "a")
    assert gap("1", "", "1") < 4


@pytest.mark.parametrize("name", names())
def test_pictures_call_a_seat_player(name: str) -> None:
    for decisions in (1, 10, None):
        table = random_game(find_game(name), 1, None, decisions)
        words = re.sub(r"\x1b\[[\d;]*m", "", str(table)) + " ".join(re.findall(r'aria-label="[^"]*"|<title>[^<]*</title>', table.svg()))
        assert not re.search(r"\bseats? \d", words)
        assert re.search(r"\bplayers? \d", words)
