"""Does sequential halving spend its budget as it should, and find the best turn more often than playouts for all turns alike?

Where the playouts do not matter, they are drawn here: turn i is won with a probability of its own.
"""

from typing import Any

import numpy as np
import pytest
from positions import after_pick, of_seat_to_move, shells

from kdenv.compiler.random import make_rng
from kdenv.policies import policy
from kdenv.policies.flat import Halving
from kdenv.search.budget import Budget
from kdenv.search.kernels import flat

N_TURNS = 16


@pytest.fixture
def chances(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The probability with which each packed turn is won; playouts are replaced by draws."""
    odds, dice = [0.5] * N_TURNS, np.random.default_rng(1)

    def draw(states: Any, seat: int, turns: Any, n: int, first: int, playouts: Any, rng: Any, tally: Any) -> None:
        for i in range(first, first + n):
            won = float(dice.random() < odds[turns[i % len(turns)]])
            for numbers, value in zip(tally, (1, won, won), strict=True):
                numbers[i % len(turns)] += value

    monkeypatch.setattr(flat, "sample_in_rotation", draw)
    return odds


def found(sampling: str, playouts: int, n_turns: int = N_TURNS, steps: tuple[int, ...] = ()) -> tuple[int, list[int]]:
    """The turn that this sampling takes of so many, and the visits of each."""
    searcher = policy(f"mce(sampling={sampling}, playouts={playouts})").searcher  # type: ignore[attr-defined]
    view, turns = of_seat_to_move(after_pick()), np.arange(n_turns)
    worker = searcher.worker(view, turns, searcher.budget, make_rng(1), 0)
    assert worker.run(steps or searcher.budget.steps()) == playouts
    tally = worker.tally()
    left = worker.possible(tally)
    return int(np.where(left, tally.sums / np.maximum(tally.visits, 1), -1).argmax()), tally.visits.tolist()


@pytest.mark.parametrize("steps", [(), (64, 1, 7, 56)])
def test_rounds_have_equal_shares(chances: list[float], steps: tuple[int, ...]) -> None:
    """128 playouts for 16 turns are four rounds of 32: 2 for each turn, 4 for each of 8, 8 for each of 4, 16 for both that are left."""
    chances[:] = [turn / 15 for turn in range(16)]
    _, visits = found("halving", 128, steps=steps)
    assert sorted(visits) == [2] * 8 + [6] * 4 + [14] * 2 + [30] * 2


def test_the_last_round_has_what_is_left(chances: list[float]) -> None:
    """100 playouts for 5 turns are three rounds of 33: 6 for each of 5, 11 for each of 3, and the 37 that are left for two."""
    _, visits = found("halving", 100, n_turns=5)
    assert sorted(visits) == [6, 6, 17, 35, 36]


def test_each_turn_is_tried_once_if_the_budget_allows(chances: list[float]) -> None:
    assert sorted(found("halving", 16)[1]) == [1] * 16
    assert sorted(found("halving", 20)[1]) == [1] * 12 + [2] * 4


def test_the_best_turn_is_found_more_often_than_by_rotation(chances: list[float]) -> None:
    """One turn of 16 is won with probability 0.6, the others with 0.4. 600 searches each: a difference of five standard deviations."""
    chances[:] = [0.4] * N_TURNS
    chances[11] = 0.6
    halving, rotation = (sum(found(sampling, 512)[0] == 11 for _ in range(600)) / 600 for sampling in ("halving", "rotation"))
    assert halving - rotation > 5 * np.sqrt((halving * (1 - halving) + rotation * (1 - rotation)) / 600)


def test_a_turn_that_was_dropped_is_not_taken(chances: list[float]) -> None:
    """Turn 0 wins its first playouts no more often than the others, so a mean that only few playouts made does not bring it back."""
    for _ in range(50):
        best, visits = found("halving", 128)
        assert visits[best] == max(visits)


def test_a_clock_divides_the_time_among_the_rounds(chances: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every playout takes a millisecond; after 40 of 160 the first of four rounds is over, and 48 are the next whole rotation."""
    chances[:] = [turn / 15 for turn in range(16)]
    searcher = policy("mce(sampling=halving, seconds=0.16)").searcher  # type: ignore[attr-defined]
    worker = searcher.worker(of_seat_to_move(after_pick()), np.arange(N_TURNS), Budget(seconds=0.16), make_rng(1), 0)
    assert isinstance(worker, Halving)
    monkeypatch.setattr("time.perf_counter", lambda: worker.start + worker.nodes() / 999.9)
    left = [(worker.run([1]), worker.left)[1] for _ in range(160)]
    assert [left.count(n) for n in (16, 8, 4, 2)] == [47, 80 - 48, 120 - 80, 41]


def test_halving_takes_the_best_guess() -> None:
    """Stake 2: pointing at shell 2 costs nothing on average, and a pass 2.5; the pea is drawn for each playout."""
    table = shells(0, 2)
    search = policy("mce(sampling=halving, score=margin, playouts=4000)").search(table.view(1))  # type: ignore[attr-defined]
    assert table.name(int(search.turn) - 1) == "point 2"
    assert search.playouts == 4000 == search.visits.sum()


def test_threads_halve_on_their_own_and_add_up() -> None:
    search = policy("mce(sampling=halving, threads=2, playouts=400)").search(of_seat_to_move(after_pick()))  # type: ignore[attr-defined]
    assert search.visits.sum() == 400
    assert search.visits[search.best] >= np.sort(search.visits)[-4]
