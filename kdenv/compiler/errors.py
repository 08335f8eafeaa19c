"""`KernelError`: the error for a kernel that cannot be compiled. explain.py writes its message.

The traceback of such an error has many functions of kdenv between the user's call and numba. If it ends the program, only functions of
the user are shown. With KDENV_TRACEBACK=full all functions are shown, and numba's own message.
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
    """Return whether the user wants to see the whole traceback and numba's own message."""
    return os.environ.get("KDENV_TRACEBACK") == "full"


def instead(name: str, known: list[str]) -> str:
    """Return the end of a sentence about an unknown name: a similar known name, or all known names if they are few."""
    close = get_close_matches(name, known, 1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; it has {', '.join(known)}" if 0 < len(known) <= _MOST_LISTED else ""


def no_field(name: str, fields: Iterable[str]) -> str:
    """Return the sentence for a field that a state lacks. Fields with an underscore are not listed, because kdenv has added them."""
    return f"a state has no field {name!r}{instead(name, [field for field in fields if not field.startswith('_')])}"


def kernel_error_in(error: BaseException) -> KernelError | None:
    """Return the KernelError that led to this error, if one did."""
    return next((each for each in _chain(error) if isinstance(each, KernelError)), None)


def story_of(error: BaseException) -> str:
    """Return the traceback of an error as text, for another process; empty if a KernelError explains it."""
    return "" if kernel_error_in(error) is not None and not wants_all() else "".join(traceback.format_exception(error))


@cache
def _shorten_uncaught() -> None:
    """Let Python show only functions of the user when a KernelError ends the program, and each sentence once."""
    show = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        cause = kernel_error_in(error)
        if cause is not None and not wants_all():
            trace = error.__traceback__ = _of_user(trace)
            if cause is not error:
                error.__notes__ = list(cause.__notes__) if str(cause) in str(error) else [str(cause), *cause.__notes__]
            error.__cause__, error.__suppress_context__ = None, True
        show(kind, error, trace)

    sys.excepthook = hook


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error, the error that led to it, and so on."""
    found = [error]
    while (before := found[-1].__cause__ or (None if found[-1].__suppress_context__ else found[-1].__context__)) is not None:
        found.append(before)
    return found


def _of_user(trace: TracebackType | None) -> TracebackType | None:
    """Return the last functions in a traceback that belong neither to kdenv nor to a library."""
    numba = sys.modules.get("numba")  # it may be in another folder than the other libraries, as after pip install --user
    libraries = _LIBRARIES if numba is None else (*_LIBRARIES, str(Path(str(numba.__file__)).parents[1]) + os.sep)
    found = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(libraries):
            found.append(trace)
        trace = trace.tb_next
    shown = None
    for each in reversed(found[-_MOST_SHOWN:]):
        shown = TracebackType(shown, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return shown
