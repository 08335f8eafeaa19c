"""What the drawings of all games have in common: their letters, and the words they use."""

import itertools
import re

import numpy as np
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


# What people with a kind of colour-blindness see of red, green and blue light (Machado, Oliveira and Fernandes 2009, full severity).
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}


def lab(colour: str, blindness: str) -> np.ndarray:
    """A colour as seen, as lightness and two contrasts (CIELAB)."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    light = BLINDNESS[blindness] @ np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(light, 0, 1)
    f = np.where(xyz / [0.9505, 1, 1.089] > 0.008856, np.cbrt(xyz / [0.9505, 1, 1.089]), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("name", names())
def test_the_colours_of_seats_differ_for_every_kind_of_colour_blindness(name: str, blindness: str) -> None:
    """30 is far: 2 can just be told apart. Seats of a team have one colour."""
    seen = [lab(colour, blindness) for colour in dict.fromkeys(find_game(name).drawing.SEAT_COLOURS)]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) > 30


@pytest.mark.parametrize("name", names())
def test_words_can_be_read_in_the_dark(name: str) -> None:
    """Those colours of a drawing that change in the dark: the light ones become dark, and the dark ones light."""
    dark = getattr(find_game(name).drawing, "DARK", {})
    assert dark or name == "dominoes"  # whose cloth is dark
    for before, after in dark.items():
        assert (lab(before, "none")[0] > 65) == (lab(after, "none")[0] < 50), before
    assert not set(dark.values()) & set(dark)
