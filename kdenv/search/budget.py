"""How long a search may go on: a number of playouts or seconds, spent in steps short enough to be interrupted."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_STEP = 0.02  # seconds between looks at the clock; the last steps are shorter
_NOTICE_AFTER = 0.5  # seconds of compiling after which the user is told


@dataclass(frozen=True)
class Budget:
    """Either playouts or seconds for one decision."""

    playouts: int | None = None
    seconds: float | None = None

    def spend(self, work: Callable[[int, int], None], least: int) -> int:
        """Call work(n, done) until the budget is spent; return the playouts made.

        work must have been compiled. With seconds, at least `least` playouts are made, so that every candidate has
        been tried, whatever the clock says.
        """
        start = time.perf_counter()
        done = 0
        step = least if self.seconds is not None else min(64, self.playouts or 0)
        while True:
            if self.playouts is not None:
                step = min(step, self.playouts - done)
            if step <= 0:
                return done
            before = time.perf_counter()
            work(step, done)
            done += step
            now = time.perf_counter()
            rate = step / max(now - before, 1e-9)
            step = max(1, int(rate * _STEP))
            if self.seconds is not None:
                left = self.seconds - (now - start)
                if left <= 0:
                    return done
                step = max(1, min(step, int(rate * left * 0.8)))


@contextlib.contextmanager
def compiling(what: str) -> Iterator[None]:
    """Around the first run of a search: if it takes long, say once that it is being compiled."""
    message = f"compiling {what} (once, then it is kept on disk) ..."
    notice = threading.Timer(_NOTICE_AFTER, lambda: print(message, file=sys.stderr, flush=True))
    notice.daemon = True
    notice.start()
    try:
        yield
    finally:
        notice.cancel()
