"""What may be clicked in a drawing: every legal action, each by clicks of its own, inside the picture and on what it names."""

import random
import re

import pytest

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.games.carcassonne.claims import CLAIM

GAMES = ["kingdomino", "dominion", "carcassonne", "dominoes"]
POINT = re.compile(r"[ML](-?[\d.]+) (-?[\d.]+)")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("narrow", [False, True])
def test_every_action_of_a_game_has_clicks_of_its_own(game: str, seed: int, narrow: bool) -> None:
    rng, chance = random.Random(seed), make_rng(seed)
    found = kdenv.game(game)
    table = kdenv.table(game, players=found.players[seed % len(found.players)])
    if table.players == 1:
        table = kdenv.table(game, players=2)
    table.run_chance(chance)
    looked = without = 0
    while not table.over and looked < 150:
        seat, legal = table.seat, table.legal()
        assert seat is not None
        clicks = found.drawing.targets(table.states, 0, legal, seat, narrow=narrow)
        assert set(clicks) <= set(legal)
        without += len(set(legal) - set(clicks))
        ways = [tuple(way) for way in clicks.values()]
        ghosts = found.drawing.ghosts(table.states, 0, legal, seat) if hasattr(found.drawing, "ghosts") else {}
        assert len({(*way, ghosts.get(action)) for action, way in clicks.items()} if game == "carcassonne" else set(ways)) == len(ways)
        # No click sequence is the beginning of another one, so that the last click of each decides.
        assert not any(a != b and b[: len(a)] == a for a in ways for b in ways)
        picture = found.svg(table.states, 0, seat, narrow=narrow)
        left, top, width, height = map(float, re.search(r'viewBox="([^"]+)"', picture)[1].split())
        assert not narrow or width <= 600 or game == "carcassonne"  # whose landscape grows
        for shape in (shape for way in ways for shape in way):
            points = [(float(x), float(y)) for x, y in POINT.findall(shape)]
            assert points
            assert all(left <= x <= left + width and top <= y <= top + height for x, y in points)
        assert set(found.drawing.buttons(table.states, 0, legal, seat)) <= set(legal)
        table.play(rng.choice(legal))
        table.run_chance(chance)
        looked += 1
    assert without <= looked / 10  # few actions have nothing to click: a card that lies neither in the hand nor in the supply


def test_a_domino_is_clicked_where_it_is_drawn() -> None:
    table = kdenv.table("dominoes")
    table.run_chance(make_rng(1))
    seat = table.seat
    clicks = table.game.drawing.targets(table.states, 0, table.legal(), seat)
    corner = POINT.match(next(iter(clicks.values()))[0])
    assert f'<rect x="{float(corner[1]) + 0.8:.1f}" y="{float(corner[2]) + 0.8:.1f}"' in table.svg(seat)


def test_the_squares_of_a_placement_are_those_of_its_words() -> None:
    table = kdenv.table("kingdomino", players=2)
    rng = make_rng(1)
    table.run_chance(rng)
    for _ in range(4):
        table.play(table.legal()[0])
        table.run_chance(rng)
    clicks = table.game.drawing.targets(table.states, 0, table.legal(), table.seat)
    first = {}
    for action, (one, two) in clicks.items():
        _, _, a, b = table.name(action).split()
        assert first.setdefault(a, one) == one
        assert first.setdefault(b, two) == two
    assert len(set(first.values())) == len(first)


@pytest.mark.parametrize("game", ["kingdomino", "carcassonne"])
@pytest.mark.parametrize("narrow", [False, True])
def test_a_ghost_is_drawn_where_the_tile_would_lie(game: str, narrow: bool) -> None:
    table, rng = kdenv.table(game), make_rng(2)
    table.run_chance(rng)
    while not table.name(table.legal()[0]).startswith("place"):
        table.play(table.legal()[0])
        table.run_chance(rng)
    drawing, legal = table.game.drawing, table.legal()
    about = {"narrow": narrow} if game == "kingdomino" else {}
    ghosts = drawing.ghosts(table.states, 0, legal, table.seat, **about)
    assert set(ghosts) == {action for action in legal if table.name(action).startswith("place")}
    assert len(set(ghosts.values())) == len(ghosts)
    defined = set(re.findall(r'id="([^"]+)"', table.game.svg(table.states, 0, table.seat, narrow=narrow)))
    assert {name for ghost in ghosts.values() for name in re.findall(r'href="#([^"]+)"', ghost)} <= defined


def test_the_turn_of_a_tile_and_a_meeple_is_drawn_whole() -> None:
    table, rng = kdenv.table("carcassonne"), make_rng(3)
    table.run_chance(rng)
    states = table.states.copy()
    turn = next(turn for turn in table.view(table.seat).turns() if len(turn) == 2 and turn[1] != CLAIM)
    cell, meeple = table.game.drawing.turn_targets(states, 0, turn)
    assert cell == table.game.drawing.targets(states, 0, turn[:1])[turn[0]][0]
    table.play(turn[0])
    assert meeple == table.game.drawing.targets(table.states, 0, [turn[1]])[turn[1]][0]
    assert (table.states[0] != states[0]) and table.seat == int(states[0]["turn"])
