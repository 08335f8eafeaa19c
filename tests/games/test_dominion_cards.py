"""The first-edition kingdom cards that attack nobody, one fact a test, from a written position, on both engines."""

from __future__ import annotations

import pytest
from dominion_scene import ENGINES, Scene, scene_of, seat
from naive.dominion import TEST_BED


@pytest.fixture(params=list(ENGINES))
def scene(request: pytest.FixtureRequest) -> Scene:
    """A position, by seats, in the engine under test."""
    return scene_of(request.param)


# Adventurer


def test_adventurer_takes_two_treasures_and_discards_the_rest(scene: Scene) -> None:
    game = scene(seat(hand="Adventurer, Moat", deck="Estate, Copper, Duchy, Gold, Silver"), seat(), actions=2)
    game.do("play Adventurer, draw Estate, draw Copper, draw Duchy, draw Gold")
    assert (game.zone(0, "hand"), game.zone(0, "discard"), game.zone(0, "deck")) == (
        "Copper, Gold, Moat",
        "Estate, Duchy",
        "Silver",
    )


def test_adventurer_does_not_shuffle_in_what_it_revealed(scene: Scene) -> None:
    game = scene(seat(hand="Adventurer", deck="Estate, Copper", discard="Duchy, Silver"), seat())
    game.do("play Adventurer, draw Estate, draw Copper")
    assert game.chances() == {"Silver": 1, "Duchy": 1}
    assert game.zone(0, "aside") == "Copper, Estate"


def test_adventurer_may_find_only_one_treasure(scene: Scene) -> None:
    game = scene(seat(hand="Adventurer", deck="Estate, Copper"), seat()).do("play Adventurer, draw Copper, draw Estate")
    assert (game.coins, game.zone(0, "discard")) == (1, "Estate")


# Cellar


def test_cellar_draws_as_many_as_it_discarded(scene: Scene) -> None:
    game = scene(seat(hand="Cellar, Moat, 2 Estate, Copper", deck="3 Duchy"), seat())
    game.do("play Cellar, discard 2 Estate, end, draw 2 Duchy")
    assert (game.zone(0, "hand"), game.zone(0, "discard"), game.actions) == ("Copper, 2 Duchy, Moat", "2 Estate", 1)


def test_cellar_discards_in_slot_order(scene: Scene) -> None:
    game = scene(seat(hand="Cellar, Copper, Estate, Duchy"), seat()).do("play Cellar")
    assert game.legal() == ["end", "discard Copper", "discard Estate", "discard Duchy"]
    assert game.do("discard Estate").legal() == ["end", "discard Duchy"]


def test_cellar_may_discard_nothing(scene: Scene) -> None:
    game = scene(seat(hand="Cellar, Copper", deck="Gold"), seat()).do("play Cellar, end")
    assert game.coins == 1


def test_cellar_with_an_empty_hand_asks_nothing(scene: Scene) -> None:
    assert scene(seat(hand="Cellar"), seat()).do("play Cellar").legal() == ["end", "buy Copper"]


def test_cellar_shuffles_in_what_it_discarded(scene: Scene) -> None:
    game = scene(seat(hand="Cellar, 2 Estate", deck="Gold"), seat()).do("play Cellar, discard 2 Estate, draw Gold")
    assert game.chances() == {"Estate": 2}


# Chancellor


@pytest.mark.parametrize(("answer", "deck", "discard"), [("yes", "", "Copper, 2 Estate"), ("no", "2 Estate", "Copper")])
def test_chancellor_may_put_the_deck_into_the_discards(scene: Scene, answer: str, deck: str, discard: str) -> None:
    game = scene(seat(hand="Chancellor", deck="2 Estate", discard="Copper"), seat()).do("play Chancellor")
    assert game.legal() == ["yes", "no"]
    game.do(answer)
    assert (game.coins, game.zone(0, "deck"), game.zone(0, "discard")) == (2, deck, discard)


def test_chancellor_without_a_deck_asks_nothing(scene: Scene) -> None:
    assert "end" in scene(seat(hand="Chancellor", discard="Copper"), seat()).do("play Chancellor").legal()


def test_chancellor_ends_what_was_known_of_the_deck(scene: Scene) -> None:
    game = scene(seat(hand="Chancellor, Smithy", top="Gold"), seat(), actions=2).do("play Chancellor, yes, play Smithy")
    assert game.chances() == {"Gold": 1}


# Chapel


def test_chapel_trashes_at_most_four(scene: Scene) -> None:
    game = scene(seat(hand="Chapel, 5 Estate"), seat()).do("play Chapel, trash 4 Estate")
    assert (game.trash(), game.zone(0, "hand"), game.legal()) == ("4 Estate", "Estate", ["end", "buy Copper"])


def test_chapel_may_stop_before(scene: Scene) -> None:
    game = scene(seat(hand="Chapel, 2 Copper, Estate"), seat()).do("play Chapel, trash Copper, end")
    assert (game.trash(), game.coins) == ("Copper", 1)


def test_chapel_may_trash_another_chapel_but_not_itself(scene: Scene) -> None:
    game = scene(seat(hand="2 Chapel"), seat()).do("play Chapel")
    assert game.legal() == ["end", "trash Chapel"]
    assert game.do("trash Chapel").zone(0, "play") == "Chapel"


def test_chapel_ends_when_no_card_is_left_to_choose(scene: Scene) -> None:
    game = scene(seat(hand="Chapel, Copper, Curse"), seat()).do("play Chapel, trash Curse")
    assert (game.trash(), game.coins) == ("Curse", 1)


# Council Room


def test_council_room_draws_four_and_everybody_else_one(scene: Scene) -> None:
    other = seat(deck="2 Gold")
    game = scene(seat(hand="Council Room", deck="4 Estate"), other, other).do("play Council Room, draw 4 Estate")
    assert game.seat() == 1
    game.do("draw Gold")
    assert game.seat() == 2
    game.do("draw Gold")
    assert (game.zone(0, "hand"), game.zone(1, "hand"), game.zone(2, "hand"), game.buys) == (
        "4 Estate",
        "Gold",
        "Gold",
        2,
    )


def test_council_room_makes_others_shuffle_as_necessary(scene: Scene) -> None:
    game = scene(seat(hand="Council Room"), seat(), seat(discard="Gold")).do("play Council Room, draw Gold")
    assert (game.zone(1, "hand"), game.zone(2, "hand")) == ("", "Gold")


def test_council_room_is_no_attack(scene: Scene) -> None:
    assert scene(seat(hand="Council Room"), seat(hand="Moat", top="Gold")).do("play Council Room").zone(1, "hand") == "Gold, Moat"


# Feast


def test_feast_is_trashed_for_a_card_costing_up_to_five(scene: Scene) -> None:
    game = scene(seat(hand="Feast, Gold"), seat()).do("play Feast")
    assert "gain Duchy" in game.legal()
    assert not {"gain Gold", "gain Province", "end"} & set(game.legal())
    game.do("gain Duchy")
    assert (game.trash(), game.zone(0, "discard"), game.zone(0, "play")) == ("Feast", "Duchy", "Gold")


def test_feast_does_not_offer_an_empty_pile(scene: Scene) -> None:
    game = scene(seat(hand="Feast"), seat(), supply={"Duchy": 0}).do("play Feast")
    assert "gain Duchy" not in game.legal()


def test_feast_under_a_throne_room_gains_twice(scene: Scene) -> None:
    game = scene(seat(hand="Feast, Throne Room"), seat()).do("play Throne Room, play Feast, gain Duchy, gain Silver")
    assert (game.trash(), game.zone(0, "discard"), game.zone(0, "play")) == ("Feast", "Silver, Duchy", "Throne Room")


# Festival


def test_festival_gives_two_actions_a_buy_and_two_coins(scene: Scene) -> None:
    game = scene(seat(hand="Festival, Moat"), seat()).do("play Festival")
    assert (game.actions, game.buys, game.coins) == (2, 2, 2)


# Gardens


@pytest.mark.parametrize(("others", "points"), [(8, 0), (9, 1), (18, 1), (38, 3)])
def test_gardens_counts_tens_of_cards_rounded_down(scene: Scene, others: int, points: int) -> None:
    assert scene(seat(hand="Gardens", discard=f"{others} Copper"), seat()).scores() == [points, 0]


def test_each_gardens_counts_all_zones(scene: Scene) -> None:
    game = scene(seat(hand="2 Gardens, 2 Copper", deck="3 Copper", discard="2 Copper", play="Village"), seat())
    assert game.scores() == [2, 0]


def test_gardens_cannot_be_played(scene: Scene) -> None:
    assert "play Gardens" not in scene(seat(hand="Gardens, Moat"), seat()).legal()


# Laboratory


def test_laboratory_draws_two_and_gives_an_action(scene: Scene) -> None:
    game = scene(seat(hand="Laboratory, Moat", deck="2 Estate"), seat()).do("play Laboratory, draw 2 Estate")
    assert (game.zone(0, "hand"), game.actions) == ("2 Estate, Moat", 1)


# Library


def test_library_draws_to_seven(scene: Scene) -> None:
    game = scene(seat(hand="Library, 4 Estate", deck="9 Duchy"), seat()).do("play Library, draw 3 Duchy")
    assert game.zone(0, "hand") == "4 Estate, 3 Duchy"


def test_library_may_set_aside_actions_as_they_are_drawn(scene: Scene) -> None:
    game = scene(seat(hand="Library, 5 Estate", deck="Moat, Village, Duchy, Gardens"), seat()).do("play Library, draw Moat")
    assert (game.legal(), game.zone(0, "aside")) == (["yes", "no"], "Moat")
    game.do("yes, draw Village, no, draw Gardens")
    assert (game.zone(0, "hand"), game.zone(0, "discard")) == ("5 Estate, Village, Gardens", "Moat")


def test_library_does_not_shuffle_in_what_is_set_aside(scene: Scene) -> None:
    game = scene(seat(hand="Library", deck="Moat", discard="Duchy"), seat()).do("play Library, draw Moat, yes")
    assert game.chances() == {"Duchy": 1}


def test_library_stops_when_there_are_no_cards(scene: Scene) -> None:
    game = scene(seat(hand="Library", deck="2 Estate"), seat()).do("play Library, draw 2 Estate")
    assert game.zone(0, "hand") == "2 Estate"


def test_library_draws_nothing_with_seven_in_hand(scene: Scene) -> None:
    game = scene(seat(hand="Library, 7 Estate", deck="Duchy"), seat()).do("play Library")
    assert game.zone(0, "deck") == "Duchy"


# Market


def test_market_gives_one_of_everything(scene: Scene) -> None:
    game = scene(seat(hand="Market, Moat", deck="Estate"), seat()).do("play Market, draw Estate")
    assert (game.zone(0, "hand"), game.actions, game.buys, game.coins) == ("Estate, Moat", 1, 2, 1)


# Mine


def test_mine_makes_silver_of_copper_in_the_hand(scene: Scene) -> None:
    game = scene(seat(hand="Mine, Copper, Estate"), seat()).do("play Mine")
    assert game.legal() == ["trash Copper"]
    assert game.do("trash Copper").legal() == ["gain Copper", "gain Silver"]
    assert (game.do("gain Silver").coins, game.trash(), game.zone(0, "discard")) == (2, "Copper", "")


def test_mine_offers_gold_for_silver_but_no_other_card_of_that_cost(scene: Scene) -> None:
    game = scene(seat(hand="Mine, Silver"), seat(), kingdom="Adventurer").do("play Mine, trash Silver")
    assert game.legal() == ["gain Copper", "gain Silver", "gain Gold"]


def test_mine_without_a_treasure_does_nothing(scene: Scene) -> None:
    assert scene(seat(hand="Mine, Estate"), seat()).do("play Mine").trash() == ""


def test_mine_gains_nothing_from_empty_piles(scene: Scene) -> None:
    game = scene(seat(hand="Mine, Copper"), seat(), supply={"Copper": 0, "Silver": 0}).do("play Mine, trash Copper")
    assert (game.trash(), game.coins) == ("Copper", 0)


# Moneylender


def test_moneylender_trashes_a_copper_for_three_coins(scene: Scene) -> None:
    game = scene(seat(hand="Moneylender, 2 Copper"), seat()).do("play Moneylender")
    assert (game.trash(), game.coins) == ("Copper", 4)


def test_moneylender_without_a_copper_gives_nothing(scene: Scene) -> None:
    game = scene(seat(hand="Moneylender, Silver"), seat()).do("play Moneylender")
    assert (game.trash(), game.coins) == ("", 2)


def test_moneylender_twice_with_one_copper_pays_once(scene: Scene) -> None:
    assert scene(seat(hand="Moneylender, Throne Room, Copper"), seat()).do("play Throne Room, play Moneylender").coins == 3


# Remodel


def test_remodel_must_trash_and_must_gain(scene: Scene) -> None:
    game = scene(seat(hand="Remodel, Estate, Gold"), seat()).do("play Remodel")
    assert game.legal() == ["trash Gold", "trash Estate"]
    assert "end" not in game.do("trash Estate").legal()


def test_remodel_gains_up_to_two_more(scene: Scene) -> None:
    game = scene(seat(hand="Remodel, Gold"), seat()).do("play Remodel, trash Gold")
    assert {"gain Province", "gain Gold", "gain Copper"} <= set(game.legal())
    assert game.do("gain Province").zone(0, "discard") == "Province"


def test_remodel_of_a_curse_takes_what_costs_two(scene: Scene) -> None:
    game = scene(seat(hand="Remodel, Curse"), seat(), kingdom="Moat").do("play Remodel, trash Curse")
    assert game.legal() == ["gain Copper", "gain Estate", "gain Moat"]


def test_remodel_with_an_empty_hand_does_nothing(scene: Scene) -> None:
    assert "buy Copper" in scene(seat(hand="Remodel"), seat()).do("play Remodel").legal()


def test_remodel_gains_nothing_if_nothing_is_cheap_enough(scene: Scene) -> None:
    game = scene(seat(hand="Remodel, Copper"), seat(), supply={"Copper": 0, "Estate": 0, "Curse": 0})
    assert game.do("play Remodel, trash Copper").zone(0, "discard") == ""


def test_a_forced_gain_takes_a_curse_if_nothing_else_is_there(scene: Scene) -> None:
    game = scene(seat(hand="Remodel, Copper"), seat(), supply={"Copper": 0, "Estate": 0})
    assert game.do("play Remodel, trash Copper").legal() == ["gain Curse"]
    up_to_four = dict.fromkeys(["Copper", "Silver", "Estate", "Workshop", *TEST_BED[:6]], 0)
    assert scene(seat(hand="Workshop"), seat(), supply=up_to_four).do("play Workshop").legal() == ["gain Curse"]


def test_a_forced_gain_may_be_a_curse_where_curses_are_for_sale(scene: Scene) -> None:
    game = scene(seat(hand="Remodel, Copper"), seat(), curses=True)
    assert game.do("play Remodel, trash Copper").legal() == ["gain Copper", "gain Estate", "gain Curse"]
    assert "gain Curse" in scene(seat(hand="Workshop"), seat(), curses=True).do("play Workshop").legal()


# Smithy


def test_smithy_draws_three(scene: Scene) -> None:
    assert scene(seat(hand="Smithy", deck="3 Estate"), seat()).do("play Smithy, draw 3 Estate").zone(0, "hand") == "3 Estate"


# Throne Room


def test_throne_room_plays_twice_for_one_action(scene: Scene) -> None:
    game = scene(seat(hand="Throne Room, Market, Moat", deck="2 Estate"), seat()).do("play Throne Room")
    assert game.legal() == ["play Moat", "play Market"]
    game.do("play Market, draw 2 Estate")
    assert (game.actions, game.buys, game.coins, game.zone(0, "play")) == (2, 3, 2, "Throne Room, Market")


def test_throne_room_without_another_action_does_nothing(scene: Scene) -> None:
    assert scene(seat(hand="Throne Room, Copper"), seat()).do("play Throne Room").coins == 1


def test_throne_room_resolves_the_first_time_before_the_second(scene: Scene) -> None:
    game = scene(seat(hand="Throne Room, Remodel, 2 Estate"), seat()).do("play Throne Room, play Remodel, trash Estate")
    assert game.do("gain Silver").legal() == ["trash Estate"]


def test_throne_room_on_throne_room_doubles_two_actions(scene: Scene) -> None:
    game = scene(seat(hand="2 Throne Room, Woodcutter, Festival, Moat"), seat())
    game.do("play Throne Room, play Throne Room, play Woodcutter")
    assert game.legal() == ["play Moat", "play Festival"]
    game.do("play Festival")
    assert (game.actions, game.buys, game.coins) == (4, 5, 8)


# Village, Woodcutter


def test_village_draws_one_and_gives_two_actions(scene: Scene) -> None:
    game = scene(seat(hand="Village, Moat", deck="Estate"), seat()).do("play Village, draw Estate")
    assert (game.zone(0, "hand"), game.actions) == ("Estate, Moat", 2)


def test_woodcutter_gives_a_buy_and_two_coins(scene: Scene) -> None:
    game = scene(seat(hand="Woodcutter"), seat()).do("play Woodcutter")
    assert (game.buys, game.coins) == (2, 2)


# Workshop


def test_workshop_gains_up_to_four(scene: Scene) -> None:
    game = scene(seat(hand="Workshop, Gold"), seat(), kingdom="Gardens, Market").do("play Workshop")
    assert "gain Gardens" in game.legal()
    assert not {"end", "gain Duchy", "gain Market", "gain Curse"} & set(game.legal())
    assert game.do("gain Gardens").zone(0, "discard") == "Gardens"
    assert game.coins == 3  # the Gold: a gain costs no coins
