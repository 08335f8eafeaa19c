"""Statistics of random games of Carcassonne. The numbers were measured with these seeds; the intervals are wide."""

import numpy as np
import pytest

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, make_rng
from kdenv.core.verbs import CHANCE, OVER, apply, apply_chance, begin, legal, phase, sample_chance
from kdenv.games import find_game
from kdenv.games.carcassonne.rules import CLAIMING, PLACING

GAME = find_game("carcassonne")


# The numbers that _measure counts.
TURNS, BRANCHING, MOST_PLACEMENTS, MOST_TURNS, WITH_UNPLACEABLE, CLIPPED, BRANCHING_FIRST, BRANCHING_PEAK = range(8)
PEAK = 16


@kernel
def _measure(states, n_games, variant, out, claims, notes, rng):
    """Play random two-player games and count; states[1] and claims are scratch."""
    for _ in range(n_games):
        begin(states[0], 2, variant)
        turn, discarded = 0, 0
        while phase(states[0]) != OVER:
            if phase(states[0]) == CHANCE:
                apply_chance(states[0], sample_chance(states[0], rng))
                if phase(states[0]) == CHANCE:
                    discarded = 1
                continue
            n = legal(states[0], out)
            if states[0].stage == PLACING:
                branching = 0
                for i in range(n):
                    states[1] = states[0]
                    apply(states[1], out[i])
                    branching += legal(states[1], claims) if states[1].stage == CLAIMING else 1
                notes[TURNS] += 1
                notes[BRANCHING] += branching
                notes[MOST_PLACEMENTS] = max(notes[MOST_PLACEMENTS], n)
                notes[MOST_TURNS] = max(notes[MOST_TURNS], branching)
                if turn == 0:
                    notes[BRANCHING_FIRST] += branching
                if turn == PEAK - 1:
                    notes[BRANCHING_PEAK] += branching
                turn += 1
            apply(states[0], out[below(rng, n)])
        notes[WITH_UNPLACEABLE] += discarded
        notes[CLIPPED] += int(states[0].clipped)


def measure(n_games: int, seed: int, unplaceable: str) -> np.ndarray:
    _, variant = GAME.variant(2, unplaceable=unplaceable)
    notes = np.zeros(8, np.int64)
    out, claims = np.zeros(GAME.max_legal, np.int64), np.zeros(16, np.int64)
    _measure(np.zeros(2, GAME.state_dtype), n_games, variant, out, claims, notes, make_rng(seed))
    return notes


def test_random_games_branch_as_measured() -> None:
    """Over 20,000 games: 40.3 turns on average, 61 at the peak in turn 16."""
    notes = measure(2000, 1, "return")
    assert 39.5 < notes[BRANCHING] / notes[TURNS] < 41.2
    assert 20.3 < notes[BRANCHING_FIRST] / 2000 < 21.7
    assert 57 < notes[BRANCHING_PEAK] / 2000 < 65
    assert notes[TURNS] == 71 * 2000  # with so few games nobody has seen one end early


def test_a_tile_is_unplaceable_in_about_one_game_of_fifty() -> None:
    """1.9 % of random games; 5,000 games give 1.9 +- 0.2 (one sigma)."""
    assert 0.009 < measure(5000, 2, "discard")[WITH_UNPLACEABLE] / 5000 < 0.029


@pytest.mark.slow
def test_long_random_games() -> None:
    notes = measure(60_000, 3, "discard")
    assert 0.016 < notes[WITH_UNPLACEABLE] / 60_000 < 0.022
    assert notes[MOST_PLACEMENTS] <= 110  # 95 in the first 20,000; buffers hold 584, a bound
    assert notes[MOST_TURNS] < 1000
    assert notes[CLIPPED] <= 3  # an offset of 15 is reached once in 65,000 games, and rarely needed
