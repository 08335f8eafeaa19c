"""Are playouts and seconds spent as told, and can a search be interrupted?"""

import random

import pytest
from dominion_at import at, go
from positions import after_pick, of_seat_to_move

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.search import budget
from kdenv.search.budget import Budget


class Clock:
    """A clock that moves only while playouts are made: each takes a millisecond."""

    def __init__(self) -> None:
        self.now = 0.0
        self.steps: list[int] = []

    def spend(self, budget: Budget, least: int = 1) -> None:
        for n in budget.steps(least):
            self.steps.append(n)
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
    clock.spend(Budget(seconds=seconds), least=2)
    assert seconds <= clock.now <= seconds + 0.002


def test_every_turn_is_tried_however_short_the_time(clock: Clock) -> None:
    clock.spend(Budget(seconds=0.001), least=40)
    assert clock.steps == [40]


@pytest.mark.parametrize("playouts", [1, 64, 100, 5000])
def test_the_playouts_are_spent_to_the_last(clock: Clock, playouts: int) -> None:
    clock.spend(Budget(playouts=playouts), least=7)
    assert sum(clock.steps) == playouts


@pytest.mark.parametrize("most", [1, 10, 64, 1000])
def test_nodes_are_kept_to_where_every_playout_makes_one(clock: Clock, most: int) -> None:
    """A tree begins with a root, so the last node is the playout before. One playout is made even if the root is all there may be."""
    for n in Budget(nodes=most).steps(nodes=lambda: 1 + sum(clock.steps)):
        clock.steps.append(n)
        clock.now += n / 1000
    assert sum(clock.steps) == max(most - 1, 1)


def test_a_whole_tree_ends_a_budget_of_nodes(clock: Clock) -> None:
    """It grows no more nodes; the search ends after eight times as many playouts as nodes were allowed."""
    for n in Budget(nodes=50).steps(nodes=lambda: 7):
        clock.steps.append(n)
        clock.now += n / 1000
    assert sum(clock.steps) == 8 * 50


@pytest.mark.parametrize("spending", [Budget(seconds=2), Budget(playouts=5000)])
def test_a_search_can_be_interrupted_fifty_times_a_second(clock: Clock, spending: Budget) -> None:
    clock.spend(spending, least=2)
    assert max(clock.steps) <= max(64, 21)  # playouts; 20 ms


def test_a_search_by_the_clock_ends(tmp_path: object) -> None:
    searching = policy("mce(seconds=0.05)")
    view = of_seat_to_move(after_pick())
    searching.prepare(view)
    before = budget.time.perf_counter()
    searching.act(view)
    assert 0.05 <= budget.time.perf_counter() - before < 5
    assert searching.n_playouts >= 100


@pytest.mark.parametrize("number, playouts", [(0, 30), (1, 20), (2, 10), (3, 10), (12, 10)])
def test_a_round_has_its_playouts_and_the_last_number_is_for_all_later_rounds(number: int, playouts: int) -> None:
    assert Budget(by_round=(30, 20, 10)).for_decision(0.0, lambda: 1.0, lambda: number) == Budget(playouts=playouts)


@pytest.mark.parametrize(
    "game, text",
    [
        ("kingdomino", "mce(playouts=[7, 6, 5, 4, 3])"),
        ("kingdomino", "mce(playouts=[9, 40], sampling=halving)"),
        ("kingdomino", "uct(playouts=[7, 6, 5, 4, 3], threads=2)"),
        ("dominoes", "ismcts(playouts=[7, 6, 5])"),
        ("dominoes", "pimc(playouts=[3, 2], alpha=2)"),
        ("dominion", "bandit(playouts=[7, 6, 5])"),
        ("carcassonne", "uct(playouts=[2, 3])"),
    ],
)
def test_a_search_makes_the_playouts_of_the_round_of_its_decision(game: str, text: str) -> None:
    searching, table, rng, dice = policy(text), kdenv.table(game), make_rng(3), random.Random(3)
    given = searching.playouts  # type: ignore[attr-defined]
    rounds = []
    table.run_chance(rng)
    while not table.over and len(rounds) < 25:
        assert table.seat is not None
        view = table.view(table.seat)
        found = searching.search(view, thorough=False)
        rounds.append(find_game(game).details.round_of(table.states))
        assert len(found.turns) == 1 or found.playouts == given[min(rounds[-1], len(given) - 1)]
        table.decide(dice.choice(table.legal()), rng)
    assert len(set(rounds)) > 1


def test_seconds_for_a_turn_are_divided_by_its_decisions() -> None:
    """A hand with a Copper and two Cellars: two actions at most, then a card is bought."""
    table = at("Cellar", "2 Cellar 1 Copper", actions="2")
    search = policy("mce(turn_seconds=1.2)")
    number = table.game.turn_of
    assert number is not None
    left = search.searcher.decisions_of_turn(table.view(0))
    assert left > 1
    assert search._budget(table.view(0)) == Budget(seconds=1.2 / left)
    search.memory.seconds += 0.4  # of searching
    before = number(table.states)
    go(table, "play Cellar")
    while table.at_chance:
        table.chance(table.chances()[0][0])
    assert number(table.states) == before
    left = search.searcher.decisions_of_turn(table.view(0))
    assert search._budget(table.view(0)) == Budget(seconds=pytest.approx(0.8 / max(1, left)))
    search.memory.seconds += 0.8
    assert search._budget(table.view(0)) == Budget(seconds=0.001)
    rng = random.Random(1)
    while table.seat != 0 or number(table.states) == before:
        if table.at_chance:
            table.chance(table.chances()[0][0])
        else:
            table.play(rng.choice(table.legal()))
    left = search.searcher.decisions_of_turn(table.view(0))
    assert search._budget(table.view(0)) == Budget(seconds=pytest.approx(1.2 / max(1, left)))


def test_one_decision_is_left_where_a_card_is_bought() -> None:
    table = at("Cellar", "1 Estate", stage="buy", node="buy", coins="3")
    assert policy("mce(turn_seconds=1)").searcher.decisions_of_turn(table.view(0)) == 1


@pytest.mark.parametrize("game", ["kingdomino", "carcassonne", "dominoes"])
def test_a_turn_is_one_decision_in_other_games(game: str) -> None:
    table = kdenv.table(game)
    table.run_chance(make_rng(1))
    search = policy("mce(turn_seconds=0.5)")
    search.memory.seconds = 7.0
    assert table.seat is not None
    assert search._budget(table.view(table.seat)) == Budget(seconds=0.5)
