"""Reads numbers and positions from texts that users give, refuses texts that are too long, and writes names as Python writes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from kdenv.core.errors import BadRecord, shown

_LONGEST_POSITION = 20_000  # in characters; positions of the games here have less than a tenth of this


def number_in(text: str, least: int, most: int) -> int | None:
    """Return the whole number in a text of plain digits if it is from least to most; else None."""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        return None
    number = int(text)
    return number if least <= number <= most else None


def real_in(word: str) -> int | float | None:
    """The number that a text stands for, which may be a fraction such as 1/3; None if it is no number."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    over, _, under = word.partition("/")
    try:
        return int(over) / int(under)
    except (ValueError, ArithmeticError):
        return None


def read_number(what: str, text: str, most: int, least: int = 0) -> int:
    """Return the whole number in a text. Raises BadRecord unless it is from least to most. `what`, such as `turn=`, begins the message."""
    number = number_in(text, least, most)
    if number is None:
        raise BadRecord(f"{what}{shown(text)} is not a number from {least} to {most}")
    return number


def in_capitals(name: str) -> str:
    """Return a name as a class or an environment has it: FullGreedy for full_greedy."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def check_length(text: str) -> None:
    """Raise BadRecord if a text is too long to be a position, before time is spent on reading it."""
    if len(text) > _LONGEST_POSITION:
        raise BadRecord(f"this text of {len(text):,} characters is no position; a position has at most {_LONGEST_POSITION:,}")


def read_words(text: str, known: Sequence[str], optional: Collection[str] = ()) -> dict[str, str]:
    """Read a position of words such as `turn=0` as values by name. BadRecord if a name is unknown, twice there, or missing."""
    check_length(text)
    parts = [word.partition("=")[::2] for word in text.split()]
    for name, n in Counter(name for name, _ in parts).items():
        if n > 1:
            raise BadRecord(f"the position has {shown(name)}= twice")
        if name not in known:
            raise BadRecord(f"{shown(name)!r} is no part of a position; the parts are {', '.join(known)}")
    words = dict(parts)
    for name in known:
        if name not in words and name not in optional:
            raise BadRecord(f"the position lacks {name}=")
    return words
