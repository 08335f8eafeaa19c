"""The letters of drawings as strokes, so that a drawing shows its words on a machine that has no fonts.

A letter is defined once in <defs> and used wherever it occurs. A digit is 10 high, and the baseline is y = 0.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

_BOWL = "M3 -6.6A3 3.3 0 1 0 3 0A3 3.3 0 1 0 3 -6.6Z"

# character -> (width without the stroke, path). The 1 is given more width than its path has, so that the blank after it is seen.
LETTERS: dict[str, tuple[float, str]] = {
    "0": (6, "M3 -10C1 -10 0 -7.8 0 -5S1 0 3 0S6 -2.2 6 -5S5 -10 3 -10Z"),
    "1": (4.2, "M0 -7.8L3 -10V0"),
    "2": (5.8, "M.2 -7.4C.4 -10.8 5.6 -10.9 5.6 -7.3C5.6 -4.8 1.6 -2.8 0 0H5.8"),
    "3": (5.6, "M.4 -8.7C1.5 -10.6 5.3 -10.3 5.3 -7.7C5.3 -6 3.9 -5.4 2.4 -5.4C4.2 -5.4 5.6 -4.6 5.6 -2.8C5.6 .6 1 .8 0 -1.7"),
    "4": (6, "M4.4 0V-10L0 -2.9H6"),
    "5": (5.6, "M5.2 -10H1L.4 -5.3C1.8 -6.7 5.6 -6.5 5.6 -3.2C5.6 .6 1 .8 0 -1.6"),
    "6": (6, "M4.5 -10C2 -8.2 0 -5.7 0 -3.1A3 3.1 0 1 0 6 -3.1A3 3.1 0 0 0 .1 -3.9"),
    "7": (5.6, "M0 -10H5.6L1.9 0"),
    "8": (5.8, "M2.9 -5.4A2.4 2.3 0 1 1 2.9 -10A2.4 2.3 0 1 1 2.9 -5.4A2.9 2.7 0 1 0 2.9 0A2.9 2.7 0 1 0 2.9 -5.4Z"),
    "9": (6, "M1.5 0C4 -1.8 6 -4.3 6 -6.9A3 3.1 0 1 0 0 -6.9A3 3.1 0 0 0 5.9 -6.1"),
    "a": (6, _BOWL + "M6 -6.6V0"),
    "b": (6, _BOWL + "M0 -10V0"),
    "c": (5.2, "M5.4 -5.3A3 3.3 0 1 0 5.4 -1.3"),
    "d": (6, _BOWL + "M6 -10V0"),
    "e": (6, "M.1 -3.5H6A3 3.3 0 1 0 5.2 -1.1"),
    "f": (3.6, "M3.8 -9.9C1.9 -10.4 1.4 -9.2 1.4 -8V0M0 -6.5H3.4"),
    "g": (6, _BOWL + "M6 -6.6V.3C6 3.6 1.6 3.8 .5 2.2"),
    "h": (5.4, "M0 -10V0M0 -3.6C0 -7.6 5.4 -7.9 5.4 -3.8V0"),
    "i": (0, "M0 -6.6V0M0 -9.4V-9.3"),
    "j": (1.4, "M1.4 -6.6V1.2C1.4 2.7 .8 3.2 -.2 3M1.4 -9.4V-9.3"),
    "k": (4.8, "M0 -10V0M4.6 -6.6L0 -2.5M1.8 -4.1L4.8 0"),
    "l": (1.2, "M0 -10V-1.5Q0 0 1.2 0"),
    "m": (8.8, "M0 -6.6V0M0 -3.8C0 -7.6 4.4 -7.7 4.4 -4V0M4.4 -4C4.4 -7.7 8.8 -7.7 8.8 -4V0"),
    "n": (5.4, "M0 -6.6V0M0 -3.6C0 -7.6 5.4 -7.9 5.4 -3.8V0"),
    "o": (6, _BOWL),
    "p": (6, _BOWL + "M0 -6.6V3.3"),
    "q": (6, _BOWL + "M6 -6.6V3.3"),
    "r": (3.2, "M0 -6.6V0M0 -3.4C0 -5.7 1.3 -7 3.3 -6.4"),
    "s": (4.8, "M4.5 -5.5C3.9 -7 .3 -7.1 .3 -5C.3 -2.8 4.8 -4 4.8 -1.7C4.8 .5 .7 .4 0 -1.3"),
    "t": (3.6, "M1.4 -9V-1.8C1.4 -.1 2.5 .2 3.7 -.2M0 -6.5H3.5"),
    "u": (5.4, "M5.4 -6.6V0M5.4 -3C5.4 1 0 1.3 0 -2.8V-6.6"),
    "v": (5.4, "M0 -6.6L2.7 0L5.4 -6.6"),
    "w": (8.4, "M0 -6.6L2.1 0L4.2 -6.2L6.3 0L8.4 -6.6"),
    "x": (5, "M0 -6.6L5 0M5 -6.6L0 0"),
    "y": (5.6, "M0 -6.6L2.8 -.2M5.6 -6.6L2.6 .8C1.9 2.6 1.2 3.2 0 2.9"),
    "z": (5, "M0 -6.6H5L0 0H5"),
    "+": (5, "M0 -4.4H5M2.5 -6.9V-1.9"),
    "-": (4, "M0 -4H4"),
}
_BETWEEN = 2.3  # the gap between two letters
_SPACE = 4.0  # a blank between two letters makes the gap wider by this


def width_of(text: str, height: float) -> float:
    """The width of the text. Half the width of a stroke, which sticks out at either end, is not counted."""
    advance = sum(_SPACE if letter == " " else LETTERS[letter][0] + _BETWEEN for letter in text)
    return (advance - _BETWEEN) * height / 10


def write(text: str, x: float, y: float, height: float, colour: str, weight: float = 1.5, anchor: float = 0) -> str:
    """The text as SVG, with its baseline at y. x is the left end of the text for anchor 0, the middle for 0.5, the right end for 1."""
    uses = []
    at = 0.0
    for letter in text:
        if letter == " ":
            at += _SPACE
            continue
        uses.append(f'<use href="#k{ord(letter)}" x="{at:.4g}"/>' if at else f'<use href="#k{ord(letter)}"/>')
        at += LETTERS[letter][0] + _BETWEEN
    left = x - anchor * width_of(text, height)
    middle = ' class="middle"' if anchor == 0.5 else ""  # for programs that write other words there
    return (
        f'<g aria-label="{text}" transform="translate({left:.1f} {y:.1f})scale({height / 10:.4g})"{middle} '
        f'fill="none" stroke="{colour}" stroke-width="{weight}">{"".join(uses)}</g>'
    )


def fitted(text: str, x: float, y: float, height: float, room: float, colour: str, weight: float = 1.5, anchor: float = 0) -> str:
    """The text as from `write`, smaller if it would be wider than the room."""
    return write(text, x, y, min(height, height * room / width_of(text, height)), colour, weight, anchor)


def picture(title: str, width: float, height: float, ground: str, drawing: str, shapes: str = "") -> str:
    """The whole SVG of a drawing on a ground of this colour. `shapes` are those that it refers to, besides letters."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'stroke-linecap="round" stroke-linejoin="round"><title>{escape(title)}</title><defs>{shapes}{definitions(drawing)}</defs>'
        f'<rect width="{width}" height="{height}" fill="{ground}"/>{drawing}</svg>'
    )


def definitions(drawing: str) -> str:
    """The letters that this drawing uses, for <defs>."""
    return "".join(f'<path id="k{ord(letter)}" d="{path}"/>' for letter, (_, path) in LETTERS.items() if f'"#k{ord(letter)}"' in drawing)
