"""Finds the folder for machine code, checks who may write to it, and deletes old files from it. The first of these that can be used:

1. `$KDENV_CACHE_DIR` if it is set; else the cache folder of the platform (`~/.cache/kdenv`, or in `$XDG_CACHE_HOME`, on Linux).
2. If that folder cannot be written: a folder that belongs to this user, inside the shared temporary folder.
3. If another user may have put something into that folder: a new temporary folder, which is deleted when the process ends.

The files are pickles, so a user who can write to the folder can run code as the user who reads it. The second folder is therefore used
only if it belongs to this user, is not a link, and no other user may enter it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import platformdirs

ENDING = ".machinecode"
_OURS = (ENDING, ".lock", ".part")
_FOLDER = "machine-code"
_MARKER = "CACHEDIR.TAG"  # backup programs skip a folder that holds a file of this name
_MARK = "Signature: 8a477f597d28d172789f06886806bc55\n# Machine code compiled by kdenv. It may be deleted at any time.\n"
_MOST_BYTES = 1 << 30
_MOST_SECONDS = 60 * 24 * 3600.0  # code that was not used for so long is deleted
_DAY = 24 * 3600.0


def chosen_folder() -> Path | None:
    """The folder that is tried first; None if the platform does not say where it is."""
    chosen = os.environ.get("KDENV_CACHE_DIR")
    try:
        root = Path(chosen).absolute() if chosen else platformdirs.user_cache_path("kdenv", appauthor=False)
    except RuntimeError:  # this user has no home folder
        return None
    return root / _FOLDER if root.is_absolute() else None  # older versions of platformdirs return "~/.cache/kdenv" in that case


def folders_to_read() -> list[Path]:
    """All folders that may have machine code."""
    shared = _in_shared_temporary()
    return [folder for folder in (chosen_folder(), shared if is_safe(shared) else None, *_private) if folder is not None]


def folder_to_write() -> Path | None:
    """The first folder that can be written; None if there is none."""
    first = chosen_folder()
    if first is not None and _can_write(first):
        return first
    return _second_folder()


@cache
def _second_folder() -> Path | None:
    shared = _in_shared_temporary()
    with contextlib.suppress(OSError):  # it exists already, or it cannot be made; both are checked next
        shared.mkdir(mode=0o700)
    try:
        if is_safe(shared) and _can_write(shared):
            return shared
        private = Path(tempfile.mkdtemp(prefix="kdenv-"))
    except OSError:
        return None
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    _private.append(private)
    return private


_private: list[Path] = []


def _in_shared_temporary() -> Path:
    name = f"kdenv-{os.geteuid()}" if hasattr(os, "geteuid") else "kdenv"  # on Windows each user has a separate temporary folder
    try:
        return Path(tempfile.gettempdir()) / name
    except FileNotFoundError:  # no folder on this machine can be written
        return Path(os.curdir).absolute() / name


def is_safe(folder: Path) -> bool:
    """Whether this is a folder (and not a link) that belongs to this user and that no other user can read or write."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700)


def _can_write(folder: Path) -> bool:
    """Whether files can be made in this folder. The folder is made if it does not exist."""
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _MARKER).write_text(_MARK, encoding="ascii")
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def tell(sentence: str) -> None:
    """Print a sentence on stderr. The same sentence is printed only once."""
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
