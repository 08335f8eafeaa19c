"""Draw tiles and meeples as SVG on a square of 100 x 100. This is drawn for kdenv and uses no publisher's art.

Everything follows from the edges that the tile connects: a city reaches its edges, and a road runs between its edges. Ground and walls
turn with the tile, but houses, churches and trees stand upright on it. A small generator of random numbers places patches and
tufts of grass and chooses how houses look. Its seed is the type of the tile, so a type always looks the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kdenv.games.carcassonne.tables import EDGES, TILES

GRASS, TUFT, MEADOW = "#9dbb61", "#7f9f48", "#adc873"
EARTH, STONE, MORTAR = "#c99a5b", "#7a6a58", "#d8cbb2"
DUST, GRAVEL = "#f1e6cb", "#8d7a55"
WOOD, BARK, LEAF = "#5f8a45", "#47703a", "#7fa85c"
ROOFS = ("#b5472f", "#c65f3a", "#a63d33", "#cf7a4a")
WALL, INK = "#efe0c2", "#4a3a2c"

# The point where a road leaves a tile, by edge.
_EXITS = {"N": (50, 0), "E": (100, 50), "S": (50, 100), "W": (0, 50)}
# The shapes of a city before it is turned: its outline, its wall, places for houses. _CITIES says which shape a city has by the edges
# that it reaches, and how often the shape is turned. _SHIELDS has the places of the shields of cities with a pennant.
_CAP = ("M0,0 C22,40 78,40 100,0 Z", "M0,0 C22,40 78,40 100,0", ((33, 11), (50, 18), (67, 10)))
_BAND = (
    "M0,0 C20,26 80,26 100,0 V100 C80,74 20,74 0,100 Z",
    "M0,0 C20,26 80,26 100,0 M100,100 C80,74 20,74 0,100",
    ((12, 30), (31, 38), (12, 56), (51, 36), (33, 61), (53, 60), (71, 40), (90, 32), (90, 60), (72, 62)),
)
_CORNER = (
    "M0,0 H100 V100 C90,58 42,10 0,0 Z",
    "M0,0 C42,10 90,58 100,100",
    ((54, 12), (74, 10), (76, 28), (92, 18), (91, 42), (93, 64)),
)
_OPEN_SOUTH = (
    "M0,0 H100 V100 C80,68 20,68 0,100 Z",
    "M0,100 C20,68 80,68 100,100",
    ((14, 14), (36, 12), (60, 16), (84, 12), (11, 37), (32, 34), (68, 35), (90, 36), (10, 60), (31, 57), (51, 56), (71, 57), (90, 60)),
)
_FULL = (
    "M0,0 H100 V100 H0 Z",
    "",
    (
        *((13, 14), (37, 12), (63, 12), (86, 16), (11, 39), (87, 41), (30, 36), (68, 37)),
        *((12, 64), (32, 62), (68, 63), (88, 66), (15, 87), (38, 86), (62, 88), (85, 87)),
    ),
)
_CITIES = {
    "N": (_CAP, 0),
    "E": (_CAP, 1),
    "S": (_CAP, 2),
    "W": (_CAP, 3),
    "EW": (_BAND, 0),
    "NS": (_BAND, 1),
    "NE": (_CORNER, 0),
    "NW": (_CORNER, 3),
    "NEW": (_OPEN_SOUTH, 0),
    "NESW": (_FULL, 0),
}
_SHIELDS = {"EW": (26, 50), "NE": (60, 13), "NW": (13, 40), "NEW": (50, 17), "NESW": (50, 36)}


@cache
def tile_art(tile_type: int, rotation: int) -> str:
    """Draw a type of tile. The rotation is in quarter turns clockwise."""
    tile = TILES[tile_type]
    to_a_gate = bool(tile.cities) and len(tile.roads) == 1
    ground = _meadow(tile_type) + _roads(tile.roads, tile.cloister, to_a_gate)
    ground += [part for edges, _ in tile.cities for part in _city_ground(edges)]
    upright = [part for edges, pennants in tile.cities for part in _city_life(edges, pennants, tile_type, rotation)]
    if len(tile.roads) > 1:
        upright.append(_village(tile_type))
    if tile.cloister:
        upright.append(_cloister())
    grass = f'<rect width="100" height="100" fill="{GRASS}"/>'
    return f'{grass}<g transform="rotate({90 * rotation} 50 50)">{"".join(ground)}</g>{"".join(upright)}'


def turned(x: float, y: float, rotation: int) -> tuple[float, float]:
    """Return where a point of a tile lies after this many quarter turns clockwise."""
    for _ in range(rotation):
        x, y = 100 - y, x
    return x, y


def _strewn(seed: int) -> Iterator[int]:
    """Yield random numbers from 0 to 99, always the same for a seed."""
    state = seed * 7919 + 12345
    while True:
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        yield (state >> 12) % 100


def _meadow(seed: int) -> list[str]:
    """Draw lighter patches and tufts of grass. Roads and cities will cover some of them."""
    dice = _strewn(seed + 1)
    parts = []
    for _ in range(5):
        x, y, r = 10 + next(dice) * 0.8, 10 + next(dice) * 0.8, 7 + next(dice) // 9
        parts.append(f'<ellipse cx="{x:.0f}" cy="{y:.0f}" rx="{r}" ry="{r * 0.6:.0f}" fill="{MEADOW}" fill-opacity="0.55"/>')
    for _ in range(11):
        x, y = 5 + next(dice) * 0.9, 6 + next(dice) * 0.9
        parts.append(f'<path d="M{x:.0f},{y:.0f} l-2,-4 m2,4 v-5 m0,5 l2,-4" stroke="{TUFT}" stroke-width="1" fill="none"/>')
    return parts


def _tree(x: float, y: float) -> str:
    crowns = ((0.0, 1.4, 4.6, BARK), (0.0, 0.0, 4.4, WOOD), (-1.3, -1.3, 1.7, LEAF))
    return "".join(f'<circle cx="{x + dx:.1f}" cy="{y + dy:.1f}" r="{r}" fill="{colour}"/>' for dx, dy, r, colour in crowns)


def _road_path(edges: str, ends_at: tuple[int, int]) -> str:
    """Return the path from edge to edge, or from an edge to the point where the road ends."""
    (x, y), *rest = [_EXITS[edge] for edge in edges]
    if not rest:
        return f"M{x},{y} L{ends_at[0]},{ends_at[1]}"
    (to_x, to_y) = rest[0]
    return f"M{x},{y} Q50,50 {to_x},{to_y}"


def _roads(roads: tuple[str, ...], cloister: bool, to_a_gate: bool) -> list[str]:
    """Draw the roads: dust in the middle, gravel on both sides."""
    end = (50, 70) if to_a_gate else (50, 60) if cloister else (50, 50)
    paths = " ".join(_road_path(edges, end) for edges in roads)
    if not paths:
        return []
    return [
        f'<path d="{paths}" stroke="{GRAVEL}" stroke-width="13" fill="none"/>',
        f'<path d="{paths}" stroke="{DUST}" stroke-width="9.5" fill="none"/>',
    ]


def _city_ground(edges: str) -> list[str]:
    """Draw the earth of a city, and its wall towards the fields."""
    (shape, wall, _), turns = _CITIES[edges]
    parts = [f'<g transform="rotate({90 * turns} 50 50)"><path d="{shape}" fill="{EARTH}"/>']
    if wall:
        parts.append(f'<path d="{wall}" stroke="{STONE}" stroke-width="7.5" fill="none"/>')
        parts.append(f'<path d="{wall}" stroke="{MORTAR}" stroke-width="4" fill="none" stroke-dasharray="4.4 2.2"/>')
    return [*parts, "</g>"]


def _city_life(edges: str, pennants: int, seed: int, rotation: int) -> list[str]:
    """Draw houses, and a shield if the city has a pennant. A house covers those north of it, so the northern ones come first."""
    (_, _, houses), turns = _CITIES[edges]
    dice = _strewn(seed + 50)
    shield = turned(*_SHIELDS[edges], rotation) if pennants else (-99.0, -99.0)
    spots = sorted((turned(x, y, turns + rotation) for x, y in houses), key=lambda spot: spot[1])
    parts = [_house(x, y, next(dice)) for x, y in spots if abs(x - shield[0]) > 14 or abs(y - shield[1]) > 17]
    return parts + ([_shield(*shield)] if pennants else [])


def _house(x: float, y: float, dice: int) -> str:
    """Draw a small house with its gable to the south; dice chooses its roof and its size."""
    roof, half = ROOFS[dice % len(ROOFS)], 5.2 + dice % 3 * 0.6
    gable = f"M{x - half - 1.4:.1f},{y - 0.4:.1f} L{x:.1f},{y - 8:.1f} L{x + half + 1.4:.1f},{y - 0.4:.1f} Z"
    return (
        f'<g stroke="{INK}" stroke-width="0.8"><rect x="{x - half:.1f}" y="{y - 1:.1f}" width="{2 * half:.1f}" height="7.4" fill="{WALL}"/>'
        f'<path d="{gable}" fill="{roof}"/></g><rect x="{x - 1.4:.1f}" y="{y + 2:.1f}" width="2.8" height="4.4" fill="{INK}"/>'
    )


def _shield(x: float, y: float) -> str:
    """Draw a pennant as a blue coat of arms with a white cross."""
    outline = f"M{x - 8},{y - 9} h16 v8 c0,6 -4,9 -8,11 c-4,-2 -8,-5 -8,-11 Z"
    return (
        f'<path d="{outline}" fill="#2f5fa8" stroke="#f7f0dc" stroke-width="2.6"/>'
        f'<path d="{outline}" fill="none" stroke="{INK}" stroke-width="0.7"/>'
        f'<path d="M{x},{y - 7} v14 M{x - 6},{y - 3} h12" stroke="#f7f0dc" stroke-width="2.6"/>'
    )


def _village(seed: int) -> str:
    """Draw a few houses around a square, where several roads end."""
    return (
        f'<circle cx="50" cy="50" r="15" fill="{GRAVEL}"/><circle cx="50" cy="50" r="13.2" fill="{DUST}"/>'
        + _house(43, 46, seed)
        + _house(57.5, 47, seed + 1)
        + _house(50, 57, seed + 2)
    )


def _cloister() -> str:
    """Draw a church with a tower in a garden."""
    return (
        f'<ellipse cx="50" cy="52" rx="29" ry="25" fill="{WOOD}" opacity="0.5"/>'
        + "".join(_tree(x, y) for x, y in ((26, 42), (29, 63), (74, 60), (72, 40)))
        + f'<rect x="38" y="44" width="30" height="20" fill="{WALL}" stroke="{INK}" stroke-width="1"/>'
        f'<path d="M35,45 L44,32 H62 L71,45 Z" fill="{ROOFS[0]}" stroke="{INK}" stroke-width="1"/>'
        f'<rect x="31" y="34" width="13" height="30" fill="{WALL}" stroke="{INK}" stroke-width="1"/>'
        f'<path d="M29,35 L37.5,16 L46,35 Z" fill="{ROOFS[2]}" stroke="{INK}" stroke-width="1"/>'
        f'<path d="M37.5,17 V7 M34,10.5 H41" stroke="{INK}" stroke-width="1.8"/>'
        f'<path d="M34.8,64 v-7 a2.7,2.7 0 0 1 5.4,0 v7 Z" fill="{INK}"/>'
        + "".join(f'<path d="M{x},58 v-5 a2,2 0 0 1 4,0 v5 Z" fill="#5f7f9c" stroke="{INK}" stroke-width="0.6"/>' for x in (47, 54, 61))
    )


# The outline of a meeple around (0, 0): it is 26 high.
_FIGURE = (
    "M0,-13 C4,-13 6,-10.4 6,-7.6 C6,-6 5.4,-4.6 4.4,-3.6 C8,-2.6 13,-0.6 13,2 C13,4 10,4.4 7,4.2 "
    "L9.6,11 C10,12.4 9.4,13 8,13 H2.6 C1.4,13 1.4,9 0,9 C-1.4,9 -1.4,13 -2.6,13 H-8 C-9.4,13 -10,12.4 -9.6,11 "
    "L-7,4.2 C-10,4.4 -13,4 -13,2 C-13,-0.6 -8,-2.6 -4.4,-3.6 C-5.4,-4.6 -6,-6 -6,-7.6 C-6,-10.4 -4,-13 0,-13 Z"
)


def meeple_art(colour: str, lying: bool = False) -> str:
    """Draw a meeple around (0, 0), standing or, as in a field, lying on its back."""
    turn = f' transform="{"rotate(-90) " if lying else ""}scale(1.15)"'
    return (
        f'<g{turn}><path d="{_FIGURE}" transform="translate(1.4 1.8)" fill="#000" opacity="0.3"/>'
        f'<path d="{_FIGURE}" fill="{colour}" stroke="#fff8e6" stroke-width="3.4" stroke-linejoin="round"/>'
        f'<path d="{_FIGURE}" fill="{colour}" stroke="{INK}" stroke-width="1.1" stroke-linejoin="round"/></g>'
    )


def anchor(tile_type: int, rotation: int, kind: str, place: str) -> tuple[float, float]:
    """Return where on a turned tile a meeple is drawn: on the city or road at an edge, the field at a corner, or the cloister."""
    if kind == "cloister":
        return 56.0, 60.0
    return turned(*_anchor_unturned(tile_type, kind, place, -rotation % 4), rotation)


def _anchor_unturned(tile_type: int, kind: str, place: str, back: int) -> tuple[float, float]:
    tile = TILES[tile_type]
    if kind == "field":
        corner = (("NW", "NE", "SE", "SW").index(place) + back) % 4
        (half_edges,) = (h for h, _ in tile.fields if str(2 * corner) in h or str((2 * corner - 1) % 8) in h)
        before, after = str((2 * corner - 1) % 8) in half_edges, str(2 * corner) in half_edges
        if half_edges in ("01", "45"):  # the field is a strip along one edge
            return (50.0, 9.0) if half_edges == "01" else (50.0, 91.0)
        x, y = (18.0, 18.0) if before and after else (13.0, 33.0) if before else (33.0, 13.0)
        return turned(x, y, corner)
    edge = EDGES[(EDGES.index(place) + back) % 4]
    if kind == "city":
        (edges,) = (edges for edges, _ in tile.cities if edge in edges)
        spots = {1: (50.0, 15.0), 2: (84.0, 32.0), 3: (50.0, 52.0), 4: (50.0, 70.0)}
        x, y = (62.0, 50.0) if edges == "EW" else spots[len(edges)]
        return turned(x, y, _CITIES[edges][1])
    (edges,) = (edges for edges in tile.roads if edge in edges)
    ends = [_EXITS[e] for e in edges]
    if len(ends) == 1:
        return 50 + (ends[0][0] - 50) * 0.62, 50 + (ends[0][1] - 50) * 0.62
    return (ends[0][0] + ends[1][0] + 100) / 4, (ends[0][1] + ends[1][1] + 100) / 4
