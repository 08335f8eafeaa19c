"""The choices of greedy, and the results of rounds between greedy and random players.

The statistics are those of issue 3. A leader who holds 6-6 has a better hand than most. So they are of rounds whose leader
is drawn, as in every round of a match but the first. Shares of wins are without halves of ties unless stated.
"""

import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, make_rng
from kdenv.core.questions import choose
from kdenv.core.table import Table
from kdenv.core.turns import first_action
from kdenv.core.verbs import CHANCE, DECIDE, OVER, apply, apply_chance, begin, legal, phase, sample_chance, scores, seat
from kdenv.games import find_game
from kdenv.games.dominoes.heuristics import Greedy
from kdenv.games.dominoes.tables import CALL, PASS, PIPS

GAME = find_game("dominoes")
EVERYBODY, TEAM_0, TEAM_1 = 0b1111, 0b0101, 0b1010


@kernel
def play_turn(states, k, greedy_seats, rng, out):
    """A turn of a greedy seat, or of a random one."""
    if greedy_seats >> seat(states[k]) & 1:
        apply(states[k], first_action(choose(Greedy(), states, k, out, rng)))
    else:
        apply(states[k], out[below(rng, legal(states[k], out))])


@kernel
def run_chance(states, k, rng):
    while phase(states[k]) == CHANCE:
        apply_chance(states[k], sample_chance(states[k], rng))


@kernel
def play_rounds(states, variant, n, line_ups, rng, out, points, results):
    """n deals, each played by every line-up; results are margins of team 0, turns, leaders, whether blocked."""
    for deal in range(n):
        begin(states[0], 4, variant)
        run_chance(states, 0, rng)
        for i in range(line_ups.shape[0]):
            states[1] = states[0]
            n_turns = 0
            while phase(states[1]) == DECIDE:
                play_turn(states, 1, line_ups[i], rng, out)
                n_turns += 1
            scores(states[1], points)
            results[deal, i, 0] = points[0] - points[1]
            results[deal, i, 1] = n_turns
            results[deal, i, 2] = states[1].leader
            results[deal, i, 3] = 1
            for hand in states[1].hands:
                if hand == np.uint64(0):
                    results[deal, i, 3] = 0


@kernel
def rounds_in_matches(states, variant, n, rng, out):
    """The rounds that n matches between greedy players take."""
    total = 0
    for _ in range(n):
        begin(states[0], 4, variant)
        while phase(states[0]) != OVER:
            run_chance(states, 0, rng)
            play_turn(states, 0, EVERYBODY, rng, out)
        total += int(states[0].n_rounds) + 1
    return total


class Results(NamedTuple):
    """By deal and line-up."""

    margin: np.ndarray
    turns: np.ndarray
    leader: np.ndarray
    blocked: np.ndarray


def rounds(n: int, *line_ups: int, **options: Any) -> Results:
    results = np.zeros((n, len(line_ups), 4))
    _, variant = GAME.variant(mode="round", **options)
    states = np.zeros(2, GAME.state_dtype)
    play_rounds(states, variant, n, np.array(line_ups), make_rng(2016), np.zeros(64, np.int64), np.zeros(4, np.int64), results)
    return Results(*np.moveaxis(results, 2, 0))


def score(margin: np.ndarray) -> np.ndarray:
    """Wins and half ties."""
    return (margin > 0) + 0.5 * (margin == 0)


def greedy_against_random(n: int) -> float:
    """The score of greedy over n deals, each played on both sides."""
    margin = rounds(n, TEAM_0, TEAM_1, lead="drawn").margin
    return float(score(np.stack([margin[:, 0], -margin[:, 1]])).mean())


def test_greedy_plays_the_heaviest_tile_and_no_tricks():
    dice = random.Random(1)
    for options in [{}, {"calls": True}]:
        table = Table(GAME, **options)
        while not table.over:
            if table.at_chance:
                table.chance(dice.choice(table.chances())[0])
                continue
            scratch = np.zeros(2, GAME.state_dtype)
            scratch[0] = table.states[0]
            chosen = int(first_action(choose(Greedy(), scratch, 0, np.zeros(64, np.int64), make_rng(dice.getrandbits(32)))))
            tiles = [action for action in table.legal() if action < PASS]
            assert chosen in [tile for tile in tiles if PIPS[tile] == max(PIPS[tiles])] if tiles else chosen == PASS
            table.play(dice.choice([action for action in table.legal() if action != CALL]))


def test_greedy_chooses_evenly_between_equals():
    hands = "0-6.1-5.2-4.3-3.0-0.0-1.0-2,1-1.1-2.1-3.1-4.1-6.2-2.2-3,0-3.2-5.2-6.3-4.3-5.4-4.4-5,3-6.0-4.4-6.0-5.5-5.5-6.6-6"
    table = Table(GAME).at_position(f"round=1 points=0,0 leader=0 hands={hands} turns=")
    rng, out = make_rng(1), np.zeros(64, np.int64)
    chosen = [int(first_action(choose(Greedy(), table.states, 0, out, rng))) for _ in range(4000)]
    assert sorted(set(chosen)) == [6, 12, 18, 24]
    assert all(abs(chosen.count(action) - 1000) < 140 for action in set(chosen))


def test_greedy_beats_random():
    assert greedy_against_random(4_000) > 0.51


@pytest.mark.slow
def test_greedy_beats_random_by_as_much_as_it_should():
    assert greedy_against_random(100_000) == pytest.approx(0.537, abs=0.005)


@pytest.mark.slow
def test_rounds_between_greedy_players():
    played = rounds(200_000, EVERYBODY, lead="drawn")
    by_leader = np.where(played.leader % 2 == 0, played.margin, -played.margin)
    assert (by_leader > 0).mean() == pytest.approx(0.57, abs=0.006)
    assert played.blocked.mean() == pytest.approx(0.28, abs=0.008)
    assert played.turns.mean() == pytest.approx(26.4, abs=0.05)


@pytest.mark.slow
def test_a_match_between_greedy_players_takes_13_rounds():
    _, variant = GAME.variant()
    n = rounds_in_matches(np.zeros(2, GAME.state_dtype), variant, 5000, make_rng(2016), np.zeros(64, np.int64))
    assert n / 5000 == pytest.approx(13, abs=0.3)


@pytest.mark.slow
def test_the_papers_scorer_favours_team_0():
    margin = rounds(100_000, EVERYBODY, rules="dominai_code", lead="drawn").margin
    assert (margin > 0).mean() == pytest.approx(0.605, abs=0.01)
    assert (rounds(100_000, EVERYBODY, lead="drawn").margin > 0).mean() == pytest.approx(0.4877, abs=0.01)
