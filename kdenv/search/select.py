"""Selection rules: formulas for the turn that a search tries next. They are parts of searches.

A search tries the turn with the greatest urgency. A rule computes it from the number of visits of the turn (n), the sum of their values,
and the sum of the squares of their values. It also gets `gain`: the prior, if there are priors, else the points that the turn gains at
once. `log_n` is the logarithm of N, the number of visits of the turn and its siblings together. Every turn has visits: a search tries
turns without visits first, or gives them a first play urgency.
"""

import math
from typing import NamedTuple

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.compiler.random import uniform


@question
def urgency(rule, visits, total, squares, gain, log_n, rng):
    """Return the urgency of trying this turn once more. visits is at least 1."""


class UCB1(NamedTuple):
    """The mean plus c * sqrt(ln N / n) (Auer et al. 2002, Kocsis and Szepesvári 2006)."""

    c: float


class UCBRatio(NamedTuple):
    """The mean plus c * sqrt(ln(N / n)): the modified UCB of Jansen and Tollisen (2014)."""

    c: float


class UCB1Tuned(NamedTuple):
    """UCB1 whose bonus depends on the observed variance, for values between 0 and 1 (Auer et al. 2002). The bonus is multiplied by c."""

    c: float


class ThompsonRule(NamedTuple):
    """A random draw from a normal distribution around the mean. Its variance is estimated from the values, beginning with spread ** 2."""

    spread: float


class ThompsonBetaRule(NamedTuple):
    """A random draw from the beta distribution of the chance to win, Beta(wins + successes, losses + the rest) (ThompsonRule 1933)."""

    wins: float
    losses: float


class PuctRule(NamedTuple):
    """The mean plus c * prior * sqrt(N) / (n + 1) (Rosin 2011, Silver et al. 2017)."""

    c: float


class ProgressiveBias(NamedTuple):
    """Another rule plus weight * gain / (n + 1) (UCTB of Gedda et al. 2018)."""

    rule: NamedTuple
    weight: float


class WinBias(NamedTuple):
    """Another rule plus weight * gain / (n * (1 - mean) + 1): good turns keep the bias longer (UCTW of Gedda et al. 2018)."""

    rule: NamedTuple
    weight: float


@answers(urgency, UCB1)
@kernel
def _ucb1(rule, visits, total, squares, gain, log_n, rng):
    return total / visits + rule.c * math.sqrt(log_n / visits)


@answers(urgency, UCBRatio)
@kernel
def _ucb_ratio(rule, visits, total, squares, gain, log_n, rng):
    return total / visits + rule.c * math.sqrt(max(0.0, log_n - math.log(visits)))


@answers(urgency, UCB1Tuned)
@kernel
def _ucb1_tuned(rule, visits, total, squares, gain, log_n, rng):
    mean = total / visits
    most_variance = squares / visits - mean * mean + math.sqrt(2.0 * log_n / visits)
    return mean + rule.c * math.sqrt(log_n / visits * min(0.25, most_variance))


@answers(urgency, ThompsonRule)
@kernel
def _thompson(rule, visits, total, squares, gain, log_n, rng):
    mean = total / visits
    variance = (max(0.0, squares - visits * mean * mean) + rule.spread * rule.spread) / visits
    return mean + math.sqrt(variance / visits) * normal(rng)


@answers(urgency, ThompsonBetaRule)
@kernel
def _thompson_beta(rule, visits, total, squares, gain, log_n, rng):
    one, other = gamma(rule.wins + total, rng), gamma(rule.losses + visits - total, rng)
    return one / (one + other)


@answers(urgency, PuctRule)
@kernel
def _puct(rule, visits, total, squares, gain, log_n, rng):
    return total / visits + rule.c * gain * math.exp(0.5 * log_n) / (visits + 1)


@answers(urgency, ProgressiveBias)
@kernel
def _progressive_bias(rule, visits, total, squares, gain, log_n, rng):
    return urgency(rule.rule, visits, total, squares, gain, log_n, rng) + rule.weight * gain / (visits + 1)


@answers(urgency, WinBias)
@kernel
def _win_bias(rule, visits, total, squares, gain, log_n, rng):
    bias = rule.weight * gain / (visits - total + 1.0)
    return urgency(rule.rule, visits, total, squares, gain, log_n, rng) + bias


@kernel
def normal(rng):
    """A random draw from the standard normal distribution."""
    return math.sqrt(-2.0 * math.log(1.0 - uniform(rng))) * math.cos(2.0 * math.pi * uniform(rng))


@kernel
def gamma(shape, rng):
    """A random draw from the gamma distribution of this shape, which is at least 1, and scale 1 (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(1.0 - uniform(rng)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v
