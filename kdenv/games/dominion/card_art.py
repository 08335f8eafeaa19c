"""The cards of Dominion as SVG, drawn for this package: a frame by type, the printed numbers, and the other text in a few words."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from kdenv.drawing import letters as lettering
from kdenv.drawing.letters import width_of, write
from kdenv.drawing.shapes import rectangle
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
from kdenv.games.dominion.told import gifts

PAPER, PANEL, INK, MUTED, LINE, COIN = "#ece5d8", "#fbf8f1", "#2f2a26", "#8b8073", "#d6cbb9", "#e2b33c"
TEXT = "#2f2a27"  # of letters on paper and panels, which are light in the dark
# By type, the colours of a card's frame and of its face. The first of these types that a card has counts.
_FRAMES = {
    REACTION: ("#3f7fb5", "#e3eef7"),
    ATTACK: ("#a8483c", "#f6e6e1"),
    TREASURE: ("#c2912a", "#f8ecc8"),
    VICTORY: ("#5a8f4e", "#e2efd9"),
    CURSES: ("#7b5794", "#ebe0f1"),
    ACTION: ("#8d8377", "#f4f1ea"),
}
W, H = 104, 138  # width and height of a card

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


def fitted(text: str, x: float, y: float, height: float, room: float, colour: str, weight: float = 1.5, anchor: float = 0.5) -> str:
    """Write a text, smaller if it would not fit into the room."""
    return lettering.fitted(_letters(text), x, y, height, room, colour, weight, anchor)


def _letters(text: str) -> str:
    """Return the text in small letters, with blanks for letters that cannot be drawn."""
    return "".join(letter if letter in lettering.LETTERS else " " for letter in text.lower())


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


def card_art(card: Card, with_cost: bool = True) -> str:
    """Draw a card face up."""
    frame, face = _look(card)
    types = ", ".join(TYPE_NAMES[kind] for kind in card.types)
    parts = [
        f"<title>{escape(f'{card.name}, costs {card.cost}: {types}. {card.text}'.strip())}</title>",
        rectangle(0, 0, W, H, f'fill="{face}" stroke="{frame}" stroke-width="5"', 11),
        f'<path d="M2.5 27V12a9.5 9.5 0 0 1 9.5-9.5h{W - 24}a9.5 9.5 0 0 1 9.5 9.5V27z" fill="{frame}"/>',
        fitted(card.name.lower(), W / 2, 20, 12.5, W - 16, "#fff", 1.9),
    ]
    middle = 74
    if TREASURE in card.types:
        parts.append(_coin(W / 2, middle, 24, card.coins, 22))
    elif ACTION in card.types:
        lines = _lines(card)
        apart = 18 if len(lines) < 4 else 16
        top = middle - apart / 2 * (len(lines) - 1) + (5 if len(lines) < 4 else 0)
        parts += [fitted(line, W / 2, top + apart * i, 11.5, W - 16, INK, 1.6) for i, line in enumerate(lines)]
    if card.points_per_ten:
        parts += [
            _shield(W / 2, middle - 13, f"{card.points_per_ten}"),
            write("per 10 cards", W / 2, middle + 27, 10, INK, 1.5, 0.5),
        ]
    elif card.points:
        parts.append(_shield(W / 2, middle, str(card.points)))
    if with_cost:
        parts.append(_coin(19, H - 18, 12, card.cost, 11))
    return "".join(parts)


def pile_art(s: Any, slot: int) -> str:
    """Draw a pile of the supply: the card with its cost, and the number of cards left."""
    card, left = CARDS[s["card"][slot]], int(s["supply"][slot])
    parts = [rectangle(4, 5, W, H, f'fill="{LINE}"', 11) if left > 1 else "", card_art(card)]
    text = str(left)
    wide = width_of(text, 12) + 16
    parts.append(rectangle(W - wide - 7, H - 29, wide, 22, f'fill="{INK if left else MUTED}"', 11))
    parts.append(write(text, W - 7 - wide / 2, H - 12, 12, "#fff", 1.8, 0.5))
    opacity = "" if left else ' opacity=".35"'
    return f'<g class="pile slot-{slot}"{opacity}>{"".join(parts)}</g>'


def back_art(number: int, what: str, top: str = "") -> str:
    """Draw a card face down with a number on it, and the name of a card known to be on top."""
    parts = [
        rectangle(0, 0, W, H, f'fill="#54646e" stroke="{INK}" stroke-width="3"', 11),
        rectangle(10, 10, W - 20, H - 20, 'fill="none" stroke="#93a4ad" stroke-width="2"', 7),
        write(str(number), W / 2, H / 2 + 10, 26, "#fff", 2, 0.5),
        write(what, W / 2, H - 22, 11.5, "#dfe6ea", 1.6, 0.5),
        fitted(f"top {top}", W / 2, 36, 11.5, W - 28, COIN, 1.6) if top else "",
    ]
    return f'<g class="{what}">{"".join(parts)}</g>'


def cards_art(card: Card, n: int) -> str:
    """Draw n cards of a kind, with the number on them if there are several."""
    badge = ""
    if n > 1:
        badge = rectangle(W - 38, H - 38, 30, 30, f'fill="{INK}"', 15) + write(str(n), W - 23, H - 16, 15, "#fff", 2, 0.5)
    return (rectangle(5, 6, W, H, f'fill="{LINE}"', 11) if n > 1 else "") + card_art(card, with_cost=False) + badge
