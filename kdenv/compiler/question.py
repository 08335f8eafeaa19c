"""Questions: functions that the exchangeable parts of a search answer (players, scores, selection rules and so on).

Parts are NamedTuples. The type of the part decides which kernel answers a question. In compiled code this is decided while numba compiles
it, and in plain Python at each call. So a search is compiled for each choice of parts that it is used with.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from numba.core.errors import TypingError

from kdenv.compiler.kernel import is_kernel, resolve_by_type

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class _Known:
    """The kernels that answer one question, by the class of the part."""

    def __init__(self, name: str, takes: list[str]) -> None:
        self.name = name
        self.takes = takes  # the names of its arguments
        self.kernels: dict[Any, Callable[..., Any]] = {}

    def of(self, kind: Any) -> Callable[..., Any]:
        if kind not in self.kernels:
            raise TypingError(self.lacks(kind))
        return self.kernels[kind]

    def lacks(self, kind: Any) -> str:
        name = getattr(kind, "__name__", kind)
        return f"{name} does not answer {self.name}(): mark its kernel with @answers({self.name}, {name})"


_questions: dict[Callable[..., Any], _Known] = {}
_classes: dict[tuple[bytes, ...], type] = {}  # the classes that answer questions, by what numba looks them up by


def question(asked: Callable[..., Any]) -> Callable[..., Any]:
    """Make a question of a function that has only a docstring. Asking it calls the kernel for the type of the first argument, a part.

    >>> from typing import NamedTuple
    >>> from kdenv.author import answers, kernel, question
    >>> @question
    ... def worth(part, number): "What a number is worth."
    >>> class Times(NamedTuple):
    ...     factor: int
    >>> @answers(worth, Times)
    ... @kernel
    ... def times(part, number):
    ...     return part.factor * number
    >>> worth(Times(3), 4)
    12
    """
    known = _Known(asked.__name__, list(inspect.signature(asked).parameters))

    def ask(kind, *rest):
        return known.of(type(kind))(kind, *rest)

    ask.__name__ = ask.__qualname__ = asked.__name__
    ask.__doc__ = asked.__doc__
    resolve_by_type(ask, lambda kind: known.of(getattr(kind, "instance_class", kind)))
    _questions[ask] = known
    return ask


def signature_error(given: Callable[..., Any], takes: Sequence[str]) -> str:
    """Why this cannot be a kernel that takes such arguments, as the end of a sentence about it; empty if it can."""
    if not is_kernel(given):
        return "is not marked @kernel"
    found = list(inspect.signature(given.py_func if hasattr(given, "py_func") else given).parameters)
    return "" if len(found) == len(takes) else f"takes ({', '.join(found)}) and must take ({', '.join(takes)})"


def must_answer(part: Any, *questions: Callable[..., Any]) -> None:
    """Raise TypeError if no kernel answers one of these questions for this part."""
    for asked in questions:
        if type(part) not in _questions[asked].kernels:
            raise TypeError(_questions[asked].lacks(type(part)))


def answers(asked: Callable[..., Any], kind: type) -> Callable[[Kernel], Kernel]:
    """Mark the kernel that answers the question for parts of this class. The kernel takes the same arguments as the question.

    >>> from typing import NamedTuple
    >>> from kdenv.author import answers, kernel, question
    >>> @question
    ... def worth(part, number): "What a number is worth."
    >>> class Times(NamedTuple):
    ...     factor: int
    >>> @answers(worth, Times)
    ... @kernel
    ... def times(part, number):
    ...     return part.factor * number
    >>> worth(Times(3), 4)
    12
    """

    def register(kernel: Kernel) -> Kernel:
        known = _questions[asked]
        if wrong := signature_error(kernel, known.takes):
            raise TypeError(f"the kernel by which {kind.__name__} answers {known.name}() {wrong}")
        known.kernels[kind] = kernel
        _name_apart(kind)
        return kernel

    return register


def _name_apart(kind: Any) -> None:
    """Give a class of parts another name if a class that answers questions has the same name and the same fields.

    When Python calls a kernel, numba looks up the types of the arguments by the names of classes and fields alone. So it would take a
    part for one of the other class: after a cell of a notebook was changed and run again, or if two modules use the same name.
    """
    name, n = kind.__name__, 1
    while _classes.setdefault(_looked_up_by(kind), kind) is not kind:
        n += 1
        kind.__name__ = f"{name}_{n}"


def _looked_up_by(kind: Any) -> tuple[bytes, ...]:
    return tuple(name.encode("ascii", "ignore") for name in (kind.__name__, *kind._fields))
