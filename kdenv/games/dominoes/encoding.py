"""What a seat sees, as one float32 vector. Everything is seat-relative: me, the next seat, my partner, the previous seat.

| part | numbers | meaning |
|---|---|---|
| hand | 28 | 1 for each tile in my hand, 0-0, 0-1, ... 6-6 |
| played | 4 x 28 | 1 for each tile on the table, by who laid it |
| lacks | 4 x 7 | 1 for each suit a seat has shown to lack by passing (with calls: claimed, and not disproved since) |
| ends | 7 | how many of the two open ends show these pips / 2; all 0 before the first tile |
| hand_sizes | 4 | tiles in hand / 7 |
| passed | 4 | 1 if that seat's last turn this round was a pass |
| passes | 1 | passes in a row / 4 |
| leader | 4 | 1 for the seat that led this round; all 0 as long as nobody knows |
| to_move | 4 | 1 for the seat that decides; all 0 while tiles are dealt and at the end |
| points | 2 | points of my team and of the other / those that end the match (penalties are positive here) |
| round | 1 | rounds finished / 10 |
| belief | 3 x 28 | with belief=True: the exact probability of each tile being with next, partner, previous; all 0 unless somebody decides |
"""

import math

from kdenv.core.bits import bit
from kdenv.core.kernel import kernel
from kdenv.games.dominoes.belief import write_marginals
from kdenv.games.dominoes.rules import NO_END, NOBODY, PLAYING, n_tiles, target
from kdenv.games.dominoes.tables import BIT_OF_TILE, BLOCKED, HAND, N_ACTIONS, N_TILES, NO_TILES, SUITS


def layout(belief: bool) -> dict[str, tuple[int, ...]]:
    """The parts of the vector in their order, with the shape each has when cut out."""
    parts: dict[str, tuple[int, ...]] = {
        "hand": (N_TILES,),
        "played": (4, N_TILES),
        "lacks": (4, SUITS),
        "ends": (SUITS,),
        "hand_sizes": (4,),
        "passed": (4,),
        "passes": (1,),
        "leader": (4,),
        "to_move": (4,),
        "points": (2,),
        "round": (1,),
    }
    return {**parts, "belief": (3, N_TILES)} if belief else parts


def length(belief: bool) -> int:
    """How many numbers the vector has."""
    return sum(math.prod(shape) for shape in layout(belief).values())


@kernel
def observe(states, k, seat, out):
    """Write the vector described above for this seat."""
    s = states[k]
    for i in range(out.shape[0]):
        out[i] = 0.0
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
    if s.belief != 0 and s.stage == PLAYING:
        write_marginals(s, seat, out, at + 3)


@kernel
def _write_tiles(tiles, out, at):
    """One number per tile from index at on; return the index behind them."""
    for tile in range(N_TILES):
        if tiles & bit(BIT_OF_TILE[tile]) != NO_TILES:
            out[at + tile] = 1.0
    return at + N_TILES


@kernel
def history(states, k, seat, out):
    """Write this round's turns in order, lossless: 51 * relative seat + action each; return how many (at most MOST_TURNS)."""
    s = states[k]
    n = int(s.n_turns)
    for i in range(n):
        out[i] = ((int(s.leader) + i - seat) & 3) * N_ACTIONS + int(s.turns[i])
    return n
