"""Do the searches come out as in the papers? Matches against the tables of the pages; long, so under --slow.

Bounds are more than five standard errors wide on top of the page's own interval.
"""

import math

import numpy as np
import pytest

from kdenv.arena import Match, Result, Summary, play

FULL_GREEDY = "full_greedy(variant=paper)"


def run(game: str, line_up: list[str], games: int):
    """The row of the first policy, and its margins."""
    match, results = Match(game, line_up, games, seed=1), list[Result]()
    assert play(match, on_result=results.append)
    return Summary(match, results).rows()[0], np.array([result.margins[0] for result in results])


@pytest.mark.slow
def test_uct_with_random_playouts_against_full_greedy() -> None:
    row, margins = run("kingdomino", ["uct-tr", *[FULL_GREEDY] * 3], 200)
    assert abs(row.margin.mean - -7.2) < 5 * math.hypot(2.0 / 1.96, margins.std() / math.sqrt(200))


@pytest.mark.slow
@pytest.mark.parametrize(
    "searcher, opponent, games, least",
    [
        ("ucb_orig(playouts=1000)", "bmfsm", 40, 0.75),  # 88 % in the thesis, 92-97 % simulated
        ("ucb_orig(playouts=5000)", "bmfsm", 12, 0.75),  # 100 %
        ("ucb_orig(playouts=50)", "random", 40, 0.9),  # 200-0
        ("uct_orig(playouts=50)", "random", 40, 0.75),  # 200-0
    ],
)
def test_searches_of_the_thesis_on_dominion(searcher: str, opponent: str, games: int, least: float) -> None:
    row, _ = run("dominion", [searcher, opponent], games)
    assert row.wins.mean >= least


@pytest.mark.slow
@pytest.mark.parametrize("searcher, opponent", [("mc(playouts=500)", "mco(playouts=500)"), ("mcts(playouts=500)", "mctso(playouts=500)")])
def test_margins_beat_outcomes_in_carcassonne(searcher: str, opponent: str) -> None:
    row, _ = run("carcassonne", [searcher, opponent], 20)
    assert row.margin.mean > 0
