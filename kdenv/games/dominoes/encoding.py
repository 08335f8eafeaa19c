"""The encodings of dominoes, which write what a seat sees as numbers: `tiles`, and `belief` with the probabilities of the hidden tiles.

Seats are relative: me, the next seat, my partner, the previous seat. Tiles are in the order 0-0, 0-1 ... 6-6. `layout` and
`layout_with_belief` describe the parts.
"""

from collections.abc import Mapping
from typing import Any

from kdenv.compiler.bits import bit
from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Encoding, Part, clear
from kdenv.games.dominoes.belief import OTHERS, write_marginals
from kdenv.games.dominoes.rules import NO_END, NOBODY, PLAYING, n_tiles, target
from kdenv.games.dominoes.tables import BIT_OF_TILE, BLOCKED, HAND, N_ACTIONS, N_TILES, NO_TILES, SUITS


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """The parts of a vector of `tiles`. They are the same for all options."""
    return {
        "hand": Part((N_TILES,), "1 for each tile in my hand"),
        "played": Part((4, N_TILES), "1 for each tile on the table, by who laid it"),
        "lacks": Part((4, SUITS), "1 for each suit a seat has shown to lack by passing (with calls: claimed, and not disproved since)"),
        "ends": Part((SUITS,), "how many of the two open ends show these pips / 2; all 0 before the first tile"),
        "hand_sizes": Part((4,), "tiles in hand / 7"),
        "passed": Part((4,), "1 if that seat's last turn this round was a pass"),
        "passes": Part((1,), "passes in a row / 4"),
        "leader": Part((4,), "1 for the seat that led this round; all 0 as long as nobody knows"),
        "to_move": Part((4,), "1 for the seat that decides; all 0 while tiles are dealt and at the end"),
        "points": Part((2,), "points of my team and of the other / those that end the match (penalties are positive here)"),
        "round": Part((1,), "rounds finished / 10"),
    }


def layout_with_belief(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """The parts of a vector of `belief`: those of `tiles`, and the probabilities of the hidden tiles."""
    meaning = "the exact probability of each tile being with next, partner, previous; all 0 unless somebody decides"
    return layout(players, options) | {"belief": Part((OTHERS, N_TILES), meaning)}


@kernel
def observe(states, k, seat, out):
    """Write what the seat sees as `layout` says."""
    _write(states[k], seat, out)


@kernel
def observe_with_belief(states, k, seat, out):
    """Write what the seat sees, and what it can infer of the hidden hands, as `layout_with_belief` says."""
    s = states[k]
    at = _write(s, seat, out)
    if s.stage == PLAYING:
        write_marginals(s, seat, out, at)


@kernel
def _write(s, seat, out):
    """Write the parts of `layout`, and 0 to the rest of out; return how many numbers these parts have."""
    clear(out)
    at = _write_tiles(s.hands[seat], out, 0)
    for ahead in range(4):
        at = _write_tiles(s.played[(seat + ahead) & 3], out, at)
    for ahead in range(4):
        for suit in range(SUITS):
            out[at] = int(s.lacks[(seat + ahead) & 3]) >> suit & 1
            at += 1
    if s.left != NO_END:
        out[at + int(s.left)] += 0.5
        out[at + int(s.right)] += 0.5
    at += SUITS
    for ahead in range(4):
        other = (seat + ahead) & 3
        out[at + ahead] = n_tiles(s.hands[other]) / HAND
        out[at + 4 + ahead] = 1.0 if s.passed_on[other] != 0 else 0.0
    at += 8
    out[at] = s.passes / BLOCKED
    at += 1
    if s.leader != NOBODY:
        out[at + ((int(s.leader) - seat) & 3)] = 1.0
    at += 4
    if s.stage == PLAYING:
        out[at + ((int(s.turn) - seat) & 3)] = 1.0
    at += 4
    out[at] = s.points[seat & 1] / target(s)
    out[at + 1] = s.points[1 - (seat & 1)] / target(s)
    out[at + 2] = s.n_rounds / 10.0
    return at + 3


@kernel
def _write_tiles(tiles, out, at):
    """Write 1 for each tile of the set and 0 for the others, from out[at] on, which holds 0; return the index behind them."""
    for tile in range(N_TILES):
        if tiles & bit(BIT_OF_TILE[tile]) != NO_TILES:
            out[at + tile] = 1.0
    return at + N_TILES


@kernel
def history(states, k, seat, out):
    """Write the turns of this round in order, each as 51 * relative seat + action; return how many, at most MOST_TURNS."""
    s = states[k]
    n = int(s.n_turns)
    for i in range(n):
        out[i] = ((int(s.leader) + i - seat) & 3) * N_ACTIONS + int(s.turns[i])
    return n


ENCODINGS = (
    Encoding("tiles", layout, observe, "the hand and what lies on the table"),
    Encoding("belief", layout_with_belief, observe_with_belief, "the same, and how probably each hidden tile is in each hand, exactly"),
)
