"""Reads and writes the files of commands. Text is UTF-8, and a mistake about a file is told in one sentence."""

from __future__ import annotations

from pathlib import Path

from kdenv.core.errors import BadRecord


def read(path: Path) -> str:
    """The text of a file. Raises BadRecord if it is not text, and OSError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRecord(f"{path} is not a text file in UTF-8: its byte {error.start} is {error.object[error.start]:#04x}") from None
    except ValueError as error:  # for example, the path has a null character
        raise BadRecord(f"{path}: {error}") from None


def write(path: Path, content: str | bytes) -> None:
    """Write a text in UTF-8, or bytes as they are."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="\n")
