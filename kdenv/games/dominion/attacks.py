"""Steps of cards that deal with one seat after another: the attacks, and cards that let the others draw."""

from kdenv.compiler.bits import has, lowest, popcount
from kdenv.compiler.kernel import kernel
from kdenv.games.dominion.cards import (
    ATTACK,
    OTHERS_DISCARD_TO,
    OTHERS_DRAW,
    OTHERS_GAIN,
    OTHERS_PUT_BACK,
    REACTION,
    SPY,
    STEAL,
    TO_DISCARD,
)
from kdenv.games.dominion.piles import NOTHING_HELD, discard_aside, gain, hand_size, put_on_deck, slots_aside, take_from_hand
from kdenv.games.dominion.progress import (
    ASIDE,
    AT_START,
    DISCARD_NODE,
    IN_HAND,
    LOOT_NODE,
    PUT_BACK_NODE,
    STARTED,
    TAKEN,
    ask_yes_or_no,
    choices,
    end_step,
    let_choose,
    request_cards,
)
from kdenv.games.dominion.tables import N_SLOTS


@kernel
def is_protected(s, slot, seat):
    """Return whether the card is an attack and the seat holds a reaction, which is always shown."""
    return has(s.of_type[ATTACK], slot) and (s.held[seat] & s.of_type[REACTION]) != NOTHING_HELD


@kernel
def _next_victim(s, first):
    """Find the next seat in turn order that the card touches, and write it to s.affected. Returns whether there is one.

    first: 0 if the card also deals with the seat on turn, else 1.
    """
    # s.victim counts the seats passed so far, the one on turn included, so it is also the distance to the next one.
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
def run_step_for_others(s, what, number, kind):
    """Continue a step that deals with one seat after another. Returns as run_step does."""
    if what == SPY:
        return _spy(s)
    if what == STEAL:
        return _steal(s, number, kind)
    # Seats that need neither a choice nor a draw are dealt with in one pass of this loop.
    while True:
        # A seat that discards is asked until s.left is 0; then the next one is dealt with.
        if s.sub == STARTED:
            if s.left > 0:
                return let_choose(s, int(s.affected), DISCARD_NODE, 1)
            s.sub = AT_START
        if not _next_victim(s, 1):
            return end_step(s)
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
            if let_choose(s, seat, PUT_BACK_NODE, 2):
                return True
            held = choices(s)  # one kind is put back without a question
            if held != NOTHING_HELD:
                put_back(s, seat, lowest(held))


@kernel
def put_back(s, seat, slot):
    take_from_hand(s, seat, slot)
    put_on_deck(s, seat, slot)


@kernel
def _spy(s):
    """Have each seat in turn reveal a card. The seat on turn decides whether it is discarded."""
    # STARTED: a card was requested. It lies aside now, unless the seat had none.
    if s.sub == STARTED:
        s.sub = AT_START
        if slots_aside(s) != NOTHING_HELD:
            return ask_yes_or_no(s)
    if not _next_victim(s, 0):
        return end_step(s)
    request_cards(s, int(s.affected), 1, ASIDE)
    s.sub = STARTED
    return False


@kernel
def _steal(s, number, kind):
    """Have each other seat reveal cards and lose a treasure among them. Then the seat on turn may gain what was trashed."""
    # 1. A seat has revealed its cards: one treasure is trashed, chosen by the seat on turn if there are two kinds.
    if s.sub == STARTED:
        treasures = slots_aside(s) & s.of_type[kind]
        if popcount(treasures) > 1:
            s.node = LOOT_NODE
            s.decider = s.turn
            return True
        if treasures != NOTHING_HELD:
            trash_revealed(s, lowest(treasures))
        discard_aside(s, int(s.affected))
        s.sub = AT_START
    # 2. The next seat reveals its cards.
    if s.sub == AT_START and _next_victim(s, 1):
        request_cards(s, int(s.affected), number, ASIDE)
        s.sub = STARTED
        return False
    # 3. All have trashed. s.loot is what this card trashed; the seat on turn is asked about each card of it, in order of slots.
    s.sub = TAKEN
    while s.last < N_SLOTS:
        if s.loot[s.last] > 0:
            return ask_yes_or_no(s)
        s.last += 1
    return end_step(s)


@kernel
def trash_revealed(s, slot):
    s.aside[slot] -= 1
    s.owned[s.affected, slot] -= 1
    s.trash[slot] += 1
    s.loot[slot] += 1
