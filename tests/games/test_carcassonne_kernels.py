"""Facts about the compiled rules of Carcassonne that do not hold for its oracle: the state, numbers of actions, and refusals.

Positions are in the notation: D+0+0r0 is the start tile, @N0 a meeple of seat 0 at its north.
"""

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


def test_there_are_3854_actions() -> None:
    """Four rotations in each of 31 x 31 cells, and ten claims."""
    assert Table(GAME, 5).n_actions == 4 * 31 * 31 + 10 == 3854


def test_a_claim_may_be_named_by_any_slot_of_its_feature() -> None:
    table = play(to_place("U", "D+0+0r0"), "place U+1+0r1")
    assert table.action("claim road W") == table.action("claim road E") == rules.CLAIM + 2


CLOSED = "D+0+0r0,E+0+1r2"  # no city is open, so C (city all around) fits nowhere
C = 2


def row_to_the_east(n: int) -> str:
    """n tiles east of E, fields between them, the last with a city to the east."""
    row = ",".join(f"{letter}+{1 + i}+1r0" for i, letter in enumerate("BBBUUUUUUUUAAB"[: n - 1]))
    return f"{CLOSED},{row},E+{n}+1r1"


@pytest.mark.parametrize("n, is_placeable", [(14, True), (15, False)])
def test_the_state_notes_that_a_tile_fits_only_outside_the_window(n: int, is_placeable: bool) -> None:
    table = play(to_place("V", row_to_the_east(n), bag="C1,E1"), "place V+1+0r0", "claim nothing")
    assert (C in [outcome for outcome, _ in table.chances()]) == is_placeable
    assert bool(table.states[0]["clipped"]) != is_placeable
    assert ("clipped=1" in table.position()) != is_placeable


@pytest.mark.parametrize("action", ["place E+1+0r0", "place E+5+5r0", "place V+0+1r0"])
def test_illegal_placement_names_itself_and_the_position(action: str) -> None:
    table = to_place("E", "D+0+0r0")
    with pytest.raises(ValueError, match=r"not legal in carcassonne position|is not the tile to place") as error:
        play(table, action)
    assert "\n" not in str(error.value)


def test_claiming_what_is_occupied_is_illegal() -> None:
    with pytest.raises(IllegalAction, match="claim road W"):
        play(to_place("U", "D+0+0r0@E1"), "place U+1+0r1", "claim road W")


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
def _put_meeple(states, tile, slot, seat, n):
    claims.put_meeple(states[0], tile, slot, seat, n)


def test_a_meeple_that_is_put_down_and_taken_back_changes_nothing() -> None:
    """The greedy player does this. Every feature of a tile is tried, while other features are held."""
    table = to_place("D", "D+0+0r0@N0,U+1+0r1@W1,U+0-1r1@E0", turn=1)
    for place in table.legal():
        after = table.clone()
        after.play(place)
        tile = int(after.states[0]["n_tiles"]) - 1
        for claim in after.legal()[1:]:
            states = after.states.copy()
            for n in (1, -1):
                _put_meeple(states, tile, claim - claims.CLAIM, 1, n)
            assert states.tobytes() == after.states.tobytes()
