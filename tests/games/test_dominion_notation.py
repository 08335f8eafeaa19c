"""Dominion as text and back: actions, positions, records, and the errors of bad text."""

import random
from collections.abc import Iterator

import pytest
from dominion_at import GAME, at, go, legal

from kdenv.core.errors import BadRecord, IllegalAction
from kdenv.core.record import replay, write_record
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.dominion.cards import random_kingdom
from kdenv.games.dominion.tables import N_ACTIONS


def games(n: int, max_turns: int = 15) -> Iterator[Table]:
    """Random games at every step, their tables unfinished."""
    for seed in range(n):
        dice = random.Random(seed)
        table = Table(GAME, 1 + seed % 4, kingdom=random_kingdom(seed), max_turns=max_turns)
        while not table.over:
            yield table
            if table.at_chance:
                outcomes, odds = zip(*table.chances(), strict=True)
                table.chance(dice.choices(outcomes, odds)[0])
            else:
                legal = table.legal()
                table.play(dice.choice([action for action in legal if action] or legal))


def same_options(table: Table) -> Table:
    return Table(GAME, table.players, **table.options)


def test_every_position_can_be_written_and_read() -> None:
    for table in games(12):
        twin = same_options(table).at_position(table.position())
        assert twin.position() == table.position()
        assert (twin.legal(), twin.chances(), twin.seat, twin.scores()) == (table.legal(), table.chances(), table.seat, table.scores())
        for seat in range(table.players):
            assert (twin.observation(seat) == table.observation(seat)).all()


def test_every_action_can_be_written_and_read() -> None:
    for table in games(4):
        for action in table.legal():
            assert table.action(table.name(action)) == action
        for outcome, _ in table.chances():
            assert GAME.notation.chance_from(table.states, 0, table.chance_name(outcome)) == outcome


def test_every_action_has_its_own_name() -> None:
    table = Table(GAME, 2)
    assert len({table.name(action) for action in range(N_ACTIONS)}) == N_ACTIONS


def test_a_record_can_be_played_again() -> None:
    for table in games(8):
        pass_on = table  # the table at its last step
        if table.log and len(table.log) % 40 == 0:
            *_, again = replay(write_record(pass_on), find_game)
            assert again.position() == pass_on.position()


def test_a_record_names_the_cards_of_a_random_kingdom() -> None:
    header = write_record(Table(GAME, 2, kingdom="random", kingdom_seed=5)).splitlines()[0]
    assert header.count(",") == 9 and "random" not in header


def test_a_record_of_a_known_kingdom_names_it() -> None:
    assert "kingdom=first_game" in write_record(Table(GAME, 2, kingdom="first_game"))


def test_a_card_in_play_may_be_written_in_any_case() -> None:
    table = at("Throne Room", "1 Throne Room")
    assert table.action("PLAY throne room") == table.action("play Throne Room")


@pytest.mark.parametrize(
    "text, message",
    [
        ("buy Gold", "is not legal"),
        ("buy Platinum", "there is no 'Platinum' in this game"),
        ("play Vilage", "did you mean Village"),
        ("sell Gold", "is no action"),
        ("buy", "is no action"),
        ("buy -", "there is no '-'"),
        ("", "is no action"),
    ],
)
def test_bad_actions_are_told_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises((BadRecord, IllegalAction)) as error:
        at("Village", "1 Village").action(text)
    assert message in str(error.value)


KINGDOM = "Moat, Village, Militia, Throne Room"
SEATS = "hand 1: 5 Copper; deck 1: ; discard 1: "
GOOD = (
    "stage: action; node: play; turn: 0; turns: 1 0; actions: 1; buys: 1; coins: 0; supply: 46 Copper 40 Silver 30 Gold 8 Estate 8 Duchy "
    "8 Province 10 Curse 10 Moat 9 Village 10 Militia 10 Throne Room; trash: ; play: ; "
    f"hand 0: 2 Copper 1 Village; deck 0: ; discard 0: ; {SEATS}"
)
MILITIA = (
    "stage: action; node: discard; turn: 0; turns: 1 0; actions: 0; buys: 1; coins: 2; supply: 46 Copper 40 Silver 30 Gold 8 Estate "
    "8 Duchy 8 Province 10 Curse 10 Moat 10 Village 9 Militia 10 Throne Room; trash: ; play: 1 Militia; "
    f"hand 0: ; deck 0: ; discard 0: ; {SEATS}; running: Militia 0 0; affected: 1"
)
TWICE = (
    "stage: action; node: again; turn: 0; turns: 1 0; actions: 0; buys: 1; coins: 0; supply: 46 Copper 40 Silver 30 Gold 8 Estate "
    "8 Duchy 8 Province 10 Curse 10 Moat 10 Village 9 Militia 8 Throne Room; trash: ; play: 1 Throne Room; "
    f"hand 0: 1 Militia 1 Throne Room; deck 0: ; discard 0: ; {SEATS}; running: Throne Room 0 0"
)
OVER = "stage: clean-up; node: over"
NOT_A_NUMBER = "is not a number from"
NOT_A_PILE = "is not a pile such as"


def test_positions_are_written_so() -> None:
    assert at(KINGDOM, "1 Village 2 Copper").position() == GOOD
    assert go(at(KINGDOM, "1 Militia"), "play Militia").position() == MILITIA
    assert go(at(KINGDOM, "2 Throne Room 1 Militia"), "play Throne Room").position() == TWICE


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is no part of a position"),
        ("stage: action", "lacks node:"),
        (GOOD.replace("stage: action", "stage: pause"), "stage: pause is not one of"),
        (GOOD.replace("turn: 0", "turn: 2"), NOT_A_NUMBER),
        (GOOD.replace("turn: 0", "turn: -1"), NOT_A_NUMBER),
        (GOOD.replace("turns: 1 0", "turns: 1"), "turns: 1 is not 2 numbers"),
        (GOOD.replace("turns: 1 0", "turns: 1 1"), "turns: 1 1 cannot be in the turn of seat 0"),
        (GOOD.replace("turns: 1 0", "turns: 0 0"), "turns: 0 0 cannot be in the turn of seat 0"),
        (GOOD.replace("turns: 1 0", "turns: 201 200"), "turns: 201 is not a number from 0 to 200"),
        (GOOD.replace("1 Village; deck", "1 Palace; deck"), "there is no 'Palace'"),
        (GOOD.replace("2 Copper 1 Village", "2 Copper 3 Copper"), "lists Copper twice"),
        (GOOD.replace("2 Copper 1 Village", "Copper"), NOT_A_PILE),
        (GOOD.replace("2 Copper 1 Village", "-128 Copper"), NOT_A_PILE),
        (GOOD.replace("2 Copper 1 Village", "999 Copper"), NOT_A_NUMBER),
        (GOOD.replace("2 Copper 1 Village", "2 Copper"), "offers nothing to choose"),
        (GOOD.replace("2 Copper 1 Village", "2 Copper 2 Village"), "all piles together have 11 Village; the game has 10"),
        (GOOD.replace("8 Province", "162 Province"), NOT_A_NUMBER),
        (GOOD.replace("46 Copper", "47 Copper"), "the game begins with 46"),
        (GOOD.replace("actions: 1", "actions: 0"), "needs actions or buys"),
        (GOOD.replace("actions: 1", "actions: 9999"), "actions: 9999 is not a number from 0 to 41"),
        (GOOD.replace("buys: 1", "buys: 2"), "buys: 2 is not a number from 0 to 1"),
        (GOOD.replace("coins: 0", "coins: 9999"), NOT_A_NUMBER),
        (GOOD.replace("stage: action; node: play", "stage: buy; node: buy"), "treasures are in hand in the buy phase"),
        (GOOD.replace("node: play", "node: buy"), "node: buy belongs to another stage"),
        (GOOD.replace("node: play", "node: trash"), "needs a card in running"),
        (GOOD.replace("node: play", "node: draw"), "draw: is given where"),
        (GOOD + "; draw: 0 2 hand", "draw: is given where"),
        (GOOD.replace("node: play", "node: draw") + "; draw: 0 2 hand", "seat 0 draws by chance from a deck"),
        (GOOD.replace("node: play", "node: draw").replace("deck 0:", "deck 0: 3 Estate") + "; draw: 0 2 hand", "cannot have 2 more"),
        (GOOD.replace("node: play", "node: over"), "node: over belongs to another stage"),
        (GOOD.replace("stage: action; node: play", OVER), "a game is over when"),
        (GOOD.replace("stage: action; node: play", OVER).replace("8 Province ", ""), "has cards in hand after its clean-up"),
        (GOOD + "; top 0: Copper", "cards that are not in its deck"),
        (GOOD + "; seen 0: 1 Copper", "not in its discards"),
        (GOOD + "; aside: 1 Copper", "does not say whose"),
        (GOOD + "; aside: 1 Copper of 1", "no card being played puts them there"),
        (GOOD + "; loot: 1 Gold", "not in the trash"),
        (GOOD + "; running: Village 0 0", "nothing of a card happens next"),
        (GOOD + "; left: 1", "left: is given, but no card is being played"),
        (GOOD + "; affected: 1", "affected: is given, but no card is being played"),
        (GOOD + "; stage: buy", "twice"),
        (GOOD + "; colour: red", "is no part of a position"),
        (MILITIA.replace("affected: 1", "affected: 0"), "the card deals with the other seats"),
        (MILITIA.replace("affected: 1", "affected: 2"), NOT_A_NUMBER),
        (MILITIA.replace("; affected: 1", ""), "lacks affected:"),
        (MILITIA.replace("10 Moat", "9 Moat").replace("hand 1: 5 Copper", "hand 1: 4 Copper 1 Moat"), "no attack touches it"),
        (MILITIA + "; left: 2", "left: is given"),
        (
            MILITIA.replace("46 Copper", "44 Copper").replace("hand 1: 5 Copper", "hand 1: 7 Copper"),
            "hand 1: has 7 cards; seats that are not on turn have at most 5",
        ),
        (MILITIA.replace("hand 1: 5 Copper", "hand 1: 1 Copper"), "none are left to choose"),
        (MILITIA.replace("Militia 0 0", "Militia 0"), "is not a card, its step"),
        (MILITIA.replace("Militia 0 0", "Militia 9 0"), NOT_A_NUMBER),
        (MILITIA.replace("Militia 0 0", "Militia 0 1"), NOT_A_NUMBER),
        (MILITIA.replace("play: 1 Militia", "play: "), "Militia is not among the cards in play"),
        (TWICE.replace("Throne Room 0 0", "Throne Room 0 0, Throne Room 0 0"), "Throne Room at step 0 does not play the card after it"),
        (TWICE.replace("Throne Room 0 0", ", ".join(["Throne Room 1 0"] * 12 + ["Throne Room 0 0"])), "is not among the cards in play"),
        (TWICE.replace("Throne Room 0 0", ", ".join(["Throne Room 1 0"] * 14)), "running: has 14 cards; 13 is the most"),
    ],
)
def test_bad_positions_are_told_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(BadRecord) as error:
        at(KINGDOM, "1 Village").at_position(text)
    assert message in str(error.value)


def test_what_can_be_done_is_named_in_the_error() -> None:
    table = at("Village", "1 Village")
    with pytest.raises(IllegalAction, match="play Village"):
        table.play(5)
    assert legal(table) == ["end", "play Village"]
