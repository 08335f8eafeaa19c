"""The games another engine recorded, played again: every number in them must come out the same.

Where two segments of a tile belong to one free feature that engine lists a claim for each, we list one
("meeple options that mean the same merged feature are one"); so its count is compared with the free segments.
"""

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.carcassonne import claims, rules
from kdenv.games.carcassonne.features import find
from kdenv.games.carcassonne.tables import TILES
from kdenv.games.carcassonne.tiles import CLOISTER, COPIES, ROTATIONS, SIZE, START_CELL

GAME = find_game("carcassonne")
TYPES = "".join(tile.letter for tile in TILES)


@cache
def recorded_games():
    with gzip.open(Path(__file__).parents[1] / "data" / "carcassonne_games.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def missing_type(game):
    """The type of the one tile that was never laid, or None."""
    laid = Counter(turn["tile"] for turn in game["turns"]) + Counter("D")
    missing = [tile_type for tile_type, letter in enumerate(TYPES) if laid[letter] < COPIES[tile_type]]
    return missing[0] if missing else None


def free_features(s):
    """For the newest tile the features without a meeple: one entry for every segment of the tile."""
    tile = int(s["n_tiles"]) - 1
    features = []
    for kind, n in (("city", "n_cities"), ("road", "n_roads"), ("field", "n_fields")):
        for segment in range(int(s["tile_" + kind][tile]), int(s[n])):
            feature = find(s[kind + "_parent"], segment)
            if s[kind + "_meeples"][feature] == 0:
                features.append((kind, feature))
    return features + ["cloister"] * int(CLOISTER[int(s["tile_face"][tile]) >> 2])


def slot_of(table, claim):
    """The legal slot of the feature that [kind, edges or half-edges] names."""
    if claim is None:
        return claims.NO_MEEPLE
    kind, places = claim
    if kind == "cloister":
        return claims.ON_CLOISTER
    s, tile = table.states[0], int(table.states[0]["n_tiles"]) - 1
    named = claims.FIRST_CORNER + (places[0] + 1) // 2 % 4 if kind == "field" else claims.FIRST_EDGE + places[0]

    def feature(slot):
        return claims.kind_at(s, tile, slot), claims.feature_at(s, tile, slot)

    slots = [action - claims.CLAIM for action in table.legal()]
    (slot,) = (slot for slot in slots if claims.NO_MEEPLE < slot < claims.ON_CLOISTER and feature(slot) == feature(named))
    return slot


def play_again(game):
    """Play a recorded game and compare; return in how many turns a tile met one free feature twice."""
    n_merged = 0
    table = Table(GAME, game["players"], unplaceable="discard")
    missing = missing_type(game)
    for turn in game["turns"]:
        if missing is not None and not int(table.states[0]["fitting"]) >> missing & 1:
            table.chance(missing)  # when it was discarded is not recorded; this is the first it can have been
            missing = None
        drawn = TYPES.index(turn["tile"])
        table.chance(drawn)
        assert table.seat == turn["seat"]
        assert len(table.legal()) == turn["placements"]
        table.play(4 * (START_CELL - turn["y"] * SIZE + turn["x"]) + turn["rotation"] % int(ROTATIONS[drawn]))
        claiming = int(table.states[0]["stage"]) == rules.CLAIMING
        free = free_features(table.states[0]) if claiming else []
        assert 1 + len(free) == turn["claims"]
        if claiming:
            assert len(table.legal()) == 1 + len(set(free))
            n_merged += len(set(free)) < len(free)
            table.play(claims.CLAIM + slot_of(table, turn["claim"]))
        if turn is not game["turns"][-1]:
            assert table.scores() == turn["scores"]
            assert table.states[0]["hand"][: game["players"]].tolist() == turn["meeples"]
    if missing is not None and table.at_chance:
        table.chance(missing)
    assert table.over
    assert table.scores() == game["final"]
    return n_merged


def test_all_250_recorded_games_come_out_the_same():
    assert len(recorded_games()) == 250
    assert sum(play_again(game) for game in recorded_games()) == 23
