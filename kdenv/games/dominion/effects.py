"""Carry out the steps of cards: `run_step` up to the next choice or draw, and `answer` for a choice.

A kernel cannot wait for a choice in the middle, so a step is a small state machine. It runs until it asks a seat or requests cards,
and then runs again; s.sub is its progress. The registers of a step and the cards that may be chosen are in progress.py, the steps that
deal with one seat after another in attacks.py. Nothing here checks legality.
"""

from kdenv.compiler.bits import bit, has, lowest
from kdenv.compiler.kernel import kernel
from kdenv.games.dominion.attacks import put_back, run_step_for_others, trash_revealed
from kdenv.games.dominion.cards import (
    DIG,
    DISCARD,
    DRAW_AS_MANY,
    DRAW_TO,
    GAIN,
    GAIN_CARD,
    GAIN_FOR_TRASHED,
    HOW,
    KIND,
    MAY,
    MAY_DISCARD_DECK,
    N_STEPS,
    NOTHING,
    NUMBER,
    OTHERS_GAIN,
    PLAY_TWICE,
    SPY,
    STEAL,
    TO_DISCARD,
    TRASH,
    TRASH_FOR_COINS,
    TRASH_THIS,
    WHAT,
)
from kdenv.games.dominion.piles import (
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
from kdenv.games.dominion.progress import (
    AGAIN_NODE,
    ASIDE,
    AT_START,
    DISCARD_NODE,
    FIRST_ACTION,
    GAIN_NODE,
    IN_HAND,
    LOOT_NODE,
    MAX_DEPTH,
    NO_SLOT,
    NOT_TRASHED,
    PUT_BACK_NODE,
    STARTED,
    TAKEN,
    TRASH_NODE,
    WATCHING,
    ask_yes_or_no,
    end_step,
    let_choose,
    request_cards,
    step_in_progress,
)
from kdenv.games.dominion.tables import END, N_SLOTS, YES


@kernel
def play_card(s, slot, times):
    """Play a card from hand; `times` is the number of plays in all."""
    take_from_hand(s, int(s.turn), slot)
    s.play[slot] += 1
    s.laid |= bit(slot)
    # A card without steps is done at once, unless a Throne Room plays it: then the stack must count its plays.
    if s.steps[slot, 0, WHAT] != NOTHING or times > 1:
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
    """Continue the step in progress. Returns whether a seat must now choose (s.node, s.decider). If not, call it again."""
    d = int(s.depth) - 1
    slot = int(s.run_slot[d])
    step = int(s.run_step[d])
    # A card's steps come before its empty places, so the first NOTHING means that all are done.
    what = int(s.steps[slot, step, WHAT]) if step < N_STEPS else NOTHING
    if what == NOTHING:
        _end_card(s, d, slot)
        return False
    number = int(s.steps[slot, step, NUMBER])
    kind = int(s.steps[slot, step, KIND])
    how = int(s.steps[slot, step, HOW])
    # 1. Steps that may ask. One with nothing to choose from lapses: let_choose returns False, and the step ends.
    if what in (TRASH, DISCARD):
        return _choose_from_hand(s, what, number, kind, how)
    if what in (GAIN, GAIN_FOR_TRASHED):
        if what == GAIN_FOR_TRASHED and s.memory == NOT_TRASHED:
            return end_step(s)
        return let_choose(s, int(s.turn), GAIN_NODE, 1) or end_step(s)
    if what >= OTHERS_GAIN and what <= STEAL:
        return run_step_for_others(s, what, number, kind)
    if what == PLAY_TWICE:
        # Legal play never fills the stack. In a state that does, the card finds nothing to play.
        return (s.depth < MAX_DEPTH and let_choose(s, int(s.turn), AGAIN_NODE, 1)) or end_step(s)
    # 2. Steps that draw card by card, because each card decides what happens next.
    if what == DRAW_TO:
        return _draw_to(s, number, kind)
    if what == DIG:
        return _dig(s, number, kind)
    if what == MAY_DISCARD_DECK:
        if s.n_deck[s.turn] > 0:
            return ask_yes_or_no(s)
    # 3. Steps without a choice. They are done at once; cards they request are drawn before the next step runs.
    elif what == DRAW_AS_MANY:
        request_cards(s, int(s.turn), number * int(s.memory), IN_HAND)
    elif what == GAIN_CARD:
        if s.supply[number] > 0:
            gain(s, int(s.turn), number, how)
    elif what == TRASH_THIS:
        if s.run_play[d] == 0:  # "Trash this card" can be done once only, even if the card is played twice
            s.play[slot] -= 1
            if s.play[slot] == 0:
                s.laid &= ~bit(slot)
            s.owned[s.turn, slot] -= 1
            s.trash[slot] += 1
    elif what == TRASH_FOR_COINS and s.hand[s.turn, number] > 0:
        trash_from_hand(s, int(s.turn), number)
        s.coins += how
    return end_step(s)


@kernel
def _end_card(s, d, slot):
    """Play the card again if a Throne Room asks for it, else take it off the stack. Its last step must be done."""
    s.run_play[d] += 1
    s.memory = 0
    if s.run_play[d] < s.run_plays[d]:
        s.run_step[d] = 0
        _give_numbers(s, slot)
    else:
        s.depth -= 1


@kernel
def _choose_from_hand(s, what, number, kind, how):
    """Have the seat on turn discard or trash cards from hand one at a time, in ascending order of slots."""
    if s.sub == AT_START:
        s.sub = STARTED
        s.memory = 0 if what == DISCARD else NOT_TRASHED
        s.left = number
        # A forced choice is of no more cards than there are. With MAY the step also ends when no slot is left to choose.
        if how != MAY:
            s.left = min(number, _n_in_hand(s, int(s.turn), kind))
    if s.left > 0 and let_choose(s, int(s.turn), DISCARD_NODE if what == DISCARD else TRASH_NODE, 1):
        return True
    return end_step(s)


@kernel
def _n_in_hand(s, seat, kind):
    """Return how many cards of a type the seat has in hand."""
    n = 0
    for slot in range(N_SLOTS):
        if has(s.of_type[kind], slot):
            n += int(s.hand[seat, slot])
    return n


@kernel
def _draw_to(s, number, kind):
    """Draw card by card until enough are in hand. For each card of the type ask whether to set it aside."""
    # WATCHING: a card was requested. TAKEN: it is asked about, and answer() clears s.drawn, so the next run draws again.
    if s.sub == WATCHING:
        if s.drawn == NO_SLOT:  # nothing was left to draw
            discard_aside(s, int(s.turn))
            return end_step(s)
        if has(s.of_type[kind], int(s.drawn)):
            s.sub = TAKEN
            return ask_yes_or_no(s)
    s.drawn = NO_SLOT
    if hand_size(s, int(s.turn)) >= number:
        discard_aside(s, int(s.turn))
        return end_step(s)
    request_cards(s, int(s.turn), 1, IN_HAND)
    s.sub = WATCHING
    return False


@kernel
def _dig(s, number, kind):
    """Reveal card by card until enough of the type have come. These go to the hand, and the rest is discarded."""
    # s.left counts the cards still wanted. It becomes 0 when no card is left to reveal.
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
    # Revealed cards lie aside until the end, so a shuffle on the way leaves them out.
    for slot in range(N_SLOTS):
        while s.aside[slot] > 0 and has(s.of_type[kind], slot):
            s.aside[slot] -= 1
            put_in_hand(s, int(s.turn), slot)
    discard_aside(s, int(s.turn))
    return end_step(s)


@kernel
def answer(s, action):
    """Carry out the choice a card asked for. The step that asked continues in run_step, or is ended here."""
    node = int(s.node)
    seat = int(s.decider)
    slot = action - FIRST_ACTION[node]
    if action == END:
        s.left = 0
    # s.last and s.left make several cards be chosen in ascending order of slots (progress.choices).
    elif node == TRASH_NODE:
        trash_from_hand(s, seat, slot)
        s.memory = s.cost[slot]  # for GAIN_FOR_TRASHED
        s.last = slot
        s.left -= 1
    elif node == GAIN_NODE:
        gain(s, seat, slot, step_in_progress(s, HOW))
        end_step(s)
    elif node == DISCARD_NODE:
        take_from_hand(s, seat, slot)
        discard_openly(s, seat, slot)
        s.memory += 1  # for DRAW_AS_MANY
        s.last = slot
        s.left -= 1
    elif node == AGAIN_NODE:
        times = step_in_progress(s, NUMBER)
        end_step(s)  # before the card played is put on the stack and its first step is the one in progress
        play_card(s, slot, times)
    elif node == PUT_BACK_NODE:
        put_back(s, seat, slot)
    elif node == LOOT_NODE:
        trash_revealed(s, slot)
        discard_aside(s, int(s.affected))
        s.sub = AT_START
    else:
        _answer_question(s, action == YES)


@kernel
def _answer_question(s, yes):
    """Carry out a yes or no to what the step in progress asks."""
    what = step_in_progress(s, WHAT)
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
        end_step(s)
