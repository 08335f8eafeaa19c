"""Kernels that move cards between supply, hand, deck, discards, play and trash.

Every pile is a multiset, a count per slot. A deck has no order until a card is drawn from it, except for the few known
cards on its top (s.top, the topmost last). `open` counts the cards of a discard pile that all seats have seen; only the
owner knows the rest of it. The slots that have cards are also kept as bits where rules need them often (s.held, s.laid, s.stocked).
"""

import numpy as np

from kdenv.compiler.bits import ONE, bit, lowest
from kdenv.compiler.kernel import kernel
from kdenv.games.dominion.cards import TO_DECK, TO_HAND, TREASURE
from kdenv.games.dominion.tables import N_SLOTS

NOTHING_HELD = np.uint64(0)
N_TOPS = 32  # most known cards on top of a deck; those that lie deeper are forgotten


@kernel
def put_in_hand(s, seat, slot):
    """Put a card into the hand of a seat."""
    s.hand[seat, slot] += 1
    s.held[seat] |= bit(slot)


@kernel
def take_from_hand(s, seat, slot):
    """Take a card from the hand of a seat, which must hold it."""
    s.hand[seat, slot] -= 1
    if s.hand[seat, slot] == 0:
        s.held[seat] &= ~bit(slot)


@kernel
def hand_size(s, seat):
    """Return the number of cards that a seat has in hand."""
    n = 0
    for slot in range(N_SLOTS):
        n += int(s.hand[seat, slot])
    return n


@kernel
def discard_openly(s, seat, slot):
    """Put a card onto the discard pile of a seat. Everybody sees it."""
    s.discard[seat, slot] += 1
    s.open[seat, slot] += 1


@kernel
def put_on_deck(s, seat, slot):
    """Put a card on top of the deck of a seat. Everybody sees it, so it is known to lie there."""
    s.deck[seat, slot] += 1
    s.n_deck[seat] += 1
    if s.n_top[seat] == N_TOPS:  # forget the lowest one
        for i in range(N_TOPS - 1):
            s.top[seat, i] = s.top[seat, i + 1]
        s.n_top[seat] -= 1
    s.top[seat, s.n_top[seat]] = slot
    s.n_top[seat] += 1


@kernel
def own(s, seat, slot, where):
    """Give a seat a card that was taken from the supply or the trash. where: TO_DISCARD, TO_HAND or TO_DECK."""
    s.owned[seat, slot] += 1
    if where == TO_HAND:
        put_in_hand(s, seat, slot)
    elif where == TO_DECK:
        put_on_deck(s, seat, slot)
    else:
        discard_openly(s, seat, slot)


@kernel
def gain(s, seat, slot, where):
    """Have a seat gain a card. Its pile must not be empty, which is not checked."""
    s.supply[slot] -= 1
    if s.supply[slot] == 0:
        s.stocked &= ~bit(slot)
        s.n_empty += 1
    own(s, seat, slot, where)


@kernel
def trash_from_hand(s, seat, slot):
    """Trash a card from the hand of a seat."""
    take_from_hand(s, seat, slot)
    s.owned[seat, slot] -= 1
    s.trash[slot] += 1


@kernel
def shuffle(s, seat):
    """Make the discards the deck, which must be empty. Returns whether there were any."""
    n = 0
    for slot in range(N_SLOTS):
        n += int(s.discard[seat, slot])
        s.deck[seat, slot] = s.discard[seat, slot]
        s.discard[seat, slot] = 0
        s.open[seat, slot] = 0
    s.n_deck[seat] = n
    s.flipped[seat] = 0
    s.plain[seat] = 0
    return n > 0


@kernel
def discard_deck(s, seat):
    """Put the deck into the discard pile. Nobody sees its cards, except those known to be on its top."""
    for slot in range(N_SLOTS):
        s.discard[seat, slot] += s.deck[seat, slot]
        s.deck[seat, slot] = 0
    for i in range(int(s.n_top[seat])):
        s.open[seat, s.top[seat, i]] += 1
    s.flipped[seat] += int(s.n_deck[seat]) - int(s.n_top[seat])
    s.n_deck[seat] = 0
    s.n_top[seat] = 0


@kernel
def play_treasures(s, seat):
    """Play all treasures that a seat has in hand."""
    treasures = s.held[seat] & s.of_type[TREASURE]
    s.held[seat] &= ~treasures
    s.laid |= treasures
    while treasures != NOTHING_HELD:
        slot = lowest(treasures)
        treasures &= treasures - ONE
        s.coins += int(s.hand[seat, slot]) * int(s.coins_of[slot])
        s.play[slot] += s.hand[seat, slot]
        s.hand[seat, slot] = 0


@kernel
def clean_up(s, seat):
    """Discard the cards in play, which all have seen, and those left in hand, which only their owner sees."""
    left_over = 0
    slots = s.laid | s.held[seat]
    while slots != NOTHING_HELD:
        slot = lowest(slots)
        slots &= slots - ONE
        left_over += int(s.hand[seat, slot])
        s.open[seat, slot] += s.play[slot]
        s.discard[seat, slot] += s.play[slot] + s.hand[seat, slot]
        s.play[slot] = 0
        s.hand[seat, slot] = 0
    s.laid = NOTHING_HELD
    s.held[seat] = NOTHING_HELD
    if s.unasked == 1:
        s.plain[seat] += left_over


@kernel
def discard_aside(s, seat):
    """Discard all cards that a seat has revealed or set aside."""
    for slot in range(N_SLOTS):
        s.discard[seat, slot] += s.aside[slot]
        s.open[seat, slot] += s.aside[slot]
        s.aside[slot] = 0


@kernel
def slots_aside(s):
    """Return the slots of the cards revealed or set aside, as bits."""
    slots = NOTHING_HELD
    for slot in range(N_SLOTS):
        if s.aside[slot] > 0:
            slots |= bit(slot)
    return slots


@kernel
def points_of(s, seat):
    """Return the points of all cards that a seat has ("Gardens: worth 1 for every 10 cards in your deck, rounded down")."""
    n = 0
    points = 0
    for slot in range(N_SLOTS):
        owned = int(s.owned[seat, slot])
        n += owned
        points += owned * int(s.points[slot])
    for slot in range(N_SLOTS):
        if s.per_ten[slot] != 0:
            points += int(s.owned[seat, slot]) * int(s.per_ten[slot]) * (n // 10)
    return points
