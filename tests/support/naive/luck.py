"""Luck of a game, computed at tables in Python: an oracle for kdenv/arena/luck.py, written apart from it."""

from collections.abc import Callable, Sequence

import numpy as np

from kdenv.core.table import Table


def naive_luck(
    start: Table,
    events: Sequence[int],
    redraws: int,
    rng: np.ndarray,
    take_turn: Callable[[Table], None],
    value: Callable[[Table, int], float],
) -> list[float]:
    """For each seat, the value of what chance brought minus its mean over all outcomes or over redraws, added up over the game."""

    def worth(table: Table) -> np.ndarray:
        """The value to each seat: right after its turn, if every seat has one; else in the last of these positions."""
        last: dict[int, float] = {}
        for _ in range(table.players):
            table.run_chance(rng)
            if table.over:
                break
            mover = table.seat
            take_turn(table)
            last[mover] = value(table, mover)
        if table.over:
            last = {}
        return np.array([last[seat] if seat in last else value(table, seat) for seat in range(table.players)])

    table, left, total = start.clone(), list(events), np.zeros(start.players)
    while left:
        if table.seat is not None:
            table.play(left.pop(0))
            continue
        before = table.clone()
        while left and table.at_chance:
            table.chance(~left.pop(0))
        total += worth(table.clone())
        branches = []
        for outcome, odds in before.chances():
            branch = before.clone()
            branch.chance(outcome)
            branches.append((branch, odds))
        if len(branches) <= redraws and not any(branch.at_chance for branch, _ in branches):
            total -= sum(odds * worth(branch) for branch, odds in branches)
            continue
        for _ in range(redraws):
            branch = before.clone()
            branch.run_chance(rng)
            total -= worth(branch) / redraws
    return [float(each) for each in total]
