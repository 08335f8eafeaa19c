"""Columns of match reports that Carcassonne adds: points and meeples by the kind of feature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kdenv.core.match_columns import MatchColumns, PastDecision
from kdenv.games.carcassonne.claims import CLAIM, FIRST_CORNER, NO_MEEPLE, ON_CLOISTER, feature_at
from kdenv.games.carcassonne.features import NOBODY
from kdenv.games.carcassonne.rules import CLAIMING, FINISHED, NO_TYPE
from kdenv.games.carcassonne.tables import CITY, CITY_POINTS, CLOISTER_POINTS, FIELD_POINTS
from kdenv.games.carcassonne.tiles import EDGE

KINDS = ("city", "road", "cloister", "field")


def _round(states: Any) -> int:
    """The number of turns that the deciding seat has had."""
    s = states[0]
    laid = int(s["n_tiles"]) - 1 - (int(s["drawn"]) == NO_TYPE)
    return laid // int(s["players"])


def _bits(number: int) -> Iterator[int]:
    return (i for i in range(number.bit_length()) if number >> i & 1)


def _root(parent: Any, segment: int) -> int:
    while int(parent[segment]) != segment:
        segment = int(parent[segment])
    return segment


def _winners(meeples: int, players: int) -> list[int]:
    """The seats with the most of these meeples, three bits a seat."""
    counts = [meeples >> 3 * seat & 7 for seat in range(players)]
    return [seat for seat, count in enumerate(counts) if count == max(counts) > 0]


def _claim_of(decision: PastDecision) -> tuple[str, int]:
    """The kind of feature that a decision claims, and its number after the decision. The kind is empty if nothing is claimed."""
    slot = decision.action - CLAIM
    if slot <= NO_MEEPLE:
        return "", 0
    s = decision.after[0]
    tile = int(s["n_tiles"]) - 1
    if slot == ON_CLOISTER:
        kind = "cloister"
    elif slot >= FIRST_CORNER:
        kind = "field"
    else:
        kind = "city" if EDGE[int(s["tile_face"][tile]), slot - 1] == CITY else "road"
    return kind, int(feature_at(s, tile, slot))


def _settled(decision: PastDecision, claimed: tuple[str, int], players: int) -> Iterator[tuple[str, int, list[int]]]:
    """The features that this decision completes: kind, points, and the seats that get them."""
    before, after = decision.before[0], decision.after[0]
    for kind in ("city", "road"):
        held: dict[int, int] = {}
        for feature in _bits(int(before[f"{kind}_held"])):
            root = _root(after[f"{kind}_parent"], feature)
            held[root] = held.get(root, 0) + int(before[f"{kind}_meeples"][feature])
        if claimed[0] == kind:
            held[claimed[1]] = held.get(claimed[1], 0) + (1 << 3 * decision.seat)
        for root, meeples in held.items():
            if after[f"{kind}_open"][root] == 0:
                yield kind, _pays(after, kind, root, CITY_POINTS), _winners(meeples, players)
    for i in range(int(after["n_cloisters"])):
        owner = int(before["cloister_seat"][i]) if i < int(before["n_cloisters"]) else NOBODY
        owner = decision.seat if claimed == ("cloister", i) else owner
        if owner != NOBODY and after["cloister_tiles"][i] == CLOISTER_POINTS:
            yield "cloister", CLOISTER_POINTS, [owner]


def _pays(s: Any, kind: str, root: int, each: int) -> int:
    """The points of a city, with `each` for each tile and pennant, or of a road."""
    return each * (int(s["city_tiles"][root]) + int(s["city_pennants"][root])) if kind == "city" else int(s["road_tiles"][root])


def _left(s: Any, players: int) -> Iterator[tuple[str, int, list[int]]]:
    """The features that are scored at the end of the game, as in `_settled`: open ones, and fields."""
    for kind in ("city", "road"):
        for root in _bits(int(s[f"{kind}_held"])):
            yield kind, _pays(s, kind, root, 1), _winners(int(s[f"{kind}_meeples"][root]), players)
    for i in range(int(s["n_cloisters"])):
        if s["cloister_seat"][i] != NOBODY:
            yield "cloister", int(s["cloister_tiles"][i]), [int(s["cloister_seat"][i])]
    for word in range(2):
        for place in _bits(int(s["field_held"][word])):
            field = 64 * word + place
            n = sum(bool(int(s["closed"][i]) & int(s["field_cities"][field])) for i in range(int(s["n_closed"])))
            yield "field", FIELD_POINTS * n, _winners(int(s["field_meeples"][field]), players)


def _compute(decisions: Iterable[PastDecision], players: int) -> dict[str, list[float]]:
    """Points and meeples by kind; the points of all kinds together are the score."""
    found = {f"{what} {kind}": [0.0] * players for what in ("points", "meeples", "scored") for kind in KINDS}

    def award(features: Iterator[tuple[str, int, list[int]]]) -> None:
        for kind, points, seats in features:
            for seat in seats:
                found[f"points {kind}"][seat] += points
                found[f"scored {kind}"][seat] += 1

    for decision in decisions:
        claimed = _claim_of(decision)
        if claimed[0]:
            found[f"meeples {claimed[0]}"][decision.seat] += 1
        if decision.after[0]["stage"] != CLAIMING:  # else the claim is decided first
            award(_settled(decision, claimed, players))
        if decision.after[0]["stage"] == FINISHED:
            award(_left(decision.after[0], players))
    return found


DETAILS = MatchColumns(
    {
        "points KIND": "points scored with cities, roads, cloisters or fields",
        "meeples KIND": "meeples put on them",
        "scored KIND": "number of them that scored for the seat",
    },
    _compute,
    _round,
)
