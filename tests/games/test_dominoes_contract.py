"""The kernels of dominoes and its naive oracle agree at every step of whole rounds and matches."""

import pytest
from contract import play_in_lock_step
from naive.dominoes import Dominoes


class DrawnLead(Dominoes):
    """The oracle where the lead of the first round is drawn by lot, and no 6-6 decides it."""

    drawn = False

    def phase(self) -> str:
        return super().phase() if self.drawn else "chance"

    def chances(self) -> dict[int, int]:
        return super().chances() if self.drawn else dict.fromkeys(range(28, 32), 1)

    def apply_chance(self, outcome: int) -> None:
        if self.drawn:
            super().apply_chance(outcome)
        else:
            self.drawn, self.leader = True, outcome - 28

    def _holder_of_66_leads(self) -> bool:
        return False

    def _must_open_with_66(self) -> bool:
        return False


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
        assert play_in_lock_step("dominoes", Dominoes(rules=rules, **options), seed, 4, rules=rules, **options) > 0


@pytest.mark.parametrize("n", rounds(2000, 40))
@pytest.mark.parametrize("rules", RULES)
def test_engine_and_oracle_agree_when_the_lead_is_drawn(rules: str, n: int) -> None:
    for seed in range(n // ROUNDS_IN["match"]):
        assert play_in_lock_step("dominoes", DrawnLead(rules=rules), seed, 4, rules=rules, lead="drawn") > 0
