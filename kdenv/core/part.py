"""`part`: a question that the exchangeable parts of a search answer (players, scores, selection rules and so on).

Parts are NamedTuples. Which kernel answers a question is decided by the type of the part: in compiled code while numba compiles it,
in plain Python by a dictionary. So a search is compiled for each choice of parts that it is used with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.core.errors import TypingError

from kdenv.core.kernel import resolve_by_type

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class _Part:
    """The kernels that answer one question, by the class of the part."""

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
    """Make a function that calls the kernel that answers for its first argument, a part, with all its arguments."""
    known = _Part(question.__name__)

    def ask(kind, *rest):
        return known.of(type(kind))(kind, *rest)

    ask.__name__ = ask.__qualname__ = question.__name__
    ask.__doc__ = question.__doc__
    resolve_by_type(ask, lambda kind: known.of(getattr(kind, "instance_class", kind)))
    _parts[ask] = known
    return ask


def answers(question: Callable[..., Any], kind: type) -> Callable[[Kernel], Kernel]:
    """Mark a kernel as the one that answers the question for parts of this class. It takes the same arguments as the question."""

    def register(kernel: Kernel) -> Kernel:
        _parts[question].kernels[kind] = kernel
        return kernel

    return register
