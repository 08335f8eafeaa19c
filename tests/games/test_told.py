"""Descriptions of decisions for people: words of the rulebook, the results of the decision, and nothing that is hidden.

Before a decision is made, it is described, too.
"""

import random
import re

import pytest
from dominion_at import at

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.core.protocols import Told
from kdenv.core.table import Table
from kdenv.games import find_game, names


def told(table: Table, words: str) -> Told:
    """Carry an action out, and return its description."""
    before, action = table.states.copy(), table.action(words)
    table.play(action)
    return table.game.drawing.told(before, table.states, action)


def meanings(table: Table) -> dict[str, str]:
    """The notation of all legal actions, and what they are called for people."""
    found = table.game.drawing.meanings(table.states, 0, table.legal(), table.seat)
    return {table.name(action): words for action, words in found.items()}


@pytest.mark.parametrize("name", names())
def test_every_event_of_a_game_is_told_in_the_past_tense_of_the_seat_that_decided(name: str) -> None:
    game, rng, chance = find_game(name), random.Random(1), make_rng(1)
    table, seen = kdenv.table(name, players=max(game.players)), 0
    while not table.over and seen < 120:
        befores, outcomes = [], []
        while table.at_chance:
            outcome = table.sample_chance(chance)
            befores.append(table.states[0].copy())
            outcomes.append(outcome)
            table.chance(outcome)
        lines = game.drawing.told_chance(befores, outcomes) if befores else []
        assert all(line.words and (line.seat is None or line.seat in range(table.players)) for line in lines)
        if table.over:
            break
        seat, before, action = table.seat, table.states.copy(), rng.choice(table.legal())
        table.play(action)
        line = game.drawing.told(before, table.states, action)
        assert line.seat == seat
        assert re.match(
            r"(placed|took|discarded|put|played|passed|called|opened|bought|trashed|gained|ended|chose|said|went)\b", line.words
        )
        seen += 1


def test_a_city_that_is_finished_is_told_with_its_points() -> None:
    table = Table(find_game("carcassonne")).at_position("stage=place drawn=E turn=1 points=0,0 tiles=D+0+0r0@N0 bag=E1,V2,U2")
    line = told(table, "place E+0+1r2")
    assert line == Told(1, "placed a tile with a city")  # a claim follows
    assert told(table, "claim nothing") == Told(1, "put no meeple, finished a city of 2 tiles: player 0 +4")


def test_a_tile_is_described_by_its_way_from_the_start_and_a_meeple_by_its_feature() -> None:
    table = Table(find_game("carcassonne")).at_position("stage=place drawn=U turn=1 points=0,0 tiles=D+0+0r0@N0 bag=E1,V2,U2")
    assert meanings(table) == {
        "place U-1+0r1": "place the tile 1 west of the start, turned right",
        "place U+1+0r1": "place the tile 1 east of the start, turned right",
        "place U+0-1r1": "place the tile 1 south of the start, turned right",
    }
    table.play(table.action("place U+1+0r1"))
    assert meanings(table) == {
        "claim nothing": "put no meeple",
        "claim road E": "put a meeple on the road",
        "claim field NW": "put a meeple in the northwestern field",
        "claim field SE": "put a meeple in the southeastern field",
    }


def test_a_tile_that_lies_turned_is_described_so() -> None:
    table = Table(find_game("carcassonne")).at_position("stage=place drawn=E turn=1 points=0,0 tiles=D+0+0r0@N0 bag=E1,V2,U2")
    at_north = [words for words in meanings(table).values() if words.startswith("place the tile 1 north")]
    assert at_north == ["place the tile 1 north of the start, upside down"]
    at_south = [words.partition(", ")[2] for words in meanings(table).values() if words.startswith("place the tile 1 south")]
    assert at_south == ["turned right", "upside down", "turned left"]


def test_a_domino_is_described_with_its_terrains_its_squares_and_what_may_be_taken() -> None:
    position = "round=1 stage=place turn=0 kingdoms=X,X queue=23:0,28:1,40:1,41:0 draft=1,2,3,48 box=4-22,24-27,29-39,42-47"
    table = kdenv.table("kingdomino", players=2, dominoes=48).at_position(position)
    words = meanings(table)
    assert words["place 23 f5 g5"] == "place field/mine at f5-g5"
    assert words["place 23 g5 f5"] == "place field/mine at g5-f5"
    table.play(table.action("place 23 f5 g5"))
    assert meanings(table) == {
        "pick 1": "take domino 1, field/field",
        "pick 2": "take domino 2, field/field",
        "pick 3": "take domino 3, forest/forest",
        "pick 48": "take domino 48, field/mine with 3 crowns",
    }


def test_a_domino_is_told_by_its_squares_and_its_points() -> None:
    rng = make_rng(3)
    table = kdenv.table("kingdomino", players=2, size=3, dominoes=12)
    table.run_chance(rng)
    number = table.name(table.legal()[0]).split()[1]
    assert re.fullmatch(rf"took domino {number}, [a-z]+/[a-z]+( with (a crown|\d crowns))?", told(table, f"pick {number}").words)


def test_a_round_of_dominoes_is_summed_up_when_it_ends() -> None:
    table, rng, random_ = kdenv.table("dominoes"), make_rng(1), random.Random(1)
    summaries: list[str] = []
    while not table.over and not summaries:
        table.run_chance(rng)
        before, action = table.states.copy(), random_.choice(table.legal())
        table.play(action)
        line = table.game.drawing.told(before, table.states, action)
        summaries += [line.summary] if line.summary else []
        assert bool(line.summary) == (int(table.states[0]["n_rounds"]) == 1)
    points = table.states[0]["points"]
    assert summaries[0].startswith("Round 1 is over. ")
    assert f"player 0 and player 2: {points[0]}, player 1 and player 3: {points[1]} (100 points lose)" in summaries[0]


def test_a_card_is_told_with_what_it_brings_and_what_others_get() -> None:
    table = at("Witch", "1 Witch", others=("5 Copper",))
    assert told(table, "play Witch").words.startswith("played Witch: +2 cards")
    table = at("Village", "1 Village", "3 Copper 2 Estate")
    assert told(table, "play Village") == Told(0, "played Village: +1 card, +2 actions")
    befores = [table.states[0].copy()]
    outcome = table.sample_chance(make_rng(1))
    drawn = table.chance_name(outcome).removeprefix("draw ")
    assert table.game.drawing.told_chance(befores, [outcome]) == [Told(0, f"drew {drawn}")]
    assert table.game.drawing.told_chance(befores, [None]) == [Told(0, "drew a card")]
