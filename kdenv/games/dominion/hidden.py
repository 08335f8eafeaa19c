"""Deal the cards anew that a seat of Dominion cannot know (`resample_hidden`). The option info sets what it knows.

Gains and trashings are public, so everybody knows which cards each seat owns. With info=honest an opponent's hand, its deck and
the cards it left over at clean-ups are unknown. With info=open_discard its discards are known. With info=thesis its hand is known
too, so nothing is hidden. A seat knows its own piles: they have no order.

All deals that agree with these facts are equally likely:

* Cards that were played, gained, trashed, discarded by choice or revealed are where they were seen to go.
* Cards left over are no treasures, because treasures are always played.
* A seat that reaches its buy phase with actions left, and is not asked to play one, holds no action. So it leaves none over either.
* A seat that is asked something has a choice.
* A seat that an attack is dealing with holds no reaction, because it would have shown it.

README.md lists what could be inferred beyond that.
"""

from kdenv.compiler.bits import has, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.core.verbs import DECIDE
from kdenv.games.dominion.cards import ACTION, ANY, ATTACK, DRAW_TO, KIND, OTHERS_DRAW, REACTION, TREASURE, WHAT
from kdenv.games.dominion.piles import NOTHING_HELD, hand_size, put_in_hand
from kdenv.games.dominion.progress import ASK_NODE, BUY_NODE, PUT_BACK_NODE, choices, step_in_progress
from kdenv.games.dominion.rules import BUY_PHASE, HONEST, OPEN_HANDS, phase
from kdenv.games.dominion.tables import N_SLOTS

_TRIES = 20_000  # most deals that are tried to find one with a choice and no reaction; all fail only in positions that cannot occur


@kernel
def resample_hidden(s, seat, rng):
    """Deal every opponent's unknown cards anew to its hand, its deck and its unseen discards. `seat` is the observer."""
    if s.info == OPEN_HANDS:
        return
    for other in range(int(s.players)):
        if other == seat:
            continue
        asked = phase(s) == DECIDE and s.decider == other
        attacked = is_attacked(s, other)
        # _deal knows the types of cards that each pile can hold. The last two facts are about the hand as a whole, so deals that
        # contradict them are rejected, which leaves the others equally likely.
        tries = 0
        while tries < _TRIES:
            _deal(s, other, asked, rng)
            if (not asked or _is_a_choice(s)) and not (attacked and s.held[other] & s.of_type[REACTION] != NOTHING_HELD):
                break
            tries += 1


@kernel
def is_attacked(s, seat):
    """Return whether an attack is dealing with this seat. It has shown no reaction, and since then it has drawn no card."""
    if s.victim == 0 or s.affected != seat or s.turn == seat:
        return False
    return has(s.of_type[ATTACK], int(s.run_slot[s.depth - 1])) and step_in_progress(s, WHAT) != OTHERS_DRAW


@kernel
def _is_a_choice(s):
    """Return whether the seat that decides has a choice. A seat without one is not asked, so everybody knows that it has one."""
    if s.node == ASK_NODE or s.node == BUY_NODE:
        return True
    return popcount(choices(s)) >= (2 if s.node == PUT_BACK_NODE else 1)


@kernel
def _deal(s, seat, asked, rng):
    """Gather this seat's unknown cards and deal them again. asked: this seat must decide next.

    Each group of cards is drawn from the types it can hold, and the groups with the fewest types come first. Then every way to
    draw one group leaves equally many ways to draw the rest, so that all deals are equally likely.
    """
    # 1. Count the cards of each group. Their number is public; the discards that nobody saw are plain, flipped or left over.
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
    # 2. Use the deck as the pool: all cards of this seat except those whose place is known (discarded openly, in play, aside).
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
    # Known cards on top of the deck cannot be anywhere else, so they leave the pool until step 4.
    for i in range(int(s.n_top[seat])):
        s.deck[seat, s.top[seat, i]] -= 1
    every = s.of_type[ANY]
    no_treasure = every & ~s.of_type[TREASURE]
    plain = no_treasure & ~s.of_type[ACTION]
    # A seat that buys has played all its treasures; if it was not asked to play an action, its hand is plain too.
    buying = s.turn == seat and s.stage == BUY_PHASE
    # 3. Draw the groups from the pool: first those that hold neither treasures nor actions.
    for _ in range(n_plain):
        s.discard[seat, _draw_from(s, seat, plain, rng)] += 1
    if buying and s.unasked == 1:
        for _ in range(n_hand):
            put_in_hand(s, seat, _draw_from(s, seat, plain, rng))
        n_hand = 0
    # A Library asks about an action that was just drawn to the hand.
    if asked and s.node == ASK_NODE and step_in_progress(s, WHAT) == DRAW_TO:
        s.drawn = _draw_from(s, seat, s.of_type[step_in_progress(s, KIND)], rng)
        put_in_hand(s, seat, int(s.drawn))
        n_hand -= 1
    # Leftovers of seats that were asked may be actions. The rest of the hand and what a Chancellor discarded may be anything.
    for _ in range(n_left_over):
        s.discard[seat, _draw_from(s, seat, no_treasure, rng)] += 1
    for _ in range(n_hand):
        put_in_hand(s, seat, _draw_from(s, seat, no_treasure if buying else every, rng))
    for _ in range(n_flipped):
        s.discard[seat, _draw_from(s, seat, every, rng)] += 1
    # 4. The rest of the pool is the deck. It counts the known cards on its top too.
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
