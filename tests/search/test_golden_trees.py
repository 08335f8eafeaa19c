"""Are the trees of tiny searches, all of them, what they were when they were last read?

The files tests/golden/tree_*.txt say above each tree why it is right. They were made by

    PYTHONPATH=.:tests/support:examples python tests/search/test_golden_trees.py

which writes them anew: go through the numbers by hand before committing a difference.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import random_tree
from lookahead_runs import Searcher
from positions import shells

from kdenv.compiler.random import make_rng
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.policies.tree_view import Node
from kdenv.search.evaluate import ScoreMargin

GOLDEN = Path(__file__).parents[1] / "golden"


def row(depth: int, words: str, *columns: str) -> str:
    return ("  " * depth + words.ljust(20 - 2 * depth) + "  ".join(column.rjust(12) for column in columns)).rstrip()


# UCT in Three Shells, where all chance after a decision is the coin that ends the game

SAMPLED = "uct(score=points, chance=sampled, expand=order, select=ucb1(c=1), playouts=16)"
OPEN = "uct(score=points, chance=open, expand=order, select=ucb1(c=1), playouts=12)"


def grown(text: str, table: Table, seed: int) -> Node:
    """The tree that this search grows."""
    searcher: Any = policy(text).searcher  # type: ignore[attr-defined]
    view = table.view(table.seat)
    return searcher.search(view, searcher.turns(view), searcher.budget, make_rng(seed), thorough=True).tree  # type: ignore[no-any-return]


def closed_rows(node: Node, depth: int = 0) -> Iterator[str]:
    """The turns tried in a node, each with its visits, the points they brought its seat, and the coins that were tossed after it."""
    for child in node.children:
        coins = [after.words for after in child.children if after.outcomes]
        yield row(depth, child.words, f"{child.visits} visits", f"{child.total:+g} points", " and ".join(coins))
        if not coins:
            yield from closed_rows(child, depth + 1)


def open_rows(node: Node) -> Iterator[str]:
    """The turns of the root, each with its visits, the points they brought and their squares."""
    for child in node.children:
        yield row(0, child.words, f"{child.visits} visits", f"{child.total:+g} points", f"squares {child.squares:g}")


def uct_sampled() -> Iterator[str]:
    yield "Three Shells, the pea under shell 2, seat 0 to stake:"
    yield SAMPLED
    yield "Right because 16 = 4 + 6 + 6 visits; a stake has one visit more than its guesses together, by the playout after which it was"
    yield "listed (they brought seat 0 +1, +2 and +3: wrong guesses); and every guess brings the stake, a pass one point, twice that after"
    yield "coin 1, seat 1 winning under shell 2 only: its two visits after stake 2 saw both coins, 2 + 4 = 6."
    yield ""
    yield from closed_rows(grown(SAMPLED, shells(2), 3))


def uct_open() -> Iterator[str]:
    yield "Three Shells, the pea under shell 0, which seat 1, who is to point for a stake of 2, cannot see:"
    yield OPEN
    yield "Right because 12 = 1 + 6 + 3 + 2 visits; a pass costs 1, twice; and pointing at one shell both wins and loses, for the pea is"
    yield "drawn for every visit: at shell 1 4 visits of 2 points and 2 of 4 (4 * 4 + 2 * 16 = 48), at shell 2 one loss of 4 and two"
    yield "wins of 2, or the other way round."
    yield ""
    yield from open_rows(grown(OPEN, shells(0, 2), 3))


# Looking ahead in a random tree


def expectimax() -> Iterator[str]:
    yield "A random tree: seat 0 moves, chance, seat 1 moves. Numbers are seat 0's points less seat 1's, bounded by 43."
    yield "Branch 0 is worth min(26, 10) = 10, branch 1 .6 * -14 + .1 * -17 + .3 * -18 = -15.5. Expectimax visits all 17 nodes. Star1"
    yield "leaves branch 1 after -14: .6 * -14 + .4 * 43 = 8.8 cannot reach 10. Star2 first tries one reply after every outcome: 1 at"
    yield ".6 and -18 at .3 already leave at most .6 - 5.4 + .1 * 43 = -0.5; looking at a position once more counts as a node, so it"
    yield "needs 11, not 9. Star2.5 (k = 2) sees -14 while trying; a cut-off in its probe tells the same 8.8, after 10 nodes."
    yield ""
    table = Table(random_tree.GAME, 2, seed=1, shape="turns", length=3)
    yield from branches(table)
    yield ""
    searcher = Searcher(random_tree.GAME, 2, evaluator=ScoreMargin(2, 31.0))
    for name, probes, cuts in (("expectimax", 0, False), ("star1", 0, True), ("star2", 1, True), ("star2.5(k=2)", 2, True)):
        found = searcher.run(table, probes, cuts=cuts)
        yield row(0, name, f"{found.nodes} nodes", *(f"branch {turn - 1}: {value:g}" for turn, value in sorted(found.values.items())))


def branches(table: Table, depth: int = 0) -> Iterator[str]:
    """The whole tree of a game."""
    if table.at_chance:
        for outcome, odds in table.chances():
            after = table.clone()
            after.chance(outcome)
            yield row(depth, table.chance_name(outcome), f"odds {odds:g}")
            yield from branches(after, depth + 1)
    for action in table.legal():
        after = table.clone()
        after.play(action)
        yield row(depth, f"seat {table.seat} {table.name(action)}", f"{np.subtract(*after.scores())}" if after.over else "")
        yield from branches(after, depth + 1)


# A tree of information sets in dominoes

INFORMATION_SETS = "ismcts(score=margin, select=ucb1(c=4), playouts=30)"

# Every hand as it was dealt; 0-0, 1-1, 2-2 and 2-4 have not been seen by seat 0, who is to move with 0-4 and 1-2.
LATE = (
    "round=0 points=0,0 leader=2 hands=0-1.0-2.0-3.0-4.1-2.1-6.4-5,0-0.0-5.2-6.3-3.3-5.3-6.4-6,1-1.1-5.2-4.2-5.4-4.5-6.6-6,"
    "0-6.1-3.1-4.2-2.2-3.3-4.5-5 turns=2-5,2-3@2,4-5@5,3-6@3,6-6@6,1-4@4,1-6@1,2-6@6,5-6@6,5-5@5,0-2@2,0-5@5,pass,0-6@0,0-3@0,4-6@6,"
    "4-4@4,3-4@4,pass,3-3@3,pass,1-3@3,0-1@1,3-5@3,1-5@5,pass"
)


def information_sets() -> Iterator[str]:
    yield "Dominoes, the ends 0 and 1; seat 0 holds 0-4 and 1-2. Seat 2 has passed on a 0 and seat 3 just now on 0 and 1, so 0-0 is with"
    yield "seat 1, and 2-2 and 2-4 are with seats 2 and 3, this way (A) or the other way (B); 1-1 is with seat 2. Losers count their pips."
    yield "30 iterations of ISMCTS for the margin, c = 4. Right because 1-2 lets 0-0 out: 4 + 2 + 6 pips (in A). After 0-4 seat 1 must"
    yield "pass; 2-4 is open in A only (15 times) and lets 2-2 out: 3 + 2 pips each time; 1-1 is always open, was taken only in B, and lets"
    yield "2-4 out: 3 + 4 pips each time. Every node has what those below it have and its own first playout: 84 + 75 + 7 = 166."
    yield "(In A, 1-1 would win, which the tree cannot find out, as A and B share its node, where UCB finds it bad.)"
    yield ""
    table = Table(find_game("dominoes"), mode="round", force_66=False).at_position(LATE)
    assert table.seat is not None
    yield from information_set_rows(grown(INFORMATION_SETS, table, 1))


def information_set_rows(node: Node, depth: int = 0) -> Iterator[str]:
    """The turns of a node: their visits, how often they were open, and the margin they brought the team that made them."""
    for child in node.children:
        columns = f"{child.visits} visits", f"of {child.times_open} open", f"{child.total:+g} for team {child.seat % 2}"
        yield row(depth, child.words, *columns)
        yield from information_set_rows(child, depth + 1)


TREES = {"uct_sampled": uct_sampled, "uct_open": uct_open, "expectimax": expectimax, "information_sets": information_sets}


@pytest.mark.parametrize("name", TREES)
def test_the_tree_is_the_golden_one(name: str) -> None:
    assert "\n".join([*TREES[name](), ""]) == (GOLDEN / f"tree_{name}.txt").read_text()


def test_every_golden_tree_is_tested() -> None:
    assert {path.stem.removeprefix("tree_") for path in GOLDEN.glob("tree_*")} == TREES.keys()


if __name__ == "__main__":
    for name, lines in TREES.items():
        (GOLDEN / f"tree_{name}.txt").write_text("\n".join([*lines(), ""]))
