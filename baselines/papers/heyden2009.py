"""Heyden, "Implementing a computer player for Carcassonne" (Maastricht 2009): nodes visited by Expectimax and the Stars.

    python -m baselines.papers.heyden2009 nodes        # depth 2, every order and probing factor
    python -m baselines.papers.heyden2009 deepening    # depth 3 at once, and after depths 1 and 2 with their best turn first

Her fifty positions are lost. Ours are in heyden2009_positions.txt, so only ratios can be compared with hers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import kdenv
from kdenv.search.evaluate import AsListed
from kdenv.search.kernels import expectimax, stack

POSITIONS = Path(__file__).with_name("heyden2009_positions.txt")
PROBES = range(1, 8)
# Her means over fifty positions at depth 2: by order, and (in order 2) by probing factor.
HER_STAR1 = {"0": 68_129, "1": 67_699, "2": 67_389}
HER_STAR2 = {"0": 32_108, "1": 35_199, "2": 25_465}
HER_STAR2_5 = dict(zip(PROBES, (24_463, 24_701, 24_058, 23_584, 23_222, 23_482, 23_592), strict=True))
HER_DEEPENING = (3_236_169, 195_865)  # nodes without and with iterative deepening, in the best case
ORDERS = {"0": AsListed(), **kdenv.game("carcassonne").knowledge.orders}


class Position(NamedTuple):
    """One of the fifty positions, and what kind of position it is."""

    when: str  # early, middle, late
    lead: str  # ahead, level, behind
    table: Any


class Count(NamedTuple):
    """What a search found, and what it took."""

    value: float
    nodes: int
    turn: int
    seconds: float


def positions() -> Iterator[Position]:
    """The fifty positions, as tables."""
    for line in POSITIONS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, _, text = line.partition(": ")
            when, lead = kind.split()
            yield Position(when, lead, kdenv.table("carcassonne", players=2).at_position(text))


def look(table: Any, depth: int, order: str, *, cuts: bool = True, probes: int = 0, first: int = 0) -> Count:
    """Search the position of a table to this depth without iterative deepening. The turn `first` is tried first; 0 means none."""
    game, seat = table.game, int(table.seat)
    room = stack.new_search(table.states, depth, table.players, game.max_turns, game.max_chances, game.max_legal)
    evaluator = game.knowledge.evaluators["final"]
    most = float(expectimax.most_from(evaluator, room.states, 0, seat, room.numbers))
    plan = stack.Plan(seat, table.players, game.most_decisions, cuts, probes, most, 0.0, game.max_chances)
    expectimax.start(room, depth, first)
    start = time.perf_counter()
    while not expectimax.go_on(room, plan, evaluator, ORDERS[order], 50_000):
        pass
    seconds = time.perf_counter() - start
    root = room.frames[0]
    return Count(float(root["best"]), int(room.counters[stack.NODES]), int(root["chosen"]), seconds)


def mean_nodes(tables: list[Any], order: str, *, cuts: bool = True, probes: int = 0) -> float:
    """The mean number of nodes that a search to depth 2 visits in these positions."""
    return sum(look(table, 2, order, cuts=cuts, probes=probes).nodes for table in tables) / len(tables)


def _nodes() -> None:
    tables = [position.table for position in positions()]
    full = mean_nodes(tables, "2", cuts=False)
    print(f"{'depth 2, mean of fifty positions':34}{'nodes':>9}{'of Expectimax':>15}{'Heyden 2009':>13}")
    print(f"{'Expectimax':34}{full:9,.0f}{1:15.3f}")
    for order in ("0", "1", "2"):
        for name, probes, hers in (("Star1", 0, HER_STAR1), ("Star2", 1, HER_STAR2)):
            nodes = mean_nodes(tables, order, probes=probes)
            print(f"{f'{name}, order {order}':34}{nodes:9,.0f}{nodes / full:15.3f}{hers[order]:13,}")
    for k in PROBES:
        nodes = mean_nodes(tables, "2", probes=k)
        print(f"{f'Star2.5, order 2, k = {k}':34}{nodes:9,.0f}{nodes / full:15.3f}{HER_STAR2_5[k]:13,}")
    for what, chosen in _kinds().items():
        nodes, of = mean_nodes(chosen, "2", probes=5), mean_nodes(chosen, "2", cuts=False)
        print(f"{f'Star2.5, k = 5, {len(chosen)} positions {what}':34}{nodes:9,.0f}{nodes / of:15.3f}")


def _kinds() -> dict[str, list[Any]]:
    kinds: dict[str, list[Any]] = {}
    for position in positions():
        for kind in (position.when, position.lead):
            kinds.setdefault(kind, []).append(position.table)
    return kinds


def _deepening() -> None:
    rows = []
    for position in positions():
        at_once = look(position.table, 3, "2", probes=5)
        one = look(position.table, 1, "2", probes=5)
        two = look(position.table, 2, "2", probes=5, first=one.turn)
        three = look(position.table, 3, "2", probes=5, first=two.turn)
        assert abs(at_once.value - three.value) < 1e-6
        rows.append((at_once.nodes, one.nodes + two.nodes + three.nodes))
    best = min(rows, key=lambda row: row[1] / row[0])
    print("Star2.5, k = 5, order 2, nodes to depth 3: at once, and deepening with the best turn first")
    print(f"mean        {sum(a for a, _ in rows) / len(rows):12,.0f}{sum(b for _, b in rows) / len(rows):12,.0f}")
    print(f"best case   {best[0]:12,}{best[1]:12,}")
    print(f"Heyden 2009 {HER_DEEPENING[0]:12,}{HER_DEEPENING[1]:12,} (her best case)")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m baselines.papers.heyden2009", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("nodes", "deepening"))
    {"nodes": _nodes, "deepening": _deepening}[parser.parse_args().what]()


if __name__ == "__main__":
    main()
