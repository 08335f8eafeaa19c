"""Machine code on disk: one file for each kernel and types of arguments, named by a digest of all that it depends on.

A file is never out of date: whatever changes the machine code changes its name (see reach.py). A file that is damaged, or that cannot
be read or written, is as good as none: the kernel is compiled. Of several processes that need the same code at the same time one
compiles it, and the others wait.
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
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.core.serialize import NumbaPickler
from numba.core.sigutils import normalize_signature

from kdenv.compiler import folder
from kdenv.compiler.reach import CannotTell, digest_of

LONGEST_WAIT = 120.0  # seconds for a process that compiles the same; then it is compiled here, too
_UNANSWERED = re.compile(r"\w+ does not answer \w+\(\): [^\n]*")  # what question.py says
_HEAD = 32  # bytes at the beginning of a file: the digest of the rest


class KeptKernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel whose machine code is kept on disk."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cache = _Cache(self)

    def compile(self, sig: Any) -> Any:
        """Numba's own compile, which asks the cache before and tells it afterwards."""
        with global_compiler_lock, self._turn():
            try:
                return super().compile(sig)
            except TypingError as error:
                told = _UNANSWERED.search(str(error))
                if told is None:
                    raise
                raise TypingError(told[0]) from None  # without the types of all kernels on the way

    def _turn(self) -> AbstractContextManager[None]:
        return self._cache.one_at_a_time() if isinstance(self._cache, _Cache) else nullcontext()


class _Cache(NullCache):  # type: ignore[misc]
    """What numba asks for machine code before it compiles, and gives machine code to when it has compiled."""

    def __init__(self, kernel: KeptKernel) -> None:
        self._kernel = kernel
        self._turns: list[list[FileLock]] = []  # of the compilations under way, the locks each of them holds

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """Give back the lock that load_overload took, whatever becomes of the compilation."""
        self._turns.append([])
        try:
            yield
        finally:
            for lock in self._turns.pop():
                lock.release()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for these types if there is any. If not: a lock for making it is held, unless that takes too long."""
        entry = self._entry(sig)
        if entry is None:
            return None
        found = entry.read(target_context)
        if found is None and self._lock(entry):
            found = entry.read(target_context)  # another process may have made it meanwhile
        return found

    def save_overload(self, sig: Any, result: Any) -> None:
        """Keep this machine code."""
        entry = self._entry(sig)
        if entry is not None and not result.lifted and not result.library.has_dynamic_globals:
            entry.write(result)

    def _entry(self, sig: Any) -> _Entry | None:
        args, _ = normalize_signature(sig)
        try:
            digest, classes = digest_of(self._kernel, args)
        except CannotTell as reason:
            name = self._kernel.__qualname__
            folder.tell(f"{name} is compiled in every process anew, because what it depends on cannot be told: {reason}")
            return None
        name = re.sub(r"[^\w.]", "", self._kernel.__qualname__)[-60:]
        return _Entry(f"{name}-{digest}", args, classes)

    def _lock(self, entry: _Entry) -> bool:
        """Whether nobody else compiles this now, after waiting for whoever did."""
        place = folder.folder_to_write()
        if place is None:
            return False
        lock = FileLock(place / f"{entry.name}.lock", timeout=LONGEST_WAIT)
        try:
            lock.acquire()
        except (Timeout, OSError, NotImplementedError):  # it takes too long, or there are no locks in this file system: go on without
            return False
        self._turns[-1].append(lock)
        return True


class _Entry:
    """A file of machine code, in whichever folder it is."""

    def __init__(self, name: str, args: tuple[Any, ...], classes: list[type]) -> None:
        self.name, self._args, self._classes = name, args, classes

    def read(self, target_context: Any) -> Any:
        """What numba's compiler returned when this was written; None if there is no such file, or it is damaged."""
        for place in folder.folders_to_read():
            path = place / (self.name + folder.ENDING)
            try:
                data = path.read_bytes()
            except OSError:
                continue
            found = self._rebuilt(data, target_context)
            if found is not None:
                with contextlib.suppress(OSError):  # read only
                    os.utime(path)  # what was used last is deleted last
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
        """Write to a new file, which then takes the place of an old one: nobody ever reads half a file."""
        buffer = io.BytesIO()
        _Pickler(buffer, self._classes).dump(result._reduce())
        data = buffer.getvalue()
        place = folder.folder_to_write()
        if place is None:
            folder.tell(f"compiled code cannot be kept, as no folder can be written; {_ADVICE}")
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
        _told_to_prune(place)


_ADVICE = "every process compiles anew until KDENV_CACHE_DIR names a folder that can be written"
_pruned: set[Path] = set()


def _told_to_prune(place: Path) -> None:
    """Once in a process that writes."""
    if place not in _pruned:
        _pruned.add(place)
        folder.prune(place)


class _Pickler(NumbaPickler):  # type: ignore[misc]
    """Writes the classes of parts as numbers, so that those of a script, which has no name to import it by, are found again."""

    def __init__(self, file: io.BytesIO, classes: list[type]) -> None:
        super().__init__(file, protocol=4)
        self._places = {id(kind): place for place, kind in enumerate(classes)}

    def persistent_id(self, thing: Any) -> int | None:
        """The number of a class of parts."""
        return self._places.get(id(thing)) if isinstance(thing, type) else None


class _Unpickler(pickle.Unpickler):
    """Reads what _Pickler has written."""

    def __init__(self, file: io.BytesIO, classes: list[type]) -> None:
        super().__init__(file)
        self._classes = classes

    def persistent_load(self, place: Any) -> type:
        """The class of this number."""
        return self._classes[int(place)]
