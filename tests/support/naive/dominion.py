"""First-edition Dominion for one to four players with real, ordered decks: the oracle of the compiled rules.

This file has the piles, the turn, and how a choice is asked; `dominion_cards.py` has the cards. It is written from the
rule page and the published rules, not from the compiled engine, and is made to be read, not to be fast.

Actions: 0 end, 1+k play, 18+k buy, 35+k trash, 52+k gain, 69+k discard, 86+k put on the deck, 103 yes, 104 no; k is the
slot of a card: 0-6 Copper Silver Gold Estate Duchy Province Curse, 7-16 the kingdom by cost, then name.

The turn
  action phase  1+k play an Action of the hand, 0 end. Skipped when the hand has no Action or no actions are left.
  buy phase     all Treasures of the hand are played; then 18+k buy, 0 end, until no buys are left (a node even when
                nothing can be bought). Curses are offered only with curses=True.
  clean-up      play and hand to the discards; is the game over? only if not, draw five; the next seat.

When a card asks for a choice
* A choice with one answer is still a node. Where nothing qualifies there is no node, and that part of the card lapses.
  Exception: cards the rules reveal and take (Thief, Bureaucrat) are asked about only if two different ones qualify.
* Several cards are chosen one at a time in non-decreasing slot order, each moved at once. An optional choice ends by 0,
  at its limit, or when the hand has no card left of that slot or a higher one. A number that is forced (Militia) has no 0.
  A slot is then legal only if it and the higher ones hold as many cards as are still due.
* A gain is forced: a card of any pile not empty, within the cost. A Curse is offered only if curses=True or nothing
  else is there. Gained cards go to the discards unless the card says otherwise.
* Anything a card names itself (Moneylender's Copper, Witch's Curse, Bureaucrat's Silver) is no choice.
* Attacks go round the table from the left. A Moat in hand is always revealed, without a node, each time an Attack is
  played. This is a deviation: the rulebook says "may", and a player would sometimes rather not (a Thief after Coppers).

  card         who       decisions, in order
  Bureaucrat   victims   86+k a Victory card of the hand, if two kinds are held (one kind: put there unasked)
  Cellar       owner     69+k ... of the hand, 0 ends; when all are chosen, as many are drawn
  Chancellor   owner     103 deck to the discards, 104 not; no node if the deck is empty
  Chapel       owner     35+k ... up to four of the hand, 0 ends
  Feast        owner     52+k cost up to 5
  Library      owner     for each Action as it is drawn: 103 set it aside, 104 take it into the hand
  Militia      victims   69+k ... forced, until three are left in hand; one victim finishes before the next begins
  Mine         owner     35+k a Treasure of the hand, forced; 52+k a Treasure costing up to 3 more, into the hand
  Remodel      owner     35+k a card of the hand, forced; 52+k cost up to 2 more
  Spy          owner     for each seat that reveals a card, the owner's first: 103 discard it, 104 put it back
  Thief        owner     for each victim: 35+k a Treasure of the two revealed, if two kinds (one kind: trashed unasked);
                         when all have trashed, for each Treasure trashed, in slot order: 103 gain it, 104 leave it and
                         all further copies of it
  Throne Room  owner     1+k an Action of the hand, forced; it is played, resolved, and resolved again
  Workshop     owner     52+k cost up to 4
  The others (Adventurer, Council Room, Festival, Gardens, Laboratory, Market, Moat, Moneylender, Smithy, Village,
  Witch, Woodcutter) ask nothing.

Chance
* Every card that leaves a deck by draw or reveal is one chance node, also if only one kind is left. But cards
  put on the deck in sight of all (Bureaucrat, Spy, `top` of a written position) come first and without a node.
* The discards are shuffled in when a card is due and the deck is empty, before the node: it weighs the new deck.
* A card played is in play before it resolves; cards revealed or set aside, also the one asked about, are in `aside`.
* First of all seat 0 draws its five cards, then seat 1, and so on.

The end: Provinces gone, or three piles emptied (a pile that began with no cards, as the Curses of one player, never
counts), or everybody has taken `max_turns` turns. `turns` counts turns finished.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .dominion_cards import BASIC, CARDS, KINGDOM, Steps, is_action, is_treasure, is_victory

TEST_BED = ("Village", "Woodcutter", "Gardens", "Moneylender", "Remodel", "Smithy", "Festival", "Laboratory", "Market", "Witch")
K = 17
END, YES, NO = 0, 103, 104
VERBS = {"play": 1, "buy": 18, "trash": 35, "gain": 52, "discard": 69, "put": 86}
ZONES = ("hand", "deck", "discard", "play", "aside")


class IllegalAction(ValueError):
    """The rules do not allow this here."""


class Chance(NamedTuple):
    """The top card of this seat's deck is due, and nobody knows it."""

    seat: int


class Decision(NamedTuple):
    """This seat must choose: the legal actions, and what each means to the card that asks."""

    seat: int
    answers: dict[int, Any]


@dataclass
class Seat:
    """The cards of one player. `deck[-1]` is the top card; the top `n_known` were put there in sight of all."""

    hand: list[str] = field(default_factory=list)
    deck: list[str] = field(default_factory=list)
    discard: list[str] = field(default_factory=list)
    play: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    n_known: int = 0
    turns: int = 0

    def owned(self) -> list[str]:
        """All cards of this player, wherever they lie."""
        return self.hand + self.deck + self.discard + self.play + self.aside


class Dominion:
    """One game in progress: ask `phase`, then `apply` an action or `apply_chance` a card."""

    def __init__(
        self,
        players: int = 2,
        kingdom: Iterable[str] = TEST_BED,
        supply: str = "standard",
        curses: bool = False,
        max_turns: int = 200,
        rng: random.Random | None = None,
    ) -> None:
        kingdom = list(kingdom)
        if len(kingdom) != len(set(kingdom) & KINGDOM.keys()) or len(kingdom) > K - len(BASIC):
            raise ValueError(f"a kingdom is up to ten different cards of {sorted(KINGDOM)}, not {kingdom}")
        self.kingdom = sorted(kingdom, key=lambda card: (KINGDOM[card].cost, card))
        self.curses, self.max_turns, self.rng = curses, max_turns, rng or random.Random(0)
        self.cards = [*BASIC, *self.kingdom]
        self.slot = {card: k for k, card in enumerate(self.cards)}
        self.supply = _supply(players, self.kingdom, supply)
        self.piles = [card for card in self.cards if self.supply[card] > 0]
        self.trash: list[str] = []
        self.seats = [Seat(deck=["Copper"] * 7 + ["Estate"] * 3) for _ in range(players)]
        for seat in self.seats:
            self.rng.shuffle(seat.deck)
        self.actions, self.buys, self.coins = 1, 1, 0
        self._start(self._whole_game())

    @classmethod
    def at(cls, position: dict[str, Any], rng: random.Random | None = None) -> Dominion:
        """The game from a written position, at the start of the action phase of its `seat`.

        `seats` has for each seat hand, deck, top, discard and play as lists of names and its turns taken: `top` lies on
        the deck in sight of all, its first card uppermost. `supply` changes single piles. Everything has a default.
        """
        options = {name: position[name] for name in ("kingdom", "curses", "max_turns") if name in position}
        game = cls(len(position["seats"]), rng=rng, **options)
        game.supply.update(position.get("supply", {}))
        for seat, written in zip(game.seats, position["seats"], strict=True):
            seat.deck = list(written.get("deck", ()))
            game.rng.shuffle(seat.deck)
            seat.n_known = len(written.get("top", ()))
            seat.deck += reversed(written.get("top", ()))
            seat.hand, seat.discard, seat.play = (list(written.get(zone, ())) for zone in ("hand", "discard", "play"))
            seat.turns = written.get("turns", 0)
        game.actions, game.buys, game.coins = (position.get(name, n) for name, n in (("actions", 1), ("buys", 1), ("coins", 0)))
        game._start(game._turns(position.get("seat", 0)))
        return game

    # Asking and answering: the outside.

    def phase(self) -> str:
        """The next event: a card turns up ("chance"), a seat chooses ("decide"), or the game is "over"."""
        if self._node is None:
            return "over"
        return "chance" if isinstance(self._node, Chance) else "decide"

    def seat(self) -> int:
        """The seat that decides, or at a chance node the one whose deck the card comes from."""
        if self._node is None:
            raise IllegalAction("the game is over: no seat is to move")
        return self._node.seat

    def legal(self) -> list[int]:
        """The legal actions, ascending; none unless somebody decides."""
        return sorted(self._node.answers) if isinstance(self._node, Decision) else []

    def apply(self, action: int) -> None:
        """Carry out a decision."""
        if not isinstance(self._node, Decision) or action not in self._node.answers:
            raise IllegalAction(f"action {action} is not legal at phase {self.phase()}; legal: {self.legal()}")
        self._go_on(self._node.answers[action])

    def chances(self) -> dict[int, int]:
        """The number of cards of each slot that the next card may be; empty unless at a chance node."""
        return dict(sorted(Counter(self.slot[card] for card in self._unknown()).items()))

    def apply_chance(self, slot: int) -> None:
        """Let the next card be of this slot: one such card is moved to the top of the deck, and drawn."""
        if slot not in self.chances():
            raise IllegalAction(f"slot {slot} cannot be drawn at phase {self.phase()}; possible: {self.chances()}")
        deck, card = self.seats[self.seat()].deck, self.cards[slot]
        place = max(i for i, other in enumerate(deck) if other == card)
        deck.append(deck.pop(place))
        self._go_on(None)

    def top_card(self) -> int:
        """The slot of the card that really lies on top, at a chance node."""
        return self.slot[self._unknown()[-1]]

    def play_out(self, choose: Callable[[Dominion], int] | None = None) -> None:
        """Play to the end with the decks as shuffled; `choose` names the action, at random if not given."""
        while self.phase() != "over":
            if self.phase() == "chance":
                self.apply_chance(self.top_card())
            else:
                self.apply(choose(self) if choose else self.rng.choice(self.legal()))

    def scores(self) -> list[int]:
        """Points per seat, of all cards owned in whatever zone."""
        return [_points(seat.owned()) for seat in self.seats]

    def standings(self) -> list[int]:
        """The rank of each seat, 1 the best: most points, then fewest turns taken, then shared."""
        merit = [(points, -seat.turns) for points, seat in zip(self.scores(), self.seats, strict=True)]
        return [1 + sum(other > own for other in merit) for own in merit]

    def position(self) -> dict[str, Any]:
        """Everything on the table, counted: zones and known top of each seat, supply, trash and the turn."""
        return {
            "seats": [
                {zone: dict(Counter(getattr(seat, zone))) for zone in ZONES} | {"top": seat.deck[::-1][: seat.n_known], "turns": seat.turns}
                for seat in self.seats
            ],
            "supply": dict(self.supply),
            "trash": dict(Counter(self.trash)),
            "actions": self.actions,
            "buys": self.buys,
            "coins": self.coins,
        }

    def _start(self, script: Steps) -> None:
        self._script = script
        self._go_on(None)

    def _go_on(self, answer: Any) -> None:
        """Run the rules up to the next chance or decision."""
        try:
            self._node: Chance | Decision | None = self._script.send(answer)
        except StopIteration:
            self._node = None

    def _unknown(self) -> list[str]:
        """The deck the next card is drawn from; empty unless at a chance node, where no card of the deck is known."""
        return self.seats[self._node.seat].deck if isinstance(self._node, Chance) else []

    # The turn.

    def _whole_game(self) -> Steps:
        for seat in range(len(self.seats)):
            yield from self.draw(seat, 5)
        yield from self._turns(0)

    def _turns(self, seat: int) -> Steps:
        while True:
            yield from self._action_phase(seat)
            yield from self._buy_phase(seat)
            self._clean_up(seat)
            if self._has_ended():
                return
            yield from self.draw(seat, 5)
            seat = (seat + 1) % len(self.seats)

    def _action_phase(self, me: int) -> Steps:
        while self.actions > 0 and self.actions_in_hand(me):
            card = yield from self.choose(me, "play", self.actions_in_hand(me), or_end=True)
            if card is None:
                return
            self.actions -= 1
            yield from self.play(me, card)

    def _buy_phase(self, me: int) -> Steps:
        player = self.seats[me]
        for treasure in [card for card in player.hand if is_treasure(card)]:
            self.move(treasure, player.hand, player.play)
            self.coins += CARDS[treasure].coins
        while self.buys > 0:
            card = yield from self.choose(me, "buy", self._for_sale(), or_end=True)
            if card is None:
                return
            self.buys -= 1
            self.coins -= CARDS[card].cost
            self.gain(me, card, player.discard)

    def _for_sale(self) -> set[str]:
        affordable = {card for card in self.cards if self.supply[card] and CARDS[card].cost <= self.coins}
        return affordable if self.curses else affordable - {"Curse"}

    def _clean_up(self, me: int) -> None:
        player = self.seats[me]
        player.discard += player.play + player.hand
        player.play.clear()
        player.hand.clear()
        player.turns += 1
        self.actions, self.buys, self.coins = 1, 1, 0

    def _has_ended(self) -> bool:
        n_emptied = sum(self.supply[card] == 0 for card in self.piles)
        return self.supply["Province"] == 0 or n_emptied >= 3 or all(seat.turns >= self.max_turns for seat in self.seats)

    # Words the cards use.

    def play(self, me: int, card: str, times: int = 1) -> Steps:
        """Play a card of the hand; it resolves completely each time."""
        effect = CARDS[card].effect
        assert effect is not None
        self.move(card, self.seats[me].hand, self.seats[me].play)
        for _ in range(times):
            yield from effect(self, me)

    def plus(self, me: int, cards: int = 0, actions: int = 0, buys: int = 0, coins: int = 0) -> Steps:
        """The +Cards, +Actions, +Buys and +Coins of a card."""
        self.actions += actions
        self.buys += buys
        self.coins += coins
        yield from self.draw(me, cards)

    def draw(self, seat: int, n: int) -> Steps:
        """Draw n cards, or as many as there are."""
        for _ in range(n):
            card = yield from self._next_card(seat)
            if card is None:
                return
            self.seats[seat].hand.append(card)

    def reveal(self, seat: int) -> Generator[Any, Any, str | None]:
        """Lay the top card of the deck aside for all to see; None if there is no card."""
        card = yield from self._next_card(seat)
        if card is not None:
            self.seats[seat].aside.append(card)
        return card

    def _next_card(self, seat: int) -> Generator[Any, Any, str | None]:
        """Take the top card of the deck; if the deck is empty the discards are shuffled first."""
        player = self.seats[seat]
        if not player.deck:
            if not player.discard:
                return None
            player.deck, player.discard = player.discard, []
            self.rng.shuffle(player.deck)
        if player.n_known == 0:
            yield Chance(seat)
        else:
            player.n_known -= 1
        return player.deck.pop()

    def choose(self, seat: int, verb: str, cards: set[str], or_end: bool = False) -> Generator[Any, Any, str | None]:
        """The card `seat` chooses, None if it declines; it is not asked if it has no answer."""
        answers: dict[int, str | None] = {VERBS[verb] + self.slot[card]: card for card in cards}
        if or_end:
            answers[END] = None
        if not answers:
            return None
        chosen: str | None = yield Decision(seat, answers)
        return chosen

    def choose_if_different(self, seat: int, verb: str, cards: set[str]) -> Generator[Any, Any, str | None]:
        """The card `seat` chooses; the one there is, unasked, if all are alike."""
        if len(cards) == 1:
            return next(iter(cards))
        return (yield from self.choose(seat, verb, cards))

    def choose_from_hand(
        self, seat: int, verb: str, to: list[str], at_least: int = 0, at_most: int | None = None
    ) -> Generator[Any, Any, int]:
        """Move cards of the hand, chosen one at a time in non-decreasing slot order; return how many were moved."""
        hand = self.seats[seat].hand
        if at_most is None:
            at_most = len(hand)
        lowest = n_moved = 0
        while n_moved < at_most:
            left = sorted(self.slot[card] for card in hand if self.slot[card] >= lowest)
            n_due = max(1, at_least - n_moved)
            options = {self.cards[k] for k in left if len(left) - left.index(k) >= n_due}
            if not options:
                break
            card = yield from self.choose(seat, verb, options, or_end=n_moved >= at_least)
            if card is None:
                break
            self.move(card, hand, to)
            lowest = self.slot[card]
            n_moved += 1
        return n_moved

    def ask(self, seat: int) -> Generator[Any, Any, bool]:
        """Ask `seat` yes or no."""
        answer: bool = yield Decision(seat, {YES: True, NO: False})
        return answer

    def gain_up_to(self, me: int, cost: int) -> Steps:
        """Gain a card of the supply costing up to `cost`, if there is any."""
        card = yield from self.choose(me, "gain", self.gainable(cost))
        if card:
            self.gain(me, card, self.seats[me].discard)

    def gainable(self, cost: int) -> set[str]:
        """The cards of the supply costing up to `cost`; Curses only if they may be bought, or nothing else is there."""
        cards = {card for card in self.cards if self.supply[card] and CARDS[card].cost <= cost}
        return cards if self.curses else cards - {"Curse"} or cards

    def gain(self, me: int, card: str, to: list[str]) -> None:
        """Take a card from the supply."""
        self.supply[card] -= 1
        to.append(card)

    def put_on_deck(self, seat: int, card: str) -> None:
        """Lay a card on the deck in sight of all."""
        self.seats[seat].deck.append(card)
        self.seats[seat].n_known += 1

    def move(self, card: str, source: list[str], to: list[str]) -> None:
        """Move one card between two places."""
        source.remove(card)
        to.append(card)

    def actions_in_hand(self, seat: int) -> set[str]:
        """The Action cards this seat could play."""
        return {card for card in self.seats[seat].hand if is_action(card)}

    def others(self, me: int) -> list[int]:
        """The other seats, from the left."""
        n = len(self.seats)
        return [(me + i) % n for i in range(1, n)]

    def attacked_by(self, me: int) -> list[int]:
        """The other seats, from the left, except those that reveal a Moat."""
        return [seat for seat in self.others(me) if "Moat" not in self.seats[seat].hand]


def _supply(players: int, kingdom: list[str], supply: str) -> dict[str, int]:
    """The piles at the start."""
    if supply not in ("standard", "thesis") or not 1 <= players <= 4:
        raise ValueError(f"supply is standard or thesis, not {supply!r}, and players 1 to 4, not {players}")
    n_victory = 8 if players <= 2 else 12
    copper, silver, gold = (60 - 7 * players, 40, 30) if supply == "standard" else (44, 30, 20)
    piles = {card: n_victory if is_victory(card) else 10 for card in [*BASIC, *kingdom]}
    return piles | {"Copper": copper, "Silver": silver, "Gold": gold, "Curse": 10 * (players - 1)}


def _points(cards: list[str]) -> int:
    """The points of these cards at the end: each Gardens one point per ten cards, rounded down."""
    return sum(CARDS[card].points for card in cards) + cards.count("Gardens") * (len(cards) // 10)
