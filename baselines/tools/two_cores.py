"""Measures the speed of two processes against one. They play games of a search with 50 ms a decision.

    python -m baselines.tools.two_cores 200     # games

It prints the ratio, and exits with 1 if it is below 1.85. On a quiet machine of two cores it takes about eight minutes. The first results
of a match, which come while processes start and compile, are left out of both times.
"""

from __future__ import annotations

import sys
import time

from kdenv.arena import Match, Result, play

WANTED = 1.85
LINE_UP = ["mce(seconds=0.05)", "full_greedy"]


def seconds_a_game(games: int, processes: int) -> float:
    """The time from the end of one of the first games to the end of the last, by the number of games in between."""
    ends: list[float] = []

    def on_result(result: Result) -> None:
        ends.append(time.perf_counter())

    assert play(Match("kingdomino", LINE_UP, games, 1), processes=processes, on_result=on_result)
    first = 2 * processes  # by then every process plays
    return (ends[-1] - ends[first]) / (games - 1 - first)


def main() -> int:
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    one, two = (seconds_a_game(games, processes) for processes in (1, 2))
    ratio = one / two
    print(f"{games} games of {' v '.join(LINE_UP)}: {one:.3f} s a game in one process, {two:.3f} s in two: {ratio:.2f} times as fast")
    return int(ratio < WANTED)


if __name__ == "__main__":
    sys.exit(main())
