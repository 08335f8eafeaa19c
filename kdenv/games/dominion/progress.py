"""The step in progress: its registers, the next choice, and the slots that may be chosen.

The cards being played are a small stack (a Throne Room and the card it plays); s.depth is their number. The step of the topmost
card is in progress. It has these registers:

* sub: how far the step is.
* memory: the number of cards discarded, or the cost of the card trashed.
* left: the number of cards still to be chosen.
* last: the slot chosen last.
* victim: the number of seats passed on the way round the table, the one on turn included.
* affected: the seat that the card deals with.
* drawn: the slot just drawn.

Nothing here checks legality.
"""

import numpy as np

from kdenv.compiler.bits import ONE, bit, has, popcount
from kdenv.compiler.kernel import kernel
from kdenv.games.dominion.cards import ACTION, GAIN_FOR_TRASHED, HOW, KIND, MAX_COST, MAY, NUMBER, WHAT
from kdenv.games.dominion.piles import NOTHING_HELD, slots_aside
from kdenv.games.dominion.tables import (
    BUY_FIRST,
    DISCARD_FIRST,
    END,
    GAIN_FIRST,
    N_KINGDOM_PILE,
    N_SLOTS,
    N_VICTORY,
    PLAY_FIRST,
    PUT_BACK_FIRST,
    TRASH_FIRST,
    YES,
)

# What happens next (s.node): the end, a card drawn, or a choice. All choices come after DRAW_NODE (rules.phase).
OVER_NODE, DRAW_NODE, PLAY_NODE, BUY_NODE, AGAIN_NODE, TRASH_NODE, GAIN_NODE, DISCARD_NODE, PUT_BACK_NODE, LOOT_NODE, ASK_NODE = range(11)
# The action about slot 0, by node.
FIRST_ACTION = np.array(
    [END, END, PLAY_FIRST, BUY_FIRST, PLAY_FIRST, TRASH_FIRST, GAIN_FIRST, DISCARD_FIRST, PUT_BACK_FIRST, TRASH_FIRST, YES], np.int64
)
FIRST_ACTION.flags.writeable = False

IN_HAND, ASIDE = 0, 1  # where drawn cards go (s.draw_to)

# How far a step is (s.sub). WATCHING: a card was requested that the step looks at. The uses of the others are in effects.py and attacks.py.
AT_START, STARTED, TAKEN, WATCHING = range(4)
NOT_TRASHED = -1  # s.memory while no card has been trashed
NO_SLOT = -1  # in place of a slot
# The most cards being played at once: all Throne Rooms of the game, each of which plays the next one, and a card that the last one plays.
# A kingdom has one kind of such cards (cards.kingdom_rows): ten of them, or twelve if they are victory cards too. A card is in play once.
MAX_DEPTH = max(N_KINGDOM_PILE, *N_VICTORY) + 1


@kernel
def request_cards(s, seat, n, where):
    """Have the seat draw n cards to its hand or aside before anything else happens."""
    s.draw_seat = seat
    s.draw_left = n
    s.draw_to = where


@kernel
def end_step(s):
    """End the step in progress and clear its registers for the next one. Returns False: nobody has to choose."""
    s.run_step[s.depth - 1] += 1
    s.sub = AT_START
    s.victim = 0
    s.affected = 0
    s.left = 0
    s.last = 0
    s.drawn = NO_SLOT
    return False


@kernel
def let_choose(s, seat, node, least):
    """Ask the seat to choose at this node. Returns whether there are at least this many slots to choose from; if not, nobody is asked."""
    s.node = node
    s.decider = seat
    return popcount(choices(s)) >= least


@kernel
def ask_yes_or_no(s):
    """Ask the seat on turn yes or no."""
    s.node = ASK_NODE
    s.decider = s.turn
    return True


@kernel
def step_in_progress(s, part):
    """Return one part of the step in progress: WHAT, NUMBER, KIND or HOW."""
    d = int(s.depth) - 1
    return int(s.steps[s.run_slot[d], s.run_step[d], part])


@kernel
def may_decline(s):
    """Return whether the choice at this node can be declined or stopped with END."""
    if s.node == PLAY_NODE or s.node == BUY_NODE:
        return True
    if s.node == TRASH_NODE or s.node == DISCARD_NODE:
        return step_in_progress(s, HOW) == MAY
    return False


@kernel
def for_sale(s, coins):
    """Return the piles that can be bought from with this number of coins, as bits."""
    return s.stocked & s.up_to[min(coins, MAX_COST)] & s.offered


@kernel
def choices(s):
    """Return the slots that may be chosen at this node, as bits."""
    node = int(s.node)
    seat = int(s.decider)
    if node in (PLAY_NODE, AGAIN_NODE):
        return s.held[seat] & s.of_type[ACTION]
    if node == BUY_NODE:
        return for_sale(s, int(s.coins))
    if node == GAIN_NODE:  # a Curse is offered only if nothing else is there, or with the option curses
        limit = step_in_progress(s, NUMBER)
        if step_in_progress(s, WHAT) == GAIN_FOR_TRASHED:
            limit += int(s.memory)
        piles = s.stocked & s.up_to[max(0, min(limit, MAX_COST))] & s.of_type[step_in_progress(s, KIND)]
        return piles & s.offered if piles & s.offered != NOTHING_HELD else piles
    if node == LOOT_NODE:
        return slots_aside(s) & s.of_type[step_in_progress(s, KIND)]
    slots = s.held[seat] & s.of_type[step_in_progress(s, KIND)]
    if node == PUT_BACK_NODE:
        return slots
    # Several cards are chosen in ascending order of slots, so that a set of cards is chosen in one way only.
    slots &= ~(bit(int(s.last)) - ONE)
    if s.left > 1 and not may_decline(s):
        return slots & _far_enough_down(s, seat, slots)
    return slots


@kernel
def _far_enough_down(s, seat, slots):
    """Return, as bits, the slots from which upwards at least s.left cards lie; after a higher one too few would be left."""
    slot = N_SLOTS - 1
    n = 0
    while slot > 0:
        if has(slots, slot):
            n += int(s.hand[seat, slot])
            if n >= s.left:
                break
        slot -= 1
    return (bit(slot) << ONE) - ONE
