"""Fingerprints of positions, by which searches find those they have met before."""

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import stirred


@kernel
def fingerprint(words, k, start):
    """64 bits of the memory of states[k], a row of words, and of a number to start from.

    They differ, but for an accident in 2**64, from those of any other. Four keys at a time: stirring waits for its product.
    """
    a = stirred(np.uint64(start), np.uint64(1))
    b, c, d = stirred(a, np.uint64(2)), stirred(a, np.uint64(3)), stirred(a, np.uint64(4))
    n = words.shape[1]
    i = 0
    while i + 4 <= n:
        a = stirred(a, words[k, i])
        b = stirred(b, words[k, i + 1])
        c = stirred(c, words[k, i + 2])
        d = stirred(d, words[k, i + 3])
        i += 4
    while i < n:
        a = stirred(a, words[k, i])
        i += 1
    return stirred(stirred(stirred(a, b), c), d)
