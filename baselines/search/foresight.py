"""The margin of a search of Kingdomino that knows which dominoes come, beside one that does not.

python -m baselines.search.foresight --games 160 --playouts 300

The same flat search plays twice. Its opponents are three full_greedy(variant=paper), on the same deals and from every seat. Once its
playouts draw what will be drawn, and once they draw by chance. It tries the twelve turns that learned(kingdomino) likes best and halves
them again and again, as strongest does. In its playouts it plays by the network itself. The dominoes of a game are fixed by the deal,
whatever the players do. This is no policy: policies see what their seat sees, and the dominoes to come are not among that. The result is
not the worth of the draws: a flat search uses them for one turn, and plays on as if it did not know them. The program ceiling.py plans
whole games with them.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kdenv
from kdenv.arena import DealSums, Estimate
from kdenv.author import (
    CHANCE,
    OVER,
    Playout,
    Rng,
    Table,
    apply_chance,
    choose,
    first_action,
    kernel,
    make_rng,
    phase,
    play_turn,
    rest_of,
    sample_chance,
    scores,
)

NETWORK = "learned(kingdomino)"
PLAYOUT = f"by_seat(mine={NETWORK}, others=full_greedy)"
OPPONENT = "full_greedy(variant=paper)"
WIDEST = 12
SEATS = 4


@kernel
def finish(player: Any, states: Any, k: int, out: Any, draws: Rng, rng: Rng) -> None:
    """Play states[k] to its end. The draws have a separate generator, which the choices of players do not disturb."""
    while phase(states[k]) != OVER:
        if phase(states[k]) == CHANCE:
            apply_chance(states[k], sample_chance(states[k], draws))
        else:
            play_turn(states[k], choose(player, states, k, out, rng))


@kernel
def mean_margin(
    player: Any, states: Any, turn: int, me: int, n: int, knows: bool, coming: Rng, draws: Rng, out: Any, rng: Rng, points: Any
) -> Any:
    """The mean margin of the seat over n playouts of states[0] after this turn. If it knows, each draws what is coming."""
    total = 0
    for _ in range(n):
        states[1] = states[0]
        play_turn(states[1], turn)
        if knows:
            draws[0] = coming[0]
        finish(player, states, 1, out, draws, rng)
        scores(states[1], points)
        best = -1
        for seat in range(points.shape[0]):
            if seat != me:
                best = max(best, points[seat])
        total += points[me] - best
    return total / n


class Searcher:
    """The search, for one seat of one table."""

    def __init__(self, table: Table, me: int, playouts: int, knows: bool, seed: int) -> None:
        self._table, self._me, self._playouts, self._knows = table, me, playouts, knows
        self._network: Any = kdenv.policy(NETWORK)
        self._player = Playout.as_value(PLAYOUT).player(table.view(me))
        self._draws, self._rng = make_rng(seed), make_rng(seed + 1)
        self._states = np.zeros(12, table.states.dtype)
        self._points = np.zeros(SEATS, np.int64)
        self._out: NDArray[np.int64] = table.game.buffer()

    def turn(self, coming: Rng) -> int:
        """The turn that it takes. `coming` is the generator of the table, in which what will be drawn lies."""
        found = self._network.search(self._table.view(self._me))
        left = [int(found.turns[i]) for i in np.argsort(-found.means)[:WIDEST]]
        totals, counts = dict.fromkeys(left, 0.0), dict.fromkeys(left, 0)
        halvings = max(1, math.ceil(math.log2(len(left))))
        self._states[0] = self._table.states[0]
        while len(left) > 1:
            n = max(1, self._playouts // halvings // len(left))
            luck = self._draws.copy(), self._rng.copy()  # all turns see the same
            for turn in left:
                self._draws[:], self._rng[:] = luck
                parts = self._me, n, self._knows, coming, self._draws, self._out, self._rng, self._points
                totals[turn] += n * mean_margin(self._player, self._states, turn, *parts)
                counts[turn] += n
            left = sorted(left, key=lambda turn: -totals[turn] / counts[turn])[: (len(left) + 1) // 2]
        return left[0]


def margin_of(deal: int, me: int, playouts: int, knows: bool, seed: int) -> int:
    """Play a game in which the search has the seat `me`; return its margin."""
    table = kdenv.table("kingdomino", players=SEATS)
    coming = make_rng(seed + deal)
    searcher = Searcher(table, me, playouts, knows, seed + 1_000_003 * (deal * SEATS + me + 1))
    opponent: Any = kdenv.policy(OPPONENT)
    opponent.reset(seed + deal * SEATS + me)
    table.run_chance(coming)
    while (mover := table.seat) is not None:
        if mover == me:
            turn = searcher.turn(coming)
            while turn:
                table.play(first_action(turn))
                turn = rest_of(turn)
        else:
            table.play(opponent.act(table.view(mover)))
        table.run_chance(coming)
    mine = table.scores()[me]
    return mine - max(points for seat, points in enumerate(table.scores()) if seat != me)


def measure(games: int, playouts: int, seed: int) -> dict[bool, Estimate]:
    """Return the margins of the search that knows and of the one that does not. Print the progress."""
    sums = {knows: DealSums(SEATS) for knows in (True, False)}
    for game in range(games):
        for knows, mine in sums.items():
            mine.add(game // SEATS, [float(margin_of(game // SEATS, game % SEATS, playouts, knows, seed))])
        if game % SEATS == SEATS - 1:
            known, unknown = (mine.mean(0) for mine in sums.values())
            half = (known.high - known.low) / 2, (unknown.high - unknown.low) / 2
            text = f"knows the draws {known.mean:+.1f} ± {half[0]:.1f}, does not {unknown.mean:+.1f} ± {half[1]:.1f}"
            print(f"{game + 1:4} games: {text}", flush=True)
    return {knows: mine.mean(0) for knows, mine in sums.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=160, help="a multiple of 4: each deal is played from every seat (default: 160)")
    parser.add_argument("--playouts", type=int, default=300, help="playouts a turn (default: 300)")
    parser.add_argument("--seed", type=int, default=2026)
    parsed = parser.parse_args()
    if parsed.games < SEATS or parsed.games % SEATS:
        parser.error(f"--games {parsed.games} is not possible: each deal is played from {SEATS} seats; give a multiple of {SEATS}")
    measure(parsed.games, parsed.playouts, parsed.seed)


if __name__ == "__main__":
    main()
