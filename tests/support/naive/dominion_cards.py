"""The cost, types and effect of every first-edition card, one function per card in the words printed on it.

An effect is a generator: whenever a card must be drawn or a choice made, it yields and waits (see `dominion.py`,
which owns the piles and the turn). `me` is always the seat that played the card.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .dominion import Dominion

Steps = Generator[Any, Any, None]


def adventurer(game: Dominion, me: int) -> Steps:
    """Reveal cards from your deck until you reveal 2 Treasures: these to your hand, discard the others."""
    treasures = 0
    while treasures < 2:
        card = yield from game.reveal(me)
        if card is None:
            break
        treasures += is_treasure(card)
    for card in list(game.seats[me].aside):
        game.move(card, game.seats[me].aside, game.seats[me].hand if is_treasure(card) else game.seats[me].discard)


def bureaucrat(game: Dominion, me: int) -> Steps:
    """Gain a Silver on your deck. Each other player puts a Victory card from his hand on his deck."""
    if game.supply["Silver"]:
        game.supply["Silver"] -= 1
        game.put_on_deck(me, "Silver")
    for victim in game.attacked_by(me):
        kinds = {card for card in game.seats[victim].hand if is_victory(card)}
        card = yield from game.choose_if_different(victim, "put", kinds)
        if card:
            game.seats[victim].hand.remove(card)
            game.put_on_deck(victim, card)


def cellar(game: Dominion, me: int) -> Steps:
    """+1 Action. Discard any number of cards. +1 Card per card discarded."""
    yield from game.plus(me, actions=1)
    n_discarded = yield from game.choose_from_hand(me, "discard", game.seats[me].discard)
    yield from game.draw(me, n_discarded)


def chancellor(game: Dominion, me: int) -> Steps:
    """+2 Coins. You may put your deck into your discard pile."""
    yield from game.plus(me, coins=2)
    player = game.seats[me]
    if player.deck and (yield from game.ask(me)):
        player.discard += player.deck
        player.deck, player.n_known = [], 0


def chapel(game: Dominion, me: int) -> Steps:
    """Trash up to 4 cards from your hand."""
    yield from game.choose_from_hand(me, "trash", game.trash, at_most=4)


def council_room(game: Dominion, me: int) -> Steps:
    """+4 Cards, +1 Buy. Each other player draws a card."""
    yield from game.plus(me, cards=4, buys=1)
    for other in game.others(me):
        yield from game.draw(other, 1)


def feast(game: Dominion, me: int) -> Steps:
    """Trash this card. Gain a card costing up to 5. (A Feast already trashed, under a Throne Room, still gains.)"""
    if "Feast" in game.seats[me].play:
        game.move("Feast", game.seats[me].play, game.trash)
    yield from game.gain_up_to(me, 5)


def festival(game: Dominion, me: int) -> Steps:
    """+2 Actions, +1 Buy, +2 Coins."""
    yield from game.plus(me, actions=2, buys=1, coins=2)


def laboratory(game: Dominion, me: int) -> Steps:
    """+2 Cards, +1 Action."""
    yield from game.plus(me, cards=2, actions=1)


def library(game: Dominion, me: int) -> Steps:
    """Draw until you have 7 cards in hand. You may set aside Actions as you draw them; discard those afterwards."""
    player = game.seats[me]
    while len(player.hand) < 7:
        card = yield from game.reveal(me)
        if card is None:
            break
        set_aside = is_action(card) and (yield from game.ask(me))
        if not set_aside:
            game.move(card, player.aside, player.hand)
    player.discard += player.aside
    player.aside.clear()


def market(game: Dominion, me: int) -> Steps:
    """+1 Card, +1 Action, +1 Buy, +1 Coin."""
    yield from game.plus(me, cards=1, actions=1, buys=1, coins=1)


def militia(game: Dominion, me: int) -> Steps:
    """+2 Coins. Each other player discards down to 3 cards in his hand."""
    yield from game.plus(me, coins=2)
    for victim in game.attacked_by(me):
        player = game.seats[victim]
        n = max(0, len(player.hand) - 3)
        yield from game.choose_from_hand(victim, "discard", player.discard, at_least=n, at_most=n)


def mine(game: Dominion, me: int) -> Steps:
    """Trash a Treasure from your hand. Gain a Treasure costing up to 3 more; put it into your hand."""
    hand = game.seats[me].hand
    trashed = yield from game.choose(me, "trash", {card for card in hand if is_treasure(card)})
    if trashed:
        game.move(trashed, hand, game.trash)
        treasures = {card for card in game.gainable(CARDS[trashed].cost + 3) if is_treasure(card)}
        gained = yield from game.choose(me, "gain", treasures)
        if gained:
            game.gain(me, gained, hand)


def moat(game: Dominion, me: int) -> Steps:
    """+2 Cards. (Its reaction is in `Dominion.attacked_by`.)"""
    yield from game.plus(me, cards=2)


def moneylender(game: Dominion, me: int) -> Steps:
    """Trash a Copper from your hand. If you do, +3 Coins."""
    if "Copper" in game.seats[me].hand:
        game.move("Copper", game.seats[me].hand, game.trash)
        yield from game.plus(me, coins=3)


def remodel(game: Dominion, me: int) -> Steps:
    """Trash a card from your hand. Gain a card costing up to 2 more than the trashed card."""
    hand = game.seats[me].hand
    trashed = yield from game.choose(me, "trash", set(hand))
    if trashed:
        game.move(trashed, hand, game.trash)
        yield from game.gain_up_to(me, CARDS[trashed].cost + 2)


def smithy(game: Dominion, me: int) -> Steps:
    """+3 Cards."""
    yield from game.plus(me, cards=3)


def spy(game: Dominion, me: int) -> Steps:
    """+1 Card, +1 Action. Each player, you first, reveals his top card: you discard it or put it back."""
    yield from game.plus(me, cards=1, actions=1)
    for seat in [me, *game.attacked_by(me)]:
        card = yield from game.reveal(seat)
        if card is None:
            continue
        if (yield from game.ask(me)):
            game.move(card, game.seats[seat].aside, game.seats[seat].discard)
        else:
            game.seats[seat].aside.remove(card)
            game.put_on_deck(seat, card)


def thief(game: Dominion, me: int) -> Steps:
    """Each other player reveals 2 cards and trashes a Treasure of them that you choose, discarding the rest.

    You may gain any or all of these trashed cards: asked when everybody has trashed.
    """
    trashed = []
    for victim in game.attacked_by(me):
        aside = game.seats[victim].aside
        yield from game.reveal(victim)
        yield from game.reveal(victim)
        card = yield from game.choose_if_different(me, "trash", {card for card in aside if is_treasure(card)})
        if card:
            game.move(card, aside, game.trash)
            trashed.append(card)
        game.seats[victim].discard += aside
        aside.clear()
    for card in TREASURES:
        for _ in range(trashed.count(card)):
            if not (yield from game.ask(me)):
                break
            game.move(card, game.trash, game.seats[me].discard)


def throne_room(game: Dominion, me: int) -> Steps:
    """Choose an Action card in your hand. Play it twice."""
    card = yield from game.choose(me, "play", game.actions_in_hand(me))
    if card:
        yield from game.play(me, card, times=2)


def village(game: Dominion, me: int) -> Steps:
    """+1 Card, +2 Actions."""
    yield from game.plus(me, cards=1, actions=2)


def witch(game: Dominion, me: int) -> Steps:
    """+2 Cards. Each other player gains a Curse."""
    yield from game.plus(me, cards=2)
    for victim in game.attacked_by(me):
        if game.supply["Curse"]:
            game.gain(victim, "Curse", game.seats[victim].discard)


def woodcutter(game: Dominion, me: int) -> Steps:
    """+1 Buy, +2 Coins."""
    yield from game.plus(me, buys=1, coins=2)


def workshop(game: Dominion, me: int) -> Steps:
    """Gain a card costing up to 4."""
    yield from game.gain_up_to(me, 4)


class Card(NamedTuple):
    """One card: its cost, what it is, the coins or points printed on it, what it does when played."""

    cost: int
    kind: str
    coins: int = 0
    points: int = 0
    effect: Callable[[Dominion, int], Steps] | None = None


def _action(cost: int, effect: Callable[[Dominion, int], Steps]) -> Card:
    return Card(cost, "action", effect=effect)


TREASURES = ("Copper", "Silver", "Gold")

BASIC = {
    "Copper": Card(0, "treasure", coins=1),
    "Silver": Card(3, "treasure", coins=2),
    "Gold": Card(6, "treasure", coins=3),
    "Estate": Card(2, "victory", points=1),
    "Duchy": Card(5, "victory", points=3),
    "Province": Card(8, "victory", points=6),
    "Curse": Card(0, "curse", points=-1),
}
KINGDOM = {
    "Cellar": _action(2, cellar),
    "Chapel": _action(2, chapel),
    "Moat": _action(2, moat),
    "Chancellor": _action(3, chancellor),
    "Village": _action(3, village),
    "Woodcutter": _action(3, woodcutter),
    "Workshop": _action(3, workshop),
    "Bureaucrat": _action(4, bureaucrat),
    "Feast": _action(4, feast),
    "Gardens": Card(4, "victory"),
    "Militia": _action(4, militia),
    "Moneylender": _action(4, moneylender),
    "Remodel": _action(4, remodel),
    "Smithy": _action(4, smithy),
    "Spy": _action(4, spy),
    "Thief": _action(4, thief),
    "Throne Room": _action(4, throne_room),
    "Council Room": _action(5, council_room),
    "Festival": _action(5, festival),
    "Laboratory": _action(5, laboratory),
    "Library": _action(5, library),
    "Market": _action(5, market),
    "Mine": _action(5, mine),
    "Witch": _action(5, witch),
    "Adventurer": _action(6, adventurer),
}
CARDS = {**BASIC, **KINGDOM}


def is_action(card: str) -> bool:
    """Is it an Action card?"""
    return CARDS[card].kind == "action"


def is_treasure(card: str) -> bool:
    """Is it a Treasure card?"""
    return CARDS[card].kind == "treasure"


def is_victory(card: str) -> bool:
    """Is it a Victory card? (A Curse is none.)"""
    return CARDS[card].kind == "victory"
