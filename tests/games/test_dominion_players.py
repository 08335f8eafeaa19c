"""The players of the thesis: their actions, and the results of their matches on the page.

Intervals are five standard deviations of the sample and more; the long runs (--slow) are the sizes of the issue.
"""

from typing import Any

import numpy as np
import pytest
from dominion_at import GAME, at, go

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption
from kdenv.core.questions import choose, choose_at
from kdenv.core.table import Table
from kdenv.core.turns import first_action
from kdenv.core.verbs import CHANCE, apply, apply_chance, begin_at, legal, phase, sample_chance, seat, standings
from kdenv.games.dominion.cards import random_kingdom
from kdenv.games.dominion.heuristics import RULE_PLAYERS, free_play


@kernel
def play_match(one, two, states, n, out, rng, wins):
    """Games from states[2]; one sits first in even games. wins[who, seat] and wins[2, seat] for ties."""
    for game in range(n):
        states[0] = states[2]
        first = game % 2
        while phase(states[0]) != 2:
            if phase(states[0]) == CHANCE:
                apply_chance(states[0], sample_chance(states[0], rng))
            elif seat(states[0]) == first:
                apply(states[0], first_action(choose(one, states, 0, out, rng)))
            else:
                apply(states[0], first_action(choose(two, states, 0, out, rng)))
        standings(states[0], out)
        mine, other = out[first], out[1 - first]
        wins[0 if mine > other else 1 if mine < other else 2, first] += 1


def match(one: str, two: str, n: int, seed: int = 1, **parameters: Any) -> np.ndarray:
    """Per cent of the games in which `one` sat first, second: won, lost, tied."""
    states = np.zeros(3, GAME.state_dtype)
    begin_at(states, 2, *GAME.variant(2))
    wins = np.zeros((3, 2), np.int64)
    play_match(player(one, **parameters), player(two), states, n, np.zeros(64, np.int64), make_rng(seed), wins)
    return wins / (n / 2) * 100


def player(name: str, **parameters: Any) -> Any:
    return RULE_PLAYERS[name].make(**parameters)


SIZES = [pytest.param(4_000, id="4,000"), pytest.param(20_000, id="20,000", marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", SIZES)
def test_single_witch_beats_bmfsm(n: int) -> None:
    won, _, _ = match("single_witch", "bmfsm", n)
    assert abs(won.mean() - 99.6) < (0.2 if n == 20_000 else 0.5)


@pytest.mark.parametrize("n", SIZES)
def test_double_witch_beats_single_witch(n: int) -> None:
    won, lost, _ = match("double_witch", "single_witch", n)
    widen = 0.0 if n == 20_000 else 3.0
    assert abs(won.mean() - 63.4) < 1.5 + widen
    assert abs(won[0] - 72) < 1.5 + widen
    assert abs(lost[1] - 43.1) < 1.5 + widen  # SingleWitch first


@pytest.mark.parametrize("n", SIZES)
def test_double_witch_beats_bmfsm(n: int) -> None:
    assert abs(match("double_witch", "bmfsm", n)[0].mean() - 99.2) < (0.3 if n == 20_000 else 0.8)


@pytest.mark.parametrize("n", SIZES)
def test_the_first_of_two_double_witches_wins_more(n: int) -> None:
    won, lost, _ = match("double_witch", "double_witch", n)
    assert abs((won[0] + lost[1]) / 2 - 57) < (1.5 if n == 20_000 else 4.0)


@pytest.mark.parametrize("n", SIZES)
def test_the_greedy_rollout_player_against_bmfsm_and_single_witch(n: int) -> None:
    assert abs(match("rollout", "bmfsm", n, epsilon=0.0)[0].mean() - 28.9) < (3.0 if n == 20_000 else 5.0)
    assert abs(match("rollout", "single_witch", n, epsilon=0.0)[0].mean() - 2) < 3.0


def test_single_witch_as_in_dominiate_is_stronger_than_in_the_thesis() -> None:
    assert match("single_witch", "single_witch", 4_000, variant="dominiate")[0].mean() > 50


def chosen(table: Table, name: str, **parameters: Any) -> str:
    """Return the player's action here, in words."""
    states = np.zeros(2, GAME.state_dtype)
    states[0] = table.states[0]
    return table.name(first_action(choose(player(name, **parameters), states, 0, np.zeros(64, np.int64), make_rng(1))))


def buying(hand: str, **parts: Any) -> Table:
    """Seat 0 of the test bed at its buy phase."""
    table = at("Village, Gardens, Remodel, Smithy, Market, Witch", hand + " 1 Village", **parts)
    table.play(0)
    return table


@pytest.mark.parametrize(
    "coins, turn, choice",
    [
        (8, 15, "Gold"),
        (5, 15, "Silver"),
        (8, 16, "Province"),
        (7, 16, "Gardens"),
        (4, 16, "Gardens"),
        (3, 16, "Estate"),
        (2, 15, None),
        (1, 16, None),
    ],
)
def test_bmfsm_buys_treasure_for_fifteen_turns_of_its_own(coins: int, turn: int, choice: str | None) -> None:
    assert chosen(buying(f"{coins} Copper", turns=f"{turn} {turn - 1}"), "bmfsm") == (f"buy {choice}" if choice else "end")


@pytest.mark.parametrize(
    "hand, owned, provinces, choice",
    [
        ("8 Copper", "", 8, "Witch"),  # no Gold yet
        ("8 Copper", "1 Gold", 8, "Province"),
        ("5 Copper", "1 Witch", 4, "Silver"),
        ("5 Copper", "1 Witch", 3, "Duchy"),
        ("6 Copper", "1 Witch", 4, "Gold"),
        ("2 Copper", "", 1, "Estate"),
        ("3 Copper", "", 2, "Silver"),
    ],
)
def test_single_witch_buys_as_the_page_says(hand: str, owned: str, provinces: int, choice: str) -> None:
    assert chosen(buying(hand, discard=owned, supply={"Province": provinces}), "single_witch") == f"buy {choice}"


def test_double_witch_buys_a_second_witch() -> None:
    assert chosen(buying("5 Copper", discard="1 Witch"), "double_witch") == "buy Witch"


def test_single_witch_plays_its_witch_before_anything_else() -> None:
    assert chosen(at("Village, Witch", "1 Village 1 Witch"), "single_witch") == "play Witch"


def test_big_money_buys_the_dearest_it_knows() -> None:
    assert [chosen(buying(f"{coins} Copper"), "big_money") for coins in (8, 7, 5, 2)] == ["buy Province", "buy Gold", "buy Silver", "end"]


def test_the_rollout_player_plays_a_card_with_more_actions_first() -> None:
    table = at("Village, Witch", "1 Village 1 Witch")
    assert chosen(table, "rollout", epsilon=0.0) == "play Village"
    assert chosen(table, "rollout", epsilon=0.0, mppaf=False) == "play Witch"


def test_the_rollout_player_never_declines_to_buy() -> None:
    assert chosen(buying("1 Estate"), "rollout", epsilon=0.0) == "buy Copper"


@pytest.mark.parametrize("remodel, card", [("dearest", "Gold"), ("cheapest", "Copper")])
def test_what_the_rollout_player_remodels_is_an_option(remodel: str, card: str) -> None:
    table = at("Remodel", "1 Remodel 1 Copper 1 Gold 1 Estate")
    table.play(table.action("play Remodel"))
    assert chosen(table, "rollout", epsilon=0.0, remodel=remodel) == f"trash {card}"


def test_free_play_is_the_card_that_mppaf_plays_without_search() -> None:
    table = at("Village, Market, Smithy", "1 Village 1 Market 1 Smithy")
    assert table.name(free_play(table.states, 0)) == "play Market"
    assert free_play(at("Smithy", "1 Smithy").states, 0) == -1


@kernel
def plays_legally(one, states, out, listed, rng):
    """Return whether all choices of a player against itself, from states[0] on, are legal."""
    while phase(states[0]) != 2:
        if phase(states[0]) == CHANCE:
            apply_chance(states[0], sample_chance(states[0], rng))
            continue
        action = first_action(choose(one, states, 0, out, rng))
        n = legal(states[0], listed)
        found = False
        for i in range(n):
            found |= listed[i] == action
        if not found:
            return False
        apply(states[0], action)
    return True


@pytest.mark.parametrize(
    "name, parameters",
    [("rollout", {}), ("rollout", {"epsilon": 0.0, "remodel": "random"}), ("big_money", {}), ("bmfsm", {}), ("double_witch", {})],
)
def test_players_choose_legal_actions_in_every_kingdom(name: str, parameters: dict) -> None:
    states, out, listed = np.zeros(2, GAME.state_dtype), np.zeros(64, np.int64), np.zeros(64, np.int64)
    rng = make_rng(3)
    for seed in range(60):
        begin_at(states, 0, *GAME.variant(2 + seed % 3, kingdom=random_kingdom(seed), max_turns=60))
        assert plays_legally(player(name, **parameters), states, out, listed, rng), seed


@pytest.mark.parametrize(
    "name, parameters, message",
    [
        ("single_witch", {"variant": "mine"}, "variant may be thesis or dominiate"),
        ("rollout", {"epsilon": 2}, "epsilon is a number from 0 to 1"),
        ("rollout", {"remodel": "best"}, "remodel may be dearest, random or cheapest"),
    ],
)
def test_bad_parameters_are_told_in_a_sentence(name: str, parameters: dict, message: str) -> None:
    with pytest.raises(BadOption, match=message):
        player(name, **parameters)


# How the players answer what cards ask


@pytest.mark.parametrize(
    "hand, discarded",
    [
        ("1 Copper 1 Estate 1 Duchy 1 Gold 1 Silver", ["Estate", "Duchy"]),
        ("3 Copper 1 Silver 1 Gold", ["Copper", "Copper"]),
        ("2 Copper 1 Village 1 Province 1 Gold", ["Copper", "Province"]),
    ],
)
def test_players_discard_junk_first_and_then_what_is_cheapest(hand: str, discarded: list[str]) -> None:
    table = at("Militia, Village", "1 Militia", others=(hand,), deck_1="5 Copper")
    table.play(table.action("play Militia"))
    for card in discarded:  # the cards that a seat discards are named in the order of the piles
        assert chosen(table, "big_money") == f"discard {card}"
        table.play(table.action(f"discard {card}"))


@pytest.mark.parametrize(
    "drawn, discards",
    [
        ("Estate", ("yes", "no")),
        ("Village", ("no", "yes")),
        ("Copper", ("no", "no")),  # it is no junk, but costs nothing
    ],
)
def test_a_spy_discards_junk_of_its_own_and_what_costs_others_something(drawn: str, discards: tuple[str, str]) -> None:
    table = at("Spy, Village", "1 Spy 1 Gold", "2 Copper" if drawn == "Copper" else f"1 Copper 1 {drawn}", deck_1=f"2 {drawn}")
    go(table, "play Spy", "draw Copper", f"draw {drawn}")
    assert chosen(table, "big_money") == discards[0]
    go(table, "no", f"draw {drawn}")
    assert chosen(table, "big_money") == discards[1]


@pytest.mark.parametrize("stolen, takes", [("Gold", "yes"), ("Copper", "no")])
def test_a_thief_takes_what_costs_something(stolen: str, takes: str) -> None:
    table = at("Thief", "1 Thief", deck_1=f"1 {stolen} 1 Estate")
    go(table, "play Thief", f"draw {stolen}", "draw Estate")
    assert chosen(table, "big_money") == takes


@pytest.mark.parametrize("village, sets_aside", [("", "yes"), ("1 Village", "no")])
def test_library_sets_an_action_aside_if_none_can_be_played(village: str, sets_aside: str) -> None:
    table = at("Library, Village, Smithy", f"1 Library {village}", "1 Copper 1 Smithy", others=("5 Copper",))
    if village:
        go(table, "play Village", "draw Copper")
    go(table, "play Library", *(() if village else ("draw Copper",)), "draw Smithy")
    assert chosen(table, "big_money") == sets_aside


def test_what_bureaucrat_touches_is_put_back_cheapest_first() -> None:
    table = at("Bureaucrat", "1 Bureaucrat", others=("1 Province 1 Duchy 3 Copper",))
    table.play(table.action("play Bureaucrat"))
    assert (table.seat, chosen(table, "big_money")) == (1, "put back Duchy")


def test_with_epsilon_1_the_rollout_player_buys_any_card_or_none_with_the_same_odds() -> None:
    table = buying("2 Copper")
    states, rng, buffer = np.zeros(2, GAME.state_dtype), make_rng(1), np.zeros(64, np.int64)
    counts = dict.fromkeys(table.legal(), 0)
    for _ in range(2_000):
        states[0] = table.states[0]
        counts[int(first_action(choose_at(player("rollout", epsilon=1.0), states, 0, buffer, rng)))] += 1
    assert len(counts) == 3  # a Copper, an Estate, and to end
    assert all(abs(n - 2_000 / 3) < 5 * (2_000 * 1 / 3 * 2 / 3) ** 0.5 for n in counts.values())
