"""The rulebook of Carcassonne, case by case, in its notation: D+0+0r0 is the start tile, @N0 a meeple of seat 0 at its north."""

import random

import numpy as np
import pytest

from kdenv.compiler.kernel import kernel
from kdenv.core.errors import IllegalAction
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.carcassonne import claims, rules

GAME = find_game("carcassonne")


def to_place(drawn: str, tiles: str, turn: int = 0, bag: str = "U1", players: int = 2, **options: str) -> Table:
    """A table where seat `turn` is to place a tile beside these."""
    points = ",".join("0" * players)
    return Table(GAME, players, **options).at_position(f"stage=place drawn={drawn} turn={turn} points={points} tiles={tiles} bag={bag}")


def play(table: Table, *actions: str) -> Table:
    for action in actions:
        table.play(table.action(action))
    return table


def hands(table: Table) -> list[int]:
    return table.states[0]["hand"][: table.players].tolist()


def names(table: Table) -> list[str]:
    return [table.name(action) for action in table.legal()]


# Scoring what is complete


def test_city_of_two_tiles_scores_four() -> None:
    table = play(to_place("E", "D+0+0r0"), "place E+0+1r2", "claim city S")
    assert (table.scores(), hands(table)) == ([4, 0], [7, 7])


def test_claim_and_score_in_one_turn_gives_the_meeple_back_only_after_it() -> None:
    table = play(to_place("E", "D+0+0r0"), "place E+0+1r2")
    assert names(table) == ["claim nothing", "claim city S", "claim field NW"]
    play(table, "claim city S")
    assert (table.scores(), hands(table)) == ([4, 0], [7, 7])


def test_pennant_counts_like_a_tile() -> None:
    """D, the corner M with a pennant, and E: three tiles and a pennant."""
    table = play(to_place("E", "D+0+0r0@N0,M+0+1r2,B+0+2r0"), "place E-1+1r1", "claim nothing")
    assert (table.scores(), hands(table)) == ([8, 0], [7, 7])


JOINED = "D+0+0r0@N0,U-1+0r1,E-1+1r1@E1,U+1+0r1,E+1+1r3"


def test_joining_two_occupied_cities_ties_and_everybody_gets_the_full_points() -> None:
    table = play(to_place("R", JOINED), "place R+0+1r2", "claim nothing")
    assert (table.scores(), hands(table)) == ([8, 8], [7, 7])


def test_joining_two_occupied_cities_pays_only_whoever_has_more_meeples() -> None:
    table = play(to_place("R", JOINED + "@W0"), "place R+0+1r2", "claim nothing")
    assert (table.scores(), hands(table)) == ([8, 0], [7, 7])


def test_joined_city_cannot_be_claimed_by_the_tile_that_joins_it() -> None:
    assert names(play(to_place("R", JOINED), "place R+0+1r2")) == ["claim nothing", "claim field NW"]


def test_tie_of_three_of_five() -> None:
    table = to_place("R", "D+0+0r0@N2,U-1+0r1,E-1+1r1@E1,U+1+0r1,E+1+1r3@W4", players=5)
    play(table, "place R+0+1r2", "claim nothing")
    assert table.scores() == [0, 8, 8, 0, 8]


def test_road_is_complete_between_two_crossings() -> None:
    table = play(to_place("W", "D+0+0r0,W+1+0r1"), "place W-1+0r0", "claim road E")
    assert table.scores() == [3, 0]


LOOP = "D+0+0r0,X+1+0r0@N1,V+1+1r3,V+2+1r0"


def test_a_tile_twice_in_one_road_counts_once() -> None:
    table = play(to_place("V", LOOP), "place V+2+0r1", "claim nothing")
    assert (table.scores(), hands(table)) == ([0, 4], [7, 7])


def test_a_tile_twice_in_one_city_counts_once() -> None:
    """I has a cap north and a cap east; three corners join them to one city around a hole."""
    table = to_place("N", "D+0+0r0,U+1+0r1,I+1+1r0@N0,N+1+2r1,N+2+2r2")
    play(table, "place N+2+1r3", "claim nothing")
    assert (table.scores(), hands(table)) == ([8, 0], [7, 7])


def test_cloister_completed_by_the_opponent_pays_its_owner() -> None:
    tiles = "D+0+0r0,U+1+0r1,U-1+0r1,B+0-1r0@c0,E+1-1r1,E-1-1r3,E+1-2r1,E-1-2r3"
    table = play(to_place("E", tiles, turn=1), "place E+0-2r2", "claim nothing")
    assert (table.scores(), hands(table)) == ([9, 0], [7, 7])


def test_cloister_laid_into_the_last_gap_is_complete_at_once() -> None:
    tiles = "D+0+0r0,U+1+0r1,U-1+0r1,E+1-1r1,E-1-1r3,E+1-2r1,E-1-2r3,E+0-2r2"
    table = play(to_place("B", tiles), "place B+0-1r0", "claim cloister")
    assert (table.scores(), hands(table)) == ([9, 0], [7, 7])


# Claiming


def test_two_edges_of_one_merged_road_are_one_claim() -> None:
    """The curve closes the loop around X: its own road is one, of two ends."""
    assert names(play(to_place("V", LOOP.replace("@N1", "")), "place V+2+0r1")) == [
        "claim nothing",
        "claim road N",
        "claim field NW",
        "claim field NE",
    ]


def test_two_fields_of_a_tile_that_are_one_field_are_one_claim() -> None:
    """The road ends at A's cloister, so the fields on both sides of it are one."""
    table = play(to_place("V", "D+0+0r0,A+1+0r1"), "place V-1+0r2")
    assert [name for name in names(table) if "field" in name] == ["claim field NW"]


def test_a_claim_may_be_named_by_any_slot_of_its_feature() -> None:
    table = play(to_place("U", "D+0+0r0"), "place U+1+0r1")
    assert table.action("claim road W") == table.action("claim road E") == rules.CLAIM + 2


def test_claim_is_skipped_when_no_meeple_is_left() -> None:
    table, dice, skipped = Table(GAME, 2), random.Random(5), 0
    rng = np.random.default_rng(5)
    while not table.over:
        if table.at_chance:
            table.chance(table.sample_chance(rng))
            continue
        seat, legal = table.seat, table.legal()
        empty_handed = table.states[0]["hand"][seat] == 0
        placing = table.states[0]["stage"] == rules.PLACING
        table.play(dice.choice(legal) if placing else legal[-1])  # always claims what it can
        if placing and empty_handed:
            skipped += 1
            assert table.states[0]["stage"] != rules.CLAIMING
    assert skipped > 10


def test_claim_is_skipped_when_everything_is_occupied() -> None:
    table = play(to_place("U", "D+0+0r0@E0,U+1+0r1@nw0,U+2+0r1@se1"), "place U+3+0r1")
    assert table.at_chance


# The end


def test_last_tile_is_claimed_and_scored() -> None:
    table = play(to_place("U", "D+0+0r0", bag=""), "place U+1+0r1", "claim road E")
    assert table.over
    assert table.scores() == [2, 0]


def test_open_city_counts_one_per_tile_and_pennant() -> None:
    table = play(to_place("F", "D+0+0r0", bag=""), "place F+0+1r1", "claim city N")
    assert (table.over, table.scores()) == (True, [3, 0])


def test_open_cloister_counts_itself_and_its_neighbours() -> None:
    table = play(to_place("B", "D+0+0r0,U+1+0r1", bag=""), "place B+0-1r0", "claim cloister")
    assert (table.over, table.scores()) == (True, [3, 0])


def test_field_counts_three_for_each_of_three_complete_cities() -> None:
    tiles = "D+0+0r0,E+0+1r2@nw0,E+1+1r1,E+2+1r3,E+1+2r0,E+1+3r2"
    table = play(to_place("U", tiles, bag=""), "place U+1+0r1", "claim nothing")
    assert (table.over, table.scores()) == (True, [9, 0])


def test_open_city_is_worth_nothing_to_a_field() -> None:
    tiles = "D+0+0r0,E+0+1r2@nw0,E+1+1r1"
    table = play(to_place("U", tiles, bag=""), "place U+1+0r1", "claim nothing")
    assert table.scores() == [3, 0]


def test_city_bordering_one_field_twice_counts_once() -> None:
    """The field north of the road and around E is one; it borders the city from the south and from the north."""
    tiles = "D+0+0r0,E+0+1r2@nw0,B+1+1r0"
    table = play(to_place("U", tiles, bag=""), "place U+1+0r1", "claim nothing")
    assert table.scores() == [3, 0]


def test_city_completed_by_two_segments_of_one_tile_counts_once() -> None:
    """I has a cap north and a cap east, and three corners join them: laid last, I completes this one city with both."""
    tiles = "D+0+0r0,U+1+0r1,U+2+0r1,N+2+1r3,N+2+2r2,N+1+2r1"
    table = play(to_place("I", tiles, bag=""), "place I+1+1r0", "claim field SW")
    assert (table.over, table.scores()) == (True, [3, 0])


def test_city_pays_two_fields_that_border_it() -> None:
    """Without B the field north of E and the one south of the city are two, and each has a farmer."""
    tiles = "D+0+0r0@nw1,E+0+1r2@nw0"
    table = play(to_place("U", tiles, bag=""), "place U+1+0r1", "claim nothing")
    assert table.scores() == [3, 3]


def test_farmers_stay_where_they_are() -> None:
    table = play(to_place("U", "D+0+0r0,E+0+1r2@nw0", bag=""), "place U+1+0r1", "claim nothing")
    assert hands(table) == [6, 7]


def test_equal_points_share_the_place() -> None:
    table = play(to_place("U", "D+0+0r0@nw1,E+0+1r2@nw0", bag=""), "place U+1+0r1", "claim nothing")
    assert table.ranks() == [1, 1]


# The bag and the window

CLOSED = "D+0+0r0,E+0+1r2"  # no city is open, so C (city all around) fits nowhere
C = 2


def test_unplaceable_tile_is_not_drawn_if_it_returns() -> None:
    table = play(to_place("U", CLOSED, bag="B1,C1"), "place U+1+0r1", "claim nothing")
    assert table.chances() == [(1, 1.0)]


def test_unplaceable_tile_is_drawn_and_discarded_under_the_printed_rule() -> None:
    table = play(to_place("U", CLOSED, bag="B1,C1", unplaceable="discard"), "place U+1+0r1", "claim nothing")
    assert table.chances() == [(1, 0.5), (C, 0.5)]
    table.chance(C)
    assert table.chances() == [(1, 1.0)]
    assert table.states[0]["turn"] == 1


@pytest.mark.parametrize("unplaceable", ["return", "discard"])
def test_game_ends_when_no_remaining_tile_fits(unplaceable: str) -> None:
    table = play(to_place("U", CLOSED, bag="C1", unplaceable=unplaceable), "place U+1+0r1", "claim nothing")
    assert table.over


def row_to_the_east(n: int) -> str:
    """n tiles east of E, fields between them, the last with a city to the east."""
    row = ",".join(f"{letter}+{1 + i}+1r0" for i, letter in enumerate("BBBUUUUUUUUAAB"[: n - 1]))
    return f"{CLOSED},{row},E+{n}+1r1"


@pytest.mark.parametrize("n, is_placeable", [(14, True), (15, False)])
def test_tile_that_fits_only_outside_the_window_is_unplaceable_and_the_state_says_so(n: int, is_placeable: bool) -> None:
    table = play(to_place("V", row_to_the_east(n), bag="C1,E1"), "place V+1+0r0", "claim nothing")
    assert (C in [outcome for outcome, _ in table.chances()]) == is_placeable
    assert bool(table.states[0]["clipped"]) != is_placeable
    assert ("clipped=1" in table.position()) != is_placeable


# What cannot be done


@pytest.mark.parametrize("action", ["place E+1+0r0", "place E+5+5r0", "place V+0+1r0"])
def test_illegal_placement_names_itself_and_the_position(action: str) -> None:
    table = to_place("E", "D+0+0r0")
    with pytest.raises(ValueError, match=r"not legal in carcassonne position|is not the tile to place") as error:
        play(table, action)
    assert "\n" not in str(error.value)


def test_claiming_what_is_occupied_is_illegal() -> None:
    with pytest.raises(IllegalAction, match="claim road W"):
        play(to_place("U", "D+0+0r0@E1"), "place U+1+0r1", "claim road W")


def test_start_tile_is_nobodys_and_seat_0_begins() -> None:
    table = Table(GAME, 5)
    assert (table.at_chance, hands(table), table.states[0]["turn"]) == (True, [7] * 5, 0)
    assert sum(table.states[0]["bag"]) == 71
    assert claims.CLAIM == 3844
    assert table.n_actions == 3854


def line(east: int, north: int, faces: str) -> str:
    """Tiles in a line from the start tile; faces is text such as E2 U1 U1: types and rotations."""
    cells = (f"{face[0]}{east * n:+d}{north * n:+d}r{face[1]}" for n, face in enumerate(faces.split(), 1))
    return ",".join(["D+0+0r0", *cells])


@pytest.mark.parametrize(
    "east, north, faces, counts",
    [
        (0, 1, "E2" + " U1" * 8 + " H0" * 3 + " B0" * 3, [3, 3, 2]),
        (0, -1, "U1" + " U1" * 7 + " H0" * 3 + " B0" * 4, [3, 3, 3, 2]),
        (1, 0, "U1" + " U1" * 7 + " W0" * 4 + " X0 D0 A1", [2]),
        (-1, 0, "U1" + " U1" * 7 + " W0" * 4 + " X0 D0 A3", [2]),
    ],
)
def test_a_cloister_at_the_edge_of_the_window_counts_the_tiles_around_it(east: int, north: int, faces: str, counts: list[int]) -> None:
    s = Table(GAME).at_position(f"stage=draw turn=0 points=0,0 tiles={line(east, north, faces)} bag=V1").states[0]
    assert s["cloister_tiles"][: s["n_cloisters"]].tolist() == counts


@kernel
def _stand(states, tile, slot, seat, n):
    claims.stand(states[0], tile, slot, seat, n)


def test_a_meeple_that_is_put_down_and_taken_back_changes_nothing() -> None:
    """As the greedy player does. On every feature of a tile, while other features are held."""
    table = to_place("D", "D+0+0r0@N0,U+1+0r1@W1,U+0-1r1@E0", turn=1)
    for place in table.legal():
        after = table.clone()
        after.play(place)
        tile = int(after.states[0]["n_tiles"]) - 1
        for claim in after.legal()[1:]:
            states = after.states.copy()
            for n in (1, -1):
                _stand(states, tile, claim - claims.CLAIM, 1, n)
            assert states.tobytes() == after.states.tobytes()
