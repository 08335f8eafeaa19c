"""Writes the files of commands. kdenv.core.files reads them."""

from __future__ import annotations

from pathlib import Path

from kdenv.core.errors import BadOption


def check_folder(option: str, path: Path | None) -> None:
    """Raise BadOption if this option names a file, not a folder. The folder need not exist."""
    if path is not None and path.exists() and not path.is_dir():
        raise BadOption(f"{option} {path} is a file; give a folder")


def write(path: Path, content: str | bytes) -> None:
    """Write a text in UTF-8, or bytes as they are."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="\n")
