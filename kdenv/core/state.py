"""States are numpy records: named fields in one block of memory, copied by one memcpy."""

from pathlib import Path
from typing import Any

import numba
import numpy as np

from kdenv.core.kernel import kernel, source_digest


class _Record(np.record):  # type: ignore[misc]  # final in the stubs only
    """A record whose fields come before numpy's own attributes: a state may have a `size` or a `round`."""

    def __getattribute__(self, name: str) -> Any:
        fields = super().__getattribute__("dtype").fields
        return self[name] if name in fields else super().__getattribute__(name)


def state_dtype(*fields: Any, source: str | None = None) -> np.dtype[Any]:
    """The dtype of a game's state.

    A game that lives outside this package passes source=__file__: the digest of that file becomes
    part of the type, so that searches compiled for older rules of it are never found again.
    """
    named = list(fields)
    if source is not None:
        named.append(("_" + source_digest([Path(source)]), np.int8))
    dtype = np.dtype(named, align=True)
    # Without the compiler numpy itself must offer s.field for s["field"].
    return np.dtype((_Record, dtype)) if numba.config.DISABLE_JIT else dtype


@kernel
def copy_state(states, to, of):
    """Make states[to] equal to states[of]."""
    states[to] = states[of]
