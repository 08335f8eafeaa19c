"""Is the bound on the points of a kingdom a bound, and can the kingdoms that come nearest to it be laid?"""

import re
from itertools import combinations

import pytest
from naive import kingdomino as naive

from baselines.papers import best_kingdom


def counted(dominoes: tuple[int, ...]) -> int:
    """Squares times crowns, summed over terrains."""
    halves = [half for number in dominoes for half in naive.DOMINOES[number]]
    return sum(
        sum(terrain == each for each, _ in halves) * sum(crowns for each, crowns in halves if each == terrain)
        for terrain in {each for each, _ in halves}
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_bound_is_the_most_of_all_choices_of_dominoes(n: int) -> None:
    assert best_kingdom.most_by_counting(n) == max(map(counted, combinations(naive.DOMINOES, n)))


@pytest.mark.parametrize("size, bound", [(3, 36), (5, 128), (7, 272)])
def test_no_kingdom_scores_more(size: int, bound: int) -> None:
    assert best_kingdom.most_by_counting(size * size // 2) == bound
    assert best_kingdom.best_found(size) <= bound


@pytest.mark.parametrize("text", best_kingdom.kingdoms())
def test_the_best_kingdoms_can_be_laid_and_score_as_much_by_the_rules(text: str) -> None:
    size, castle, dominoes = best_kingdom.read(text)
    at = {square: (square % size - castle % size, square // size - castle // size) for square in range(size * size)}
    wanted = {number + 1: (at[one], at[other]) for one, other, number in dominoes.tolist()}
    kingdom: naive.Kingdom = {(0, 0): naive.CASTLE}
    while wanted:
        fitting = [number for number, places in wanted.items() if places in naive.placements(kingdom, number, size)]
        assert fitting, "no other domino fits"
        for number in fitting:
            kingdom |= dict(zip(wanted.pop(number), naive.DOMINOES[number], strict=True))
    assert len(kingdom) == size * size
    assert naive.points_of_areas(kingdom, naive.areas(kingdom)) == best_kingdom.points_of(text)


def test_the_file_says_the_points_of_its_kingdoms() -> None:
    said = re.findall(r"^(\d) x \d: (\d+) points", best_kingdom.KINGDOMS.read_text(), re.MULTILINE)
    assert [(int(size), int(points)) for size, points in said] == [(size, best_kingdom.best_found(size)) for size in best_kingdom.SIZES]


def test_the_search_finds_the_best_kingdom_of_3_x_3() -> None:
    points, text = best_kingdom.search(3, 0, 0, 300_000)
    assert points == best_kingdom.points_of(text) == 36


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("# 1a 1b\n2a 2b 3a\n3b 4a 4b", "the halves of a domino lie side by side"),
        ("# 1a 1b\n2a 2b 3a\n3b 4a 4a", "each of its squares has a half of a domino, once, or the castle"),
        ("# 1a 1b\n2a 2b", "each of its squares has a half of a domino, once, or the castle"),
        ("3a 3b 48a\n4a 4b 48b\n45a 45b #", "cannot be laid"),
    ],
)
def test_what_is_no_kingdom_is_told(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        best_kingdom.points_of(text)
