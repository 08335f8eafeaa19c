"""Observations and pictures of Dominion."""

from xml.etree import ElementTree

import numpy as np
import pytest
from dominion_at import GAME, at, go
from random_games import after

from kdenv.core.table import Table
from kdenv.games.dominion.cards import random_kingdom

SVG = "{http://www.w3.org/2000/svg}"


def parts(table: Table, seat: int) -> dict[str, np.ndarray]:
    """The observation cut into its parts."""
    return table.parts(seat)


def test_the_observer_comes_first() -> None:
    table = at("Village", "1 Village 2 Estate", others=("5 Copper", "3 Copper"))
    seen = [parts(table, seat)["hand"][0].sum() for seat in range(3)]
    assert np.allclose(seen, [3 / 5, 5 / 5, 3 / 5])


def test_other_hands_are_not_seen_but_their_size_is() -> None:
    seen = parts(at("Village", "1 Village", others=("5 Copper",)), 0)
    assert not seen["hand"][1].any() and np.isclose(seen["sizes"][1, 0], 1)


def test_other_hands_are_seen_with_the_information_of_the_thesis() -> None:
    assert parts(at("Village", "1 Village", others=("5 Copper",), info="thesis"), 0)["hand"][1].any()


def test_a_card_is_known_by_its_features() -> None:
    market = parts(at("Market", "1 Market"), 0)["cards"][7]
    assert np.allclose(market[:8], [1, 5 / 8, 1 / 4, 1 / 2, 1, 1 / 3, 0, 0])


def test_the_same_card_looks_the_same_in_every_kingdom() -> None:
    one, two = (parts(at(kingdom, "1 Witch"), 0)["cards"] for kingdom in ("Witch", "Chapel, Village, Witch"))
    assert (one[7] == two[9]).all()


def test_an_empty_place_in_the_kingdom_is_all_zero() -> None:
    assert not parts(at("Market", "1 Market"), 0)["cards"][8:].any()


def test_the_node_and_the_seat_to_move_are_one_hot() -> None:
    table = go(at("Militia", "1 Militia", others=("5 Copper", "5 Copper")), "play Militia")
    seen = parts(table, 0)
    assert seen["to_move"].tolist() == [0, 1, 0] and seen["turn"].tolist() == [1, 0, 0] and seen["node"].argmax() == 7


def test_only_the_owner_sees_the_card_library_asks_about() -> None:
    table = go(at("Library", "1 Library 5 Estate", "1 Library"), "play Library", "draw Library")
    assert parts(table, 0)["asked_about"].sum() == 1 and parts(table, 1)["asked_about"].sum() == 0


def test_observations_are_small_numbers() -> None:
    for players in (1, 2, 3, 4):
        table = played(players, 200)
        for seat in range(players):
            assert np.abs(table.observation(seat)).max() <= 8


def played(players: int, decisions: int, **options: object) -> Table:
    return after(GAME, players, decisions, **({"kingdom": random_kingdom(players)} | options))


TABLES = [(players, decisions) for players in (1, 2, 3, 4) for decisions in (0, 40, 10_000)]


def of_class(picture: str, word: str) -> list[ElementTree.Element]:
    """The groups of an SVG that have this class."""
    return [group for group in ElementTree.fromstring(picture).iter(f"{SVG}g") if word in group.get("class", "").split()]


@pytest.mark.parametrize("players, decisions", TABLES)
def test_the_drawing_has_every_pile_and_seat(players: int, decisions: int) -> None:
    table = played(players, decisions)
    assert (len(of_class(table.svg(), "pile")), len(of_class(table.svg(), "seat"))) == (17, players)


@pytest.mark.parametrize("players, decisions", TABLES)
def test_the_terminal_has_every_card_and_seat(players: int, decisions: int) -> None:
    table = played(players, decisions)
    text = str(table)
    names = [GAME.notation.card_name(table.states[0], slot) for slot in range(17)]
    assert all(name in text for name in names) and all(f"player {seat}" in text for seat in range(players))


def test_a_seat_sees_other_hands_face_down() -> None:
    table = played(3, 40)
    assert len(of_class(table.svg(seat=0), "hand")) == 2 and not of_class(table.svg(), "hand")


def test_the_picture_for_a_seat_does_not_show_what_is_hidden() -> None:
    one = at("Village", "1 Village", others=("5 Copper",), deck_1="5 Estate")
    two = at("Village", "1 Village", others=("5 Estate",), deck_1="5 Copper")
    assert one.svg(seat=0) == two.svg(seat=0) and GAME.drawing.ansi(one.states, 0, 0) == GAME.drawing.ansi(two.states, 0, 0)


def test_the_winner_is_marked() -> None:
    table = go(at("Village", "1 Village 8 Copper", supply={"Province": 1}), "end", "buy Province")
    assert len(of_class(table.svg(), "winner")) == 1


def test_a_known_top_is_shown() -> None:
    table = go(at("Bureaucrat", "1 Bureaucrat"), "play Bureaucrat")
    assert "top silver" in table.svg() and "(top Silver)" in str(table)


def test_the_drawing_can_be_rasterised() -> None:
    resvg_py = pytest.importorskip("resvg_py")
    assert bytes(resvg_py.svg_to_bytes(svg_string=played(4, 40).svg()))[:4] == b"\x89PNG"
