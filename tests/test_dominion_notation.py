"""Dominion as text and back: actions, positions, records, and what is said of bad text."""

import random
import re
from collections.abc import Iterator

import numpy as np
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


GOOD = at("Village, Militia, Throne Room", "1 Village 2 Copper").position()
MILITIA = go(at("Village, Militia, Throne Room", "1 Militia"), "play Militia").position()
NOT_A_NUMBER = "is not a number from"


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is no part of a position"),
        ("stage: action", "lacks node:"),
        (GOOD.replace("stage: action", "stage: pause"), "stage: pause is not one of"),
        (GOOD.replace("turn: 0", "turn: 2"), NOT_A_NUMBER),
        (GOOD.replace("turn: 0", "turn: -1"), NOT_A_NUMBER),
        (GOOD.replace("turns: 1 1", "turns: 1"), "turns: 1 is not 2 numbers"),
        (GOOD.replace("1 Village; deck", "1 Palace; deck"), "there is no 'Palace'"),
        (GOOD.replace("2 Copper 1 Village", "2 Copper 3 Copper"), "lists Copper twice"),
        (GOOD.replace("2 Copper 1 Village", "Copper"), "is not a pile"),
        (GOOD.replace("2 Copper 1 Village", "999 Copper"), NOT_A_NUMBER),
        (GOOD.replace("2 Copper 1 Village", "2 Copper"), "offers nothing to choose"),
        (GOOD.replace("actions: 1", "actions: 0"), "needs actions or buys"),
        (GOOD.replace("node: play", "node: buy"), "needs its phase"),
        (GOOD.replace("node: play", "node: trash"), "needs a card in running"),
        (GOOD.replace("node: play", "node: draw"), "draw: is given where"),
        (GOOD + "; draw: 0 2 hand", "draw: is given where"),
        (GOOD.replace("node: play", "node: draw") + "; draw: 0 2 hand", "seat 0 draws by chance from a deck"),
        (GOOD.replace("node: play", "node: over"), "over in the clean-up"),
        (GOOD + "; top 0: Copper", "cards that are not in its deck"),
        (GOOD + "; seen 0: 1 Copper", "not in its discards"),
        (GOOD + "; aside: 1 Copper", "does not say whose"),
        (GOOD + "; aside: 1 Copper of 1", "no card being played puts them there"),
        (GOOD + "; loot: 1 Gold", "not in the trash"),
        (GOOD + "; running: Village 0 0 1", "no card being played"),
        (GOOD + "; running: Throne Room 0 0 2", "not cards in play"),
        (GOOD + "; stage: buy", "twice"),
        (GOOD + "; colour: red", "is no part of a position"),
        (MILITIA.replace("decider: 1", "decider: 0"), "is not the seat the card asks"),
        (MILITIA.replace("registers: 1 2 1 2", "registers: 1 2 1 0"), "none are left to choose"),
        (MILITIA.replace("registers: 1 2 1 2", "registers: 1 2 9 2"), NOT_A_NUMBER),
        (MILITIA.replace("registers: 1", "registers:"), "registers: needs 7 numbers"),
        (MILITIA.replace("Militia 0 0 1", "Militia 0 0"), "is not a card, its step"),
        (MILITIA.replace("Militia 0 0 1", "Militia 9 0 1"), NOT_A_NUMBER),
    ],
)
def test_bad_positions_are_told_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(BadRecord) as error:
        at("Village, Militia, Throne Room", "1 Village").at_position(text)
    assert message in str(error.value)


def mutant(text: str, dice: random.Random) -> str:
    """The text with one or two numbers, words or parts changed."""
    for _ in range(dice.randint(1, 2)):
        parts = text.split("; ")
        i = dice.randrange(len(parts))
        match dice.randrange(4):
            case 0:
                del parts[i]
            case 1:
                name, _, _ = parts[i].partition(":")
                _, _, value = dice.choice(parts).partition(":")
                parts[i] = f"{name}:{value}"
            case 2:
                numbers = list(re.finditer(r"-?\d+", parts[i]))
                if numbers:
                    where = dice.choice(numbers)
                    parts[i] = parts[i][: where.start()] + str(dice.choice([-1, 0, 1, 2, 3, 5, 16, 17, 99])) + parts[i][where.end() :]
            case _:
                names = ("play", "buy", "trash", "gain", "discard", "put back", "loot", "ask", "draw", "again", "over")
                parts[i] = re.sub(r"node: .*", f"node: {dice.choice(names)}", parts[i])
        text = "; ".join(parts)
    return text


@pytest.mark.parametrize("n", [pytest.param(2, id="some"), pytest.param(40, id="many", marks=pytest.mark.slow)])
def test_a_mutilated_position_is_rejected_or_can_be_played_to_its_end(n: int) -> None:
    dice = random.Random(n)
    rng = np.random.default_rng(n)
    read = 0
    for table in games(n, 12):
        text = mutant(table.position(), dice)
        try:
            twin = same_options(table).at_position(text)
        except BadRecord:
            continue
        read += 1
        for _ in range(300):
            if twin.over:
                break
            if twin.at_chance:
                twin.chance(twin.sample_chance(rng))
            else:
                possible = twin.legal()
                assert possible, text
                twin.play(int(rng.choice(possible)))
            assert (twin.states[0]["hand"] >= 0).all() and (twin.states[0]["deck"] >= 0).all(), text
    assert read > 0


def test_what_can_be_done_is_named_in_the_error() -> None:
    table = at("Village", "1 Village")
    with pytest.raises(IllegalAction, match="play Village"):
        table.play(5)
    assert legal(table) == ["end", "play Village"]
