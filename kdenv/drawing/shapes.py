"""Outlines as the data of an SVG path, and shapes as SVG.

Outlines are the places to click for an action (Drawing in core/protocols.py). `mark` draws some of them, as frames around the last move.
"""

from collections.abc import Sequence

# The colours of seats, which differ for every kind of colour-blindness (tests/games/test_pictures.py).
SEATS = ("#c8441a", "#1f63b0", "#ffd23c", "#2d2a2b", "#9fe0d8")
_GOLD, _DARK = "#ffd84a", "#2f2a26"


def box(x: float, y: float, width: float, height: float) -> str:
    """A rectangle with its left upper corner at (x, y)."""
    return f"M{x:.5g} {y:.5g}h{width:.5g}v{height:.5g}h{-width:.5g}z"


def disc(x: float, y: float, radius: float) -> str:
    """A circle around (x, y)."""
    return f"M{x - radius:.5g} {y:.5g}a{radius:g} {radius:g} 0 1 0 {2 * radius:g} 0a{radius:g} {radius:g} 0 1 0 {-2 * radius:g} 0z"


def rectangle(x: float, y: float, width: float, height: float, look: str, radius: float = 8) -> str:
    """A rectangle with round corners. `look` has its other attributes, such as its fill."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" {look}/>'


def moved(x: float, y: float, shapes: str, scale: float = 1) -> str:
    """These shapes, scaled and with their point (0, 0) at (x, y)."""
    return f'<g transform="translate({x:.5g} {y:.5g}){f"scale({scale:.4g})" if scale != 1 else ""}">{shapes}</g>'


def mark(outlines: Sequence[str], width: float = 4.5) -> str:
    """A golden frame along each of these outlines, with a dark edge, so that it is visible on every ground."""
    d = "".join(outlines)
    look = 'fill="none" stroke-linejoin="round"'
    dark = f'<path d="{d}" {look} stroke="{_DARK}" stroke-width="{width + 2.5:g}" stroke-opacity=".55"/>'
    return f'<g class="last">{dark}<path d="{d}" {look} stroke="{_GOLD}" stroke-width="{width:g}"/></g>' if d else ""
