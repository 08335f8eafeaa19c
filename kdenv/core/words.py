"""Texts from outside, however long: numbers read from them, and as much of them as an error message should show."""

from __future__ import annotations

import re
import reprlib

from kdenv.core.errors import BadRecord

_LONGEST_POSITION = 20_000  # characters; no position of any game here has a tenth of that
_SHOWN = 60


def number_in(text: str, least: int, most: int) -> int | None:
    """The whole number that the text is, in plain digits, if it is one from least to most; else None."""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        return None
    number = int(text)
    return number if least <= number <= most else None


def shown(value: object) -> str:
    """A value as an error message shows it: in one line, and cut if it is long."""
    if isinstance(value, int) and abs(value) >> 200:
        return f"(a number of more than {_SHOWN} digits)"
    text = value if isinstance(value, str) else reprlib.repr(value) if isinstance(value, (list, tuple, dict, set)) else repr(value)
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN - 20]}... ({len(text):,} characters)"
    return text if text.isprintable() else repr(text)


def check_length(text: str) -> None:
    """Refuse a text too long to be a position before anybody spends time on it."""
    if len(text) > _LONGEST_POSITION:
        raise BadRecord(f"this text of {len(text):,} characters is no position; the longest have {_LONGEST_POSITION:,}")
