"""The turn, the supply and the end of Dominion, and the tree sizes of the thesis."""

import numpy as np
import pytest
from dominion_at import GAME, at, go, legal, number, pile

from kdenv.compiler.kernel import kernel
from kdenv.core.errors import BadOption
from kdenv.core.table import Table
from kdenv.core.verbs import CHANCE, DECIDE, apply, apply_chance, begin_at, chances, phase
from kdenv.core.verbs import legal as legal_actions
from kdenv.games.dominion import rules
from kdenv.games.dominion.cards import (
    ACTION,
    ANY,
    CARDS,
    CURSES,
    DRAW_TO,
    GAIN,
    GAIN_CARD,
    MOST_GIVEN,
    N_PRINTED,
    N_STEPS,
    N_TYPES,
    OTHERS_GAIN,
    PLAY_TWICE,
    TO_DECK,
    TRASH_FOR_COINS,
    VICTORY,
    Card,
    add_card,
)
from kdenv.games.dominion.tables import COPPER, CURSE


@pytest.mark.parametrize("players, victory, curses, coppers", [(1, 8, 0, 53), (2, 8, 10, 46), (3, 12, 20, 39), (4, 12, 30, 32)])
def test_supply_by_number_of_players(players: int, victory: int, curses: int, coppers: int) -> None:
    supply = Table(GAME, players).states[0]["supply"].tolist()
    assert supply[:7] == [coppers, 40, 30, victory, victory, victory, curses]
    assert supply[9] == victory and supply[7] == 10  # Gardens and Village


def test_supply_of_the_thesis() -> None:
    assert Table(GAME, 2, supply="thesis").states[0]["supply"].tolist()[:3] == [44, 30, 20]


THESIS = ["Village", "Woodcutter", "Gardens", "Moneylender", "Remodel", "Smithy", "Festival", "Laboratory", "Market", "Witch"]


def test_kingdom_is_sorted_by_cost_then_name() -> None:
    slots = [CARDS[number].name for number in Table(GAME, 2).states[0]["card"]]
    assert slots[7:] == THESIS


def test_opening_hands_are_drawn_seat_by_seat() -> None:
    table = go(Table(GAME, 2), *["draw Copper"] * 5)
    assert (pile(table, "hand", 0), pile(table, "deck", 0), pile(table, "hand", 1)) == ("5 Copper", "2 Copper 3 Estate", "")


def test_treasures_are_played_at_once_where_there_is_no_action() -> None:
    table = go(Table(GAME, 2), *["draw Copper"] * 10)
    assert (table.seat, number(table, "coins"), legal(table)) == (
        0,
        5,
        ["end", "buy Copper", "buy Silver", "buy Estate", "buy Duchy", *("buy " + name for name in THESIS)],
    )


def test_the_action_phase_can_be_ended_early() -> None:
    assert number(go(at("Village", "1 Village 3 Copper"), "end"), "coins") == 3


def test_every_buy_may_be_used() -> None:
    table = go(at("Woodcutter", "1 Woodcutter 3 Copper"), "play Woodcutter", "buy Estate", "buy Silver")
    assert pile(table, "owned") == "3 Copper 1 Silver 1 Estate 1 Woodcutter" and table.at_chance


def test_drawing_takes_what_is_left_then_shuffles_the_discards() -> None:
    table = go(at("Smithy", "1 Smithy", "1 Gold", "2 Estate"), "play Smithy", "draw Gold")
    assert table.chances() == [(3, 1.0)]


def test_drawing_stops_when_no_card_is_left() -> None:
    assert pile(go(at("Smithy", "1 Smithy", "1 Estate"), "play Smithy", "draw Estate"), "hand") == "1 Estate"


def test_curses_are_bought_with_curses_only() -> None:
    assert "buy Curse" not in legal(go(at("Village", "1 Village"), "end"))
    assert "buy Curse" in legal(go(at("Village", "1 Village", curses=True), "end"))


def test_the_game_ends_with_the_last_province_and_draws_no_more() -> None:
    table = go(at("Village", "1 Village 8 Copper", "5 Copper", supply={"Province": 1}), "end", "buy Province")
    assert table.over and pile(table, "hand") == "" and not table.states[0]["is_truncated"]


def test_the_game_ends_with_three_empty_piles_at_the_end_of_the_turn() -> None:
    table = go(
        at("Village, Smithy, Woodcutter", "1 Woodcutter 2 Copper", supply={"Village": 0, "Smithy": 0, "Estate": 1}),
        "play Woodcutter",
        "buy Estate",
    )
    assert not table.over
    assert go(table, "end").over


def test_a_pile_that_was_never_there_is_not_empty() -> None:
    table = Table(GAME, 1, kingdom="none")
    assert number(table, "n_empty") == 0


def test_equal_points_go_to_the_fewest_turns() -> None:
    table = go(at("Village", "1 Village 8 Copper", supply={"Province": 1}, turns="9 8", hand_1="1 Province"), "end", "buy Province")
    assert (table.scores(), table.ranks()) == ([6, 6], [2, 1])


def test_equal_points_and_turns_are_shared() -> None:
    table = at("Village", "1 Village", others=("1 Village 8 Copper",), turn=1, turns="9 9", hand_0="1 Province", supply={"Province": 1})
    assert go(table, "end", "buy Province").ranks() == [1, 1]


def test_a_game_that_nobody_ends_is_truncated() -> None:
    table = Table(GAME, 2, max_turns=3)
    while not table.over:
        table.run_chance(np.random.default_rng(1))
        table.play(0)
    assert GAME.truncated(table.states, 0) and table.states[0]["turns"][:2].tolist() == [3, 3]


def test_a_game_that_ends_in_its_last_turn_is_not_truncated() -> None:
    table = at("Village", "1 Village", others=("1 Village 8 Copper",), turn=1, turns="9 9", supply={"Province": 1}, max_turns=9)
    assert not GAME.truncated(go(table, "end", "buy Province").states, 0)


def test_kingdom_from_a_list_of_names() -> None:
    table = Table(GAME, 2, kingdom=["Witch", "throne room", "moat"])
    assert table.options["kingdom"] == ("moat", "throne_room", "witch")


def test_random_kingdom_depends_on_its_seed_only() -> None:
    a, b, c = (Table(GAME, 2, kingdom="random", kingdom_seed=seed).options["kingdom"] for seed in (1, 1, 2))
    assert a == b != c and len(a) == 10


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kingdom": "smithy,vilage"}, "no kingdom card 'vilage' (did you mean village?)"),
        ({"kingdom": "firstgame"}, "kingdom=firstgame is not possible"),
        ({"kingdom": ["moat", "Moat"]}, "twice"),
        ({"kingdom": [3]}, "is not possible"),
        ({"kingdom": ",".join(card.name for card in CARDS[7:18])}, "room for 10"),
        ({"kingdom": ["Copper"]}, "no kingdom card"),
        ({"max_turns": 0}, "max_turns=0 is not possible"),
        ({"kingdom_seed": "x"}, "kingdom_seed=x is not possible"),
        ({"kingdom": "random", "kingdom_seed": -1}, "kingdom_seed=-1 is not possible"),
        ({"info": "all"}, "info=all is not possible"),
        ({"players": 5}, "cannot be played by 5 players"),
    ],
)
def test_bad_options_are_told_in_a_sentence(options: dict, message: str) -> None:
    with pytest.raises(BadOption) as error:
        Table(GAME, **options)
    assert message in str(error.value)


@pytest.fixture
def armory() -> Card:
    """A card that the package does not have, taken out again afterwards."""
    card = Card("Armory", 4, (ACTION,), steps=((GAIN, 4, ANY, TO_DECK),), text="Gain a card costing up to 4 onto the deck")
    add_card(card)
    yield card
    CARDS.remove(card)
    assert len(CARDS) == N_PRINTED


def test_a_card_from_outside_needs_no_new_machine_code(armory: Card) -> None:
    go(at("Workshop", "1 Workshop"), "play Workshop", "gain Silver")
    compiled = rules.apply.stats.cache_misses if hasattr(rules.apply, "stats") else 0
    table = go(at("Armory, Smithy", "1 Armory", "1 Copper"), "play Armory", "gain Smithy")
    assert table.states[0]["top"][0][0] == table.states[0]["card"].tolist().index(CARDS.index(armory)) + 1
    assert (rules.apply.stats.cache_misses if hasattr(rules.apply, "stats") else 0) == compiled


@pytest.mark.parametrize(
    "card, message",
    [
        (Card("Village", 2, (ACTION,)), "already is a card"),
        (Card("Palace", 12, (ACTION,)), "costs 12"),
        (Card("Air", 2, ()), "neither"),
        (Card("Odd", 2, (ACTION,), steps=((99,),)), "steps that do not exist"),
        (Card("Odd", 2, (ACTION,), steps=((),)), "steps that do not exist"),
        (Card("Odd", 2, (ACTION,), steps=((GAIN, 4),) * (N_STEPS + 1)), "steps that do not exist"),
        (Card("Odd", 2, (ACTION,), steps=((GAIN, 4, ANY, TO_DECK, 0),)), "steps that do not exist"),
        (Card("Rich", 2, (VICTORY,), points=128), "a number that is not within -128 to 127"),
        (Card("Rich", 2, (ACTION,), coins=MOST_GIVEN + 1), "gives a number of cards, actions, buys or coins"),
        (Card("Poor", 2, (ACTION,), cards=-1), "gives a number of cards, actions, buys or coins"),
        (Card("Odd", 2, (ACTION,), steps=((GAIN, 4, N_TYPES),)), "a step about cards of type"),
        (Card("Odd", 2, (ACTION,), steps=((GAIN, 4, -1),)), "a step about cards of type"),
        (Card("Odd", 2, (ACTION,), steps=((GAIN, 4, ANY, TO_DECK + 1),)), "neither MAY nor where a card goes"),
        (Card("Odd", 2, (ACTION,), steps=((TRASH_FOR_COINS, COPPER, ANY, MOST_GIVEN + 1),)), "neither MAY nor where a card goes"),
        (Card("Odd", 2, (ACTION,), steps=((GAIN_CARD, 7),)), "a step with the number 7; it may be 0 to 6"),
        (Card("Odd", 2, (ACTION,), steps=((OTHERS_GAIN, -1),)), "a step with the number -1; it may be 0 to 6"),
        (Card("Odd", 2, (ACTION,), steps=((PLAY_TWICE, 1),)), "a step with the number 1; it may be 2 to"),
        (Card("Odd", 2, (ACTION,), steps=((DRAW_TO, -1),)), "a step with the number -1; it may be 0 to"),
        (Card("Odd", 2, (ACTION, N_TYPES)), "is of type 7; the types are TREASURE, VICTORY, CURSES, ACTION, ATTACK, REACTION"),
        (Card("Odd", 2, (ANY,)), "is neither an action"),
        (Card("Hex", 2, (ACTION,), steps=((OTHERS_GAIN, CURSES),)), "CURSES, which is a type of cards; the number is a basic card"),
        (Card("Hex", 2, (ACTION,), steps=((GAIN, 4, CURSE),)), "cards of type 6; the types are ANY, TREASURE, VICTORY, CURSES"),
    ],
)
def test_bad_cards_are_told_in_a_sentence(card: Card, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        add_card(card)


# The search-tree sizes of the thesis (Table 3): one level of distinct hands, one level of buys a turn; one player, no kingdom.


@kernel
def count_tree(states, n_turns, slots, weights, n_open, at_option, n_options, least, totals):
    """Count hands and buys below states[0], depth first; arrays by depth are scratch."""
    d = 0
    n_open[0] = -1
    least[0] = 0
    while d >= 0:
        if n_open[d] < 0:  # just come here: what is open?
            n_open[d] = 0
            at_option[d] = 0
            if phase(states[d]) == CHANCE:
                n_options[d] = chances(states[d], slots[d], weights)
            elif phase(states[d]) == DECIDE and states[d].turns[0] <= n_turns:
                totals[0] += 1
                n_options[d] = legal_actions(states[d], slots[d])
            else:
                n_options[d] = 0
        if at_option[d] == n_options[d]:
            d -= 1
            continue
        option = slots[d, at_option[d]]
        at_option[d] += 1
        drawing = phase(states[d]) == CHANCE
        if drawing and option < least[d]:
            continue  # the same hand in another order
        states[d + 1] = states[d]
        least[d + 1] = 0
        if drawing:
            apply_chance(states[d + 1], option)
            if states[d + 1].n_deck[0] == states[d].n_deck[0] - 1 and phase(states[d + 1]) == CHANCE:
                least[d + 1] = option
        else:
            totals[1] += 1
            apply(states[d + 1], option)
            if states[d + 1].turns[0] >= n_turns:
                continue
        d += 1
        n_open[d] = -1


SIZES = [(1, 4, 21), (2, 20, 99), (3, 420, 2_077), (4, 4_700, 23_631), (5, 135_090, 681_365)]


@pytest.mark.parametrize("turns, hands, nodes", [*SIZES, pytest.param(6, 2_870_770, 15_366_943, marks=pytest.mark.slow)])
def test_tree_sizes_of_the_thesis(turns: int, hands: int, nodes: int) -> None:
    states = np.zeros(64, GAME.state_dtype)
    begin_at(states, 0, *GAME.variant(1, kingdom="none"))
    scratch = [np.zeros(64, np.int64) for _ in range(4)]
    totals = np.zeros(2, np.int64)
    count_tree(states, turns, np.zeros((64, 32), np.int64), np.zeros(32, np.int64), *scratch, totals)
    assert (totals[0], 1 + totals.sum()) == (hands, nodes)


def test_no_byte_of_a_state_is_left_to_chance() -> None:
    assert GAME.state_dtype.itemsize == sum(np.dtype(GAME.state_dtype.fields[name][0]).itemsize for name in GAME.state_dtype.names)
