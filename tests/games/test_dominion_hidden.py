"""resample_hidden of Dominion draws the unknown cards with the right odds, from a seat's knowledge and never from the truth."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from dominion_at import GAME, at, go, number, pile

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadRecord
from kdenv.core.table import Table
from kdenv.core.verbs import phase_at, resample_hidden, seat_at
from kdenv.games.dominion.cards import ACTION, TREASURE, random_kingdom
from kdenv.games.dominion.notation import pile_text
from kdenv.games.dominion.progress import PLAY_NODE
from kdenv.games.dominion.tables import END

DRAWS = 20_000


@kernel
def resample_many(states, seat, n, rng, hands):
    """The hand of the other of two seats in n resamplings of states[0], packed in base 8."""
    for i in range(n):
        states[1] = states[0]
        resample_hidden(states[1], seat, rng)
        packed = 0
        for slot in range(17):
            packed = packed * 8 + int(states[1].hand[1 - seat, slot])
        hands[i] = packed


def sampled_hands(table: Table, n: int = DRAWS) -> Counter:
    """Return the number of draws for seat 0 in which seat 1 has each hand."""
    states = np.zeros(2, GAME.state_dtype)
    states[0] = table.states[0]
    hands = np.zeros(n, np.int64)
    resample_many(states, 0, n, make_rng(1), hands)
    counts: Counter = Counter()
    for packed, times in zip(*np.unique(hands, return_counts=True), strict=True):
        slots = np.array([int(packed) >> 3 * (16 - slot) & 7 for slot in range(17)])
        counts[pile_text(states[0], slots)] += int(times)
    return counts


def chi_square(counts: Counter, odds: dict[str, float]) -> float:
    """Return the statistic in standard deviations above its mean for a sample from these odds."""
    assert set(counts) <= set(odds)
    n = sum(counts.values())
    total = sum(odds.values())
    expected = {hand: n * weight / total for hand, weight in odds.items()}
    square = sum((counts[hand] - e) ** 2 / e for hand, e in expected.items())
    freedom = len(expected) - 1
    return (square - freedom) / (2 * freedom) ** 0.5


def deals(
    pool: list[str], n_left_over: int, n_hand: int, hand_from: Callable[[str], bool] = lambda card: True, n_plain: int = 0
) -> Iterator[tuple[str, ...]]:
    """Yield the hand of every deal of the cards of the pool, each by itself: leftovers (no treasures, n_plain no actions), then hands."""
    for plain in combinations(range(len(pool)), n_plain):
        if any(pool[i] in (*TREASURES, *ACTIONS) for i in plain):
            continue
        for left_over in combinations([i for i in range(len(pool)) if i not in plain], n_left_over):
            if any(pool[i] in TREASURES for i in left_over):
                continue
            rest = [i for i in range(len(pool)) if i not in plain + left_over and hand_from(pool[i])]
            for hand in combinations(rest, n_hand):
                yield tuple(sorted(pool[i] for i in hand))


TREASURES, ACTIONS = ("Copper", "Silver", "Gold"), ("Moat", "Village", "Smithy")


ORDER = ("Copper", "Silver", "Gold", "Estate", "Duchy", "Province", "Curse", "Moat", "Village", "Smithy")


def odds_of(hands: Iterator[tuple[str, ...]]) -> dict[str, float]:
    odds: Counter = Counter(hands)
    return {" ".join(f"{hand.count(card)} {card}" for card in ORDER if card in hand): n for hand, n in odds.items()}


# Three cards in hand, three in the deck, one left over face down; what was bought lies open.
TINY = {"deck_1": "1 Copper 1 Duchy 1 Smithy", "discard_1": "1 Silver 1 Estate", "seen_1": "1 Silver"}
POOL = ["Copper", "Copper", "Estate", "Duchy", "Smithy", "Estate", "Gold"]


def test_honest_hands_have_the_odds_of_the_page() -> None:
    table = at("Village, Smithy", "1 Village", others=("1 Copper 1 Gold 1 Estate",), **TINY)
    assert chi_square(sampled_hands(table), odds_of(deals(POOL, 1, 3))) < 5


def test_with_open_discards_hands_are_drawn_from_hand_and_deck() -> None:
    table = at("Village, Smithy", "1 Village", others=("1 Copper 1 Gold 1 Estate",), info="open_discard", **TINY)
    pool = ["Copper", "Copper", "Estate", "Duchy", "Smithy", "Gold"]
    assert chi_square(sampled_hands(table), odds_of(deals(pool, 0, 3))) < 5


def test_with_the_information_of_the_thesis_nothing_is_hidden() -> None:
    table = at("Village, Smithy", "1 Village", others=("1 Copper 1 Gold 1 Estate",), info="thesis", **TINY)
    assert sampled_hands(table, 50) == {"1 Copper 1 Gold 1 Estate": 50}


def test_known_cards_on_top_of_the_deck_are_not_in_hand() -> None:
    table = at("Village, Smithy", "1 Village", others=("1 Copper 1 Gold 1 Estate",), top_1="Smithy", **TINY)
    pool = [card for card in POOL if card != "Smithy"]
    assert chi_square(sampled_hands(table), odds_of(deals(pool, 1, 3))) < 5


def test_a_flipped_deck_may_hold_treasures() -> None:
    parts = TINY | {"discard_1": "2 Silver 1 Estate", "flipped_1": "1"}
    table = at("Village, Smithy", "1 Village", others=("1 Copper 1 Gold 1 Estate",), **parts)
    assert chi_square(sampled_hands(table), odds_of(deals([*POOL, "Silver"], 1, 3))) < 5


LARGE = {"deck_1": "1 Copper 2 Duchy 1 Smithy 1 Village", "discard_1": "1 Silver 3 Estate", "seen_1": "1 Silver"}
LARGE_POOL = ["Copper", "Copper", "Duchy", "Duchy", "Smithy", "Village", "Estate", "Estate", "Estate", "Estate", "Gold"]


@pytest.mark.parametrize("n_plain", [0, 1, 2, 3])
def test_leftovers_of_a_seat_that_was_not_asked_hold_no_actions(n_plain: int) -> None:
    table = at("Village, Smithy", "1 Village", others=("1 Copper 1 Gold 1 Estate",), **LARGE, plain_1=n_plain)
    assert chi_square(sampled_hands(table), odds_of(deals(LARGE_POOL, 3 - n_plain, 3, n_plain=n_plain))) < 5


@pytest.mark.parametrize("n_plain", [0, 2])
def test_the_hand_of_a_seat_that_buys_without_having_been_asked_holds_no_action(n_plain: int) -> None:
    parts = LARGE | {"turn": 1, "stage": "buy", "node": "buy", "unasked": "yes", "plain_1": n_plain, "play": "1 Copper 1 Gold"}
    table = at("Village, Smithy", "1 Village", others=("2 Estate",), **parts)
    pool = ["Copper", "Duchy", "Duchy", "Smithy", "Village", "Estate", "Estate", "Estate", "Estate", "Estate"]
    plain_hands = deals(pool, 3 - n_plain, 2, lambda card: card not in (*TREASURES, *ACTIONS), n_plain)
    assert chi_square(sampled_hands(table), odds_of(plain_hands)) < 5


DECK = "5 Copper 1 Silver 1 Gold 3 Estate 1 Duchy 1 Smithy 2 Village"
AFTER_THE_TURN = {
    # played, leftovers of any kind but treasures, leftovers that are no actions either, the cards that are still unknown
    "not asked": ("2 Copper", 0, 3, "3 Copper 1 Silver 1 Gold 3 Estate 1 Duchy 1 Smithy 2 Village"),
    "no actions left": ("3 Copper 1 Smithy", 4, 0, "2 Copper 1 Silver 1 Gold 3 Estate 1 Duchy 2 Village"),
}


@pytest.mark.parametrize("case", AFTER_THE_TURN)
def test_in_games_played_hands_have_the_odds_of_the_page(case: str) -> None:
    """Seat 1 draws a hand, plays its Smithy if it has to, buys nothing, and draws the next hand; what it played is known."""
    played, n_left_over, n_plain, unknown = AFTER_THE_TURN[case]
    clean_up = {"stage": "clean-up", "node": "draw", "turn": 1, "draw": "1 5 hand", "deck_1": DECK, "deck_0": "40 Copper"}
    table = at("Village, Smithy", "5 Copper", others=("",), **clean_up)
    rng, hands = make_rng(1), Counter()
    while sum(hands.values()) < 600:
        game = table.clone()
        game.run_chance(rng)
        game.decide(END, rng)  # seat 0 buys nothing
        asked = number(game, "node") == PLAY_NODE
        if asked == (case == "not asked") or (asked and "play Smithy" not in map(game.name, game.legal())):
            continue
        if asked:
            game.decide(game.action("play Smithy"), rng)
        if pile(game, "play") == played:
            game.decide(END, rng)
            hands[pile(game, "hand", 1)] += 1
    pool = [card for n, card in (entry.split() for entry in re.findall(r"\d+ \w+", unknown)) for _ in range(int(n))]
    odds = odds_of(deals(pool, n_left_over, 5, n_plain=n_plain))
    assert chi_square(hands, odds) < 5
    assert game.states[0]["plain"].tolist() == [0, n_plain, 0, 0]
    assert chi_square(sampled_hands(game), odds) < 5


def test_what_is_known_of_leftovers_is_true_and_kept_by_a_draw() -> None:
    n = 0
    for table in tables(6, 3, "honest"):
        for seat in range(3):
            for states in (table.states, resampled(table, seat), resampled(table, (seat + 1) % 3)):
                s = states[0]
                unseen = s["discard"][seat].astype(int) - s["open"][seat]
                plain = [slot for slot in range(17) if not (int(s["of_type"][TREASURE]) | int(s["of_type"][ACTION])) >> slot & 1]
                assert unseen[plain].sum() >= s["plain"][seat] == table.states[0]["plain"][seat]
                n += int(s["plain"][seat])
                if s["unasked"]:
                    assert not int(s["held"][s["turn"]]) & int(s["of_type"][ACTION])
    assert n > 100


def test_a_position_that_claims_too_much_of_leftovers_is_refused() -> None:
    parts = {"deck_1": "1 Copper", "discard_1": "1 Estate 1 Smithy", "seen_1": ""}
    with pytest.raises(BadRecord, match="plain 1: 2 is not a number from 0 to 1"):
        at("Village, Smithy", "1 Village", plain_1=2, **parts)
    with pytest.raises(BadRecord, match="unasked: yes is for the buy phase of a seat with actions left"):
        at("Village, Smithy", "1 Village", unasked="yes")


def test_an_opponent_who_may_play_an_action_holds_one() -> None:
    table = at(
        "Village, Smithy", "2 Copper", others=("1 Copper 1 Smithy 1 Estate",), turn=1, discard_1="1 Estate", deck_1="1 Copper 1 Village"
    )
    pool = ["Copper", "Copper", "Estate", "Smithy", "Village"]
    hands = (hand for hand in deals(pool, 0, 3) if "Smithy" in hand or "Village" in hand)
    assert chi_square(sampled_hands(table), odds_of(hands)) < 5


def test_an_opponent_who_buys_holds_no_treasure() -> None:
    table = at("Village, Smithy", "2 Copper", others=("1 Copper 1 Smithy 1 Estate",), turn=1, deck_1="1 Gold 1 Duchy")
    go(table, "end")
    pool = ["Estate", "Smithy", "Duchy", "Gold"]
    assert chi_square(sampled_hands(table), odds_of(deals(pool, 0, 2, lambda card: card != "Gold"))) < 5


def test_a_victim_of_militia_can_go_on_in_order() -> None:
    table = at("Militia, Smithy", "1 Militia", others=("3 Copper 1 Estate 1 Smithy",), deck_1="2 Copper")
    go(table, "play Militia", "discard Estate")
    assert set(sampled_hands(table)) == {"3 Copper 1 Smithy"}  # it must still discard something above an Estate


SPIED = {"deck_1": "2 Moat 1 Copper 1 Duchy", "discard_1": "1 Silver 1 Estate", "seen_1": "1 Silver"}
SPIED_POOL = ["Copper", "Estate", "Gold", "Moat", "Moat", "Copper", "Duchy", "Estate"]


def test_a_seat_that_an_attack_deals_with_holds_no_moat() -> None:
    table = at("Spy, Moat", "1 Spy", "2 Copper", others=("1 Copper 1 Estate 1 Gold",), **SPIED)
    go(table, "play Spy", "draw Copper", "draw Copper")
    assert chi_square(sampled_hands(table), odds_of(deals(SPIED_POOL, 1, 3))) < 5  # so far seat 0 looks at its own card
    go(table, "yes")
    assert chi_square(sampled_hands(table), odds_of(deals(SPIED_POOL, 1, 3, lambda card: card != "Moat"))) < 5
    go(table, "draw Duchy")
    pool = [card for card in SPIED_POOL if card != "Duchy"]
    assert chi_square(sampled_hands(table), odds_of(deals(pool, 1, 3, lambda card: card != "Moat"))) < 5


def test_a_victim_of_militia_holds_no_moat() -> None:
    table = at("Militia, Moat", "1 Militia", others=("1 Copper 1 Estate 1 Gold 1 Duchy",), **SPIED)
    go(table, "play Militia")
    assert chi_square(sampled_hands(table), odds_of(deals([*SPIED_POOL, "Duchy"], 1, 4, lambda card: card != "Moat"))) < 5


def test_the_card_library_asks_about_is_an_action() -> None:
    table = at("Library, Smithy", "2 Copper", others=("1 Library 5 Estate",), turn=1, deck_1="1 Smithy 1 Copper 1 Duchy")
    go(table, "play Library", "draw Smithy")
    assert all("Smithy" in hand for hand in sampled_hands(table, 300))


def tables(n: int, players: int, info: str) -> Iterator[Table]:
    """Positions of random games, at decisions and at chance nodes."""
    for seed in range(n):
        rng = np.random.default_rng(seed)
        table = Table(GAME, players, kingdom=random_kingdom(seed), info=info, max_turns=12)
        while not table.over:
            if table.at_chance:
                table.chance(table.sample_chance(rng))
            else:
                legal = table.legal()
                table.play(int(rng.choice([action for action in legal if action] or legal)))
            if rng.random() < 0.1:
                yield table


def resampled(table: Table, seat: int, seed: int = 1) -> Any:
    states = table.states.copy()
    resample_hidden(states[0], seat, make_rng(seed))
    return states


def shuffled_truth(table: Table, seat: int) -> Any:
    """The same position with everything hidden from the seat dealt otherwise."""
    return resampled(table, seat, 77)


@pytest.mark.parametrize("info", ["honest", "open_discard", "thesis"])
@pytest.mark.parametrize("players", [2, 4])
def test_resampling_does_not_depend_on_the_truth(players: int, info: str) -> None:
    for table in tables(3, players, info):
        for seat in range(players):
            one, two = resampled(table, seat), shuffled_truth(table, seat)
            resample_hidden(two[0], seat, make_rng(1))
            assert one.tobytes() == two.tobytes(), table.position()


@pytest.mark.parametrize("info", ["honest", "open_discard"])
def test_resampling_keeps_all_that_a_seat_can_know(info: str) -> None:
    for table in tables(6, 3, info):
        for seat in range(3):
            before, after = table.states[0], resampled(table, seat)[0]
            for other in range(3):
                assert before["hand"][other].sum() == after["hand"][other].sum()
                assert before["n_deck"][other] == after["n_deck"][other] == after["deck"][other].sum()
                assert (before["owned"][other] == after["owned"][other]).all()
                assert (after["discard"][other] >= after["open"][other]).all()
                pool = after["hand"][other].astype(int) + after["deck"][other] + after["discard"][other]
                assert (pool == before["hand"][other].astype(int) + before["deck"][other] + before["discard"][other]).all()
            for zone in ("hand", "deck", "discard"):
                assert (before[zone][seat] == after[zone][seat]).all()


def test_a_resampled_position_can_be_played_on() -> None:
    buffer = np.zeros(32, np.int64)
    for table in tables(12, 3, "honest"):
        for seat in range(3):
            states = resampled(table, seat)
            assert phase_at(states, 0) == table.phase
            if seat == table.seat:
                n = GAME.room[0].legal(states[0], buffer)
                assert (int(seat_at(states, 0)), buffer[:n].tolist()) == (table.seat, table.legal())
            Table(GAME, 3, kingdom=table.options["kingdom"], max_turns=12).at_position(GAME.notation.position_text(states, 0))


def test_what_a_seat_observes_does_not_depend_on_what_is_hidden() -> None:
    for info in ("honest", "open_discard", "thesis"):
        for table in tables(3, 3, info):
            for seat in range(3):
                twin = table.clone()
                twin.states = shuffled_truth(table, seat)
                assert (twin.observation(seat) == table.observation(seat)).all(), table.position()


def test_a_card_drawn_to_hand_is_seen_by_its_owner_only() -> None:
    table = go(Table(GAME, 2), *["draw Copper"] * 10)
    assert [event.number for event in table.view(1).events()] == [None] * 5 + [0] * 5


def test_a_card_revealed_is_seen_by_all() -> None:
    table = go(at("Thief", "1 Thief", deck_1="2 Copper", others=("",)), "play Thief", "draw Copper", "draw Copper")
    assert [event.number for event in table.view(0).events()][1:] == [0, 0]


def test_a_view_of_another_hand_says_how_many_cards_it_has() -> None:
    table = go(Table(GAME, 2), *["draw Copper"] * 5, *["draw Estate"] * 3, *["draw Copper"] * 2)
    assert "hand: 5 cards" in str(table.view(0)) and number(table, "node") == 3 and pile(table, "hand", 1) == "2 Copper 3 Estate"
