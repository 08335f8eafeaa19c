"""`kernel`: the decorator for compiled functions.

A kernel is compiled when it is first called, and its machine code is kept on disk (see cache.py).
"""

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.dispatcher import Dispatcher

# The first and the last version of numba that fast_compile.py was tested with. With others, or with KDENV_COMPILER=numba, kernels are
# compiled by numba_compile.py.
_KNOWN = ((0, 65), (0, 68))
IS_KNOWN = _KNOWN[0] <= numba.version_info.short <= _KNOWN[1]
IS_PLAIN = not IS_KNOWN or os.environ.get("KDENV_COMPILER") == "numba"
if IS_PLAIN:
    from kdenv.compiler import numba_compile as compiler
else:
    from kdenv.compiler import fast_compile as compiler  # type: ignore[no-redef]

__all__ = ["allocating_kernel", "compile_together", "compiler", "is_kernel", "kernel", "machine_code"]

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function when it is first called with a combination of argument types. Other threads can run while a kernel runs.

    A kernel may not allocate: np.empty and the like do not compile, and the caller gives it the buffers. So numba does not have to count
    references to arrays, which would cost more than the work of a small kernel.

    >>> import numpy as np
    >>> from kdenv.author import kernel
    >>> @kernel
    ... def most(points):
    ...     best = points[0]
    ...     for i in range(1, points.shape[0]):
    ...         best = max(best, points[i])
    ...     return best
    >>> most(np.array([3, 9, 4]))
    9
    """
    return _compiled(function, allocates=False)


def allocating_kernel(function: Function) -> Function:
    """Compile a function as kernel() does, but let it allocate. Kernels should not call it where speed matters.

    >>> import numpy as np
    >>> from kdenv.author import allocating_kernel
    >>> @allocating_kernel
    ... def squares(n):
    ...     return np.arange(n) ** 2
    >>> squares(4).tolist()
    [0, 1, 4, 9]
    """
    return _compiled(function, allocates=True)


def compile_together(title: str, *kernels: Callable[..., Any], **types: Any) -> None:
    """Compile these kernels as one piece of machine code when Python first calls one of them. What all of them call is optimised once.

    Their first argument has the same type in all of them. types: the numba types of the other arguments, by name. A call with
    arguments of other types compiles the kernel separately.
    """
    if not numba.config.DISABLE_JIT:
        compiler.compile_together(title, kernels, types)


def machine_code(function: Function, *arguments: Any) -> Function:
    """Return what a kernel runs for arguments of these types. Before it has been called with them, that is the kernel itself.

    Each call of a kernel looks at the types of its arguments. This takes up to 2 us if they are tuples of tuples. The machine code does
    not look, so every call must have arguments of the same types.
    """
    if numba.config.DISABLE_JIT:
        return function
    dispatcher: Any = function
    found = dispatcher.overloads.get(tuple(map(dispatcher.typeof_pyval, arguments)))
    return function if found is None else found.entry_point


def is_kernel(function: Callable[..., Any]) -> bool:
    """Return whether a function is marked as a kernel. If nothing is compiled, every function counts as one."""
    return bool(numba.config.DISABLE_JIT) or isinstance(function, Dispatcher)


def _compiled(function: Function, *, allocates: bool) -> Function:
    if numba.config.DISABLE_JIT:
        return function
    return cast(Function, compiler.compiled_kernel(function, {"nogil": True, "_nrt": allocates}))


if not IS_KNOWN and not numba.config.DISABLE_JIT:
    print(
        f"kdenv: numba {numba.__version__} is not one of the versions that kdenv was tested with "
        f"({'.'.join(map(str, _KNOWN[0]))} to {'.'.join(map(str, _KNOWN[1]))}); everything works, but compiling takes three times as long",
        file=sys.stderr,
    )
