"""The seeds of the games that an environment plays one after the other.

A call of reset(seed=...) draws a key from the generator of that seed and begins game 0; every later game has the next number. A game has a
separate seed for each purpose: its chance, the dice of the opponents and so on. The seed is computed from the key, the number of the game
and the purpose. So game 7 after reset(seed=3) is the same game in every kind of environment, in every row of a batch. From some of these
seeds others cannot be computed, because the key has twice as many bits as a seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import Rng, stirred

CHANCE, DICE, SEAT, POOL, OPPONENTS = range(5)  # the purposes of seeds
_PURPOSES = 8  # at least as many as there are purposes

Keys = NDArray[np.uint64]  # two numbers for each environment


@kernel
def seed_of(keys, k, number, purpose):
    """Return the seed of one purpose in game `number` of the environment whose key is keys[k]. It is never 0."""
    seed = stirred(keys[k, 0], np.uint64(number * _PURPOSES + purpose))
    seed = stirred(seed, keys[k, 1])
    seed = stirred(seed, keys[k, 0])
    seed = stirred(seed, np.uint64(_PURPOSES))
    return seed if seed != np.uint64(0) else np.uint64(1)


def new_key(generator: np.random.Generator) -> Keys:
    return generator.integers(1 << 64, size=2, dtype=np.uint64)


class Seeds:
    """The key of one environment, and the number of its current game."""

    def __init__(self) -> None:
        self._keys: Keys = np.zeros((1, 2), np.uint64)
        self.number = -1  # no game has begun

    def restart(self, generator: np.random.Generator) -> None:
        """Take a new key from this generator; the next game is game 0."""
        self._keys[0], self.number = new_key(generator), -1

    def next_game(self) -> None:
        """Count one more game."""
        self.number += 1

    def rng(self, purpose: int) -> Rng:
        """Return a new generator for one purpose in this game."""
        return np.array([seed_of(self._keys, 0, self.number, purpose)], np.uint64)

    def __deepcopy__(self, memo: dict[int, Any]) -> Seeds:
        twin = Seeds()
        twin._keys, twin.number = self._keys.copy(), self.number
        return twin
