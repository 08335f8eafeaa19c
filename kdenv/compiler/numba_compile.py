"""Compiles kernels by numba alone. Used in place of fast_compile.py with versions of numba that kernel.py does not list.

The results and the running speed are the same. The first search of a game takes three times as long to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numba.extending import overload

from kdenv.compiler.cache import KeptKernel


class PlainKernel(KeptKernel):
    """A kernel that numba compiles as usual."""


def compiled_kernel(function: Callable[..., Any], options: dict[str, Any]) -> PlainKernel:
    """Make a kernel of a function, with these options of numba's jit."""
    return PlainKernel(function, targetoptions={**options, "nopython": True})


def compile_together(title: str, kernels: tuple[Any, ...], types: Mapping[str, Any]) -> None:
    """Do nothing: each kernel is compiled separately."""


def resolve_by_type(question: Callable[..., Any], kernel_for: Callable[[Any], Any]) -> None:
    """Let compiled code that calls question(first, ...) call the kernel that kernel_for returns for the type of first."""

    def resolve(first, *rest):  # it has no annotations, because numba compares its signature with that of the function it returns
        kernel = kernel_for(first)
        return lambda first, *rest: kernel(first, *rest)

    overload(question, jit_options={"_nrt": False})(resolve)  # kernels have the same option
