"""Draws positions of Dominion as a picture, which needs no fonts. terminal.py draws them in letters.

If a seat is given, the picture shows that seat's knowledge: other hands lie face down (unless info=thesis).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kdenv.core.protocols import LastTurn
from kdenv.drawing import letters as lettering
from kdenv.drawing.letters import width_of, write
from kdenv.drawing.shapes import SEATS, box, mark, moved, rectangle
from kdenv.games.dominion import rules
from kdenv.games.dominion.card_art import COIN, LINE, MUTED, PANEL, PAPER, TEXT, H, W, back_art, cards_art, fitted, pile_art
from kdenv.games.dominion.cards import CARDS, NO_CARD, Card
from kdenv.games.dominion.notation import card_name, pile_text
from kdenv.games.dominion.progress import BUY_NODE, PLAY_NODE
from kdenv.games.dominion.scene import heading, mover, points, sees_hand, winners
from kdenv.games.dominion.tables import (
    BUY_FIRST,
    DISCARD_FIRST,
    END,
    GAIN_FIRST,
    N_BASIC,
    N_SLOTS,
    NO,
    PLAY_FIRST,
    PUT_BACK_FIRST,
    TRASH_FIRST,
    YES,
)
from kdenv.games.dominion.terminal import ansi
from kdenv.games.dominion.told import told, told_chance

__all__ = ["DARK", "SEAT_COLOURS", "ansi", "buttons", "svg", "targets", "told", "told_chance"]

DARK = {PAPER: "#24221f", PANEL: "#322e2a", TEXT: "#ece6da", MUTED: "#b0a595", LINE: "#4b453d"}
SEAT_COLOURS = (SEATS[0], SEATS[1], SEATS[4], SEATS[3])
_SMALL = 0.72  # scale of a card in hand
_GAP, _MARGIN, _HEAD = 12, 26, 92
_APART = 26  # between a hand, what is in play and what lies aside
_IN_A_ROW = 5  # piles in a row of a narrow picture


class _Layout(NamedTuple):
    """The places of a picture. Those of deck, discards, hand and cards are in the panel of a seat."""

    width: float
    margin: float
    supply: Sequence[tuple[float, Sequence[int]]]  # the top of each row, and its slots
    seats: Mapping[int, float]  # the top of the panel of each seat
    bottom: float
    row: float  # height of the panel of a seat
    deck: float
    discards: float
    hand: float
    cards: float  # the top of the cards


def _layout(s: Any, seat: int | None, narrow: bool) -> _Layout:
    """Place everything. In a narrow picture the observer's cards come before the supply."""
    kingdom = [slot for slot in range(N_BASIC, N_SLOTS) if s["card"][slot] != NO_CARD]
    order = list(range(int(s["players"])))
    if not narrow:
        width, margin, row = 2 * _MARGIN + 10 * (W + _GAP) - _GAP, _MARGIN, 132
        tops = [_HEAD + i * (H + 18) for i in range(3)]
        supply = [(top, slots) for top, slots in zip(tops, [r for r in (range(N_BASIC), kingdom) if r], strict=False)]
        seats: dict[int, float] = {of: tops[len(supply)] + 4 + of * (row + 12) for of in order}
        bottom = tops[len(supply)] + 4 + len(order) * (row + 12)
        return _Layout(width, margin, supply, seats, bottom, row, 176, 262, 356, (row - H * _SMALL) / 2)
    first, row = max(0, seat or 0), 146
    order = order[first:] + order[:first]
    slots = [*kingdom, *range(N_BASIC)]
    top = _HEAD + row + 14
    supply = [(top + i // _IN_A_ROW * (H + 12), slots[i : i + _IN_A_ROW]) for i in range(0, len(slots), _IN_A_ROW)]
    below = top + len(supply) * (H + 12) + 4
    seats = {first: float(_HEAD)} | {of: below + i * (row + 10) for i, of in enumerate(order[1:])}
    bottom = below + (len(order) - 1) * (row + 10)
    return _Layout(20 + _IN_A_ROW * (W + _GAP) - _GAP, 10, supply, seats, bottom, row, 14, 98, 186, 40)


def svg(states: Any, k: int, seat: int | None = None, last: LastTurn | None = None, *, narrow: bool = False) -> str:
    """Draw the table as a picture: the supply, and for each seat its hand, cards in play, deck and discards.

    The card that was played last is marked; after that, the piles from which cards were bought or gained.
    """
    s = states[k]
    layout = _layout(s, seat, narrow)
    parts = _head(s, layout)
    for y, row in layout.supply:
        parts += [moved(_left(layout, row) + i * (W + _GAP), y, pile_art(s, slot)) for i, slot in enumerate(row)]
    scores, won, y = points(states, k), winners(states, k), layout.bottom
    for of, top in layout.seats.items():
        parts.append(moved(layout.margin, top, _seat(s, of, scores[of], of in won, sees_hand(s, seat, of), layout)))
    if s["trash"].any():
        trash = "trash - " + pile_text(s, s["trash"])
        parts.append(fitted(trash, layout.margin, y + 12, 10, layout.width - 2 * layout.margin, MUTED, 1.5, 0))
        y += 24
    parts.append(mark(_changed(s, last, seat, layout)) if last else "")
    return lettering.picture(f"Dominion, {heading(s)}", layout.width, y + 14, PAPER, "".join(parts))


def targets(states: Any, k: int, actions: Sequence[int], seat: int | None = None, *, narrow: bool = False) -> dict[int, list[str]]:
    """Return the outlines to click for each action: a pile of the supply, or a card in the hand of the seat that decides.

    Its discards mean the end of a phase or no; its deck means yes.
    """
    s = states[k]
    of, layout = int(s["decider"]), _layout(s, seat, narrow)
    piles, cards = _piles(layout), _cards(s, of, "hand", sees_hand(s, seat, of), layout)
    deck, discards = (_small(layout, of, x) for x in (layout.deck, layout.discards))
    found = {END: [discards], YES: [deck], NO: [discards]}
    for first, places in ((PLAY_FIRST, cards), (TRASH_FIRST, cards), (DISCARD_FIRST, cards), (PUT_BACK_FIRST, cards),
                          (BUY_FIRST, piles), (GAIN_FIRST, piles)):  # fmt: skip
        found.update({first + slot: [place] for slot, place in places.items()})
    return {action: found[action] for action in actions if action in found}


def buttons(states: Any, k: int, actions: Sequence[int], seat: int | None = None) -> dict[int, str]:
    """Return the words on the buttons for the end of a phase, and for yes and no."""
    ends = {PLAY_NODE: "no more actions", BUY_NODE: "end the turn"}
    words = {END: ends.get(int(states[k]["node"]), "no more cards"), YES: "yes", NO: "no"}
    return {action: words[action] for action in actions if action in words}


def _changed(s: Any, last: LastTurn, looker: int | None, layout: _Layout) -> list[str]:
    """Return the outlines of a seat's last turn: the piles from which it took cards, or the card that it played last.

    For cards that it discarded or put back, it is the outline of the pile where they lie.
    """
    of, piles = last.seat, _piles(layout)
    actions = last.actions[:-1] if last.actions[-1] == END else last.actions
    taken = []
    for action in reversed(actions):
        slot = (action - PLAY_FIRST) % N_SLOTS
        if action - slot not in (BUY_FIRST, GAIN_FIRST):
            break
        taken.append(piles[slot])
    if taken or not actions:
        return taken
    slot = (actions[-1] - PLAY_FIRST) % N_SLOTS
    played = _cards(s, of, "play", sees_hand(s, looker, of), layout).get(slot)
    discards, deck = _small(layout, of, layout.discards), _small(layout, of, layout.deck)
    places = {PLAY_FIRST: played, DISCARD_FIRST: discards, PUT_BACK_FIRST: deck}
    changed = places.get(actions[-1] - slot)
    return [changed] if changed else []


def _piles(layout: _Layout) -> dict[int, str]:
    """Return the outlines of the piles of the supply, by slot."""
    return {slot: box(_left(layout, row) + i * (W + _GAP), y, W, H) for y, row in layout.supply for i, slot in enumerate(row)}


def _cards(s: Any, of: int, wanted: str, open_hand: bool, layout: _Layout) -> dict[int, str]:
    """Return the outlines of the cards that a seat has in its hand, in play or aside, by slot."""
    groups = _groups_of(s, of)
    _, places = _places_of_cards(groups, open_hand, layout)
    return {slot: _small(layout, of, x) for (name, _), row in zip(groups, places, strict=True) if name == wanted for slot, x in row}


def _small(layout: _Layout, of: int, x: float) -> str:
    """Return the outline of a small card in the panel of a seat."""
    return box(layout.margin + x, layout.seats[of] + layout.cards, W * _SMALL, H * _SMALL)


def _left(layout: _Layout, row: Sequence[int]) -> float:
    """Return the x at which a row of the supply begins. A row of a narrow picture may be short."""
    return layout.margin if layout.margin != _MARGIN else (layout.width - len(row) * (W + _GAP) + _GAP) / 2


def _head(s: Any, layout: _Layout) -> list[str]:
    """Draw the name of the game, the heading, and the actions, buys and coins left."""
    margin, at = layout.margin, 210 if layout.margin == _MARGIN else 170
    parts = [
        write("dominion", margin, 52, 26, TEXT, 2.1),
        fitted(heading(s), margin + at, 42, 13, layout.width - 2 * margin - at, TEXT, 1.6, 0),
    ]
    if s["stage"] in (rules.ACTION_PHASE, rules.BUY_PHASE):
        x = margin + at
        for word in ("actions", "buys", "coins"):
            text = f"{s[word]} {word if s[word] != 1 else word[:-1]}"
            parts.append(write(text, x, 66, 11, MUTED, 1.6))
            x += width_of(text, 11) + 22
    return parts


def _seat(s: Any, of: int, score: int, won: bool, open_hand: bool, layout: _Layout) -> str:
    """Draw one seat: its name and points, deck and discards, its hand, and its cards in play or revealed."""
    width, is_narrow = layout.width - 2 * layout.margin, layout.margin != _MARGIN
    to_move = of == mover(s)
    band = COIN if won else SEAT_COLOURS[of] if to_move else LINE
    turns = f"{s['turns'][of]} turn{'' if s['turns'][of] == 1 else 's'}" + (" - winner" if won else "")
    score_x, score_y, turns_x, turns_y = (36, 76, 36, 106) if not is_narrow else (width - 100, 28, 230, 28)
    parts = [
        rectangle(0, 0, width, layout.row, f'fill="{PANEL}" stroke="{band}" stroke-width="{4 if to_move or won else 2}"', 14),
        rectangle(14, 14, 8, (20 if is_narrow else layout.row - 28), f'fill="{SEAT_COLOURS[of]}"', 4),
        write(f"player {of}", 36, 30 if is_narrow else 38, 14, TEXT, 1.7),
        write(str(score), score_x, score_y, 20 if is_narrow else 24, TEXT, 2),
        write("points", score_x + 11 + width_of(str(score), 24), score_y, 11, MUTED, 1.6),
        write(turns, turns_x, turns_y, 11, MUTED, 1.6),
    ]
    y = layout.cards
    n_discard = int(s["discard"][of].astype(int).sum())
    top = card_name(s, int(s["top"][of][s["n_top"][of] - 1])) if s["n_top"][of] else ""
    parts.append(moved(layout.deck, y, back_art(int(s["n_deck"][of]), "deck", top), _SMALL))
    discards = rectangle(1, 1, W - 2, H - 2, f'fill="none" stroke="{MUTED}" stroke-width="3" stroke-dasharray="2 8"', 11)
    discards += write(str(n_discard), W / 2, H / 2 + 10, 26, MUTED, 2, 0.5) + write("discards", W / 2, H - 22, 11.5, MUTED, 1.6, 0.5)
    parts.append(moved(layout.discards, y, f'<g class="discards">{discards}</g>', _SMALL))
    parts.append(_groups([CARDS[number] for number in s["card"]], _groups_of(s, of), open_hand, layout))
    return f'<g class="seat seat-{of}{" to-move" if to_move else ""}{" winner" if won else ""}">{"".join(parts)}</g>'


def _groups_of(s: Any, of: int) -> list[tuple[str, Any]]:
    """Return the piles that are drawn side by side for a seat: its hand, and its cards in play or aside."""
    groups: list[tuple[str, Any]] = [("hand", s["hand"][of])]
    groups += [("play", s["play"])] if of == s["turn"] and s["play"].any() else []
    return groups + ([("aside", s["aside"])] if of == s["draw_seat"] and s["aside"].any() else [])


def _places_of_cards(groups: list[tuple[str, Any]], open_hand: bool, layout: _Layout) -> tuple[list[float], list[list[tuple[int, float]]]]:
    """Return for each group the x at which it begins, and a (slot, x) for each kind of its cards. Cards overlap where room is short.

    A hand that is face down is one card, where the group begins.
    """
    face_up = [[slot for slot, n in enumerate(pile) if n] if name != "hand" or open_hand else [] for name, pile in groups]
    room = layout.width - 2 * layout.margin - layout.hand - 16
    step = min(W * _SMALL + 8, (room - _APART * (len(groups) - 1)) / sum(max(1, len(slots)) for slots in face_up))
    starts, places = list[float](), []
    x = layout.hand
    for (name, _), slots in zip(groups, face_up, strict=True):
        x += _APART if name != "hand" else 0
        starts.append(x)
        places.append([(slot, x + i * step) for i, slot in enumerate(slots)])
        is_down = name == "hand" and not open_hand
        x = max(x + (1 if is_down else len(slots)) * step, x + 20)
    return starts, places


def _groups(cards: list[Card], groups: list[tuple[str, Any]], open_hand: bool, layout: _Layout) -> str:
    """Draw piles side by side, each kind of card once, with the number of such cards."""
    parts, y = [], layout.cards
    for (name, pile), x, places in zip(groups, *_places_of_cards(groups, open_hand, layout), strict=True):
        if name != "hand":
            left = x - _APART
            parts.append(f'<path d="M{left + 6:.4g} {y + 4:.4g}v{H * _SMALL - 8:.4g}" stroke="{LINE}" stroke-width="3"/>')
            turned = f'transform="translate({left + 17:.4g} {y + H * _SMALL - 6:.4g})rotate(-90)"'
            parts.append(f"<g {turned}>{write(name, 0, 0, 10, MUTED, 1.6)}</g>")
        elif not open_hand:
            parts.append(moved(x, y, back_art(int(pile.astype(int).sum()), "hand"), _SMALL))
        parts += [moved(at, y, cards_art(cards[slot], int(pile[slot])), _SMALL) for slot, at in places]
    return "".join(parts)
