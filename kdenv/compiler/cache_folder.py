"""Finds the folder for machine code, and deletes old files from it. The folder is the first of these that can be used:

1. `$KDENV_CACHE_DIR` if it is set; else the cache folder of the platform (`~/.cache/kdenv`, or in `$XDG_CACHE_HOME`, on Linux).
2. A folder of this user inside the shared temporary folder.
3. A new temporary folder, which is deleted when the process ends.

The files are pickles, so a user who can write to the folder can run code as the user who reads it. If another user could change a
folder (see permissions.py), it is neither read nor written, and a warning is printed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from kdenv.compiler import permissions

ENDING = ".machinecode"
_OURS = (ENDING, ".lock", ".part")
_FOLDER = "machine-code"
_MARKER = "CACHEDIR.TAG"  # backup programs skip a folder that holds a file of this name
_MARK = b"Signature: 8a477f597d28d172789f06886806bc55\n# Machine code compiled by kdenv. It may be deleted at any time.\n"
_MOST_BYTES = 1 << 30
_MOST_SECONDS = 60 * 24 * 3600.0  # code that was not used for so long is deleted
_DAY = 24 * 3600.0


def chosen_folder() -> Path | None:
    """Return the folder that is tried first; None if the platform has none."""
    chosen = os.environ.get("KDENV_CACHE_DIR")
    try:
        root = Path(chosen).absolute() if chosen else platformdirs.user_cache_path("kdenv", appauthor=False)
    except RuntimeError:  # this user has no home folder
        return None
    return root / _FOLDER if root.is_absolute() else None  # older versions of platformdirs return "~/.cache/kdenv" in that case


def folders_to_read() -> list[Path]:
    """Return all folders that may have machine code and that no other user can change."""
    chosen, more = chosen_folder(), (_in_shared_temporary(), *_private)
    found = [] if chosen is None or not _is_safe(chosen) else [chosen]
    return found + [folder for folder in more if _is_safe(folder, warn=False)]


def folder_to_write() -> Path | None:
    """Return the first folder that can be written; None if there is none."""
    first = chosen_folder()
    if first is not None and _can_write(first):
        return first
    return _second_folder()


def content_of(file: Path) -> bytes | None:
    """Return the content of a file of machine code; None if it cannot be read, or if another user could have written it."""
    try:
        with open(file, "rb", opener=_open_no_link) as opened:
            danger = permissions.danger_in_file(os.fstat(opened.fileno()), file.parent, for_group=_is_for_group(file.parent))
            if not danger:
                return opened.read()
    except OSError:
        return None
    print_once(f"machine code such as {file} is compiled anew, because {danger}", about=file.parent)
    return None


def write(file: Path, data: bytes) -> None:
    """Write a new file of machine code, which nobody but this user can change. Raises OSError."""
    with open(file, "xb", opener=lambda path, flags: os.open(path, flags, 0o644)) as opened:
        opened.write(data)
    if _is_for_group(file.parent):
        permissions.share(file)


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))  # Windows has no such flag


@cache
def _second_folder() -> Path | None:
    shared = _in_shared_temporary()
    if _can_write(shared):
        return shared
    try:
        private = Path(tempfile.mkdtemp(prefix="kdenv-"))
    except OSError:
        return None
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    if not _can_write(private):
        return None
    _private.append(private)
    return private


_private: list[Path] = []


def _in_shared_temporary() -> Path:
    number = permissions.user_number()
    name = "kdenv" if number is None else f"kdenv-{number}"  # on Windows each user has a separate temporary folder
    try:
        return Path(tempfile.gettempdir()) / name
    except FileNotFoundError:  # no folder on this machine can be written
        return Path(os.curdir).absolute() / name


def _is_safe(folder: Path, above: Path | None = None, *, warn: bool = True) -> bool:
    """Return whether the folder exists and no other user can change files in it. above: the folder in which it will be made."""
    try:
        danger = permissions.danger(above or folder, for_group=_is_for_group(folder), holds_files=above is None)
    except OSError:
        return False
    if danger and warn:
        print_once(f"machine code is not kept in {folder}, because {danger}")
    return not danger


def _is_for_group(folder: Path) -> bool:
    """Return whether the user has chosen this folder, so that it may be the folder of a group."""
    return bool(os.environ.get("KDENV_CACHE_DIR")) and folder == chosen_folder()


def _can_write(folder: Path) -> bool:
    """Return whether this user, and no other, can make files in this folder. The folder is made if it does not exist."""
    try:
        missing = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
        if missing and not _is_safe(folder, above=missing[-1].parent):
            return False
        for place in reversed(missing):
            place.mkdir(mode=0o700, exist_ok=True)  # another process may have made it
        if missing:
            (folder / _MARKER).write_bytes(_MARK)
        if missing and _is_for_group(folder):
            permissions.share(folder)
        if not _is_safe(folder):
            return False
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


_printed: set[Any] = set()


def print_once(sentence: str, *, about: Any = None) -> None:
    """Print a sentence on stderr, but only once. If several sentences have the same `about`, only the first is printed."""
    key = sentence if about is None else about
    if key not in _printed:
        _printed.add(key)
        print(f"kdenv: {sentence}", file=sys.stderr)


def prune(folder: Path) -> None:
    """Delete code that has not been used for two months, and the least recently used code beyond one gigabyte.

    Only files of kdenv are deleted, and only in folders that kdenv has made.
    """
    if not (folder / _MARKER).is_file():
        return
    files = []
    for path in folder.iterdir():
        if path.suffix in _OURS:
            with contextlib.suppress(OSError):  # another process may be pruning too
                files.append((path.stat().st_mtime, path.stat().st_size, path))
    now, total = time.time(), 0
    for used, size, path in sorted(files, reverse=True):
        total += size
        longest = _MOST_SECONDS if path.suffix == ENDING else _DAY  # no process holds a lock or writes a file for a day
        if total > _MOST_BYTES or now - used > longest:
            with contextlib.suppress(OSError):
                path.unlink()
