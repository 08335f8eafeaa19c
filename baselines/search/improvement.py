"""Measures the gain of a search over its own policy in points a decision. It is printed by number of playouts.

python -m baselines.search.improvement dominion "ppo(dominion-ppo)" --playouts 30 100 300 --confidence 0 1 2

Games of the policy against itself give positions. Their turns are valued by many playouts of the policy, with common random numbers. Then
searches that improve on the policy choose in the same positions, and each is credited with the value of its turn minus that of the
policy's turn. The searches do not see these values. So the mean gain has no bias from choosing, and all searches share one set of
positions. After the decision the policy itself plays on, as in rollout (Tesauro and Galperin 1996). Noise can make the gain negative.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kdenv
from kdenv.author import Table, make_rng
from kdenv.policies import SearchPolicy


class Position(NamedTuple):
    """A decision with a choice, the index of the policy's turn, and the values of all turns."""

    table: Table
    own: int
    values: NDArray[np.float64]


def search_of(text: str, table: Table, seed: int) -> Any:
    """The result of a search, and the seconds of CPU time that it took."""
    searching = kdenv.policy(text)
    assert isinstance(searching, SearchPolicy) and table.seat is not None
    searching.reset(seed)
    view = table.view(table.seat)
    searching.prepare(view)
    start = time.process_time()
    found = searching.search(view, thorough=False)
    return found, time.process_time() - start


def positions(game: str, base: str, n: int, each: int, seed: int, options: dict[str, Any]) -> list[Position]:
    """Decisions with a choice in games of the policy against itself, at random places. each: the playouts of each turn."""
    dice, made = np.random.default_rng(seed), list[Position]()
    while len(made) < n:
        table, rng = kdenv.table(game, **options), make_rng(int(dice.integers(1 << 40)))
        player = kdenv.policy(base)
        player.reset(int(dice.integers(1 << 40)))
        decisions = []
        table.run_chance(rng)
        while (seat := table.seat) is not None:
            if len(table.legal()) > 1:
                decisions.append(table.clone())
            table.play(player.act(table.view(seat)))
            table.run_chance(rng)
        some = dice.choice(len(decisions), min(len(decisions), 4, n - len(made)), replace=False).tolist()
        made += [valued(decisions[i], base, each, int(dice.integers(1 << 40))) for i in some]
    return made


def valued(table: Table, base: str, each: int, seed: int) -> Position:
    """A position with the values of its turns, which are means of `each` playouts."""
    own, _ = search_of(f"mce(base={base}, confidence=1e9, common=yes, playouts=1)", table, seed)
    n = len(own.turns)
    if n == 1:
        return Position(table, 0, np.zeros(1))
    found, _ = search_of(f"mce(playout={base}, score=margin, common=yes, playouts={each * n})", table, seed)
    return Position(table, own.best, found.means)


class Gain(NamedTuple):
    """The mean gain in points a decision, half of its 95 % interval, the share of decisions that differ, and seconds a decision."""

    mean: float
    half: float
    moved: float
    seconds: float


def gain(text: str, where: list[Position], seed: int) -> Gain:
    """The gain of a search over the policy in these positions."""
    gains, moved, seconds = [], 0, 0.0
    for i, position in enumerate(where):
        found, took = search_of(text, position.table, seed + i)
        gains.append(position.values[found.best] - position.values[position.own])
        moved += found.best != position.own
        seconds += took
    n = len(where)
    return Gain(float(np.mean(gains)), 1.96 * float(np.std(gains, ddof=1)) / math.sqrt(n), moved / n, seconds / n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("base", help="the policy on which searches improve")
    parser.add_argument(
        "--search",
        nargs="+",
        default=["playout={base}, score=margin, sampling=halving"],
        help="parameters of mce, beside common, base, confidence and playouts; {base} is the policy",
    )
    parser.add_argument("--playouts", type=int, nargs="+", default=[30, 100, 300])
    parser.add_argument("--confidence", type=float, nargs="+", default=[0, 1, 2])
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--each", type=int, default=500, help="playouts that value a turn (default: 500)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game")
    parser.add_argument("--seed", type=int, default=2026)
    asked = parser.parse_args()
    options = dict(each.partition("=")[::2] for each in asked.option)
    where = positions(asked.game, asked.base, asked.positions, asked.each, asked.seed, options)
    best = np.mean([position.values.max() - position.values[position.own] for position in where])
    print(f"{len(where)} decisions; the turn that seems best by {asked.each} playouts gains {best:.2f}, which is too much", flush=True)
    for search in asked.search:
        for playouts in asked.playouts:
            for confidence in asked.confidence:
                text = f"mce({search.format(base=asked.base)}, common=yes, base={asked.base}, confidence={confidence}, playouts={playouts})"
                of = gain(text, where, asked.seed)
                print(f"{of.mean:+.3f} ± {of.half:.3f}  {of.moved:4.0%} differ  {1000 * of.seconds:6.1f} ms  {text}", flush=True)


if __name__ == "__main__":
    main()
