"""Counts chance, decision and final nodes down to a depth. This is the strictest test of the rules, and it measures their speed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import allocating_kernel, kernel
from kdenv.core.verbs import CHANCE, OVER, apply, apply_chance, chances, legal, phase


@allocating_kernel
def perft(states, depth, actions, weights, counts):
    """Count the nodes below states[0] by phase: add them to counts, which has a row per depth from 0 to `depth`.

    The arrays `states` and `actions` (legal actions or outcomes of chance) must have room for depth + 1 levels.
    """
    n = np.zeros(depth + 1, np.int64)
    at = np.zeros(depth + 1, np.int64)
    counts[0, phase(states[0])] += 1
    if depth == 0 or phase(states[0]) == OVER:
        return
    level = 0
    n[0] = _branches(states[0], actions[0], weights)
    while level >= 0:
        if at[level] == n[level]:
            level -= 1
            continue
        branch = actions[level, at[level]]
        at[level] += 1
        states[level + 1] = states[level]
        if phase(states[level]) == CHANCE:
            apply_chance(states[level + 1], branch)
        else:
            apply(states[level + 1], branch)
        now = phase(states[level + 1])
        counts[level + 1, now] += 1
        if level + 1 < depth and now != OVER:
            level += 1
            at[level] = 0
            n[level] = _branches(states[level], actions[level], weights)


@kernel
def _branches(s, out, weights):
    """List the outcomes of chance or the legal actions; return how many there are."""
    if phase(s) == CHANCE:
        return chances(s, out, weights)
    return legal(s, out)


def count(states: Any, depth: int, max_legal: int, max_chances: int) -> NDArray[np.int64]:
    """Return the number of nodes below the position in states[0]: a row per depth, with a column for each phase (core/verbs.py)."""
    levels = np.zeros(depth + 1, states.dtype)
    levels[0] = states[0]
    widest = max(max_legal, max_chances)
    counts = np.zeros((depth + 1, 3), np.int64)
    perft(levels, depth, np.zeros((depth + 1, widest), np.int64), np.zeros(widest, np.int64), counts)
    return counts
