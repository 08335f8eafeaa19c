"""The terrains and the 48 dominoes of the printed game. Tables by domino begin with an unused 0, because dominoes count from 1."""

import numpy as np

FIELD, FOREST, WATER, PASTURE, CLAY, MINE = range(6)
TERRAINS = ("field", "forest", "water", "pasture", "clay", "mine")  # the names of the terrains, by their numbers
N_TERRAINS = 6
N_DOMINOES = 48
N_DOUBLES = 12  # dominoes 1 to 12 have two equal halves without crowns

# (terrain, crowns) of the first and the second half of domino 1, 2, ...
DOMINOES = (
    ((FIELD, 0), (FIELD, 0)),
    ((FIELD, 0), (FIELD, 0)),
    ((FOREST, 0), (FOREST, 0)),
    ((FOREST, 0), (FOREST, 0)),
    ((FOREST, 0), (FOREST, 0)),
    ((FOREST, 0), (FOREST, 0)),
    ((WATER, 0), (WATER, 0)),
    ((WATER, 0), (WATER, 0)),
    ((WATER, 0), (WATER, 0)),
    ((PASTURE, 0), (PASTURE, 0)),
    ((PASTURE, 0), (PASTURE, 0)),
    ((CLAY, 0), (CLAY, 0)),
    ((FIELD, 0), (FOREST, 0)),
    ((FIELD, 0), (WATER, 0)),
    ((FIELD, 0), (PASTURE, 0)),
    ((FIELD, 0), (CLAY, 0)),
    ((FOREST, 0), (WATER, 0)),
    ((FOREST, 0), (PASTURE, 0)),
    ((FIELD, 1), (FOREST, 0)),
    ((FIELD, 1), (WATER, 0)),
    ((FIELD, 1), (PASTURE, 0)),
    ((FIELD, 1), (CLAY, 0)),
    ((FIELD, 1), (MINE, 0)),
    ((FOREST, 1), (FIELD, 0)),
    ((FOREST, 1), (FIELD, 0)),
    ((FOREST, 1), (FIELD, 0)),
    ((FOREST, 1), (FIELD, 0)),
    ((FOREST, 1), (WATER, 0)),
    ((FOREST, 1), (PASTURE, 0)),
    ((WATER, 1), (FIELD, 0)),
    ((WATER, 1), (FIELD, 0)),
    ((WATER, 1), (FOREST, 0)),
    ((WATER, 1), (FOREST, 0)),
    ((WATER, 1), (FOREST, 0)),
    ((WATER, 1), (FOREST, 0)),
    ((FIELD, 0), (PASTURE, 1)),
    ((WATER, 0), (PASTURE, 1)),
    ((FIELD, 0), (CLAY, 1)),
    ((PASTURE, 0), (CLAY, 1)),
    ((MINE, 1), (FIELD, 0)),
    ((FIELD, 0), (PASTURE, 2)),
    ((WATER, 0), (PASTURE, 2)),
    ((FIELD, 0), (CLAY, 2)),
    ((PASTURE, 0), (CLAY, 2)),
    ((MINE, 2), (FIELD, 0)),
    ((CLAY, 0), (MINE, 2)),
    ((CLAY, 0), (MINE, 2)),
    ((FIELD, 0), (MINE, 3)),
)


def _column(half: int, what: int) -> np.ndarray:
    table = np.array([0] + [domino[half][what] for domino in DOMINOES], np.int8)
    table.flags.writeable = False
    return table


TERRAIN_A, CROWNS_A = _column(0, 0), _column(0, 1)
TERRAIN_B, CROWNS_B = _column(1, 0), _column(1, 1)

# By number of players: the default of the option `dominoes`, and the number of kings, one per domino of a draft.
DOMINOES_USED = {2: 24, 3: 36, 4: 48}
KINGS = {2: 4, 3: 3, 4: 4}
MIDDLE_BONUS = 10
HARMONY_BONUS = 5
