"""`part`: a question that the variable parts of a search answer (players, scores, selection rules ...).

Parts are NamedTuples. Like a verb by the dtype of a state, the question is resolved by the type of the part:
while numba compiles the caller, or by a dictionary in plain Python. So a search with any choice of parts is
specialised, and cached on disk like everything else.

The kernels of a part may lie outside this package (a player of your own). The directory of the cache says nothing about
them, so the digest of their file becomes part of the part's numba type: searches compiled for older ones are never found again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import typeof, types
from numba.core.errors import TypingError
from numba.extending import models, register_model, typeof_impl

from kdenv.core.kernel import is_in_digest, resolve_by_type, source_digest

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class _Part:
    """The kernels that answer one question, by type of the part."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.kernels: dict[Any, Callable[..., Any]] = {}

    def of(self, kind: Any) -> Callable[..., Any]:
        if kind not in self.kernels:
            name = getattr(kind, "__name__", kind)
            raise TypingError(f"{name} does not answer {self.question}(): mark its kernel with @answers({self.question}, {name})")
        return self.kernels[kind]


_parts: dict[Callable[..., Any], _Part] = {}


def part(question: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that asks the part given as its first argument."""
    known = _Part(question.__name__)

    def ask(kind, *rest):
        return known.of(type(kind))(kind, *rest)

    ask.__name__ = ask.__qualname__ = question.__name__
    ask.__doc__ = question.__doc__
    resolve_by_type(ask, lambda kind: known.of(getattr(kind, "instance_class", kind)))
    _parts[ask] = known
    return ask


def answers(question: Callable[..., Any], kind: type) -> Callable[[Kernel], Kernel]:
    """Say that this kernel answers the question for parts of this kind."""

    def register(kernel: Kernel) -> Kernel:
        _parts[question].kernels[kind] = kernel
        file = Path(getattr(kernel, "py_func", kernel).__code__.co_filename)
        if not is_in_digest(file) and file.exists():
            digest = source_digest([file])
            typeof_impl.register(kind)(lambda value, context: _PartFromOutside([typeof(field) for field in value], kind, digest))
        return kernel

    return register


class _PartFromOutside(types.NamedTuple):  # type: ignore[misc]
    """The type of a part whose kernel lies in a file that the directory of the cache does not stand for."""

    def __init__(self, fields: list[Any], kind: type, digest: str) -> None:
        super().__init__(fields, kind)
        self.digest = digest

    @property
    def key(self) -> Any:
        return *super().key, self.digest

    def __reduce__(self) -> Any:
        kind = self.instance_class
        return _from_cache, (list(self.types), kind.__module__, kind.__qualname__, self.digest)


class _Elsewhere(types.Type):  # type: ignore[misc]
    """A part that some other program has and this one has not."""

    def __init__(self, *known: Any) -> None:
        super().__init__(name=f"elsewhere{known}")
        self.known = known

    def __reduce__(self) -> Any:
        return _from_cache, self.known


def _from_cache(fields: list[Any], module: str, name: str, digest: str) -> Any:
    """The type of a part as it was written to the cache, whose index lists the parts of all programs of this machine.

    One whose module has not been imported here is not meant; it must not keep this program from reading the rest, and is
    written back as it was.
    """
    kind: Any = sys.modules.get(module)
    for attribute in name.split("."):
        kind = getattr(kind, attribute, None)
    return _PartFromOutside(fields, kind, digest) if isinstance(kind, type) else _Elsewhere(fields, module, name, digest)


register_model(_PartFromOutside)(models.TupleModel)
