"""The compiled rules of Dominion and the naive oracle, which has real decks in order, agree at every step of whole games."""

import random
from typing import Any

import pytest
from compiled_dominion import CompiledDominion
from naive.dominion import Dominion

from kdenv.games.dominion.cards import random_kingdom
from kdenv.games.dominion.tables import KINGDOMS


def both_engines(kingdom: list[str], players: int, seed: int, **options: Any) -> tuple[CompiledDominion, Dominion]:
    engine = CompiledDominion(players, kingdom=kingdom, **options)
    return engine, Dominion(players, kingdom, rng=random.Random(seed), **options)


def play_in_lock_step(engine: CompiledDominion, oracle: Dominion, dice: random.Random) -> int:
    """Play a game of random actions on both engines, compare everything at every step, and return the number of decisions.

    Phases are seldom ended early, so that cards get played.
    """
    decisions = 0
    while True:
        phase = oracle.phase()
        assert (engine.phase(), engine.scores()) == (phase, oracle.scores())
        assert engine.position() == oracle.position()
        if phase == "over":
            assert engine.standings() == oracle.standings()
            return decisions
        assert engine.seat() == oracle.seat()
        if phase == "chance":
            weights = oracle.chances()
            assert engine.chances() == weights
            [slot] = dice.choices(list(weights), list(weights.values()))
            engine.apply_chance(slot)
            oracle.apply_chance(slot)
        else:
            legal = oracle.legal()
            assert engine.legal() == legal
            action = dice.choice(legal if len(legal) == 1 or dice.random() < 0.2 else [action for action in legal if action])
            engine.apply(action)
            oracle.apply(action)
            decisions += 1


def many(few: int, lots: int) -> list[Any]:
    return [pytest.param(few, id=f"{few}"), pytest.param(lots, id=f"{lots}", marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", many(1, 40))
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize("name", KINGDOMS)
def test_engine_and_oracle_agree_on_the_kingdoms_of_the_rulebook(name: str, players: int, n: int) -> None:
    for seed in range(n):
        assert play_in_lock_step(*both_engines(list(KINGDOMS[name]), players, seed, max_turns=25), random.Random(seed)) > 0


@pytest.mark.parametrize("n", many(30, 1000))
def test_engine_and_oracle_agree_on_random_kingdoms(n: int) -> None:
    for seed in range(n):
        options = {"supply": "thesis" if seed % 3 == 0 else "standard", "curses": seed % 2 == 0, "max_turns": 30}
        assert play_in_lock_step(*both_engines(random_kingdom(seed), 2 + seed % 3, seed, **options), random.Random(seed)) > 0
