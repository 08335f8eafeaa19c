"""What cards do: `run_step` carries out the steps of any card up to the next choice or draw, and `answer` carries out a choice.

The cards being played are a small stack (a Throne Room and what it plays), and s.depth says how many there are. The step of
the topmost card is in progress. Its registers are `sub` (how far it is), `memory` (how many cards were discarded, or what the
card trashed costs), `left` (how many cards are still to be chosen), `last` (the slot chosen last), `victim` (how many seats have
been passed on the way round the table, the one on turn included), `affected` (the seat that is being dealt with) and `drawn` (the
slot just drawn). Nothing here checks legality.
"""

import numpy as np

from kdenv.compiler.bits import bit, has, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.games.dominion.cards import (
    ACTION,
    ATTACK,
    DIG,
    DISCARD,
    DRAW_AS_MANY,
    DRAW_TO,
    GAIN,
    GAIN_CARD,
    GAIN_FOR_TRASHED,
    MAX_COST,
    MAY,
    MAY_DISCARD_DECK,
    N_STEPS,
    NOTHING,
    OTHERS_DISCARD_TO,
    OTHERS_DRAW,
    OTHERS_GAIN,
    OTHERS_PUT_BACK,
    PLAY_TWICE,
    REACTION,
    SPY,
    STEAL,
    TO_DISCARD,
    TRASH,
    TRASH_FOR_COINS,
    TRASH_THIS,
)
from kdenv.games.dominion.piles import (
    NOTHING_HELD,
    ONE,
    discard_aside,
    discard_deck,
    discard_openly,
    gain,
    hand_size,
    own,
    put_in_hand,
    put_on_deck,
    slots_aside,
    take_from_hand,
    trash_from_hand,
)
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

# How far a step is (s.sub).
AT_START, STARTED, TAKEN, WATCHING = range(4)
NOT_TRASHED = -1  # s.memory while no card has been trashed
NO_SLOT = -1
# Most cards being played at once: all Throne Rooms of the game, each of which plays the next one, and a card that the last one plays.
# A kingdom has one kind of such cards (cards.kingdom_rows): ten of them, or twelve if they are victory cards too. A card is in play once.
MAX_DEPTH = max(N_KINGDOM_PILE, *N_VICTORY) + 1


@kernel
def request_cards(s, seat, n, where):
    """Have the seat draw n cards to its hand or aside before anything else happens."""
    s.draw_seat = seat
    s.draw_left = n
    s.draw_to = where


@kernel
def play_card(s, slot, times):
    """Play a card from hand so many times."""
    take_from_hand(s, int(s.turn), slot)
    s.play[slot] += 1
    s.laid |= bit(slot)
    if s.steps[slot, 0, 0] != NOTHING or times > 1:
        d = int(s.depth)
        s.run_slot[d] = slot
        s.run_step[d] = 0
        s.run_play[d] = 0
        s.run_plays[d] = times
        s.depth += 1
    _give_numbers(s, slot)


@kernel
def _give_numbers(s, slot):
    """Give the printed +actions, +buys, +coins and +cards of a card."""
    s.actions += int(s.actions_of[slot])
    s.buys += int(s.buys_of[slot])
    s.coins += int(s.coins_of[slot])
    if s.cards_of[slot] > 0:
        request_cards(s, int(s.turn), int(s.cards_of[slot]), IN_HAND)


@kernel
def run_step(s):
    """Go on with the step in progress. Returns whether a seat must now choose (s.node, s.decider). If not, call it again."""
    d = int(s.depth) - 1
    slot = int(s.run_slot[d])
    step = int(s.run_step[d])
    what = int(s.steps[slot, step, 0]) if step < N_STEPS else NOTHING
    if what == NOTHING:
        _end_card(s, d, slot)
        return False
    number = int(s.steps[slot, step, 1])
    kind = int(s.steps[slot, step, 2])
    how = int(s.steps[slot, step, 3])
    if what in (TRASH, DISCARD):
        return _choose_from_hand(s, what, number, kind, how)
    if what in (GAIN, GAIN_FOR_TRASHED):
        if what == GAIN_FOR_TRASHED and s.memory == NOT_TRASHED:
            return _end_step(s)
        return _choose(s, int(s.turn), GAIN_NODE, 1) or _end_step(s)
    if what >= OTHERS_GAIN and what <= STEAL:
        return _run_step_for_others(s, what, number, kind)
    if what == PLAY_TWICE:
        # Legal play never has so many cards in progress; if a state has, the card finds nothing to play.
        return (s.depth < MAX_DEPTH and _choose(s, int(s.turn), AGAIN_NODE, 1)) or _end_step(s)
    if what == DRAW_TO:
        return _draw_to(s, number, kind)
    if what == DIG:
        return _dig(s, number, kind)
    if what == MAY_DISCARD_DECK:
        if s.n_deck[s.turn] > 0:
            return _ask(s)
    elif what == DRAW_AS_MANY:
        request_cards(s, int(s.turn), number * int(s.memory), IN_HAND)
    elif what == GAIN_CARD:
        if s.supply[number] > 0:
            gain(s, int(s.turn), number, how)
    elif what == TRASH_THIS:
        if s.run_play[d] == 0:
            s.play[slot] -= 1
            if s.play[slot] == 0:
                s.laid &= ~bit(slot)
            s.owned[s.turn, slot] -= 1
            s.trash[slot] += 1
    elif what == TRASH_FOR_COINS and s.hand[s.turn, number] > 0:
        trash_from_hand(s, int(s.turn), number)
        s.coins += how
    return _end_step(s)


@kernel
def _end_step(s):
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
def _end_card(s, d, slot):
    """Play the card once more if it is to be, else take it off the stack. Its last step is done."""
    s.run_play[d] += 1
    s.memory = 0
    if s.run_play[d] < s.run_plays[d]:
        s.run_step[d] = 0
        _give_numbers(s, slot)
    else:
        s.depth -= 1


@kernel
def _choose(s, seat, node, least):
    """Ask the seat to choose at this node. Returns whether there are at least so many slots to choose from; if not, nobody is asked."""
    s.node = node
    s.decider = seat
    return popcount(choices(s)) >= least


@kernel
def _ask(s):
    """Ask the seat on turn yes or no."""
    s.node = ASK_NODE
    s.decider = s.turn
    return True


@kernel
def _choose_from_hand(s, what, number, kind, how):
    """Have the seat on turn discard or trash cards from hand one at a time, in ascending order of slots."""
    if s.sub == AT_START:
        s.sub = STARTED
        s.memory = 0 if what == DISCARD else NOT_TRASHED
        s.left = number
        if how != MAY:
            s.left = min(number, _n_in_hand(s, int(s.turn), kind))
    if s.left > 0 and _choose(s, int(s.turn), DISCARD_NODE if what == DISCARD else TRASH_NODE, 1):
        return True
    return _end_step(s)


@kernel
def _n_in_hand(s, seat, kind):
    """Return how many cards of a type the seat has in hand."""
    n = 0
    for slot in range(N_SLOTS):
        if has(s.of_type[kind], slot):
            n += int(s.hand[seat, slot])
    return n


@kernel
def is_protected(s, slot, seat):
    """Return whether the card is an attack and the seat holds a reaction, which is always shown."""
    return has(s.of_type[ATTACK], slot) and (s.held[seat] & s.of_type[REACTION]) != NOTHING_HELD


@kernel
def _next_victim(s, first):
    """Go to the next seat in turn order that the card touches; with first = 0 the seat on turn is one. Returns whether there is one."""
    if s.victim < first:
        s.victim = first
    while s.victim < s.players:
        seat = (int(s.turn) + int(s.victim)) % int(s.players)
        s.victim += 1
        if seat == s.turn or not is_protected(s, int(s.run_slot[s.depth - 1]), seat):
            s.affected = seat
            return True
    return False


@kernel
def _run_step_for_others(s, what, number, kind):
    """Go on with a step that deals with one seat after another. Returns as run_step does."""
    if what == SPY:
        return _spy(s)
    if what == STEAL:
        return _steal(s, number, kind)
    while True:
        if s.sub == STARTED:
            if s.left > 0:
                return _choose(s, int(s.affected), DISCARD_NODE, 1)
            s.sub = AT_START
        if not _next_victim(s, 1):
            return _end_step(s)
        seat = int(s.affected)
        if what == OTHERS_GAIN:
            if s.supply[number] > 0:
                gain(s, seat, number, TO_DISCARD)
        elif what == OTHERS_DRAW:
            request_cards(s, seat, number, IN_HAND)
            return False
        elif what == OTHERS_DISCARD_TO:
            s.sub = STARTED
            s.left = max(0, hand_size(s, seat) - number)
            s.last = 0
        elif what == OTHERS_PUT_BACK:
            if _choose(s, seat, PUT_BACK_NODE, 2):
                return True
            held = choices(s)
            if held != NOTHING_HELD:
                _put_back(s, seat, lowest(held))


@kernel
def _put_back(s, seat, slot):
    take_from_hand(s, seat, slot)
    put_on_deck(s, seat, slot)


@kernel
def _spy(s):
    """Have each seat in turn reveal a card. The seat on turn says whether it is discarded."""
    if s.sub == STARTED:
        s.sub = AT_START
        if slots_aside(s) != NOTHING_HELD:
            return _ask(s)
    if not _next_victim(s, 0):
        return _end_step(s)
    request_cards(s, int(s.affected), 1, ASIDE)
    s.sub = STARTED
    return False


@kernel
def _steal(s, number, kind):
    """Have each other seat reveal cards and lose a treasure among them. Then the seat on turn may gain what was trashed."""
    if s.sub == STARTED:
        treasures = slots_aside(s) & s.of_type[kind]
        if popcount(treasures) > 1:
            s.node = LOOT_NODE
            s.decider = s.turn
            return True
        if treasures != NOTHING_HELD:
            _trash_revealed(s, lowest(treasures))
        discard_aside(s, int(s.affected))
        s.sub = AT_START
    if s.sub == AT_START and _next_victim(s, 1):
        request_cards(s, int(s.affected), number, ASIDE)
        s.sub = STARTED
        return False
    s.sub = TAKEN
    while s.last < N_SLOTS:
        if s.loot[s.last] > 0:
            return _ask(s)
        s.last += 1
    return _end_step(s)


@kernel
def _trash_revealed(s, slot):
    s.aside[slot] -= 1
    s.owned[s.affected, slot] -= 1
    s.trash[slot] += 1
    s.loot[slot] += 1


@kernel
def _draw_to(s, number, kind):
    """Draw card by card until enough are in hand. For each card of the type ask whether to set it aside."""
    if s.sub == WATCHING:
        if s.drawn == NO_SLOT:  # nothing was left to draw
            discard_aside(s, int(s.turn))
            return _end_step(s)
        if has(s.of_type[kind], int(s.drawn)):
            s.sub = TAKEN
            return _ask(s)
    s.drawn = NO_SLOT
    if hand_size(s, int(s.turn)) >= number:
        discard_aside(s, int(s.turn))
        return _end_step(s)
    request_cards(s, int(s.turn), 1, IN_HAND)
    s.sub = WATCHING
    return False


@kernel
def _dig(s, number, kind):
    """Reveal card by card until enough of the type have come. These go to the hand, and the rest is discarded."""
    if s.sub == AT_START:
        s.left = number
    elif s.drawn == NO_SLOT:
        s.left = 0
    elif has(s.of_type[kind], int(s.drawn)):
        s.left -= 1
    if s.left > 0:
        s.drawn = NO_SLOT
        request_cards(s, int(s.turn), 1, ASIDE)
        s.sub = WATCHING
        return False
    for slot in range(N_SLOTS):
        while s.aside[slot] > 0 and has(s.of_type[kind], slot):
            s.aside[slot] -= 1
            put_in_hand(s, int(s.turn), slot)
    discard_aside(s, int(s.turn))
    return _end_step(s)


# Choices


@kernel
def step_in_progress(s, part):
    """Return one part of the step in progress: 0 is what, 1 the number, 2 the type, 3 how."""
    d = int(s.depth) - 1
    return int(s.steps[s.run_slot[d], s.run_step[d], part])


@kernel
def may_decline(s):
    """Return whether the choice at this node can be declined or stopped with END."""
    if s.node == PLAY_NODE or s.node == BUY_NODE:
        return True
    if s.node == TRASH_NODE or s.node == DISCARD_NODE:
        return step_in_progress(s, 3) == MAY
    return False


@kernel
def for_sale(s, coins):
    """Return the piles that one may buy from with so many coins, as bits."""
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
    if node == GAIN_NODE:
        limit = step_in_progress(s, 1)
        if step_in_progress(s, 0) == GAIN_FOR_TRASHED:
            limit += int(s.memory)
        piles = s.stocked & s.up_to[max(0, min(limit, MAX_COST))] & s.of_type[step_in_progress(s, 2)]
        return piles & s.offered if piles & s.offered != NOTHING_HELD else piles
    if node == LOOT_NODE:
        return slots_aside(s) & s.of_type[step_in_progress(s, 2)]
    slots = s.held[seat] & s.of_type[step_in_progress(s, 2)]
    if node == PUT_BACK_NODE:
        return slots
    slots &= ~(bit(int(s.last)) - ONE)
    if s.left > 1 and not may_decline(s):
        return slots & _far_enough_down(s, seat, slots)
    return slots


@kernel
def _far_enough_down(s, seat, slots):
    """Return, as bits, the slots from which upwards at least s.left cards lie. After a higher one too few would be left to choose."""
    slot = N_SLOTS - 1
    n = 0
    while slot > 0:
        if has(slots, slot):
            n += int(s.hand[seat, slot])
            if n >= s.left:
                break
        slot -= 1
    return (bit(slot) << ONE) - ONE


@kernel
def answer(s, action):
    """Carry out the choice a card asked for."""
    node = int(s.node)
    seat = int(s.decider)
    slot = action - FIRST_ACTION[node]
    if action == END:
        s.left = 0
    elif node == TRASH_NODE:
        trash_from_hand(s, seat, slot)
        s.memory = s.cost[slot]
        s.last = slot
        s.left -= 1
    elif node == GAIN_NODE:
        gain(s, seat, slot, step_in_progress(s, 3))
        _end_step(s)
    elif node == DISCARD_NODE:
        take_from_hand(s, seat, slot)
        discard_openly(s, seat, slot)
        s.memory += 1
        s.last = slot
        s.left -= 1
    elif node == AGAIN_NODE:
        times = step_in_progress(s, 1)
        _end_step(s)
        play_card(s, slot, times)
    elif node == PUT_BACK_NODE:
        _put_back(s, seat, slot)
    elif node == LOOT_NODE:
        _trash_revealed(s, slot)
        discard_aside(s, int(s.affected))
        s.sub = AT_START
    else:
        _answer_question(s, action == YES)


@kernel
def _answer_question(s, yes):
    """Carry out a yes or no to what the step in progress asks."""
    what = step_in_progress(s, 0)
    turn = int(s.turn)
    if what == SPY:
        if yes:
            discard_aside(s, int(s.affected))
        else:
            slot = lowest(slots_aside(s))
            s.aside[slot] = 0
            put_on_deck(s, int(s.affected), slot)
    elif what == STEAL:
        if yes:
            s.trash[s.last] -= 1
            s.loot[s.last] -= 1
            own(s, turn, int(s.last), TO_DISCARD)
        else:
            s.loot[s.last] = 0
    elif what == DRAW_TO:
        if yes:
            take_from_hand(s, turn, int(s.drawn))
            s.aside[s.drawn] += 1
        s.drawn = NO_SLOT
    else:
        if yes:
            discard_deck(s, turn)
        _end_step(s)
