"""Budgets of searches: playouts, nodes or seconds. They are spent in short steps, so that Ctrl-C can interrupt a search."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_STEP = 0.02  # seconds between looks at the clock; the last steps are shorter
_PER_NODE = 8  # a budget of n nodes ends after 8 * n playouts at the latest: a whole tree may have fewer than n nodes
_LEAST_SECONDS = 0.001  # the budget of a decision after all seconds of the turn or of the game are spent


@dataclass(frozen=True)
class Budget:
    """Playouts, nodes or seconds for one decision; playouts for a decision by round; or seconds for all decisions of a turn or a game."""

    playouts: int | None = None
    seconds: float | None = None
    nodes: int | None = None
    turn_seconds: float | None = None
    game_seconds: float | None = None
    by_round: tuple[int, ...] | None = None  # playouts for a decision in each round; the last number is for all later rounds

    def steps(
        self,
        least: int = 1,
        *,
        since: float | None = None,
        nodes: Callable[[], int] | None = None,
        stop: threading.Event | None = None,
    ) -> Iterator[int]:
        """Yield the number of playouts to make next, until the budget is spent: `for n in budget.steps(): ...` makes n playouts each time.

        Compile all that the loop calls before, or compiling uses up the seconds. Seconds are counted from `since`, which is a time
        of time.perf_counter, or from now. A budget of seconds allows at least `least` playouts, even if they take longer. `nodes` returns
        the number of nodes of the search; without it, a budget of nodes counts playouts. Setting `stop` ends the search early.
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
                step = min(step, max(self.nodes - nodes(), int(done == 0)))  # one playout at least: a root alone has no result
            if step <= 0:
                return
            before = time.perf_counter()
            yield step
            done += step
            now = time.perf_counter()
            rate = step / max(now - before, 1e-9)
            step = max(1, int(rate * _STEP))
            if self.seconds is not None:
                left = self.seconds - (now - start)
                if left <= 0:
                    return
                # Half of the time left, by the rate of the last step, because the next step may be slower.
                step = max(1, min(step, int(rate * left / 2)))

    def share(self, part: int, parts: int) -> Budget:
        """Return the budget of search number `part` of `parts`, for one decision: playouts and nodes are divided, seconds are not."""

        def split(number: int | None) -> int | None:
            return None if number is None else number // parts + (part < number % parts)

        return Budget(split(self.playouts), self.seconds, split(self.nodes))

    def for_decision(self, spent: float, decisions_left: Callable[[], float], round_now: Callable[[], int]) -> Budget:
        """Return the budget of one decision. Of seconds for a turn or a game, it gets those left, divided by the decisions left.

        round_now returns the number of the round, from 0. It is called only if there are playouts by round.
        """
        if self.by_round is not None:
            return Budget(self.by_round[min(round_now(), len(self.by_round) - 1)])
        seconds = self.turn_seconds if self.turn_seconds is not None else self.game_seconds
        return self if seconds is None else Budget(seconds=max(_LEAST_SECONDS, (seconds - spent) / max(1.0, decisions_left())))


def run_together(workers: Sequence[Any], budgets: Sequence[Budget], threads: int, since: float) -> int:
    """Run several searches at the same time, on this number of threads; return the number of playouts of all.

    Each worker has methods run(steps), which returns the number of its playouts, and nodes(). Seconds are counted from `since`; workers
    on the same thread share them equally.
    """
    stop = threading.Event()
    done = [0] * len(workers)
    failed: list[BaseException] = []

    def run_on(thread: int) -> None:
        mine = range(thread, len(workers), threads)
        try:
            for i, each in enumerate(mine):
                share = budgets[each]
                if share.seconds is not None:
                    share = Budget(seconds=share.seconds * (i + 1) / len(mine))
                done[each] = workers[each].run(share.steps(since=since, nodes=workers[each].nodes, stop=stop))
        except BaseException as error:
            failed.append(error)

    if threads == 1:
        run_on(0)
    else:
        running = [threading.Thread(target=run_on, args=(thread,)) for thread in range(min(threads, len(workers)))]
        for each in running:
            each.start()
        try:
            for each in running:
                each.join()
        except KeyboardInterrupt:
            stop.set()
            for each in running:
                each.join()
            raise
    if failed:
        raise failed[0]
    return sum(done)
