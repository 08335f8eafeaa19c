"""Every deal that agrees with a player's observations in this round, written out.

For late positions: with all 21 other tiles unseen there are 399,072,960. This is the oracle for the counting that
`resample_hidden` and the exact marginals rest on. A history is the turns of the round so far, `Dominoes.history`:
(seat, action) from the opening on. A deal is a dict from each of the other three seats to the tiles it holds now.

The observations: the player's own hand, every tile laid, and every pass. A pass shows that no tile then in that hand
fitted the ends of that moment. So neither the tiles still there nor those laid later have these pips. With
`calls` a pass may be unjust. It is believed to be just: it claims that none of these pips is in the hand, which stands
until the player lays a tile with one of them. If no deal agrees with all such claims, passes show nothing.
Who had to lead shows one thing more: where the holder of 6-6 leads, the leader has or had
it. That is no news once the tile is laid, but it is before the opening and, with `force_66=False`, until then.
"""

from fractions import Fraction
from itertools import combinations

from .dominoes import DOUBLE_SIX, HAND_SIZE, PASS, TILES, fits, tile_of


def ends_before_each_turn(history):
    """The ends of the line as each player found them; None before the opening."""
    found, ends = [], None
    for _, action in history:
        found.append(ends)
        if action < PASS:
            ends = ends_after(ends, action)
    return found


def ends_after(ends, action):
    """The ends of the line after a play."""
    covered, exposed = divmod(action, 7)
    if ends is None:
        return covered, exposed
    stays = ends[1] if ends[0] == covered else ends[0]
    return stays, exposed


def laid_by(history, seat):
    """The tiles this seat has laid, in order."""
    return [tile_of(action) for player, action in history if player == seat and action < PASS]


def unseen(history, hand):
    """The tiles that are neither on the table nor in the player's hand."""
    laid = {tile_of(action) for _, action in history if action < PASS}
    return [tile for tile in TILES if tile not in laid and tile not in hand]


def passes_are_just(history, seat, hand):
    """If this is what `seat` holds now, did nothing it held fit whenever it passed?"""
    held = set(hand)
    for (player, action), ends in reversed(list(zip(history, ends_before_each_turn(history), strict=True))):
        if player != seat:
            continue
        if action == PASS and any(fits(tile, ends) for tile in held):
            return False
        if action < PASS:
            held.add(tile_of(action))
    return True


def claims(history, seat):
    """With calls: the pips that this player has passed on and not laid since."""
    claimed = set()
    for (player, action), ends in zip(history, ends_before_each_turn(history), strict=True):
        if player == seat and action == PASS and ends is not None:
            claimed |= set(ends)
        elif player == seat and action < PASS:
            claimed -= set(divmod(action, 7))
    return claimed


def consistent_deals(history, seat, hand, calls=False, holder_of_66=None):
    """Every deal of the unseen tiles that `seat`, who holds `hand` now, believes possible."""
    found = list(_deals(history, seat, hand, calls, holder_of_66, believed=True))
    return found or list(_deals(history, seat, hand, calls, holder_of_66, believed=not calls))


def _deals(history, seat, hand, calls, holder_of_66, *, believed):
    """The deals with the passes believed, or as if they showed nothing.

    `holder_of_66` is `Dominoes.known_holder_of_66()`: the seat that leads because it was dealt the 6-6, or None.
    """
    others = [(seat + k) % 4 for k in (1, 2, 3)]
    first, second, third = others

    def is_believed(player, tiles):
        if calls:
            return not claims(history, player) & {pips for tile in tiles for pips in tile}
        return passes_are_just(history, player, tiles)

    def possible(player, tiles):
        return (not believed or is_believed(player, tiles)) and (
            player != holder_of_66 or DOUBLE_SIX in {*tiles, *laid_by(history, player)}
        )

    n_first, n_second, n_third = (HAND_SIZE - len(laid_by(history, player)) for player in others)
    tiles = unseen(history, hand)
    if len(tiles) != n_first + n_second + n_third:
        raise ValueError(f"{len(tiles)} tiles are unseen, but the others hold {n_first}, {n_second} and {n_third}")
    for of_first in filter(lambda choice: possible(first, choice), combinations(tiles, n_first)):
        rest = [tile for tile in tiles if tile not in of_first]
        for of_second in filter(lambda choice: possible(second, choice), combinations(rest, n_second)):
            of_third = [tile for tile in rest if tile not in of_second]
            if possible(third, of_third):
                yield {first: frozenset(of_first), second: frozenset(of_second), third: frozenset(of_third)}


def count(history, seat, hand, calls=False, holder_of_66=None):
    """The number of consistent deals."""
    return sum(1 for _ in consistent_deals(history, seat, hand, calls, holder_of_66))


def marginals(history, seat, hand, calls=False, holder_of_66=None):
    """The probability of each unseen tile in each seat's hand, if consistent deals are equally likely: {tile: [Fraction] * 4}."""
    tiles = unseen(history, hand)
    times = {tile: [0, 0, 0, 0] for tile in tiles}
    n_deals = 0
    for deal in consistent_deals(history, seat, hand, calls, holder_of_66):
        n_deals += 1
        for player, held in deal.items():
            for tile in held:
                times[tile][player] += 1
    if not n_deals:
        raise ValueError(f"no deal explains {history} to seat {seat} holding {sorted(hand)}")
    return {tile: [Fraction(n, n_deals) for n in times[tile]] for tile in tiles}
