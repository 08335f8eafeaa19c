"""Do the counts of packings and pictures agree with Wong and Kang, with packings laid by hand, and with kingdoms that were played?"""

import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from random_games import random_game

from baselines.papers import profiles, wong_kang
from kdenv.core.table import Table
from kdenv.games import find_game

GAME = find_game("kingdomino")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("size, honest, paper", [(3, (114, 18), (144, 24)), (5, (275_764, 2_180), (303_388, 2_768))])
def test_packings_and_tessellations_are_those_of_the_paper(size: int, honest: tuple[int, int], paper: tuple[int, int]) -> None:
    assert wong_kang.honest_total(size) == honest
    assert wong_kang.total_of_the_paper(size) == paper


@pytest.mark.parametrize("size, tilings", [(2, 2), (4, 36)])
def test_a_board_without_a_castle_has_the_known_number_of_tilings(size: int, tilings: int) -> None:
    assert wong_kang.packings(size, wong_kang.NOWHERE)[1] == tilings


def test_packings_of_4_x_4_without_a_castle() -> None:
    assert wong_kang.packings(4, wong_kang.NOWHERE) == (400, 36)


def packings_by_hand(size: int, castle: int) -> set[frozenset]:
    """Every packing, by laying dominoes one after another beside what lies."""
    squares = list(product(range(size), repeat=2))

    def beside(square: tuple[int, int]) -> list[tuple[int, int]]:
        x, y = square
        return [near for near in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)) if near in squares]

    found, seen, front = set(), set(), [frozenset()]
    while front:
        packing = front.pop()
        covered = {squares[castle]}.union(*packing)
        for first in squares:
            for second in beside(first):
                if not {first, second} & covered and covered & {*beside(first), *beside(second)}:
                    grown = packing | {frozenset((first, second))}
                    if grown not in seen:
                        seen.add(grown)
                        front.append(grown)
        empty = set(squares) - covered
        if not any(empty & set(beside(square)) for square in empty):
            found.add(packing)
    return found


@pytest.mark.parametrize("size, castle", [(2, 0), (3, 0), (3, 1), (3, 4), (3, 5), (4, 0), (4, 1), (4, 5)])
def test_packings_are_those_laid_by_hand(size: int, castle: int) -> None:
    by_hand = packings_by_hand(size, castle)
    in_numbers = {frozenset(frozenset(x * size + y for x, y in domino) for domino in packing) for packing in by_hand}
    listed = list(wong_kang.list_packings(size, castle))
    assert {frozenset(map(frozenset, packing)) for packing in listed} == in_numbers
    full = [packing for packing in listed if 2 * len(packing) + 1 == size * size]
    assert wong_kang.packings(size, castle) == (len(listed), len(full)) == (len(by_hand), len(full))


def test_symmetric_castles_have_the_same_counts() -> None:
    counts = np.array([wong_kang.packings(5, castle)[0] for castle in range(25)]).reshape(5, 5)
    assert (counts == counts.T).all() and (counts == counts[::-1]).all()


@pytest.mark.parametrize("size, castle", [(1, 0), (6, 0), (3, 9), (3, -2)])
def test_what_cannot_be_counted_is_told(size: int, castle: int) -> None:
    with pytest.raises(ValueError, match="packings are counted from 2 x 2 to 5 x 5, the castle on a square or NOWHERE"):
        wong_kang.packings(size, castle)


def test_pictures_of_3_x_3_by_the_rule_of_the_papers_program_are_the_papers() -> None:
    counts = [wong_kang.pictures(castle, by_their_program=True) for castle in (0, 1, 4)]
    assert tuple(np.sum(counts, axis=0)) == (989_421, 801_973)
    assert counts[2] == wong_kang.pictures(4)  # in the middle every square lies beside the castle or a domino of its own


def test_pictures_of_3_x_3_with_the_right_rule() -> None:
    """The paper's own 989,421 / 801,973 lose the second way round of a domino both of whose halves match."""
    corner, edge, centre = (wong_kang.pictures(castle) for castle in (0, 1, 4))
    assert (corner, edge, centre) == ((208_773, 197_613), (52_436, 0), (732_865, 608_721))
    assert tuple(map(sum, zip(corner, edge, centre, strict=True))) == (994_074, 806_334)


def test_a_random_kingdom_of_3_x_3_in_which_nothing_fits_is_one_of_its_packings() -> None:
    """The kingdoms that come out of the verbs, and the packings counted, are the same things."""
    packings = {castle: {frozenset(np.ravel(packing).tolist()) for packing in wong_kang.list_packings(3, castle)} for castle in range(9)}
    full = 0
    for seed in range(60):
        for squares, castle in kingdoms(random_game(GAME, seed, 4, size=3)):
            if len(squares) == 8:
                full += 1
                assert squares in packings[castle]
    assert full > 20


def kingdoms(table: Table) -> list[tuple[frozenset[int], int]]:
    """The squares covered and the castle of each full 3 x 3 kingdom, numbered in reading order."""
    found = []
    for text in table.position().split("kingdoms=")[1].split()[0].split(","):
        rows = text.replace("+", "").split("/")
        if [len(row) for row in rows] == [3, 3, 3]:
            flat = "".join(rows)
            found.append((frozenset(i for i, square in enumerate(flat) if square not in "X."), flat.index("X")))
    return found


def test_the_command_prints_the_table() -> None:
    command = [sys.executable, "-m", "baselines.papers.wong_kang"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True)
    assert "packings of 5 x 5, as the paper adds up       303,388            2,768        303,388 / 2,768" in done.stdout
    assert "pictures of 3 x 3                             994,074          806,334      989,421 / 801,973" in done.stdout


@pytest.mark.parametrize("size", [3, 5])
def test_counting_by_profiles_finds_what_visiting_every_packing_finds(size: int) -> None:
    for castle in range(size * size):
        assert (profiles.packings(size, castle), profiles.tessellations(size, castle)) == wong_kang.packings(size, castle)


def test_boards_that_are_too_large_to_visit() -> None:
    """Figures of a program of its own (the page of the project on Kingdomino)."""
    assert profiles.total_of_the_paper(7, full=True) == 2_426_592 and profiles.honest_total(7, full=True) == 2_200_776
    assert profiles.total_of_the_paper(9, full=True) == 22_153_404_992 and profiles.honest_total(9, full=True) == 20_355_006_224


@pytest.mark.slow
def test_all_packings_of_7_x_7() -> None:
    assert profiles.total_of_the_paper(7, full=False) == 28_870_923_216
    assert profiles.honest_total(7, full=False) == 27_326_652_654


@pytest.mark.parametrize("size, tilings", [(2, 2), (4, 36), (6, 6728), (8, 12_988_816)])
def test_the_closed_formula_counts_the_tilings_of_even_boards(size: int, tilings: int) -> None:
    assert profiles.closed_formula(size, size) == profiles.tessellations(size, profiles.NOWHERE) == tilings


def test_the_most_points_on_3_x_3() -> None:
    assert [wong_kang.best_score(castle) for castle in (0, 1, 4)] == [36, 21, 24]
