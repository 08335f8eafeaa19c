"""What each card of the first edition does, in notation: the examples and rulings of the rulebook."""

from dominion_at import at, go, legal, number, pile, top

# Cellar: "+1 Action. Discard any number of cards. +1 Card per card discarded."


def test_cellar_draws_as_many_as_it_discards() -> None:
    table = go(at("Cellar", "1 Cellar 2 Estate 1 Copper", "3 Silver"), "play Cellar", "discard Copper", "discard Estate", "discard Estate")
    go(table, "draw Silver", "draw Silver", "draw Silver")
    assert (table.states[0]["play"].sum(), pile(table, "discard")) == (4, "1 Copper 2 Estate")  # Cellar and the three Silvers


def test_cellar_may_discard_nothing() -> None:
    assert number(go(at("Cellar", "2 Cellar 1 Estate", "3 Silver"), "play Cellar", "end"), "actions") == 1


def test_cellar_discards_in_order_of_slots() -> None:
    assert legal(go(at("Cellar", "1 Cellar 1 Copper 2 Estate"), "play Cellar", "discard Estate")) == ["end", "discard Estate"]


def test_cellar_shuffles_in_what_it_discarded() -> None:
    table = go(at("Cellar", "1 Cellar 1 Estate 1 Duchy"), "play Cellar", "discard Estate", "discard Duchy")
    assert [name for name, _ in table.chances()] == [3, 4]


def test_cellar_with_an_empty_hand_asks_nothing() -> None:
    assert (
        legal(go(at("Cellar", "1 Cellar"), "play Cellar"))[0] == "end" and number(go(at("Cellar", "1 Cellar"), "play Cellar"), "node") == 3
    )


# Chapel: "Trash up to 4 cards from your hand."


def test_chapel_trashes_up_to_four() -> None:
    table = go(at("Chapel", "1 Chapel 3 Copper 2 Estate"), "play Chapel", *["trash Copper"] * 3, "trash Estate")
    assert (pile(table, "trash"), pile(table, "hand")) == ("3 Copper 1 Estate", "1 Estate")


def test_chapel_may_stop_early() -> None:
    assert pile(go(at("Chapel", "1 Chapel 3 Estate"), "play Chapel", "trash Estate", "end"), "trash") == "1 Estate"


# Moat: "+2 Cards. When another player plays an Attack card, you may reveal this from your hand."


def test_moat_draws_two() -> None:
    assert pile(go(at("Moat", "1 Moat", "2 Estate"), "play Moat", "draw Estate", "draw Estate"), "hand") == "2 Estate"


def test_moat_blocks_a_witch() -> None:
    table = go(at("Witch, Moat", "1 Witch", "2 Copper", others=("1 Moat", "1 Estate")), "play Witch", "draw Copper", "draw Copper")
    assert (pile(table, "discard", 1), pile(table, "discard", 2)) == ("", "1 Curse")


def test_moat_blocks_a_militia() -> None:
    table = go(at("Militia, Moat", "1 Militia", others=("4 Copper 1 Moat", "5 Copper")), "play Militia")
    assert table.seat == 2


def test_moat_does_not_stop_a_council_room() -> None:
    table = go(
        at("Council Room, Moat", "1 Council Room", "4 Copper", deck_1="1 Gold", others=("1 Moat",)),
        "play Council Room",
        *["draw Copper"] * 4,
        "draw Gold",
    )
    assert pile(table, "hand", 1) == "1 Gold 1 Moat"


def test_ones_own_moat_does_not_stop_ones_own_spy() -> None:
    table = go(at("Spy, Moat", "1 Spy 1 Moat", "2 Copper", others=("",)), "play Spy", "draw Copper", "draw Copper")
    assert legal(table) == ["yes", "no"]


# Chancellor: "+2 coins. You may immediately put your deck into your discard pile."


def test_chancellor_flips_the_deck() -> None:
    table = go(at("Chancellor", "1 Chancellor", "3 Copper"), "play Chancellor", "yes")
    assert (number(table, "coins"), pile(table, "deck"), pile(table, "discard")) == (2, "", "3 Copper")


def test_chancellor_may_leave_the_deck() -> None:
    assert pile(go(at("Chancellor", "1 Chancellor", "3 Copper"), "play Chancellor", "no"), "deck") == "3 Copper"


def test_chancellor_does_not_ask_about_an_empty_deck() -> None:
    assert legal(go(at("Chancellor", "1 Chancellor"), "play Chancellor"))[0] == "end"


# The vanilla cards.


def test_village_gives_a_card_and_two_actions() -> None:
    table = go(at("Village", "2 Village", "1 Copper"), "play Village", "draw Copper")
    assert (number(table, "actions"), pile(table, "hand")) == (2, "1 Copper 1 Village")


def test_woodcutter_gives_a_buy_and_two_coins() -> None:
    table = go(at("Woodcutter", "1 Woodcutter"), "play Woodcutter")
    assert (number(table, "buys"), number(table, "coins")) == (2, 2)


def test_smithy_draws_three() -> None:
    assert pile(go(at("Smithy", "1 Smithy", "4 Duchy"), "play Smithy", *["draw Duchy"] * 3), "hand") == "3 Duchy"


def test_festival_gives_two_actions_a_buy_and_two_coins() -> None:
    table = go(at("Festival", "2 Festival"), "play Festival")
    assert [number(table, name) for name in ("actions", "buys", "coins")] == [2, 2, 2]


def test_laboratory_draws_two_and_gives_an_action() -> None:
    table = go(at("Laboratory", "2 Laboratory", "2 Estate"), "play Laboratory", "draw Estate", "draw Estate")
    assert (number(table, "actions"), pile(table, "hand")) == (1, "2 Estate 1 Laboratory")


def test_market_gives_one_of_everything() -> None:
    table = go(at("Market", "2 Market", "1 Estate"), "play Market", "draw Estate")
    assert [number(table, name) for name in ("actions", "buys", "coins")] == [1, 2, 1]


# Workshop: "Gain a card costing up to 4."


def test_workshop_gains_up_to_four() -> None:
    table = go(at("Workshop, Smithy, Market", "1 Workshop"), "play Workshop")
    assert legal(table) == ["gain Copper", "gain Silver", "gain Estate", "gain Workshop", "gain Smithy"]


def test_workshop_gains_to_the_discards() -> None:
    assert pile(go(at("Workshop, Smithy", "1 Workshop"), "play Workshop", "gain Smithy"), "discard") == "1 Smithy"


def test_workshop_ignores_coins() -> None:
    assert number(go(at("Workshop", "1 Workshop", coins=3), "play Workshop", "gain Silver"), "coins") == 3


def test_workshop_offers_a_curse_only_if_nothing_else_is_there() -> None:
    short = {"Copper": 0, "Silver": 0, "Estate": 0, "Workshop": 0}
    assert legal(go(at("Workshop", "1 Workshop", supply=short), "play Workshop")) == ["gain Curse"]


def test_workshop_offers_a_curse_with_curses() -> None:
    assert "gain Curse" in legal(go(at("Workshop", "1 Workshop", curses=True), "play Workshop"))


# Bureaucrat: "Gain a silver card; put it on top of your deck. Each other player reveals a Victory card ... and puts it on his deck."


def test_bureaucrat_puts_a_silver_on_the_deck() -> None:
    table = go(at("Bureaucrat", "1 Bureaucrat", "1 Copper"), "play Bureaucrat")
    assert (top(table, 0), pile(table, "deck")) == (["Silver"], "1 Copper 1 Silver")


def test_bureaucrat_with_an_empty_deck_makes_the_silver_the_deck() -> None:
    assert pile(go(at("Bureaucrat", "1 Bureaucrat", discard="3 Copper"), "play Bureaucrat"), "deck") == "1 Silver"


def test_bureaucrat_without_silvers_gains_nothing() -> None:
    assert pile(go(at("Bureaucrat", "1 Bureaucrat", supply={"Silver": 0}), "play Bureaucrat"), "deck") == ""


def test_bureaucrats_victim_puts_its_only_victory_card_back_unasked() -> None:
    table = go(at("Bureaucrat", "1 Bureaucrat", others=("3 Copper 2 Estate",)), "play Bureaucrat")
    assert (top(table, 1), pile(table, "hand", 1)) == (["Estate"], "3 Copper 1 Estate")


def test_bureaucrats_victim_chooses_between_two_kinds() -> None:
    table = go(at("Bureaucrat", "1 Bureaucrat", others=("1 Estate 1 Duchy 1 Curse",)), "play Bureaucrat")
    assert (table.seat, legal(table)) == (1, ["put back Estate", "put back Duchy"])


def test_bureaucrat_does_not_take_a_curse() -> None:
    assert top(go(at("Bureaucrat", "1 Bureaucrat", others=("1 Curse",)), "play Bureaucrat"), 1) == []


def test_bureaucrat_asks_from_the_left() -> None:
    table = at("Bureaucrat", "1 Bureaucrat", others=("1 Estate 1 Duchy", "2 Copper", "1 Estate 1 Province"))
    go(table, "play Bureaucrat")
    assert table.seat == 1
    assert go(table, "put back Duchy").seat == 3


def test_a_known_card_is_drawn_without_chance() -> None:
    table = go(at("Bureaucrat", "1 Bureaucrat", "9 Estate"), "play Bureaucrat", "end")
    assert pile(table, "hand") == "1 Silver"  # four cards are still to be drawn by chance


# Feast: "Trash this card. Gain a card costing up to 5."


def test_feast_is_trashed_for_a_card_up_to_five() -> None:
    table = go(at("Feast", "1 Feast"), "play Feast", "gain Duchy")
    assert (pile(table, "trash"), pile(table, "discard"), pile(table, "play")) == ("1 Feast", "1 Duchy", "")


# Gardens: "Worth 1 for every 10 cards in your deck (rounded down)."


def test_gardens_count_all_cards_owned() -> None:
    table = at("Gardens, Village", "2 Gardens 1 Village 5 Copper", "6 Copper", "5 Copper", play="1 Copper")
    assert table.scores()[0] == 2 * 2


# Militia: "+2 coins. Each other player discards down to 3 cards in his hand."


def test_militia_makes_others_discard_down_to_three() -> None:
    table = go(at("Militia", "1 Militia", others=("3 Copper 2 Estate",)), "play Militia", "discard Copper", "discard Estate")
    assert (number(table, "coins"), pile(table, "hand", 1)) == (2, "2 Copper 1 Estate")


def test_militia_spares_who_holds_three() -> None:
    assert go(at("Militia", "1 Militia", others=("3 Copper",)), "play Militia").seat == 0


def test_militia_lets_nobody_choose_what_could_not_be_finished_in_order() -> None:
    table = go(at("Militia", "1 Militia", others=("4 Copper 1 Estate",)), "play Militia")
    assert legal(table) == ["discard Copper"]
    assert legal(go(table, "discard Copper")) == ["discard Copper", "discard Estate"]


def test_militia_asks_every_player_in_turn() -> None:
    table = go(at("Militia", "1 Militia", others=("4 Copper", "5 Copper", "4 Estate")), "play Militia")
    seats = []
    while table.seat != 0:
        seats.append(table.seat)
        table.play(table.legal()[0])
    assert seats == [1, 2, 2, 3]


# Moneylender: "Trash a Copper from your hand. If you do, +3 coins."


def test_moneylender_trashes_a_copper() -> None:
    table = go(at("Moneylender", "1 Moneylender 2 Copper"), "play Moneylender")
    assert (pile(table, "trash"), number(table, "coins")) == ("1 Copper", 3 + 1)  # the other Copper is played at once


def test_moneylender_without_a_copper_gives_nothing() -> None:
    assert number(go(at("Moneylender", "1 Moneylender 1 Estate"), "play Moneylender"), "coins") == 0


# Remodel: "Trash a card from your hand. Gain a card costing up to 2 more."


def test_remodel_gains_up_to_two_more() -> None:
    table = go(at("Remodel, Smithy, Market", "1 Remodel 1 Estate"), "play Remodel", "trash Estate")
    assert legal(table) == ["gain Copper", "gain Silver", "gain Estate", "gain Remodel", "gain Smithy"]


def test_remodel_with_an_empty_hand_gains_nothing() -> None:
    table = go(at("Remodel", "1 Remodel"), "play Remodel")
    assert (pile(table, "trash"), number(table, "node")) == ("", 3)


def test_remodel_must_trash() -> None:
    assert legal(go(at("Remodel", "1 Remodel 1 Province"), "play Remodel")) == ["trash Province"]


# Spy: "+1 Card, +1 Action. Each player (including you) reveals the top card ... and either discards it or puts it back, your choice."


def test_spy_asks_about_oneself_first_then_the_others() -> None:
    table = go(
        at("Spy", "1 Spy", "3 Copper", deck_1="2 Gold", others=("",)), "play Spy", "draw Copper", "draw Copper", "yes", "draw Gold", "yes"
    )
    assert (pile(table, "discard", 0), pile(table, "discard", 1)) == ("1 Copper", "1 Gold")


def test_spy_may_put_the_card_back() -> None:
    table = go(at("Spy", "1 Spy", "3 Copper", others=("",)), "play Spy", "draw Copper", "draw Copper", "no")
    assert top(table, 0) == ["Copper"]


def test_spy_skips_who_has_no_cards() -> None:
    table = go(at("Spy", "1 Spy", "1 Copper", others=("", "")), "play Spy", "draw Copper")
    assert number(table, "node") == 3  # nobody has a card to reveal: on to buying


def test_spy_shuffles_for_who_has_no_deck() -> None:
    table = go(at("Spy", "1 Spy", "1 Copper", discard_1="1 Duchy", others=("",)), "play Spy", "draw Copper", "draw Duchy", "no")
    assert (top(table, 1), pile(table, "discard", 1)) == (["Duchy"], "")


# Thief: "Each other player reveals the top 2 cards of his deck. If they revealed any Treasure cards, they trash one of them
# that you choose. You may gain any or all of these trashed cards. They discard the other revealed cards."


def test_thief_chooses_between_two_kinds_of_treasure() -> None:
    table = go(at("Thief", "1 Thief", deck_1="1 Copper 1 Gold", others=("",)), "play Thief", "draw Copper", "draw Gold")
    assert (table.seat, legal(table)) == (0, ["trash Copper", "trash Gold"])
    go(table, "trash Gold", "yes")
    assert (pile(table, "discard", 0), pile(table, "discard", 1), pile(table, "trash")) == ("1 Gold", "1 Copper", "")


def test_thief_may_leave_what_was_trashed() -> None:
    table = go(at("Thief", "1 Thief", deck_1="2 Copper", others=("",)), "play Thief", "draw Copper", "draw Copper", "no")
    assert (pile(table, "trash"), pile(table, "discard", 1)) == ("1 Copper", "1 Copper")


def test_thief_discards_what_is_no_treasure() -> None:
    table = go(at("Thief", "1 Thief", deck_1="2 Estate", others=("",)), "play Thief", "draw Estate", "draw Estate")
    assert pile(table, "discard", 1) == "2 Estate"


def test_thief_gains_when_everybody_has_trashed() -> None:
    table = at("Thief", "1 Thief", deck_1="2 Silver", deck_2="2 Copper", deck_3="2 Silver", others=("", "", ""))
    go(table, "play Thief", "draw Silver", "draw Silver", "draw Copper", "draw Copper", "draw Silver", "draw Silver")
    assert pile(table, "trash") == "1 Copper 2 Silver"
    assert pile(go(table, "no", "yes", "no"), "discard", 0) == "1 Silver"


def test_thief_with_one_card_to_reveal_takes_that() -> None:
    table = go(at("Thief", "1 Thief", deck_1="1 Gold", others=("",)), "play Thief", "draw Gold", "yes")
    assert pile(table, "discard", 0) == "1 Gold"


# Throne Room: "Choose an Action card in your hand. Play it twice."


def test_throne_room_plays_a_card_twice() -> None:
    table = go(at("Throne Room, Festival", "1 Throne Room 1 Festival"), "play Throne Room", "play Festival")
    assert [number(table, name) for name in ("buys", "coins")] == [3, 4]


def test_throne_room_does_not_use_up_actions_for_the_card() -> None:
    table = go(
        at("Throne Room, Village", "1 Throne Room 2 Village", "2 Copper"), "play Throne Room", "play Village", "draw Copper", "draw Copper"
    )
    assert number(table, "actions") == 4


def test_throne_room_without_an_action_does_nothing() -> None:
    assert number(go(at("Throne Room", "1 Throne Room 1 Copper"), "play Throne Room"), "coins") == 1


def test_throne_room_must_be_used() -> None:
    table = go(at("Throne Room, Village, Smithy", "1 Throne Room 1 Village 1 Smithy"), "play Throne Room")
    assert legal(table) == ["play Village", "play Smithy"]


def test_a_feast_played_twice_gains_twice_and_is_trashed_once() -> None:
    table = go(at("Throne Room, Feast", "1 Throne Room 1 Feast"), "play Throne Room", "play Feast", "gain Duchy", "gain Silver")
    assert (pile(table, "trash"), pile(table, "discard")) == ("1 Feast", "1 Silver 1 Duchy")


def test_throne_room_on_a_throne_room_plays_two_cards_twice() -> None:
    table = at("Throne Room, Woodcutter, Festival", "2 Throne Room 1 Woodcutter 1 Festival")
    go(table, "play Throne Room", "play Throne Room", "play Woodcutter", "play Festival")
    assert number(table, "coins") == 8


def test_each_play_of_a_remodel_is_resolved_before_the_next() -> None:
    table = go(
        at("Throne Room, Remodel", "1 Throne Room 1 Remodel 2 Estate"), "play Throne Room", "play Remodel", "trash Estate", "gain Silver"
    )
    assert legal(table) == ["trash Estate"]


# Council Room: "+4 Cards, +1 Buy. Each other player draws a card."


def test_council_room_lets_the_others_draw_from_the_left() -> None:
    table = at("Council Room", "1 Council Room", "4 Copper", deck_1="1 Estate", deck_2="1 Duchy", others=("", ""))
    go(table, "play Council Room", *["draw Copper"] * 4, "draw Estate", "draw Duchy")
    assert (pile(table, "hand", 1), pile(table, "hand", 2), number(table, "buys")) == ("1 Estate", "1 Duchy", 2)


# Library: "Draw until you have 7 cards in hand. You may set aside any Action cards drawn this way ... discard the set aside cards."


def test_library_draws_to_seven() -> None:
    table = go(at("Library", "1 Library 4 Estate", "5 Duchy"), "play Library", "draw Duchy", "draw Duchy", "draw Duchy")
    assert pile(table, "hand") == "4 Estate 3 Duchy"


def test_library_sets_an_action_aside_and_discards_it() -> None:
    table = go(at("Library", "1 Library 6 Estate", "1 Library 1 Duchy"), "play Library", "draw Library", "yes", "draw Duchy")
    assert (pile(table, "hand"), pile(table, "discard")) == ("6 Estate 1 Duchy", "1 Library")


def test_library_may_keep_an_action() -> None:
    assert pile(go(at("Library", "1 Library 6 Estate", "1 Library"), "play Library", "draw Library", "no"), "hand") == "6 Estate 1 Library"


def test_library_does_not_shuffle_in_what_it_set_aside() -> None:
    table = go(at("Library", "1 Library 5 Estate", "1 Library", "1 Duchy"), "play Library", "draw Library", "yes", "draw Duchy")
    assert (pile(table, "hand"), pile(table, "discard")) == ("5 Estate 1 Duchy", "1 Library")


def test_library_draws_nothing_with_seven_in_hand() -> None:
    assert pile(go(at("Library", "1 Library 7 Estate", "1 Duchy"), "play Library"), "deck") == "1 Duchy"


# Mine: "Trash a Treasure card from your hand. Gain a Treasure card costing up to 3 more; put it into your hand."


def test_mine_puts_the_better_treasure_into_the_hand() -> None:
    table = go(at("Mine", "1 Mine 1 Silver"), "play Mine", "trash Silver")
    assert legal(table) == ["gain Copper", "gain Silver", "gain Gold"]
    assert number(go(table, "gain Gold"), "coins") == 3


def test_mine_takes_treasures_only() -> None:
    assert legal(go(at("Mine", "1 Mine 1 Copper 1 Estate"), "play Mine")) == ["trash Copper"]


def test_mine_without_a_treasure_gains_nothing() -> None:
    assert number(go(at("Mine", "1 Mine 1 Estate"), "play Mine"), "node") == 3


# Witch: "+2 Cards. Each other player gains a Curse card."


def test_witch_hands_out_the_last_curses_from_the_left() -> None:
    table = at("Witch", "1 Witch", "2 Copper", others=("", "", ""), supply={"Curse": 2})
    go(table, "play Witch", "draw Copper", "draw Copper")
    assert [pile(table, "discard", seat) for seat in (1, 2, 3)] == ["1 Curse", "1 Curse", ""]


# Adventurer: "Reveal cards from your deck until you reveal 2 Treasure cards. Put those into your hand and discard the other
# revealed cards."


def test_adventurer_digs_for_two_treasures() -> None:
    table = at("Adventurer", "1 Adventurer", "1 Copper 1 Gold 2 Estate")
    go(table, "play Adventurer", "draw Estate", "draw Copper", "draw Estate", "draw Gold")
    assert (number(table, "coins"), pile(table, "discard")) == (4, "2 Estate")


def test_adventurer_does_not_shuffle_in_what_it_revealed() -> None:
    table = go(at("Adventurer", "1 Adventurer", "1 Estate", "1 Copper"), "play Adventurer", "draw Estate", "draw Copper")
    assert (number(table, "coins"), pile(table, "discard")) == (1, "1 Estate")  # no card is left: one treasure is all
