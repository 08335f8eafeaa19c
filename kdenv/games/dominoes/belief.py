"""The hidden hands: count the deals that are consistent with a seat's observations, draw from them, compute probabilities.

A deal is consistent if every hand has its size, no seat has a suit it passed on, and the leader has 6-6 if that is why it leads. With
calls a pass may be unjust. As that costs 50 points, passes are believed to be just as long as any deal allows it; if none does, they
show nothing.

Tiles differ only in the seats that may hold them, which makes eight classes. One class is empty, because every tile has a holder,
and the tiles of three classes are certain. For the other four, three numbers fix the deal up to the choice of tiles. They are
the numbers of tiles of the two-seat classes that go to the first of the two seats. So a count is a sum with few terms, each a product of
binomials, and a draw is never rejected. In this file, a, b, c are the others: the next seat, the partner, the previous seat.
"""

from typing import NamedTuple

import numpy as np

from kdenv.compiler.bits import bit, lowest, nth, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers
from kdenv.compiler.random import below
from kdenv.core.game import Variant
from kdenv.core.questions import deal
from kdenv.games.dominoes.rules import DEALING, PLAYING, led_by_double_six, n_tiles
from kdenv.games.dominoes.tables import (
    ALL_TILES,
    BIT_OF_TILE,
    CHOOSE,
    DIAGONAL,
    DOUBLE_SIX,
    N_TILES,
    NO_TILES,
    SUITS,
    TILE_OF_ACTION,
    TILES_WITH,
)

OTHERS = 3


class Unseen(NamedTuple):
    """The unseen tiles by the seats that may hold them, as sets that are not mirrored, and the tiles of each seat that are not certain."""

    only_a: np.uint64
    only_b: np.uint64
    only_c: np.uint64
    ab: np.uint64
    ac: np.uint64
    bc: np.uint64
    abc: np.uint64
    free_a: int  # the number of tiles that a has besides those of only_a
    free_b: int
    free_c: int


@kernel
def unseen_tiles(s, seat):
    """Return the tiles that are neither in this seat's hand nor on the table."""
    return ALL_TILES & ~(s.hands[seat] | s.played[0] | s.played[1] | s.played[2] | s.played[3])


@kernel
def possible_tiles(s, other, are_just):
    """Return the tiles that this seat may have if passes are just, or (are_just = 0) if they show nothing."""
    tiles = ALL_TILES & ~TILES_WITH[s.lacks[other]] if are_just else ALL_TILES
    if led_by_double_six(s) and other != s.leader:
        tiles &= ~DOUBLE_SIX
    return tiles


@kernel
def unseen_by(s, seat):
    """Return the unseen tiles by their possible holders, as this seat infers them from passes and the lead. Call it during play only."""
    u = _sorted_unseen(s, seat, 1)
    if s.calls != 0 and not _allows_a_deal(u, popcount(unseen_tiles(s, seat))):
        u = _sorted_unseen(s, seat, 0)
    return u


@kernel
def passes_may_be_just(s, seat):
    """Return whether this seat can believe that all passes of the round were just. Without calls they are. Call it during play only."""
    return s.calls == 0 or _allows_a_deal(_sorted_unseen(s, seat, 1), popcount(unseen_tiles(s, seat)))


@kernel
def _allows_a_deal(u, n_unseen):
    """Return whether some deal gives every unseen tile a holder."""
    two_seats = popcount(u.ab) + popcount(u.ac) + popcount(u.bc)
    n_held = popcount(u.only_a) + popcount(u.only_b) + popcount(u.only_c) + two_seats + popcount(u.abc)
    return n_held == n_unseen and u.free_a >= 0 and u.free_b >= 0 and u.free_c >= 0 and n_deals(u) > 0


@kernel
def _sorted_unseen(s, seat, are_just):
    """Return the unseen tiles by their possible holders, if passes are just or (are_just = 0) show nothing."""
    i, j, k = (seat + 1) & 3, (seat + 2) & 3, (seat + 3) & 3
    unseen = unseen_tiles(s, seat)
    a = unseen & possible_tiles(s, i, are_just)
    b = unseen & possible_tiles(s, j, are_just)
    c = unseen & possible_tiles(s, k, are_just)
    only_a = a & ~b & ~c
    only_b = b & ~a & ~c
    only_c = c & ~a & ~b
    return Unseen(
        only_a,
        only_b,
        only_c,
        a & b & ~c,
        a & c & ~b,
        b & c & ~a,
        a & b & c,
        n_tiles(s.hands[i]) - popcount(only_a),
        n_tiles(s.hands[j]) - popcount(only_b),
        n_tiles(s.hands[k]) - popcount(only_c),
    )


@kernel
def _deals(u, n_ab, n_ac, n_bc, ab_to_a, ac_to_a, bc_to_b):
    """Return the number of deals that give a ab_to_a tiles of class ab and ac_to_a of class ac, and b bc_to_b of class bc."""
    # a, b and c are the tiles that each seat must get from class abc.
    a = u.free_a - ab_to_a - ac_to_a
    b = u.free_b - (n_ab - ab_to_a) - bc_to_b
    c = u.free_c - (n_ac - ac_to_a) - (n_bc - bc_to_b)
    if a < 0 or b < 0 or c < 0:
        return 0
    deals = CHOOSE[n_ab, ab_to_a] * CHOOSE[n_ac, ac_to_a] * CHOOSE[n_bc, bc_to_b]
    return int(deals * CHOOSE[a + b + c, a] * CHOOSE[b + c, b])


@kernel
def n_deals(u):
    """Return the number of consistent deals: 399,072,960 at the start, 1 if all is known."""
    n_ab, n_ac, n_bc = popcount(u.ab), popcount(u.ac), popcount(u.bc)
    total = 0
    for ab_to_a in range(n_ab + 1):
        for ac_to_a in range(n_ac + 1):
            for bc_to_b in range(n_bc + 1):
                total += _deals(u, n_ab, n_ac, n_bc, ab_to_a, ac_to_a, bc_to_b)
    return total


@kernel
def count_deals(states, k, seat):
    """Return the number of deals that are consistent with this seat's observations. Call it during play only."""
    return n_deals(unseen_by(states[k], seat))


class Shares(NamedTuple):
    """The probabilities that a tile of a class is with the first of the seats that may hold it, and, for abc, with the second."""

    ab_to_a: float
    ac_to_a: float
    bc_to_b: float
    abc_to_a: float
    abc_to_b: float


@kernel
def exact_shares(u):
    """Return the probabilities if all consistent deals are equally likely; 0 for classes without tiles."""
    n_ab, n_ac, n_bc, n_abc = popcount(u.ab), popcount(u.ac), popcount(u.bc), popcount(u.abc)
    total, ab_a, ac_a, bc_b, abc_a, abc_b = 0, 0, 0, 0, 0, 0
    for ab_to_a in range(n_ab + 1):
        for ac_to_a in range(n_ac + 1):
            for bc_to_b in range(n_bc + 1):
                deals = _deals(u, n_ab, n_ac, n_bc, ab_to_a, ac_to_a, bc_to_b)
                total += deals
                ab_a += deals * ab_to_a
                ac_a += deals * ac_to_a
                bc_b += deals * bc_to_b
                abc_a += deals * (u.free_a - ab_to_a - ac_to_a)
                abc_b += deals * (u.free_b - (n_ab - ab_to_a) - bc_to_b)
    # By symmetry each tile of a class is with a seat in the mean share of that class. Totals of 0 belong to empty classes.
    return Shares(
        ab_a / max(total * n_ab, 1),
        ac_a / max(total * n_ac, 1),
        bc_b / max(total * n_bc, 1),
        abc_a / max(total * n_abc, 1),
        abc_b / max(total * n_abc, 1),
    )


@kernel
def write_marginals(s, seat, out, at):
    """Write the exact probability that each tile is with the next seat, the partner, the previous seat: 3 x 28 numbers from out[at] on."""
    for i in range(OTHERS * N_TILES):
        out[at + i] = 0.0
    u = unseen_by(s, seat)
    p = exact_shares(u)
    _spread(u.only_a, 1.0, 0.0, 0.0, out, at)
    _spread(u.only_b, 0.0, 1.0, 0.0, out, at)
    _spread(u.only_c, 0.0, 0.0, 1.0, out, at)
    _spread(u.ab, p.ab_to_a, 1.0 - p.ab_to_a, 0.0, out, at)
    _spread(u.ac, p.ac_to_a, 0.0, 1.0 - p.ac_to_a, out, at)
    _spread(u.bc, 0.0, p.bc_to_b, 1.0 - p.bc_to_b, out, at)
    _spread(u.abc, p.abc_to_a, p.abc_to_b, 1.0 - p.abc_to_a - p.abc_to_b, out, at)


@kernel
def _spread(tiles, to_a, to_b, to_c, out, at):
    """Write the same three probabilities for all these tiles."""
    for tile in range(N_TILES):
        if tiles & bit(BIT_OF_TILE[tile]) != NO_TILES:
            out[at + tile] = to_a
            out[at + N_TILES + tile] = to_b
            out[at + 2 * N_TILES + tile] = to_c


@kernel
def marginals(states, k, seat, out):
    """Write to out[i, tile] the exact probability that the tile is with the next seat (i = 0), the partner (1), the previous seat (2)."""
    write_marginals(states[k], seat, out.reshape(OTHERS * N_TILES), 0)


@kernel
def paper_table(states, k, seat, out):
    """Write the paper's estimate of marginals: in proportion to the tiles each seat has left, 0 where a pass excluded the tile."""
    s = states[k]
    unseen, are_just = unseen_tiles(s, seat), passes_may_be_just(s, seat)
    for tile in range(N_TILES):
        here = bit(BIT_OF_TILE[tile])
        total = 0
        for i in range(OTHERS):
            other = (seat + 1 + i) & 3
            possible = unseen & here & possible_tiles(s, other, are_just) != NO_TILES
            out[i, tile] = n_tiles(s.hands[other]) if possible else 0
            total += int(out[i, tile])
        for i in range(OTHERS):
            out[i, tile] /= max(total, 1)


class PaperDeals(NamedTuple):
    """A dealer that deals every unseen tile by itself, as the paper does, so that few hands have the right size."""


def paper_deals(variant: Variant) -> PaperDeals:
    """Return the paper's dealer; it is the same in all variants."""
    return PaperDeals()


@answers(deal, PaperDeals)
@kernel
def _deal_by_tiles(dealer, states, k, seat, rng):
    """Give each unseen tile to a seat that may hold it, in proportion to the tiles this seat has left. Call it during play only."""
    s = states[k]
    unseen = unseen_tiles(s, seat)
    i, j, h = (seat + 1) & 3, (seat + 2) & 3, (seat + 3) & 3
    are_just = passes_may_be_just(s, seat)
    a, b, c = unseen & possible_tiles(s, i, are_just), unseen & possible_tiles(s, j, are_just), unseen & possible_tiles(s, h, are_just)
    n_a, n_b, n_c = n_tiles(s.hands[i]), n_tiles(s.hands[j]), n_tiles(s.hands[h])
    to_a, to_b, to_c = NO_TILES, NO_TILES, NO_TILES
    while unseen != NO_TILES:
        tile = bit(lowest(unseen))
        unseen &= ~tile
        w_a = n_a if a & tile != NO_TILES else 0
        w_b = n_b if b & tile != NO_TILES else 0
        w_c = n_c if c & tile != NO_TILES else 0
        drawn = below(rng, w_a + w_b + w_c)
        if drawn < w_a:
            to_a |= tile
        elif drawn < w_a + w_b:
            to_b |= tile
        else:
            to_c |= tile
    s.hands[i] = mirrored(to_a)
    s.hands[j] = mirrored(to_b)
    s.hands[h] = mirrored(to_c)


@kernel
def resample_hidden(s, seat, rng):
    """Deal the hidden tiles anew, every consistent deal with the same probability. At the end nothing is hidden."""
    if s.stage == PLAYING:
        _deal_consistently(s, seat, rng)
    elif s.stage == DEALING:
        _deal_freely(s, seat, rng)


@kernel
def _deal_consistently(s, seat, rng):
    """Deal during play. One of all consistent deals is drawn by its number, so no draw is rejected."""
    u = unseen_by(s, seat)
    n_ab, n_ac, n_bc = popcount(u.ab), popcount(u.ac), popcount(u.bc)
    ab_to_a, ac_to_a, bc_to_b = 0, 0, 0
    if n_ab + n_ac + n_bc > 0:
        # 1. Draw the number of tiles of each two-seat class that go to the first of the two. Each triple of numbers is a block of
        # deals; `chosen` is the number of one deal, and the loop counts through the blocks, bc_to_b fastest, until it is in one.
        chosen = below(rng, n_deals(u))
        while True:
            chosen -= _deals(u, n_ab, n_ac, n_bc, ab_to_a, ac_to_a, bc_to_b)
            if chosen < 0:
                break
            bc_to_b += 1
            if bc_to_b > n_bc:
                bc_to_b = 0
                ac_to_a += 1
                if ac_to_a > n_ac:
                    ac_to_a = 0
                    ab_to_a += 1
    # 2. Draw the tiles themselves; within a block all subsets are equally likely.
    a_of_ab = _some_of(u.ab, n_ab, ab_to_a, rng)
    a_of_ac = _some_of(u.ac, n_ac, ac_to_a, rng)
    b_of_bc = _some_of(u.bc, n_bc, bc_to_b, rng)
    # The seats fill up from the class that all three may hold; c gets the rest of every class.
    n_abc = popcount(u.abc)
    to_a = u.free_a - ab_to_a - ac_to_a
    a_of_abc = _some_of(u.abc, n_abc, to_a, rng)
    b_of_abc = _some_of(u.abc & ~a_of_abc, n_abc - to_a, u.free_b - (n_ab - ab_to_a) - bc_to_b, rng)
    a = u.only_a | a_of_ab | a_of_ac | a_of_abc
    b = u.only_b | (u.ab & ~a_of_ab) | b_of_bc | b_of_abc
    c = u.only_c | (u.ac & ~a_of_ac) | (u.bc & ~b_of_bc) | (u.abc & ~a_of_abc & ~b_of_abc)
    s.hands[(seat + 1) & 3] = mirrored(a)
    s.hands[(seat + 2) & 3] = mirrored(b)
    s.hands[(seat + 3) & 3] = mirrored(c)


@kernel
def _deal_freely(s, seat, rng):
    """Deal anew during the deal. Each other seat gets the same number of tiles as it had, from those that this seat has not seen."""
    pool = ALL_TILES & ~s.hands[seat]
    for ahead in range(1, 4):
        other = (seat + ahead) & 3
        hand = _some_of(pool, popcount(pool), n_tiles(s.hands[other]), rng)
        s.hands[other] = mirrored(hand)
        pool &= ~hand
    s.undealt = NO_TILES
    while pool != NO_TILES:
        place = nth(pool, 0)
        s.undealt |= bit(TILE_OF_ACTION[place])
        pool &= ~bit(place)


@kernel
def _some_of(tiles, n, wanted, rng):
    """Return a random subset of these n tiles that has `wanted` tiles."""
    # Draw the smaller of the subset and its complement, which takes fewer random numbers.
    rest = tiles
    fewer = min(wanted, n - wanted)
    for i in range(fewer):
        rest &= ~bit(nth(rest, below(rng, n - i)))
    return tiles & ~rest if fewer == wanted else rest


@kernel
def mirrored(tiles):
    """Return the hand of these tiles. Every tile a-b gets its bit 7 * b + a too, which lies 6 * (b - a) above 7 * a + b."""
    hand = tiles
    for d in range(1, SUITS):
        hand |= (tiles & DIAGONAL[d]) << np.uint64(6 * d)
    return hand
