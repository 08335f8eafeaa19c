"""The options of Dominion, games that are broken off, and cards from outside."""

import numpy as np
import pytest
from dominion_at import GAME, at, go

from kdenv.core.errors import BadOption
from kdenv.core.table import Table
from kdenv.core.verbs import truncated
from kdenv.games.dominion import rules
from kdenv.games.dominion.cards import (
    ACTION,
    ANY,
    CARDS,
    CURSES,
    DRAW_TO,
    GAIN,
    GAIN_CARD,
    MOST_COINS,
    MOST_GIVEN,
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


def test_a_game_that_nobody_ends_is_truncated() -> None:
    table = Table(GAME, 2, max_turns=3)
    while not table.over:
        table.run_chance(np.random.default_rng(1))
        table.play(0)
    assert truncated(table.states, 0) and table.states[0]["turns"][:2].tolist() == [3, 3]


def test_a_game_that_ends_in_its_last_turn_is_not_truncated() -> None:
    table = at("Village", "1 Village", others=("1 Village 8 Copper",), turn=1, turns="9 9", supply={"Province": 1}, max_turns=9)
    assert not truncated(go(table, "end", "buy Province").states, 0)


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
    n_cards = len(CARDS)
    add_card(card)
    yield card
    CARDS.remove(card)
    assert len(CARDS) == n_cards


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
        (Card("Rich", 2, (ACTION,), coins=MOST_COINS + 1), "gives 21 coins; a card gives 0 to 20"),
        (Card("Rich", 2, (ACTION,), buys=MOST_GIVEN + 1), "gives a number of cards, actions or buys"),
        (Card("Poor", 2, (ACTION,), cards=-1), "gives a number of cards, actions or buys"),
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


def test_no_byte_of_a_state_is_left_to_chance() -> None:
    assert GAME.state_dtype.itemsize == sum(np.dtype(GAME.state_dtype.fields[name][0]).itemsize for name in GAME.state_dtype.names)
