"""What the encoding `prospects` of Carcassonne says beside `compact`, worked out from the naive rules and the words of its layout."""

from typing import Any

import numpy as np

from naive.carcassonne import DISTINCT_ROTATIONS, NO_MEEPLE, TILES, TYPES, WINDOW, Carcassonne, Cell, Feature, surroundings


def prospects(game: Carcassonne, seat: int) -> dict[str, Any]:
    """The parts claims_left, stuck and cities_beside, as this seat sees them."""
    players = game.players
    left, stuck, beside = np.zeros((players, 7, 3)), np.zeros(players), np.zeros((players, 2))
    if game.phase() == "over":
        return {"claims_left": left, "stuck": stuck, "cities_beside": beside}
    rows = [0] * players
    for cell in game.board:  # in the order in which they were laid
        for spot in [spot for spot in game.meeple_on if spot[0] == cell]:
            owner = (game.meeple_on[spot] - seat) % players
            left[owner, rows[owner]] = _claim(game, game.feature_of(spot))
            rows[owner] += 1
    stuck[:] = left[:, :, 2].sum(axis=1) / 7
    for field in game._features(game.meeple_on):
        if game._kind(field) == "field":
            owners = game._owners(field)
            open_cities = [city for city in _cities_at(game, field) if not game.is_complete(city)]
            dead = sum(min(_fitting(game, city)) == 0 for city in open_cities)
            for owner in {owner for owner in owners if owners.count(owner) == max(map(owners.count, owners))}:
                beside[(owner - seat) % players] += np.array([len(open_cities) - dead, dead]) / 5
    return {"claims_left": left, "stuck": stuck, "cities_beside": beside}


def _claim(game: Carcassonne, feature: Feature) -> tuple[float, float, float]:
    if game._kind(feature) == "field":
        return 0, 0, 1
    tiles = _fitting(game, feature)
    return (min(tiles) / 20, sum(tiles) / 100, min(tiles) == 0) if tiles else (1, 0, 0)


def _fitting(game: Carcassonne, feature: Feature) -> list[int]:
    """The number of tiles left that fit each place of a feature."""
    if game._kind(feature) == "cloister":
        ((middle, _),) = feature
        cells = set(surroundings(middle))
    else:
        cells = {cell for spot in feature for cell, _ in game._crossings(spot)}
    return [_tiles(game, cell) for cell in cells - set(game.board) if min(cell) >= 0 and max(cell) < WINDOW]


def _tiles(game: Carcassonne, cell: Cell) -> int:
    """The number of tiles in the bag, and in hand, that fit a cell in some rotation."""
    bag = list(game.bag)
    if game.phase() == "decide" and min(game.options) < NO_MEEPLE:
        bag[game.drawn] += 1
    return sum(bag[tile] for tile in TYPES if any(game._fits(TILES[tile][rotation], cell) for rotation in DISTINCT_ROTATIONS[tile]))


def _cities_at(game: Carcassonne, field: Feature) -> list[Feature]:
    """The cities that a field touches, each once."""
    return game._features(
        (cell, game.board[cell].segment_with("city", edge))
        for cell, number in field
        for edge in game.board[cell].segments[number].city_edges
    )
