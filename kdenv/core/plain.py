"""Kernels compiled as numba does it by itself: the stand-in for core/compiling.py where numba's insides are not those it knows.

All runs the same, and as fast; the first search of a game takes three times as long to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.extending import overload


def compiled_kernel(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A kernel."""
    return numba.njit(**options)(function)


def resolve_by_type(question: Callable[..., Any], kernel_for: Callable[[Any], Any]) -> None:
    """Let compiled code that calls question(first, ...) call kernel_for(the type of first) in its place."""

    def resolve(first, *rest):  # not annotated: numba wants the same signature as that of what it returns
        kernel = kernel_for(first)
        return lambda first, *rest: kernel(first, *rest)

    overload(question, jit_options={"_nrt": False})(resolve)  # as in kernel
