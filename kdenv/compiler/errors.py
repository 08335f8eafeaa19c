"""`KernelError`: the error for a kernel that cannot be compiled, and how much Python shows of it. explain.py writes its sentence.

Between a user's call and numba lie many functions of kdenv. If such an error ends the program, only functions of the user are shown.
With KDENV_TRACEBACK=full all functions are shown, and all that numba says.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import TracebackType

PACKAGE = str(Path(__file__).parents[1]) + os.sep
_LIBRARIES = ("<frozen", PACKAGE, *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")))
_MOST_SHOWN = 2  # functions of the user
_MOST_LISTED = 12


class KernelError(TypeError):
    """A kernel that cannot be compiled. The message names the file, the line, the kernel and what is wrong there."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        _shorten_uncaught()

    def _render_traceback_(self) -> list[str]:
        """Return the lines that Jupyter shows."""
        trace = self.__traceback__ if wants_all() else _of_user(self.__traceback__)
        return "".join(traceback.format_exception(type(self), self, trace, chain=wants_all())).splitlines()


def wants_all() -> bool:
    """Whether the user wants to see all that numba says of a kernel that cannot be compiled."""
    return os.environ.get("KDENV_TRACEBACK") == "full"


def instead(name: str, known: list[str]) -> str:
    """The end of a sentence about a name that does not exist: the name that was meant, or all names if they are few."""
    close = get_close_matches(name, known, 1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; it has {', '.join(known)}" if 0 < len(known) <= _MOST_LISTED else ""


def no_field(name: str, fields: Iterable[str]) -> str:
    """Say that a state has no field of this name. Fields with an underscore are not told, as kdenv has added them."""
    return f"a state has no field {name!r}{instead(name, [field for field in fields if not field.startswith('_')])}"


def kernel_error_in(error: BaseException) -> KernelError | None:
    """The KernelError that led to this error, if one did."""
    return next((each for each in _chain(error) if isinstance(each, KernelError)), None)


def story_of(error: BaseException) -> str:
    """The traceback of an error, for another process; empty if a KernelError says enough."""
    return "" if kernel_error_in(error) is not None and not wants_all() else "".join(traceback.format_exception(error))


@cache
def _shorten_uncaught() -> None:
    """Let Python show only functions of the user when a KernelError ends the program, and each sentence once."""
    show = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        told = kernel_error_in(error)
        if told is not None and not wants_all():
            trace = error.__traceback__ = _of_user(trace)
            if told is not error:
                error.__notes__ = list(told.__notes__) if str(told) in str(error) else [str(told), *told.__notes__]
            error.__cause__, error.__suppress_context__ = None, True
        show(kind, error, trace)

    sys.excepthook = hook


def _chain(error: BaseException) -> list[BaseException]:
    """An error, the error that led to it, and so on."""
    found = [error]
    while (before := found[-1].__cause__ or (None if found[-1].__suppress_context__ else found[-1].__context__)) is not None:
        found.append(before)
    return found


def _of_user(trace: TracebackType | None) -> TracebackType | None:
    """The last functions in a traceback that belong neither to kdenv nor to a library."""
    found = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_LIBRARIES):
            found.append(trace)
        trace = trace.tb_next
    shown = None
    for each in reversed(found[-_MOST_SHOWN:]):
        shown = TracebackType(shown, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return shown
