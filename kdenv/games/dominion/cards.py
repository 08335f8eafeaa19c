"""The table of all cards. A new card is one row here, or one `add_card` outside the package; nothing else changes.

A card has a cost, types and printed numbers. Up to three steps of a small language carry out the rest of its text. A table copies
the rows of its kingdom into the state (through the variant), so the same machine code plays every kingdom, cards from outside included.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.fields import refused
from kdenv.games.dominion.tables import COPPER, CURSE, KINGDOMS, N_KINGDOM, SILVER


class CardType(IntEnum):
    """The types of cards. They are an enumeration, so that add_card notices the type CURSES in the place of the card CURSE."""

    ANY = 0  # in a step: cards of all types
    TREASURE = 1
    VICTORY = 2
    CURSES = 3
    ACTION = 4
    ATTACK = 5
    REACTION = 6


# The types by name, since the rows of cards name them often.
ANY, TREASURE, VICTORY, CURSES, ACTION, ATTACK, REACTION = CardType
TYPE_NAMES = ("any", "treasure", "victory", "curse", "action", "attack", "reaction")
N_TYPES = 7

# Where a card goes when it is gained.
TO_DISCARD, TO_HAND, TO_DECK = range(3)

MAY = 1  # a choice that can be declined or stopped

# A step is (what, number, type, how), and these are the indices of its parts. The comments below give the use of the last three.
# The order of the kinds counts. The steps from OTHERS_GAIN to STEAL, and no others, deal with one seat after another: effects.run_step
# finds them by `>=` and `<=`. The encoding has a column for each kind in this order, so a new kind comes last.
WHAT, NUMBER, KIND, HOW = range(4)
N_PARTS = 4
(
    NOTHING,
    DISCARD,  # discard `number` cards of `type` from hand; how: MAY stop
    DRAW_AS_MANY,  # draw `number` cards for each card just discarded
    TRASH,  # trash `number` cards of `type` from hand; how: MAY stop
    GAIN,  # gain a card of `type` that costs up to `number`; how: where to
    GAIN_FOR_TRASHED,  # gain a card of `type` that costs up to `number` more than the card just trashed, if one was; how: where to
    GAIN_CARD,  # gain the basic card `number`; how: where to
    TRASH_THIS,  # trash the card itself, the first time it is played
    TRASH_FOR_COINS,  # trash the basic card `number` from hand if it is held, for `how` coins
    OTHERS_GAIN,  # each other player gains the basic card `number`
    OTHERS_DRAW,  # each other player draws `number` cards
    OTHERS_DISCARD_TO,  # each other player discards down to `number` cards
    OTHERS_PUT_BACK,  # each other player puts a card of `type` from hand on the deck
    SPY,  # every player, oneself first, reveals the top card: discard it or put it back
    STEAL,  # each other player reveals `number` cards; one of `type` is trashed and may be gained, the rest discarded
    PLAY_TWICE,  # choose an action card from hand and play it `number` times
    DRAW_TO,  # draw until `number` cards are in hand; cards of `type` may be set aside and discarded afterwards
    DIG,  # reveal until `number` cards of `type` have come: these to hand, the rest discarded
    MAY_DISCARD_DECK,  # the player may put the deck into the discard pile
) = range(19)
N_STEP_KINDS = 19
N_STEPS = 3
MANY = 127  # the number of a step: as many as there are
MOST_GIVEN = 10  # most cards, actions or buys that a card gives, or plays by a Throne Room, so that sums stay within 16 bits
MOST_COINS = 20  # most coins that a card gives: as many as a Woodcutter in the thesis of Jansen and Tollisen


_TYPES = ", ".join(kind.name for kind in CardType if kind != ANY)


class Card(NamedTuple):
    """One kind of card, as printed.

    A step is (what, number, type, how), of which the end may be left out: (GAIN, 4, ANY, TO_DECK) gains a card costing up to 4 onto the
    deck. The steps, and the meaning of their numbers, are listed at the top of kdenv/games/dominion/cards.py. Where the number is a basic
    card, write COPPER ... PROVINCE or CURSE; CURSES is a type.

    Args:
        name: The printed name. Options take it as one lower-case word, such as throne_room.
        cost: The cost in coins, 0 to 11.
        types: The types, such as (ACTION, ATTACK). A kingdom card is an ACTION or a VICTORY card.
        cards: The cards that its player draws, 0 to 10.
        actions: The actions that it gives, 0 to 10.
        buys: The buys that it gives, 0 to 10.
        coins: The coins of a treasure, or those that an action gives, 0 to 20.
        points: The victory points, -128 to 127.
        points_per_ten: The victory points for every ten cards owned, -128 to 127.
        steps: Up to three steps, which carry out the rest of an action's text in order.
        text: The steps in words, in a line.
    """

    name: str
    cost: int
    types: tuple[CardType, ...]
    cards: int = 0
    actions: int = 0
    buys: int = 0
    coins: int = 0
    points: int = 0
    points_per_ten: int = 0  # points for every ten cards owned
    steps: tuple[tuple[int, ...], ...] = ()
    text: str = ""  # the steps in words, in a line


_BASIC = (
    Card("Copper", 0, (TREASURE,), coins=1),
    Card("Silver", 3, (TREASURE,), coins=2),
    Card("Gold", 6, (TREASURE,), coins=3),
    Card("Estate", 2, (VICTORY,), points=1),
    Card("Duchy", 5, (VICTORY,), points=3),
    Card("Province", 8, (VICTORY,), points=6),
    Card("Curse", 0, (CURSES,), points=-1),
)

_FIRST_EDITION = (
    Card("Cellar", 2, (ACTION,), actions=1, steps=((DISCARD, MANY, ANY, MAY), (DRAW_AS_MANY, 1)), text="Discard any; draw as many"),
    Card("Chapel", 2, (ACTION,), steps=((TRASH, 4, ANY, MAY),), text="Trash up to 4 cards"),
    Card("Moat", 2, (ACTION, REACTION), cards=2, text="In hand: no attack hits you"),
    Card("Chancellor", 3, (ACTION,), coins=2, steps=((MAY_DISCARD_DECK,),), text="May put the deck into the discards"),
    Card("Village", 3, (ACTION,), cards=1, actions=2),
    Card("Woodcutter", 3, (ACTION,), buys=1, coins=2),
    Card("Workshop", 3, (ACTION,), steps=((GAIN, 4),), text="Gain a card costing up to 4"),
    Card(
        "Bureaucrat",
        4,
        (ACTION, ATTACK),
        steps=((GAIN_CARD, SILVER, ANY, TO_DECK), (OTHERS_PUT_BACK, 1, VICTORY)),
        text="Silver onto the deck; others put a victory card back",
    ),
    Card("Feast", 4, (ACTION,), steps=((TRASH_THIS,), (GAIN, 5)), text="Trash this; gain a card costing up to 5"),
    Card("Gardens", 4, (VICTORY,), points_per_ten=1),
    Card("Militia", 4, (ACTION, ATTACK), coins=2, steps=((OTHERS_DISCARD_TO, 3),), text="Others discard down to 3"),
    Card("Moneylender", 4, (ACTION,), steps=((TRASH_FOR_COINS, COPPER, ANY, 3),), text="Trash a Copper for 3 coins"),
    Card("Remodel", 4, (ACTION,), steps=((TRASH, 1), (GAIN_FOR_TRASHED, 2)), text="Trash a card; gain one costing up to 2 more"),
    Card("Smithy", 4, (ACTION,), cards=3),
    Card("Spy", 4, (ACTION, ATTACK), cards=1, actions=1, steps=((SPY,),), text="All reveal a card: discard it or put it back"),
    Card("Thief", 4, (ACTION, ATTACK), steps=((STEAL, 2, TREASURE),), text="Others reveal 2; trash or take a treasure"),
    Card("Throne Room", 4, (ACTION,), steps=((PLAY_TWICE, 2),), text="Play an action twice"),
    Card("Council Room", 5, (ACTION,), cards=4, buys=1, steps=((OTHERS_DRAW, 1),), text="Others draw a card"),
    Card("Festival", 5, (ACTION,), actions=2, buys=1, coins=2),
    Card("Laboratory", 5, (ACTION,), cards=2, actions=1),
    Card("Library", 5, (ACTION,), steps=((DRAW_TO, 7, ACTION),), text="Draw to 7; actions may be set aside"),
    Card("Market", 5, (ACTION,), cards=1, actions=1, buys=1, coins=1),
    Card(
        "Mine",
        5,
        (ACTION,),
        steps=((TRASH, 1, TREASURE), (GAIN_FOR_TRASHED, 3, TREASURE, TO_HAND)),
        text="Turn a treasure into a better one",
    ),
    Card("Witch", 5, (ACTION, ATTACK), cards=2, steps=((OTHERS_GAIN, CURSE),), text="Others gain a Curse"),
    Card("Adventurer", 6, (ACTION,), steps=((DIG, 2, TREASURE),), text="Reveal until 2 treasures are in hand"),
)

CARDS: list[Card] = [*_BASIC, *_FIRST_EDITION]  # a card's number is its place here; add_card appends
NO_CARD = -1

# A card is a row of integers for begin(). This is the index of each in the row.
ROW_CARD, ROW_COST, ROW_CARDS, ROW_ACTIONS, ROW_BUYS, ROW_COINS, ROW_POINTS, ROW_PER_TEN, ROW_TYPES, ROW_STEPS = range(10)
ROW = ROW_STEPS + N_STEPS * N_PARTS
MAX_COST = 11
_EMPTY = (NO_CARD,) + (0,) * (ROW - 1)


def row_of(number: int) -> list[int]:
    """Return the row of integers of a card, given its number."""
    card = CARDS[number]
    types = sum(1 << kind for kind in {ANY, *card.types})
    row = [number, card.cost, card.cards, card.actions, card.buys, card.coins, card.points, card.points_per_ten, types]
    for i in range(N_STEPS):
        step = card.steps[i] if i < len(card.steps) else ()
        row += [*step, *(0,) * (4 - len(step))]
    return row


def add_card(card: Card) -> None:
    """Add a card from outside the package, for kingdom=[...]. TypeError if the rules cannot play it.

    >>> import kdenv
    >>> from kdenv.games.dominion import ACTION, Card, add_card
    >>> add_card(Card("Bazaar", 5, (ACTION,), cards=1, actions=2, coins=1))
    >>> kdenv.table("dominion", kingdom=["bazaar", "smithy"]).options["kingdom"]
    ('smithy', 'bazaar')
    """
    if any(key_of(card.name) == key_of(other.name) and card != other for other in CARDS):
        raise TypeError(f"there already is a card {card.name}; choose another name")
    if not 0 <= card.cost <= MAX_COST:
        raise TypeError(f"{card.name} costs {card.cost}; costs are 0 to {MAX_COST}")
    if ACTION not in card.types and VICTORY not in card.types:
        raise TypeError(f"{card.name} is neither an action nor a victory card; kingdom cards are one of these")
    for kind in card.types:
        if not isinstance(kind, CardType) or kind == ANY:
            raise TypeError(f"{card.name} is of type {kind!r}; the types are {_TYPES}")
    if len(card.steps) > N_STEPS or any(not 1 <= len(step) <= 4 or not 0 <= step[0] < N_STEP_KINDS for step in card.steps):
        raise TypeError(f"{card.name} has steps that do not exist; a card has up to {N_STEPS} steps (what, number, type, how)")
    if any(not -128 <= number <= 127 for number in row_of_card(card)):
        raise TypeError(f"{card.name} has a number that is not within -128 to 127")
    if any(not 0 <= number <= MOST_GIVEN for number in (card.cards, card.actions, card.buys)):
        raise TypeError(f"{card.name} gives a number of cards, actions or buys that is not within 0 to {MOST_GIVEN}")
    if not 0 <= card.coins <= MOST_COINS:
        raise TypeError(f"{card.name} gives {card.coins} coins; a card gives 0 to {MOST_COINS}")
    for step in card.steps:
        _check_step(card.name, *step, *(0, ANY, 0)[len(step) - 1 :])
    if card not in CARDS:
        CARDS.append(card)


def _check_step(name: str, what: int, number: int, kind: int, how: int) -> None:
    """Refuse a step that kernels cannot carry out: its numbers are indices of arrays, or are added and multiplied in 16 bits."""
    if not isinstance(kind, CardType):
        raise TypeError(f"{name} has a step about cards of type {kind!r}; the types are ANY, {_TYPES}")
    if not 0 <= how <= (MOST_GIVEN if what == TRASH_FOR_COINS else TO_DECK):
        raise TypeError(f"{name} has a step that ends with {how}, which is neither MAY nor where a card goes")
    of_basic_card = what in (GAIN_CARD, TRASH_FOR_COINS, OTHERS_GAIN)
    least, most = {PLAY_TWICE: (2, MOST_GIVEN), DRAW_AS_MANY: (0, MOST_GIVEN)}.get(what, (0, len(_BASIC) - 1 if of_basic_card else MANY))
    if isinstance(number, CardType):
        wanted = "is a basic card, such as CURSE" if of_basic_card else f"may be {least} to {most}"
        raise TypeError(f"{name} has a step with the number {number.name}, which is a type of cards; the number {wanted}")
    if not least <= number <= most:
        raise TypeError(f"{name} has a step with the number {number}; it may be {least} to {most}")


def row_of_card(card: Card) -> list[int]:
    """Return the numbers printed on a card, which need not be in the table yet."""
    numbers = [card.cost, card.cards, card.actions, card.buys, card.coins, card.points, card.points_per_ten]
    return numbers + [number for step in card.steps for number in step]


BASIC_ROWS = np.array([integer for number in range(len(_BASIC)) for integer in row_of(number)], np.int64)  # flat
BASIC_ROWS.flags.writeable = False


def key_of(name: str) -> str:
    """Return a card's name as one lower-case word, such as throne_room."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def card_number(name: str) -> int:
    """Return the number of the kingdom card with this name. BadOption if there is none."""
    known = {key_of(card.name): number for number, card in enumerate(CARDS) if number >= len(_BASIC)}
    try:
        return known[key_of(name)]
    except KeyError:
        close = did_you_mean(key_of(shown(name)), known)
        raise BadOption(f"there is no kingdom card {shown(name)!r}{close}; the cards are {', '.join(known)}") from None


def kingdom_names(value: object) -> list[str]:
    """Return the names of the cards of a value of kingdom=: a set of the rulebook, a list, or names with commas."""
    if isinstance(value, str) and key_of(value) in KINGDOMS:
        return list(KINGDOMS[key_of(value)])
    possible = f"may be {', '.join(KINGDOMS)}, random, or up to ten names of cards"
    if isinstance(value, str) and "," not in value and key_of(value) not in (key_of(card.name) for card in CARDS):
        raise refused("kingdom", value, possible, [*KINGDOMS, "random"])
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        raise refused("kingdom", value, possible)
    if len(value) > N_KINGDOM:
        raise BadOption(f"the kingdom has {len(value):,} cards; there is room for {N_KINGDOM}")
    return list(value)


def kingdom_rows(value: object) -> list[int]:
    """Return the rows of a kingdom one after another, sorted by cost, then name. Empty places come last."""
    numbers = [card_number(name) for name in kingdom_names(value)]
    for number in numbers:
        if numbers.count(number) > 1:
            raise BadOption(f"the kingdom has {CARDS[number].name} twice; its cards are all different")
    replayers = [CARDS[number].name for number in numbers if any(step[0] == PLAY_TWICE for step in CARDS[number].steps)]
    if len(replayers) > 1:
        raise BadOption(f"{' and '.join(replayers)} both play a card again; a kingdom may have one such card")
    numbers.sort(key=lambda number: (CARDS[number].cost, CARDS[number].name))
    rows = [integer for number in numbers for integer in row_of(number)]
    return rows + list(_EMPTY) * (N_KINGDOM - len(numbers))


def kingdom_of(rows: list[int]) -> str | tuple[str, ...]:
    """Return the name of the kingdom, or the names of its cards, from its rows. This is the inverse of kingdom_rows."""
    numbers = [rows[i * ROW] for i in range(N_KINGDOM)]
    names = tuple(CARDS[number].name for number in numbers if number != NO_CARD)
    for name, cards in KINGDOMS.items():
        if sorted(cards) == sorted(names):
            return name
    return tuple(key_of(name) for name in names)


def random_kingdom(seed: int) -> list[str]:
    """Return the names of ten different cards of the first edition, the same for the same seed."""
    kingdom_cards = [card.name for card in _FIRST_EDITION]
    chosen = np.random.default_rng(seed).choice(len(kingdom_cards), N_KINGDOM, replace=False)
    return [kingdom_cards[i] for i in sorted(chosen.tolist())]
