"""Do whole games come out as in the 2018 paper? Its numbers are in tests/data/gedda2018.json, with their intervals.

The long runs are under --slow; by default the same comparisons run on fewer games with wider bounds. All bounds are
more than five standard errors wide for this many games, so that a right engine never fails.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from kdenv.arena import Match, Result, Summary, play
from kdenv.compiler.kernel import allocating_kernel
from kdenv.compiler.random import make_rng
from kdenv.core.questions import choose
from kdenv.core.table import Table
from kdenv.core.turns import play_turn
from kdenv.core.verbs import CHANCE, OVER, apply_chance, legal, phase, sample_chance, scores
from kdenv.games import find_game
from kdenv.games.kingdomino import placements, rules
from kdenv.games.kingdomino.heuristics import Greedy
from kdenv.games.kingdomino.tables import N_DOUBLES
from kdenv.search.playout import Split, Uniform

PAPER = json.loads((Path(__file__).parents[1] / "data" / "gedda2018.json").read_text())
FULL_GREEDY, GPRD = Greedy(1, 0, 1), Greedy(0, 1, 1)  # as the paper's program decides
# Turns open on average in rounds 1 to 13 of random games, the two names of a double counted once.
BRANCHING = [2.49, 49.21, 43.01, 38.19, 33.65, 28.97, 22.94, 17.70, 13.03, 9.12, 6.17, 4.20, 1.27]
SCORE_BY_ROUND = {
    "TR": [10.00, 10.82, 11.28, 11.44, 11.37, 11.44, 12.06, 13.30, 15.04, 17.07, 19.24, 21.11, 22.58],
    "FG": [10.00, 10.82, 12.05, 14.16, 16.94, 20.29, 24.09, 28.18, 32.52, 37.03, 41.50, 45.74, 51.90],
}


@allocating_kernel
def _play(player, states, n_games, out, rng, points, branching, twice, progress):
    """Play games from states[0], writing every game's points; adding up turns open and points by round."""
    now_points = np.zeros(4, np.int64)
    for game in range(n_games):
        states[1] = states[0]
        while True:
            s = states[1]
            now = phase(s)
            if now == OVER:
                break
            if now == CHANCE:
                apply_chance(s, sample_chance(s, rng))
                continue
            n = legal(s, out)
            free = 0
            for slot in range(4):
                free += 1 if s.draft_king[slot] == rules.NOBODY else 0
            n_turns = n if s.stage == rules.PICKING or s.round == s.n_drafts else n * free
            is_double = s.stage == rules.PLACING and s.queue[s.turn] <= N_DOUBLES and out[0] != placements.discard_action(5)
            this_round, mover = int(s.round), rules.seat(s)
            branching[this_round] += n_turns
            twice[this_round] += 2 * n_turns if is_double else n_turns
            play_turn(s, choose(player, states, 1, out, rng))
            if phase(s) != OVER and s.stage == rules.PICKING and this_round > 0 and rules.seat(s) == mover:
                play_turn(s, choose(player, states, 1, out, rng))
            progress[this_round] += rules.points_of_kingdom(states[1], mover)
        scores(states[1], now_points)
        for seat in range(4):
            points[game, seat] = now_points[seat]


class Games:
    """Many games of one compiled line-up, and the results of seat 0."""

    def __init__(self, player, n: int, seed: int) -> None:
        game = find_game("kingdomino")
        states = np.zeros(8, game.state_dtype)
        states[0] = Table(game, 4).states[0]
        self.n = n
        self.points = np.zeros((n, 4), np.int64)
        branching, twice, progress = np.zeros(13), np.zeros(13), np.zeros(13)
        _play(player, states, n, game.buffer(), make_rng(seed), self.points, branching, twice, progress)
        self.branching, self.twice, self.progress = branching / (4 * n), twice / (4 * n), progress / (4 * n)
        best_opponent = self.points[:, 1:].max(axis=1)
        self.margins = self.points[:, 0] - best_opponent
        self.wins = self.points[:, 0] > best_opponent


SIZES = [pytest.param(1_000, id="1000"), pytest.param(10_000, id="10000", marks=pytest.mark.slow)]


def check(mean: float, spread: float, n: int, expected: float, half_interval: float) -> None:
    """The mean of n games is where the paper says, given its half interval and ours at five standard errors."""
    bound = math.hypot(half_interval * 5 / 1.96, 5 * spread / math.sqrt(n))
    assert abs(mean - expected) < bound, f"{mean:.3f}, not {expected:.3f} +- {bound:.3f}"


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name, player", [("TR", Uniform()), ("GPRD", Split(0, GPRD, Uniform())), ("FG", Split(0, FULL_GREEDY, Uniform()))])
def test_against_random_players_as_in_table_1(name: str, player, n: int) -> None:
    games, paper = Games(player, n, seed=1), PAPER["table1_fig2_fig3"][name]
    check(games.points[:, 0].mean(), games.points[:, 0].std(), n, paper["score_mean"], paper["score_ci95"])
    check(games.margins.mean(), games.margins.std(), n, paper["margin_mean"], paper["margin_ci95"])
    share = paper["wins"] / paper["n"]
    check(games.wins.mean(), games.wins.std(), n, share, 1.96 * math.sqrt(share * (1 - share) / paper["n"]))


@pytest.mark.parametrize("n", SIZES)
def test_greedy_against_greedy(n: int) -> None:
    games = Games(FULL_GREEDY, n, seed=2)
    check(games.margins.mean(), games.margins.std(), n, -10.2, 0.6)
    check(games.points.mean(), games.points.std(), n, 51.9, 0.3)
    for mean, expected in zip(games.progress, SCORE_BY_ROUND["FG"], strict=True):
        check(mean, 12.0, n, expected, 0.3)


@pytest.mark.parametrize("n", SIZES)
def test_random_games(n: int) -> None:
    games, paper = Games(Uniform(), n, seed=3), PAPER["table1_fig2_fig3"]["TR"]
    check(games.wins.mean(), games.wins.std(), n, 0.236, 0.0)
    check(games.points.mean(), 8.0, n, 22.58, 0.1)
    for mean, expected in zip(games.progress, SCORE_BY_ROUND["TR"], strict=True):
        check(mean, 8.0, n, expected, 0.1)
    for mean, expected in zip(games.branching, BRANCHING, strict=True):
        check(mean, 25.0, n, expected, 0.02)
    for mean, expected, half in zip(games.twice, paper["branching_server"], paper["branching_ci95"], strict=True):
        check(mean, 30.0, n, expected, half)


@pytest.mark.cold
@pytest.mark.parametrize("games", [pytest.param(40, id="40"), pytest.param(1_000, id="1000", marks=pytest.mark.slow)])
def test_flat_monte_carlo_against_greedy(games: int) -> None:
    match = Match("kingdomino", ["mce(playout=random, score=relative, playouts=1000)"] + ["full_greedy(variant=paper)"] * 3, games, seed=4)
    results: list[Result] = []
    assert play(match, on_result=results.append)
    searcher = Summary(match, results).rows()[0]
    margins = [result.margins[0] for result in results]
    assert np.std(margins) < 25
    check(searcher.margin.mean, float(np.std(margins)), games, -6.4, 1.8)
    assert searcher.playouts_per_turn.mean > 900  # less where a turn is forced
