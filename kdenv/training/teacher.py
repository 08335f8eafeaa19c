"""Expert iteration: a search plays games, and a network learns the values that the search finds for the turns.

The network sees the position after a turn as the seat that makes it does, so it learns nothing that is hidden from this seat. It can then
be the leaf, the playout or the prior of the next search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kdenv.compiler.random import Rng, below, next64, uniform
from kdenv.core.errors import BadOption
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.core.turns import actions_of
from kdenv.core.view import View
from kdenv.networks.learning import Learner, Schedule, learn_from_worths
from kdenv.networks.players import Goal
from kdenv.networks.self_play import GAMES
from kdenv.policies import policy
from kdenv.policies.playout_search import GOAL, PlayoutParameters
from kdenv.policies.searching import SearchPolicy


class Teacher:
    """A search that plays all seats and whose values of turns a network learns, in the unit of a goal."""

    def __init__(self, text: str, game: Game, players: int, options: dict[str, Any], goal: Goal) -> None:
        found = policy(text)
        if not isinstance(found, SearchPolicy) or not isinstance(found, PlayoutParameters):
            raise BadOption(f"teacher={text} is not possible, because it makes no playouts; choose mce(...), bandit(...) or uct(...)")
        self.policy, self._table = found, Table(game, players, **options)
        self.policy.needs(game, self._table.players, self._table.variant)
        self._factor, self._less = self._to_goal(found, goal)

    def _to_goal(self, search: Any, goal: Goal) -> tuple[float, float]:
        """Return the factor for the values of the search, and the number that is subtracted from the product."""
        if search.score == GOAL:
            stored = search.valued.loaded().stored
            if (stored.scale, stored.win) == (goal.scale, goal.win):
                return 1.0, 0.0
        if search.score == "margin" and goal.win == 0:
            return 1 / goal.scale, 0.0
        if search.score == "wdl" and goal.win == 1 and goal.teams == 2:
            return 2.0, 1.0
        raise BadOption(
            f"teacher={search} has no values that a network with scale={goal.scale:g} and win={goal.win:g} could learn. "
            "Give it score=margin with --win 0, score=wdl with --win 1 and two teams, or a leaf or a prior with the same scale and win"
        )

    def prepare(self, rng: Rng) -> None:
        """Compile the search."""
        table = self._table.clone()
        table.run_chance(rng)
        self.policy.prepare(self._view(table))

    def play(self, learner: Learner, schedule: Schedule, rng: Rng) -> None:
        """Play a game, and let the network learn from every decision of the search. Some turns are random, by the schedule."""
        self.policy.reset(int(next64(rng) >> np.uint64(1)))
        table = self._table.clone()
        table.run_chance(rng)
        while not table.over:
            view = self._view(table)
            found = self.policy.search(view, thorough=False)
            tried = found.visits > 0
            if tried.any():
                learner.states[0] = view.scratch(1)[0]
                worths = found.means[tried] * self._factor - self._less
                shares = found.visits[tried] / found.visits.max()
                learn_from_worths(learner, found.turns[tried], worths, shares, schedule.rate, rng)
            at_random = uniform(rng) < schedule.random
            turn = int(found.turns[below(rng, len(found.turns))]) if at_random else found.turn
            for action in actions_of(turn):
                if table.seat == view.seat:  # hidden information may have ended the turn early
                    table.play(action)
            table.run_chance(rng)
        learner.sums[GAMES] += 1.0

    def _view(self, table: Table) -> View:
        seat = table.seat
        assert seat is not None  # chance has been carried out, and the game is not over
        return table.view(seat)
