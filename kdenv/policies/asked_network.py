"""`AskedNetwork`: a network that is a function of a batch of observations, the rows for its next call, and the numbers of its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.core.encoding import Observer
from kdenv.core.errors import BadOption
from kdenv.search.kernels.asked import Asked

Evaluate = Callable[[NDArray[np.float32]], Any]
Numbers = NDArray[np.float64]


class AskedNetwork:
    """Your function, the rows for its next call, and the numbers of its calls and rows."""

    def __init__(self, evaluate: Evaluate, observer: Observer) -> None:
        self._evaluate, self.observer = evaluate, observer
        self.asked = _new_asked(observer, 0)
        self.calls, self.rows = 0, 0

    def make_room(self, n: int) -> None:
        """Make room for at least n rows, and keep those that are written."""
        if len(self.asked.rows) < n:
            old, self.asked = self.asked, _new_asked(self.observer, n)
            for name in ("rows", "seats", "turns", "is_over", "exact"):
                getattr(self.asked, name)[: len(old.rows)] = getattr(old, name)
            self.asked.n[0] = old.n[0]

    def answer(self) -> tuple[Numbers, Numbers, bool]:
        """Return the values and scores of the rows, and whether the scores are values. Ends of listed turns have exact values."""
        n = int(self.asked.n[0])
        if n == 0:
            return np.zeros(0), np.zeros(0), True
        values, scores = self.ask(self.asked.rows[:n])
        is_over = self.asked.is_over[:n]
        values[is_over] = self.asked.exact[:n][is_over]
        return values, values if scores is None else scores, scores is None

    def ask(self, rows: NDArray[np.float32]) -> tuple[Numbers, Numbers | None]:
        """Call the function, and check what it returns."""
        self.calls += 1
        self.rows += len(rows)
        given = self._evaluate(rows)
        if not isinstance(given, tuple):
            return _numbers(given, len(rows), "values"), None
        if len(given) != 2:
            raise BadOption(f"the network returned a tuple of {len(given)}; return the values, or a tuple of values and scores")
        return _numbers(given[0], len(rows), "values"), _numbers(given[1], len(rows), "scores")


def _numbers(given: Any, n: int, what: str) -> Numbers:
    """The numbers that the network returned, one for each row, as a new array."""
    found = np.array(given, np.float64)
    if found.shape not in ((n,), (n, 1)):
        raise BadOption(f"the {what} of the network have shape {found.shape}; return one number for each of the {n} rows")
    if not np.isfinite(found).all():
        raise BadOption(f"the {what} of the network have numbers that are not finite; return finite numbers")
    return found.reshape(n)


def _new_asked(observer: Observer, n: int) -> Asked:
    return Asked(
        encoding=observer.part(),
        rows=np.empty((n, observer.size), np.float32),
        seats=np.zeros(n, np.int64),
        turns=np.zeros(n, np.int64),
        is_over=np.zeros(n, np.bool_),
        exact=np.zeros(n),
        n=np.zeros(1, np.int64),
        n_listed=np.zeros(1, np.int64),
    )
