"""Questions: functions whose first argument decides which kernel answers.

There are two kinds. A verb (core/verbs.py) is asked of a state, or of an array of states, and a kernel of the game's rules answers. Other
questions are asked of the exchangeable parts of a search, such as players, scores and selection rules. Parts are NamedTuples.

In compiled code the kernel is chosen while numba compiles the caller. So a question costs no more than any call, and a search is
compiled for each combination of parts. In plain Python the kernel is chosen at each call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from numba.core import types
from numba.core.errors import TypingError

from kdenv.compiler.digest import questions
from kdenv.compiler.kernel import compiler, is_kernel

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_classes: dict[tuple[bytes, ...], type] = {}  # the classes that answer questions, by what numba looks them up by


class Question:
    """The kernels that answer one question. The key of a kernel is the class of a part, or the dtype or the numba type of a state."""

    def __init__(self, asked: Callable[..., Any]) -> None:
        self.asked = asked
        self.name = asked.__name__
        self.takes = list(inspect.signature(asked).parameters)  # the names of its arguments
        self.kernels: dict[Any, Callable[..., Any]] = {}

    def kernel_for(self, key: Any) -> Callable[..., Any]:
        """Return the kernel that answers for this key. Raises TypingError if none does."""
        try:
            return self.kernels[key]
        except KeyError:
            raise TypingError(self.lacks(key)) from None

    def lacks(self, key: Any) -> str:
        """Return the sentence of the error for a key without a kernel."""
        name = getattr(key, "__name__", key)
        return f"{name} does not answer {self.name}(): mark its kernel with @answers({self.name}, {name})"


def function_of(asked: Question) -> Callable[..., Any]:
    """Make the function that Python and kernels call to ask a question."""

    def ask(first, *rest):
        key = type(first) if isinstance(first, tuple) else getattr(first, "dtype", type(first))
        return asked.kernel_for(key)(first, *rest)

    ask.__name__ = ask.__qualname__ = asked.name
    ask.__doc__ = asked.asked.__doc__
    ask.__signature__ = inspect.signature(asked.asked)  # type: ignore[attr-defined]  # what help() shows
    compiler.resolve_by_type(ask, lambda kind: asked.kernel_for(_key_of(kind)))
    questions[ask] = asked
    return ask


def _key_of(kind: Any) -> Any:
    """Return the key of a numba type: the class of a part, or the type of a state if it is one or an array of states."""
    return getattr(kind, "instance_class", kind.dtype if isinstance(kind, types.Array) else kind)


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
    return function_of(Question(asked))


def signature_error(given: Callable[..., Any], asked: Callable[..., Any]) -> str:
    """Return why this cannot be a kernel that answers the question, as the end of a sentence about it; empty if it can."""
    if not is_kernel(given):
        return "is not marked @kernel"
    takes = questions[asked].takes
    found = list(inspect.signature(given.py_func if hasattr(given, "py_func") else given).parameters)
    return "" if len(found) == len(takes) else f"takes ({', '.join(found)}) and must take ({', '.join(takes)})"


def register(asked: Callable[..., Any], kernel: Callable[..., Any], *keys: Any) -> None:
    """Let this kernel answer the question for these keys; see Question."""
    questions[asked].kernels.update(dict.fromkeys(keys, kernel))


def kernel_for(asked: Callable[..., Any], key: Any) -> Callable[..., Any]:
    """Return the kernel that answers the question for this key, such as the dtype of a game's state."""
    kernel: Callable[..., Any] = questions[asked].kernels[key]
    return kernel


def must_answer(part: Any, *asked: Callable[..., Any]) -> None:
    """Raise TypeError if no kernel answers one of these questions for this part."""
    for each in asked:
        if type(part) not in questions[each].kernels:
            raise TypeError(questions[each].lacks(type(part)))


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

    def mark(kernel: Kernel) -> Kernel:
        if wrong := signature_error(kernel, asked):
            raise TypeError(f"the kernel by which {kind.__name__} answers {asked.__name__}() {wrong}")
        register(asked, kernel, kind)
        _name_apart(kind)
        return kernel

    return mark


def _name_apart(kind: Any) -> None:
    """Give a class of parts another name if a class that answers questions has the same name and the same fields.

    When Python calls a kernel, numba looks up the types of the arguments by the names of classes and fields alone. So it would confuse
    two classes, as after a cell of a notebook was changed and run again, or if two modules use the same name.
    """
    name, n = kind.__name__, 1
    while _classes.setdefault(_looked_up_by(kind), kind) is not kind:
        n += 1
        kind.__name__ = f"{name}_{n}"


def _looked_up_by(kind: Any) -> tuple[bytes, ...]:
    return tuple(name.encode("ascii", "ignore") for name in (kind.__name__, *kind._fields))
