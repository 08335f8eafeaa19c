"""Set-up, turn, deck and end of first-edition Dominion by the rulebook, one fact a test, on the oracle and on the compiled rules.

A test starts from a written position, at the action phase of seat 0.
"""

from __future__ import annotations

import pytest
from dominion_scene import ENGINES, Scene, Spoken, scene_of, seat
from naive.dominion import TEST_BED


@pytest.fixture(params=list(ENGINES))
def scene(request: pytest.FixtureRequest) -> Scene:
    """A position, by seats, in the engine under test."""
    return scene_of(request.param)


@pytest.fixture(params=list(ENGINES))
def opening(request: pytest.FixtureRequest) -> Scene:
    """A game from the start, in the engine under test."""
    return lambda **options: Spoken(ENGINES[request.param](**options))


# Set-up


@pytest.mark.parametrize(("players", "victory", "curses", "copper"), [(1, 8, 0, 53), (2, 8, 10, 46), (3, 12, 20, 39), (4, 12, 30, 32)])
def test_piles_by_number_of_players(opening: Scene, players: int, victory: int, curses: int, copper: int) -> None:
    piles = opening(players=players)
    assert [piles.left(card) for card in ("Estate", "Duchy", "Province", "Gardens")] == [victory] * 4
    assert [piles.left(card) for card in ("Curse", "Copper", "Silver", "Gold", "Witch")] == [curses, copper, 40, 30, 10]


def test_thesis_supply_has_44_30_20_treasures(opening: Scene) -> None:
    assert [opening(supply="thesis").left(card) for card in ("Copper", "Silver", "Gold")] == [44, 30, 20]


def test_slots_are_by_cost_then_name(opening: Scene) -> None:
    assert opening(kingdom=TEST_BED[::-1]).game.cards[7:] == list(TEST_BED)


def test_opening_hands_are_drawn_seat_by_seat(opening: Scene) -> None:
    game = opening(players=3)
    drawn = []
    while game.phase() == "chance":
        drawn.append(game.seat())
        game.do("draw Copper")
    assert drawn == [0] * 5 + [1] * 5 + [2] * 5
    assert game.seat() == 0


def test_the_first_card_is_one_of_seven_coppers_and_three_estates(opening: Scene) -> None:
    assert opening().chances() == {"Copper": 7, "Estate": 3}
    assert opening().do("draw Estate").chances() == {"Copper": 7, "Estate": 2}


# The turn


def test_action_phase_is_skipped_without_an_action_card(scene: Scene) -> None:
    game = scene(seat(hand="Estate, 2 Copper"), seat())
    assert game.legal() == ["end", "buy Copper", "buy Estate"]


def test_action_phase_ends_when_no_actions_are_left(scene: Scene) -> None:
    game = scene(seat(hand="2 Woodcutter"), seat()).do("play Woodcutter")
    assert "buy Copper" in game.legal()


def test_an_action_need_not_be_played(scene: Scene) -> None:
    game = scene(seat(hand="Woodcutter, 3 Copper"), seat())
    assert game.legal() == ["end", "play Woodcutter"]
    assert game.do("end").coins == 3


def test_treasures_are_played_at_once_in_the_first_turn(opening: Scene) -> None:
    game = opening().do("draw 5 Copper, draw 5 Copper")
    assert (game.seat(), game.coins) == (0, 5)
    assert game.legal() == ["end", *(f"buy {card}" for card in ("Copper", "Silver", "Estate", "Duchy", *TEST_BED))]


def test_treasures_are_played_when_the_buy_phase_begins(scene: Scene) -> None:
    game = scene(seat(hand="Copper, Silver, Gold, Estate"), seat())
    assert (game.coins, game.zone(0, "hand"), game.zone(0, "play")) == (6, "Estate", "Copper, Silver, Gold")


def test_a_bought_card_goes_to_the_discards(scene: Scene) -> None:
    game = scene(seat(hand="Gold, Woodcutter"), seat()).do("play Woodcutter, buy Silver")
    assert (game.zone(0, "discard"), game.left("Silver"), game.coins, game.buys) == ("Silver", 39, 2, 1)


def test_buy_phase_ends_when_no_buys_are_left(scene: Scene) -> None:
    game = scene(seat(hand="3 Copper"), seat(hand="Estate")).do("buy Silver")
    assert (game.phase(), game.seat(), game.zone(0, "hand")) == ("chance", 0, "")


def test_every_buy_may_be_used(scene: Scene) -> None:
    game = scene(seat(hand="Woodcutter, 3 Copper"), seat()).do("play Woodcutter, buy Estate, buy Silver")
    assert (game.phase(), game.zone(0, "discard")) == ("chance", "")
    assert game.zone(0, "deck") == "3 Copper, Silver, Estate, Woodcutter"  # shuffled, because cards are due


def test_two_buys_share_the_coins(scene: Scene) -> None:
    game = scene(seat(hand="Woodcutter, Silver"), seat()).do("play Woodcutter, buy Estate")
    assert game.legal() == ["end", "buy Copper", "buy Estate"]


def test_an_empty_pile_is_not_for_sale(scene: Scene) -> None:
    assert scene(seat(hand="Estate"), seat(), supply={"Copper": 0}).legal() == ["end"]


def test_curses_are_for_sale_only_if_agreed(scene: Scene) -> None:
    assert "buy Curse" not in scene(seat(hand="Estate"), seat()).legal()
    assert scene(seat(hand="Estate"), seat(), curses=True).legal() == ["end", "buy Copper", "buy Curse"]


def test_clean_up_discards_play_and_hand_and_draws_five(scene: Scene) -> None:
    game = scene(seat(hand="Copper, Estate", deck="6 Silver"), seat(hand="Estate")).do("end, draw 5 Silver")
    assert (game.zone(0, "discard"), game.zone(0, "hand"), game.zone(0, "deck")) == (
        "Copper, Estate",
        "5 Silver",
        "Silver",
    )
    assert game.seat() == 1


def test_unused_actions_buys_and_coins_are_lost(scene: Scene) -> None:
    game = scene(seat(hand="Festival", top="2 Estate, 3 Duchy"), seat(hand="Moat")).do("play Festival, end")
    assert (game.actions, game.buys, game.coins) == (1, 1, 0)


# The deck


def test_draw_what_is_left_then_shuffle_the_discards(scene: Scene) -> None:
    game = scene(seat(hand="Smithy", deck="Estate", discard="Duchy, Province"), seat()).do("play Smithy, draw Estate")
    assert game.chances() == {"Duchy": 1, "Province": 1}
    assert game.zone(0, "discard") == ""


def test_drawing_stops_when_no_card_is_left(scene: Scene) -> None:
    game = scene(seat(hand="Smithy", deck="Estate"), seat()).do("play Smithy, draw Estate")
    assert (game.zone(0, "hand"), game.legal()[0]) == ("Estate", "end")


def test_an_emptied_deck_is_not_shuffled_before_a_card_is_due(scene: Scene) -> None:
    game = scene(seat(hand="Laboratory, Moat", deck="2 Estate", discard="Duchy"), seat()).do("play Laboratory, draw 2 Estate")
    assert (game.zone(0, "deck"), game.zone(0, "discard")) == ("", "Duchy")


def test_cards_in_hand_and_in_play_are_not_shuffled_in(scene: Scene) -> None:
    game = scene(seat(hand="Smithy, Estate", play="Village"), seat()).do("play Smithy")
    assert game.zone(0, "hand") == "Estate"


def test_known_cards_are_drawn_first_and_without_chance(scene: Scene) -> None:
    game = scene(seat(hand="Smithy", top="Duchy, Estate", deck="Province, Gold"), seat()).do("play Smithy")
    assert game.zone(0, "hand") == "Estate, Duchy"
    assert game.chances() == {"Gold": 1, "Province": 1}


def test_a_card_that_is_certain_is_still_a_chance_node(scene: Scene) -> None:
    assert scene(seat(hand="Smithy", deck="3 Estate"), seat()).do("play Smithy").chances() == {"Estate": 3}


def test_the_last_card_of_its_kind_cannot_be_drawn_twice(scene: Scene) -> None:
    game = scene(seat(hand="Smithy", deck="Estate, 3 Duchy"), seat()).do("play Smithy, draw Estate")
    with pytest.raises(ValueError, match=r"(slot|outcome) 3"):
        game.do("draw Estate")


# The end


def test_the_game_ends_with_the_last_province_at_the_end_of_the_turn(scene: Scene) -> None:
    game = scene(seat(hand="Woodcutter, 2 Gold", deck="5 Copper"), seat(), supply={"Province": 1})
    assert game.do("play Woodcutter, buy Province").phase() == "decide"
    assert game.do("end").phase() == "over"


def test_nothing_is_drawn_after_the_end(scene: Scene) -> None:
    game = scene(seat(hand="Gold, 5 Copper", deck="5 Copper"), seat(), supply={"Province": 1}).do("buy Province")
    assert (game.zone(0, "hand"), game.zone(0, "deck"), game.scores()) == ("", "5 Copper", [6, 0])


def test_three_empty_piles_end_the_game_two_do_not(scene: Scene) -> None:
    two, three = {"Curse": 0, "Village": 0}, {"Curse": 0, "Village": 0, "Copper": 0}
    hand = seat(hand="Estate", deck="5 Copper")
    assert scene(hand, seat(), supply=two).do("end").phase() == "chance"
    assert scene(hand, seat(), supply=three).do("end").phase() == "over"


def test_a_pile_that_never_had_cards_is_not_an_emptied_one(scene: Scene) -> None:
    game = scene(seat(hand="Estate", deck="5 Copper"), supply={"Village": 0, "Estate": 0}).do("end")
    assert game.phase() == "chance"


def test_a_tie_goes_to_the_fewest_turns(scene: Scene) -> None:
    game = scene(seat(hand="Estate", turns=9), seat(discard="Estate", turns=9), supply={"Province": 0}).do("end")
    assert (game.scores(), game.standings()) == ([1, 1], [2, 1])


def test_a_tie_with_equal_turns_is_shared(scene: Scene) -> None:
    first, second = seat(discard="Estate", turns=10), seat(hand="Estate", turns=9)
    assert scene(first, second, supply={"Province": 0}, seat=1).do("end").standings() == [1, 1]


def test_standings_are_by_points(scene: Scene) -> None:
    game = scene(seat(hand="Duchy"), seat(hand="Curse"), seat(hand="Province"), supply={"Province": 0}).do("end")
    assert (game.scores(), game.standings()) == ([3, -1, 6], [2, 3, 1])


def test_the_game_is_cut_off_when_everybody_has_taken_max_turns(scene: Scene) -> None:
    game = scene(seat(turns=4), seat(turns=4), max_turns=5).do("end")
    assert game.seat() == 1
    assert game.do("end").phase() == "over"


def test_nothing_is_legal_after_the_end(scene: Scene) -> None:
    game = scene(seat(), seat(), supply={"Province": 0}).do("end")
    assert game.legal() == []
    with pytest.raises(ValueError, match=r"action 0.* is not legal"):
        game.do("end")
