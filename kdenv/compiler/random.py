"""Random numbers for kernels. A generator is an array of one uint64, and xorshift64* draws a number from it in 1.4 ns.

Environments seed it from their numpy generator. Kernels are never given a numpy generator, because passing one costs 5 us.

The generator is not cryptographic: its state gives away all numbers that it has drawn and will draw. `derive_seed` therefore makes a
separate seed for every purpose.
"""

import hashlib
import operator
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel

Rng = NDArray[np.uint64]

_MASK = (1 << 64) - 1
_MULTIPLIER = 0x2545F4914F6CDD1D
_NO_RNG = "is no generator of random numbers; give what kdenv.author.make_rng(seed) returns"
_GOLDEN = 0x9E3779B97F4A7C15  # odd, and irregular: 2**64 divided by the golden ratio


def make_rng(seed: "int | np.random.Generator") -> Rng:
    """Make a generator for kernels from an integer, or from one draw of a numpy generator.

    >>> from kdenv.author import below, make_rng
    >>> rng = make_rng(1)
    >>> [int(below(rng, 6)) for _ in range(5)]
    [1, 5, 2, 1, 5]
    """
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(1 << 63))
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(
            f"a generator cannot be made from a value of type {type(seed).__name__}; give make_rng a whole number, or a numpy Generator"
        ) from None
    return np.array([_scramble(number)], np.uint64)


def as_rng(given: "Rng | np.random.Generator") -> Rng:
    """Return a generator for kernels as it is, or make one from a numpy generator. Raises TypeError for anything else."""
    if isinstance(given, np.ndarray) and given.dtype == np.uint64 and given.shape == (1,):
        return given
    if isinstance(given, np.random.Generator):
        return make_rng(given)
    raise TypeError(f"a value of type {type(given).__name__} {_NO_RNG}, or a numpy Generator, such as numpy.random.default_rng(1)")


def derive_seed(purpose: str, *parts: int) -> int:
    """Make a seed for one purpose, such as "chance" or "policy", from numbers (match seed, deal ...). It is the same in every process.

    The seed is a hash of the purpose and the numbers. So the numbers, and the seed for another purpose, cannot be computed from it. But
    a policy that guesses the numbers can derive all seeds: if the policies of a match might try all small match seeds, give the match a
    large random one.
    """
    digest = hashlib.blake2b(digest_size=8, person=purpose.encode())
    for part in parts:
        part = int(part)
        number = part.to_bytes(part.bit_length() // 8 + 1, "little", signed=True)
        digest.update(len(number).to_bytes(8, "little") + number)
    return int.from_bytes(digest.digest(), "little")


def _scramble(seed: int) -> int:
    """Turn neighbouring seeds into unrelated states (splitmix64). The result is never 0, because xorshift would stay at 0."""
    z = (seed + _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return (z ^ (z >> 31)) or 1


def next64(rng: Any) -> Any:
    """Draw a random uint64; all its 64 bits are random."""
    x = int(rng[0])
    x ^= x >> 12
    x = (x ^ (x << 25)) & _MASK
    x ^= x >> 27
    rng[0] = x
    return np.uint64((x * _MULTIPLIER) & _MASK)


@overload(next64)
def _next64(rng):
    if getattr(rng, "dtype", None) != types.uint64 or rng.ndim != 1:
        raise TypeError(f"what a kernel is to draw from {_NO_RNG} (it is given: {rng})")

    def compiled(rng):
        x = rng[0]
        x ^= x >> np.uint64(12)
        x ^= x << np.uint64(25)
        x ^= x >> np.uint64(27)
        rng[0] = x
        return x * np.uint64(_MULTIPLIER)

    return compiled


def stirred(key: Any, word: Any) -> Any:
    """Mix a 64-bit word into a 64-bit key and return the new key. Both are unsigned."""
    product = ((int(key) ^ int(word)) * _GOLDEN) & _MASK
    return np.uint64(product ^ (product >> 32))


@overload(stirred)
def _stirred(key, word):
    def compiled(key, word):
        product = (np.uint64(key) ^ np.uint64(word)) * np.uint64(_GOLDEN)
        return product ^ (product >> np.uint64(32))

    return compiled


@kernel
def below(rng: Rng, n: int) -> int:
    """Draw an integer in [0, n), for n below 2**32.

    >>> from kdenv.author import below, make_rng
    >>> 0 <= below(make_rng(1), 6) < 6
    True
    """
    return np.int64(((next64(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))  # type: ignore[return-value]  # numba types it


@kernel
def uniform(rng: Rng) -> float:
    """Draw a float in [0, 1).

    >>> from kdenv.author import make_rng, uniform
    >>> 0 <= uniform(make_rng(1)) < 1
    True
    """
    return np.float64(next64(rng) >> np.uint64(11)) / 9007199254740992.0
