"""Limits the libraries that a process loads to one thread each, because a match already has a process for every core.

The threads of searches are not limited here; a policy's parameter `threads` sets their number.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

# Libraries of linear algebra, OpenMP, numba and torch read these when they are loaded.
READ_BY_LIBRARIES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_one_thread() -> None:
    """Limit libraries that are loaded after this call to one thread each, in this process and in those that it starts."""
    os.environ.update(dict.fromkeys(READ_BY_LIBRARIES, "1"))


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Limit the libraries in processes that are started in this block to one thread each."""
    before = {name: os.environ[name] for name in READ_BY_LIBRARIES if name in os.environ}
    use_one_thread()
    try:
        yield
    finally:
        for name in READ_BY_LIBRARIES:
            os.environ.pop(name, None)
        os.environ.update(before)
