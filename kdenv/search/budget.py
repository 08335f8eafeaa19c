"""How long a search may go on: playouts, nodes or seconds, spent in steps short enough to be interrupted."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_STEP = 0.02  # seconds between looks at the clock; the last steps are shorter
_NOTICE_AFTER = 0.5  # seconds of compiling after which the user is told
_PER_NODE = 8  # playouts a node, after which a budget of nodes is spent too: a whole tree can be smaller than the budget
_LEAST_SECONDS = 0.001  # for a decision when the time for the game is up


@dataclass(frozen=True)
class Budget:
    """Playouts, nodes or seconds for one decision, or seconds for all decisions of a game."""

    playouts: int | None = None
    seconds: float | None = None
    nodes: int | None = None
    game_seconds: float | None = None

    def spend(
        self,
        work: Callable[[int, int], None],
        least: int = 1,
        *,
        since: float | None = None,
        nodes: Callable[[], int] | None = None,
        stop: threading.Event | None = None,
    ) -> int:
        """Call work(n, done) until the budget is spent; return the playouts made.

        work must have been compiled. With seconds, counted from `since` or now, at least `least` playouts are made whatever
        the clock says. `nodes` tells how many nodes there are; a search without nodes counts playouts as such.
        """
        start = time.perf_counter() if since is None else since
        most = self.playouts if self.nodes is None or nodes is None else self.nodes * _PER_NODE
        most = self.nodes if most is None else most
        done = 0
        step = least if self.seconds is not None else min(64, most or 0)
        while not (stop is not None and stop.is_set()):
            if most is not None:
                step = min(step, most - done)
            if self.nodes is not None and nodes is not None:
                step = min(step, max(self.nodes - nodes(), int(done == 0)))  # a root alone tells nothing
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
        return done

    def share(self, part: int, parts: int) -> Budget:
        """What one of several searches gets that work one after the other, or (but for seconds) at the same time."""

        def split(number: int | None) -> int | None:
            return None if number is None else number // parts + (part < number % parts)

        return Budget(split(self.playouts), self.seconds, split(self.nodes))

    def for_decision(self, spent: float, turns_left: Callable[[], float]) -> Budget:
        """The budget of one decision: of the seconds for a game, those left divided by the turns left."""
        if self.game_seconds is None:
            return self
        return Budget(seconds=max(_LEAST_SECONDS, (self.game_seconds - spent) / max(1.0, turns_left())))


def spend_together(budget: Budget, works: Sequence[Any], threads: int, since: float) -> int:
    """Let several searches spend a budget together, on as many threads; return the playouts made.

    Each of works has work(n, done) and nodes(). Playouts and nodes are divided among them; seconds are the clock's.
    """
    stop = threading.Event()
    done = [0] * len(works)
    failed: list[BaseException] = []

    def spend(thread: int) -> None:
        mine = range(thread, len(works), threads)
        try:
            for i, each in enumerate(mine):
                share = budget.share(each, len(works))
                if budget.seconds is not None:
                    share = Budget(seconds=budget.seconds * (i + 1) / len(mine))
                done[each] = share.spend(works[each].work, since=since, nodes=works[each].nodes, stop=stop)
        except BaseException as error:
            failed.append(error)

    if threads == 1:
        spend(0)
    else:
        workers = [threading.Thread(target=spend, args=(thread,)) for thread in range(min(threads, len(works)))]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        except KeyboardInterrupt:
            stop.set()
            for worker in workers:
                worker.join()
            raise
    if failed:
        raise failed[0]
    return sum(done)


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
