"""Write positions and actions of Carcassonne as text, and read them. No other code parses them.

A tile on the table is its type, its place east and north of the start tile with signs, and its rotation in
quarter turns clockwise: `J+3-2r1` lies three cells east and two south of the start. Actions: `place J+3-2r1`; `claim city N`,
`claim road E` (an edge of the tile just laid), `claim field SW` (a corner), `claim cloister`, `claim nothing`.
Chance: `draw J`.

A position is a line of words: `stage=place drawn=M turn=0 points=0,0 tiles=D+0+0r0,M+0-1r2@S0,C+0-2r0,U+1-1r0@nw0,E-1-1r1@nw1
bag=A2,B4,D3,E4,F2,G1,H3,I2,J3,K3,L3,N3,O2,P3,Q1,R3,S2,T1,U7,V9,W4,X1`. The tiles are in the order in which they were laid. After @ is
the meeple on the tile with its seat. It is on the city or road at an edge (N E S W), the field at a corner (nw ne se sw), or the cloister
(c). Stages are draw, place, claim (the last of the tiles has just been laid) and over. `clipped=1` is written if a tile could not be placed
only because of the window.
"""

from __future__ import annotations

import re
from typing import Any

from kdenv.core.errors import BadRecord, shown
from kdenv.core.parsing import read_number, read_words
from kdenv.games.carcassonne import claims, features, landscape, rules
from kdenv.games.carcassonne.features import find
from kdenv.games.carcassonne.tables import CITY, CLOISTER_POINTS, CORNERS, EDGES, FIELD, MEEPLES, N_TYPES, TILES
from kdenv.games.carcassonne.tiles import CLOISTER, COPIES, EDGE, FIELD_CORNER, FIT, MIDDLE, NO_SEGMENT, ROTATIONS, SIZE

TYPES = "".join(tile.letter for tile in TILES)
_STAGES = {"draw": rules.DRAWING, "place": rules.PLACING, "claim": rules.CLAIMING, "over": rules.FINISHED}
_STAGE_NAMES = {stage: word for word, stage in _STAGES.items()}
_SLOT_MARKS = ["", *EDGES, *(corner.lower() for corner in CORNERS), "c"]
_TILE = re.compile(r"([A-X])([+-][0-9]{1,2})([+-][0-9]{1,2})r([0-3])(?:@(N|E|S|W|nw|ne|se|sw|c)([0-4]))?")
_BAG = re.compile(r"([A-X])([0-9])")
_MOST_BEFORE = 999  # points of a seat beyond those of the tiles on the table; with them the play of a seat far ahead can be studied


def cell_at(east: int, north: int) -> int:
    """Return the cell this many cells east and north of the start tile. BadRecord if it is outside the window."""
    if abs(east) > MIDDLE or abs(north) > MIDDLE:
        raise BadRecord(f"{east:+d}{north:+d} is outside the window, which reaches {MIDDLE} cells from the start tile")
    return (MIDDLE - north) * SIZE + MIDDLE + east


def tile_text(tile_type: int, cell: int, rotation: int) -> str:
    """Write a tile on the table as in `J+3-2r1`."""
    row, column = divmod(cell, SIZE)
    return f"{TYPES[tile_type]}{column - MIDDLE:+d}{MIDDLE - row:+d}r{rotation}"


def tile_from(text: str) -> tuple[int, int, int, int, int]:
    """Read a tile with or without a meeple: its type, cell, rotation (the smallest that looks the same), slot and seat."""
    match = _TILE.fullmatch(text)
    if not match:
        raise BadRecord(f"{shown(text)!r} is no tile on the table; one is J+3-2r1: type, cells east and north of the start, quarter turns")
    letter, east, north, rotation, mark, seat = match.groups()
    tile_type = TYPES.index(letter)
    slot = _SLOT_MARKS.index(mark) if mark else claims.NO_MEEPLE
    return tile_type, cell_at(int(east), int(north)), int(rotation) % int(ROTATIONS[tile_type]), slot, int(seat or 0)


def action_text(states: Any, k: int, action: int) -> str:
    """Write the action in words. It must fit the stage of the position. It is not checked that it is legal."""
    s = states[k]
    if action < claims.CLAIM:
        if s["stage"] != rules.PLACING:
            raise BadRecord("there is no tile to place")
        return "place " + tile_text(int(s["drawn"]), action >> 2, action & 3)
    slot = action - claims.CLAIM
    if slot == claims.NO_MEEPLE:
        return "claim nothing"
    if slot == claims.ON_CLOISTER:
        return "claim cloister"
    if slot >= claims.FIRST_CORNER:
        return "claim field " + CORNERS[slot - claims.FIRST_CORNER]
    face = int(s["tile_face"][int(s["n_tiles"]) - 1])
    kind = EDGE[face, slot - claims.FIRST_EDGE]
    if kind == FIELD:
        raise BadRecord(f"there is neither a city nor a road at the edge {EDGES[slot - claims.FIRST_EDGE]} of the tile just laid")
    return f"claim {'city' if kind == CITY else 'road'} {EDGES[slot - claims.FIRST_EDGE]}"


def action_from(states: Any, k: int, text: str) -> int:
    """Return the action that these words mean. It is not checked that it is legal."""
    s = states[k]
    match text.split():
        case ["place", tile]:
            tile_type, cell, rotation, slot, _ = tile_from(tile)
            if s["stage"] != rules.PLACING:
                raise BadRecord("there is no tile to place")
            if tile_type != s["drawn"] or slot:
                raise BadRecord(f"{tile} is not the tile to place; that is {TYPES[int(s['drawn'])]}, without a meeple")
            return 4 * cell + rotation
        case ["claim", "nothing"]:
            return claims.CLAIM
        case ["claim", "cloister"]:
            return claims.CLAIM + claims.ON_CLOISTER
        case ["claim", "field", corner] if corner.upper() in CORNERS:
            return _claim(s, claims.FIRST_CORNER + CORNERS.index(corner.upper()), "field")
        case ["claim", "city" | "road" as kind, edge] if edge.upper() in tuple(EDGES):
            return _claim(s, claims.FIRST_EDGE + EDGES.index(edge.upper()), kind)
    raise BadRecord(f"{shown(text)!r} is none of 'place J+3-2r1', 'claim city N', 'claim field SW', 'claim cloister', 'claim nothing'")


def _claim(s: Any, slot: int, kind: str) -> int:
    """Return the action that claims the feature at a slot. It names the feature by its lowest slot on the tile just laid."""
    tile = int(s["n_tiles"]) - 1
    if kind_word(s, tile, slot) != kind:
        place = CORNERS[slot - claims.FIRST_CORNER] if slot >= claims.FIRST_CORNER else EDGES[slot - claims.FIRST_EDGE]
        raise BadRecord(f"there is no {kind} at {place} of the tile just laid")
    feature = claims.feature_at(s, tile, slot)
    slots = range(claims.FIRST_CORNER, claims.ON_CLOISTER) if kind == "field" else range(claims.FIRST_EDGE, claims.FIRST_CORNER)
    return claims.CLAIM + min(i for i in slots if kind_word(s, tile, i) == kind and claims.feature_at(s, tile, i) == feature)


def kind_word(s: Any, tile: int, slot: int) -> str:
    """Return the kind of feature at a slot of a tile in a word, "" if there is none."""
    face = int(s["tile_face"][tile])
    if slot == claims.ON_CLOISTER:
        return "cloister" if CLOISTER[face >> 2] else ""
    if slot >= claims.FIRST_CORNER:
        return "field" if FIELD_CORNER[face, slot - claims.FIRST_CORNER] != NO_SEGMENT else ""
    return ("", "city", "road", "")[int(EDGE[face, slot - claims.FIRST_EDGE])]


def chance_text(states: Any, k: int, outcome: int) -> str:
    """Write an outcome of chance in words."""
    return f"draw {TYPES[outcome]}"


def chance_from(states: Any, k: int, text: str) -> int:
    """Return the outcome that these words mean. It is not checked that it is possible."""
    match text.split():
        case ["draw", letter] if len(letter) == 1 and letter in TYPES:
            return TYPES.index(letter)
    raise BadRecord(f"{shown(text)!r} is nothing that chance does; it is 'draw A' to 'draw X'")


# Positions


def position_text(states: Any, k: int) -> str:
    """Write the position in one line."""
    s = states[k]
    words = [f"stage={_STAGE_NAMES[int(s['stage'])]}"]
    if s["stage"] == rules.PLACING:
        words.append(f"drawn={TYPES[int(s['drawn'])]}")
    words.append(f"turn={s['turn']}")
    words.append("points=" + ",".join(str(points) for points in s["points"][: int(s["players"])]))
    words.append("tiles=" + ",".join(_laid_text(s, tile) for tile in range(int(s["n_tiles"]))))
    words.append("bag=" + ",".join(f"{letter}{n}" for letter, n in zip(TYPES, s["bag"], strict=True) if n))
    if s["clipped"]:
        words.append("clipped=1")
    return " ".join(words)


def _laid_text(s: Any, tile: int) -> str:
    """Write a tile on the table with the meeple that stands on it."""
    face = int(s["tile_face"][tile])
    text = tile_text(face >> 2, int(s["tile_cell"][tile]), face & 3)
    if claims.has_meeple(s, tile):
        seat, slot = divmod(int(s["tile_claim"][tile]), claims.N_SLOTS)
        text += f"@{_SLOT_MARKS[slot]}{seat}"
    return text


def position_from(text: str, states: Any, k: int) -> None:
    """Read a position into states[k], where begin() has been called with the players and options. BadRecord if it cannot be."""
    words = read_words(text, ("bag", "clipped", "drawn", "points", "stage", "tiles", "turn"), optional=("clipped", "drawn"))
    if words["stage"] not in _STAGES:
        raise BadRecord(f"stage={shown(words['stage'])} is not one of {', '.join(_STAGES)}")
    stage = _STAGES[words["stage"]]
    s = states[k]
    players = int(s["players"])
    points = words["points"].split(",")
    if len(points) != players:
        raise BadRecord(f"points={shown(words['points'])} is for {len(points)} players, not {players}")
    if (stage == rules.PLACING) != ("drawn" in words):
        raise BadRecord("drawn= is the tile to be placed: it belongs to stage=place and to no other")
    rules.clear(s)
    s["turn"] = read_number("turn=", words["turn"], players - 1)
    tiles = [tile_from(word) for word in words["tiles"].split(",")]
    drawn = _type_from(words["drawn"]) if stage == rules.PLACING else rules.NO_TYPE
    _read_bag(s, words["bag"], [tile[0] for tile in tiles] + [drawn] * (stage == rules.PLACING))
    _lay_all(s, tiles, stage == rules.CLAIMING)
    _put_meeples(s, tiles, players, stage == rules.CLAIMING)
    s["points"] = 0
    s["clipped"] = read_number("clipped=", words.get("clipped", "0"), 1)
    _set_stage(s, stage, drawn)
    most = _MOST_BEFORE + _points_of_complete(s)
    for seat in range(players):
        s["points"][seat] = read_number("points=", points[seat], most + int(s["points"][seat]))


def _points_of_complete(s: Any) -> int:
    """Return the points of all complete features together: the most that one seat can have scored."""
    cities = (int(features.city_pays(s, i)) for i in range(int(s["n_cities"])) if s["city_parent"][i] == i and not s["city_open"][i])
    roads = (int(s["road_tiles"][i]) for i in range(int(s["n_roads"])) if s["road_parent"][i] == i and not s["road_open"][i])
    return sum(cities) + sum(roads) + CLOISTER_POINTS * int((s["cloister_tiles"][: s["n_cloisters"]] == CLOISTER_POINTS).sum())


def _set_stage(s: Any, stage: int, drawn: int) -> None:
    """Set the stage, which must fit the tiles and meeples on the table. If the game is over, s.points becomes the points of its end."""
    clipped = int(s["clipped"])
    if stage == rules.CLAIMING:
        if not claims.can_claim(s):
            raise BadRecord(f"stage=claim, but seat {s['turn']} has no meeple or the last tile has nothing to claim")
        s["stage"] = stage
        return
    rules.prepare_draw(s)
    if stage == rules.PLACING:
        if not landscape.types_that_fit(s, 1 << drawn):
            raise BadRecord(f"tile {TYPES[drawn]}, which is drawn, fits nowhere")
        s["stage"], s["drawn"], s["fitting"], s["clipped"] = stage, drawn, 0, clipped
    elif s["stage"] != stage:
        fits = "no tile in the bag fits anywhere" if stage == rules.DRAWING else "a tile in the bag fits"
        raise BadRecord(f"stage={_STAGE_NAMES[stage]}, but {fits}")


def _lay_all(s: Any, tiles: list[tuple[int, int, int, int, int]], keep_last_open: bool) -> None:
    """Lay the tiles in order. Each must fit beside those before it. With keep_last_open, the last one is not scored yet."""
    for number, (tile_type, cell, rotation, _, _) in enumerate(tiles):
        name = tile_text(tile_type, cell, rotation)
        if s["board"][cell]:
            raise BadRecord(f"tile {name} lies on another tile")
        if number and not s["code"][cell]:
            raise BadRecord(f"tile {name} touches none of the tiles before it")
        if not int(FIT[tile_type, int(s["code"][cell])]) >> rotation & 1:
            raise BadRecord(f"the edges of tile {name} do not match those around it")
        landscape.lay(s, cell, 4 * tile_type + rotation)
        if number < len(tiles) - 1 or not keep_last_open:
            rules.settle(s)


def _put_meeples(s: Any, tiles: list[tuple[int, int, int, int, int]], players: int, claiming: bool) -> None:
    """Put the meeples on their tiles. None may stand on a complete feature, unless the claim on the last tile is still to be decided."""
    for tile, (tile_type, cell, rotation, slot, seat) in enumerate(tiles):
        if slot == claims.NO_MEEPLE:
            continue
        name = f"{tile_text(tile_type, cell, rotation)}@{_SLOT_MARKS[slot]}{seat}"
        if seat >= players:
            raise BadRecord(f"{name}: there is no seat {seat}")
        kind = kind_word(s, tile, slot)
        if not kind:
            raise BadRecord(f"{name}: there is nothing to stand on")
        if s["hand"][seat] == 0:
            raise BadRecord(f"{name}: seat {seat} has more than {MEEPLES} meeples on the table")
        if claiming and tile == len(tiles) - 1:
            raise BadRecord(f"{name}: what this tile claims is still to be decided (stage=claim)")
        feature = claims.feature_at(s, tile, slot)
        if _is_complete(s, kind, feature) and not (claiming and _just_completed(s, kind, feature)):
            raise BadRecord(f"{name}: that {kind} is complete, so its meeples are back in hand")
        claims.put_meeple(s, tile, slot, seat, 1)


def _is_complete(s: Any, kind: str, feature: int) -> bool:
    if kind == "cloister":
        return bool(s["cloister_tiles"][feature] == CLOISTER_POINTS)
    return kind != "field" and bool(s[f"{kind}_open"][feature] == 0)


def _just_completed(s: Any, kind: str, feature: int) -> bool:
    """Return whether the newest tile belongs to this city, road or cloister."""
    tile = int(s["n_tiles"]) - 1
    if kind == "cloister":
        (row, column), (r, c) = (divmod(int(cell), SIZE) for cell in (s["tile_cell"][tile], s["cloister_cell"][feature]))
        return abs(row - r) <= 1 and abs(column - c) <= 1
    segments = range(int(s[f"tile_{kind}"][tile]), int(s["n_cities" if kind == "city" else "n_roads"]))
    return any(find(s[f"{kind}_parent"], segment) == feature for segment in segments)


def _type_from(letter: str) -> int:
    if len(letter) != 1 or letter not in TYPES:
        raise BadRecord(f"{shown(letter)!r} is no type of tile; types are A to X")
    return TYPES.index(letter)


def _read_bag(s: Any, text: str, used: list[int]) -> None:
    """Fill the bag. Together with the tiles used there may be no more of a type than the game has."""
    counts = [0] * N_TYPES
    for word in text.split(",") if text else []:
        match = _BAG.fullmatch(word)
        if not match:
            raise BadRecord(f"bag={shown(text)} is not a list such as A2,B4,C1: types with the number of tiles left")
        counts[TYPES.index(match[1])] += int(match[2])
    for tile_type, n in enumerate(counts):
        if n + used.count(tile_type) > COPIES[tile_type]:
            few = f"there are only {COPIES[tile_type]} tiles of type {TYPES[tile_type]}"
            raise BadRecord(f"{few}, not {n} in the bag and {used.count(tile_type)} drawn already")
    s["bag"] = counts
    s["n_left"] = sum(counts)
    s["left"] = sum(1 << tile_type for tile_type, n in enumerate(counts) if n)
