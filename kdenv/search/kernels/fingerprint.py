"""Fingerprints of positions. Searches use them to find positions that they have met before."""

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import stirred


@kernel
def fingerprint(words, k, start):
    """A 64-bit hash of the words of states[k] and of the number `start`. Two different inputs have the same hash once in 2**64.

    Four keys are stirred at the same time, because each step of one key has to wait for a multiplication.
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
