"""The observations of Dominion: the encodings `piles` and `counts`. Seats are relative: the observer comes first.

There are 17 slots: seven basic piles, then the kingdom by cost and name. The features of each slot's card are part of the
vector of `piles`, so that one network can play any kingdom. `counts` is for networks of one kingdom: it leaves the features out
and adds the riches of each deck. `layout` and `layout_of_counts` list the parts.

There are more columns for kinds of steps than there are kinds (cards.py), so that a card with a new kind of step takes a free column.
The vector keeps its size and its version. A model trained earlier still plays, but has never seen that column.
"""

from collections.abc import Mapping
from typing import Any

from kdenv.compiler.bits import has
from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import Encoding, Part, clear
from kdenv.core.verbs import DECIDE
from kdenv.games.dominion.cards import DRAW_TO, N_STEP_KINDS, N_STEPS, N_TYPES, NO_CARD, SPY, STEAL, WHAT
from kdenv.games.dominion.piles import hand_size, points_of
from kdenv.games.dominion.progress import ASK_NODE, BUY_NODE, PLAY_NODE, for_sale, step_in_progress
from kdenv.games.dominion.rules import HONEST, OPEN_HANDS, phase
from kdenv.games.dominion.tables import EMPTY_PILES_TO_END, N_SLOTS

STEP_COLUMNS = 32  # for kinds of steps, "no step" included; with more columns the encoding needs a new version
assert N_STEP_KINDS <= STEP_COLUMNS, "no column of the encoding is left for a new kind of step: add columns and raise its version"
N_FEATURES = 8 + (N_TYPES - 1) + 1 + STEP_COLUMNS
N_NODES = 11
N_SIZES = 5
N_NUMBERS = 6
N_RICHES = 3


def layout(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of the vector by name, in their order."""
    slots, by_seat = (N_SLOTS,), (players, N_SLOTS)
    return {
        "cards": Part(
            (N_SLOTS, N_FEATURES),
            "the card of each slot: 1 if there is one; cost / 8, +cards / 4, +actions / 2, +buys, +coins / 3, points / 6, points per ten "
            "cards; 1 for each of its types (treasure, victory, curse, action, attack, reaction); 1 if it may be bought now; 1 if it has "
            f"fewer than {N_STEPS} steps; 1 for each kind of step it takes, in the order of cards.py ({STEP_COLUMNS - N_STEP_KINDS} of the "
            f"{STEP_COLUMNS - 1} columns are free)",
        ),
        "supply": Part(slots, "cards left in the pile / 10"),
        "trash": Part(slots, "cards in the trash / 10"),
        "play": Part(slots, "cards in play / 5"),
        "aside": Part(slots, "cards revealed or set aside / 5"),
        "owned": Part(by_seat, "all cards of the seat / 10"),
        "hand": Part(by_seat, "its hand / 5, as far as the observer knows it (its own; with info=thesis all)"),
        "deck": Part(by_seat, "its deck / 10, likewise"),
        "discard": Part(by_seat, "its discards / 10: its own; of others what all have seen, or all of them unless info=honest"),
        "top": Part(by_seat, "1 for the card everybody knows to lie on top of its deck"),
        "sizes": Part((players, N_SIZES), "cards in hand / 5, in the deck / 10, in the discards / 10; turns begun / 50; points / 50"),
        "turn": Part((players,), "1 for the seat whose turn it is"),
        "to_move": Part((players,), "1 for the seat that decides; all 0 at a chance node and at the end"),
        "node": Part((N_NODES,), "what is asked: over, draw, play, buy, play again, trash, gain, discard, put back, steal, yes or no"),
        "asked_about": Part(slots, "the card a yes or no is about, where the observer sees it"),
        "source": Part(slots, "the card that asks"),
        "numbers": Part(
            (N_NUMBERS,), "actions / 5, buys / 5, coins / 10, cards still to choose / 5, empty piles / 3, rounds begun / max_turns"
        ),
    }


def layout_of_counts(players: int, options: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of a vector of `counts`: those of `piles` without the cards, then the riches of the seats."""
    meaning = "all its cards / 30; the coins that all its cards give / 20, and per card"
    found = layout(players, options) | {"riches": Part((players, N_RICHES), meaning)}
    del found["cards"]
    return found


@kernel
def observe(states, k, seat, out):
    """Write the seat's observation of states[k] to out, in the order of `layout`."""
    s = states[k]
    clear(out)
    for slot in range(N_SLOTS):
        _write_card(s, slot, out, slot * N_FEATURES)
    _write_table(s, seat, out, N_SLOTS * N_FEATURES)


@kernel
def observe_counts(states, k, seat, out):
    """Write the seat's observation of states[k] to out, in the order of `layout_of_counts`."""
    s = states[k]
    clear(out)
    at = _write_table(s, seat, out, 0)
    players = int(s.players)
    for relative in range(players):
        owner = (seat + relative) % players
        cards, coins = 0, 0
        for slot in range(N_SLOTS):
            cards += int(s.owned[owner, slot])
            coins += int(s.owned[owner, slot]) * int(s.coins_of[slot])
        out[at] = cards / 30.0
        out[at + 1] = coins / 20.0
        out[at + 2] = coins / max(cards, 1)
        at += N_RICHES


@kernel
def _write_table(s, seat, out, at):
    """Write all parts of `layout` but the cards from out[at] on, which holds 0; return the index behind them."""
    players = int(s.players)
    for slot in range(N_SLOTS):
        out[at + slot] = s.supply[slot] * 0.1
        out[at + N_SLOTS + slot] = s.trash[slot] * 0.1
        out[at + 2 * N_SLOTS + slot] = s.play[slot] * 0.2
        out[at + 3 * N_SLOTS + slot] = s.aside[slot] * 0.2
    at += 4 * N_SLOTS
    for relative in range(players):
        _write_seat(s, seat, (seat + relative) % players, players, out, at, relative)
    at += 5 * players * N_SLOTS + players * N_SIZES
    out[at + (int(s.turn) - seat) % players] = 1.0
    at += players
    if phase(s) == DECIDE:
        out[at + (int(s.decider) - seat) % players] = 1.0
    at += players
    out[at + int(s.node)] = 1.0
    at += N_NODES
    if s.node == ASK_NODE:
        _write_question(s, seat, out, at)
    at += N_SLOTS
    if s.depth > 0:
        out[at + int(s.run_slot[s.depth - 1])] = 1.0
    at += N_SLOTS
    out[at] = s.actions * 0.2
    out[at + 1] = s.buys * 0.2
    out[at + 2] = s.coins * 0.1
    out[at + 3] = min(int(s.left), 10) * 0.2
    out[at + 4] = s.n_empty / EMPTY_PILES_TO_END
    out[at + 5] = s.turns[0] / s.max_turns
    return at + N_NUMBERS


@kernel
def _write_card(s, slot, out, at):
    """Write the features of one card. They are all 0 for an empty place in the kingdom."""
    if s.card[slot] == NO_CARD:
        return
    out[at] = 1.0
    out[at + 1] = s.cost[slot] / 8.0
    out[at + 2] = s.cards_of[slot] / 4.0
    out[at + 3] = s.actions_of[slot] / 2.0
    out[at + 4] = s.buys_of[slot]
    out[at + 5] = s.coins_of[slot] / 3.0
    out[at + 6] = s.points[slot] / 6.0
    out[at + 7] = s.per_ten[slot]
    for kind in range(1, N_TYPES):
        if has(s.of_type[kind], slot):
            out[at + 7 + kind] = 1.0
    at += 7 + N_TYPES
    if (s.node == PLAY_NODE or s.node == BUY_NODE) and has(for_sale(s, int(s.coins)), slot):
        out[at] = 1.0
    for step in range(N_STEPS):
        out[at + 1 + int(s.steps[slot, step, WHAT])] = 1.0


@kernel
def _write_seat(s, observer, seat, players, out, at, relative):
    """Write the piles of one seat, as far as the observer knows them."""
    knows = seat == observer or s.info == OPEN_HANDS
    piles = players * N_SLOTS
    at_sizes = at + 5 * piles + relative * N_SIZES
    at += relative * N_SLOTS
    n_discards = 0  # the size of the pile is public, also where its cards are not
    for slot in range(N_SLOTS):
        out[at + slot] = s.owned[seat, slot] * 0.1
        if knows:
            out[at + piles + slot] = s.hand[seat, slot] * 0.2
            out[at + 2 * piles + slot] = s.deck[seat, slot] * 0.1
        discards = s.discard[seat, slot] if knows or s.info != HONEST else s.open[seat, slot]
        out[at + 3 * piles + slot] = discards * 0.1
        n_discards += int(s.discard[seat, slot])
    if s.n_top[seat] > 0:
        out[at + 4 * piles + int(s.top[seat, s.n_top[seat] - 1])] = 1.0
    out[at_sizes] = hand_size(s, seat) * 0.2
    out[at_sizes + 1] = s.n_deck[seat] * 0.1
    out[at_sizes + 2] = n_discards * 0.1
    out[at_sizes + 3] = s.turns[seat] * 0.02
    out[at_sizes + 4] = points_of(s, seat) * 0.02


@kernel
def _write_question(s, observer, out, at):
    """Write the card that a yes or no is about: the one revealed or trashed, or the one just drawn, which only its owner sees."""
    what = step_in_progress(s, WHAT)
    if what == SPY:
        for slot in range(N_SLOTS):
            if s.aside[slot] > 0:
                out[at + slot] = 1.0
    elif what == STEAL:
        out[at + int(s.last)] = 1.0
    elif what == DRAW_TO and (s.decider == observer or s.info == OPEN_HANDS):
        out[at + int(s.drawn)] = 1.0


ENCODINGS = (
    Encoding("piles", layout, observe, "the cards by their features, the piles by their counts"),
    Encoding("counts", layout_of_counts, observe_counts, "the piles by their counts, how rich decks are; for networks of one kingdom"),
)
