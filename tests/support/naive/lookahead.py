"""Expectimax as a textbook has it: plain recursion over a table that is copied for every branch. For small games only."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kdenv.core.table import Table

Estimate = Callable[[Table, int], float]  # what a table is worth to a seat


def margin(table: Table, seat: int) -> float:
    """Own points less the best other's."""
    scores = table.scores()
    return scores[seat] - max(scores[:seat] + scores[seat + 1 :])


def values_of_turns(
    table: Table, depth: int, estimate: Estimate = margin, most: float = float("inf"), most_decisions: int = 4
) -> dict[int, float]:
    """The value, to the seat that decides, of every turn open to it, packed as searches pack them."""
    seat = table.seat
    assert seat is not None
    return {turn: value_of(after, seat, depth - 1, estimate, most, most_decisions) for turn, after in turns_of(table, most_decisions)}


def value_of(table: Table, seat: int, depth: int, estimate: Estimate, most: float, most_decisions: int) -> float:
    """What the table is worth to the seat, if so many more turns are looked ahead."""
    if table.over or depth == 0:
        return min(max(estimate(table, seat), -most), most)
    if table.at_chance:
        total = 0.0
        for outcome, probability in table.chances():
            after = table.clone()
            after.chance(outcome)
            total += probability * value_of(after, seat, depth, estimate, most, most_decisions)
        return total
    values = [value_of(after, seat, depth - 1, estimate, most, most_decisions) for _, after in turns_of(table, most_decisions)]
    return max(values) if table.seat == seat else min(values)


def turns_of(table: Table, most_decisions: int) -> Iterator[tuple[int, Table]]:
    """Every line of consecutive decisions of the seat that decides, with the table after it."""
    mover = table.seat
    for action in table.legal():
        after = table.clone()
        after.play(action)
        if most_decisions > 1 and after.seat == mover and not after.over:
            for rest, end in turns_of(after, most_decisions - 1):
                yield (action + 1) | rest << 16, end
        else:
            yield action + 1, after
