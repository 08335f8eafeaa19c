"""States are numpy records: named fields in one block of memory, copied by one memcpy."""

from pathlib import Path
from typing import Any

import numba
import numpy as np

from kdenv.core.kernel import source_digest


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
    dtype = _without_gaps(np.dtype(named, align=True))
    # Without the compiler numpy itself must offer s.field for s["field"].
    return np.dtype((_Record, dtype)) if numba.config.DISABLE_JIT else dtype


def _without_gaps(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same with a field in every gap: numpy copies only fields, so equal states would differ in whatever lies in the gaps."""
    fields = {name: (of, offset) for name, (of, offset, *_) in (dtype.fields or {}).items()}
    ends = [0, *(offset + of.itemsize for of, offset in fields.values())]
    starts = [*(offset for _, offset in fields.values()), dtype.itemsize]
    fields |= {f"_gap_{end}": (np.dtype((np.uint8, start - end)), end) for end, start in zip(ends, starts, strict=True) if start > end}
    names = sorted(fields, key=lambda name: fields[name][1])
    formats, offsets = zip(*(fields[name] for name in names), strict=True)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize}, align=True)
