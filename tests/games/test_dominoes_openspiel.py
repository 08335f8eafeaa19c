"""Does the openspiel preset play like OpenSpiel's python_team_dominoes? Their observation is wrong and not compared."""

import random

import pytest

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.dominoes.tables import CALL, PASS, TILES

pyspiel = pytest.importorskip("pyspiel", reason="needs open_spiel")
theirs = pytest.importorskip("open_spiel.python.games.team_dominoes", reason="needs open_spiel")


def our_action(number: int) -> int:
    """Our number for one of their actions."""
    action = theirs._ACTIONS[number]
    i, j = map(int, action.tile)
    if action.edge is None:
        return 7 * i + j
    covered = int(action.edge)
    return 7 * covered + (j if covered == i else i)


def play_both(seed: int) -> int:
    """Play a random round on both; return the number of tiles laid."""
    dice = random.Random(seed)
    game = pyspiel.load_game("python_team_dominoes").new_initial_state()
    table = Table(find_game("dominoes"), rules="openspiel", mode="round")
    deal = dice.sample(range(28), 28)
    for outcome in deal:  # ours gives seven to each seat in turn
        table.chance(outcome)
    for i in range(28):  # theirs one to each seat in turn
        game.apply_action(deal[7 * (i % 4) + i // 4])
    n = 0
    while not game.is_terminal():
        while table.legal() == [PASS]:  # they skip who cannot play
            table.play(PASS)
        assert game.current_player() == table.seat
        by_ours = {our_action(number): number for number in game.legal_actions()}
        assert sorted(by_ours) == table.legal(), table.position()
        action = dice.choice(table.legal())
        table.play(action)
        game.apply_action(by_ours[action])
        n += 1
    while not table.over:  # the four passes of a blocked round
        assert table.legal() == [PASS]
        table.play(PASS)
    assert game.returns() == table.scores()
    return n


@pytest.mark.parametrize("n", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_legal_moves_ends_and_returns_are_equal(n):
    laid = [play_both(seed) for seed in range(n)]
    assert max(laid) == 25 or n < 1000


def test_their_tiles_are_in_our_order():
    assert [tuple(map(int, tile)) for tile in theirs._DECK] == list(TILES)
    assert CALL == PASS + 1
