"""`resample_hidden` of Dominion: deal the cards anew that a seat cannot know. What it knows depends on the option info.

Everybody knows by memory all the cards that each seat owns, because all see gains and trashings. With info=honest an
opponent's hand, its deck and the cards it left over at clean-ups are unknown. With info=open_discard its discards are known.
With info=thesis its hand is known too, so nothing is hidden. A seat knows its own piles: they have no order.

All deals are equally likely that agree with what the rules tell by the course of the game: what was played, gained, discarded
or revealed; cards left over are no treasures, because treasures are always played; a seat with actions left that comes to its buy
phase without being asked to play one holds no action, so it leaves none over either; a seat that is asked something has a choice;
and a seat that an attack is dealing with holds no reaction, because it would have shown it. README.md lists what is left out.
"""

from kdenv.compiler.bits import has, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.verbs import DECIDE
from kdenv.games.dominion.cards import ACTION, ANY, ATTACK, DRAW_TO, OTHERS_DRAW, REACTION, TREASURE
from kdenv.games.dominion.piles import NOTHING_HELD, hand_size, put_in_hand
from kdenv.games.dominion.progress import ASK_NODE, BUY_NODE, PUT_BACK_NODE, choices, step_in_progress
from kdenv.games.dominion.rules import BUY_PHASE, HONEST, OPEN_HANDS, phase
from kdenv.games.dominion.tables import N_SLOTS

_TRIES = 20_000  # most deals that are tried until one agrees with what is asked; they all fail only in positions that cannot occur


@kernel
def resample_hidden(s, seat, rng):
    """Deal every opponent's unknown cards anew to its hand, its deck and its unseen discards. `seat` is the one that looks."""
    if s.info == OPEN_HANDS:
        return
    for other in range(int(s.players)):
        if other == seat:
            continue
        asked = phase(s) == DECIDE and s.decider == other
        attacked = is_attacked(s, other)
        tries = 0
        while tries < _TRIES:
            _deal(s, other, asked, rng)
            if (not asked or _is_a_choice(s)) and not (attacked and s.held[other] & s.of_type[REACTION] != NOTHING_HELD):
                break
            tries += 1


@kernel
def is_attacked(s, seat):
    """Return whether an attack is dealing with this seat, which has shown no reaction, and its hand has only become smaller since then."""
    if s.victim == 0 or s.affected != seat or s.turn == seat:
        return False
    return has(s.of_type[ATTACK], int(s.run_slot[s.depth - 1])) and step_in_progress(s, 0) != OTHERS_DRAW


@kernel
def _is_a_choice(s):
    """Return whether the seat that decides has a choice at all. If it had none it would not be asked, so everybody knows it has one."""
    if s.node == ASK_NODE or s.node == BUY_NODE:
        return True
    return popcount(choices(s)) >= (2 if s.node == PUT_BACK_NODE else 1)


@kernel
def _deal(s, seat, asked, rng):
    """Gather this seat's unknown cards and deal them again.

    Each group of cards is drawn from the types it can hold. The groups with the fewest types come first. Then every way to
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
    # 1. Lay out the pool in the deck: all cards of this seat except those whose place is known.
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
    # 2. Draw what each pile gets from the pool. The deck keeps the rest.
    every = s.of_type[ANY]
    no_treasure = every & ~s.of_type[TREASURE]
    plain = no_treasure & ~s.of_type[ACTION]
    buying = s.turn == seat and s.stage == BUY_PHASE
    for _ in range(n_plain):
        s.discard[seat, _draw_from(s, seat, plain, rng)] += 1
    if buying and s.unasked == 1:
        for _ in range(n_hand):
            put_in_hand(s, seat, _draw_from(s, seat, plain, rng))
        n_hand = 0
    if asked and s.node == ASK_NODE and step_in_progress(s, 0) == DRAW_TO:
        s.drawn = _draw_from(s, seat, s.of_type[step_in_progress(s, 2)], rng)
        put_in_hand(s, seat, int(s.drawn))
        n_hand -= 1
    for _ in range(n_left_over):
        s.discard[seat, _draw_from(s, seat, no_treasure, rng)] += 1
    for _ in range(n_hand):
        put_in_hand(s, seat, _draw_from(s, seat, no_treasure if buying else every, rng))
    for _ in range(n_flipped):
        s.discard[seat, _draw_from(s, seat, every, rng)] += 1
    # 3. Put the known cards back on top of the deck, which counts them too.
    for i in range(int(s.n_top[seat])):
        s.deck[seat, s.top[seat, i]] += 1


@kernel
def _draw_from(s, seat, slots, rng):
    """Take a random card of these slots from the pool in the deck, or any card if there are none. Returns its slot."""
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
    """Take the first card that is in the pool. This is only reached in positions that cannot occur."""
    for slot in range(N_SLOTS):
        if s.deck[seat, slot] > 0:
            s.deck[seat, slot] -= 1
            return slot
    return 0
