"""Afterstates: the legal turns of positions, and what the seat to move observes after each."""

import numpy as np
import pytest
from positions import of_seat_to_move
from random_games import random_game

from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.afterstates import AfterstateLister
from kdenv.core.errors import BadOption, WrongOrder
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.games import find_game, names

SMALLEST = {"kingdomino": "prospects", "dominion": "counts", "carcassonne": "compact", "dominoes": "ends"}


def positions(game: str) -> list[Table]:
    """Positions of random games in which a seat decides."""
    tables = [random_game(find_game(game), seed, None, decisions) for seed, decisions in ((1, 1), (2, 6), (3, 15), (4, 30))]
    for table in tables:
        table.run_chance(make_rng(1))
    return [table for table in tables if table.seat is not None]


def naive_turns(view: View, most_decisions: int) -> list[tuple[int, ...]]:
    """The turns open in a view, found by playing every legal action on copies of its position."""
    game, found = view.game, []

    def follow(states: np.ndarray, actions: tuple[int, ...]) -> None:
        decides = verbs.phase_at(states, 0) == verbs.DECIDE and verbs.seat_at(states, 0) == view.seat
        if actions and (not decides or len(actions) == most_decisions):
            found.append(actions)
            return
        legal = np.zeros(game.max_legal, np.int64)
        for action in legal[: verbs.legal_at(states, 0, legal)].tolist():
            after = states.copy()
            verbs.apply_at(after, 0, action)
            follow(after, (*actions, action))

    follow(view.states.copy(), ())
    return found


@pytest.mark.parametrize("game", names())
def test_afterstates_are_what_the_seat_observes_after_each_of_its_turns(game: str) -> None:
    for table in positions(game):
        view = of_seat_to_move(table)
        found = view.afterstates(SMALLEST[game])
        turns = naive_turns(view, view.game.most_decisions)
        assert view.turns() == turns
        assert found.actions.tolist() == [actions[0] for actions in turns]
        assert found.position.tolist() == [0] * len(turns) and found.starts.tolist() == [0, len(turns)]
        observer = view.game.observer(view.players, view.variant, SMALLEST[game])
        for row, actions in enumerate(turns):
            states = view.states.copy()
            for action in actions:
                verbs.apply_at(states, 0, action)
            assert found.observations[row].tobytes() == observer.vector(states, 0, view.seat).tobytes()
            assert found.over[row] == (verbs.phase_at(states, 0) == verbs.OVER)


@pytest.mark.parametrize("game", names())
def test_many_positions_at_once_have_the_rows_of_each(game: str) -> None:
    tables = positions(game)
    states = np.concatenate([table.states for table in tables])
    seats = np.array([table.seat for table in tables])
    observer = tables[0].game.observer(tables[0].players, tables[0].variant, SMALLEST[game])
    for whole in (True, False):
        found = AfterstateLister(tables[0].game, observer).list(states, seats, whole=whole)
        each = [of_seat_to_move(table).afterstates(SMALLEST[game], whole=whole) for table in tables]
        assert found.observations.tobytes() == b"".join(one.observations.tobytes() for one in each)
        assert found.turns.tolist() == [turn for one in each for turn in one.turns.tolist()]
        assert found.position.tolist() == [i for i, one in enumerate(each) for _ in range(len(one))]
        assert found.starts.tolist() == [0, *np.cumsum([len(one) for one in each]).tolist()]


@pytest.mark.parametrize("game", names())
def test_rows_do_not_depend_on_what_the_seat_cannot_know(game: str) -> None:
    for table in positions(game):
        seat, observer = table.seat, table.game.observer(table.players, table.variant, SMALLEST[game])
        assert seat is not None
        rows = set()
        for number in range(5):
            states = table.states.copy()
            if number:
                verbs.resample_hidden_at(states, 0, seat, make_rng(number))
            found = AfterstateLister(table.game, observer).list(states, np.array([seat]))
            rows.add(found.observations.tobytes() + found.turns.tobytes())
        assert len(rows) == 1


def test_the_list_grows_when_there_are_more_turns_than_it_has_room_for() -> None:
    table = max(positions("carcassonne"), key=lambda each: len(of_seat_to_move(each).turns()))
    observer = table.game.observer(table.players, table.variant, "compact")
    alone = AfterstateLister(table.game, observer).list(table.states, np.array([table.seat]))
    n = 1 + 1000 // len(alone)
    found = AfterstateLister(table.game, observer).list(np.repeat(table.states, n), np.full(n, table.seat))
    assert len(alone) > 32 and found.turns.tolist() == alone.turns.tolist() * n


def test_rows_are_written_to_memory_of_the_caller() -> None:
    table = positions("kingdomino")[0]
    observer = table.game.observer(table.players, table.variant, "prospects")
    lister, seats = AfterstateLister(table.game, observer), np.array([table.seat])
    wanted = lister.list(table.states, seats).observations
    out = np.full((len(wanted) + 3, observer.size), 7, np.float32)
    found = lister.list(table.states, seats, out=out).observations
    assert np.shares_memory(found, out) and found.tobytes() == wanted.tobytes() and (out[len(wanted) :] == 7).all()
    with pytest.raises(BadOption, match=rf"out has {len(wanted) - 1} rows, and there are {len(wanted)} turns; give more rows"):
        lister.list(table.states, seats, out=out[: len(wanted) - 1])
    for bad in (out.astype(np.float64), out[:, :-1], out.T.copy().T):
        with pytest.raises(BadOption, match="out"):
            lister.list(table.states, seats, out=bad)


def test_the_best_row_of_each_position_is_the_first_of_the_greatest() -> None:
    tables = positions("dominoes")
    observer = tables[0].game.observer(tables[0].players, tables[0].variant, "ends")
    states, seats = np.concatenate([table.states for table in tables]), np.array([table.seat for table in tables])
    found = AfterstateLister(tables[0].game, observer).list(states, seats)
    values = np.random.default_rng(1).integers(0, 3, len(found))
    best = found.best(values)
    for i, row in enumerate(best):
        mine = slice(found.starts[i], found.starts[i + 1])
        assert row == found.starts[i] + values[mine].argmax()
    with pytest.raises(BadOption, match=f"shape .*; give one number for each of the {len(found)} rows"):
        found.best(values[1:])
    with pytest.raises(BadOption, match="has nan"):
        found.best(np.full(len(found), np.nan))


def test_sampled_rows_have_the_odds_of_the_softmax() -> None:
    view = of_seat_to_move(positions("kingdomino")[0])
    found, rng, n = view.afterstates("prospects"), np.random.default_rng(2), 20_000
    logits = np.linspace(-1, 1, len(found))
    counts = np.bincount([int(found.sample(logits, rng)[0]) for _ in range(n)], minlength=len(found))
    assert len(found) >= 3
    odds = np.exp(logits) / np.exp(logits).sum()
    assert (np.abs(counts - n * odds) < 5.5 * np.sqrt(n * odds * (1 - odds))).all()  # one false alarm in ten million


def test_a_seat_that_does_not_decide_has_no_turns() -> None:
    table = positions("kingdomino")[0]
    assert table.seat is not None
    other = table.view((table.seat + 1) % table.players)
    assert other.turns() == []
    with pytest.raises(WrongOrder, match="does not decide here"):
        other.afterstates()
