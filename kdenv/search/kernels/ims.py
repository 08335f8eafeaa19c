"""Imperfect minimax search (IMS) of the dominoes paper: negamax over what everybody may hold.

A move is worth minus what follows, times the probability that it can be made at all (Algorithm 1). The paper prunes as if that
factor were not there, which loses turns ("paper"); "sound" divides the window by it and finds what "none" finds.
The search keeps its stack in arrays, so that it can be interrupted and gone on with.
"""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.core.questions import guesses, outlook, suppose

PRUNINGS = ("paper", "none", "sound")
_PAPER, _NONE, _SOUND = range(3)
_SLACK = 1e-9  # so that rounding cannot turn a value at the edge of the window into one outside


class Stack(NamedTuple):
    """The nodes from the root (0) to the one being looked at; level[0] is its place, or -1 when all is done."""

    level: np.ndarray
    nodes: np.ndarray  # [0]: looked at so far
    n: np.ndarray  # moves of each node,
    at: np.ndarray  # ... how many have been tried,
    best: np.ndarray  # ... and what the best is worth
    alpha: np.ndarray
    beta: np.ndarray
    moves: np.ndarray  # by node
    chances: np.ndarray
    values: np.ndarray  # of the moves of the root,
    lines: np.ndarray  # ... each with what is expected to follow it,
    lengths: np.ndarray  # ... so many moves
    best_lines: np.ndarray  # by node: its best move, and what is expected to follow it,
    best_lengths: np.ndarray  # ... so many moves


def make_stack(levels: int, widest: int) -> Stack:
    """Room for so many levels of so many moves."""
    n, at = np.zeros((2, levels), np.int64)
    best, alpha, beta = np.zeros((3, levels))
    moves, chances = np.zeros((levels, widest), np.int64), np.zeros((levels, widest))
    lines, lengths = np.zeros((widest, levels), np.int64), np.zeros(widest, np.int64)
    best_lines, best_lengths = np.zeros((levels, levels), np.int64), np.zeros(levels, np.int64)
    level, nodes = np.zeros(1, np.int64), np.zeros(1, np.int64)
    return Stack(level, nodes, n, at, best, alpha, beta, moves, chances, np.zeros(widest), lines, lengths, best_lines, best_lengths)


@kernel
def start(belief, stack):
    """Make the root ready; the belief is at level 0."""
    stack.level[0] = 0
    stack.nodes[0] = 1
    stack.alpha[0] = -np.inf
    stack.beta[0] = np.inf
    _open(belief, stack, 0)


@kernel
def go_on(belief, stack, depth, pruning, all_exact, n_nodes):
    """Search on for about n_nodes nodes; returns whether the search has ended.

    all_exact: every move of the root gets the whole window (unless pruning is the paper's), not what the best leaves.
    """
    level = stack.level[0]
    for _ in range(n_nodes):
        # 1. The next move of this node.
        i = stack.at[level]
        stack.at[level] += 1
        chance = stack.chances[level, i]
        suppose(belief, level, stack.moves[level, i])
        stack.nodes[0] += 1
        child = level + 1
        if pruning == _PAPER:
            stack.alpha[child] = -stack.beta[level]
            stack.beta[child] = -stack.alpha[level]
        elif pruning == _SOUND and not (all_exact and level == 0):
            stack.alpha[child] = _below(-stack.beta[level] / chance)
            stack.beta[child] = -_below(stack.alpha[level] / chance)
        else:
            stack.alpha[child] = -np.inf
            stack.beta[child] = np.inf
        # 2. What follows is looked at further, or estimated.
        known = child == depth
        if not known:
            _open(belief, stack, child)
            known = stack.n[child] == 0
        if not known:
            level = child
            continue
        value = outlook(belief, child)
        stack.best_lengths[child] = 0
        # 3. Tell the node above, and so on up while nothing is left to try.
        while True:
            i = stack.at[level] - 1
            value *= -stack.chances[level, i]
            if level == 0:
                stack.values[i] = value
                stack.lengths[i] = _line(stack, level, i, stack.lines[i])
            if value > stack.best[level]:
                stack.best[level] = value
                stack.best_lengths[level] = _line(stack, level, i, stack.best_lines[level])
            stack.alpha[level] = max(stack.alpha[level], value)
            cut = pruning != _NONE and stack.alpha[level] >= stack.beta[level]
            if stack.at[level] < stack.n[level] and not cut:
                break
            value = stack.best[level]
            level -= 1
            if level < 0:
                stack.level[0] = level
                return True
    stack.level[0] = level
    return False


@kernel
def _open(belief, stack, level):
    stack.n[level] = guesses(belief, level, stack.moves[level], stack.chances[level])
    stack.at[level] = 0
    stack.best[level] = -np.inf


@kernel
def _line(stack, level, i, line):
    """Write move i of a node and the best that follows it to line; returns how many moves that is."""
    n = int(stack.best_lengths[level + 1])
    line[0] = stack.moves[level, i]
    for k in range(n):
        line[1 + k] = stack.best_lines[level + 1, k]
    return n + 1


@kernel
def _below(bound):
    """A little less than the bound."""
    return bound - _SLACK * (1.0 + abs(bound))
