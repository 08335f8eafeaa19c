"""Draw positions of Dominion: `ansi` in letters for a terminal, and `svg` as a picture, which needs no fonts.

If a seat is given, the picture shows that seat's knowledge: other hands lie face down (unless info=thesis). The cards are drawn
for this package: a frame by type, the printed numbers, and the rest of the card's text in a few words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from kdenv.core.protocols import LastTurn
from kdenv.drawing import letters as lettering
from kdenv.drawing.letters import width_of, write
from kdenv.drawing.shapes import SEATS, box, mark, moved, rectangle
from kdenv.games.dominion import rules
from kdenv.games.dominion.cards import (
    ACTION,
    ANY,
    ATTACK,
    CARDS,
    CURSES,
    DIG,
    DISCARD,
    DRAW_AS_MANY,
    DRAW_TO,
    GAIN,
    GAIN_CARD,
    GAIN_FOR_TRASHED,
    MANY,
    MAY_DISCARD_DECK,
    NO_CARD,
    OTHERS_DISCARD_TO,
    OTHERS_DRAW,
    OTHERS_GAIN,
    OTHERS_PUT_BACK,
    PLAY_TWICE,
    REACTION,
    SPY,
    STEAL,
    TRASH,
    TRASH_FOR_COINS,
    TRASH_THIS,
    TREASURE,
    TYPE_NAMES,
    VICTORY,
    Card,
)
from kdenv.games.dominion.notation import card_name, pile_text
from kdenv.games.dominion.progress import (
    AGAIN_NODE,
    ASK_NODE,
    BUY_NODE,
    DISCARD_NODE,
    DRAW_NODE,
    GAIN_NODE,
    LOOT_NODE,
    OVER_NODE,
    PLAY_NODE,
    PUT_BACK_NODE,
    TRASH_NODE,
)
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
from kdenv.games.dominion.told import gifts
from kdenv.games.dominion.told import told as told
from kdenv.games.dominion.told import told_chance as told_chance

_TASKS = {
    OVER_NODE: "the end",
    DRAW_NODE: "draws",
    PLAY_NODE: "to play",
    BUY_NODE: "to buy",
    AGAIN_NODE: "to play twice",
    TRASH_NODE: "to trash",
    GAIN_NODE: "to gain",
    DISCARD_NODE: "to discard",
    PUT_BACK_NODE: "to put back",
    LOOT_NODE: "to trash",
    ASK_NODE: "yes or no",
}


def mover(s: Any) -> int | None:
    """Return the seat that decides or draws; None when the game is over."""
    if s["node"] == OVER_NODE:
        return None
    return int(s["draw_seat"] if s["node"] == DRAW_NODE else s["decider"])


def points(states: Any, k: int) -> list[int]:
    """Return the points of every seat."""
    out = np.zeros(int(states[k]["players"]), np.int64)
    rules.scores(states[k], out)
    return out.tolist()


def sees_hand(s: Any, seat: int | None, of: int) -> bool:
    """Return whether the picture for `seat` shows the hand of seat `of`. None sees all hands."""
    return seat is None or seat == of or s["info"] == rules.OPEN_HANDS


def winners(states: Any, k: int) -> list[int]:
    """Return the seats that won; none before the end."""
    if states[k]["node"] != OVER_NODE:
        return []
    out = np.zeros(int(states[k]["players"]), np.int64)
    rules.standings(states[k], out)
    return [seat for seat, standing in enumerate(out) if standing == out.max()]


def heading(s: Any) -> str:
    """Return the heading: the turn and the question, in letters that the picture can draw."""
    if s["node"] == OVER_NODE:
        return f"broken off after {s['max_turns']} turns" if s["is_truncated"] else "the end"
    if s["stage"] == rules.OPENING:
        return f"player {s['draw_seat']} draws the first hand"
    asker = f" for {card_name(s, int(s['run_slot'][s['depth'] - 1])).lower()}" if s["depth"] else ""
    return f"turn {s['turns'][s['turn']]} of player {s['turn']} - player {mover(s)} {_TASKS[int(s['node'])]}{asker}"


# Letters for a terminal

_RESET, _BOLD, _DIM = "\x1b[0m", "\x1b[1m", "\x1b[2m"
_INKS = {TREASURE: "\x1b[33m", VICTORY: "\x1b[32m", CURSES: "\x1b[35m", ATTACK: "\x1b[31m", REACTION: "\x1b[34m", ACTION: "\x1b[36m"}


def ansi(states: Any, k: int, seat: int | None = None) -> str:
    """Draw the table in lines of text, with colours by type of card."""
    s = states[k]
    lines = [f"{_BOLD}Dominion{_RESET}  {heading(s)}", f"actions {s['actions']}  buys {s['buys']}  coins {s['coins']}", ""]
    for first, last in ((0, 3), (3, N_BASIC), (N_BASIC, 12), (12, N_SLOTS)):
        piles = [_pile_line(s, slot) for slot in range(first, last) if s["card"][slot] != NO_CARD]
        lines += ["  ".join(piles)] if piles else []
    lines.append("")
    for of, score in enumerate(points(states, k)):
        n_hand, n_discard = (int(s[pile][of].astype(int).sum()) for pile in ("hand", "discard"))
        hand = (_coloured(s, s["hand"][of]) or "none") if sees_hand(s, seat, of) else f"{n_hand} cards"
        mark = ">" if of == mover(s) else "*" if of in winners(states, k) else " "
        top = f" (top {card_name(s, int(s['top'][of][s['n_top'][of] - 1]))})" if s["n_top"][of] else ""
        who = f"{mark} {_BOLD}player {of}{_RESET} {score:3} points"
        lines.append(f"{who}  deck {s['n_deck'][of]:2}{top}  discards {n_discard:2}  hand: {hand}")
        for pile in ("play", "aside"):
            if s[pile].any() and of == (s["turn"] if pile == "play" else s["draw_seat"]):
                lines.append(f"    {pile}: {_coloured(s, s[pile])}")
    if s["trash"].any():
        lines += ["", f"{_DIM}trash: {pile_text(s, s['trash'])}{_RESET}"]
    return "\n".join(lines) + "\n"


def _ink(s: Any, slot: int) -> str:
    return next((ink for kind, ink in _INKS.items() if int(s["of_type"][kind]) >> slot & 1), "")


def _pile_line(s: Any, slot: int) -> str:
    """Write one pile: its cost, its name and the cards left."""
    left = int(s["supply"][slot])
    ink = _ink(s, slot) if left else _DIM
    return f"{s['cost'][slot]} {ink}{card_name(s, slot):<12}{_RESET}{left:3}"


def _coloured(s: Any, pile: Any) -> str:
    return ", ".join(f"{int(n)} {_ink(s, slot)}{card_name(s, slot)}{_RESET}" for slot, n in enumerate(pile) if n)


# The picture

PAPER, PANEL, INK, MUTED, LINE, COIN = "#ece5d8", "#fbf8f1", "#2f2a26", "#8b8073", "#d6cbb9", "#e2b33c"
TEXT = "#2f2a27"  # of letters on paper and panels, which are light in the dark
DARK = {PAPER: "#24221f", PANEL: "#322e2a", TEXT: "#ece6da", MUTED: "#b0a595", LINE: "#4b453d"}
SEAT_COLOURS = (SEATS[0], SEATS[1], SEATS[4], SEATS[3])
# By type, the colours of a card's frame and of its face. The first of these types that a card has counts.
_FRAMES = {
    REACTION: ("#3f7fb5", "#e3eef7"),
    ATTACK: ("#a8483c", "#f6e6e1"),
    TREASURE: ("#c2912a", "#f8ecc8"),
    VICTORY: ("#5a8f4e", "#e2efd9"),
    CURSES: ("#7b5794", "#ebe0f1"),
    ACTION: ("#8d8377", "#f4f1ea"),
}
_W, _H = 104, 138  # width and height of a card
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
        width, margin, row = 2 * _MARGIN + 10 * (_W + _GAP) - _GAP, _MARGIN, 132
        tops = [_HEAD + i * (_H + 18) for i in range(3)]
        supply = [(top, slots) for top, slots in zip(tops, [r for r in (range(N_BASIC), kingdom) if r], strict=False)]
        seats: dict[int, float] = {of: tops[len(supply)] + 4 + of * (row + 12) for of in order}
        bottom = tops[len(supply)] + 4 + len(order) * (row + 12)
        return _Layout(width, margin, supply, seats, bottom, row, 176, 262, 356, (row - _H * _SMALL) / 2)
    first, row = max(0, seat or 0), 146
    order = order[first:] + order[:first]
    slots = [*kingdom, *range(N_BASIC)]
    top = _HEAD + row + 14
    supply = [(top + i // _IN_A_ROW * (_H + 12), slots[i : i + _IN_A_ROW]) for i in range(0, len(slots), _IN_A_ROW)]
    below = top + len(supply) * (_H + 12) + 4
    seats = {first: float(_HEAD)} | {of: below + i * (row + 10) for i, of in enumerate(order[1:])}
    bottom = below + (len(order) - 1) * (row + 10)
    return _Layout(20 + _IN_A_ROW * (_W + _GAP) - _GAP, 10, supply, seats, bottom, row, 14, 98, 186, 40)


_STEP_WORDS = {
    DISCARD: lambda n, kind, how: "discard" if n == MANY else f"discard {n}",
    DRAW_AS_MANY: lambda n, kind, how: "draw as many",
    TRASH: lambda n, kind, how: f"trash {n}" if kind == ANY else f"trash {TYPE_NAMES[kind]}",
    GAIN: lambda n, kind, how: f"gain up to {n}",
    GAIN_FOR_TRASHED: lambda n, kind, how: f"gain for +{n}",
    GAIN_CARD: lambda n, kind, how: f"gain {CARDS[n].name.lower()}",
    TRASH_THIS: lambda n, kind, how: "trash this",
    TRASH_FOR_COINS: lambda n, kind, how: f"{CARDS[n].name.lower()} for +{how}",
    OTHERS_GAIN: lambda n, kind, how: f"others {CARDS[n].name.lower()}",
    OTHERS_DRAW: lambda n, kind, how: f"others draw {n}",
    OTHERS_DISCARD_TO: lambda n, kind, how: f"others keep {n}",
    OTHERS_PUT_BACK: lambda n, kind, how: "others put back",
    SPY: lambda n, kind, how: "spy on tops",
    STEAL: lambda n, kind, how: f"steal {TYPE_NAMES[kind]}",
    PLAY_TWICE: lambda n, kind, how: "play twice" if n == 2 else f"play {n} times",
    DRAW_TO: lambda n, kind, how: f"draw to {n}",
    DIG: lambda n, kind, how: f"dig {n} {TYPE_NAMES[kind]}",
    MAY_DISCARD_DECK: lambda n, kind, how: "flip deck",
}


def svg(states: Any, k: int, seat: int | None = None, last: LastTurn | None = None, *, narrow: bool = False) -> str:
    """Draw the table as a picture: the supply, and for each seat its hand, cards in play, deck and discards.

    The card that was played last is marked; after that, the piles from which cards were bought or gained.
    """
    s = states[k]
    layout = _layout(s, seat, narrow)
    parts = _head(s, layout)
    for y, row in layout.supply:
        parts += [moved(_left(layout, row) + i * (_W + _GAP), y, _pile(s, slot)) for i, slot in enumerate(row)]
    scores, won, y = points(states, k), winners(states, k), layout.bottom
    for of, top in layout.seats.items():
        parts.append(moved(layout.margin, top, _seat(s, of, scores[of], of in won, sees_hand(s, seat, of), layout)))
    if s["trash"].any():
        trash = "trash - " + pile_text(s, s["trash"])
        parts.append(_fitted(trash, layout.margin, y + 12, 10, layout.width - 2 * layout.margin, MUTED, 1.5, 0))
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
    return {slot: box(_left(layout, row) + i * (_W + _GAP), y, _W, _H) for y, row in layout.supply for i, slot in enumerate(row)}


def _cards(s: Any, of: int, wanted: str, open_hand: bool, layout: _Layout) -> dict[int, str]:
    """Return the outlines of the cards that a seat has in its hand, in play or aside, by slot."""
    groups = _groups_of(s, of)
    _, places = _places_of_cards(groups, open_hand, layout)
    return {slot: _small(layout, of, x) for (name, _), row in zip(groups, places, strict=True) if name == wanted for slot, x in row}


def _small(layout: _Layout, of: int, x: float) -> str:
    """Return the outline of a small card in the panel of a seat."""
    return box(layout.margin + x, layout.seats[of] + layout.cards, _W * _SMALL, _H * _SMALL)


def _left(layout: _Layout, row: Sequence[int]) -> float:
    """Return the x at which a row of the supply begins. A row of a narrow picture may be short."""
    return layout.margin if layout.margin != _MARGIN else (layout.width - len(row) * (_W + _GAP) + _GAP) / 2


def _fitted(text: str, x: float, y: float, height: float, room: float, colour: str, weight: float = 1.5, anchor: float = 0.5) -> str:
    """Write a text, smaller if it would not fit into the room."""
    return lettering.fitted(_letters(text), x, y, height, room, colour, weight, anchor)


def _letters(text: str) -> str:
    """Return the text in small letters, with blanks for letters that cannot be drawn."""
    return "".join(letter if letter in lettering.LETTERS else " " for letter in text.lower())


def _head(s: Any, layout: _Layout) -> list[str]:
    """Draw the name of the game, the heading, and the actions, buys and coins left."""
    margin, at = layout.margin, 210 if layout.margin == _MARGIN else 170
    parts = [
        write("dominion", margin, 52, 26, TEXT, 2.1),
        _fitted(heading(s), margin + at, 42, 13, layout.width - 2 * margin - at, TEXT, 1.6, 0),
    ]
    if s["stage"] in (rules.ACTION_PHASE, rules.BUY_PHASE):
        x = margin + at
        for word in ("actions", "buys", "coins"):
            text = f"{s[word]} {word if s[word] != 1 else word[:-1]}"
            parts.append(write(text, x, 66, 11, MUTED, 1.6))
            x += width_of(text, 11) + 22
    return parts


def _look(card: Card) -> tuple[str, str]:
    return next(look for kind, look in _FRAMES.items() if kind in card.types)


def _coin(x: float, y: float, radius: float, number: int, text_height: float) -> str:
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{COIN}" stroke="{INK}" stroke-width="1.6"/>'
    return circle + write(str(number), x, y + text_height / 2, text_height, INK, 1.8, 0.5)


def _shield(x: float, y: float, number: str) -> str:
    outline = f"M{x - 18:g} {y - 20:g}h36v20q0 16-18 24q-18-8-18-24z"
    path = f'<path d="{outline}" fill="#fff" fill-opacity=".75" stroke="{INK}" stroke-width="2"/>'
    return path + write(number, x, y + 5, 15, INK, 1.8, 0.5)


def _lines(card: Card) -> list[str]:
    """Return the text of an action card in lines."""
    lines = [*gifts(card), *(_STEP_WORDS[step[0]](*(*step[1:], 0, 0, 0)[:3]) for step in card.steps)]
    return [*lines, "blocks attacks"] if REACTION in card.types else lines


def _card(card: Card, with_cost: bool = True) -> str:
    """Draw a card face up."""
    frame, face = _look(card)
    types = ", ".join(TYPE_NAMES[kind] for kind in card.types)
    parts = [
        f"<title>{escape(f'{card.name}, costs {card.cost}: {types}. {card.text}'.strip())}</title>",
        rectangle(0, 0, _W, _H, f'fill="{face}" stroke="{frame}" stroke-width="5"', 11),
        f'<path d="M2.5 27V12a9.5 9.5 0 0 1 9.5-9.5h{_W - 24}a9.5 9.5 0 0 1 9.5 9.5V27z" fill="{frame}"/>',
        _fitted(card.name.lower(), _W / 2, 20, 12.5, _W - 16, "#fff", 1.9),
    ]
    middle = 74
    if TREASURE in card.types:
        parts.append(_coin(_W / 2, middle, 24, card.coins, 22))
    elif ACTION in card.types:
        lines = _lines(card)
        apart = 18 if len(lines) < 4 else 16
        top = middle - apart / 2 * (len(lines) - 1) + (5 if len(lines) < 4 else 0)
        parts += [_fitted(line, _W / 2, top + apart * i, 11.5, _W - 16, INK, 1.6) for i, line in enumerate(lines)]
    if card.points_per_ten:
        parts += [_shield(_W / 2, middle - 13, f"{card.points_per_ten}"), write("per 10 cards", _W / 2, middle + 27, 10, INK, 1.5, 0.5)]
    elif card.points:
        parts.append(_shield(_W / 2, middle, str(card.points)))
    if with_cost:
        parts.append(_coin(19, _H - 18, 12, card.cost, 11))
    return "".join(parts)


def _pile(s: Any, slot: int) -> str:
    """Draw a pile of the supply: the card with its cost, and the number of cards left."""
    card, left = CARDS[s["card"][slot]], int(s["supply"][slot])
    parts = [rectangle(4, 5, _W, _H, f'fill="{LINE}"', 11) if left > 1 else "", _card(card)]
    text = str(left)
    wide = width_of(text, 12) + 16
    parts.append(rectangle(_W - wide - 7, _H - 29, wide, 22, f'fill="{INK if left else MUTED}"', 11))
    parts.append(write(text, _W - 7 - wide / 2, _H - 12, 12, "#fff", 1.8, 0.5))
    opacity = "" if left else ' opacity=".35"'
    return f'<g class="pile slot-{slot}"{opacity}>{"".join(parts)}</g>'


def _back(number: int, what: str, top: str = "") -> str:
    """Draw a card face down with a number on it, and the name of a card known to be on top."""
    parts = [
        rectangle(0, 0, _W, _H, f'fill="#54646e" stroke="{INK}" stroke-width="3"', 11),
        rectangle(10, 10, _W - 20, _H - 20, 'fill="none" stroke="#93a4ad" stroke-width="2"', 7),
        write(str(number), _W / 2, _H / 2 + 10, 26, "#fff", 2, 0.5),
        write(what, _W / 2, _H - 22, 11.5, "#dfe6ea", 1.6, 0.5),
        _fitted(f"top {top}", _W / 2, 36, 11.5, _W - 28, COIN, 1.6) if top else "",
    ]
    return f'<g class="{what}">{"".join(parts)}</g>'


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
    parts.append(moved(layout.deck, y, _back(int(s["n_deck"][of]), "deck", top), _SMALL))
    discards = rectangle(1, 1, _W - 2, _H - 2, f'fill="none" stroke="{MUTED}" stroke-width="3" stroke-dasharray="2 8"', 11)
    discards += write(str(n_discard), _W / 2, _H / 2 + 10, 26, MUTED, 2, 0.5) + write("discards", _W / 2, _H - 22, 11.5, MUTED, 1.6, 0.5)
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
    step = min(_W * _SMALL + 8, (room - _APART * (len(groups) - 1)) / sum(max(1, len(slots)) for slots in face_up))
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
            parts.append(f'<path d="M{left + 6:.4g} {y + 4:.4g}v{_H * _SMALL - 8:.4g}" stroke="{LINE}" stroke-width="3"/>')
            turned = f'transform="translate({left + 17:.4g} {y + _H * _SMALL - 6:.4g})rotate(-90)"'
            parts.append(f"<g {turned}>{write(name, 0, 0, 10, MUTED, 1.6)}</g>")
        elif not open_hand:
            parts.append(moved(x, y, _back(int(pile.astype(int).sum()), "hand"), _SMALL))
        parts += [moved(at, y, _some(cards[slot], int(pile[slot])), _SMALL) for slot, at in places]
    return "".join(parts)


def _some(card: Card, n: int) -> str:
    """Draw n cards of a kind, with the number on them if there are several."""
    badge = ""
    if n > 1:
        badge = rectangle(_W - 38, _H - 38, 30, 30, f'fill="{INK}"', 15) + write(str(n), _W - 23, _H - 16, 15, "#fff", 2, 0.5)
    return (rectangle(5, 6, _W, _H, f'fill="{LINE}"', 11) if n > 1 else "") + _card(card, with_cost=False) + badge
