"""`resample_hidden` of Dominion: what a seat cannot know is drawn anew from what it can, for each of the three kinds of information.

Everybody knows by memory all the cards that each player owns: gains and trashings are seen by all. With info=honest an
opponent's hand, its deck and the cards it left over at clean-ups are unknown. With info=open_discard its discards are known.
With info=thesis its hand is known too, so that nothing is hidden. One's own piles are known: they have no order.

The draw has the odds that every card is as likely in one place as in another, given what the rules tell by the course of the
game: what was played, gained, discarded or revealed; that cards left over are no treasures, because those are always played; that
a seat that buys although it could have played an action holds none, and so does not leave one over, unless it was asked and
declined; and that a seat that is asked something has a choice. README.md lists what is left out.
"""

from kdenv.compiler.bits import bit, has, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.verbs import DECIDE
from kdenv.games.dominion.cards import ACTION, ANY, DRAW_TO, TREASURE
from kdenv.games.dominion.effects import ASK_NODE, BUY_NODE, PUT_BACK_NODE, choices, step_in_progress
from kdenv.games.dominion.piles import NOTHING_HELD, hand_size
from kdenv.games.dominion.rules import BUY_PHASE, HONEST, OPEN_HANDS, phase
from kdenv.games.dominion.tables import N_SLOTS

_TRIES = 20_000  # deals tried until the seat that is asked has a choice; so many fail only in positions that cannot occur


@kernel
def resample_hidden(s, seat, rng):
    """Deal every opponent's unknown cards anew to its hand, its deck and its unseen discards."""
    if s.info == OPEN_HANDS:
        return
    for other in range(int(s.players)):
        if other == seat:
            continue
        asked = phase(s) == DECIDE and s.decider == other
        tries = 0
        while tries < _TRIES:
            _deal(s, other, asked, rng)
            if not asked or _is_a_choice(s):
                break
            tries += 1


@kernel
def _is_a_choice(s):
    """Whether the seat that decides has a choice at all: otherwise nobody would wait for it, as everybody can tell."""
    if s.node == ASK_NODE or s.node == BUY_NODE:
        return True
    return popcount(choices(s)) >= (2 if s.node == PUT_BACK_NODE else 1)


@kernel
def _deal(s, seat, asked, rng):
    """Gather this seat's unknown cards and deal them again.

    Each group of cards is drawn from the types it can hold. The groups with the fewest types come first: then every way to
    draw one of them leaves equally many ways to draw the rest, so that all deals are equally likely.
    """
    n_hand = hand_size(s, seat)
    n_plain = 0
    n_left_over = 0
    n_flipped = 0
    if s.info == HONEST:
        n_plain = int(s.plain[seat])
        n_flipped = int(s.flipped[seat])
        n_left_over = -n_flipped - n_plain
        for slot in range(N_SLOTS):
            n_left_over += int(s.discard[seat, slot]) - int(s.open[seat, slot])
    # 1. The pool, laid out in the deck: all cards of this seat except those that lie open.
    for slot in range(N_SLOTS):
        if s.info == HONEST:
            s.discard[seat, slot] = s.open[seat, slot]
        pool = int(s.owned[seat, slot]) - int(s.discard[seat, slot])
        if s.turn == seat:
            pool -= int(s.play[slot])
        if s.draw_seat == seat:
            pool -= int(s.aside[slot])
        s.deck[seat, slot] = pool
        s.hand[seat, slot] = 0
    s.held[seat] = NOTHING_HELD
    for i in range(int(s.n_top[seat])):
        s.deck[seat, s.top[seat, i]] -= 1
    # 2. What each pile gets from it; the deck keeps the rest.
    every = s.of_type[ANY]
    no_treasure = every & ~s.of_type[TREASURE]
    plain = no_treasure & ~s.of_type[ACTION]
    buying = s.turn == seat and s.stage == BUY_PHASE
    for _ in range(n_plain):
        s.discard[seat, _draw_from(s, seat, plain, rng)] += 1
    if buying and s.unasked == 1:
        for _ in range(n_hand):
            _to_hand(s, seat, _draw_from(s, seat, plain, rng))
        n_hand = 0
    if asked and s.node == ASK_NODE and step_in_progress(s, 0) == DRAW_TO:
        s.drawn = _draw_from(s, seat, s.of_type[step_in_progress(s, 2)], rng)
        _to_hand(s, seat, int(s.drawn))
        n_hand -= 1
    for _ in range(n_left_over):
        s.discard[seat, _draw_from(s, seat, no_treasure, rng)] += 1
    for _ in range(n_hand):
        _to_hand(s, seat, _draw_from(s, seat, no_treasure if buying else every, rng))
    for _ in range(n_flipped):
        s.discard[seat, _draw_from(s, seat, every, rng)] += 1
    # 3. The known cards on top of the deck are part of it.
    for i in range(int(s.n_top[seat])):
        s.deck[seat, s.top[seat, i]] += 1


@kernel
def _to_hand(s, seat, slot):
    s.hand[seat, slot] += 1
    s.held[seat] |= bit(slot)


@kernel
def _draw_from(s, seat, slots, rng):
    """Take a random card of these slots from the pool in the deck. Any card if there are none of these."""
    n = 0
    for slot in range(N_SLOTS):
        if has(slots, slot):
            n += int(s.deck[seat, slot])
    if n == 0:
        return _any_card(s, seat)
    card = below(rng, n)
    for slot in range(N_SLOTS):
        if has(slots, slot):
            card -= int(s.deck[seat, slot])
            if card < 0:
                s.deck[seat, slot] -= 1
                return slot
    return 0


@kernel
def _any_card(s, seat):
    """The first card there is in the pool; only reached in positions that cannot occur."""
    for slot in range(N_SLOTS):
        if s.deck[seat, slot] > 0:
            s.deck[seat, slot] -= 1
            return slot
    return 0
