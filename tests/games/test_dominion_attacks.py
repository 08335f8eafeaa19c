"""The five attacks of first-edition Dominion and the Moat, one fact a test, from a written position, on both engines."""

from __future__ import annotations

import pytest
from dominion_scene import ENGINES, Scene, scene_of, seat


@pytest.fixture(params=list(ENGINES))
def scene(request: pytest.FixtureRequest) -> Scene:
    """A position, by seats, in the engine under test."""
    return scene_of(request.param)


# Bureaucrat


def test_bureaucrat_puts_a_silver_on_the_deck(scene: Scene) -> None:
    game = scene(seat(hand="Bureaucrat", deck="Copper"), seat()).do("play Bureaucrat")
    assert (game.top(0), game.left("Silver")) == (["Silver"], 39)


def test_bureaucrat_makes_silver_the_deck_if_there_is_none(scene: Scene) -> None:
    assert scene(seat(hand="Bureaucrat", discard="3 Copper"), seat()).do("play Bureaucrat").zone(0, "deck") == "Silver"


def test_bureaucrat_attacks_even_without_silver(scene: Scene) -> None:
    game = scene(seat(hand="Bureaucrat"), seat(hand="Duchy, Copper"), supply={"Silver": 0}).do("play Bureaucrat")
    assert (game.zone(0, "deck"), game.top(1)) == ("", ["Duchy"])


def test_bureaucrat_lets_the_victim_choose_among_different_victory_cards(scene: Scene) -> None:
    game = scene(seat(hand="Bureaucrat"), seat(hand="Estate, Gardens, Copper")).do("play Bureaucrat")
    assert (game.seat(), game.legal()) == (1, ["put Estate", "put Gardens"])
    assert game.do("put Gardens").zone(1, "hand") == "Copper, Estate"


def test_bureaucrat_does_not_ask_about_two_of_a_kind(scene: Scene) -> None:
    game = scene(seat(hand="Bureaucrat"), seat(hand="2 Estate")).do("play Bureaucrat")
    assert (game.zone(1, "hand"), game.top(1)) == ("Estate", ["Estate"])


def test_bureaucrat_leaves_a_hand_without_victory_cards(scene: Scene) -> None:
    game = scene(seat(hand="Bureaucrat"), seat(hand="Copper, Curse")).do("play Bureaucrat")
    assert (game.zone(1, "hand"), game.top(1)) == ("Copper, Curse", [])


def test_bureaucrat_asks_the_victims_from_the_left(scene: Scene) -> None:
    victim = seat(hand="Estate, Duchy")
    game = scene(seat(hand="Bureaucrat"), victim, victim, seat(hand="Moat, Estate, Duchy")).do("play Bureaucrat, put Duchy")
    assert game.seat() == 2
    assert game.do("put Estate").legal()[0] == "end"


def test_cards_bureaucrat_put_back_are_drawn_next_turn(scene: Scene) -> None:
    game = scene(seat(hand="Bureaucrat", deck="5 Copper"), seat()).do("play Bureaucrat, end")
    assert game.zone(0, "hand") == "Silver"


# Militia


def test_militia_leaves_three_cards(scene: Scene) -> None:
    game = scene(seat(hand="Militia"), seat(hand="2 Copper, 3 Estate")).do("play Militia")
    assert (game.seat(), game.legal()) == (1, ["discard Copper", "discard Estate"])
    game.do("discard Copper, discard Estate")
    assert (game.zone(1, "hand"), game.zone(1, "discard"), game.coins) == ("Copper, 2 Estate", "Copper, Estate", 2)


def test_militia_offers_only_slots_that_leave_enough_to_discard(scene: Scene) -> None:
    game = scene(seat(hand="Militia"), seat(hand="4 Copper, Estate")).do("play Militia")
    assert game.legal() == ["discard Copper"]
    assert game.do("discard Copper").legal() == ["discard Copper", "discard Estate"]


def test_militia_does_nothing_to_three_cards(scene: Scene) -> None:
    game = scene(seat(hand="Militia"), seat(hand="3 Copper")).do("play Militia")
    assert (game.seat(), game.zone(1, "hand")) == (0, "3 Copper")


def test_militia_victims_discard_from_the_left(scene: Scene) -> None:
    attacker = seat(hand="Militia")
    game = scene(seat(hand="4 Copper"), seat(hand="4 Estate"), attacker, seat(hand="5 Duchy"), seat=2).do("play Militia")
    order = []
    while "discard" in game.legal()[0]:
        order.append(game.seat())
        game.do(game.legal()[0])
    assert order == [3, 3, 0, 1]


def test_militia_is_stopped_by_a_moat(scene: Scene) -> None:
    game = scene(seat(hand="Militia"), seat(hand="Moat, 4 Copper"), seat(hand="4 Copper")).do("play Militia")
    assert game.seat() == 2


def test_militia_twice_attacks_once(scene: Scene) -> None:
    game = scene(seat(hand="Militia, Throne Room"), seat(hand="4 Copper")).do("play Throne Room, play Militia, discard Copper")
    assert (game.seat(), game.coins) == (0, 4)


# Moat


def test_moat_draws_two(scene: Scene) -> None:
    assert scene(seat(hand="Moat", deck="2 Estate"), seat()).do("play Moat, draw 2 Estate").zone(0, "hand") == "2 Estate"


@pytest.mark.parametrize("attack", ["Bureaucrat", "Militia", "Spy", "Thief", "Witch"])
def test_moat_stops_every_attack(scene: Scene, attack: str) -> None:
    moated = seat(hand="Moat, 2 Estate, Duchy", top="Gold, Silver")
    game = scene(seat(hand=attack, top="3 Estate"), moated).do(f"play {attack}")
    if attack == "Spy":
        game.do("no")
    assert game.seat() == 0
    assert game.legal()[:2] == ["end", "buy Copper"]
    assert (game.zone(1, "hand"), game.top(1), game.zone(1, "discard")) == (
        "2 Estate, Duchy, Moat",
        ["Gold", "Silver"],
        "",
    )


def test_moat_on_the_deck_stops_nothing(scene: Scene) -> None:
    assert scene(seat(hand="Witch"), seat(top="Moat", discard="Moat")).do("play Witch").zone(1, "discard") == "Curse, Moat"


def test_moat_does_not_stop_what_the_attacker_gets(scene: Scene) -> None:
    game = scene(seat(hand="Witch", deck="2 Estate"), seat(hand="Moat")).do("play Witch, draw 2 Estate")
    assert (game.zone(0, "hand"), game.left("Curse")) == ("2 Estate", 10)


def test_ones_own_moat_does_not_stop_ones_own_spy(scene: Scene) -> None:
    game = scene(seat(hand="Spy, Moat", deck="2 Copper"), seat()).do("play Spy, draw 2 Copper")
    assert (game.seat(), game.legal()) == (0, ["yes", "no"])


# Spy


def test_spy_draws_before_it_reveals_and_the_owner_comes_first(scene: Scene) -> None:
    game = scene(seat(hand="Spy", deck="Estate, Copper"), seat(deck="Gold"), seat(deck="Silver"))
    game.do("play Spy, draw Estate, draw Copper")
    assert (game.legal(), game.zone(0, "hand"), game.zone(0, "aside")) == (["yes", "no"], "Estate", "Copper")
    game.do("yes, draw Gold")
    assert (game.seat(), game.zone(1, "aside")) == (0, "Gold")
    game.do("yes, draw Silver, no")
    assert [game.zone(0, "discard"), game.zone(1, "discard"), game.zone(2, "discard")] == ["Copper", "Gold", ""]
    assert game.top(2) == ["Silver"]


def test_spy_may_put_its_owners_card_back(scene: Scene) -> None:
    assert scene(seat(hand="Spy", deck="3 Copper"), seat()).do("play Spy, draw 2 Copper, no").top(0) == ["Copper"]


def test_spy_gives_an_action(scene: Scene) -> None:
    assert scene(seat(hand="Spy, Moat"), seat()).do("play Spy").actions == 1


def test_spy_makes_a_player_without_a_deck_shuffle(scene: Scene) -> None:
    game = scene(seat(hand="Spy"), seat(discard="Gold")).do("play Spy, draw Gold, no")
    assert (game.top(1), game.zone(1, "discard")) == (["Gold"], "")


def test_spy_passes_over_a_player_without_cards(scene: Scene) -> None:
    game = scene(seat(hand="Spy"), seat(), seat(deck="Gold")).do("play Spy")
    assert game.seat() == 2


def test_spy_twice_sees_a_kept_card_again_without_chance(scene: Scene) -> None:
    game = scene(seat(hand="Spy, Throne Room"), seat(deck="Gold, Copper")).do("play Throne Room, play Spy, draw Gold, no")
    assert (game.legal(), game.zone(1, "aside")) == (["yes", "no"], "Gold")


# Thief


def test_thief_chooses_among_two_different_treasures_and_may_gain_it(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), seat(deck="Gold, Copper, Estate")).do("play Thief, draw Gold, draw Copper")
    assert (game.seat(), game.legal()) == (0, ["trash Copper", "trash Gold"])
    assert game.do("trash Gold").legal() == ["yes", "no"]
    game.do("yes")
    assert (game.zone(0, "discard"), game.zone(1, "discard"), game.trash()) == ("Gold", "Copper", "")


def test_thief_may_leave_the_treasure_in_the_trash(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), seat(top="Copper, Estate")).do("play Thief, no")
    assert (game.zone(0, "discard"), game.zone(1, "discard"), game.trash()) == ("", "Estate", "Copper")


def test_thief_trashes_one_of_two_alike_unasked(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), seat(top="2 Silver")).do("play Thief")
    assert (game.legal(), game.trash(), game.zone(1, "discard")) == (["yes", "no"], "Silver", "Silver")


def test_thief_finds_no_treasure(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), seat(top="Estate, Duchy")).do("play Thief")
    assert (game.legal()[0], game.zone(1, "discard")) == ("end", "Estate, Duchy")


def test_thief_does_not_shuffle_in_the_first_card_revealed(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), seat(deck="Gold", discard="Copper")).do("play Thief, draw Gold")
    assert game.chances() == {"Copper": 1}


def test_thief_reveals_only_what_there_is(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), seat(), seat(deck="Estate")).do("play Thief, draw Estate")
    assert game.zone(2, "discard") == "Estate"


def test_thief_with_one_card_to_reveal_takes_that(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), seat(deck="Gold")).do("play Thief, draw Gold, yes")
    assert game.zone(0, "discard") == "Gold"


def test_thief_gains_after_everybody_has_trashed_in_slot_order(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), seat(top="Silver, Estate"), seat(top="Moat, Estate"), seat(top="2 Copper")).do("play Thief")
    assert game.trash() == "Copper, Silver"
    assert game.do("no, yes").zone(0, "discard") == "Silver"


def test_thief_that_leaves_a_copper_leaves_all_coppers(scene: Scene) -> None:
    game = scene(seat(hand="Thief"), *[seat(top="2 Copper")] * 3).do("play Thief, yes, no")
    assert (game.zone(0, "discard"), game.trash(), game.legal()[0]) == ("Copper", "2 Copper", "end")


def test_thief_takes_only_what_was_just_trashed(scene: Scene) -> None:
    game = scene(seat(hand="Moneylender, Thief, Copper"), seat(top="Estate, Duchy"), actions=2).do("play Moneylender, play Thief")
    assert (game.legal()[0], game.trash()) == ("end", "Copper")


# Witch


def test_witch_draws_two_and_gives_everybody_else_a_curse(scene: Scene) -> None:
    game = scene(seat(hand="Witch", deck="2 Estate"), seat(), seat()).do("play Witch, draw 2 Estate")
    assert (game.zone(0, "hand"), game.zone(1, "discard"), game.zone(2, "discard")) == ("2 Estate", "Curse", "Curse")
    assert game.left("Curse") == 18


def test_the_last_curses_go_round_from_the_left(scene: Scene) -> None:
    game = scene(seat(), seat(), seat(hand="Witch"), seat(), seat=2, supply={"Curse": 2}).do("play Witch")
    assert [game.zone(i, "discard") for i in range(4)] == ["Curse", "", "", "Curse"]


def test_witch_alone_only_draws(scene: Scene) -> None:
    assert scene(seat(hand="Witch", deck="2 Estate")).do("play Witch, draw 2 Estate").zone(0, "discard") == ""
