"""A beam in hindsight that is wide enough finds what going through all lines of its world finds."""

from typing import Any

import numpy as np
import pytest

import kdenv
from baselines.search.ceiling import Beam, Setting, measure
from kdenv.compiler.random import make_rng, uniform
from kdenv.core import verbs
from kdenv.core.questions import choose_at
from kdenv.core.turns import carry_out, list_turns
from kdenv.core.verbs import CHANCE, OVER
from kdenv.policies.playouts import Playout

pytestmark = pytest.mark.cold  # it compiles programs that no other test needs

SMALL = Setting(2, "full_greedy(variant=paper)", "full_greedy", {"size": 3, "dominoes": 8})
NEXT, LIMIT = 0x9E3779B97F4A7C15, 1 << 64


class Exhaustive:
    """The best margin of a seat over all of its lines in a world, by recursion in Python."""

    def __init__(self, table: Any, me: int, seed: int) -> None:
        self.game, self.me, self.players = table.game, me, table.players
        self.other = Playout.as_value(SMALL.others).player(table.view(me))
        self.ties, self.first_draws = int(make_rng(2 * seed + 1)[0]), make_rng(2 * seed)
        self.out = self.game.buffer()

    def best(self, position: Any, draws: Any, n_turns: int) -> int:
        """The best margin from here."""
        position, draws = position.copy(), draws.copy()
        while True:
            phase = verbs.phase_at(position, 0)
            if phase == OVER:
                points = np.zeros(self.players, np.int64)
                verbs.scores_at(position, 0, points)
                return int(points[self.me] - max(np.delete(points, self.me)))
            if phase == CHANCE:
                verbs.apply_chance_at(position, 0, verbs.sample_chance_at(position, 0, draws))
            elif verbs.seat_at(position, 0) == self.me:
                break
            else:
                carry_out(position, self._choice(position, n_turns))
                n_turns += 1
        scratch = np.zeros(8, position.dtype)
        scratch[0] = position[0]
        turns = np.zeros(self.game.max_turns, np.int64)
        n = list_turns(scratch, 0, self.game.most_decisions, self.game.max_legal, turns)
        best = -1000
        for turn in turns[:n].tolist():
            after = position.copy()
            carry_out(after, turn)
            best = max(best, self.best(after, draws, n_turns + 1))
        return best

    def _choice(self, position: Any, n_turns: int) -> int:
        rng = np.array([(self.ties + NEXT * n_turns) % LIMIT], np.uint64)
        uniform(rng)
        states = np.zeros(4, position.dtype)
        states[0] = position[0]
        return int(choose_at(self.other, states, 0, self.out, rng))


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_the_best_line_of_a_tiny_world(seed: int) -> None:
    table = kdenv.table("kingdomino", players=2, size=3, dominoes=8)
    me = seed % 2
    exhaustive = Exhaustive(table, me, seed)
    best = exhaustive.best(table.states[:1], exhaustive.first_draws, 0)
    beam = Beam(table, SMALL, me, seed, branch=0)
    assert beam.best(1 << 20) == best
    assert beam.playout() <= beam.best(1) <= best


def test_a_wider_beam_of_the_printed_game_finds_more(capsys: pytest.CaptureFixture[str]) -> None:
    found = measure("kingdomino", worlds=4, seed=1, branch=6, width=1, most=4, gain=-1000)
    assert [width for width, _ in found] == [1, 2, 4]
    assert found[-1][1] > found[0][1]
    assert capsys.readouterr().out.count("in hindsight reaches") == 3
