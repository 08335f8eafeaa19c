"""Known mistakes of published Star2s, put into ours one at a time: run by test_search_expectimax.py in a process without the compiler.

Prints a line per mutant: what has caught it, or that it survived.
"""

import sys
import types
from pathlib import Path

import random_tree
from lookahead_runs import Searcher

from kdenv import games
from kdenv.core.table import Table
from kdenv.search.evaluate import ScoreMargin
from kdenv.search.kernels import expectimax

# What is wrong -> what to replace by what, in turn
MUTANTS: dict[str, tuple[str, ...]] = {
    "probes not weighted by probability": ("node.floor += p * least", "node.floor += least"),
    "the chance's own alpha in the probe": ("node.low = (node.alpha - task.most * (1.0 - p)) / p", "node.low = node.alpha"),
    "... and a probe that failed low taken for a lower bound": (
        "node.low = (node.alpha - task.most * (1.0 - p)) / p",
        "node.low = node.alpha",
        "least = value if value > max(-task.most, node.low) + rounding(task) else -task.most",
        "least = value",
    ),
    "max(U, beta) for min": ("min(task.most, node.high)", "max(task.most, node.high)"),
    "min(L, alpha) for max": ("max(-task.most, node.low), min", "min(-task.most, node.low), min"),
    "leaves not cut to the bounds": ("value = min(max(value, -task.most), task.most)", "value = value"),
    "what others contribute at least forgotten in B": (
        "node.high = (node.beta - node.sum - node.floor) / p",
        "node.high = (node.beta - node.sum + task.most) / p",
    ),
    "others at most U forgotten in A": (
        "node.low = (node.alpha - node.sum - task.most * node.left) / p",
        "node.low = (node.alpha - node.sum) / p",
    ),
    "probed turns searched again": ("child.at = search.tried[level, at]", "child.at = 0"),
    "probe values forgotten": ("child.best = search.probed[level, at]", "child.best = -np.inf"),
    "the window not turned for the other side": ("node.alpha = -node.beta", "node.alpha = node.alpha"),
    "no cut at beta": ("if task.cuts and value >= node.high:", "if task.cuts and value > 1e9:"),
}
PROBES = (0, 1, 3)
N_TREES = 12


def run_all(search_module: types.ModuleType) -> tuple[str, list[int]]:
    """What differs between Expectimax and the Stars of this module, and the nodes of each."""
    nodes = [0] * (1 + len(PROBES))
    searcher = Searcher(random_tree.GAME, 4, module=search_module)
    for seed in range(N_TREES):
        table = Table(random_tree.GAME, 2, seed=seed, shape=("turns", "any")[seed % 2], length=5)
        searcher.evaluator = ScoreMargin(2, (20.0, 5.0)[seed % 2])
        truth = searcher.run(table, cuts=False)
        nodes[0] += truth.nodes
        for i, probes in enumerate(PROBES):
            try:
                result = searcher.run(table, probes, slack=1e-5)
            except (AssertionError, KeyError):
                return f"nonsense found in tree {seed}, {probes} probes", nodes
            nodes[i + 1] += result.nodes
            if abs(result.value - truth.value) > 1e-9 or result.best != truth.best:
                return f"tree {seed}, {probes} probes", nodes
    return "", nodes


def mutated(replacements: tuple[str, ...]) -> types.ModuleType:
    """The search with a mistake."""
    assert expectimax.__file__ is not None
    source = Path(expectimax.__file__).read_text()
    for old, new in zip(replacements[::2], replacements[1::2], strict=True):
        assert old in source, old
        source = source.replace(old, new)
    module = types.ModuleType("mutant")
    module.__file__ = expectimax.__file__
    sys.modules["mutant"] = module
    exec(compile(source, expectimax.__file__, "exec"), module.__dict__)
    return module


if __name__ == "__main__":
    games.add_game(random_tree.GAME)
    wrong, healthy = run_all(expectimax)
    print(f"healthy: {wrong or 'as expectimax'}; nodes {healthy}")
    for name, replacements in MUTANTS.items():
        wrong, nodes = run_all(mutated(replacements))
        caught = f"caught by values ({wrong})" if wrong else f"caught by nodes {nodes}" if nodes != healthy else "SURVIVED"
        print(f"{name}: {caught}")
