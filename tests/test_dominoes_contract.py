"""Do the kernels of dominoes and its naive oracle agree at every step of whole rounds and matches?"""

import pytest
from contract import play_in_lock_step
from naive.dominoes import Dominoes

RULES = ["paper", "dominai_code", "openspiel", "puerto_rico"]
VARIANTS = [
    {"mode": "round"},
    {"mode": "match"},
    {"mode": "match", "calls": True},
    {"mode": "round", "force_66": False},
    {"mode": "match", "force_66": False, "calls": True},
]
ROUNDS_IN = {"round": 1, "match": 8}  # about


def rounds(many: int, few: int) -> list:
    return [pytest.param(few, id=f"{few}"), pytest.param(many, id=f"{many}", marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", rounds(2000, 80))
@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: " ".join(f"{name}={value}" for name, value in options.items()))
@pytest.mark.parametrize("rules", RULES)
def test_engine_and_oracle_agree_throughout(rules: str, options: dict, n: int) -> None:
    for seed in range(n // ROUNDS_IN[options["mode"]]):
        play_in_lock_step("dominoes", Dominoes(rules=rules, **options), seed, 4, rules=rules, **options)
