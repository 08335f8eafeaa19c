"""Expectimax is what the naive one says; Star1, Star2 and Star2.5 are what Expectimax says, with fewer nodes."""

from collections.abc import Iterator

import pytest
import random_tree
from lookahead_runs import STARS, Searcher
from naive.expectimax import values_of_turns

from kdenv import games
from kdenv.core.table import Table
from kdenv.games import add_game
from kdenv.search.evaluate import ScoreMargin

TIE = 1e-5  # slack, relative to the bound, so that equals of the best are told


@pytest.fixture(scope="module", autouse=True)
def random_trees() -> Iterator[None]:
    """Random trees are a game while these tests run."""
    add_game(random_tree.GAME)
    yield
    del games._from_outside[random_tree.GAME.name]


def tree(seed: int, length: int | None = None) -> Table:
    """A random tree; even seeds have chance between turns, odd ones anything after anything."""
    if length is None:
        length = 5 + seed // 2 % 3
    return Table(random_tree.GAME, 2, seed=seed, shape=("turns", "any")[seed % 2], length=length)


def rooms_between(seed: int) -> ScoreMargin:
    """Bounds that are hardly ever reached, and such that cut many leaves."""
    return ScoreMargin(2, (64.0, 20.0, 5.0)[seed % 3])


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_expectimax_is_the_naive_one_on_random_trees(depth: int) -> None:
    searcher = Searcher(random_tree.GAME, depth)
    for seed in range(40):
        table = tree(seed)
        searcher.evaluator = rooms_between(seed)
        naive = values_of_turns(table, depth, most=searcher.most(table))
        result = searcher.run(table, cuts=False)
        assert result.values == pytest.approx(naive), seed
        assert result.value == pytest.approx(max(naive.values())), seed


@pytest.mark.parametrize("seeds", [range(300), pytest.param(range(300, 2500), marks=pytest.mark.slow)])
def test_stars_are_expectimax_on_random_trees(seeds: range) -> None:
    """In value and in the set of best turns; and every one saves nodes."""
    searcher = Searcher(random_tree.GAME, 4)
    nodes = dict.fromkeys(["expectimax", *STARS], 0)
    for seed in seeds:
        table = tree(seed)
        searcher.evaluator = rooms_between(seed)
        truth = searcher.run(table, cuts=False)
        nodes["expectimax"] += truth.nodes
        for star, probes in STARS.items():
            result = searcher.run(table, probes, slack=TIE)
            assert result.value == pytest.approx(truth.value, abs=1e-9), (seed, star)
            assert result.best == truth.best, (seed, star)
            nodes[star] += result.nodes
            quick = searcher.run(table, probes)
            assert quick.value == pytest.approx(truth.value, abs=1e-9), (seed, star)
    assert nodes["star2.5(k=1)"] < nodes["star1"] < nodes["expectimax"], nodes
