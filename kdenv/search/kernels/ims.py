"""Imperfect minimax search (IMS) of the dominoes paper: negamax over the tiles that each seat may hold.

The value of a move is minus the value of the position after it, times the probability that the move is legal (Algorithm 1). The paper
prunes as if there were no such factor, so it misses good turns (pruning "paper"). The pruning "sound" divides the window by the factor
and finds the same values as "none", which does not prune. The stack of the search is in arrays, so that a search can be interrupted and
continued.
"""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.core.questions import guesses, outlook, suppose

PRUNINGS = ("paper", "none", "sound")
_PAPER, _NONE, _SOUND = range(3)
_SLACK = 1e-9  # widens a window, so that rounding cannot push a value at its edge out of it


class Stack(NamedTuple):
    """The nodes from the root (level 0) to the current node, and the results for the moves of the root."""

    level: np.ndarray  # [0]: the level of the current node; -1 when the search has ended
    nodes: np.ndarray  # [0]: the number of nodes searched
    # The node on each level:
    n: np.ndarray  # the number of its moves
    at: np.ndarray  # the number of moves tried
    best: np.ndarray  # the value of the best of these
    alpha: np.ndarray  # the window
    beta: np.ndarray
    moves: np.ndarray  # its moves
    chances: np.ndarray  # the probability that each move is legal
    # The moves of the root:
    values: np.ndarray  # the value of each move
    lines: np.ndarray  # the move and the moves expected after it
    lengths: np.ndarray  # the number of moves in this line
    # The node on each level:
    best_lines: np.ndarray  # its best move and the moves expected after it
    best_lengths: np.ndarray  # the number of moves in this line


def make_stack(levels: int, widest: int) -> Stack:
    """Make a stack for this number of levels, with at most `widest` moves in a node."""
    return Stack(
        level=np.zeros(1, np.int64),
        nodes=np.zeros(1, np.int64),
        n=np.zeros(levels, np.int64),
        at=np.zeros(levels, np.int64),
        best=np.zeros(levels),
        alpha=np.zeros(levels),
        beta=np.zeros(levels),
        moves=np.zeros((levels, widest), np.int64),
        chances=np.zeros((levels, widest)),
        values=np.zeros(widest),
        lines=np.zeros((widest, levels), np.int64),
        lengths=np.zeros(widest, np.int64),
        best_lines=np.zeros((levels, levels), np.int64),
        best_lengths=np.zeros(levels, np.int64),
    )


@kernel
def start(belief, stack):
    """Begin a search from level 0 of the belief, which the caller has filled (believe)."""
    stack.level[0] = 0
    stack.nodes[0] = 1
    stack.alpha[0] = -np.inf
    stack.beta[0] = np.inf
    _open(belief, stack, 0)


@kernel
def go_on(belief, stack, depth, pruning, all_exact, n_nodes):
    """Search about n_nodes more nodes; return whether the search has ended. Then `values` and `lines` have the result.

    Nodes on the level `depth`, which is at least 1, are only estimated. With all_exact every move of the root gets an exact value,
    because the best move so far does not narrow its window. (The paper's pruning ignores this.)
    """
    level = stack.level[0]
    for _ in range(n_nodes):
        # 1. Make the next move of this node.
        _make_next_move(belief, stack, level, pruning, all_exact)
        child = level + 1
        # 2. Search the node after it, unless it is too deep or has no moves.
        if child != depth:
            _open(belief, stack, child)
            if stack.n[child] > 0:
                level = child
                continue
        # 3. Estimate it, and give its value to the nodes above.
        stack.best_lengths[child] = 0
        level = _give_value(stack, level, outlook(belief, child), pruning)
        if level < 0:
            stack.level[0] = level
            return True
    stack.level[0] = level
    return False


@kernel
def _make_next_move(belief, stack, level, pruning, all_exact):
    """Make the next move of a node, which leads to the node on the level below, and give that node its window."""
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


@kernel
def _give_value(stack, level, value, pruning):
    """Pass the value of the node below this level to the node on it, and go up as long as a node has no moves left to try.

    Returns the level at which the search continues; -1 if the root is done.
    """
    while True:
        _take_value(stack, level, value)
        is_cut = pruning != _NONE and stack.alpha[level] >= stack.beta[level]
        if stack.at[level] < stack.n[level] and not is_cut:
            return level
        value = stack.best[level]
        level -= 1
        if level < 0:
            return level


@kernel
def _take_value(stack, level, value):
    """Note the value of the current move of a node: minus the value of the node below, times the probability of the move."""
    i = stack.at[level] - 1
    value *= -stack.chances[level, i]
    if level == 0:
        stack.values[i] = value
        stack.lengths[i] = _line(stack, level, i, stack.lines[i])
    if value > stack.best[level]:
        stack.best[level] = value
        stack.best_lengths[level] = _line(stack, level, i, stack.best_lines[level])
    stack.alpha[level] = max(stack.alpha[level], value)


@kernel
def _open(belief, stack, level):
    """List the moves of the node on this level."""
    stack.n[level] = guesses(belief, level, stack.moves[level], stack.chances[level])
    stack.at[level] = 0
    stack.best[level] = -np.inf


@kernel
def _line(stack, level, i, line):
    """Write move i of a node and the best line of the node below to `line`; return the number of moves."""
    n = int(stack.best_lengths[level + 1])
    line[0] = stack.moves[level, i]
    for k in range(n):
        line[1 + k] = stack.best_lines[level + 1, k]
    return n + 1


@kernel
def _below(bound):
    """Return a number slightly below the bound."""
    return bound - _SLACK * (1.0 + abs(bound))
