"""The shapes of squares, crowns, castles and kings: flat and in our own style, each with an id for <use>.

A square is 64 x 64 and has two designs per terrain, a plain one and a lively one (with a windmill, a boat, a sheep ...). A shape
without a fill takes the fill of the <use>, which is the player's colour.
"""

from __future__ import annotations

TILE = 64
PAPER, PANEL, LINE, HINT, INK, MUTED, GOLD = "#f3ead8", "#fffaf0", "#ddd0b8", "#f1e7d2", "#2e2a36", "#857b72", "#f7c331"
TEXT = "#2e2a37"  # of letters on paper and panels, which are light in the dark
_EDGE = "#fffaf1"  # of castles and kings, which stays as it is

# By seat: the colour of castle and kings, and a colour that is readable on it. They have four steps of lightness, so that they
# differ for every kind of colour-blindness. (A king also has the number of its seat.)
PLAYERS = (("#cf4a1b", "#ffffff"), ("#1f63b0", "#ffffff"), ("#f2a7cf", INK), ("#35323f", "#ffffff"))

_WHEAT = "".join(f'<path d="M0 {y}q-7.5-1-7.5-8.5q6.5 .5 7.5 8.5q1-8 7.5-8.5q0 7.5-7.5 8.5z"/>' for y in (-11, -18, -25))
_BITS = {
    "ear": f'<path d="M0 0V-30" stroke="#a66f12" stroke-width="2.2"/><g fill="#cc8214">{_WHEAT}<path d="M0-30q-4-5 0-11q4 6 0 11z"/></g>',
    "fir": '<path fill="#6b4426" d="M-2.5 0h5v-7h-5z"/><path fill="#17573a" d="M0-42L8.5-28H5L11.5-17H7L14-5H-14L-7-17H-11.5L-5-28H-8.5z"/>'
    '<path fill="#237350" d="M0-42V-5H-14L-7-17H-11.5L-5-28H-8.5z"/>',
    "oak": '<path fill="#6b4426" d="M-2.5 0h5v-14h-5z"/><path fill="#3f9b5c" d="M-9-9a9 9 0 0 1-4-15a10.5 10.5 0 0 1 15-13'
    'a10.5 10.5 0 0 1 11 14a8.5 8.5 0 0 1-5 14z"/><path fill="#5bb574" d="M-7-23a7 7 0 0 1 8-9a9 9 0 0 1-8 9z"/>',
    "tuft": '<path d="M-5-9Q-4-3 0 0Q-1-7 0-12Q1-7 0 0Q4-3 5-9" fill="none" stroke="#5b9a3a" stroke-width="2.6"/>',
    "reed": '<path d="M0 0V-22M0-4Q6-8 6-15" fill="none" stroke="#5f6b33" stroke-width="2"/>'
    '<path d="M0-29v8" stroke="#5b3a26" stroke-width="5"/>',
    "gem": '<path d="M-6-4L-3-8H3L6-4L0 4z"/><path fill="#fff" fill-opacity=".55" d="M-6-4L-3-8L-1.5-4L0 4z"/>',
}


# By terrain, in the order of tables.TERRAINS. The colours differ in lightness or warmth for every kind of colour-blindness.
GROUNDS = ("#f2c553", "#287d52", "#4b9fdc", "#c2e39a", "#b98f6f", "#55505f")


def _ground(colour: str) -> str:
    return f'<path fill="{colour}" d="M0 0h64v64H0z"/>'


def _bits(name: str, *places: tuple[float, float], fill: str = "") -> str:
    """A small shape, drawn in each of these places."""
    rest = f' fill="{fill}"' if fill else ""
    return "".join(f'<use href="#k-{name}" x="{x:g}" y="{y:g}"{rest}/>' for x, y in places)


_WAVE = "q4.5-6 9 0t9 0t9 0"
_RIPPLES = ' fill="none" stroke="#c4e5f8" stroke-width="3"/>'
_FIELD, _FOREST, _WATER, _PASTURE, _CLAY, _MINE = (_ground(colour) for colour in GROUNDS)
_FIELD += '<path d="M2 49q15-6 30 0t30 0M2 59q15-6 30 0t30 0" fill="none" stroke="#e0ae3c" stroke-width="3"/>'
_MILL = (
    '<path fill="#b5523b" d="M32 57l3-26h13l3 26z"/>'
    '<path fill="#8e3d2d" d="M33.5 31a8 7 0 0 1 16 0zM38 57v-9a3.5 3.5 0 0 1 7 0v9z"/>'
    '<path d="M41.5 28L29 17M41.5 28L54 39M41.5 28L53 15.5M41.5 28L30 40.5" stroke="#fff6df" stroke-width="4.5"/>'
    '<circle cx="41.5" cy="28" r="2.5" fill="#6b4426"/>'
)
_BOAT = (
    '<path fill="#84482b" d="M17 43h31q-2 9-7 9H24q-5 0-7-9z"/>'
    '<path fill="#fff8ea" d="M31 40V13Q19 25 18 40z"/><path fill="#fbdcae" d="M34 40V18Q44 28 46 40z"/>'
)
_FLOWERS = (
    '<g fill="#fff"><circle cx="51" cy="50" r="3"/><circle cx="29" cy="27" r="3"/></g>'
    '<g fill="#f0a928"><circle cx="51" cy="50" r="1.2"/><circle cx="29" cy="27" r="1.2"/></g>'
)
_SHEEP = (
    '<path d="M24 46v9M31 47v9M38 46v9" stroke="#3e3640" stroke-width="3.2"/>'
    '<path fill="#fffdf6" d="M20 48a7 7 0 0 1-3-12a7 7 0 0 1 9-8a8 8 0 0 1 12 1a7 7 0 0 1 6 10a6.5 6.5 0 0 1-5 9a7 7 0 0 1-9 2'
    'a7 7 0 0 1-10-2z"/><path fill="#3e3640" d="M42 30q8-3 11 5q1 6-4 7q-7 0-8-6z"/><circle cx="48.5" cy="35" r="1.4" fill="#fff"/>'
)
_PUDDLES = (
    '<g fill="#86614a"><ellipse cx="24" cy="49" rx="18" ry="9"/><ellipse cx="47" cy="27" rx="11" ry="5.5"/></g>'
    '<g fill="#a3c0bd"><ellipse cx="25" cy="48" rx="13" ry="5.5"/><ellipse cx="47.5" cy="26.5" rx="7.5" ry="3"/></g>'
)
_POND = (
    '<g fill="#86614a"><ellipse cx="40" cy="50" rx="19" ry="9.5"/><ellipse cx="15" cy="32" rx="9" ry="4.5"/></g>'
    '<ellipse cx="40" cy="49" rx="14" ry="6" fill="#a3c0bd"/><path fill="#5f8f3f" d="M30 50a5.5 3 0 1 1 10 1l-4-1.5z"/>'
)
_PEAKS = (
    '<path fill="#857f92" d="M4 60L13 38L25 30L33 40L44 25L60 60z"/>'
    '<path fill="#6d6779" d="M25 30L33 40L30 60H4L13 38z"/><path fill="#9d97ab" d="M44 25L60 60H48z"/>'
)
_SHAFT = (
    '<path fill="#857f92" d="M4 60L9 36L24 24L43 23L56 37L60 60z"/><path fill="#6d6779" d="M24 24L20 60H4L9 36z"/>'
    '<path fill="#221e2b" d="M20 60V43a12 12 0 0 1 24 0v17z"/>'
    '<path d="M20 60V41H44V60" fill="none" stroke="#a8713d" stroke-width="4.5"/>'
)
_CYAN, _PINK, _YELLOW = "#4fd8d8", "#f072b6", "#ffd24a"

# By terrain: the plain design and the lively design.
DESIGNS = (
    (_FIELD + _bits("ear", (15, 57), (49, 57), (32, 61)), _FIELD + _bits("ear", (12, 59)) + _MILL),
    (
        _FOREST + _bits("fir", (17, 51), (47, 50), (32, 61)),
        _FOREST + _bits("fir", (47, 52)) + _bits("oak", (20, 55)) + '<path fill="#e3d9a8" d="M33 60l3-4l3 4zM52 61l2.5-4l2.5 4z"/>',
    ),
    (
        _WATER + f'<path d="M27 19{_WAVE}M8 33{_WAVE}M30 47{_WAVE}M9 57q4.5-6 9 0t9 0"{_RIPPLES}',
        _WATER + f'<path d="M6 29q4.5-6 9 0M6 57{_WAVE}M42 57q4.5-6 9 0t9 0"{_RIPPLES}{_BOAT}',
    ),
    (_PASTURE + _bits("tuft", (16, 38), (45, 30), (32, 55)) + _FLOWERS, _PASTURE + _bits("tuft", (12, 34), (54, 60)) + _SHEEP),
    (_CLAY + _PUDDLES + _bits("reed", (51, 58), (11, 40)), _CLAY + _POND + _bits("reed", (52, 44), (43, 40))),
    (
        _MINE + _PEAKS + _bits("gem", (20, 51), fill=_CYAN) + _bits("gem", (43, 46), fill=_PINK) + _bits("gem", (34, 57), fill=_YELLOW),
        _MINE + _SHAFT + _bits("gem", (32, 56), fill=_CYAN) + _bits("gem", (52, 54), fill=_PINK),
    ),
)

_CASTLE = (
    _ground("#e9dec6")
    + '<path d="M4 58h56M8 8h6M50 9h7M6 30h3M55 28h4" stroke="#cfc0a0" stroke-width="3"/>'
    + '<path d="M10 58V22h5v5h4v-5h5v12h3v-4h3.5v4h3v-4H37v4h3V22h5v5h4v-5h5v36z"/>'
    '<path fill="#fff" fill-opacity=".22" d="M10 58V22h5v5h4v-5h1v36z"/>'
    f'<path fill="{_EDGE}" d="M26 58V48a6 6 0 0 1 12 0v10zM15.5 34h3v6h-3zM45.5 34h3v6h-3z"/>'
    '<path d="M32 30V8" stroke="#6b5d4a" stroke-width="2"/><path d="M33 8l12 4.5l-12 4.5z"/>'
)
_KING = (
    f'<path stroke="{_EDGE}" stroke-width="2.5" paint-order="stroke" d="M-14 0Q-14-5-10-6Q-7-12-7-17.5A7.5 7.5 0 0 1-7-26'
    'L-9.5-37.5L-4.5-33L0-40L4.5-33L9.5-37.5L7-26A7.5 7.5 0 0 1 7-17.5Q7-12 10-6Q14-5 14 0z"/>'
)
_CROWN = (
    '<path fill="#ffcd38" stroke="#6e4a08" stroke-width="1.4" d="M-8 6L-9-4L-4 .5L0-6.5L4 .5L9-4L8 6z"/>'
    '<path d="M-5 3.2H5" stroke="#6e4a08" stroke-width="1.4"/>'
)


def definitions() -> str:
    """All shapes, for <defs>: k-castle, k-king (which stands on 0, 0), k-crown (centred), k-0-0 to k-5-1, and their parts."""
    shapes = dict(_BITS)
    for terrain, designs in enumerate(DESIGNS):
        for lively, design in enumerate(designs):
            shapes[f"{terrain}-{lively}"] = design
    shapes.update(castle=_CASTLE, king=_KING, crown=_CROWN)
    clip = f'<clipPath id="k-domino"><rect width="{2 * TILE}" height="{TILE}" rx="9"/></clipPath>'
    return clip + "".join(f'<g id="k-{name}">{shape}</g>' for name, shape in shapes.items())
