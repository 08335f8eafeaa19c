"""The double-six set, and sets of tiles as bits.

A set of tiles is a uint64. Tile a-b (a <= b) is bit 7 * a + b, which is also the number of the action that opens a round with it. A
hand is *mirrored*: it has bit 7 * b + a as well. Row c is the seven bits from 7 * c on. In a mirrored hand it has the tiles that can be
laid on an end showing c, and the bits are the numbers of these actions.
"""

from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUITS = 7  # pips 0 to 6
ALL_SUITS = 0x7F
N_TILES = 28
HAND = 7
TILES = tuple(combinations_with_replacement(range(SUITS), 2))  # tile 0 is 0-0, 1 is 0-1, ... 27 is 6-6
PASS, CALL = 49, 50
N_ACTIONS = 51

# The presets, as begin() receives them.
PAPER, DOMINAI_CODE, OPENSPIEL, PUERTO_RICO = range(4)
RULES = ("paper", "dominai_code", "openspiel", "puerto_rico")
MOST_ROUNDS = 9999  # the count of finished rounds stops here, so that every position can be written and read
TARGET = 100  # points that lose a match
TARGET_TO_WIN = 200  # puerto_rico: points that win it
FINE = 50  # points against a team one of whose seats passed unjustly, or called a just pass
BLOCKED = 4  # passes in a row that end a round
BLOCKED_IN_THEIR_CODE = 3  # the same in the preset dominai_code


def _bits(places: Any) -> int:
    return sum({1 << place for place in places})


def _constant(values: Any, dtype: Any) -> NDArray[Any]:
    table = np.array(values, dtype)
    table.flags.writeable = False
    return table


BIT_OF_TILE = _constant([7 * a + b for a, b in TILES], np.int64)
TILE_OF_ACTION = _constant([TILES.index((min(c, e), max(c, e))) for c in range(SUITS) for e in range(SUITS)], np.int64)
PIPS = _constant([c + e for c in range(SUITS) for e in range(SUITS)], np.int64)  # by action

ALL_TILES = np.uint64(_bits(BIT_OF_TILE.tolist()))
DOUBLE_SIX = np.uint64(1 << 48)
NO_TILES = np.uint64(0)
ROW = _constant([0x7F << 7 * c for c in range(SUITS)], np.uint64)  # by c: the bits of a mirrored hand that cover an end showing c
UNMIRRORED = _constant([_bits([7 * min(c, e) + max(c, e)]) for c in range(SUITS) for e in range(SUITS)], np.uint64)  # by action: its tile
MIRRORED = _constant([_bits([7 * c + e, 7 * e + c]) for c in range(SUITS) for e in range(SUITS)], np.uint64)  # by action: its tile
# By the power of two, 1, 2 or 4: the rows of all c that have it as a summand, and the doubles in these rows.
HALVES_WITH = _constant([_bits(7 * c + e for c in range(SUITS) for e in range(SUITS) if c >> power & 1) for power in range(3)], np.uint64)
DOUBLES_WITH = _constant([_bits(8 * c for c in range(SUITS) if c >> power & 1) for power in range(3)], np.uint64)
# By a set of suits (bit c for suit c): the tiles that have one of these suits, not mirrored.
TILES_WITH = _constant([_bits(7 * a + b for a, b in TILES if suits >> a & 1 or suits >> b & 1) for suits in range(1 << SUITS)], np.uint64)
DIAGONAL = _constant([_bits(8 * a + d for a in range(SUITS - d)) for d in range(SUITS)], np.uint64)  # by d: the tiles a-(a + d)

CHOOSE = _constant([[comb(n, k) for k in range(22)] for n in range(22)], np.int64)  # by n and k: the number of ways to choose k of n
