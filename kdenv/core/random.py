"""The random numbers of kernels: a generator is a uint64[1], and xorshift64* draws from it in 1.4 ns.

An environment seeds it from its numpy generator. Kernels do not take numpy's generator, because passing one costs 5 us.
"""

from typing import Any

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from kdenv.core.kernel import kernel

Rng = NDArray[np.uint64]

_MASK = (1 << 64) - 1
_MULTIPLIER = 0x2545F4914F6CDD1D
_GOLDEN = 0x9E3779B97F4A7C15  # odd, and irregular: 2**64 divided by the golden ratio


def make_rng(seed: "int | np.random.Generator") -> Rng:
    """A kernel generator from an integer or from a numpy generator (which is advanced by one draw)."""
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(1 << 63))
    return np.array([_scramble(int(seed))], np.uint64)


def derive_seed(*parts: int) -> int:
    """Makes one seed of several numbers (match seed, deal, seat ...); it is the same in every process."""
    seed = 0
    for part in parts:
        seed = _scramble(seed ^ (int(part) & _MASK))
    return seed


def _scramble(seed: int) -> int:
    """One step of splitmix64: neighbouring seeds become unrelated states. Never 0, which xorshift could not leave."""
    z = (seed + _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return (z ^ (z >> 31)) or 1


def next64(rng: Any) -> Any:
    """The next 64 random bits."""
    x = int(rng[0])
    x ^= x >> 12
    x = (x ^ (x << 25)) & _MASK
    x ^= x >> 27
    rng[0] = x
    return np.uint64((x * _MULTIPLIER) & _MASK)


@overload(next64)
def _next64(rng):
    def compiled(rng):
        x = rng[0]
        x ^= x >> np.uint64(12)
        x ^= x << np.uint64(25)
        x ^= x >> np.uint64(27)
        rng[0] = x
        return x * np.uint64(_MULTIPLIER)

    return compiled


def stirred(key: Any, word: Any) -> Any:
    """A 64-bit key with one more 64-bit word in it, both unsigned."""
    product = ((int(key) ^ int(word)) * _GOLDEN) & _MASK
    return np.uint64(product ^ (product >> 32))


@overload(stirred)
def _stirred(key, word):
    def compiled(key, word):
        product = (np.uint64(key) ^ np.uint64(word)) * np.uint64(_GOLDEN)
        return product ^ (product >> np.uint64(32))

    return compiled


@kernel
def below(rng, n):
    """A random integer in [0, n), for n below 2**32."""
    return np.int64(((next64(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def uniform(rng):
    """A random number in [0, 1)."""
    return np.float64(next64(rng) >> np.uint64(11)) / 9007199254740992.0
