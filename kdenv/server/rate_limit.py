"""Limits the requests of each client by a token bucket: each address has a bucket, which fills at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_MOST_CLIENTS = 10_000  # that are remembered; the client with the oldest last request is forgotten first


class Limiter:
    """Buckets of one size, one for each client."""

    def __init__(self, rate: float, size: float, clock: Callable[[], float] = time.monotonic) -> None:
        """A bucket gains `rate` requests in a second, up to `size`."""
        self._rate, self._size, self._clock = rate, size, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # the requests in it, and the time of that

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
