"""Texts from outside, however long: numbers read from them, and a limit to their length."""

from __future__ import annotations

import re

from kdenv.core.errors import BadRecord

_LONGEST_POSITION = 20_000  # characters; no position of any game here has a tenth of that


def number_in(text: str, least: int, most: int) -> int | None:
    """The whole number that the text is, in plain digits, if it is one from least to most; else None."""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        return None
    number = int(text)
    return number if least <= number <= most else None


def check_length(text: str) -> None:
    """Refuse a text too long to be a position before anybody spends time on it."""
    if len(text) > _LONGEST_POSITION:
        raise BadRecord(f"this text of {len(text):,} characters is no position; the longest have {_LONGEST_POSITION:,}")
