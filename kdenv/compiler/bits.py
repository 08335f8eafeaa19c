"""Sets of up to 64 elements, kept as the bits of a np.uint64. Most functions are one machine instruction; a loop would take 13 ns.

All functions take and return sets as np.uint64. Elements and counts are signed integers.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from kdenv.compiler.kernel import kernel

ONE = np.uint64(1)  # the set that has only the element 0; kernels shift it to get others
_PAIRS, _FOURS, _EIGHTS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_LOWEST, _HIGHEST = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)  # the lowest and the highest bit of every byte


def _elements(byte: int) -> list[int]:
    """Return the elements of a set below 8, in a list of 8 that ends with zeros."""
    elements = [i for i in range(8) if byte >> i & 1]
    return elements + [0] * (8 - len(elements))


_NTH_OF_BYTE = np.array([_elements(byte) for byte in range(256)], np.uint8)
_NTH_OF_BYTE.flags.writeable = False


def popcount(bits: Any) -> Any:
    """Return the number of elements in the set.

    >>> from kdenv.author import bit, popcount
    >>> popcount(bit(3) | bit(40))
    2
    """
    return int(bits).bit_count()


def lowest(bits: Any) -> Any:
    """Return the smallest element of a set, which must not be empty.

    >>> from kdenv.author import bit, lowest
    >>> lowest(bit(3) | bit(40))
    3
    """
    bits = int(bits)
    return (bits & -bits).bit_length() - 1


@intrinsic
def _ctpop(typing_context, bits):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def _cttz(typing_context, bits):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@overload(popcount)
def _popcount(bits):
    return lambda bits: _ctpop(bits)


@overload(lowest)
def _lowest(bits):
    return lambda bits: _cttz(bits)


@kernel
def bit(element: Any) -> Any:
    """Return the set that has only this element.

    >>> from kdenv.author import bit
    >>> int(bit(3))
    8
    """
    return ONE << np.uint64(element)


@kernel
def has(bits: Any, element: Any) -> Any:
    """Return whether the element is in the set.

    >>> from kdenv.author import bit, has
    >>> bool(has(bit(3) | bit(40), 40))
    True
    """
    return (bits >> np.uint64(element)) & ONE != np.uint64(0)


@kernel
def nth(bits: Any, n: Any) -> Any:
    """Return the element that has n smaller ones in the set. n must be less than the size of the set; this is not checked.

    It has no loop: broadword operations find the byte of the element (Vigna 2008), and a table has its place in the byte.

    >>> from kdenv.author import bit, nth
    >>> int(nth(bit(3) | bit(40), 1))
    40
    """
    # 1. Byte i of `below` becomes the number of elements less than 8 * (i + 1).
    below = bits - ((bits >> np.uint64(1)) & _PAIRS)
    below = (below & _FOURS) + ((below >> np.uint64(2)) & _FOURS)
    below = (below + (below >> np.uint64(4))) & _EIGHTS
    below += below << np.uint64(8)
    below += below << np.uint64(16)
    below += below << np.uint64(32)
    # 2. The bytes in which this number is not more than n lie before the byte of the element.
    first = np.uint64(8) * np.uint64(popcount(((np.uint64(n) * _LOWEST | _HIGHEST) - below) & _HIGHEST))
    # 3. Look the element up in its byte.
    byte = (bits >> first) & np.uint64(0xFF)
    n_before = ((below << np.uint64(8)) >> first) & np.uint64(0xFF)
    return np.int64(first) + np.int64(_NTH_OF_BYTE[byte, np.uint64(n) - n_before])
