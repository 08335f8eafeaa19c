"""Are playouts and seconds spent as told, and can a search be interrupted?"""

import numpy as np
import pytest
from positions import after_pick, of_seat_to_move

from kdenv.policies import policy
from kdenv.search import budget
from kdenv.search.budget import Budget


class Clock:
    """A clock that moves only while playouts are made: each takes a millisecond."""

    def __init__(self) -> None:
        self.now = 0.0
        self.steps: list[tuple[int, int]] = []

    def work(self, n: int, done: int) -> None:
        self.steps.append((n, done))
        self.now += n / 1000

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    return clock


@pytest.mark.parametrize("seconds", [0.005, 0.1, 1, 3])
def test_seconds_are_kept_to_a_playout(clock: Clock, seconds: float) -> None:
    playouts = Budget(seconds=seconds).spend(clock.work, least=2)
    assert seconds <= clock.now <= seconds + 0.002
    assert playouts == sum(n for n, _ in clock.steps)


def test_every_turn_is_tried_however_short_the_time(clock: Clock) -> None:
    assert Budget(seconds=0.001).spend(clock.work, least=40) == 40


@pytest.mark.parametrize("playouts", [1, 64, 100, 5000])
def test_the_playouts_are_spent_to_the_last(clock: Clock, playouts: int) -> None:
    assert Budget(playouts=playouts).spend(clock.work, least=7) == playouts
    assert [done for _, done in clock.steps] == np.cumsum([0, *(n for n, _ in clock.steps[:-1])]).tolist()


@pytest.mark.parametrize("spending", [Budget(seconds=2), Budget(playouts=5000)])
def test_a_search_can_be_interrupted_fifty_times_a_second(clock: Clock, spending: Budget) -> None:
    spending.spend(clock.work, least=2)
    assert max(n for n, _ in clock.steps) <= max(64, 21)  # playouts; 20 ms


def test_a_search_by_the_clock_ends(tmp_path: object) -> None:
    searching = policy("mce(seconds=0.05)")
    view = of_seat_to_move(after_pick())
    searching.prepare(view)
    before = budget.time.perf_counter()
    searching.act(view)
    assert 0.05 <= budget.time.perf_counter() - before < 5
    assert searching.n_playouts >= 100
