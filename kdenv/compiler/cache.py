"""Keeps machine code on disk: a file for each kernel and combination of argument types.

The name of a file has a digest of everything that the machine code depends on (reach.py), so a file is never out of date. If a file is
damaged, or cannot be read or written, the kernel is compiled. If several processes need the same code at the same time, one of them
compiles it and the others wait.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import re
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import NumbaPickler
from numba.core.sigutils import normalize_signature

from kdenv.compiler import folder
from kdenv.compiler.reach import CannotTell, digest_of

LONGEST_WAIT = 120.0  # seconds to wait for a process that compiles the same kernel; after that, this process compiles it, too
_HEAD = 32  # bytes at the beginning of a file: the digest of the rest


class KeptKernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel whose machine code is kept on disk."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cache = _Cache(self)

    def compile(self, sig: Any) -> Any:
        """Compile for these types. Numba asks the cache before, and gives it the result afterwards."""
        with global_compiler_lock, self._turn():
            return super().compile(sig)

    def _turn(self) -> AbstractContextManager[None]:
        return self._cache.one_at_a_time() if isinstance(self._cache, _Cache) else nullcontext()


class _Cache(NullCache):  # type: ignore[misc]
    """The cache of one kernel. Numba asks it for machine code before it compiles, and gives it the machine code that it has compiled."""

    def __init__(self, kernel: KeptKernel) -> None:
        self._kernel = kernel
        self._turns: list[list[FileLock]] = []  # the locks that each compilation under way holds

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """A context for one compilation. At its end it releases the locks that load_overload took, also after an error."""
        self._turns.append([])
        try:
            yield
        finally:
            for lock in self._turns.pop():
                lock.release()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for these types, or None. If None, this process holds the lock for making it, unless that took too long."""
        entry = self._entry(sig)
        if entry is None:
            return None
        found = entry.read(target_context)
        if found is None and self._lock(entry):
            found = entry.read(target_context)  # another process may have made it while this one waited
        return found

    def save_overload(self, sig: Any, result: Any) -> None:
        """Write this machine code to disk."""
        entry = self._entry(sig)
        if entry is not None and not result.lifted and not result.library.has_dynamic_globals:
            entry.write(result)

    def _entry(self, sig: Any) -> _Entry | None:
        args, _ = normalize_signature(sig)
        try:
            digest, classes = digest_of(self._kernel, args)
        except CannotTell as reason:
            name = self._kernel.__qualname__
            folder.tell(f"{name} is compiled again in every process, because kdenv cannot tell what it depends on: {reason}")
            return None
        name = re.sub(r"[^\w.]", "", self._kernel.__qualname__)[-60:]
        return _Entry(f"{name}-{digest}", args, classes)

    def _lock(self, entry: _Entry) -> bool:
        """Take the lock for this file, waiting while another process has it; return whether this process has it now."""
        place = folder.folder_to_write()
        if place is None:
            return False
        lock = FileLock(place / f"{entry.name}.lock", timeout=LONGEST_WAIT)
        try:
            lock.acquire()
        except (Timeout, OSError, NotImplementedError):  # the wait was too long, or this file system has no locks: compile without a lock
            return False
        self._turns[-1].append(lock)
        return True


class _Entry:
    """A file of machine code, which may be in any of the folders."""

    def __init__(self, name: str, args: tuple[Any, ...], classes: list[type]) -> None:
        self.name, self._args, self._classes = name, args, classes

    def read(self, target_context: Any) -> Any:
        """The result of numba's compiler that was written to the file; None if there is no file, or it is damaged."""
        for place in folder.folders_to_read():
            path = place / (self.name + folder.ENDING)
            try:
                data = path.read_bytes()
            except OSError:
                continue
            found = self._rebuilt(data, target_context)
            if found is not None:
                with contextlib.suppress(OSError):  # the folder may be read-only
                    os.utime(path)  # prune() deletes last what was used last
                return found
        return None

    def _rebuilt(self, data: bytes, target_context: Any) -> Any:
        if hashlib.sha256(data[_HEAD:]).digest() != data[:_HEAD]:
            return None
        target_context.refresh()
        try:
            found = CompileResult._rebuild(target_context, *_Unpickler(io.BytesIO(data[_HEAD:]), self._classes).load())
        except (AttributeError, ImportError, pickle.UnpicklingError):  # it names a module that this process cannot import
            return None
        return found if found.signature.args == self._args else None

    def write(self, result: Any) -> None:
        """Write the result to a new file, then rename it: so no process ever reads half a file."""
        buffer = io.BytesIO()
        _Pickler(buffer, self._classes).dump(result._reduce())
        data = buffer.getvalue()
        place = folder.folder_to_write()
        if place is None:
            folder.tell(f"compiled code cannot be kept, because no folder can be written; {_ADVICE}")
            return
        part = place / f"{self.name}.{uuid.uuid4().hex[:8]}.part"
        try:
            part.write_bytes(hashlib.sha256(data).digest() + data)
            part.replace(place / (self.name + folder.ENDING))
        except OSError as reason:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            folder.tell(f"compiled code cannot be kept in {place} ({reason.strerror}); {_ADVICE}")
            return
        _prune_once(place)


_ADVICE = "every process compiles anew until KDENV_CACHE_DIR names a folder that can be written"
_pruned: set[Path] = set()


def _prune_once(place: Path) -> None:
    """Delete old files from this folder, but only once in a process."""
    if place not in _pruned:
        _pruned.add(place)
        folder.prune(place)


class _Pickler(NumbaPickler):  # type: ignore[misc]
    """A pickler that writes classes of parts as numbers. So classes of a script are found again, although a script cannot be imported."""

    def __init__(self, file: io.BytesIO, classes: list[type]) -> None:
        super().__init__(file, protocol=4)
        self._places = {id(kind): place for place, kind in enumerate(classes)}

    def persistent_id(self, thing: Any) -> int | None:
        """The number of a class of parts; None for anything else."""
        return self._places.get(id(thing)) if isinstance(thing, type) else None


class _Unpickler(pickle.Unpickler):
    """An unpickler that reads what _Pickler has written."""

    def __init__(self, file: io.BytesIO, classes: list[type]) -> None:
        super().__init__(file)
        self._classes = classes

    def persistent_load(self, place: Any) -> type:
        """The class of parts with this number."""
        return self._classes[int(place)]
