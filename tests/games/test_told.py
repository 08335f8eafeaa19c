"""Descriptions of decisions for people: words of the rulebook, the results of the decision, and nothing that is hidden."""

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
