"""Games recorded by another engine, replayed by the compiled rules and by the oracle: every number must be the same.

The compiled rules replay all of them, the oracle a part, or all with --slow.
"""

import copy
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from carcassonne_script import LETTERS, SLOTS, claim, claims, placement
from compiled_carcassonne import CompiledCarcassonne
from naive.carcassonne import CLOISTER_SLOT, TILES, Carcassonne, smallest_rotation

with gzip.open(Path(__file__).parents[1] / "data" / "carcassonne_games.jsonl.gz", "rt") as lines:
    RECORDS = [json.loads(line) for line in lines]
STRIDE = 5  # between the games that the oracle replays by default


def missing_tiles(record):
    """The tile types that were drawn in a recorded game and could not be placed."""
    bag = Counter(Carcassonne().chances())
    bag.subtract(LETTERS.index(turn["tile"]) for turn in record["turns"])
    return list(bag.elements())


REPLAYED = [pytest.param(n, marks=[] if n % STRIDE == 0 or missing_tiles(record) else pytest.mark.slow) for n, record in enumerate(RECORDS)]


def set_aside(game, missing):
    """Draw those missing tiles that fit nowhere now: the record does not say when they were drawn."""
    for tile in list(missing):
        trial = copy.deepcopy(game)
        trial.apply_chance(tile)
        if trial.phase() != "decide":
            game.apply_chance(tile)
            missing.remove(tile)


def replay_turn(game, turn):
    """Play one recorded turn. Returns the game's value for each entry of the record, and whether one claim meant two segments."""
    tile = LETTERS.index(turn["tile"])
    seat = game.seat()
    game.apply_chance(tile)
    placements = len(game.legal())
    rotation = smallest_rotation(tile, turn["rotation"])
    game.apply(placement(turn["x"], turn["y"], rotation))
    placed = TILES[tile][rotation]
    n_claims = 1 + n_claimable_segments(game, placed)
    merged = n_claims != len(claims(game))
    claim(game, SLOTS[slot_of(game, placed, *turn["claim"])] if turn["claim"] else None)
    found = {"seat": seat, "placements": placements, "claims": n_claims, "meeples": game.meeples()}
    return found if game.phase() == "over" else found | {"scores": game.scores()}, merged


def n_claimable_segments(game, placed):
    """The number of segments of the tile just placed on which a meeple may stand.

    The records count these, and "none": in 23 of their 17,746 turns two segments of the tile are joined by other tiles.
    They are one claim here and two in the records.
    """
    return sum(SLOTS[game.smallest_slot(segment.slots[0])] in claims(game) for segment in placed.segments)


def slot_of(game, placed, kind, sides):
    """The slot to claim for this segment of the tile just placed, named as in the records."""
    if kind == "cloister":
        return CLOISTER_SLOT
    return game.smallest_slot(placed.segments[placed.segment_with(kind, sides[0])].slots[0])


def replay(engine, number):
    """Replay a recorded game and compare. Returns the number of turns in which one claim meant two segments of the tile."""
    record = RECORDS[number]
    game = engine(record["players"], unplaceable="discard")
    missing = missing_tiles(record)
    n_merged = 0
    for n, turn in enumerate(record["turns"]):
        found, merged = replay_turn(game, turn)
        assert found == {entry: turn[entry] for entry in found}, f"game {number}, turn {n}"
        n_merged += merged
        set_aside(game, missing)
    assert game.phase() == "over"
    assert game.scores() == record["final"]
    return n_merged


@pytest.mark.parametrize("number", REPLAYED)
def test_oracle_replays_a_recorded_game_to_the_point(number):
    replay(Carcassonne, number)


def test_compiled_rules_replay_all_250_recorded_games_to_the_point():
    assert len(RECORDS) == 250
    assert sum(replay(CompiledCarcassonne, number) for number in range(250)) == 23
