"""What may be clicked in a drawing: every legal action, each by clicks of its own, inside the picture and on what it names."""

import random
import re

import pytest

import kdenv
from kdenv.compiler.random import make_rng

GAMES = ["kingdomino", "dominion", "carcassonne", "dominoes"]
POINT = re.compile(r"[ML](-?[\d.]+) (-?[\d.]+)")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_every_action_of_a_game_has_clicks_of_its_own(game: str, seed: int) -> None:
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
        clicks = found.drawing.targets(table.states, 0, legal, seat)
        assert set(clicks) <= set(legal)
        without += len(set(legal) - set(clicks))
        ways = [tuple(way) for way in clicks.values()]
        assert len(set(ways)) == len(ways)
        # No click sequence is the beginning of another one, so that the last click of each decides.
        assert not any(a != b and b[: len(a)] == a for a in ways for b in ways)
        _, _, width, height = map(float, re.search(r'viewBox="([^"]+)"', table.svg(seat))[1].split())
        for shape in (shape for way in ways for shape in way):
            points = [(float(x), float(y)) for x, y in POINT.findall(shape)]
            assert points
            assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
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
