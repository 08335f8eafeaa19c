"""Describes decisions for people: the card and what it brought, and the cards that others got or lost by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from kdenv.core.protocols import Told, counted, listed
from kdenv.games.dominion import rules
from kdenv.games.dominion.cards import CARDS, Card
from kdenv.games.dominion.notation import card_name
from kdenv.games.dominion.progress import IN_HAND
from kdenv.games.dominion.tables import (
    BUY_FIRST,
    DISCARD_FIRST,
    END,
    GAIN_FIRST,
    N_SLOTS,
    NO,
    PLAY_FIRST,
    PUT_BACK_FIRST,
    TRASH_FIRST,
    YES,
)

_PAST = {
    PLAY_FIRST: "played",
    BUY_FIRST: "bought",
    TRASH_FIRST: "trashed",
    GAIN_FIRST: "gained",
    DISCARD_FIRST: "discarded",
    PUT_BACK_FIRST: "put back",
}
_ENDED = {rules.ACTION_PHASE: "played no more actions", rules.BUY_PHASE: "ended the turn"}


def told(before: Any, after: Any, action: int) -> Told:
    """Describe a card that was played, bought, gained or given away, or an answer."""
    s, new = before[0], after[0]
    seat = int(s["decider"])
    if action == END:
        is_step = bool(s["depth"])  # a card asks
        return Told(seat, "chose no card" if is_step else _ENDED.get(int(s["stage"]), "went on"))
    if action in (YES, NO):
        return Told(seat, f"said {'yes' if action == YES else 'no'}")
    slot = (action - PLAY_FIRST) % N_SLOTS
    verb = _PAST[action - slot]
    words = f"{verb} {card_name(s, slot)}"
    if verb == "played" and (brings := gifts(CARDS[s["card"][slot]])):
        words += f": {', '.join(brings)}"
    return Told(seat, words + "".join(f"; {each}" for each in _of_others(s, new, seat)))


def told_chance(befores: Sequence[Any], outcomes: Sequence[int | None]) -> list[Told]:
    """Describe the cards that each seat drew or revealed in a row, as far as they are known."""
    found = []
    drawn = [((int(s["draw_seat"]), s["draw_to"] == IN_HAND), s, outcome) for s, outcome in zip(befores, outcomes, strict=True)]
    for (seat, to_hand), run in groupby(drawn, lambda each: each[0]):
        names = [None if outcome is None else card_name(s, outcome) for _, s, outcome in run]
        verb = "drew" if to_hand else "revealed"
        cards = listed(_counts([name for name in names if name])) if all(names) else counted(len(names), "a card", "cards")
        found.append(Told(seat, f"{verb} {cards}"))
    return found


def gifts(card: Card) -> list[str]:
    """The cards, actions, buys and coins that a card brings when it is played, as in "+2 actions"."""
    words = [(card.cards, "card"), (card.actions, "action"), (card.buys, "buy"), (card.coins, "coin")]
    return [f"+{n} {word}{'s' * (n > 1)}" for n, word in words if n]


def _counts(names: list[str]) -> list[str]:
    return [name if n == 1 else f"{n} {name}" for name, n in Counter(names).items()]


def _of_others(s: Any, new: Any, seat: int) -> list[str]:
    """The cards that other seats have gained or lost, in words."""
    found = []
    for of in range(int(s["players"])):
        for slot in (new["owned"][of] != s["owned"][of]).nonzero()[0].tolist() if of != seat else ():
            verb = "gained" if new["owned"][of][slot] > s["owned"][of][slot] else "lost"
            found.append(f"player {of} {verb} {card_name(s, slot)}")
    return found
