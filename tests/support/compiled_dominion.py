"""The compiled rules of Dominion with the interface of the naive engine (naive/dominion.py), so that one test holds both."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from kdenv.core.table import Table
from kdenv.core.verbs import apply_at
from kdenv.games import find_game
from kdenv.games.dominion.notation import card_name
from kdenv.games.dominion.progress import ASK_NODE, NO_SLOT, TRASH_NODE
from kdenv.games.dominion.rules import ACTION_PHASE, BUY_PHASE
from kdenv.games.dominion.tables import END, N_SLOTS

GAME = find_game("dominion")


class CompiledDominion:
    """One game in progress on a table of kdenv. Slots and actions have the same numbers in both engines."""

    def __init__(self, players: int = 2, **options: Any) -> None:
        self.table = Table(GAME, players, **options)
        self.cards = [name for slot in range(N_SLOTS) if (name := card_name(self.table.states[0], slot)) != "-"]

    @classmethod
    def at(cls, position: dict[str, Any]) -> CompiledDominion:
        """Return the game from a written position, at the start of the action phase of its `seat`."""
        options = {name: position[name] for name in ("kingdom", "curses", "max_turns") if name in position}
        game = cls(len(position["seats"]), **options)
        s = game.table.states[0]
        piles = s["supply"] > 0
        for card, n in position.get("supply", {}).items():
            s["supply"][game.cards.index(card)] = n
        s["n_empty"] = (piles & (s["supply"] == 0)).sum()
        for seat, written in enumerate(position["seats"]):
            game._lay_out_seat(seat, written)
        s["turn"] = position.get("seat", 0)
        s["play"] = game._counts(position["seats"][s["turn"]].get("play", ()))
        s["laid"], s["stocked"] = _bits(s["play"]), _bits(s["supply"])
        for name, usual in (("actions", 1), ("buys", 1), ("coins", 0)):
            s[name] = position.get(name, usual)
        # Seats take turns in order, so the number of the one on turn gives those of the others.
        begun = position["seats"][s["turn"]].get("turns", 0) + 1
        s["turns"][: game.table.players] = [begun - (seat > s["turn"]) for seat in range(game.table.players)]
        # The engine itself begins the phase: END at a choice of a card only makes it continue, and here no card is being played.
        s["stage"], s["node"], s["draw_left"] = ACTION_PHASE, TRASH_NODE, 0
        apply_at(game.table.states, 0, END)
        return game

    def _lay_out_seat(self, seat: int, written: dict[str, Any]) -> None:
        s, top = self.table.states[0], list(written.get("top", ()))
        s["hand"][seat] = self._counts(written.get("hand", ()))
        s["deck"][seat] = self._counts([*written.get("deck", ()), *top])
        s["discard"][seat] = s["open"][seat] = self._counts(written.get("discard", ()))
        s["owned"][seat] = s["hand"][seat] + s["deck"][seat] + s["discard"][seat] + self._counts(written.get("play", ()))
        s["held"][seat] = _bits(s["hand"][seat])
        s["n_deck"][seat], s["n_top"][seat] = s["deck"][seat].sum(), len(top)
        s["top"][seat][: len(top)] = [self.cards.index(card) for card in reversed(top)]

    def _counts(self, cards: Any) -> np.ndarray:
        n = Counter(cards)
        return np.array([n[card] for card in self.cards] + [0] * (N_SLOTS - len(self.cards)), np.int8)

    def phase(self) -> str:
        """Return "chance", "decide" or "over"."""
        return "over" if self.table.over else "chance" if self.table.at_chance else "decide"

    def seat(self) -> int:
        """Return the seat that decides or draws."""
        return int(self.table.states[0]["draw_seat" if self.table.at_chance else "decider"])

    def legal(self) -> list[int]:
        """Return the legal actions, ascending; none unless a seat decides."""
        return self.table.legal()

    def apply(self, action: int) -> None:
        """Carry out a decision."""
        self.table.play(action)

    def chances(self) -> dict[int, int]:
        """Return how many cards of each slot the next card may be; empty unless at a chance node."""
        n_deck = int(self.table.states[0]["n_deck"][self.seat()])
        return {slot: round(odds * n_deck) for slot, odds in self.table.chances()}

    def apply_chance(self, slot: int) -> None:
        """Let the next card be of this slot."""
        self.table.chance(slot)

    def scores(self) -> list[int]:
        """Return the points of each seat."""
        return self.table.scores()

    def standings(self) -> list[int]:
        """Return the rank of each seat, 1 the best."""
        return self.table.ranks()

    def position(self) -> dict[str, Any]:
        """Return everything on the table, counted as the naive engine counts it."""
        s = self.table.states[0]
        in_turn = s["stage"] in (ACTION_PHASE, BUY_PHASE)
        seats = []
        for seat in range(self.table.players):
            zones = {zone: Counter(self._named(s[zone][seat])) for zone in ("hand", "deck", "discard")}
            zones["play"] = Counter(self._named(s["play"]) if seat == s["turn"] else {})
            zones["aside"] = Counter(self._named(s["aside"]) if seat == s["draw_seat"] else {})
            assert sum(zones.values(), Counter()) == self._named(s["owned"][seat])
            if s["node"] == ASK_NODE and s["drawn"] != NO_SLOT and seat == s["turn"]:  # the card a Library asks about
                zones["hand"] -= Counter([self.cards[s["drawn"]]])
                zones["aside"] += Counter([self.cards[s["drawn"]]])
            top = [self.cards[slot] for slot in s["top"][seat][: s["n_top"][seat]][::-1]]
            turns = int(s["turns"][seat]) - (in_turn and seat == s["turn"])
            seats.append({zone: dict(cards) for zone, cards in zones.items()} | {"top": top, "turns": turns})
        numbers = {"actions": 1, "buys": 1, "coins": 0}
        return {
            "seats": seats,
            "supply": {card: int(s["supply"][slot]) for slot, card in enumerate(self.cards)},
            "trash": self._named(s["trash"]),
            **({name: int(s[name]) for name in numbers} if in_turn else numbers),
        }

    def _named(self, pile: Any) -> dict[str, int]:
        return {card: int(n) for card, n in zip(self.cards, pile, strict=False) if n}


def _bits(pile: Any) -> int:
    return sum(1 << slot for slot in range(N_SLOTS) if pile[slot] > 0)
