"""Dominion in the words of the table, so that a test is a line: "play Witch, draw 2 Copper, end".

It speaks to the oracle and, behind an adapter, to the compiled rules, so that the same tests hold both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compiled_dominion import CompiledDominion
from naive.dominion import END, NO, TEST_BED, VERBS, YES, Dominion, K
from naive.dominion_cards import KINGDOM

ENGINES: dict[str, Any] = {"naive": Dominion, "compiled": CompiledDominion}
WORDS = {END: "end", YES: "yes", NO: "no"}


def cards(text: str) -> list[str]:
    """The cards of "2 Copper, Throne Room", as a list of names."""
    names: list[str] = []
    for item in filter(None, text.split(", ")):
        first, _, rest = item.partition(" ")
        names += [rest] * int(first) if first.isdigit() else [item]
    return names


def seat(turns: int = 0, **zones: str) -> dict[str, Any]:
    """One player of a position: `hand`, `deck`, `top`, `discard` and `play` as text; a zone not named is empty."""
    return {"turns": turns} | {zone: cards(text) for zone, text in zones.items()}


def position(*seats: dict[str, Any], kingdom: str = "", **rest: Any) -> dict[str, Any]:
    """A position as `Dominion.at` reads it. The kingdom: what is named and held, then the test bed, up to ten."""
    held = [card for zones in seats for zone in zones.values() if isinstance(zone, list) for card in zone]
    wanted = [card for card in dict.fromkeys(cards(kingdom) + held) if card in KINGDOM]
    filler = [card for card in TEST_BED if card not in wanted]
    return {"kingdom": (wanted + filler)[:10], "seats": list(seats), **rest}


class Spoken:
    """A game played and read in words."""

    def __init__(self, game: Any) -> None:
        self.game = game

    def do(self, text: str) -> Spoken:
        """Carry out "play Witch, draw 2 Copper, yes, end"; "draw" names the next card of whichever deck is due."""
        for item in text.split(", "):
            verb, _, what = item.partition(" ")
            if verb == "draw":
                for card in cards(what):
                    self.game.apply_chance(self.game.cards.index(card))
            elif what:
                for card in cards(what):
                    self.game.apply(VERBS[verb] + self.game.cards.index(card))
            else:
                self.game.apply({word: action for action, word in WORDS.items()}[verb])
        return self

    def legal(self) -> list[str]:
        """The legal actions in words, in the order of their numbers."""
        return [self._name(action) for action in self.game.legal()]

    def chances(self) -> dict[str, int]:
        """The possible next cards, with the number of each."""
        return {self.game.cards[slot]: weight for slot, weight in self.game.chances().items()}

    def zone(self, seat: int, zone: str) -> str:
        """The cards of a zone in slot order, as text."""
        return self._text(self.game.position()["seats"][seat][zone])

    def top(self, seat: int) -> list[str]:
        """The cards known to lie on the deck, uppermost first."""
        return list(self.game.position()["seats"][seat]["top"])

    def trash(self) -> str:
        """The trash in slot order, as text."""
        return self._text(self.game.position()["trash"])

    def left(self, card: str) -> int:
        """The number of cards of this kind in the supply."""
        return int(self.game.position()["supply"][card])

    def phase(self) -> str:
        return str(self.game.phase())

    def seat(self) -> int:
        return int(self.game.seat())

    def scores(self) -> list[int]:
        return list(self.game.scores())

    def standings(self) -> list[int]:
        return list(self.game.standings())

    @property
    def actions(self) -> int:
        """The number of Actions that may still be played."""
        return int(self.game.position()["actions"])

    @property
    def buys(self) -> int:
        """The number of cards that may still be bought."""
        return int(self.game.position()["buys"])

    @property
    def coins(self) -> int:
        """The number of coins left to spend."""
        return int(self.game.position()["coins"])

    def _name(self, action: int) -> str:
        if action in WORDS:
            return WORDS[action]
        verb = max((verb for verb in VERBS if VERBS[verb] <= action), key=VERBS.__getitem__)
        assert action < VERBS[verb] + K
        return f"{verb} {self.game.cards[action - VERBS[verb]]}"

    def _text(self, counts: dict[str, int]) -> str:
        named = [(counts.get(card, 0), card) for card in self.game.cards]
        return ", ".join(card if n == 1 else f"{n} {card}" for n, card in named if n)


Scene = Callable[..., Spoken]


def scene_of(engine: str) -> Scene:
    """Return a function that sets up a position, seat by seat, on the table of this engine."""
    return lambda *seats, **rest: Spoken(ENGINES[engine].at(position(*seats, **rest)))
