"""Writes the files of commands. kdenv.core.files reads them."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, content: str | bytes) -> None:
    """Write a text in UTF-8, or bytes as they are."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="\n")
