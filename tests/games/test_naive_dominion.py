"""The oracle of Dominion itself: whole games, its shuffles, and the kingdoms it refuses. test_dominion_*.py has the rules."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from dominion_scene import Spoken, position, seat
from naive.dominion import TEST_BED, Dominion
from naive.dominion_cards import KINGDOM


def test_a_kingdom_is_of_different_known_cards() -> None:
    with pytest.raises(ValueError, match="up to ten different cards"):
        Dominion(kingdom=["Moat", "Moat"])
    with pytest.raises(ValueError, match="up to ten different cards"):
        Dominion(kingdom=["Harem"])


def all_cards(game: Dominion) -> Counter[str]:
    owned = [card for player in game.seats for card in player.owned()]
    return Counter(game.supply) + Counter(owned) + Counter(game.trash)


@pytest.mark.parametrize("seed", range(40))
def test_no_card_is_made_or_lost_and_the_turn_ends_clean(seed: int) -> None:
    rng = random.Random(seed)
    game = Dominion(1 + seed % 4, rng.sample(sorted(KINGDOM), 10), curses=seed % 8 < 4, rng=rng, max_turns=60)
    at_first = all_cards(game)

    def choose(game: Dominion) -> int:
        assert all_cards(game) == at_first
        assert game.legal() == sorted(set(game.legal())) and game.legal()
        return rng.choice(game.legal())

    game.play_out(choose)
    assert all_cards(game) == at_first
    assert not any(player.play or player.aside for player in game.seats)


def test_the_discards_are_shuffled_into_the_deck() -> None:
    written = position(seat(hand="Smithy", discard="5 Copper, 5 Gold"), seat())
    games = [Dominion.at(written, rng=random.Random(seed)) for seed in range(20)]
    for game in games:
        Spoken(game).do("play Smithy")
    assert len({game.top_card() for game in games}) == 2


def test_a_scripted_game_repeats_a_free_one() -> None:
    free = Dominion(3, [card for card in KINGDOM if card not in TEST_BED][:10], rng=random.Random(7), max_turns=20)
    script: list[int] = []
    while free.phase() != "over":
        step = free.top_card() if free.phase() == "chance" else free.rng.choice(free.legal())
        script.append(step)
        (free.apply_chance if free.phase() == "chance" else free.apply)(step)
    again = Dominion(3, free.kingdom, rng=random.Random(8), max_turns=20)
    for step in script:
        (again.apply_chance if again.phase() == "chance" else again.apply)(step)
    assert again.position() == free.position()
