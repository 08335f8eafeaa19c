"""Do the kernels of Dominion and its naive oracle, which has real decks in order, agree at every step of whole games?"""

import random
from typing import Any

import pytest
from contract import ranking
from naive.dominion import Dominion

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.dominion.cards import CARDS, random_kingdom
from kdenv.games.dominion.tables import KINGDOMS

GAME = find_game("dominion")
PILES = ("hand", "deck", "discard")


def table_and_oracle(kingdom: list[str], players: int, seed: int, supply: str = "standard", **options: Any) -> tuple[Table, Dominion]:
    table = Table(GAME, players, kingdom=kingdom, supply=supply, **options)
    return table, Dominion(players, kingdom, supply=supply, rng=random.Random(seed), **options)


def counts(s: Any, pile: Any) -> dict[str, int]:
    return {CARDS[s["card"][slot]].name: int(n) for slot, n in enumerate(pile) if n}


def same_table(table: Table, oracle: Dominion) -> None:
    """Every card lies in the same pile, save that a card Library asks about is in hand here, set aside there."""
    s = table.states[0]
    there = oracle.position()
    for seat, piles in enumerate(there["seats"]):
        for pile in PILES:
            here = counts(s, s[pile][seat])
            if pile == "hand" and s["drawn"] >= 0 and s["turn"] == seat:
                asked = CARDS[s["card"][s["drawn"]]].name
                here[asked] -= 1
                here = {name: n for name, n in here.items() if n}
            assert here == piles[pile], pile
        assert counts(s, s["owned"][seat]) == total(piles[pile] for pile in (*PILES, "play", "aside"))
        top = [CARDS[s["card"][slot]].name for slot in s["top"][seat][: s["n_top"][seat]]]
        assert top[::-1] == piles["top"]
    assert counts(s, s["play"]) == there["seats"][s["turn"]]["play"]
    assert counts(s, s["supply"]) == {name: n for name, n in there["supply"].items() if n}
    assert counts(s, s["trash"]) == there["trash"]
    if s["stage"] in (1, 2):
        assert [s["actions"], s["buys"], s["coins"]] == [there[name] for name in ("actions", "buys", "coins")]


def total(piles: Any) -> dict[str, int]:
    names: dict[str, int] = {}
    for pile in piles:
        for name, n in pile.items():
            names[name] = names.get(name, 0) + n
    return names


def play_in_lock_step(table: Table, oracle: Dominion, dice: random.Random) -> int:
    """A game of random actions, hands drawn as chance likes, compared at every step; returns how many were decided.

    Seldom ends the phase early: cards get played.
    """
    decisions = 0
    while True:
        phase = oracle.phase()
        assert (table.at_chance, table.over) == (phase == "chance", phase == "over")
        assert table.scores() == oracle.scores()
        same_table(table, oracle)
        if phase == "over":
            assert ranking(table.standings()) == ranking([-place for place in oracle.standings()])
            return decisions
        if phase == "chance":
            weights = oracle.chances()
            whole = sum(weights.values())
            assert table.chances() == [(slot, weights[slot] / whole) for slot in sorted(weights)]
            [slot] = dice.choices(list(weights), list(weights.values()))
            table.chance(slot)
            oracle.apply_chance(slot)
        else:
            legal = oracle.legal()
            assert (table.seat, table.legal()) == (oracle.seat(), legal)
            action = dice.choice(legal if len(legal) == 1 or dice.random() < 0.2 else [action for action in legal if action])
            table.play(action)
            oracle.apply(action)
            decisions += 1


def many(few: int, lots: int) -> list[Any]:
    return [pytest.param(few, id=f"{few}"), pytest.param(lots, id=f"{lots}", marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", many(1, 40))
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize("name", KINGDOMS)
def test_engine_and_oracle_agree_on_the_kingdoms_of_the_rulebook(name: str, players: int, n: int) -> None:
    for seed in range(n):
        table, oracle = table_and_oracle(list(KINGDOMS[name]), players, seed, max_turns=25)
        assert play_in_lock_step(table, oracle, random.Random(seed)) > 0


@pytest.mark.parametrize("n", many(30, 1000))
def test_engine_and_oracle_agree_on_random_kingdoms(n: int) -> None:
    for seed in range(n):
        options = {"supply": "thesis" if seed % 3 == 0 else "standard", "curses": seed % 2 == 0, "max_turns": 30}
        table, oracle = table_and_oracle(random_kingdom(seed), 2 + seed % 3, seed, **options)
        assert play_in_lock_step(table, oracle, random.Random(seed)) > 0
