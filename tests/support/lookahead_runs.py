"""Searches of kdenv.search.kernels.expectimax run to their end, for tests."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kdenv.core.table import Table
from kdenv.search.evaluate import AsListed, ScoreMargin
from kdenv.search.kernels import expectimax, stack

STARS = {"star1": 0, **{f"star2.5(k={k})": k for k in range(1, 8)}}  # probes


class Result(NamedTuple):
    value: float
    best: set[int]  # the turns worth as much as the best, if asked for
    nodes: int
    values: dict[int, float]  # of the turns at the root in the order they were tried; exact where worth as much as the best
    chosen: int


class Searcher:
    """Searches tables of one game; the room for it is made once."""

    def __init__(
        self,
        game: Any,
        depth: int,
        players: int = 2,
        evaluator: Any = None,
        order: Any = None,
        table_bits: int = 0,
        most_decisions: int = 0,
        module: Any = expectimax,
    ) -> None:
        self.most_decisions = most_decisions or game.most_decisions
        self.game, self.depth, self.players, self.module = game, depth, players, module
        self.evaluator = evaluator or ScoreMargin(players, 1000.0)
        self.order = order or AsListed()
        states = np.zeros(1, game.state_dtype)
        self.room = stack.new_search(states, depth, players, game.max_turns, game.max_chances, game.max_legal, table_bits)

    def most(self, table: Table) -> float:
        return float(self.module.most_from(self.evaluator, table.states, 0, int(table.seat), self.room.numbers))

    def run(
        self,
        table: Table,
        probes: int = 0,
        *,
        cuts: bool = True,
        slack: float = 0.0,
        step: int = 1_000_000,
        first: int = 0,
        forget: bool = True,
    ) -> Result:
        """Search the position on the table. With slack, all turns worth as much as the best are found. The transposition table is
        emptied before, unless `forget` is false."""
        room, most = self.room, self.most(table)
        room.states[0] = table.states[0]
        room.counters[:] = 0
        if forget:
            room.table[:] = 0
        teams = self.game.teams(self.players)
        task = stack.Task(int(table.seat), teams, self.most_decisions, cuts, probes, most, slack * most, 1_000_000)
        self.module.start(room, self.depth, first)
        while not self.module.go_on(room, task, self.evaluator, self.order, step):
            pass
        assert room.counters[stack.TOO_DEEP] == 0
        root = room.levels[0]
        n, value = int(root["n"]), float(root["best"])
        values = {int(turn): float(v) for turn, v in zip(room.branches[0][:n], room.values[:n], strict=True)}
        assert values[int(root["chosen"])] == value
        best = {turn for turn, v in values.items() if v >= value - 1e-6 * most}
        return Result(value, best, int(room.counters[stack.NODES]), values, int(root["chosen"]))
