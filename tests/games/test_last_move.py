"""What was done last is marked in the pictures of all games: in two by the position itself, in two by what the table remembers."""

import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from dominion_at import at

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.core.protocols import LastTurn
from kdenv.core.table import Table
from kdenv.games.kingdomino.scene import kingdoms_of

BOX = re.compile(r"M(-?[\d.e+]+) (-?[\d.e+]+)h([\d.e+]+)v([\d.e+]+)h-[\d.e+]+z")


def frames(picture: str) -> list[tuple[float, ...]]:
    """Left, top, width and height of the frames around what was done last."""
    marked = re.search(r'<g class="last"><path d="([^"]*)"', picture)
    return [tuple(map(float, frame)) for frame in BOX.findall(marked[1])] if marked else []


def clicked(table: Table, action: int, seat: int | None = None) -> list[tuple[float, ...]]:
    """The outlines that a person clicks for an action."""
    return [tuple(map(float, BOX.fullmatch(path).groups())) for path in table.game.drawing.targets(table.states, 0, [action], seat)[action]]


def near(boxes: Sequence[tuple[float, ...]]) -> list[Any]:
    """These boxes, as far as a picture is exact."""
    return [pytest.approx(box, abs=0.2) for box in boxes]


def around(boxes: list[tuple[float, ...]]) -> tuple[float, ...]:
    """The smallest box around some boxes."""
    left, top = min(b[0] for b in boxes), min(b[1] for b in boxes)
    return left, top, max(b[0] + b[2] for b in boxes) - left, max(b[1] + b[3] for b in boxes) - top


def view(table: Table) -> list[tuple[range, range]]:
    """The columns and rows of all kingdoms that a picture of Kingdomino shows."""
    return [(kingdom.columns, kingdom.rows) for kingdom in kingdoms_of(table.states, 0)]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_domino_placed_and_the_domino_picked_are_framed_where_they_were_clicked(players: int) -> None:
    table, chance, rng = kdenv.table("kingdomino", players=players), make_rng(players), random.Random(players)
    table.run_chance(chance)
    placed = picked = 0
    while not table.over:
        action = rng.choice(table.legal())
        verb, places, seen = table.name(action).split()[0], clicked(table, action), view(table)
        table.play(action)
        shown = frames(table.svg())
        if verb == "place":
            assert len(shown) == 1
            if view(table) == seen:
                assert shown == near([around(places)])
                placed += 1
        elif verb == "pick" and any(table.states[0]["draft_king"] >= 0):  # else the draft was full, and lies elsewhere now
            assert shown[-1:] == near(places)
            assert len(shown) <= 2
            picked += 1
        elif verb == "discard":
            assert shown == []
        table.run_chance(chance)
    assert placed >= 4
    assert picked >= 10


def test_a_domino_that_was_picked_last_in_its_round_is_framed_among_those_to_place() -> None:
    table = kdenv.table("kingdomino", players=2)
    table.run_chance(make_rng(1))
    for _ in range(4):
        place = clicked(table, table.legal()[0])
        table.play(table.legal()[0])
        table.run_chance(make_rng(2))
    (framed,) = frames(table.svg())
    assert [framed[1:]] == near([place[0][1:]])  # the same row ...
    assert framed[0] < place[0][0]  # ... of the column on the left


def test_a_card_that_is_played_is_framed_beside_the_hand() -> None:
    table = at("Village", "1 Village 4 Estate", others=("5 Copper",))
    (card,) = clicked(table, table.action("play Village"), 0)
    table.play(table.action("play Village"))
    table.run_chance(make_rng(1))
    for viewer in (None, 0, 1):
        (framed,) = frames(table.svg(viewer))
        assert [framed[1:]] == near([card[1:]])
        assert framed[0] > card[0]


def test_the_piles_from_which_a_seat_has_bought_are_framed_until_another_seat_decides() -> None:
    table = at("Market", "1 Market 4 Copper", deck="5 Copper", others=("5 Copper", "5 Copper"))
    table.play(table.action("play Market"))
    table.run_chance(make_rng(1))
    piles = []
    for words in ("buy Estate", "buy Copper"):
        piles += clicked(table, table.action(words), 0)
        table.play(table.action(words))
        assert frames(table.svg(1)) == near(piles[::-1])
    table.run_chance(make_rng(1))
    assert table.seat == 1
    assert len(frames(table.svg(1))) == 2
    table.play(table.action("end"))
    assert frames(table.svg(1)) == []


def test_what_a_seat_discards_is_framed_as_its_pile_and_not_as_a_card() -> None:
    table = at("Militia", "1 Militia", others=("2 Copper 2 Estate 1 Silver",))
    table.play(table.action("play Militia"))
    table.run_chance(make_rng(1))
    for words in ("discard Copper", "discard Estate"):
        table.play(table.action(words))
        (framed,) = frames(table.svg(0))
        assert [framed] == frames(table.svg(1))


def test_the_newest_tile_is_framed() -> None:
    table = kdenv.table("carcassonne")
    table.run_chance(make_rng(1))
    action = table.legal()[0]
    table.play(action)
    (framed,) = frames(table.svg())
    assert framed[2:] == (98, 98)


@pytest.mark.parametrize("game", ["kingdomino", "dominion", "carcassonne", "dominoes"])
def test_the_last_turn_is_what_one_seat_has_decided_since_another_one_did(game: str) -> None:
    table, chance, rng = kdenv.table(game), make_rng(5), random.Random(5)
    assert table.last_turn() is None
    decided: list[tuple[int, int]] = []
    table.run_chance(chance)
    for _ in range(60):
        if table.over:
            break
        seat, action = table.seat, rng.choice(table.legal())
        decided.append((seat, action))
        table.play(action)
        run = []
        for who, what in reversed(decided):
            if who != seat:
                break
            run.insert(0, what)
        assert table.last_turn() == LastTurn(seat, run)
        table.run_chance(chance)
        assert table.last_turn() == LastTurn(seat, run)


def test_the_last_turn_after_a_position_is_what_has_happened_since() -> None:
    table = kdenv.table("kingdomino", players=2)
    table.run_chance(make_rng(1))
    table.play(table.legal()[0])
    table.run_chance(make_rng(1))
    set_up = kdenv.table("kingdomino", players=2).at_position(table.position())
    assert set_up.last_turn() is None
    assert frames(set_up.svg()) == []
    seat, action = set_up.seat, set_up.legal()[0]
    set_up.play(action)
    assert set_up.last_turn() == LastTurn(seat, [action])


def test_a_drawing_that_knows_no_last_turn_is_asked_without() -> None:
    table = kdenv.table("dominoes")
    table.run_chance(make_rng(1))
    states = np.array(table.states)
    table.play(table.legal()[0])
    assert table.game.svg(states, 0, None, LastTurn(0, [1])) == table.game.drawing.svg(states, 0)
