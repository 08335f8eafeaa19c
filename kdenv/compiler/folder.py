"""The folder in which machine code is kept: where it is, who may write to it, and what is deleted from it.

1. `$KDENV_CACHE_DIR` if it is set; else the cache folder of the platform (`~/.cache/kdenv`, or in `$XDG_CACHE_HOME`, on Linux).
2. Where that cannot be written: a folder of this user's own in the shared temporary folder.
3. Where somebody else may have put something into that one: a new temporary folder, deleted when the process ends.

What is kept are pickles, so whoever can write to the folder can run code as whoever reads it. The second folder is therefore used only
if it belongs to this user, is no link, and nobody else may enter it.
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
_MARKER = "CACHEDIR.TAG"  # what backup programs know
_MARK = "Signature: 8a477f597d28d172789f06886806bc55\n# Machine code compiled by kdenv. It may be deleted at any time.\n"
_MOST_BYTES = 1 << 30
_MOST_SECONDS = 60 * 24 * 3600.0  # without being used
_DAY = 24 * 3600.0


def chosen_folder() -> Path | None:
    """The folder that is tried first; None if the platform does not say where it would be."""
    chosen = os.environ.get("KDENV_CACHE_DIR")
    try:
        root = Path(chosen).absolute() if chosen else platformdirs.user_cache_path("kdenv", appauthor=False)
    except RuntimeError:  # there is no home
        return None
    return root / _FOLDER if root.is_absolute() else None  # older versions of platformdirs answer "~/.cache/kdenv" then


def folders_to_read() -> list[Path]:
    """All folders in which code may be found."""
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
    with contextlib.suppress(OSError):  # it exists, or cannot be made: both are asked next
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
    name = f"kdenv-{os.geteuid()}" if hasattr(os, "geteuid") else "kdenv"  # on Windows every user has a temporary folder to himself
    try:
        return Path(tempfile.gettempdir()) / name
    except FileNotFoundError:  # no folder on this machine can be written
        return Path(os.curdir).absolute() / name


def is_safe(folder: Path) -> bool:
    """Whether this is a folder, no link, that belongs to this user, and that nobody else can read or write."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700)


def _can_write(folder: Path) -> bool:
    """Whether files can be made in this folder, which is made if there is none."""
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
    """Say something on stderr, once."""
    print(f"kdenv: {sentence}", file=sys.stderr)


def prune(folder: Path) -> None:
    """Delete code that has not been used for long, and what is more than a gigabyte; in a folder that we have made, our files only."""
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
        longest = _MOST_SECONDS if path.suffix == ENDING else _DAY  # nobody holds a lock or writes a file for a day
        if total > _MOST_BYTES or now - used > longest:
            with contextlib.suppress(OSError):
                path.unlink()
