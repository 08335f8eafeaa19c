"""Describes decisions for people, before and after they are made: the tile that is placed, what it finishes, and the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kdenv.core.protocols import Told, counted
from kdenv.games.carcassonne import claims, rules
from kdenv.games.carcassonne.features import find
from kdenv.games.carcassonne.notation import action_text, kind_word
from kdenv.games.carcassonne.tables import CLOISTER_POINTS, TILES
from kdenv.games.carcassonne.tiles import MIDDLE, N_CITIES, N_ROADS, SIZE

_ON = {"city": "in", "road": "on", "field": "in", "cloister": "in"}
_TURNED = ("", ", turned right", ", upside down", ", turned left")
_SIDES = {"N": "northern", "E": "eastern", "S": "southern", "W": "western"}
_SIDES |= {"NW": "northwestern", "NE": "northeastern", "SE": "southeastern", "SW": "southwestern"}


def told(before: Any, after: Any, action: int) -> Told:
    """Describe a placement or a claim, and what it finished."""
    s, new = before[0], after[0]
    seat, slot = int(s["turn"]), action - claims.CLAIM
    tile = int(new["n_tiles"]) - 1
    if slot < 0:
        words = f"placed {tile_words(int(s['drawn']))}"
    elif slot == claims.NO_MEEPLE:
        words = "put no meeple"
    else:
        kind = kind_word(s, tile, slot)
        words = f"put a meeple {_ON[kind]} a {kind}"
    if new["stage"] == rules.CLAIMING:
        return Told(seat, words)
    done = "".join(f", finished {each}" for each in _finished(new, tile))
    gained = [(of, int(new["points"][of]) - int(s["points"][of])) for of in range(int(s["players"]))]
    gained.sort(key=lambda each: each[0] != seat)
    points = ", ".join(("" if of == seat else f"player {of} ") + f"+{n}" for of, n in gained if n)
    if new["stage"] == rules.FINISHED:
        done += ", and everything on the table was counted"
    return Told(seat, words + done + (f": {points}" if points else ""))


def meanings(states: Any, k: int, actions: Sequence[int], seat: int | None = None) -> dict[int, str]:
    """Describe placements by their way from the start tile, and claims. A feature has its side if the tile has several of its kind."""
    found, s = dict[int, str](), states[k]
    tile = TILES[int(s["tile_face"][int(s["n_tiles"]) - 1]) >> 2]
    several = {kind for kind, parts in (("city", tile.cities), ("road", tile.roads), ("field", tile.fields)) if len(parts) > 1}
    for action in actions:
        if action < claims.CLAIM:
            found[action] = f"place the tile {_way(action >> 2)} of the start{_TURNED[action & 3]}"
            continue
        _, kind, *sides = action_text(states, k, action).split()
        side = f"{_SIDES[sides[0]]} " if kind in several else ""
        found[action] = "put no meeple" if action == claims.CLAIM else f"put a meeple {_ON[kind]} the {side}{kind}"
    return found


def told_chance(befores: Sequence[Any], outcomes: Sequence[int | None]) -> list[Told]:
    """Describe tiles that fit nowhere. A tile that fits is described when it is placed."""
    lost = [tile_words(outcome) for s, outcome in zip(befores, outcomes, strict=True) if outcome is not None and not _fits(s, outcome)]
    return [Told(None, f"{words} fits nowhere and is out of the game") for words in lost]


def tile_words(tile_type: int) -> str:
    """A tile in words: "a tile with a city and a road"."""
    tile = TILES[tile_type]
    cities, roads = len(tile.cities), len(tile.roads)
    parts = [counted(n, word, words) for n, word, words in ((cities, "a city", "cities"), (roads, "a road", "roads")) if n]
    parts += ["a cloister"] if tile.cloister else []
    return f"a tile with {' and '.join(parts)}"


def _way(cell: int) -> str:
    """The way from the start tile to a cell: "3 east, 2 south"."""
    row, column = divmod(cell, SIZE)
    steps = ((column - MIDDLE, "east"), (MIDDLE - column, "west"), (MIDDLE - row, "north"), (row - MIDDLE, "south"))
    return ", ".join(f"{n} {side}" for n, side in steps if n > 0)


def _fits(s: Any, outcome: int) -> bool:
    return bool(int(s["fitting"]) >> outcome & 1)


def _finished(s: Any, tile: int) -> list[str]:
    """The features that the newest tile has finished, in words."""
    face = int(s["tile_face"][tile]) >> 2
    found = []
    for kind, first, n in (("city", int(s["tile_city"][tile]), N_CITIES[face]), ("road", int(s["tile_road"][tile]), N_ROADS[face])):
        roots = {int(find(s[f"{kind}_parent"], first + i)) for i in range(int(n))}
        found += [f"a {kind} of {s[f'{kind}_tiles'][root]} tiles" for root in sorted(roots) if s[f"{kind}_open"][root] == 0]
    x = int(s["tile_cell"][tile])
    for cell, tiles in zip(s["cloister_cell"], s["cloister_tiles"][: int(s["n_cloisters"])], strict=False):
        if tiles == CLOISTER_POINTS and _are_near(int(cell), x):
            found.append("a cloister")
    return found


def _are_near(cell: int, other: int) -> bool:
    (row, column), (to_row, to_column) = divmod(cell, SIZE), divmod(other, SIZE)
    return max(abs(row - to_row), abs(column - to_column)) <= 1
