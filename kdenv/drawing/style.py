"""Parts of all charts: the paper, its colours on light and on dark pages, words of a known width, and axes with round numbers.

Colours are attributes, which every program that draws SVG understands. A style sheet changes them if the reader prefers dark pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

WIDTH = 460  # of every chart, so that its words can be read on a telephone
LETTER = 13  # the size of letters
_COLOURS = ("#1f5fa8", "#c2571a", "#2f7d32", "#7b3fa0", "#8a6d00", "#b3243c", "#00727a", "#555555", "#c23b86", "#6b4423")
_IN_THE_DARK = ("#7fb2f0", "#f0955a", "#7cc97f", "#c79be8", "#d6b94a", "#f0788a", "#5cc9d0", "#b5b5b5", "#f08cc4", "#c9a27a")
INK, PALE, GRID, PAPER = "#222222", "#666666", "#dddddd", "#ffffff"
WON, TIED, LOST = "#2a9d4a", "#888888", "#c1442d"
_DARK = {
    **dict(zip(_COLOURS, _IN_THE_DARK, strict=True)),
    INK: "#e4e4e4",
    PALE: "#a8a8a8",
    GRID: "#3c4046",
    PAPER: "#1b1d20",
    WON: "#4cc46e",
    TIED: "#9a9a9a",
    LOST: "#ee7a62",
}
_STEPS = (1, 2, 2.5, 5, 10)


def colour(number: int) -> str:
    """The colour of the line of this number."""
    return _COLOURS[number % len(_COLOURS)]


def fill(colour: str) -> str:
    """The attributes of a shape of this colour, one of those above."""
    return f'class="f{colour[1:]}" fill="{colour}"'


def stroke(colour: str, width: float = 1) -> str:
    """The attributes of a line of this colour, one of those above."""
    return f'class="s{colour[1:]}" stroke="{colour}"' + (f' stroke-width="{width:g}"' if width != 1 else "")


def words(x: float, y: float, text: str, *, anchor: str = "start", ink: str = INK, bold: bool = False, more: str = "") -> str:
    """A text with its baseline at y. `anchor` is the place of x in the text: start, middle or end."""
    placed = f' text-anchor="{anchor}"' if anchor != "start" else ""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" {fill(ink)}{placed}{weight}{more}>{escape(text)}</text>'


def width_of(text: str) -> float:
    """About the width of a text; fonts differ."""
    return 0.56 * LETTER * len(text)


def shortened(text: str, width: float) -> str:
    """The text, or its beginning if it is wider than this."""
    most = max(1, int(width / (0.56 * LETTER)))
    return text if len(text) <= most else text[: most - 1] + "…"


def in_lines(text: str, width: float) -> list[str]:
    """The text cut into lines of at most this width, between words if possible."""
    most, lines = max(8, int(width / (0.56 * LETTER))), [""]
    for word in text.split():
        while len(word) > most:
            lines.append(word[:most])
            word = word[most:]
        lines[-1:] = [f"{lines[-1]} {word}".strip()] if len(lines[-1]) + len(word) < most else [lines[-1], word]
    return [line for line in lines if line] or [""]


def heading(title: str) -> tuple[list[str], float]:
    """The title in bold lines, and the height that they take."""
    lines = in_lines(title, WIDTH - 24)
    return [words(12, 22 + 17 * number, line, bold=True) for number, line in enumerate(lines)], 14.0 + 17 * len(lines)


def picture(title: str, height: float, shapes: Iterable[str]) -> str:
    """The whole SVG. The title is for screen readers."""
    drawn = "\n".join(shapes)
    dark = "".join(
        f"svg .{kind}{light[1:]}{{{what}:{night}}}"
        for light, night in _DARK.items()
        for kind, what in (("f", "fill"), ("s", "stroke"))
        if f'"{kind}{light[1:]}"' in drawn or (light == PAPER and kind == "f")
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label={quoteattr(title)} '
        f'font-family="system-ui, sans-serif" font-size="{LETTER}">\n<style>@media (prefers-color-scheme: dark) {{{dark}}}</style>\n'
        f'<rect width="{WIDTH}" height="{height:.0f}" {fill(PAPER)}/>\n{drawn}\n</svg>\n'
    )


def marks(least: float, most: float, about: int = 6) -> list[float]:
    """Round numbers from below `least` to above `most`; their number is near `about`."""
    spread = (most - least) or abs(most) or 1.0
    unit = 10.0 ** math.floor(math.log10(spread / about))
    steps = (each for each in _STEPS if unit != 1 or each != 2.5)  # turns and points are whole numbers
    step = next(each * unit for each in steps if each * unit >= spread / about * 0.999)
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return [round(number * step, 12) for number in range(first, max(last, first + 1) + 1)]


def decades(values: Sequence[float]) -> list[float]:
    """Powers of ten from below the least of these numbers to above the greatest."""
    first, last = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def short(number: float) -> str:
    """A number in the words of an axis: 0.001, 10, 250 000."""
    return f"{number:,.0f}".replace(",", " ") if number >= 1000 else f"{number:.12g}" if number >= 1e-4 or number <= 0 else f"{number:g}"


class Axis:
    """The axis across: the places of numbers, and its marks."""

    def __init__(self, marks: Sequence[float], left: float, right: float, log: bool = False) -> None:
        self.marks, self.left, self.right, self._log = marks, left, right, log

    def x(self, value: float) -> float:
        """The place of this number. A number beyond the axis lies at its end."""
        ends = self.marks[0], self.marks[-1]
        value = min(max(value, ends[0]), ends[1])  # also for inf
        if self._log:
            value, ends = math.log(value), (math.log(ends[0]), math.log(ends[1]))
        return self.left + (self.right - self.left) * (value - ends[0]) / ((ends[1] - ends[0]) or 1.0)

    def drawn(self, top: float, bottom: float, name: str, write: Callable[[float], str] = short, lines: bool = True) -> list[str]:
        """The marks with their words below `bottom`, lines up to `top`, and the name of the axis. They take 44 in height."""
        shapes = []
        every = math.ceil(len(self.marks) * 1.2 * max(width_of(write(mark)) for mark in self.marks) / (self.right - self.left))
        for number, mark in enumerate(self.marks):
            at = self.x(mark)
            up = f"M{at:.1f} {top:.1f}V{bottom:.1f}" if lines else f"M{at:.1f} {bottom:.1f}v5"
            shapes.append(f'<path d="{up}" {stroke(TIED if mark == 0 or not lines else GRID)}/>')
            if number % every == 0:
                shapes.append(words(at, bottom + 18, write(mark), anchor="middle", ink=PALE))
        return [*shapes, words((self.left + self.right) / 2, bottom + 37, name, anchor="middle")]
