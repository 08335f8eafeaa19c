"""Do the kernels of Carcassonne and its naive oracle agree at every step of whole games?"""

import random

import pytest
from contract import play_in_lock_step, step_both
from naive.carcassonne import LETTERS, NO_MEEPLE, Carcassonne

from kdenv.core.table import Table
from kdenv.games import find_game

GAME = find_game("carcassonne")


def games(many: int, few: int) -> list:
    return [pytest.param(few, id=f"{few}"), pytest.param(many, id=f"{many}", marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", games(38, 8))
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("unplaceable", ["return", "discard"])
def test_engine_and_oracle_agree_throughout(players: int, unplaceable: str, n: int) -> None:
    for seed in range(n):
        assert play_in_lock_step("carcassonne", Carcassonne(players, unplaceable), seed, players, unplaceable=unplaceable) > 0


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_engine_and_oracle_agree_on_the_meeples_in_hand(players: int) -> None:
    table, oracle, dice = Table(GAME, players), Carcassonne(players), random.Random(players)
    while not table.over:
        step_both(table, oracle, dice)
        assert table.states[0]["hand"][:players].tolist() == oracle.meeples()


def test_oracle_refuses_what_is_not_legal() -> None:
    game = Carcassonne()
    with pytest.raises(ValueError, match="not legal"):
        game.apply(NO_MEEPLE)
    game.apply_chance(LETTERS.index("B"))
    with pytest.raises(ValueError, match="cannot be drawn"):
        game.apply_chance(LETTERS.index("B"))
