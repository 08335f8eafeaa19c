"""The tree search of search_many with priors, in plain Python: a dictionary for each node, and the position played forward anew each time.

It is written from the docstring of kdenv.search.kernels.scored. It draws the same random numbers, because it asks the verbs of the game
in the same order.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kdenv.compiler.random import below, next64
from kdenv.core import verbs
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.core.view import View

Turn = tuple[int, ...]


@dataclass
class Statistics:
    """Of a turn of a node."""

    prior: float
    visits: int = 0
    total: float = 0.0
    times_open: int = 1


@dataclass
class NaiveSearch:
    """A search of one view. `tree` has the turns of each node, by the decisions and seen outcomes that lead to it."""

    view: View
    rng: Any
    network: Callable[[np.ndarray], Any]
    c: float = 1.0
    temperature: float = 0.1
    information_sets: bool = False
    whole: bool = True
    encoding: str | None = None
    scale: float = 1.0
    tree: dict[tuple[Any, ...], dict[Turn, Statistics]] = field(default_factory=dict)
    n_asked: int = 0

    def __post_init__(self) -> None:
        game = self.view.game
        self.observer = game.observer(self.view.players, self.view.variant, self.encoding)
        self.teams = game.teams(self.view.players)
        self.root = self.view.states[:1].copy()
        verbs.resample_hidden_at(self.root, 0, self.view.seat, self.rng)
        next64(self.rng)

    def turns(self, states: Any, most: int | None = None) -> list[Turn]:
        """The turns of the seat to move, of at most so many actions."""
        most = (self.view.game.most_decisions if self.whole else 1) if most is None else most
        mover, legal = int(verbs.seat_at(states, 0)), np.zeros(self.view.game.max_legal, np.int64)
        found = []
        for action in legal[: verbs.legal_at(states, 0, legal)].tolist():
            after = self.after(states, (action,))
            goes_on = most > 1 and verbs.phase_at(after, 0) == DECIDE and int(verbs.seat_at(after, 0)) == mover
            found += [(action, *rest) for rest in self.turns(after, most - 1)] if goes_on else [(action,)]
        return found

    def after(self, states: Any, turn: Turn) -> Any:
        """The position after a turn."""
        states = states.copy()
        for action in turn:
            verbs.apply_at(states, 0, action)
        return states

    def worth(self, states: Any, mover: int) -> dict[int, float]:
        """The value to every seat, by the points at the end of the game and by the network before."""
        seats = range(self.view.players)
        if verbs.phase_at(states, 0) == OVER:
            points = np.zeros(self.view.players, np.int64)
            verbs.scores_at(states, 0, points)
            return {
                seat: (points[seat] - max(points[other] for other in seats if (other - seat) % self.teams)) / self.scale for seat in seats
            }
        asked = seats if self.teams > 2 else [mover]
        values = {}
        for seat in asked:
            values[seat] = float(self.network(self.observer.vector(states, 0, seat)[None])[0])
            self.n_asked += 1
        return values if self.teams > 2 else {seat: values[mover] * (1 if (seat - mover) % self.teams == 0 else -1) for seat in seats}

    def simulate(self) -> None:
        """Make a simulation."""
        states, node = self.root.copy(), ()
        verbs.resample_hidden_at(states, 0, self.view.seat, self.rng)
        path: list[tuple[Statistics, int]] = []
        while True:
            if verbs.phase_at(states, 0) != DECIDE:
                mover = path[-1][1]
                return self.update(path, self.worth(states, mover))
            mover, turns, known = int(verbs.seat_at(states, 0)), self.turns(states), self.tree.setdefault(node, {})
            # A turn without a score: ask for all, add the new ones, and take the most probable of these.
            if any(turn not in known for turn in turns):
                worths = [self.worth(self.after(states, turn), mover) for turn in turns]
                odds = [math.exp((each[mover] - max(w[mover] for w in worths)) / self.temperature) for each in worths]
                new = [i for i, turn in enumerate(turns) if turn not in known]
                for i in new:
                    known[turns[i]] = Statistics(odds[i] / sum(odds))
                best = max(new, key=lambda i: odds[i])
                return self.update([*path, (known[turns[best]], mover)], worths[best])
            turn = self.choose(turns, known)
            is_new = known[turn].visits == 0
            path.append((known[turn], mover))
            states, node = self.after(states, turn), (*node, turn)
            if is_new:
                return self.update(path, self.worth(states, mover))
            while verbs.phase_at(states, 0) == CHANCE:
                seen = (int(verbs.witnesses_at(states, 0)) >> self.view.seat) & 1
                outcome = int(verbs.sample_chance_at(states, 0, self.rng))
                verbs.apply_chance_at(states, 0, outcome)
                if self.information_sets and seen:
                    node = (*node, ("chance", outcome))
                    if node not in self.tree:
                        self.tree[node] = {}
                        return self.update(path, self.worth(states, mover))

    def choose(self, turns: list[Turn], known: dict[Turn, Statistics]) -> Turn:
        """PUCT over the tried turns, and over the most probable untried one, which has the mean of the tried ones."""
        tried, untried = [t for t in turns if known[t].visits], [t for t in turns if not known[t].visits]
        visits, total = sum(known[t].visits for t in tried), sum(known[t].total for t in tried)
        for t in tried:
            known[t].times_open += 1
        best, greatest, n_best = turns[0], -math.inf, 0
        for t in tried:
            one = known[t]
            n = one.times_open if self.information_sets else visits
            urgency = one.total / one.visits + self.c * one.prior * math.exp(0.5 * math.log(max(1, n))) / (one.visits + 1)
            if urgency > greatest:
                best, greatest, n_best = t, urgency, 1
            elif urgency == greatest:
                n_best += 1
                if below(self.rng, n_best) == 0:
                    best = t
        if untried:
            first = max(untried, key=lambda t: known[t].prior)
            if total / max(1, visits) + self.c * known[first].prior * math.sqrt(visits) > greatest:
                return first
        return best

    def update(self, path: list[tuple[Statistics, int]], values: dict[int, float]) -> None:
        """Add the value for its mover to each turn of the path."""
        for statistics, mover in path:
            statistics.visits += 1
            statistics.total += values[mover]
