"""The contract between an engine and its naive oracle: played in lock-step, they say the same at every step."""

import random
from typing import Any

from kdenv.core.table import Table
from kdenv.games import find_game


def play_in_lock_step(name: str, oracle: Any, seed: int, players: int, **options: Any) -> int:
    """Play one random game on both, comparing everything at every step; return the number of decisions."""
    table = Table(find_game(name), players, **options)
    dice = random.Random(seed)
    decisions = 0
    where = f"{name} seed={seed} players={players} {options}"
    while True:
        phase = oracle.phase()
        assert (table.at_chance, table.over) == (phase == "chance", phase == "over"), where
        assert table.scores() == list(oracle.scores()), where
        if phase == "over":
            assert ranking(table.standings()) == ranking(oracle.standings()), where
            return decisions
        if phase == "chance":
            weights = oracle.chances()
            total = sum(weights.values())
            assert table.chances() == [(outcome, weights[outcome] / total) for outcome in sorted(weights)], where
            [outcome] = dice.choices(list(weights), list(weights.values()))
            table.chance(outcome)
            oracle.apply_chance(outcome)
        else:
            assert table.seat == oracle.seat(), where
            legal = oracle.legal()
            assert table.legal() == legal, f"{where} at {table.position()}"
            action = dice.choice(legal)
            table.play(action)
            oracle.apply(action)
            decisions += 1


def step_both(table: Table, oracle: Any, dice: random.Random) -> None:
    """Take the same random step on both, of chance or of the seat that decides. Nothing is compared."""
    if table.at_chance:
        outcomes, odds = zip(*table.chances(), strict=True)
        (outcome,) = dice.choices(outcomes, odds)
        table.chance(outcome)
        oracle.apply_chance(outcome)
    else:
        action = dice.choice(table.legal())
        table.play(action)
        oracle.apply(action)


def ranking(standings: list[Any]) -> list[int]:
    """The place of each seat, whatever the standings are made of."""
    return [sum(other > mine for other in standings) for mine in standings]
