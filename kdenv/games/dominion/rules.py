"""The rules of Dominion as kernels: the state and the verbs. README.md beside this file has the rules in words.

Chance draws a card: the outcome is its slot. All else is decided, one card at a time. effects.py carries out the steps of cards, and
cards.py is the table of cards. The cards of a kingdom are copied into the state, so rules and machine code are the same for every
kingdom. Nothing here checks legality: tables and environments do.
"""

import numpy as np

from kdenv.compiler.bits import ONE, bit, has, lowest
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below
from kdenv.compiler.state import state_dtype, wipe
from kdenv.core.verbs import CHANCE, DECIDE, OVER
from kdenv.games.dominion.cards import (
    ACTION,
    BASIC_ROWS,
    MAX_COST,
    N_PARTS,
    N_STEPS,
    N_TYPES,
    NO_CARD,
    ROW,
    ROW_ACTIONS,
    ROW_BUYS,
    ROW_CARD,
    ROW_CARDS,
    ROW_COINS,
    ROW_COST,
    ROW_PER_TEN,
    ROW_POINTS,
    ROW_STEPS,
    ROW_TYPES,
    TO_DISCARD,
    VICTORY,
)
from kdenv.games.dominion.effects import answer, play_card, run_step
from kdenv.games.dominion.piles import N_TOPS, NOTHING_HELD, clean_up, gain, play_treasures, points_of, shuffle
from kdenv.games.dominion.progress import (
    ASK_NODE,
    BUY_NODE,
    DRAW_NODE,
    FIRST_ACTION,
    IN_HAND,
    MAX_DEPTH,
    NO_SLOT,
    OVER_NODE,
    PLAY_NODE,
    WATCHING,
    choices,
    may_decline,
    request_cards,
)
from kdenv.games.dominion.tables import (
    BUY_FIRST,
    COPPER,
    COPPERS_EACH,
    CURSE,
    DUCHY,
    EMPTY_PILES_TO_END,
    END,
    ESTATE,
    GOLD,
    HAND_SIZE,
    N_BASIC,
    N_COPPERS,
    N_CURSES_EACH,
    N_GOLDS,
    N_KINGDOM_PILE,
    N_SILVERS,
    N_SLOTS,
    N_VICTORY,
    NO,
    PLAY_FIRST,
    PROVINCE,
    SILVER,
    START_COPPERS,
    START_ESTATES,
    THESIS_TREASURES,
    YES,
)

# The stages of a turn, and the opening hands before the first one (s.stage).
OPENING, ACTION_PHASE, BUY_PHASE, CLEAN_UP = range(4)

# The variant, as begin() receives it.
V_SUPPLY, V_CURSES, V_MAX_TURNS, V_INFO, V_SEED, V_KINGDOM = range(6)
STANDARD, THESIS = 0, 1  # values of V_SUPPLY
HONEST, OPEN_DISCARD, OPEN_HANDS = 0, 1, 2  # values of V_INFO

# Wide fields first, so that few bytes are lost between them.
STATE = state_dtype(
    # The cards of this game. They never change.
    ("of_type", np.uint64, N_TYPES),  # the slots of each type as bits
    ("up_to", np.uint64, MAX_COST + 1),  # by cost, the slots that cost at most that
    ("offered", np.uint64),  # the slots one may buy or gain by choice
    # Which slots have cards, as bits.
    ("held", np.uint64, 4),  # in the hand of each seat
    ("laid", np.uint64),  # in play
    ("stocked", np.uint64),  # in the supply
    # Numbers.
    ("card", np.int16, N_SLOTS),  # by slot, the number in the table of cards, or NO_CARD; never changes
    ("max_turns", np.int16),  # never changes
    ("n_deck", np.int16, 4),
    ("flipped", np.int16, 4),  # unseen discards that came from the deck (Chancellor)
    ("plain", np.int16, 4),  # other unseen discards, known to be no actions: their owner had actions left but was not asked to play
    ("turns", np.int16, 4),  # turns that each seat has begun
    ("actions", np.int16),
    ("buys", np.int16),
    ("coins", np.int16),
    ("draw_left", np.int16),  # cards still to be drawn
    ("left", np.int16),  # a register of the step in progress (see progress.py); so is memory
    ("memory", np.int16),
    # The cards by slot. They never change.
    ("cost", np.int8, N_SLOTS),
    ("cards_of", np.int8, N_SLOTS),
    ("actions_of", np.int8, N_SLOTS),
    ("buys_of", np.int8, N_SLOTS),
    ("coins_of", np.int8, N_SLOTS),
    ("points", np.int8, N_SLOTS),
    ("per_ten", np.int8, N_SLOTS),
    ("steps", np.int8, (N_SLOTS, N_STEPS, N_PARTS)),
    # Piles, as counts by slot.
    ("supply", np.int8, N_SLOTS),
    ("trash", np.int8, N_SLOTS),
    ("play", np.int8, N_SLOTS),  # what the player on turn has in play
    ("aside", np.int8, N_SLOTS),  # revealed or set aside, by draw_seat
    ("loot", np.int8, N_SLOTS),  # the part of the trash that a Thief may still gain
    ("hand", np.int8, (4, N_SLOTS)),
    ("deck", np.int8, (4, N_SLOTS)),
    ("discard", np.int8, (4, N_SLOTS)),
    ("open", np.int8, (4, N_SLOTS)),  # the part of the discards that all have seen
    ("owned", np.int8, (4, N_SLOTS)),  # all cards of a seat
    ("top", np.int8, (4, N_TOPS)),  # known cards on top of the deck, the topmost last; deck counts them too
    ("n_top", np.int8, 4),
    ("n_empty", np.int8),  # piles that have run out
    # The turn.
    ("turn", np.int8),  # the seat whose turn it is
    ("stage", np.int8),
    ("node", np.int8),  # what happens next (see progress.py)
    ("decider", np.int8),
    ("draw_seat", np.int8),
    ("draw_to", np.int8),
    ("is_truncated", np.int8),
    ("unasked", np.int8),  # 1 if the seat on turn had actions left when its buy phase began, but no action card in hand
    # The cards being played, and the step in progress (see progress.py).
    ("depth", np.int8),
    ("run_slot", np.int8, MAX_DEPTH),
    ("run_step", np.int8, MAX_DEPTH),
    ("run_play", np.int8, MAX_DEPTH),
    ("run_plays", np.int8, MAX_DEPTH),
    ("sub", np.int8),
    ("victim", np.int8),
    ("affected", np.int8),
    ("last", np.int8),
    ("drawn", np.int8),
    # These never change.
    ("players", np.int8),
    ("info", np.int8),
)


@kernel
def begin(s, players, variant):
    """Lay out the supply and give every seat a deck of 7 Copper and 3 Estate. The opening hands are drawn next."""
    wipe(s)
    s.players = players
    s.info = variant[V_INFO]
    s.max_turns = variant[V_MAX_TURNS]
    _print_cards(s, variant)
    s.offered = ~bit(CURSE) if variant[V_CURSES] == 0 else ~NOTHING_HELD
    _lay_out(s, players, variant[V_SUPPLY])
    for seat in range(players):
        s.n_deck[seat] = START_COPPERS + START_ESTATES
        s.deck[seat, COPPER] = START_COPPERS
        s.deck[seat, ESTATE] = START_ESTATES
        s.owned[seat, COPPER] = START_COPPERS
        s.owned[seat, ESTATE] = START_ESTATES
    s.drawn = NO_SLOT
    s.stage = OPENING
    s.node = DRAW_NODE
    request_cards(s, 0, HAND_SIZE, IN_HAND)


@kernel
def _print_cards(s, variant):
    """Copy the rows of the cards into the state."""
    for slot in range(N_SLOTS):
        if slot < N_BASIC:
            _print_card(s, slot, BASIC_ROWS, slot * ROW)
        else:
            _print_card(s, slot, variant, V_KINGDOM + (slot - N_BASIC) * ROW)


@kernel
def _print_card(s, slot, rows, at):
    s.card[slot] = rows[at + ROW_CARD]
    s.cost[slot] = rows[at + ROW_COST]
    s.cards_of[slot] = rows[at + ROW_CARDS]
    s.actions_of[slot] = rows[at + ROW_ACTIONS]
    s.buys_of[slot] = rows[at + ROW_BUYS]
    s.coins_of[slot] = rows[at + ROW_COINS]
    s.points[slot] = rows[at + ROW_POINTS]
    s.per_ten[slot] = rows[at + ROW_PER_TEN]
    for step in range(N_STEPS):
        for part in range(N_PARTS):
            s.steps[slot, step, part] = rows[at + ROW_STEPS + N_PARTS * step + part]
    for kind in range(N_TYPES):
        if (rows[at + ROW_TYPES] >> kind) & 1:
            s.of_type[kind] |= bit(slot)
    if s.card[slot] != NO_CARD:
        for coins in range(int(s.cost[slot]), MAX_COST + 1):
            s.up_to[coins] |= bit(slot)


@kernel
def _lay_out(s, players, supply):
    """Fill the piles of the supply."""
    for slot in range(N_BASIC, N_SLOTS):
        if s.card[slot] != NO_CARD:
            s.supply[slot] = N_VICTORY[players] if has(s.of_type[VICTORY], slot) else N_KINGDOM_PILE
    for slot in (ESTATE, DUCHY, PROVINCE):
        s.supply[slot] = N_VICTORY[players]
    s.supply[CURSE] = N_CURSES_EACH * (players - 1)
    if supply == THESIS:
        s.supply[COPPER], s.supply[SILVER], s.supply[GOLD] = THESIS_TREASURES
    else:
        s.supply[COPPER] = N_COPPERS - COPPERS_EACH * players
        s.supply[SILVER] = N_SILVERS
        s.supply[GOLD] = N_GOLDS
    for slot in range(N_SLOTS):
        if s.supply[slot] > 0:
            s.stocked |= bit(slot)


@kernel
def phase(s):
    """Return CHANCE while a card is drawn, OVER at the end, and DECIDE for all else."""
    if s.node > DRAW_NODE:
        return DECIDE
    return CHANCE if s.node == DRAW_NODE else OVER


@kernel
def seat(s):
    """Return the seat that decides: the one on turn, or one that its card touches."""
    return int(s.decider)


@kernel
def legal(s, out):
    """Write the choices as actions in ascending order, END first where one may decline. Returns how many there are."""
    if s.node == ASK_NODE:
        out[0] = YES
        out[1] = NO
        return 2
    slots = choices(s)
    n = 0
    if may_decline(s) or slots == NOTHING_HELD:
        out[0] = END
        n = 1
    first = FIRST_ACTION[s.node]
    while slots != NOTHING_HELD:
        out[n] = first + lowest(slots)
        slots &= slots - ONE
        n += 1
    return n


@kernel
def apply(s, action):
    """Play or buy a card, or answer what a card asks. Then advance to the next choice or draw."""
    if s.node == BUY_NODE:
        if action == END:
            s.buys = 0
        else:
            slot = action - BUY_FIRST
            s.coins -= int(s.cost[slot])
            s.buys -= 1
            gain(s, int(s.turn), slot, TO_DISCARD)
    elif s.node != PLAY_NODE:
        answer(s, action)
    elif action == END:
        _begin_buying(s)
    else:
        s.actions -= 1
        play_card(s, action - PLAY_FIRST, 1)
    _go_on(s)


@kernel
def _go_on(s):
    """Advance until a card is to be drawn, a seat must choose, or the game is over; s.node holds which."""
    while True:
        # 1. Cards requested before are drawn before anything else. Only a card that is not known makes a chance node.
        if s.draw_left > 0:
            seat = int(s.draw_seat)
            if s.n_top[seat] > 0:
                _take(s, seat, int(s.top[seat, s.n_top[seat] - 1]))
                continue
            if s.n_deck[seat] > 0 or shuffle(s, seat):
                s.node = DRAW_NODE
                return
            s.draw_left = 0  # deck and discards are empty: the rest of the draw lapses
        # 2. The card being played continues with its step, or the turn with its next part.
        if s.depth > 0:
            if run_step(s):
                return
        elif _next_part(s):
            return


@kernel
def _next_part(s):
    """Begin the next part of the turn, or the next turn. Returns whether a choice or the end has been reached.

    It is called when nothing is left to draw and no card is being played.
    """
    if s.stage == BUY_PHASE:
        if s.buys > 0:
            s.node = BUY_NODE
            s.decider = s.turn
            return True
        return _end_turn(s)
    # The draw that ends a turn, or the opening, is complete.
    if s.stage == CLEAN_UP:
        _begin_turn(s, (int(s.turn) + 1) % int(s.players))
    elif s.stage == OPENING:
        if s.draw_seat + 1 < s.players:
            request_cards(s, int(s.draw_seat) + 1, HAND_SIZE, IN_HAND)
            return False
        _begin_turn(s, 0)
    # The action phase lasts while an action can be played. That a seat was not asked although it had actions left shows its hand
    # to be free of actions (hidden.py).
    if s.actions > 0 and s.held[s.turn] & s.of_type[ACTION] != NOTHING_HELD:
        s.node = PLAY_NODE
        s.decider = s.turn
        return True
    s.unasked = 1 if s.actions > 0 else 0
    _begin_buying(s)
    return False


@kernel
def _begin_turn(s, seat):
    s.turn = seat
    s.turns[seat] += 1
    s.stage = ACTION_PHASE
    s.actions = 1
    s.buys = 1
    s.coins = 0


@kernel
def _begin_buying(s):
    s.stage = BUY_PHASE
    play_treasures(s, int(s.turn))


@kernel
def _end_turn(s):
    """Clean up. Then the game is over, or five cards are drawn. Returns whether it is over."""
    seat = int(s.turn)
    clean_up(s, seat)
    s.unasked = 0
    s.stage = CLEAN_UP
    if s.supply[PROVINCE] == 0 or s.n_empty >= EMPTY_PILES_TO_END:
        s.node = OVER_NODE
        return True
    if s.turns[seat] >= s.max_turns and seat == s.players - 1:
        s.is_truncated = 1
        s.node = OVER_NODE
        return True
    request_cards(s, seat, HAND_SIZE, IN_HAND)
    return False


@kernel
def chances(s, out, weights):
    """Write the slots of the deck and how many cards each has. A card known to be on top is drawn without a chance node."""
    seat = int(s.draw_seat)
    n = 0
    for slot in range(N_SLOTS):
        if s.deck[seat, slot] > 0:
            out[n] = slot
            weights[n] = s.deck[seat, slot]
            n += 1
    return n


@kernel
def sample_chance(s, rng):
    """Return the slot of a random card of the deck."""
    seat = int(s.draw_seat)
    card = below(rng, int(s.n_deck[seat]))
    slot = 0
    for other in range(N_SLOTS - 1):  # counting through all slots without a branch is faster than stopping at the right one
        card -= int(s.deck[seat, other])
        slot += card >= 0
    return slot


@kernel
def apply_chance(s, outcome):
    """Draw a card of this slot. If the draw is complete or the deck is empty, advance to the next choice or draw."""
    # Otherwise the next card comes from the same deck by chance too, because a known card on top would have been drawn before.
    _take(s, int(s.draw_seat), outcome)
    if s.draw_left == 0 or s.n_deck[s.draw_seat] == 0:
        _go_on(s)


@kernel
def _take(s, seat, slot):
    """Move a card from the deck to the hand or aside (s.draw_to)."""
    s.deck[seat, slot] -= 1
    s.n_deck[seat] -= 1
    if s.n_top[seat] > 0:
        s.n_top[seat] -= 1
        s.top[seat, s.n_top[seat]] = 0
    if s.draw_to == IN_HAND:
        s.hand[seat, slot] += 1
        s.held[seat] |= bit(slot)
    else:
        s.aside[slot] += 1
    s.draw_left -= 1
    if s.sub == WATCHING:  # the step in progress looks at each card
        s.drawn = slot


@kernel
def witnesses(s):
    """Return who sees the card drawn: its owner (as a bit) if it goes to the hand, all seats (-1) if it is revealed."""
    if s.draw_to != IN_HAND or s.info == OPEN_HANDS:
        return -1
    return 1 << int(s.draw_seat)


@kernel
def progress(s):
    """Return the share of what ends the game that has come about: Provinces sold, or piles that have run out."""
    if s.node == OVER_NODE:
        return 1.0
    provinces = 1.0 - s.supply[PROVINCE] / N_VICTORY[int(s.players)]
    return max(provinces, min(int(s.n_empty), EMPTY_PILES_TO_END) / EMPTY_PILES_TO_END)


@kernel
def scores(s, out):
    """Write the points of all cards of each seat."""
    for seat in range(int(s.players)):
        out[seat] = points_of(s, seat)


@kernel
def standings(s, out):
    """Write numbers that rank the seats by points, then by the fewest turns."""
    for seat in range(int(s.players)):
        out[seat] = points_of(s, seat) * 65536 - int(s.turns[seat])


@kernel
def truncated(states, k):
    """Return whether the limit of turns, and not the rules, ended the game."""
    return states[k].is_truncated != 0
