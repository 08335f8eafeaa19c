"""The rulebook of Carcassonne, case by case. Each case is played by the compiled rules and by the oracle."""

import pytest
from carcassonne_script import ENGINES, LETTERS, claim, claims, finish, place, placement, play
from naive.carcassonne import DISTINCT_ROTATIONS


@pytest.fixture(params=list(ENGINES))
def engine(request):
    return ENGINES[request.param]


# --- Placing ---------------------------------------------------------------------------------------------------------


def test_first_draw_is_from_71_tiles(engine):
    weights = engine().chances()
    assert sum(weights.values()) == 71
    assert weights[LETTERS.index("D")] == 3, "the start tile is one of four"


def test_seat_0_begins_and_all_have_seven_meeples(engine):
    game = engine(players=5)
    assert (game.phase(), game.seat(), game.meeples()) == ("chance", 0, [7] * 5)


def first_placements(engine, tile):
    """One game for every way to place this tile first, the claim still to be made."""
    drawn = engine()
    drawn.apply_chance(tile)
    for action in drawn.legal():
        game = engine()
        game.apply_chance(tile)
        game.apply(action)
        yield game


def test_first_turn_has_21_options_on_average(engine):
    """A turn is a placement with a claim, and tiles come by frequency: 1491 options for the 71 tiles."""
    options = 0
    for tile, weight in engine().chances().items():
        options += weight * sum(len(claims(game)) for game in first_placements(engine, tile))
    assert options == 21 * 71


def test_there_are_79_distinct_rotations():
    assert sum(map(len, DISTINCT_ROTATIONS)) == 79


def test_symmetric_rotations_are_one_placement(engine):
    game = engine()
    game.apply_chance(LETTERS.index("F"))
    assert game.legal() == [placement(0, 1, 1), placement(0, -1, 0)]


def test_the_seats_take_turns(engine):
    game = engine(players=3)
    seats = []
    for x in range(1, 5):
        seats.append(game.seat())
        place(game, "U", x, 0, 1)
        claim(game, None)
    assert seats == [0, 1, 2, 0]


CLOSED_START = [("E", 0, 1, 2)]  # the city of the start tile is complete: a tile with four city edges fits nowhere


def test_unplaceable_tile_is_not_drawn_when_it_would_be_returned(engine):
    game = play(engine, CLOSED_START, unplaceable="return")
    assert LETTERS.index("C") not in game.chances()


def test_unplaceable_tile_is_drawn_and_set_aside_under_discard(engine):
    game = play(engine, CLOSED_START, unplaceable="discard")
    game.apply_chance(LETTERS.index("C"))
    assert (game.phase(), game.seat()) == ("chance", 1)
    assert LETTERS.index("C") not in game.chances()


@pytest.mark.parametrize("x, is_placeable", [(14, True), (15, False)])
def test_a_tile_that_fits_only_outside_the_window_is_unplaceable(engine, x, is_placeable):
    """A row of tiles with fields to the west and east leads to the last cells; C fits only to the east of its end."""
    row = [(letter, 1 + n, 1, 0) for n, letter in enumerate("BBBBUUUUUUUUAA"[: x - 1])]
    game = play(engine, [*CLOSED_START, *row, ("E", x, 1, 1)])
    assert (LETTERS.index("C") in game.chances()) == is_placeable


# --- Claiming --------------------------------------------------------------------------------------------------------


def test_slots_are_those_of_the_turned_tile(engine):
    """A crossing with its city to the east: its three fields are at NW, SW and along the city, NE and SE."""
    game = engine()
    place(game, "L", 1, 0, 1)
    assert claims(game) == [None, "N", "E", "S", "W", "NW", "NE", "SW"]


def test_occupied_feature_cannot_be_claimed_by_the_tile_that_joins_it(engine):
    game = play(engine, [("U", 1, 0, 1, "E")])
    place(game, "U", 2, 0, 1)
    assert claims(game) == [None, "NW", "SE"]


def test_fields_join_on_their_own_side_of_the_road(engine):
    game = play(engine, [("U", 1, 0, 1, "NW")])
    place(game, "U", 2, 0, 1)
    assert claims(game) == [None, "E", "SE"]


def test_two_segments_of_one_feature_are_one_claim(engine):
    """Three curves lead from the crossing's north to its east: one road, and one field (NW and SE) outside of it."""
    game = play(engine, [*CLOSED_START, ("V", 1, 1, 3), ("V", 2, 1, 0), ("V", 2, 0, 1)])
    place(game, "X", 1, 0, 0)
    assert claims(game) == [None, "N", "S", "W", "NW", "NE", "SW"]


SEVEN_CLAIMS = [  # seat 0 claims to the south, seat 1 builds a road to the east
    ("B", 0, -1, 0, "cloister"),
    ("U", 1, 0, 1),
    ("B", 0, -2, 0, "cloister"),
    ("U", 2, 0, 1),
    ("B", 0, -3, 0, "cloister"),
    ("U", 3, 0, 1),
    ("B", 0, -4, 0, "cloister"),
    ("U", 4, 0, 1),
    ("E", 0, -5, 1, "E"),
    ("U", 5, 0, 1),
    ("E", 0, -6, 1, "E"),
    ("U", 6, 0, 1),
    ("E", 0, -7, 1, "E"),
    ("U", 7, 0, 1),
]


def test_no_claim_if_every_feature_is_occupied(engine):
    game = play(engine, [("U", 1, 0, 1, "NW"), ("U", 2, 0, 1, "SE"), ("U", 3, 0, 1, "E")])
    place(game, "U", 4, 0, 1)
    assert (game.phase(), game.seat()) == ("chance", 0)


def test_no_meeple_left_no_claim(engine):
    game = play(engine, SEVEN_CLAIMS)
    assert game.meeples() == [0, 7]
    place(game, "E", 0, -8, 1)
    assert (game.phase(), game.seat()) == ("chance", 1)


def test_meeple_that_returns_cannot_be_used_in_the_same_turn(engine):
    game = play(engine, SEVEN_CLAIMS)
    place(game, "E", 1, -5, 3)
    assert (game.phase(), game.seat()) == ("chance", 1)
    assert game.scores() == [4, 0]
    assert game.meeples() == [1, 7]


# --- Completed features ----------------------------------------------------------------------------------------------


def test_claim_and_score_in_one_turn(engine):
    """A city of two tiles scores 4. Its tile may be claimed before it is scored, and the meeple comes back at once."""
    game = engine()
    place(game, "E", 0, 1, 2)
    assert claims(game) == [None, "S", "NW"]
    claim(game, "S")
    assert game.scores() == [4, 0]
    assert game.meeples() == [7, 7]


def test_pennant_of_a_completed_city_scores_two(engine):
    game = play(engine, [("F", 0, 1, 1, "N"), ("E", 0, 2, 2)])
    assert game.scores() == [2 * 3 + 2, 0]
    assert game.meeples() == [7, 7]


def test_completed_road_scores_one_per_tile(engine):
    game = play(engine, [("W", 1, 0, 0, "W"), ("W", -1, 0, 0)])
    assert game.scores() == [3, 0]


def test_tile_twice_in_one_road_counts_once(engine):
    """The road leaves a crossing to the north and comes back to it from the east."""
    game = play(engine, [("X", 1, 0, 0), ("V", 1, 1, 3, "E"), ("V", 2, 1, 0), ("V", 2, 0, 1)])
    assert game.scores() == [0, 4]
    assert game.meeples() == [7, 7]


def test_tile_twice_in_one_city_counts_once(engine):
    """Tile I has one city to the north and one to the east; three corners join them around a hole."""
    turns = [("U", 1, 0, 1), ("I", 1, 1, 0, "N"), ("N", 1, 2, 1), ("N", 2, 2, 2), ("N", 2, 1, 3)]
    game = play(engine, turns)
    assert game.scores() == [0, 8]
    assert game.meeples() == [7, 7]


TWO_CITIES = [  # seat 0's to the east and seat 1's to the west, both open towards (0, 1), above the start tile's city
    ("D", 1, 0, 0, "N"),
    ("D", -1, 0, 0, "N"),
    ("N", 1, 1, 2),
    ("N", -1, 1, 1),
]


def test_tie_in_a_joined_city_pays_both_in_full(engine):
    game = play(engine, [*TWO_CITIES, ("R", 0, 1, 2)])
    assert game.scores() == [12, 12]
    assert game.meeples() == [7, 7]


def test_tie_of_three_of_five_pays_these_three_in_full(engine):
    third_city = [("B", 1, 2, 0), ("B", 2, 2, 0), ("B", 3, 2, 0), ("E", 0, 2, 2, "S")]
    game = play(engine, [*TWO_CITIES, *third_city, ("C", 0, 1, 0)], players=5)
    assert game.scores() == [16, 16, 16, 0, 0]


def test_city_that_joins_occupied_cities_cannot_be_claimed(engine):
    game = play(engine, TWO_CITIES)
    place(game, "R", 0, 1, 2)
    assert claims(game) == [None, "NW"]


def test_joining_two_occupied_cities_pays_the_majority_only(engine):
    third_city = [("B", 1, 2, 0), ("B", 2, 2, 0), ("E", 0, 2, 2, "S")]
    game = play(engine, [*TWO_CITIES, *third_city, ("C", 0, 1, 0)])
    assert game.scores() == [2 * 7 + 2, 0]
    assert game.meeples() == [7, 7]


CLOISTER = [  # seat 0's; seat 1 places the last of the eight tiles around it
    ("B", 0, -1, 0, "cloister"),
    ("U", 1, 0, 1),
    ("U", -1, 0, 1),
    ("E", 1, -1, 1),
    ("E", -1, -1, 3),
    ("E", 0, -2, 2),
    ("E", 1, -2, 1),
    ("E", -1, -2, 3),
]


def test_cloister_completed_by_the_opponent_pays_its_owner(engine):
    game = play(engine, CLOISTER)
    assert game.scores() == [9, 0]
    assert game.meeples() == [7, 7]


def test_cloister_waits_for_its_eighth_neighbour(engine):
    game = play(engine, CLOISTER[:-1])
    assert (game.seat(), game.scores(), game.meeples()) == (1, [0, 0], [6, 7])


def test_cloister_placed_into_the_last_gap_is_complete_at_once(engine):
    _, *others, south, south_east, south_west = CLOISTER
    game = play(engine, [*others, south_east, south_west, south, ("B", 0, -1, 0, "cloister")])
    assert game.scores() == [0, 9]
    assert game.meeples() == [7, 7]


# --- The end of the game ---------------------------------------------------------------------------------------------


def test_open_city_pays_one_per_tile_and_pennant(engine):
    game = finish(play(engine, [("F", 0, 1, 1, "N")]))
    assert game.scores() == [2 + 1, 0]


def test_tie_in_an_open_city_pays_both_once(engine):
    game = finish(play(engine, [*TWO_CITIES, ("C", 0, 1, 0)]))
    assert game.scores() == [6 + 1, 6 + 1]


def test_open_road_pays_one_per_tile(engine):
    game = finish(play(engine, [("U", 1, 0, 1, "E")]))
    assert game.scores() == [2, 0]


def test_open_cloister_pays_one_and_its_neighbours(engine):
    game = finish(play(engine, [*CLOSED_START, ("B", 0, 2, 0, "cloister")]))
    assert game.scores() == [0, 1 + 1]


THREE_CITIES = [  # of two tiles each; the field is that of (0, 1), (0, 2) and (1, 1)
    ("E", 0, 1, 2, "NW"),
    ("E", 0, 2, 0),
    ("E", 0, 3, 2),
    ("E", 1, 1, 1),
    ("E", 2, 1, 3),
]


def test_field_of_three_completed_cities_pays_nine(engine):
    """The farmer stays on it."""
    game = finish(play(engine, THREE_CITIES))
    assert game.scores() == [9, 0]
    assert game.meeples() == [6, 7]


def test_field_pays_nothing_for_an_open_city(engine):
    game = finish(play(engine, THREE_CITIES[:-1]))
    assert game.scores() == [6, 0]


def test_city_bordering_one_field_twice_counts_once(engine):
    """The field runs from one tile of the city around (1, 1) and (1, 0) to its other tile, the start tile."""
    game = finish(play(engine, [("E", 0, 1, 2, "NW"), ("U", 1, 0, 1), ("B", 1, 1, 0)]))
    assert game.scores() == [3, 0]


def test_city_completed_by_two_segments_of_one_tile_counts_once(engine):
    """Tile I has one city to the north and one to the east, which three corners have joined to one city before it is placed."""
    corners = [("U", 1, 0, 1), ("U", 2, 0, 1), ("N", 2, 1, 3), ("N", 2, 2, 2), ("N", 1, 2, 1)]
    game = play(engine, corners)
    place(game, "I", 1, 1, 0)
    assert claims(game) == [None, "N", "NW"]
    claim(game, "NW")
    assert finish(game).scores() == [0, 3]


def test_city_bordering_two_fields_counts_for_each(engine):
    """The two fields beside a city that runs from south to north, one of each seat."""
    game = finish(play(engine, [("F", 0, 1, 1, "NE"), ("E", 0, 2, 2), ("E", 1, 1, 1), ("E", -1, 1, 3, "NW")]))
    assert game.scores() == [3, 3]


@pytest.mark.parametrize("field, points", [("NW", 0), ("SE", 3)])
def test_field_beyond_the_road_does_not_border_the_city(engine, field, points):
    """A road separates the city to the south from the field at NW and NE; the field at SE and SW borders it."""
    game = finish(play(engine, [("D", 0, 1, 2, field)]))
    assert game.scores() == [points, 0]


def test_last_tile_scores_as_any_other(engine):
    game = finish(engine(), keep="E")
    assert game.chances() == {LETTERS.index("E"): 1}
    place(game, "E", 0, 1, 2)
    claim(game, "S")
    assert (game.phase(), game.scores()) == ("over", [4, 0])


def test_field_claimed_with_the_last_tile_counts(engine):
    game = finish(engine(), keep="E")
    place(game, "E", 0, 1, 2)
    claim(game, "NW")
    assert (game.phase(), game.scores()) == ("over", [3, 0])


@pytest.mark.parametrize("unplaceable", ["return", "discard"])
def test_game_ends_when_no_remaining_tile_fits(engine, unplaceable):
    """Two tiles in the bag: the one that closes the start tile's city, and C, which then fits nowhere."""
    game = engine(unplaceable=unplaceable)
    game.set_bag("EC")
    place(game, "E", 0, 1, 2)
    claim(game, "NW")
    assert (game.phase(), game.scores()) == ("over", [3, 0])


def test_equal_points_share_the_place(engine):
    first, second = play(engine, [*TWO_CITIES, ("R", 0, 1, 2)]).standings()
    assert first == second
