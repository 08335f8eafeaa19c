"""Heyden, "Implementing a computer player for Carcassonne" (Maastricht 2009): nodes visited by Expectimax and the Stars.

Her fifty positions are lost. Ours are in heyden2009_positions.txt; the second command takes some of them. Only ratios can be compared.

    python -m baselines.papers.heyden2009 nodes        # depth 2, all orders and factors
    python -m baselines.papers.heyden2009 deepening    # depth 3 at once, and after 1 and 2
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kdenv
from kdenv.author import MAX_DECISIONS, list_turns, make_rng
from kdenv.policies import Expectimax, Star1, Star2, Star25

POSITIONS = Path(__file__).with_name("heyden2009_positions.txt")
PROBES = range(1, 8)
_BRANCHING_GAMES = 60
# Her means over fifty positions at depth 2: by order, and (in order 2) by probing factor.
HER_STAR1 = {"0": 68_129, "1": 67_699, "2": 67_389}
HER_STAR2 = {"0": 32_108, "1": 35_199, "2": 25_465}
HER_STAR2_5 = dict(zip(PROBES, (24_463, 24_701, 24_058, 23_584, 23_222, 23_482, 23_592), strict=True))
HER_DEEPENING = (3_236_169, 195_865)  # nodes without and with iterative deepening, in the best case


class Position(NamedTuple):
    """One of the fifty positions, and what kind of position it is."""

    when: str  # early, middle, late
    lead: str  # ahead, level, behind
    table: Any


def positions() -> Iterator[Position]:
    """The fifty positions, as tables."""
    for line in POSITIONS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, _, text = line.partition(": ")
            when, lead = kind.split()
            yield Position(when, lead, kdenv.table("carcassonne", players=2).at_position(text))


def nodes_of(policy: Any, table: Any) -> int:
    """The nodes of a search of the position on the table, which is searched to the policy's depth for the best turn only."""
    return int(policy.search(table.view(table.seat), thorough=False).cost["nodes"])


def mean_nodes(kind: Any, tables: list[Any], order: str, **parameters: int) -> float:
    """The mean number of nodes that a search to depth 2, without deepening, visits in these positions."""
    policy = kind(depth=2, deepen=False, evaluate="final", order=order, **parameters)
    return sum(nodes_of(policy, table) for table in tables) / len(tables)


def _nodes() -> None:
    tables = [position.table for position in positions()]
    full = mean_nodes(Expectimax, tables, "2")
    print(f"{'depth 2, mean of fifty positions':34}{'nodes':>9}{'of Expectimax':>15}{'Heyden 2009':>13}")
    print(f"{'Expectimax':34}{full:9,.0f}{1:15.3f}")
    for order in ("0", "1", "2"):
        for kind, hers in ((Star1, HER_STAR1), (Star2, HER_STAR2)):
            nodes = mean_nodes(kind, tables, order)
            print(f"{f'{kind.__name__}, order {order}':34}{nodes:9,.0f}{nodes / full:15.3f}{hers[order]:13,}")
    for k in PROBES:
        nodes = mean_nodes(Star25, tables, "2", k=k)
        print(f"{f'Star2.5, order 2, k = {k}':34}{nodes:9,.0f}{nodes / full:15.3f}{HER_STAR2_5[k]:13,}")
    for what, chosen in _by_kind().items():
        nodes, of = mean_nodes(Star25, chosen, "2", k=5), mean_nodes(Expectimax, chosen, "2")
        print(f"{f'Star2.5, k = 5, {len(chosen)} positions {what}':34}{nodes:9,.0f}{nodes / of:15.3f}")


def _by_kind() -> dict[str, list[Any]]:
    kinds: dict[str, list[Any]] = {}
    for position in positions():
        for kind in (position.when, position.lead):
            kinds.setdefault(kind, []).append(position.table)
    return kinds


def _deepening(n: int) -> None:
    """Compare in n positions, spread over all kinds of positions. Each is printed as soon as it has been searched."""
    rows = []
    at_once, deepening = (Star25(depth=3, k=5, deepen=deepen, evaluate="final", order="2") for deepen in (False, True))
    every = list(positions())
    print("Star2.5, k = 5, order 2, nodes to depth 3: at once, and deepening with the best turn first", flush=True)
    for i in range(n):
        position = every[i * len(every) // n]
        view = position.table.view(position.table.seat)
        one, other = at_once.search(view, thorough=False), deepening.search(view, thorough=False)
        assert abs(one.means[one.best] - other.means[other.best]) < 1e-6
        rows.append((int(one.cost["nodes"]), int(other.cost["nodes"])))
        print(f"{i + 1:3} of {n}  {rows[-1][0]:12,}{rows[-1][1]:12,}  {position.when}, {position.lead}", flush=True)
    best = min(rows, key=lambda row: row[1] / row[0])
    print(f"mean        {sum(a for a, _ in rows) / len(rows):12,.0f}{sum(b for _, b in rows) / len(rows):12,.0f}")
    print(f"best case   {best[0]:12,}{best[1]:12,}")
    print(f"Heyden 2009 {HER_DEEPENING[0]:12,}{HER_DEEPENING[1]:12,} (her best case)")


# What expected/heyden2009.csv calls


def polyominoes(squares: str, kind: str) -> float:
    """Her estimate of the polyominoes of this size: c * lambda ** n / n fixed ones, and an eighth of that free ones (section 3.1)."""
    n = int(squares)
    return 0.3169 * 4.0626**n / n / (8 if kind == "free" else 1)


def polyominoes_sum(kind: str) -> float:
    """The sum of these estimates up to 72 squares."""
    return sum(polyominoes(str(n), kind) for n in range(1, 73))


def log_games() -> float:
    """The decimal logarithm of her number of games: the moves times the draws."""
    return log_moves() + log_tiles()


def log_moves() -> float:
    """The decimal logarithm of 55 ** 71 (section 3.2)."""
    return 71 * math.log10(55)


def log_tiles() -> float:
    """The decimal logarithm of the product of i ** 3, i = 2 to 24 (section 3.2)."""
    return 3 * sum(math.log10(i) for i in range(2, 25))


def nodes(search: str, order: str, probes: str = "5") -> float:
    """The mean number of nodes of a search to depth 2 in our fifty positions."""
    by_position = _nodes_by_position(search, order, int(probes))
    return sum(by_position) / len(by_position)


def saved(search: str, number: str) -> float:
    """The share of Expectimax's nodes that this search to depth 2 saves in a position, counted from 1, in %; for `most` the largest."""
    mine, full = (_nodes_by_position(each, "2") for each in (search, "expectimax"))
    shares = [100 * (1 - a / b) for a, b in zip(mine, full, strict=True)]
    return max(shares) if number == "most" else shares[int(number) - 1]


def gain(search: str, than: str, probes: str = "") -> tuple[float, float]:
    """The share of nodes to depth 2 that this order saves over order 0, in %; for Star2.5, these probes over one probe, in order 2."""
    if probes:
        return _gain(_nodes_by_position(search, than, int(probes)), _nodes_by_position(search, than, 1))
    return _gain(_nodes_by_position(search, than), _nodes_by_position(search, "0"))


def gain_over(search: str, other: str, order: str) -> tuple[float, float]:
    """The share of nodes to depth 2 that this search saves over the other in the same order, in %."""
    return _gain(_nodes_by_position(search, order), _nodes_by_position(other, order))


def _gain(nodes_now: list[int], base: list[int]) -> tuple[float, float]:
    """The share that is saved, in %, with the standard error of a ratio of sums over our fifty positions."""
    ratio = sum(nodes_now) / sum(base)
    left = [a - ratio * b for a, b in zip(nodes_now, base, strict=True)]
    return 100 * (1 - ratio), 100 * statistics.stdev(left) * math.sqrt(len(left)) / sum(base)


@lru_cache
def _nodes_by_position(search: str, order: str, probes: int = 5) -> list[int]:
    kinds: dict[str, Any] = {"expectimax": Expectimax, "star1": Star1, "star2": Star2, "star2.5": Star25}
    more = {"k": probes} if search == "star2.5" else {}
    policy = kinds[search](depth=2, deepen=False, evaluate="final", order=order, **more)
    return [nodes_of(policy, position.table) for position in positions()]


def branching(what: str) -> float | tuple[float, float]:
    """A number of the turns open in 60 games of Star2.5 to depth 2 against itself, with the standard error of a mean.

    It is the mean of all plies, of the first, of the fourteenth (peak), of the last five, or of the ply with the fewest after the
    fourteenth (trough). Or it is a number of all positions: the fewest turns (least), the most, or the most frequent number (usual).
    """
    games = _branching()
    extremes: dict[str, Callable[[Iterator[int]], float]] = {"least": min, "most": max, "usual": statistics.mode}
    if what in extremes:
        return float(extremes[what](n for game in games for n in game.values()))
    plies: dict[str, Callable[[dict[int, int]], list[int]]] = {
        "mean": lambda game: list(game.values()),
        "first": lambda game: [game[0]],
        "peak": lambda game: [game[13]],
        "trough": lambda game: [game[trough]] if trough in game else [],
        "last": lambda game: [game[ply] for ply in sorted(game)[-5:]],
    }
    by_ply = {ply: [game[ply] for game in games if ply in game] for ply in range(14, 71)}
    trough = min(by_ply, key=lambda ply: statistics.fmean(by_ply[ply] or [math.inf]))
    means = [statistics.fmean(numbers) for game in games if (numbers := plies[what](game))]
    return statistics.fmean(means), statistics.stdev(means) / math.sqrt(len(means))


@lru_cache
def _branching() -> list[dict[int, int]]:
    """By game, the number of turns open in each ply; a ply with a tile that fits nowhere is left out."""
    game = kdenv.game("carcassonne")
    turns, found = np.empty(game.max_turns, np.int64), list[dict[int, int]]()
    for seed in range(_BRANCHING_GAMES):
        table, rng, player = kdenv.table("carcassonne", players=2), make_rng(seed), kdenv.policy("star2.5/best(depth=2)")
        player.reset(seed)
        table.run_chance(rng)
        by_ply: dict[int, int] = {}
        ply, before = -1, -1
        while not table.over:
            laid = int(table.states[0]["n_tiles"])
            if laid != before and table.seat is not None and table.name(table.legal()[0]).startswith("place"):
                ply, before = ply + 1, laid
                n = list_turns(table.view(table.seat).scratch(1 + MAX_DECISIONS), 0, game.most_decisions, game.max_legal, turns)
                by_ply[ply] = int(n)
            assert table.seat is not None
            table.decide(player.act(table.view(table.seat)), rng)
        found.append(by_ply)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m baselines.papers.heyden2009", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("nodes", "deepening"))
    parser.add_argument("--positions", type=int, default=10, help="of the fifty, for deepening (default: 10, some minutes)")
    parsed = parser.parse_args()
    if not 1 <= parsed.positions <= len(list(positions())):
        parser.error(f"--positions {parsed.positions} is not possible; there are {len(list(positions()))}")
    _nodes() if parsed.what == "nodes" else _deepening(parsed.positions)


if __name__ == "__main__":
    main()
