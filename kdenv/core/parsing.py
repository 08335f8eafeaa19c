"""Reads numbers from texts that users give, refuses texts that are too long, and writes names as Python writes them."""

from __future__ import annotations

import re

from kdenv.core.errors import BadRecord, shown

_LONGEST_POSITION = 20_000  # in characters; positions of the games here have less than a tenth of this


def number_in(text: str, least: int, most: int) -> int | None:
    """The whole number that a text of plain digits stands for, if it is from least to most; else None."""
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
    """The whole number from least to most that a text stands for; else BadRecord. Its sentence begins with `what`, such as "turn="."""
    number = number_in(text, least, most)
    if number is None:
        raise BadRecord(f"{what}{shown(text)} is not a number from {least} to {most}")
    return number


def in_capitals(name: str) -> str:
    """The name as a class or an environment has it: FullGreedy for full_greedy."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def check_length(text: str) -> None:
    """Refuse a text that is too long to be a position, so that no time is spent on reading it."""
    if len(text) > _LONGEST_POSITION:
        raise BadRecord(f"this text of {len(text):,} characters is no position; a position has at most {_LONGEST_POSITION:,}")
