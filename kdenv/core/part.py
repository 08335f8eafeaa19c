"""`part`: a question that the variable parts of a search answer (players, scores, selection rules ...).

Parts are NamedTuples. Like a verb by the dtype of a state, the question is resolved by the type of the part:
while numba compiles the caller, or by a dictionary in plain Python. So a search with any choice of parts is
specialised, and cached on disk like everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.core.errors import TypingError
from numba.extending import overload

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

    def resolve(kind, *rest):
        kernel = known.of(getattr(kind, "instance_class", kind))
        return lambda kind, *rest: kernel(kind, *rest)

    ask.__name__ = ask.__qualname__ = question.__name__
    ask.__doc__ = question.__doc__
    overload(ask, jit_options={"_nrt": False})(resolve)  # as in kernel
    _parts[ask] = known
    return ask


def answers(question: Callable[..., Any], kind: type) -> Callable[[Kernel], Kernel]:
    """Say that this kernel answers the question for parts of this kind."""

    def register(kernel: Kernel) -> Kernel:
        _parts[question].kernels[kind] = kernel
        return kernel

    return register
