"""How much one client may ask: a bucket for each address, which fills at a steady rate and from which every request takes."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_MOST_CLIENTS = 10_000  # that are remembered; those that asked least lately are forgotten first


class Limiter:
    """Buckets of one size, one for each client."""

    def __init__(self, rate: float, size: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`rate` is what flows into a bucket in a second, `size` what it holds."""
        self._rate, self._size, self._clock = rate, size, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is in it, and when that was

    def take(self, client: str) -> float:
        """Take one from the bucket of this client. Return 0, or the seconds to wait if the bucket is empty."""
        now = self._clock()
        level, then = self._buckets.pop(client, (self._size, now))
        level = min(self._size, level + (now - then) * self._rate)
        wait = 0.0 if level >= 1 else (1 - level) / self._rate
        self._buckets[client] = (level if wait else level - 1), now
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return wait
