"""Questions: functions that the exchangeable parts of a search answer (players, scores, selection rules and so on).

Parts are NamedTuples. The type of the part decides which kernel answers a question. In compiled code this is decided while numba compiles
it, and in plain Python at each call. So a search is compiled for each choice of parts that it is used with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.core.errors import TypingError

from kdenv.compiler.kernel import resolve_by_type

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class _Known:
    """The kernels that answer one question, by the class of the part."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kernels: dict[Any, Callable[..., Any]] = {}

    def of(self, kind: Any) -> Callable[..., Any]:
        if kind not in self.kernels:
            name = getattr(kind, "__name__", kind)
            raise TypingError(f"{name} does not answer {self.name}(): mark its kernel with @answers({self.name}, {name})")
        return self.kernels[kind]


_questions: dict[Callable[..., Any], _Known] = {}


def question(asked: Callable[..., Any]) -> Callable[..., Any]:
    """Make a question of a function that has only a docstring. Asking it calls the kernel for the type of the first argument, a part."""
    known = _Known(asked.__name__)

    def ask(kind, *rest):
        return known.of(type(kind))(kind, *rest)

    ask.__name__ = ask.__qualname__ = asked.__name__
    ask.__doc__ = asked.__doc__
    resolve_by_type(ask, lambda kind: known.of(getattr(kind, "instance_class", kind)))
    _questions[ask] = known
    return ask


def answers(asked: Callable[..., Any], kind: type) -> Callable[[Kernel], Kernel]:
    """Mark the kernel that answers the question for parts of this class. The kernel takes the same arguments as the question."""

    def register(kernel: Kernel) -> Kernel:
        _questions[asked].kernels[kind] = kernel
        return kernel

    return register
