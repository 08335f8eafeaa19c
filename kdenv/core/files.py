"""Reads files that a user names. Devices, pipes and sockets are refused, because reading them might never end."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import Any

from kdenv.core.errors import BadOption, BadRecord, shown

_MOST = 1 << 28  # the most bytes of a text

_KINDS = ((stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def ordinary(path: Path) -> Path:
    """Return the same path. Raises BadRecord for a device, a pipe or a socket, and OSError if there is no file."""
    try:
        mode = path.stat().st_mode
    except ValueError as error:  # for example, the path has a null character
        raise BadRecord(f"{shown(path)}: {error}") from None
    for is_kind, kind in _KINDS:
        if is_kind(mode):
            raise BadRecord(f"{shown(path)} is {kind}, of which no end may ever come; give an ordinary file")
    return path


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8. Raises BadRecord if it is not UTF-8, and OSError if it cannot be read."""
    with ordinary(path).open("rb") as file:
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise BadRecord(f"{shown(path)} is larger than {_MOST >> 20} MB, so it is no such file as is read here")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRecord(f"{shown(path)} is not a text file in UTF-8: its byte {error.start} is {data[error.start]:#04x}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file. Raises BadOption if it is not TOML."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError, too
        raise BadOption(f"{shown(path)} is not TOML: {shown(error)}") from None
