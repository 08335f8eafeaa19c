"""The observations of dominoes: the encodings `tiles`, `belief` and `ends`.

`belief` adds the probabilities of the hidden tiles to `tiles`, and `ends` adds the possibilities at the open ends, for small networks.
Seats are relative: me, the next seat, my partner, the previous seat. Tiles are in the order 0-0, 0-1 ... 6-6. `layout`,
`layout_with_belief` and `layout_with_ends` describe the parts.
"""

from collections.abc import Mapping
from typing import Any

from kdenv.compiler.bits import ONE, bit, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Encoding, Part, clear
from kdenv.games.dominoes.belief import OTHERS, write_marginals
from kdenv.games.dominoes.rules import NO_END, NOBODY, PLAYING, n_tiles, target
from kdenv.games.dominoes.tables import (
    ALL_TILES,
    BIT_OF_TILE,
    BLOCKED,
    DIAGONAL,
    HAND,
    N_ACTIONS,
    N_TILES,
    NO_TILES,
    PIPS,
    SUITS,
    TILES_WITH,
)


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of a vector of `tiles`. They are the same for all options."""
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
    """Return the parts of a vector of `belief`: those of `tiles`, and the probabilities of the hidden tiles."""
    meaning = "the exact probability of each tile being with next, partner, previous; all 0 unless somebody decides"
    return layout(players, options) | {"belief": Part((OTHERS, N_TILES), meaning)}


def layout_with_ends(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of a vector of `ends`: those of `tiles`, and the possibilities at the open ends."""
    return layout(players, options) | {
        "mine": Part((2,), "my tiles that fit an end / 7: of the end where more fit, and of the other"),
        "unseen": Part((2,), "the same of the tiles that I have not seen"),
        "alike": Part((1,), "1 if both ends show the same pips"),
        "dead": Part((1,), "how many ends no tile fits any more / 2"),
        "closed": Part((OTHERS, 2), "for next, partner, previous: how many ends show pips it lacks / 2; 1 if it will pass"),
        "pips": Part((2,), "the pips in my hand / 42; those that my team is expected to hold more than the other / 50"),
        "doubles": Part((1,), "the doubles in my hand / 7"),
    }


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
def observe_with_ends(states, k, seat, out):
    """Write what the seat sees, and what can be laid at the open ends, as `layout_with_ends` says."""
    s = states[k]
    at = _write(s, seat, out)
    hand = s.hands[seat] & ALL_TILES
    unseen = ALL_TILES & ~hand
    for other in range(4):
        unseen &= ~s.played[other]
    if s.left != NO_END:
        _write_ends(s, seat, hand, unseen, out, at)
    at += 6 + 2 * OTHERS
    mine = _pips_of(hand)
    expected = _pips_of(unseen) / max(popcount(unseen), 1)  # of a hidden tile
    more = n_tiles(s.hands[(seat + 2) & 3]) - n_tiles(s.hands[(seat + 1) & 3]) - n_tiles(s.hands[(seat + 3) & 3])
    out[at] = mine / 42.0
    out[at + 1] = (mine + expected * more) / 50.0
    out[at + 2] = popcount(hand & DIAGONAL[0]) / HAND


@kernel
def _write_ends(s, seat, hand, unseen, out, at):
    """Write the parts of `ends` that look at the open ends from out[at] on, which holds 0."""
    left, right = int(s.left), int(s.right)
    mine_left, mine_right = popcount(hand & TILES_WITH[1 << left]), popcount(hand & TILES_WITH[1 << right])
    unseen_left, unseen_right = popcount(unseen & TILES_WITH[1 << left]), popcount(unseen & TILES_WITH[1 << right])
    out[at] = max(mine_left, mine_right) / HAND
    out[at + 1] = min(mine_left, mine_right) / HAND
    out[at + 2] = max(unseen_left, unseen_right) / HAND
    out[at + 3] = min(unseen_left, unseen_right) / HAND
    out[at + 4] = 1.0 if left == right else 0.0
    out[at + 5] = (0.5 if mine_left + unseen_left == 0 else 0.0) + (0.5 if mine_right + unseen_right == 0 else 0.0)
    for ahead in range(1, 4):
        lacks = int(s.lacks[(seat + ahead) & 3])
        closed = (lacks >> left & 1) + (lacks >> right & 1)
        out[at + 4 + 2 * ahead] = closed / 2.0
        out[at + 5 + 2 * ahead] = 1.0 if closed == 2 else 0.0


@kernel
def _pips_of(tiles):
    """The pips of a set of tiles that is not mirrored."""
    pips = 0
    while tiles != NO_TILES:
        pips += int(PIPS[lowest(tiles)])
        tiles &= tiles - ONE
    return pips


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
    Encoding("ends", layout_with_ends, observe_with_ends, "the same as tiles, and what can be laid at the open ends; for small networks"),
    Encoding("belief", layout_with_belief, observe_with_belief, "the same, and how probably each hidden tile is in each hand, exactly"),
)
