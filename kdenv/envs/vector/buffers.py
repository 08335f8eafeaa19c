"""Arrays that are used again as soon as nobody else holds them, so that steps neither allocate nor overwrite what a user has kept."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 4  # arrays that are kept; a training loop holds two: those of the last call and of the call before it


def _holders(arrays: list[NDArray[Any]]) -> list[int]:
    """Return the number of references to each array."""
    return [sys.getrefcount(array) for array in arrays]


_FREE = _holders([np.zeros(1)])[0]  # the references to an array that only such a list holds


class Buffers:
    """Gives out arrays of one shape. Their contents are undefined."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, dtype
        self._arrays: list[NDArray[Any]] = []

    def take(self) -> NDArray[Any]:
        """Return an array that nobody else holds. A view of an array, and a tensor that shares its memory, hold it, too."""
        for place, holders in enumerate(_holders(self._arrays)):
            if holders == _FREE:
                self._arrays.append(self._arrays.pop(place))
                return self._arrays[-1]
        self._arrays = [*self._arrays[-_MOST + 1 :], np.empty(self._shape, self._dtype)]
        return self._arrays[-1]

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the shape, and not the arrays."""
        return {**self.__dict__, "_arrays": []}
