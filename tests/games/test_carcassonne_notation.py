"""Positions, actions and records of Carcassonne as text and back, its drawings, and the errors for bad text."""

import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadRecord
from kdenv.core.record import replay
from kdenv.core.table import Table
from kdenv.drawing.letters import width_of
from kdenv.games import find_game
from kdenv.games.carcassonne.tables import TILES
from kdenv.games.carcassonne.tiles import ROTATIONS

GAME = find_game("carcassonne")


def random_positions(players: int, seed: int, **options: str):
    """The table after every event of a random game."""
    table, dice, rng = Table(GAME, players, **options), random.Random(seed), make_rng(seed)
    yield table
    while not table.over:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
        else:
            table.play(dice.choice(table.legal()))
        yield table


@pytest.mark.parametrize("players, options", [(2, {}), (3, {"unplaceable": "discard"}), (5, {})])
def test_a_position_survives_its_text(players: int, options: dict[str, str]) -> None:
    for table in random_positions(players, players, **options):
        twin = Table(GAME, players, **options).at_position(table.position())
        assert twin.position() == table.position()
        assert (twin.legal(), twin.chances(), twin.scores(), twin.seat) == (table.legal(), table.chances(), table.scores(), table.seat)
        for seat in range(players):
            for encoding in ("compact", "planes"):
                assert np.array_equal(twin.observation(seat, encoding), table.observation(seat, encoding))


def test_every_action_survives_its_name() -> None:
    for table in random_positions(4, 9):
        assert [table.action(table.name(action)) for action in table.legal()] == table.legal()


def test_a_record_is_replayed() -> None:
    *_, table = random_positions(3, 1)
    text = table.record()
    *_, twin = replay(text, find_game)
    assert twin.record() == text
    assert np.array_equal(twin.states, table.states)


def test_a_game_goes_on_from_a_position_as_from_the_game_itself() -> None:
    table, rng = Table(GAME), make_rng(2)
    for _ in range(60):
        table.chance(table.sample_chance(rng)) if table.at_chance else table.play(table.legal()[-1])
    twin = Table(GAME).at_position(table.position())
    while not table.over:
        if table.at_chance:
            outcome = table.sample_chance(rng)
            table.chance(outcome)
            twin.chance(outcome)
        else:
            assert table.legal() == twin.legal()
            table.play(table.legal()[0])
            twin.play(twin.legal()[0])
    assert table.scores() == twin.scores()


def test_origin_check() -> None:
    table = Table(GAME)
    assert table.position().startswith("stage=draw turn=0 points=0,0 tiles=D+0+0r0 bag=A2,B4,C1,D3,E5")
    table.chance(9)
    assert table.position().startswith("stage=place drawn=J turn=0")
    assert table.name(table.legal()[0]) == "place J+0+1r2"
    table.play(table.action("place J-1+0r3"))
    assert [table.name(action) for action in table.legal()] == [
        *("claim nothing", "claim road N", "claim city W", "claim field NW", "claim field NE")
    ]


def test_a_rotation_that_looks_the_same_is_the_same_action() -> None:
    table = Table(GAME)
    table.chance(20)  # U, a straight road
    assert table.action("place U+1+0r1") == table.action("place U+1+0r3")


GOOD = "stage=place drawn=E turn=0 points=0,0 tiles=D+0+0r0@E0,E+0+1r2 bag=U1"


@pytest.mark.parametrize(
    "text, complaint",
    [
        (GOOD.replace("stage=place", "stage=laying"), "stage=laying is not one of draw, place, claim, over"),
        (GOOD.replace("turn=0", "turn=2"), "turn=2 is not a number from 0 to 1"),
        (GOOD.replace("points=0,0", "points=0"), "points=0 is for 1 players, not 2"),
        (GOOD.replace("points=0,0", "points=0,x"), "points=x is not a number"),
        (GOOD.replace(" bag=U1", ""), "lacks bag="),
        (GOOD + " size=5", "'size' is no part of a position"),
        (GOOD.replace("drawn=E ", ""), "drawn= is the tile to be placed"),
        (GOOD.replace("drawn=E", "drawn=Z"), "'Z' is no type of tile"),
        (GOOD.replace("drawn=E", "drawn=C"), "tile C, which is drawn, fits nowhere"),
        (GOOD.replace("E+0+1r2", "E+0+1"), r"'E\+0\+1' is no tile on the table"),
        (GOOD.replace("E+0+1r2", "E+0+1r0"), r"the edges of tile E\+0\+1r0 do not match"),
        (GOOD.replace("E+0+1r2", "E+5+5r0"), "touches none of the tiles before it"),
        (GOOD.replace("E+0+1r2", "E+0+0r2"), "lies on another tile"),
        (GOOD.replace("E+0+1r2", "E+0+16r2"), "outside the window"),
        (GOOD.replace("@E0", "@S0"), "there is nothing to stand on"),
        (GOOD.replace("@E0", "@c0"), "there is nothing to stand on"),
        (GOOD.replace("@E0", "@E2"), "there is no seat 2"),
        (GOOD.replace("@E0", "@N0"), "that city is complete"),
        (GOOD.replace("bag=U1", "bag=U9"), "there are only 8 tiles of type U, not 9 in the bag and 0"),
        (GOOD.replace("bag=U1", "bag=E4"), "there are only 5 tiles of type E, not 4 in the bag and 2"),
        (GOOD.replace("bag=U1", "bag=five"), "is not a list such as"),
        ("stage=draw turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2 bag=C1", "no tile in the bag fits"),
        ("stage=over turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2 bag=U1", "stage=over, but a tile in the bag fits"),
        ("stage=claim turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2@S0 bag=U1", "still to be decided"),
        ("stage=claim turn=0 points=0,0 tiles=D+0+0r0@E0,U+1+0r1@nw0,U+2+0r1@se1,U+3+0r1 bag=U1", "nothing to claim"),
        ("stage=draw turn=0 points=0,0 tiles= bag=U1", "'' is no tile on the table"),
        ("", "the position lacks"),
    ],
)
def test_bad_positions_are_told_in_one_sentence(text: str, complaint: str) -> None:
    Table(GAME).at_position(GOOD)
    with pytest.raises(BadRecord, match=complaint) as error:
        Table(GAME).at_position(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["", "place", "place J", "place J+0+1", "place U+1+0r1", "place E+1+0r1@N0", "claim", "claim river N", "claim city Q", "fly away"],
)
def test_bad_actions_are_told_in_one_sentence(text: str) -> None:
    with pytest.raises(BadRecord) as error:
        Table(GAME).at_position(GOOD).action(text)
    assert "\n" not in str(error.value)


def test_a_claim_of_what_is_not_there_says_so() -> None:
    table = Table(GAME).at_position("stage=claim turn=0 points=0,0 tiles=D+0+0r0,E+0+1r2 bag=U1")
    with pytest.raises(BadRecord, match="there is no road at N of the tile just laid"):
        table.action("claim road N")


@pytest.mark.parametrize("text", ["", "draw", "draw Y", "draw a tile", "roll 6"])
def test_bad_chance_is_told_in_one_sentence(text: str) -> None:
    with pytest.raises(BadRecord, match="nothing that chance does"):
        GAME.notation.chance_from(Table(GAME).states, 0, text)


def test_mangled_positions_never_crash() -> None:
    """Characters of good positions are dropped, doubled and swapped: either it still is a position or BadRecord says why not."""
    dice, n_bad = random.Random(8), 0
    texts = [table.position() for table in random_positions(2, 4)][::9]
    for _ in range(400):
        text = dice.choice(texts)
        for _ in range(dice.randint(1, 3)):
            i = dice.randrange(len(text))
            text = dice.choice([text[:i] + text[i + 1 :], text[:i] + text[i] + text[i:], text[:i] + dice.choice(text) + text[i + 1 :]])
        try:
            table = Table(GAME).at_position(text)
        except BadRecord:
            n_bad += 1
        else:
            rng = make_rng(1)
            while not table.over:
                table.chance(table.sample_chance(rng)) if table.at_chance else table.play(table.legal()[0])
    assert n_bad > 200


# Drawings


def test_ansi_shows_tiles_meeples_and_where_the_drawn_tile_fits() -> None:
    text = str(Table(GAME).at_position(GOOD.replace("drawn=E", "drawn=V")))
    lines = text.splitlines()
    assert "·#" in text
    assert any("────0" in line for line in lines)  # the road of D with a meeple of seat 0 at its east
    assert any("r03" in line for line in lines)  # V east of D: its road to the west
    assert "player 0: 0 points, 6 meeples" in text
    assert "player 0 places the tile drawn (V)" in text


def test_ansi_explains_its_letters() -> None:
    from kdenv.games.carcassonne.drawing import _BENDS, _face_letters

    letters = {letter for face in range(4 * len(TILES)) for row in _face_letters(face) for letter in row}
    legend = "\n".join(str(Table(GAME).at_position(GOOD)).splitlines()[-2:])
    assert {letter for letter in letters - {*_BENDS.values(), "│"} if f"{letter} " not in legend} == set()
    assert letters & {"─", "│", "╭", "o", "+", "*", "#", "·"} == {"─", "│", "╭", "o", "+", "*", "#", "·"}


def test_svg_draws_every_tile_meeple_and_legal_cell() -> None:
    for table in random_positions(5, 2):
        drawing = table.svg(0)
        ElementTree.fromstring(drawing)
        s = table.states[0]
        legal_cells = {action >> 2 for action in table.legal()} if s["stage"] == 1 else set()
        assert drawing.count('stroke-dasharray="7 5"') == len(legal_cells)
    assert drawing == table.svg()
    assert drawing.count('href="#') > 72


def test_every_face_can_be_drawn_and_claimed_on() -> None:
    """Anchors of all slots lie on the tile."""
    from kdenv.games.carcassonne.art import anchor, tile_art

    for number, tile in enumerate(TILES):
        for rotation in range(int(ROTATIONS[number])):
            assert tile_art(number, rotation)
            table = Table(GAME).at_position(f"stage=draw turn=0 points=0,0 tiles={tile.letter}+0+0r{rotation} bag=H1,U1,V1,D1")
            for slot in range(1, 10):
                kind = GAME.notation.kind_word(table.states[0], 0, slot)
                if kind:
                    x, y = anchor(number, rotation, kind, ("NESW"[slot - 1] if slot < 5 else ("NW", "NE", "SE", "SW")[(slot - 5) % 4]))
                    assert 5 <= x <= 95
                    assert 5 <= y <= 95


@pytest.mark.parametrize("players", [2, 5])
def test_the_words_beside_the_landscape_stay_inside_their_panel(players: int) -> None:
    seen = set[str]()
    for table in random_positions(players, players):
        picture = table.svg()
        _, y, panel = picture.partition('<rect y="22" width="')
        assert y
        for text, at, size in re.findall(r'<g aria-label="([^"]+)" transform="translate\(([\d.]+) [\d.]+\)scale\(([\d.]+)\)"', panel):
            assert float(at) + width_of(text, 10 * float(size)) <= float(panel.partition('"')[0]) - 10, text
            seen.add(text.replace(f"player {players - 1}", "player N"))
    assert {"a tile is drawn for player N", "player N places the tile drawn", "player N may claim", "the game is over"} <= seen
