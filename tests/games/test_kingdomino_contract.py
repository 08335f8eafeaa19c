"""Do the kernels of Kingdomino and its naive oracle agree at every step of whole games?"""

import pytest
from contract import play_in_lock_step
from naive.kingdomino import Kingdomino

VARIANTS = [
    (4, {}),
    (3, {}),
    (2, {}),
    (2, {"size": 7, "dominoes": 48, "tiebreak": "official"}),
    (4, {"size": 3, "middle": False}),
    (3, {"size": 7, "harmony": False, "tiebreak": "official"}),
]


def games(many: int, few: int) -> list:
    return [pytest.param(few, id=f"{few}"), pytest.param(many, id=f"{many}", marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", games(1000, 25))
@pytest.mark.parametrize("players, options", VARIANTS)
def test_engine_and_oracle_agree_throughout(players: int, options: dict, n: int) -> None:
    for seed in range(n):
        assert play_in_lock_step("kingdomino", Kingdomino(players, **options), seed, players, **options) > 0
