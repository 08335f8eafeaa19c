"""Facts about the rules of Kingdomino that random games meet too seldom to notice when they are wrong."""

import pytest

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.kingdomino.board import REACHABLE_COLUMNS, REACHABLE_ROWS, SEAM_COLUMN, SEAM_ROW

OVER = (
    "round=6 stage=over turn=4 kingdoms={} queue=14:0,17:1,23:1,30:0 draft= box=1,3,6-7,12-13,16,20-22,24,27-28,31-34,37-38,40,42,45,47-48"
)
SIX_POINTS = {
    "three squares, two crowns on one of them": "pp++p/wX.",
    "three squares, two crowns on two of them": "p+p+p/wX.",
    "three squares and one square, four crowns": "p+pp/.Xm+++",
    "six squares, one crown": "p+pp/pXp/p..",
}


@pytest.mark.parametrize(
    "kingdoms, official",
    [
        (("three squares, two crowns on one of them", "three squares, two crowns on two of them"), [1, 1]),
        (("three squares, two crowns on one of them", "three squares and one square, four crowns"), [2, 1]),
        (("six squares, one crown", "three squares and one square, four crowns"), [1, 2]),
    ],
)
def test_the_official_tie_break_is_by_largest_area_and_then_by_crowns(kingdoms: tuple[str, str], official: list[int]) -> None:
    for tiebreak, ranks in (("official", official), ("shared", [1, 1])):
        table = Table(find_game("kingdomino"), 2, size=3, middle=False, harmony=False, tiebreak=tiebreak)
        table = table.at_position(OVER.format(",".join(SIX_POINTS[kingdom] for kingdom in kingdoms)))
        assert (table.scores(), table.ranks()) == ([6, 6], ranks)


def columns_a_domino_may_take(size: int, least: int, most: int) -> list[int]:
    """One half must lie in or beside the columns of the kingdom, and afterwards the kingdom must not be too wide."""
    halves = [(a, b) for a in range(least - 1, most + 2) for b in (a - 1, a, a + 1)]
    return sorted({x for pair in halves if max(most, *pair) - min(least, *pair) < size for x in pair})


@pytest.mark.parametrize("size", [3, 5, 7])
def test_the_squares_in_reach_are_those_that_a_domino_may_take(size: int) -> None:
    for least in range(1 - size, 1):
        for most in range(least + size):
            columns = columns_a_domino_may_take(size, least, most)
            at = size, -least, most
            assert int(REACHABLE_COLUMNS[at]) == sum(1 << 8 * y + x for x in {x & 7 for x in columns} for y in range(8))
            assert int(REACHABLE_ROWS[at]) == sum(1 << 8 * y + x for y in {x & 7 for x in columns} for x in range(8))
            last = {columns[-1] & 7} if most - least == 5 else set()  # six wide: the eighth column lies beside the first on the torus
            assert int(SEAM_COLUMN[at]) == sum(1 << 8 * y + x for x in last for y in range(8))
            assert int(SEAM_ROW[at]) == sum(1 << 8 * y + x for y in last for x in range(8))
