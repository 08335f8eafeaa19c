"""A ceiling for one seat of a game: the margin of a beam search in hindsight. It knows all draws and all choices of the others.

python -m baselines.search.ceiling kingdomino

A world fixes what chance draws and how the others break ties. In it the game has one player, and a beam search looks for its best line.
Positions in which the seat decides are nodes. The network of the game chooses the turns of a node that are tried. After each of them come
the known draws and the turns of the others, up to the next decision of the seat. A playout in the same world, with a rule player for the
seat, rates this child. The best children are the nodes of the next step. The seat could have had the best result of all playouts. So the
mean over worlds is a lower bound of what hindsight can reach. It is no bound for a search that does not know the world. The width is
doubled until that gains less than --gain points; what a narrower beam has found counts.

Draws have a generator of their own. In Kingdomino and Carcassonne their order is therefore the same whatever the seat does. In Dominion
each shuffle takes the next numbers, so the seat also chooses which cards get which shuffle. In dominoes all hands are known.
"""

from __future__ import annotations

import argparse
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kdenv
from kdenv.author import (
    CHANCE,
    OVER,
    Playout,
    Rng,
    Table,
    apply_chance,
    choose,
    estimate,
    kernel,
    list_turns,
    make_rng,
    phase,
    play_turn,
    sample_chance,
    scores,
    seat,
    uniform,
)

N_WORK = 8  # states: a position, and scratch for players and for listing turns
NEXT = 0x9E3779B97F4A7C15  # odd, so that the numbers of turns give different generators


class Setting(NamedTuple):
    """A table, the players of the others and of the seat in playouts, and the network that orders turns."""

    players: int
    others: str
    mine: str
    options: dict[str, Any]

    def network(self, game: str) -> str:
        """The text of the network of values of this game."""
        return f"learned({game})"


SETTINGS = {
    "kingdomino": Setting(4, "full_greedy(variant=paper)", "full_greedy", {}),
    "carcassonne": Setting(2, "greedy", "greedy", {}),
    "dominion": Setting(2, "double_witch", "double_witch", {}),
    "dominoes": Setting(4, "greedy", "greedy", {"mode": "round"}),
}


class World(NamedTuple):
    """The seat, the others, and the generators from which ties are broken, which are fixed. `work` and the arrays after it are scratch."""

    me: int
    teams: int
    others: Any
    mine: Any
    ties: np.uint64
    work: Any
    out: NDArray[np.int64]
    rng: Rng
    points: NDArray[np.int64]


@kernel
def advance(world: Any, draws: Rng, n_turns: int) -> int:
    """Play work[0] on until the seat decides or the game is over; return the number of turns that the game has had."""
    states = world.work
    while True:
        now = phase(states[0])
        if now == CHANCE:
            apply_chance(states[0], sample_chance(states[0], draws))
        elif now == OVER or seat(states[0]) == world.me:
            return n_turns
        else:
            play_turn(states[0], _chosen(world, world.others, n_turns))
            n_turns += 1


@kernel
def _chosen(world: Any, player: Any, n_turns: int) -> Any:
    """The turn of a player in work[0]. Ties are broken in the same way whenever a game has had as many turns."""
    world.rng[0] = world.ties + np.uint64(NEXT) * np.uint64(n_turns)
    uniform(world.rng)
    return choose(player, world.work, 0, world.out, world.rng)


@kernel
def margin_of_playout(world: Any, draws: Rng, n_turns: int) -> int:
    """Play work[0] to its end in this world, with the rule player for the seat; return the margin of the seat."""
    states = world.work
    n_turns = advance(world, draws, n_turns)
    while phase(states[0]) != OVER:
        play_turn(states[0], _chosen(world, world.mine, n_turns))
        n_turns = advance(world, draws, n_turns + 1)
    scores(states[0], world.points)
    best = -(1 << 30)
    for each in range(world.points.shape[0]):
        if (each - world.me) % world.teams != 0:
            best = max(best, world.points[each])
    return int(world.points[world.me] - best)


@kernel
def weigh(network: Any, world: Any, states: Any, k: int, turns: Any, n: int, worths: Any) -> None:
    """Write the network's values of the positions after these turns."""
    for i in range(n):
        world.work[0] = states[k]
        play_turn(world.work[0], turns[i])
        worths[i] = 1e9 if phase(world.work[0]) == OVER else estimate(network, world.work, 0, world.me, world.points)


@kernel
def rate(world: Any, node: Any, node_draws: Rng, n_before: int, turns: Any, states: Any, draws: Any, n_turns: Any, margins: Any) -> None:
    """Carry out each of these turns in the node. Write the positions of the seat's next decisions, and the margins of their playouts."""
    for i in range(turns.shape[0]):
        world.work[0] = node[0]
        play_turn(world.work[0], turns[i])
        draws[i, 0] = node_draws[0]
        n_turns[i] = advance(world, draws[i], n_before + 1)
        states[i] = world.work[0]
        coming = draws[i, 0]
        margins[i] = margin_of_playout(world, draws[i], n_turns[i])
        draws[i, 0] = coming


class Nodes(NamedTuple):
    """Positions in which the seat decides, each with its generator of draws and the number of turns so far."""

    states: Any
    draws: NDArray[np.uint64]
    n_turns: NDArray[np.int64]

    def at(self, which: NDArray[np.int64]) -> Nodes:
        """These nodes."""
        return Nodes(self.states[which], self.draws[which], self.n_turns[which])


class Beam:
    """The beam in one world of a table. branch: the turns of a node that are tried; 0 for all, which needs no network."""

    def __init__(self, table: Table, setting: Setting, me: int, seed: int, branch: int) -> None:
        self._game, self._branch, dtype = table.game, branch, table.states.dtype
        view = table.view(me)
        self._network: Any = Playout.as_value(setting.network(self._game.name)).player(view) if branch else None
        self._world = World(
            me=me,
            teams=self._game.teams(table.players),
            others=Playout.as_value(setting.others).player(view),
            mine=Playout.as_value(setting.mine).player(view),
            ties=make_rng(2 * seed + 1)[0],
            work=np.zeros(N_WORK, dtype),
            out=self._game.buffer(),
            rng=make_rng(0),
            points=np.zeros(table.players, np.int64),
        )
        self._turns, self._worths = np.zeros(self._game.max_turns, np.int64), np.zeros(self._game.max_turns)
        draws = make_rng(2 * seed)
        self._world.work[0] = table.states[0]
        n_turns = advance(self._world, draws, 0)
        self.root = Nodes(self._world.work[:1].copy(), draws.reshape(1, 1).copy(), np.array([n_turns]))

    def playout(self) -> int:
        """The margin of the rule player in this world."""
        self._world.work[0] = self.root.states[0]
        return int(margin_of_playout(self._world, self.root.draws[0].copy(), int(self.root.n_turns[0])))

    def best(self, width: int) -> int:
        """The best margin that a beam of this width meets."""
        best, nodes = self.playout(), self.root
        while len(nodes.states):
            children = [self._children(nodes, k) for k in range(len(nodes.states))]
            joined = Nodes(*(np.concatenate([child[0][i] for child in children]) for i in range(3)))
            margins = np.concatenate([margins for _, margins in children])
            best = max(best, int(margins.max()))
            goes_on = np.array([phase(joined.states[i]) != OVER for i in range(len(margins))])
            order = np.argsort(-margins, kind="stable")
            nodes = joined.at(_first_of_equals(joined.states, order[goes_on[order]])[:width])
        return best

    def _children(self, nodes: Nodes, k: int) -> tuple[Nodes, NDArray[np.int64]]:
        """The nodes after the best turns of a node, and their margins."""
        game, world = self._game, self._world
        world.work[0] = nodes.states[k]
        n = list_turns(world.work, 0, game.most_decisions, game.max_legal, self._turns)
        turns = self._turns[:n]
        if self._branch and n > self._branch:
            weigh(self._network, world, nodes.states, k, turns, n, self._worths)
            turns = turns[np.argsort(-self._worths[:n], kind="stable")[: self._branch]]
        n = len(turns)
        children = Nodes(np.zeros(n, nodes.states.dtype), np.zeros((n, 1), np.uint64), np.zeros(n, np.int64))
        margins = np.zeros(n, np.int64)
        rate(world, nodes.states[k : k + 1], nodes.draws[k], int(nodes.n_turns[k]), turns.copy(), *children, margins)
        return children, margins


def _first_of_equals(states: Any, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Drop those of `order` whose position comes earlier in it."""
    seen: dict[bytes, int] = {}
    for i in order.tolist():
        seen.setdefault(states[i].tobytes(), i)
    return np.array(list(seen.values()), np.int64)


def told(margins: list[int]) -> str:
    """The mean with its 95 % interval."""
    return f"{np.mean(margins):+.1f} ± {1.96 * np.std(margins, ddof=1) / math.sqrt(len(margins)):.1f}"


def measure(game: str, worlds: int, seed: int, branch: int, width: int, most: int, gain: float) -> list[tuple[int, float]]:
    """Double the width from `width` to at most `most`; return each width with its mean margin over the worlds. Print the progress."""
    setting = SETTINGS[game]
    table = kdenv.table(game, players=setting.players, **setting.options)
    beams = [Beam(table, setting, i % setting.players, seed + 1_000_003 * i, branch) for i in range(worlds)]
    margins = [beam.playout() for beam in beams]
    print(f"{setting.mine} against {setting.others} in the same {worlds} worlds: {told(margins)}", flush=True)
    found: list[tuple[int, float]] = []
    while width <= most:
        margins = [max(margin, beam.best(width)) for margin, beam in zip(margins, beams, strict=True)]
        print(f"a beam of {width} in hindsight reaches {told(margins)}", flush=True)
        found.append((width, float(np.mean(margins))))
        if len(found) > 1 and found[-1][1] - found[-2][1] < gain:
            break
        width *= 2
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=SETTINGS)
    parser.add_argument("--worlds", type=int, default=40, help="games, the seat in turn (default: 40)")
    parser.add_argument("--branch", type=int, default=12, help="turns of a node that are tried; 0: all (default: 12)")
    parser.add_argument("--width", type=int, default=1, help="the first width (default: 1)")
    parser.add_argument("--most", type=int, default=1024, help="the greatest width (default: 1024)")
    parser.add_argument("--gain", type=float, default=0.5, help="stop when twice the width gains less than this (default: 0.5)")
    parser.add_argument("--seed", type=int, default=2026)
    parsed = parser.parse_args()
    if parsed.worlds < 2:
        parser.error(f"--worlds {parsed.worlds} is not possible: an interval needs at least two worlds")
    measure(parsed.game, parsed.worlds, parsed.seed, parsed.branch, parsed.width, parsed.most, parsed.gain)


if __name__ == "__main__":
    main()
