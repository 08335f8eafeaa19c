"""The search of baselines/search/foresight.py that knows which dominoes come: do its playouts draw what the table draws?"""

import numpy as np
import pytest

import kdenv
from baselines.search.foresight import SEATS, Searcher, finish, main, margin_of, mean_margin
from kdenv.author import Rng, Table, Uniform, make_rng

pytestmark = pytest.mark.cold  # it compiles programs that no other test needs


def _dealt(seed: int) -> tuple[Table, Rng]:
    table, coming = kdenv.table("kingdomino", players=SEATS), make_rng(seed)
    table.run_chance(coming)
    return table, coming


def test_the_draws_are_those_of_the_table_whatever_the_players_do() -> None:
    table, coming = _dealt(5)
    states = np.zeros(4, table.states.dtype)
    states[0] = table.states[0]
    draws, choices = coming.copy(), np.random.default_rng(1)
    finish(Uniform(), states, 0, table.game.buffer(), draws, make_rng(2))
    while not table.over:
        table.play(int(choices.choice(table.legal())))
        table.run_chance(coming)
    assert draws.tolist() == coming.tolist()  # as many draws, from the same generator
    assert states[0]["unseen"] == table.states[0]["unseen"]


def test_who_knows_the_draws_takes_nothing_from_chance_and_who_does_not_does() -> None:
    table, coming = _dealt(5)
    states = np.zeros(4, table.states.dtype)
    states[0] = table.states[0]
    turn, out, points = table.legal()[0] + 1, table.game.buffer(), np.zeros(SEATS, np.int64)

    def found(knows: bool, chance: int) -> float:
        return float(mean_margin(Uniform(), states, turn, 0, 50, knows, coming, make_rng(chance), out, make_rng(3), points))

    assert found(True, 1) == found(True, 2)
    assert found(False, 1) != found(False, 2)


def test_a_game_goes_to_its_end_and_is_the_same_again() -> None:
    assert margin_of(3, 1, 20, True, seed=4) == margin_of(3, 1, 20, True, seed=4)


def test_it_tries_only_turns_that_are_open() -> None:
    table, coming = _dealt(6)
    searcher = Searcher(table, table.seat or 0, 40, False, seed=7)
    assert (searcher.turn(coming) & 0xFFFF) - 1 in table.legal()


def test_it_tells_what_it_has_measured_after_every_deal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["foresight", "--games", "4", "--playouts", "1"])
    main()
    assert capsys.readouterr().out.startswith("   4 games: knows the draws ")


@pytest.mark.parametrize("games", ["0", "6", "-4"])
def test_deals_that_are_not_played_from_every_seat_are_refused(
    games: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["foresight", f"--games={games}"])
    with pytest.raises(SystemExit):
        main()
    assert f"--games {games} is not possible: each deal is played from 4 seats; give a multiple of 4" in capsys.readouterr().err


@pytest.mark.slow
def test_who_knows_the_draws_wins_by_more() -> None:
    margins = {knows: [margin_of(deal, seat, 100, knows, seed=1) for deal in range(15) for seat in range(SEATS)] for knows in (True, False)}
    more = np.array(margins[True]) - np.array(margins[False])
    assert more.mean() > 0
