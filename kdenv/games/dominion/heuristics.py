"""The rule-based players: the thesis' BMFSM, SingleWitch, DoubleWitch and rollout player, and big money.

The thesis defines which cards its players play and buy. All other questions of cards, of which its ten cards ask few, are answered
by `sensible_answer` for all players: it discards and trashes junk and keeps good cards. A player decides one action at a time.
"""

from typing import NamedTuple

from kdenv.compiler.bits import ONE, bit, has, lowest, nth, popcount
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import below, uniform
from kdenv.core.fields import Field
from kdenv.core.questions import RulePlayer, plays
from kdenv.core.turns import packed
from kdenv.games.dominion.cards import (
    ACTION,
    ANY,
    CURSES,
    DRAW_TO,
    KIND,
    MAX_COST,
    MAY_DISCARD_DECK,
    NO_CARD,
    SPY,
    TREASURE,
    WHAT,
    card_number,
)
from kdenv.games.dominion.piles import NOTHING_HELD, slots_aside
from kdenv.games.dominion.progress import (
    AGAIN_NODE,
    ASK_NODE,
    BUY_NODE,
    DISCARD_NODE,
    FIRST_ACTION,
    GAIN_NODE,
    LOOT_NODE,
    NO_SLOT,
    PLAY_NODE,
    TRASH_NODE,
    choices,
    for_sale,
    may_decline,
    step_in_progress,
)
from kdenv.games.dominion.rules import legal
from kdenv.games.dominion.tables import BUY_FIRST, DUCHY, END, ESTATE, GOLD, N_BASIC, N_SLOTS, NO, PLAY_FIRST, PROVINCE, SILVER, YES

DEAREST, RANDOM, CHEAPEST = range(3)  # which card the rollout player remodels
REMODELS = ("dearest", "random", "cheapest")
AS_IN_THESIS, AS_IN_DOMINIATE = range(2)  # when the Witch players turn to Duchies and Estates
VARIANTS = ("thesis", "dominiate")
GARDENS_NUMBER = card_number("Gardens")
WITCH_NUMBER = card_number("Witch")

_SMALL_TURN = 15  # the last of its turns in which BMFSM buys treasures
NO_ACTION = -1  # in place of an action


class BigMoney(NamedTuple):
    """The player that buys Province, Gold or Silver, whichever first can be paid."""


class Bmfsm(NamedTuple):
    """The finite state machine of the thesis: treasures for 15 turns, then points."""


class Witches(NamedTuple):
    """SingleWitch and DoubleWitch: they buy up to `most` Witches, then money. `variant` sets when they turn to points."""

    most: int
    variant: int


class MoreActionsFirst(NamedTuple):
    """MPPAF of the thesis: play a card in hand that gives +actions at once; all else is left to the search."""


class Rollout(NamedTuple):
    """The thesis' rollout player: at random with probability epsilon, else it plays or buys the dearest card that it can."""

    epsilon: float
    remodel: int
    mppaf: int


@kernel
def _buy_treasure(s, coins):
    """Return the action that buys a Gold, else a Silver, else nothing."""
    if coins >= 6 and s.supply[GOLD] > 0:
        return BUY_FIRST + GOLD
    return BUY_FIRST + SILVER if coins >= 3 and s.supply[SILVER] > 0 else END


@kernel
def _without_actions(s, rng):
    """Return the turn, packed, of a player that plays no actions, at any choice but a buy."""
    return packed(END) if s.node == PLAY_NODE else packed(sensible_answer(s, CHEAPEST, rng))


@plays(BigMoney)
@kernel
def _choose_big_money(player, states, k, out, rng):
    s = states[k]
    if s.node != BUY_NODE:
        return _without_actions(s, rng)
    coins = int(s.coins)
    if coins >= 8 and s.supply[PROVINCE] > 0:  # the last one may have been bought in this turn
        return packed(BUY_FIRST + PROVINCE)
    return packed(_buy_treasure(s, coins))


@plays(Bmfsm)
@kernel
def _choose_bmfsm(player, states, k, out, rng):
    s = states[k]
    if s.node != BUY_NODE:
        return _without_actions(s, rng)
    coins = int(s.coins)
    # The early turns build the deck; after them only points count, the dearest first.
    if s.turns[s.turn] <= _SMALL_TURN:
        return packed(_buy_treasure(s, coins))
    if coins >= 8 and s.supply[PROVINCE] > 0:
        return packed(BUY_FIRST + PROVINCE)
    gardens = slot_of(s, GARDENS_NUMBER)
    if coins >= 4 and gardens >= 0 and s.supply[gardens] > 0:
        return packed(BUY_FIRST + gardens)
    if coins >= 5 and s.supply[DUCHY] > 0:
        return packed(BUY_FIRST + DUCHY)
    if coins >= 2 and s.supply[ESTATE] > 0:
        return packed(BUY_FIRST + ESTATE)
    return packed(END)


@plays(Witches)
@kernel
def _choose_witches(player, states, k, out, rng):
    s = states[k]
    if s.node != PLAY_NODE and s.node != BUY_NODE:
        return packed(sensible_answer(s, CHEAPEST, rng))
    witch = slot_of(s, WITCH_NUMBER)  # NO_SLOT in a kingdom without it
    if s.node == PLAY_NODE:
        return packed(PLAY_FIRST + witch if witch >= 0 and s.hand[s.turn, witch] > 0 else END)
    coins = int(s.coins)
    # The thesis: no Province before the first Gold.
    if coins >= 8 and s.owned[s.turn, GOLD] > 0 and s.supply[PROVINCE] > 0:
        return packed(BUY_FIRST + PROVINCE)
    if coins >= 5 and witch >= 0 and s.owned[s.turn, witch] < player.most and s.supply[witch] > 0:
        return packed(BUY_FIRST + witch)
    if coins >= 2:
        # Dominiate counts the gains that can end the game, not only the Provinces left.
        thesis = player.variant == AS_IN_THESIS
        left = int(s.supply[PROVINCE]) if thesis else gains_to_end(s)
        if coins >= 5 and left < (4 if thesis else 6) and s.supply[DUCHY] > 0:
            return packed(BUY_FIRST + DUCHY)
        if left < (2 if thesis else 3) and s.supply[ESTATE] > 0:
            return packed(BUY_FIRST + ESTATE)
    return packed(_buy_treasure(s, coins))


@plays(Rollout)
@kernel
def _choose_rollout(player, states, k, out, rng):
    s = states[k]
    # With epsilon 0 no random number is drawn.
    at_random = player.epsilon > 0.0 and uniform(rng) < player.epsilon
    if s.node == BUY_NODE:
        slots = for_sale(s, int(s.coins))
        if slots == NOTHING_HELD:
            return packed(END)
        if at_random:
            return packed(_end_or(BUY_FIRST, slots, rng))
        return packed(BUY_FIRST + any_of(of_highest_cost(s, slots, int(s.coins)), rng))
    if s.node == PLAY_NODE:
        slots = choices(s)
        if at_random:
            return packed(_end_or(PLAY_FIRST, slots, rng))
        if player.mppaf != 0:
            more = with_more_actions(s, slots)
            slots = more if more != NOTHING_HELD else slots
        return packed(PLAY_FIRST + dearest(s, slots, rng))
    if at_random:
        return packed(out[below(rng, legal(s, out))])
    return packed(sensible_answer(s, player.remodel, rng))


@kernel
def _end_or(first, slots, rng):
    """Return END or the action of one of these slots, all with the same odds."""
    n = below(rng, popcount(slots) + 1)
    return END if n == 0 else first + nth(slots, n - 1)


@kernel
def with_more_actions(s, slots):
    """Return those of these slots whose cards give +1 action or more."""
    found = NOTHING_HELD
    while slots != NOTHING_HELD:
        slot = lowest(slots)
        slots &= slots - ONE
        if s.actions_of[slot] > 0:
            found |= bit(slot)
    return found


@kernel
def free_play(states, k):
    """Return the action that MPPAF takes without search: playing the dearest card in hand that gives +actions. NO_ACTION if none does."""
    s = states[k]
    if s.node == PLAY_NODE:
        more = with_more_actions(s, choices(s))
        if more != NOTHING_HELD:
            return PLAY_FIRST + lowest(of_highest_cost(s, more, MAX_COST))
    return NO_ACTION


@plays(MoreActionsFirst)
@kernel
def _choose_more_actions(player, states, k, out, rng):
    return packed(free_play(states, k))  # packed(NO_ACTION) is no turn


@kernel
def of_highest_cost(s, slots, at_most):
    """Return the dearest of these slots. None of them may cost more than at_most."""
    # From the highest cost down, the first at which some of the slots are not cheaper: those are the dearest.
    cost = min(at_most, MAX_COST)
    while cost > 0:
        cheaper = slots & s.up_to[cost - 1]
        if cheaper != slots:
            return slots & ~cheaper
        cost -= 1
    return slots


@kernel
def of_lowest_cost(s, slots):
    """Return the cheapest of these slots, of which there must be one."""
    cost = 0
    while slots & s.up_to[cost] == NOTHING_HELD:
        cost += 1
    return slots & s.up_to[cost]


@kernel
def any_of(slots, rng):
    """Return a random one of these slots. No random number is drawn if there is only one."""
    if slots & (slots - ONE) != NOTHING_HELD:
        for _ in range(below(rng, popcount(slots))):
            slots &= slots - ONE
    return lowest(slots)


@kernel
def dearest(s, slots, rng):
    """Return a random one of the dearest of these slots."""
    return any_of(of_highest_cost(s, slots, MAX_COST), rng)


@kernel
def slot_of(s, number):
    """Return the slot in the kingdom of the card with this number in the table of cards; NO_SLOT if it is not there."""
    for slot in range(N_BASIC, N_SLOTS):
        if s.card[slot] == number:
            return slot
    return NO_SLOT


@kernel
def gains_to_end(s):
    """Return how many cards must be gained to end the game: the Provinces, or the three smallest piles."""
    a = b = c = 127  # the three smallest piles, a <= b <= c; no pile has as many cards as this
    for slot in range(N_SLOTS):
        n = int(s.supply[slot])
        if n == 0 and s.card[slot] == NO_CARD:  # an empty place in the kingdom is no empty pile
            continue
        if n < a:
            a, b, c = n, a, b
        elif n < b:
            b, c = n, b
        elif n < c:
            c = n
    return min(int(s.supply[PROVINCE]), a + b + c)


@kernel
def is_junk(s, slot):
    """Return whether a card does nothing in hand: a Curse, or a victory card that is nothing else."""
    return not has(s.of_type[ACTION] | s.of_type[TREASURE], slot)


@kernel
def sensible_answer(s, remodel, rng):
    """Return an answer to any question of a card.

    remodel: which card is trashed if one must be (DEAREST, RANDOM or CHEAPEST). The dearest card is gained, replayed or stolen. Junk
    is discarded first, then the cheapest cards. Chapel trashes Curses and Estates. Library sets actions aside when none can be played.
    """
    node = int(s.node)
    if node == ASK_NODE:
        return YES if _says_yes(s) else NO
    slots = choices(s)
    if slots == NOTHING_HELD:
        return END
    first = FIRST_ACTION[node]
    # 1. Choices that are forced.
    if node in (GAIN_NODE, AGAIN_NODE, LOOT_NODE):
        return first + dearest(s, slots, rng)
    if node == TRASH_NODE and not may_decline(s):
        if step_in_progress(s, KIND) != ANY:  # Mine
            return first + lowest(of_lowest_cost(s, slots))
        if remodel == DEAREST:
            return first + dearest(s, slots, rng)
        return first + any_of(slots if remodel == RANDOM else of_lowest_cost(s, slots), rng)
    if node == DISCARD_NODE and not may_decline(s):
        return first + _first_to_discard(s, slots)
    if not may_decline(s):  # a seat touched by Bureaucrat puts a card back
        return first + lowest(of_lowest_cost(s, slots))
    # 2. Choices that may be stopped (Cellar, Chapel): junk goes, one card at a time.
    while slots != NOTHING_HELD:
        slot = lowest(slots)
        slots &= slots - ONE
        if is_junk(s, slot) and (node == DISCARD_NODE or slot == ESTATE or has(s.of_type[CURSES], slot)):
            return first + slot
    return END


@kernel
def _says_yes(s):
    """Say yes to gaining what costs something, to discarding the others' good cards and its own junk, and to discarding the deck."""
    what = step_in_progress(s, WHAT)
    if what == SPY:
        slot = lowest(slots_aside(s))
        return is_junk(s, slot) if s.affected == s.turn else not is_junk(s, slot) and s.cost[slot] > 0
    if what == DRAW_TO:
        return s.actions == 0
    return what == MAY_DISCARD_DECK or s.cost[s.last] > 0


@kernel
def _first_to_discard(s, slots):
    """Return the lowest slot among the s.left cards of lowest value, of those that may be chosen now.

    Cards are chosen in ascending order of slots, so the card of lowest value may have to wait.
    """
    seat = int(s.decider)
    rest = slots
    while rest != NOTHING_HELD:
        slot = lowest(rest)
        rest &= rest - ONE
        worse = 0  # cards in hand that would be discarded before this one
        for other in range(int(s.last), N_SLOTS):
            if _value_in_hand(s, other) < _value_in_hand(s, slot):
                worse += int(s.hand[seat, other])
        if worse < s.left:
            return slot
    return lowest(slots)


@kernel
def _value_in_hand(s, slot):
    """Return the value of a card in hand: junk has the lowest, then cheap cards. No two cards have the same."""
    return (0 if is_junk(s, slot) else 1000) + int(s.cost[slot]) * 20 + slot


def _word(name: str, value: object, words: tuple[str, ...]) -> int:
    return words.index(Field(name, choices=words).check(value))


def make_witches(most: int, variant: str) -> Witches:
    """Return SingleWitch (most = 1) or DoubleWitch (most = 2). BadOption if there is no such variant."""
    return Witches(most, _word("variant", variant, VARIANTS))


def make_rollout(epsilon: float = 0.15, remodel: str = "dearest", mppaf: bool = True) -> Rollout:
    """Return the rollout player with these parameters. BadOption if one of them is not possible."""
    return Rollout(
        Field("epsilon", type=float, least=0, most=1).check(epsilon), _word("remodel", remodel, REMODELS), int(mppaf in (True, "yes"))
    )


_THESIS = "Jansen and Tollisen 2014"
_POINTS = "variant=thesis or dominiate says when points count"
REFLEX = RulePlayer(lambda: MoreActionsFirst(), "MPPAF: a card in hand that gives +actions is played at once, the dearest first", _THESIS)
RULE_PLAYERS = {
    "big_money": RulePlayer(lambda: BigMoney(), "buys Province, Gold or Silver, whichever first can be paid; plays no actions"),
    "bmfsm": RulePlayer(lambda: Bmfsm(), "big money as a finite state machine: treasures for 15 turns, then points", _THESIS),
    "single_witch": RulePlayer(lambda variant="thesis": make_witches(1, variant), f"one Witch, then money; {_POINTS}", _THESIS),
    "double_witch": RulePlayer(lambda variant="thesis": make_witches(2, variant), f"two Witches, then money; {_POINTS}", _THESIS),
    "rollout": RulePlayer(
        make_rollout,
        "random with probability epsilon, else plays and buys the dearest, with mppaf +actions first; remodel=dearest, random or cheapest",
        _THESIS,
    ),
}
