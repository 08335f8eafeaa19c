"""Keeps machine code on disk. Each kernel has a file for each combination of argument types, named by a digest of what it depends on.

Kernels that are compiled together (see compile_group.py) share a file. A file is never out of date, because whatever changes the machine
code changes the name of the file (see digest.py). If a file is damaged, or cannot be read or written, the kernel is compiled. If several
processes need the same code at the same time, one of them compiles it and the others wait.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from numba.core import types as numba_types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import NumbaPickler
from numba.core.sigutils import normalize_signature

from kdenv.compiler import cache_folder
from kdenv.compiler.digest import Undetermined, digest_of
from kdenv.compiler.explain import explained
from kdenv.compiler.interrupts import delayed, handle_delayed

types: Any = numba_types  # Any, because numba's stubs do not list all of its types
LONGEST_WAIT = 120.0  # seconds to wait for another process that compiles the same code; after that it is compiled here, too
_INTERVAL = 0.2  # seconds between two checks for Ctrl-C during that wait
Rebuilt = Callable[..., Any]  # makes callable machine code from the content of a file, or returns None if that does not fit
_HEAD = 32  # a file begins with a digest of the rest of the file, which has this many bytes


class KeptKernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel whose machine code is kept on disk."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cache = _Cache(self)
        self._compiler.compile = explained(self.py_func)(self._compiler.compile)  # numba calls it if the cache has no machine code

    def compile(self, sig: Any) -> Any:
        """Compile as numba does. Numba looks into the cache first; locks that the cache takes are released at the end."""
        with delayed(), global_compiler_lock, self._locks():
            return super().compile(sig)

    def _locks(self) -> AbstractContextManager[None]:
        return self._cache.one_at_a_time() if isinstance(self._cache, _Cache) else nullcontext()


class CodeFiles:
    """Finds files of machine code, and holds the locks for compiling the code that has no file."""

    def __init__(self) -> None:
        self._held: list[list[FileLock]] = []  # the locks that each current compilation holds

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """Release the locks that find() takes in this block, even if the compilation fails."""
        self._held.append([])
        try:
            yield
        finally:
            for lock in self._held.pop():
                lock.release()

    def entry(self, title: str, *kernels: tuple[Any, tuple[Any, ...]], warn: bool = False) -> CacheEntry | None:
        """Return the file of the machine code of these kernels for these argument types; None if it cannot be kept. warn: print why not."""
        try:
            digest, classes = digest_of(*kernels)
        except Undetermined as reason:
            if warn:
                cache_folder.print_once(f"every process compiles {title} again, because kdenv cannot find out what it depends on: {reason}")
            return None
        short = re.sub(r"[^\w.]", "", title)[-60:]
        return CacheEntry(f"{short}-{digest}", classes)

    def find(self, entry: CacheEntry, rebuilt: Rebuilt) -> Any:
        """Return what rebuilt() makes of the content of the file, or None if it must be compiled.

        In the second case the lock for compiling it is held, unless the wait for it was too long.
        """
        found = entry.read(rebuilt)
        if found is None and self._lock(entry):
            found = entry.read(rebuilt)  # another process may have written it during the wait
        return found

    def _lock(self, entry: CacheEntry) -> bool:
        """Take the lock for compiling, and wait if another process has it. Return whether the lock was taken."""
        place = cache_folder.folder_to_write()
        if place is None:
            return False
        lock = FileLock(place / f"{entry.name}.lock", timeout=_INTERVAL)
        end = time.monotonic() + LONGEST_WAIT
        while not lock.is_locked and time.monotonic() < end:
            try:
                lock.acquire()
            except Timeout:
                handle_delayed()
            except (OSError, NotImplementedError):  # this file system has no locks
                return False
        if lock.is_locked:
            self._held[-1].append(lock)
        return lock.is_locked


class _Cache(NullCache, CodeFiles):  # type: ignore[misc]
    """The cache of one kernel. Numba calls load_overload before it compiles and save_overload afterwards."""

    def __init__(self, kernel: KeptKernel) -> None:
        CodeFiles.__init__(self)
        self._kernel = kernel

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for these types, or None if it must be compiled."""
        entry, args = self._entry(sig)
        if entry is None:
            return None

        def rebuilt(*content: Any) -> Any:
            target_context.refresh()
            found = CompileResult._rebuild(target_context, *content)
            return found if found.signature.args == args and _unnamed_class(found.signature.return_type) is None else None

        return self.find(entry, rebuilt)

    def save_overload(self, sig: Any, result: Any) -> None:
        """Write machine code to disk, unless it contains addresses or copies of classes of this process."""
        entry, _ = self._entry(sig, warn=True)  # warns only now, because an error in the kernel matters more
        if entry is None or result.lifted or result.library.has_dynamic_globals:
            return
        unnamed = _unnamed_class(result.signature.return_type)
        if unnamed is None:
            entry.write(result._reduce())
        else:
            title, advice = f"every process compiles {self._kernel.__qualname__} again", "define the class in a module that it imports"
            cache_folder.print_once(f"{title}, because it returns a {unnamed.__name__} of this script; {advice}")

    def _entry(self, sig: Any, *, warn: bool = False) -> tuple[CacheEntry | None, tuple[Any, ...]]:
        args, _ = normalize_signature(sig)
        return self.entry(self._kernel.__qualname__, (self._kernel, args), warn=warn), args


def _unnamed_class(returned: Any) -> type | None:
    """Return a class in the type of a result that no import finds, such as one of a script; None if there is none.

    Numba writes the class of a result into the machine code: by module and name, or else as a copy. In another process the copy would
    be another class than that of the script.
    """
    kind = getattr(returned, "instance_class", None)
    if kind is not None:
        found: Any = sys.modules.get(kind.__module__)
        for name in kind.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is not kind or kind.__module__ == "__main__":
            return kind  # type: ignore[no-any-return]
    inside = (returned.type,) if isinstance(returned, types.Optional) else returned if isinstance(returned, types.BaseTuple) else ()
    return next((unnamed for part in inside if (unnamed := _unnamed_class(part)) is not None), None)


class CacheEntry:
    """The file of one piece of machine code. It may lie in any of the folders that folders_to_read() lists."""

    def __init__(self, name: str, classes: list[type]) -> None:
        self.name, self._classes = name, classes

    def read(self, rebuilt: Rebuilt) -> Any:
        """Return what rebuilt() makes of the content of the file; None if there is no such file, or it is damaged."""
        for place in cache_folder.folders_to_read():
            path = place / (self.name + cache_folder.ENDING)
            data = cache_folder.content_of(path)
            found = None if data is None else self._rebuilt(data, rebuilt)
            if found is not None:
                with contextlib.suppress(OSError):  # the folder may be read-only
                    os.utime(path)  # the time of the last use, by which prune() chooses what to delete
                return found
        return None

    def _rebuilt(self, data: bytes, rebuilt: Rebuilt) -> Any:
        if hashlib.sha256(data[_HEAD:]).digest() != data[:_HEAD]:
            return None
        try:
            return rebuilt(*_Unpickler(io.BytesIO(data[_HEAD:]), self._classes).load())
        except (AttributeError, ImportError, pickle.UnpicklingError):  # it names a module that this process cannot import
            return None

    def write(self, content: tuple[Any, ...]) -> None:
        """Write the content to a new file, and then give that file its name, so that no process reads half a file."""
        buffer = io.BytesIO()
        _Pickler(buffer, self._classes).dump(content)
        data = buffer.getvalue()
        place = cache_folder.folder_to_write()
        if place is None:
            cache_folder.print_once(f"compiled code cannot be kept, because no folder can be written; {_ADVICE}")
            return
        part = place / f"{self.name}.{uuid.uuid4().hex[:8]}.part"
        try:
            cache_folder.write(part, hashlib.sha256(data).digest() + data)
            part.replace(place / (self.name + cache_folder.ENDING))
        except OSError as reason:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            cache_folder.print_once(f"compiled code cannot be kept in {place} ({reason.strerror}); {_ADVICE}")
            return
        _prune_once(place)


_ADVICE = "every process compiles anew until KDENV_CACHE_DIR names a folder that can be written"
_pruned: set[Path] = set()


def _prune_once(place: Path) -> None:
    """Delete old files from this folder. Only the first call for a folder does so."""
    if place not in _pruned:
        _pruned.add(place)
        cache_folder.prune(place)


class _Pickler(NumbaPickler):  # type: ignore[misc]
    """Writes the classes of parts as numbers. Pickle could not find the classes of a script again, because it cannot be imported."""

    def __init__(self, file: io.BytesIO, classes: list[type]) -> None:
        super().__init__(file, protocol=4)
        self._places = {id(kind): place for place, kind in enumerate(classes)}

    def persistent_id(self, thing: Any) -> int | None:
        """Return the number of a class of parts, which is written in its place; None for anything else."""
        return self._places.get(id(thing)) if isinstance(thing, type) else None


class _Unpickler(pickle.Unpickler):
    """Reads what _Pickler has written. It must be given the same classes in the same order."""

    def __init__(self, file: io.BytesIO, classes: list[type]) -> None:
        super().__init__(file)
        self._classes = classes

    def persistent_load(self, place: Any) -> type:
        """Return the class in whose place this number was written."""
        return self._classes[int(place)]
