"""The random generator of a policy. Kernels draw from it, and in Python it has three methods of NumPy's Generator."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from kdenv.compiler.random import below, uniform
from kdenv.core.errors import BadOption, shown

_MOST = 1 << 32  # numbers among which `below` can draw
_Size = int | tuple[int, ...] | None


class PolicyRng(np.ndarray[Any, np.dtype[np.uint64]]):
    """A generator for kernels (kdenv.author.Rng) with the methods random, integers and choice, whose parameters are those of NumPy.

    Kernels and methods draw from the same stream, so a seed gives the same numbers on every platform and with every version of NumPy.
    They are not the numbers that NumPy draws.
    """

    def random(self, size: _Size = None) -> Any:
        """A float in [0, 1), or an array of floats of this shape."""
        return _shaped(size, lambda: float(uniform(self)))

    def integers(self, low: int, high: int | None = None, size: _Size = None, *, endpoint: bool = False) -> Any:
        """A whole number from low to high - 1, or from 0 to low - 1 without high; or an array. With endpoint, the upper end is included."""
        first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        n = last - first + bool(endpoint)
        if not 0 < n <= _MOST - 1:
            raise BadOption(f"integers({shown(low)}, {shown(high)}) has {shown(n)} numbers to choose from; it must be 1 to {_MOST - 1:,}")
        return _shaped(size, lambda: first + int(below(self, n)))

    def choice(self, a: Any, size: _Size = None, replace: bool = True, p: Sequence[float] | None = None) -> Any:
        """An element of a, or a number from 0 to a - 1; or an array of them. p: the probability of each element. replace: as in NumPy."""
        elements = range(a) if isinstance(a, (int, np.integer)) else a
        places, odds = list(range(len(elements))), None if p is None else [float(each) for each in p]
        n = 1 if size is None else math.prod(size if isinstance(size, tuple) else (size,))
        if odds is not None and (len(odds) != len(places) or min(odds, default=0.0) < 0 or not math.isclose(sum(odds), 1, abs_tol=1e-6)):
            raise BadOption(f"p={shown(p)} is not possible; it must be a probability for each of {len(places)} elements, and 1 together")
        possible = len(places) if odds is None else sum(each > 0 for each in odds)
        if n > 0 and possible < (1 if replace else n):
            raise BadOption(f"choice cannot draw {n} of {possible} possible elements{'' if replace else ' without replacing them'}")

        def draw() -> int:
            at = int(below(self, len(places))) if odds is None else self._drawn_by(odds)
            if replace:
                return places[at]
            if odds is not None:
                del odds[at]
            return places.pop(at)

        return elements[draw()] if size is None else np.asarray(elements)[_shaped(size, draw).astype(np.int64)]

    def _drawn_by(self, odds: list[float]) -> int:
        """A place in the list, with a probability in proportion to its number."""
        sums = list(accumulate(odds))
        drawn = float(uniform(self)) * sums[-1]
        possible = [i for i, each in enumerate(odds) if each > 0]
        return next((i for i in possible if drawn < sums[i]), possible[-1])  # rounding may make drawn as large as the last sum


def _shaped(size: _Size, draw: Callable[[], Any]) -> Any:
    """One result of draw, or an array of this shape with a result in each element."""
    if size is None:
        return draw()
    shape = size if isinstance(size, tuple) else (operator.index(size),)
    return np.array([draw() for _ in range(math.prod(shape))]).reshape(shape)
