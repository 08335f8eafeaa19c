"""Draws the tables of a league: policies meet that have met least, or, in a Swiss league, whose ratings are close.

Policies are numbers from 0 on. A table has one policy for each team, and no two tables have the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import comb
from typing import Any

Table = tuple[int, ...]  # ascending

# The cost of adding this policy to those at the table; the policy of the lowest cost is tried first.
Cost = Callable[[Sequence[int], int], Any]


def even_tables(policies: int, teams: int, meetings: int, must_meet: Callable[[int, int], bool], known: Iterable[Table]) -> list[Table]:
    """Tables at which every two policies that must meet do so at least `meetings` times: few tables, evenly spread over the policies.

    Known tables count. The result depends on them as a set, and begins with those that it needs.
    """
    pairs = [pair for pair in combinations(range(policies), 2) if must_meet(*pair)]
    drawn = [table for table in sorted(known) if any(must_meet(*pair) for pair in combinations(table, 2))]
    met = Counter(pair for table in drawn for pair in combinations(table, 2))
    tables = Counter(policy for table in drawn for policy in table)
    taken = set(drawn)

    def cost(at_table: Sequence[int], policy: int) -> Any:
        together = [met[min(policy, other), max(policy, other)] for other in at_table]
        wanted = sum(
            must_meet(min(policy, other), max(policy, other)) and count < meetings for other, count in zip(at_table, together, strict=True)
        )
        return -wanted, sum(together), tables[policy], policy

    wanted = min(meetings, most_meetings(policies, teams))
    while True:
        open_pairs = [pair for pair in pairs if met[pair] < wanted]
        if not open_pairs:
            return drawn
        first = min(open_pairs, key=lambda pair: (met[pair], sum(tables[policy] for policy in pair), pair))
        table = fill_table(first, [policy for policy in range(policies) if policy not in first], teams, cost, taken)
        assert table is not None  # this pair has met at fewer tables than there are
        drawn.append(table)
        taken.add(table)
        tables.update(table)
        met.update(combinations(table, 2))


def most_meetings(policies: int, teams: int) -> int:
    """The number of different tables at which two policies can meet."""
    return comb(policies - 2, teams - 2)


def neighbours(order: Sequence[int], teams: int, drawn: Iterable[Table]) -> list[Table]:
    """The tables of a round of a Swiss tournament: policies that are close in the ranking, at tables that were not drawn before.

    `order` has the policies from the strongest to the weakest. A policy that sat out more rounds is seated earlier. A policy without a
    table sits out.
    """
    taken = set(drawn)
    met = Counter(pair for table in taken for pair in combinations(table, 2))
    seen = Counter(policy for table in taken for policy in table)
    place = {policy: number for number, policy in enumerate(order)}
    free = sorted(order, key=lambda policy: (seen[policy], place[policy]))
    tables: list[Table] = []
    while len(free) >= teams:
        first = free.pop(0)

        def cost(at_table: Sequence[int], policy: int, first: int = first) -> Any:
            together = sum(met[min(policy, other), max(policy, other)] for other in at_table)
            return together, abs(place[policy] - place[first]), place[policy]

        table = fill_table([first], free, teams, cost, taken)
        if table is not None:
            tables.append(table)
            free = [policy for policy in free if policy not in table]
    return tables


def fill_table(first: Sequence[int], others: Sequence[int], teams: int, cost: Cost, taken: set[Table]) -> Table | None:
    """A table of these policies and the cheapest others that is not taken; None if all are."""
    if len(first) == teams:
        table = tuple(sorted(first))
        return None if table in taken else table
    for policy in sorted(others, key=lambda policy: cost(first, policy)):
        found = fill_table([*first, policy], [other for other in others if other != policy], teams, cost, taken)
        if found is not None:
            return found
    return None
