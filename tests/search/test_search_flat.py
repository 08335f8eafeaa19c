"""Does flat Monte Carlo try what it should as often as it should, and find what is worked out by hand? And what is an end worth?"""

from typing import Any

import numpy as np
import pytest
import three_shells
from positions import after_pick, of_seat_to_move, shells

from kdenv.compiler.random import make_rng
from kdenv.core.margins import best_rival, share_of_win
from kdenv.core.questions import choose_at
from kdenv.core.table import Table
from kdenv.core.turns import SCRATCH, list_turns
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.search.kernels.flat import N_STATES, Tally, best_mean, sample_in_rotation
from kdenv.search.outcome import Playouts
from kdenv.search.playout import EpsilonGreedyPlayer, Uniform
from kdenv.search.score import HalfWin, Lead, LeadAndMargin, Margin, Points, Relative, Win, WinDrawLoss, worth, worths

KINGDOMINO = find_game("kingdomino")

# The last placement of a game on 3 x 3: domino 48 (field, mine with three crowns) fits two ways round; one joins the mines.
LAST = "round=3 stage=place turn=3 kingdoms=mmm/.Xw/.wf,X queue=1:0,2:1,3:1,48:0 draft= box=12-47"


def last_placement() -> Table:
    return Table(KINGDOMINO, 2, size=3, dominoes=12).at_position(LAST)


@pytest.mark.parametrize("score", ["points", "relative", "margin"])
@pytest.mark.parametrize("seed", range(3))
def test_search_finds_the_one_best_placement(score: str, seed: int) -> None:
    table = last_placement()
    points = {}
    for action in table.legal():
        after = table.clone()
        after.play(action)
        points[action] = after.scores()[0]
    best = [action for action in points if points[action] == max(points.values())]
    assert len(best) == 1
    searching = policy(f"mce(score={score}, playouts={len(points)})")
    searching.reset(seed)
    assert searching.act(of_seat_to_move(table)) == best[0]


def test_what_the_best_placement_is() -> None:
    """So that a reader can check the test above: four mines with three crowns, the castle in the middle, no square empty."""
    table = last_placement()
    assert [table.name(action) for action in table.legal()] == ["place 48 b3 b2", "place 48 b2 b3"]
    table.play(table.action("place 48 b2 b3"))
    assert table.scores()[0] == 4 * 3 + 10 + 5


@pytest.mark.parametrize("playouts", [1, 2, 63, 64, 65, 1000])
def test_exactly_so_many_playouts_are_made(playouts: int) -> None:
    searching = policy(f"mce(playouts={playouts})")
    searching.act(shells(1, 2).view(1))
    assert searching.n_playouts == playouts
    searching.act(shells(1, 2).view(1))
    assert searching.n_playouts == 2 * playouts
    searching.reset()
    assert searching.n_playouts == 0


def test_a_forced_turn_needs_no_playout() -> None:
    table = Table(three_shells.GAME, most=1)
    table.chance(0)
    searching = policy("mce(playouts=50)")
    assert searching.act(table.view(0)) == 0
    assert searching.n_playouts == 0


def search(table: Table, turns: list[int], n: int, score: Any = None) -> Tally:
    """The tally of so many uniform playouts."""
    tally = Tally(np.zeros(len(turns), np.int64), np.zeros(len(turns)), np.zeros(len(turns)))
    states = np.zeros(N_STATES, table.states.dtype)
    states[0] = table.states[0]
    score = Margin(2) if score is None else score
    playouts = Playouts(Uniform(), score, table.game.buffer(), np.zeros(table.players), np.zeros(table.players, np.int64))
    sample_in_rotation(states, table.seat, np.array(turns), n, 0, playouts, make_rng(1), tally)
    return tally


def worth_to_each(score: Any, table: Table) -> list[float]:
    """What the finished game is worth to each seat."""
    values = np.zeros(table.players)
    worths(score, table.states, 0, values, np.zeros(table.players, np.int64))
    return values.tolist()


def test_the_turns_take_their_playouts_in_rotation() -> None:
    assert search(shells(1, 2), [4, 5, 6, 7], 10).visits.tolist() == [3, 3, 2, 2]


@pytest.mark.parametrize("pea", range(3))
def test_the_means_are_those_worked_out_by_hand(pea: int) -> None:
    """Stake 2, odds 1 : 2 : 3, a coin worth 1.25 on average; the margin is twice the points. Wherever the pea is."""
    tally = search(shells(pea, 2), [4, 5, 6, 7], 80_000)
    means = tally.sums / tally.visits
    deviations = np.sqrt((tally.squares / tally.visits - means**2) / tally.visits)
    assert (np.abs(means - [-10 / 3, -5 / 3, 0, -2.5]) < 6 * deviations).all()


def test_the_best_mean_wins_and_ties_are_broken_at_random() -> None:
    """Turn 0 was never tried; turns 1 and 3 are equal."""
    tally = Tally(np.array([0, 2, 1, 4]), np.array([0.0, 6.0, 1.0, 12.0]), np.zeros(4))
    assert {int(best_mean(tally, 4, make_rng(seed))) for seed in range(50)} == {1, 3}


@pytest.mark.parametrize("score, values", [(WinDrawLoss(2), [0, 1]), (Points(2), [-4, 4]), (Margin(2), [-8, 8])])
def test_what_an_end_is_worth(score: Any, values: list[float]) -> None:
    table = shells(2, 2)
    table.play(5)
    table.chance(1)
    assert worth_to_each(score, table) == values


def kingdoms(*points: int) -> Table:
    """A finished game of Kingdomino with these points, multiples of three up to 9; the castles are not in the middle."""
    rows = {0: "Xwwwf", 3: "Xw+wwf", 6: "Xw+w+wf", 9: "Xw+w+w+f"}
    text = ",".join(rows[number] for number in points)
    return Table(KINGDOMINO, len(points)).at_position(f"round=12 stage=over turn=4 kingdoms={text} queue= draft= box=")


@pytest.mark.parametrize(
    "points, score, values",
    [
        ((9, 3, 3, 0), WinDrawLoss(4), [1, 0, 0, 0]),
        ((9, 9, 3, 9), WinDrawLoss(4), [1 / 3, 1 / 3, 0, 1 / 3]),
        ((9, 3, 6, 0), Points(4), [9, 3, 6, 0]),
        ((9, 3, 6, 0), Margin(4), [3, -6, -3, -9]),
        ((9, 3, 6, 0), Win(4), [1, 0, 0, 0]),
        ((9, 9, 6, 0), Win(4), [0, 0, 0, 0]),
        ((9, 3, 6, 0), HalfWin(4), [1, 0, 0, 0]),
        ((9, 9, 3, 9), HalfWin(4), [1 / 2, 1 / 2, 0, 1 / 2]),
        ((9, 3, 6, 0), Lead(4), [1, 0, 0, 0]),
        ((9, 9, 6, 0), Lead(4), [0, 0, 0, 0]),
        ((9, 3, 6, 0), LeadAndMargin(4), [1.03, -0.06, -0.03, -0.09]),
        ((9, 9, 6, 0), LeadAndMargin(4), [0, 0, -0.03, -0.09]),
        ((9, 3, 0, 0), Relative(4), [0.75, 0.25, 0, 0]),
        ((0, 0, 0, 0), Relative(4), [0.5, 0.5, 0.5, 0.5]),
    ],
)
def test_what_an_end_of_four_is_worth(points: tuple[int, ...], score: Any, values: list[float]) -> None:
    table = kingdoms(*points)
    assert table.scores() == list(points)
    assert worth_to_each(score, table) == pytest.approx(values)


@pytest.mark.parametrize(
    "mine, rival, share", [(30, 10, 0.75), (-10, -30, 0.75), (0, -30, 1), (9, -3, 1), (-3, 9, 0), (5, -5, 1), (5, -9, 1)]
)
def test_the_share_of_penalties_is_the_rivals(mine: int, rival: int, share: float) -> None:
    assert worth(Relative(2), np.array([mine, rival]), 0) == share
    assert worth(Relative(2), np.array([mine, rival]), 1) == 1 - share


RIVALS = [
    ((1, 2, 3, 4), 4, [4, 4, 4, 3]),
    ((9, 1, 2, 5), 4, [5, 9, 9, 9]),
    ((1, 2, 3, 4), 2, [4, 3, 4, 3]),  # seats 0 and 2 are partners, and so are 1 and 3
    ((7, 3, 5), 3, [5, 7, 7]),
    ((-7, -3), 2, [-3, -7]),
    ((8,), 1, [0]),
]


@pytest.mark.parametrize("points, teams, rivals", RIVALS)
def test_the_best_rival_of_every_seat(points: tuple[int, ...], teams: int, rivals: list[int]) -> None:
    assert [best_rival(np.array(points), seat, teams) for seat in range(len(points))] == rivals


def test_a_partner_is_no_rival() -> None:
    assert best_rival(np.array([5, -3, 9, -7]), 0, 2) == -3
    assert best_rival(np.array([5, -3, 9, -7]), 0, 4) == 9


@pytest.mark.parametrize(
    "standings, teams, shares",
    [([5, 3], 2, [1, 0]), ([3, 7, 7], 3, [0, 0.5, 0.5]), ([4, 1, 4, 1], 2, [1, 0, 1, 0]), ([2, 2, 2, 2], 2, [0.5] * 4), ([-1], 1, [1])],
)
def test_equals_share_a_win_and_partners_win_together(standings: list[int], teams: int, shares: list[float]) -> None:
    assert [share_of_win(np.array(standings), seat, teams) for seat in range(len(standings))] == shares


def turns_of_epsilon_greedy(epsilon: float, n: int) -> list[int]:
    """What it answers in a position of Kingdomino in which a domino is to be placed, then one picked."""
    table, rng = after_pick(), make_rng(1)
    player = EpsilonGreedyPlayer(KINGDOMINO.knowledge.players["full_greedy"].make(), epsilon)
    states = np.zeros(5, table.states.dtype)
    states[1] = table.states[0]
    return [int(choose_at(player, states, 1, table.game.buffer(), rng)) for _ in range(n)]


def test_a_random_turn_is_one_of_those_that_are_open() -> None:
    """Any of the 56; on average, 300 draws miss a quarter of a turn."""
    table = after_pick()
    turns = np.zeros(table.game.max_turns, np.int64)
    n = list_turns(np.resize(table.states, 1 + SCRATCH), 0, table.game.most_decisions, table.game.max_legal, turns)
    drawn = set(turns_of_epsilon_greedy(1.0, 300))
    assert drawn <= set(turns[:n].tolist())
    assert len(drawn) > 0.8 * n > 40


def test_epsilon_greedy_is_greedy_or_plays_a_whole_turn_at_random() -> None:
    """A random turn is a place and a pick, and there are several of either; one turn in four is greedy."""
    greedy = set(turns_of_epsilon_greedy(0.0, 50))  # ties among its turns go either way
    dice = turns_of_epsilon_greedy(1.0, 2000)
    assert all(0 < turn >> 16 <= 0xFFFF for turn in dice)
    assert len({turn & 0xFFFF for turn in dice}) > len({turn & 0xFFFF for turn in greedy})
    assert len({turn >> 16 for turn in dice}) > 1
    like_greedy = sum(turn in greedy for turn in dice) / 2000
    random_part = sum(turn not in greedy for turn in turns_of_epsilon_greedy(0.75, 2000)) / 2000
    assert like_greedy < 0.9
    assert random_part == pytest.approx(0.75 * (1 - like_greedy), abs=0.08)
