"""States of games. A state is a numpy record: named fields in one block of memory, which one memcpy copies."""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from kdenv.compiler.errors import no_field


class _Record(np.record):  # type: ignore[misc]  # final in the stubs only
    """A record that looks for a field before it looks for numpy's attributes, so that a field may be called `size` or `round`."""

    def __getattribute__(self, name: str) -> Any:
        fields = super().__getattribute__("dtype").fields
        return self[name] if name in fields else super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(no_field(name, self.dtype.fields or ()))

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            super().__setattr__(name, value)
        except AttributeError:
            raise AttributeError(no_field(name, self.dtype.fields or ())) from None


def state_dtype(*fields: Any, source: str | Iterable[str] = ()) -> np.dtype[Any]:
    """Make the dtype of a game's state: a flat record of numbers and arrays of numbers.

    The dtype belongs to the module that calls this function, so that games of different modules may have equal fields.

    Args:
        fields: Name, dtype and, for arrays, shape of each field, as numpy takes them.
        source: The file or files of a game that is loaded again after edits in the same process (importlib.reload, a notebook).
            Their content becomes part of the type, so that code compiled before an edit is not used after it.

    >>> import numpy as np
    >>> from kdenv.author import state_dtype
    >>> state = state_dtype(("points", np.int16, 2), ("turn", np.int8))
    >>> states = np.zeros(8, state)
    >>> states[0]["turn"] = 1
    >>> states[1] = states[0]  # copies the position

    """
    named = list(fields)
    files = [source] if isinstance(source, str) else list(source)
    if files:
        content = b"\0".join(Path(file).read_bytes() for file in files)
        named.append(("_" + hashlib.sha256(content).hexdigest()[:12], np.int8))
    for field in named:
        if np.dtype([field]).hasobject:
            raise TypeError(f"the field {field[0]} of a state holds Python objects; give a dtype of numbers, such as np.int8")
    if home := _home(sys._getframe(1).f_globals):
        named.append((f"_of_{home}", "S0"))  # an empty text, which takes no space
    dtype = _without_gaps(np.dtype(named, align=True))
    # With NUMBA_DISABLE_JIT kernels are plain Python, and numpy itself must let them write s.field for s["field"].
    return np.dtype((_Record, dtype)) if numba.config.DISABLE_JIT else dtype


def _home(names: Mapping[str, Any]) -> str:
    """Return the name of the module with these global names, the same in every process, also if it is run as a script.

    It is empty for a notebook, and for games of kdenv itself: their fields differ.
    """
    spec, file = names.get("__spec__"), names.get("__file__")
    home = str(spec.name) if spec is not None else Path(file).stem if file else ""
    return "" if home.partition(".")[0] == "kdenv" else home.replace(".", "_")


def _without_gaps(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the same dtype with one more field in every gap. Numpy copies only fields, so the gaps of equal states could differ."""
    fields = {name: (of, offset) for name, (of, offset, *_) in (dtype.fields or {}).items()}
    ends = [0, *(offset + of.itemsize for of, offset in fields.values())]
    starts = [*(offset for _, offset in fields.values()), dtype.itemsize]
    fields |= {f"_gap_{end}": (np.dtype((np.uint8, start - end)), end) for end, start in zip(ends, starts, strict=True) if start > end}
    names = sorted(fields, key=lambda name: fields[name][1])
    formats, offsets = zip(*(fields[name] for name in names), strict=True)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize}, align=True)


def wipe(s: Any) -> None:
    """Set every byte of a state to 0."""
    for name in s.dtype.names:
        s[name] = 0


@intrinsic
def _set_bytes_to_0(typing_context, record):
    def generate(context, builder, signature, arguments):
        cgutils.memset(builder, arguments[0], ir.Constant(ir.IntType(64), record.size), 0)

    return types.void(record), generate


@overload(wipe)
def _wipe(s):
    return lambda s: _set_bytes_to_0(s)
