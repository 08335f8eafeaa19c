"""The softmax of a list of numbers, its logarithm, and random draws by it: for policies, priors and players that sample.

The greatest number is subtracted before `exp`, so nothing overflows. The sum is made in the order of the list.
"""

import numpy as np

from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import uniform


@kernel
def softmax(numbers, n):
    """Replace the first n numbers by their softmax."""
    most, total = greatest(numbers, n), 0.0
    for i in range(n):
        numbers[i] = np.exp(numbers[i] - most)
        total += numbers[i]
    for i in range(n):
        numbers[i] /= total


@kernel
def log_softmax(numbers, n, out):
    """Write the logarithms of the softmax of the first n numbers to out, which may be the same array."""
    most = greatest(numbers, n)
    shift = most + np.log(_sum_of_odds(numbers, n, most))
    for i in range(n):
        out[i] = numbers[i] - shift


@kernel
def draw_by_softmax(numbers, n, rng):
    """Return an index below n, drawn from the softmax of the first n numbers."""
    most = greatest(numbers, n)
    return _draw(numbers, n, most, _sum_of_odds(numbers, n, most), rng)


@kernel
def draw_by_log_odds(log_odds, n, rng):
    """Return an index below n, drawn by these logarithms of probabilities, as log_softmax writes them."""
    return _draw(log_odds, n, 0.0, 1.0, rng)


@kernel
def greatest(numbers, n):
    """Return the greatest of the first n numbers as a float64."""
    most = float(numbers[0])
    for i in range(1, n):
        most = max(most, float(numbers[i]))
    return most


@kernel
def _sum_of_odds(numbers, n, most):
    total = 0.0
    for i in range(n):
        total += np.exp(float(numbers[i]) - most)
    return total


@kernel
def _draw(numbers, n, most, total, rng):
    left = uniform(rng) * total
    for i in range(n):
        left -= np.exp(float(numbers[i]) - most)
        if left < 0.0:
            return i
    return n - 1  # the rounded odds may add up to a little less than the total
