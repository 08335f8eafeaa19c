"""`kernel`: our decorator for compiled code. Lazy, and its cache on disk is never stale.

numba stamps a cached function with the one file it is defined in, but functions and constants of
other files are compiled into it too. So the cache lives in a directory named by a digest of every
source that can be compiled in: any edit moves to a new directory, going back finds the old one warm.
"""

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

# Versions of numba whose insides core/compiling.py knows. KDENV_COMPILER=numba does without it.
_KNOWN = ((0, 65), (0, 68))
IS_PLAIN = not _KNOWN[0] <= numba.version_info.short <= _KNOWN[1] or os.environ.get("KDENV_COMPILER") == "numba"
if IS_PLAIN:
    from kdenv.core.plain import compiled_kernel, resolve_by_type
else:
    from kdenv.core.compiling import compiled_kernel, resolve_by_type

__all__ = ["allocating_kernel", "cache_dir", "kernel", "resolve_by_type"]

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parents[1]
_COMPILED = ("core", "games", "search", "envs")  # the rooms that hold compiled code
_KEPT = 8  # versions of the sources whose machine code is kept
_VERSION = re.compile(r"[0-9a-f]{12}(-plain)?(-checked)?")  # what cache_dir() calls a version


def source_digest(paths: Iterable[Path]) -> str:
    """Twelve hexadecimal digits that change when a name or a byte of these files does."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def is_in_digest(file: Path) -> bool:
    """Whether a change of this file changes the directory of the cache."""
    return any(file.resolve().is_relative_to((_PACKAGE / room).resolve()) for room in _COMPILED)


def cache_root() -> Path:
    """Where the caches of all versions lie: $KDENV_CACHE_DIR, else ~/.cache/kdenv, else a temporary folder."""
    chosen = os.environ.get("KDENV_CACHE_DIR")
    root = Path(chosen) if chosen else Path.home() / ".cache" / "kdenv"
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError:
        root = None if chosen else Path(tempfile.gettempdir()) / f"kdenv-{os.getuid()}"  # type: ignore[assignment]
        if root is None:
            raise OSError(f"KDENV_CACHE_DIR={chosen} cannot be made a folder; name one that can be written") from None
        root.mkdir(parents=True, exist_ok=True)
    return root


def cache_dir() -> Path:
    """Where the machine code of this version of the sources is kept; old versions are pruned."""
    sources = (path for room in _COMPILED for path in (_PACKAGE / room).rglob("*.py"))
    checked = "-checked" if numba.config.BOUNDSCHECK else ""  # numba leaves this out of its own key
    directory = cache_root() / (source_digest(sources) + ("-plain" if IS_PLAIN else "") + checked)
    is_new = not directory.exists()
    directory.mkdir(exist_ok=True)
    os.utime(directory)  # the newest are those used last
    if is_new:
        _prune(directory.parent)
    return directory


def _prune(root: Path) -> None:
    """Keep the newest versions, and whatever else is there: KDENV_CACHE_DIR may be /tmp."""
    versions = []
    for path in root.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process may be pruning too
            if _VERSION.fullmatch(path.name) and path.is_dir():
                versions.append((path.stat().st_mtime, path))
    for _, old in sorted(versions, reverse=True)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


_CACHE = "" if numba.config.DISABLE_JIT else str(cache_dir())


def kernel(function: Function) -> Function:
    """Compile function at its first call, release the GIL in it, and keep the machine code on disk.

    It may not allocate (np.empty and the like do not compile): buffers come from the caller. So it needs no counting
    of references, which would cost more than a small kernel's work: an array passed on is two atomic operations.
    """
    return _compiled(function, allocates=False)


def allocating_kernel(function: Function) -> Function:
    """A kernel that may allocate: one that Python calls, not one that others call on a hot path."""
    return _compiled(function, allocates=True)


def _compiled(function: Function, *, allocates: bool) -> Function:
    if numba.config.DISABLE_JIT:
        return function
    compiled = compiled_kernel(function, {"nogil": True, "_nrt": allocates})
    if Path(function.__code__.co_filename).exists():  # not so in a notebook
        theirs, numba.config.CACHE_DIR = numba.config.CACHE_DIR, _CACHE
        try:
            compiled.enable_caching()
        finally:
            numba.config.CACHE_DIR = theirs
    return cast(Function, compiled)
