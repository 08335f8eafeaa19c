"""Charts as SVG: a heat map of the results of policies against each other, and a histogram of margins."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from xml.sax.saxutils import escape

from kdenv.drawing.style import LOST, PALE, TIED, WIDTH, WON, colour, fill, heading, in_lines, picture, shortened, stroke, words

_LEFT, _RIGHT = 20, WIDTH - 20
_BARS = 45  # the most bars on each side of 0
_HIGH = 130


def heat_map(title: str, names: Sequence[str], share: Callable[[int, int], float], said: Callable[[int, int], str], below: str) -> str:
    """The share, from 0 to 1, of each row against each column. nan is left blank. `said` is the tooltip of a place."""
    n = len(names)
    side = min(44.0, (WIDTH - 24 - 150) / max(1, n))
    left = WIDTH - 12 - side * n
    drawn, top = heading(title)
    top += 26
    for number, name in enumerate(names):
        middle = side * (number + 0.5)
        drawn.append(words(left - 8, top + middle + 4, shortened(f"{number + 1} {name}", left - 20), anchor="end"))
        drawn.append(words(left + middle, top - 7, str(number + 1), anchor="middle", ink=PALE))
    for row in range(n):
        for column in range(n):
            value = share(row, column)
            if row == column or math.isnan(value):
                continue
            x, y = left + side * column, top + side * row
            tint = f'{fill(colour(0) if value > 0.5 else colour(1))} fill-opacity="{0.06 + 0.6 * abs(2 * value - 1):.2f}"'
            tooltip = f"<title>{escape(said(row, column))}</title>"
            drawn.append(
                f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{side - 2:.1f}" height="{side - 2:.1f}" rx="2" {tint}>{tooltip}</rect>'
            )
            if side >= 24:
                drawn.append(words(x + side / 2, y + side / 2 + 4, f"{100 * value:.0f}", anchor="middle", more=' pointer-events="none"'))
    bottom = top + side * n + 22
    for line in in_lines(below, WIDTH - 24):
        drawn.append(words(12, bottom, line, ink=PALE))
        bottom += 17
    return picture(title, bottom, drawn)


def histogram(title: str, games: Mapping[int, int], across: str) -> str:
    """A bar for every margin, or for every few neighbouring ones. Its height is the number of games with this margin."""
    step = max(1, math.ceil(max(map(abs, games)) / _BARS))
    bars: Counter[int] = Counter()  # bar 0 is a margin of 0, bar 1 the margins from 1 to step, bar -1 those from -1 to -step
    for margin, count in games.items():
        bar = math.ceil(abs(margin) / step)
        bars[bar if margin > 0 else -bar] += count
    low, high = min(0, *bars), max(0, *bars)
    width, highest = (_RIGHT - _LEFT) / (high - low + 1), max(bars.values())
    drawn, top = heading(title)
    bottom = top + 8 + _HIGH
    drawn.append(f'<path d="M{_LEFT} {bottom:.1f}H{_RIGHT}" {stroke(TIED)}/>')
    for bar, count in sorted(bars.items()):
        least, most = (abs(bar) - 1) * step + 1, abs(bar) * step
        sign, ink = ("+", WON) if bar > 0 else ("-", LOST) if bar < 0 else ("", TIED)
        which = "0" if bar == 0 else f"{sign}{most}" if step == 1 else f"{sign}{least} to {sign}{most}"
        height = _HIGH * count / highest
        drawn.append(
            f'<rect x="{_LEFT + (bar - low + 0.1) * width:.1f}" y="{bottom - height:.1f}" width="{0.8 * width:.1f}" '
            f'height="{height:.1f}" {fill(ink)}><title>{which}: {count}</title></rect>'
        )
    for bar in sorted({low, 0, high}):
        drawn.append(words(_LEFT + (bar - low + 0.5) * width, bottom + 18, f"{bar * step:+d}" if bar else "0", anchor="middle", ink=PALE))
    drawn.append(words(WIDTH / 2, bottom + 38, across, anchor="middle"))
    return picture(title, bottom + 50, drawn)
