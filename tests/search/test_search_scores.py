"""What is the end of a game worth by each score? The formulas of the papers, on ends of Dominion with given points and turns."""

import numpy as np
import pytest

from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.games.dominion.tables import PROVINCE
from kdenv.search.score import SCORES, worths

GAME = find_game("dominion")


def found(score: str, provinces: tuple[int, ...], turns: tuple[int, ...]) -> list[float]:
    """What an end is worth to each seat: 3 points for the Estates of the start and 6 for each Province, after so many turns."""
    table = Table(GAME, len(provinces))
    table.states[0]["owned"][: len(provinces), PROVINCE] = provinces
    table.states[0]["turns"][: len(turns)] = turns
    values, numbers = np.full(len(provinces), np.nan), np.zeros(len(provinces), np.int64)
    worths(SCORES[score](len(provinces)), table.states, 0, values, numbers)
    return [float(value) for value in values]


@pytest.mark.parametrize(
    "score, provinces, worth",
    [
        # Gedda et al. 2018, III.D: a win 1, a tie for first place 1/2, else 0; their program gives 1/k to k winners, and UCT nothing.
        ("half", (1, 1, 1, 0), [0.5, 0.5, 0.5, 0]),
        ("half", (2, 1, 1, 0), [1, 0, 0, 0]),
        ("wdl", (1, 1, 1, 0), [1 / 3, 1 / 3, 1 / 3, 0]),
        ("wdl", (1, 1, 0, 0), [0.5, 0.5, 0, 0]),
        ("win", (1, 1, 0, 0), [0, 0, 0, 0]),
        ("win", (1, 0, 2, 1), [0, 0, 1, 0]),
        # III.D: R is ps / (ps + qs), where qs is the score of the best opponent; P is the player's score.
        ("relative", (2, 1, 0), [15 / 24, 9 / 24, 3 / 18]),
        ("points", (2, 1, 0), [15, 9, 3]),
        # Jansen and Tollisen 2014: eq. 9 is 1 if Diff > 0, else 0; eq. 12 adds Diff / 100.
        ("lead", (2, 1), [1, 0]),
        ("lead", (1, 1), [0, 0]),
        ("windiff", (3, 1), [1.12, -0.12]),
        ("windiff", (1, 1), [0, 0]),
        # Heyden 2009, 4.2: the difference of the points.
        ("margin", (0, 2), [-12, 12]),
    ],
)
def test_a_score_is_the_formula_of_its_paper(score: str, provinces: tuple[int, ...], worth: list[float]) -> None:
    assert found(score, provinces, (9,) * len(provinces)) == pytest.approx(worth)


def test_the_scores_of_the_dominion_thesis_compare_points_only() -> None:
    """By the rules, of two seats with equal points that with fewer turns has won."""
    assert found("wdl", (1, 1), (9, 8)) == [0, 1]
    assert found("lead", (1, 1), (9, 8)) == found("windiff", (1, 1), (9, 8)) == [0, 0]
