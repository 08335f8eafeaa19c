"""Ratings of policies, from the order in which they finished at each table. Not all of them need have met.

The model is that of Plackett (1975) and Luce (1959): the first place is drawn with odds exp(strength), the second likewise among the
others, and so on. With two at a table it is the model of Bradley and Terry (1952). A tie counts as the mean over all orders of the tied
policies; with two it is half a win for each. So a difference of strengths predicts the share of the wins, ties included.

Intervals are profile-likelihood intervals: they contain every rating at which the games are not much less probable than at the best
one. So they are valid even for a policy that won only once or twice. Games of one deal are one sample: the likelihood ratio is scaled by
the cluster-robust variance (the sandwich of Liang and Zeger 1986), following Chandler and Bate (2007).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.arena.statistics import FEWEST_DEALS, Estimate, student_t

POINTS = 400 / math.log(10)  # the points of a strength of 1, as in chess: 400 points are odds of 10 to 1

# A prior: every policy has drawn this part of a game with an imagined policy of strength 0. It keeps the strength of a policy finite that
# won every game.
_IMAGINED = 0.25
_TAIL = 0.025  # the largest probability that the finite end of a one-sided interval misses the true rating
_STEPS = 100  # the largest number of steps of Newton's method; about eight are enough
_NEAR = 1e-10  # it ends with a step smaller than this
_CLOSE = 1e-7  # the tolerance of the ends of intervals

Table = tuple[int, ...]  # the numbers of the policies at a table
Places = tuple[int, ...]  # in the same order, the place of each: 0 is first, and equal places are a tie
Deals = Counter[tuple[Table, tuple[Places, ...]]]  # the number of deals of a table whose games ended with these places
Floats = NDArray[np.float64]


class Ratings(NamedTuple):
    """The ratings of policies with their intervals."""

    estimates: list[Estimate]  # in points. An end that no game bounds is infinite; both are nan if there are too few deals
    reference: list[int]  # the policies whose mean rating is 0
    superiority: Floats  # [i, j]: the probability that i is stronger than j


class Placings:
    """Collects the places in the games of a league, and rates the policies, which are numbered from 0."""

    def __init__(self, policies: int, games_of_a_deal: int) -> None:
        self._policies, self._full = policies, games_of_a_deal
        self._deals: Deals = Counter()
        self._partial: dict[tuple[Table, int], list[Places]] = {}  # deals of which games are still missing, by table and number

    def add(self, table: Table, deal: int, places: Places) -> None:
        """Add a game. Deals of different tables are different deals, whatever their numbers."""
        games = self._partial.setdefault((table, deal), [])
        games.append(places)
        if len(games) == self._full:
            self._deals[table, tuple(sorted(games))] += 1
            del self._partial[table, deal]

    def rate(self, anchor: int | None = None) -> Ratings:
        """Rate all policies. The anchor has a rating of 0; without one, the mean of the largest group of linked policies is 0."""
        found = self._deals + Counter((table, tuple(sorted(games))) for (table, _), games in self._partial.items())
        deals = Counter(dict(sorted(found.items())))  # sorted, so that no digit depends on the order in which games ended
        likelihood = _Likelihood(self._policies, deals, _IMAGINED)
        strengths = likelihood.most_probable()
        covariance = likelihood.robust_covariance(strengths)
        played = np.zeros(self._policies, np.int64)
        for (table, _), count in deals.items():
            played[list(table)] += count
        links = _Links(self._policies, deals, strengths)
        reference = [anchor] if anchor is not None else links.largest_group(played)
        profile, zero = _Profile(deals, np.flatnonzero(links.both[reference[0]]).tolist(), reference), strengths[reference].mean()
        estimates = []
        for policy, strength in enumerate(strengths.tolist()):
            if played[policy] < FEWEST_DEALS:
                low = high = math.nan
            elif links.both[policy, reference[0]]:
                low, high = profile.ends(policy)
                low, high = min(low, strength - zero), max(high, strength - zero)
            else:
                low, high = (end - zero for end in links.one_sided(policy, reference[0]))
            estimates.append(Estimate(float(strength - zero), float(low), float(high)).scaled(POINTS))
        return Ratings(estimates, reference, _superiority(strengths, covariance, links))


# The model


@cache
def _choices(places: Places) -> tuple[tuple[tuple[int, ...], float], ...]:
    """The sets from which the first, the second ... place of a table were drawn, each with its weight.

    With a tie these are the sets of all orders of the tied policies, and their weights are the shares of these orders.
    """
    sets: list[tuple[tuple[int, ...], float]] = []
    for place in sorted(set(places)):
        tied = [each for each, other in enumerate(places) if other == place]
        behind = tuple(each for each, other in enumerate(places) if other > place)
        for left in range(len(tied), 0, -1):
            sets += [((*some, *behind), 1 / math.comb(len(tied), left)) for some in combinations(tied, left)]
    return tuple(sets)


class _Likelihood:
    """The likelihood of strengths, given deals. Games with equal places are one term, so its size does not grow with their number."""

    def __init__(self, policies: int, deals: Deals, imagined: float = 0.0) -> None:
        """`imagined` is the part of a game that each policy has drawn. If it is 0, all must be linked, and the mean strength is 0."""
        self._policies, self._deals, self._imagined = policies, deals, imagined
        self._held = float(imagined == 0.0)
        weights: Counter[Table] = Counter()
        self._played = np.zeros(policies)
        for (table, games), count in deals.items():
            self._played[list(table)] += count * len(games)
            for places in games:
                for members, weight in _choices(places):
                    who = tuple(table[each] for each in members)
                    weights[who] += count * weight  # type: ignore[assignment]
        self._members = np.zeros((len(weights), policies))
        for row, who in enumerate(weights):
            self._members[row, list(who)] = 1.0
        self._weights = np.array(list(weights.values()), np.float64)

    @property
    def freedom(self) -> int:
        """The degrees of freedom of an interval: the number of deals minus that of the strengths, of which one is given."""
        return max(1, self._deals.total() - (self._policies - 1))

    def most_probable(self, start: Floats | None = None, contrast: Floats | None = None) -> Floats:
        """The maximum-likelihood strengths. If a contrast is given, `contrast @ strengths` keeps its value at the start.

        This is Newton's method; a step that lowers the likelihood is shortened.
        """
        strengths = np.zeros(self._policies) if start is None else start
        value = self.value(strengths)
        for _ in range(_STEPS):
            step, _ = self.step(strengths, contrast)
            while (better := self.value(strengths + step)) < value and np.abs(step).max() > _NEAR:
                step /= 2
            strengths, value = strengths + step, better
            if np.abs(step).max() < _NEAR:
                break
        return strengths

    def step(self, strengths: Floats, contrast: Floats | None = None) -> tuple[Floats, float]:
        """Newton's step, which leaves the contrast unchanged if one is given; and the derivative of the likelihood by the contrast."""
        information, slope = self._information(strengths), self._slope(strengths)
        if contrast is None:
            return np.asarray(np.linalg.solve(information, slope)), 0.0
        information += np.outer(contrast, contrast)  # makes it regular, and changes no step that leaves the contrast unchanged
        free, held = np.linalg.solve(information, np.column_stack([slope, contrast])).T
        rise = float(contrast @ free) / float(contrast @ held)
        return np.asarray(free - rise * held), rise

    def robust_covariance(self, strengths: Floats) -> Floats:
        """The covariance of the strengths if deals are independent, and games of a deal may depend on each other.

        Each imagined game counts like a decided game. So the covariance is never 0, even if all deals ended alike.
        """
        bread, slope_of_game = self.covariance(strengths), cache(_slope_of_game)
        slopes = np.zeros((len(self._deals), self._policies))
        for row, (table, games) in enumerate(self._deals):
            slopes[row, list(table)] = sum(slope_of_game(tuple(strengths[list(table)]), places) for places in games)
        counts = np.array(list(self._deals.values()), np.float64)
        spread = (slopes.T * counts) @ slopes * (counts.sum() / self.freedom)
        np.fill_diagonal(spread, spread.diagonal() + _IMAGINED * _information_of_game(strengths))
        return np.asarray(bread @ spread @ bread)

    def covariance(self, strengths: Floats) -> Floats:
        """The covariance of the strengths if all games are independent."""
        return np.asarray(np.linalg.inv(self._information(strengths)))

    def value(self, strengths: Floats) -> float:
        """The logarithm of the likelihood."""
        imagined = self._imagined * (strengths / 2 - np.logaddexp(0.0, strengths)).sum() - self._held * strengths.sum() ** 2 / 2
        return float(self._played @ strengths - self._weights @ np.log(self._members @ np.exp(strengths)) + imagined)

    def _slope(self, strengths: Floats) -> Floats:
        imagined = self._imagined * (0.5 - 1 / (1 + np.exp(-strengths))) - self._held * strengths.sum()
        return np.asarray(self._played - self._weights @ self._shares(strengths) + imagined)

    def _information(self, strengths: Floats) -> Floats:
        shares = self._shares(strengths)
        information = self._held - (shares.T * self._weights) @ shares
        np.fill_diagonal(information, information.diagonal() + self._weights @ shares + self._imagined * _information_of_game(strengths))
        return np.asarray(information)

    def _shares(self, strengths: Floats) -> Floats:
        """For each set, the probability of each policy to be drawn from it."""
        odds = self._members * np.exp(strengths)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _information_of_game(strengths: Floats) -> Floats:
    """The Fisher information of a game against a strength of 0, for each strength."""
    return np.asarray(1 / (2 + np.exp(strengths) + np.exp(-strengths)))


def _slope_of_game(strengths: tuple[float, ...], places: Places) -> Floats:
    """The derivative of the log-likelihood of a game by the strength of each policy at its table."""
    odds, slope = np.exp(strengths), np.ones(len(places))
    for members, weight in _choices(places):
        drawn = odds[list(members)]
        slope[list(members)] -= weight * drawn / drawn.sum()
    return slope


# Intervals


class _Profile:
    """Profile-likelihood intervals of the strengths in a group of linked policies, relative to the mean strength of the reference.

    For each difference from the reference, the other strengths are the most probable ones. No game is imagined, because that would move
    the interval of a policy that won once. Other policies are left out: at a table they are before, or behind, all of the group. So the
    order within the group has the same likelihood without them.
    """

    def __init__(self, deals: Deals, group: Sequence[int], reference: Sequence[int]) -> None:
        self._number = {policy: number for number, policy in enumerate(group)}
        self._reference = [self._number[policy] for policy in reference]
        within: Deals = Counter()
        for (table, games), count in deals.items():
            seats = [seat for seat, policy in enumerate(table) if policy in self._number]
            if len(seats) > 1:
                those = tuple(self._number[table[seat]] for seat in seats)
                within[those, tuple(tuple(places[seat] for seat in seats) for places in games)] += count
        self._likelihood = _Likelihood(len(group), within)
        self._best = self._likelihood.most_probable()
        self._value = self._likelihood.value(self._best)
        self._naive, self._robust = self._likelihood.covariance(self._best), self._likelihood.robust_covariance(self._best)

    def ends(self, policy: int) -> tuple[float, float]:
        """The ends of the 95 % interval of a policy."""
        contrast = np.zeros(len(self._number))
        contrast[self._number[policy]] = 1.0
        contrast[self._reference] -= 1 / len(self._reference)
        if not contrast.any():
            return 0.0, 0.0
        robust, naive = float(contrast @ self._robust @ contrast), float(contrast @ self._naive @ contrast)
        half = student_t(max(FEWEST_DEALS - 1, self._likelihood.freedom)) * math.sqrt(robust)
        fall = half * half / naive / 2  # of the log-likelihood, scaled so that its curvature is that of the robust variance
        return self._end(contrast, -half, fall), self._end(contrast, half, fall)

    def _end(self, contrast: Floats, half: float, fall: float) -> float:
        """The value of the contrast at which the log-likelihood is lower by `fall`, on the side of the sign of `half`.

        This is Newton's method for the root of the fall, which is nearly linear. A step out of the bracket is replaced by its middle.
        """
        best, along = float(contrast @ self._best), self._naive @ contrast / (contrast @ self._naive @ contrast)
        near, far, at, strengths = (
            0.0,
            math.inf,
            abs(half),
            self._best,
        )  # distances from the best value: at `near` the fall is too small, at `far` too large
        for _ in range(_STEPS):
            there = best + math.copysign(at, half)
            strengths = self._likelihood.most_probable(strengths + along * (there - contrast @ strengths), contrast)
            fallen = math.sqrt(max(0.0, self._value - self._likelihood.value(strengths)))
            near, far = (at, far) if fallen * fallen < fall else (near, at)
            steepness = abs(self._likelihood.step(strengths, contrast)[1])
            before, at = at, at + (math.sqrt(fall) - fallen) * 2 * fallen / steepness
            if not near < at < far:
                at = 2 * near if math.isinf(far) else (near + far) / 2
            if abs(at - before) < _CLOSE:
                break
        return best + math.copysign(at, half)


# Policies that won, or lost, everything


class _Links:
    """The links between policies. Two are linked if each has beaten or tied the other, or a policy that has, and so on.

    A policy that always finished before the others is not linked with them. Only one end of its strength is known: the smallest strength
    at which these deals are not too improbable. Each deal counts as one game, and the strengths of the others are taken as exact.
    """

    def __init__(self, policies: int, deals: Deals, strengths: Floats) -> None:
        self._deals, self._strengths = deals, strengths
        self._reaches = np.eye(policies, dtype=np.bool_)
        for table, games in deals:
            for places in games:
                for (one, first), (other, second) in combinations(zip(table, places, strict=True), 2):
                    self._reaches[one, other] |= first <= second
                    self._reaches[other, one] |= second <= first
        for middle in range(policies):
            self._reaches |= self._reaches[:, [middle]] & self._reaches[middle]
        self.both = self._reaches & self._reaches.T

    def largest_group(self, played: NDArray[np.int64]) -> list[int]:
        """The largest group of linked policies, and of equally large ones the one that has played most."""
        best = max(range(len(self.both)), key=lambda policy: (self.both[policy].sum(), played[self.both[policy]].sum(), -policy))
        return np.flatnonzero(self.both[best]).tolist()

    def one_sided(self, policy: int, other: int) -> tuple[float, float]:
        """The ends of the interval of a policy that is not linked with the other one. The strengths of its group are taken as exact."""
        sign = 1 if self._reaches[policy, other] else -1
        if not self._met(policy, other):
            return -math.inf, math.inf
        near, far = float(self._strengths[policy]), sign * -1000.0  # at `near` the deals are probable enough, at `far` they are not
        while self.log_chance(policy, other, near) < math.log(_TAIL):
            near += sign
        for _ in range(60):
            middle = (near + far) / 2
            near, far = (near, middle) if self.log_chance(policy, other, middle) < math.log(_TAIL) else (middle, far)
        end = sign * min(sign * near, sign * float(self._strengths[policy]))
        return (end, math.inf) if sign > 0 else (-math.inf, end)

    def log_chance(self, policy: int, other: int, strength: float) -> float:
        """The logarithm of the probability of all deals between a policy of this strength and the group of the other one."""
        sign = 1 if self._reaches[policy, other] else -1
        met = self._met(policy, other)
        return -sum(count * float(np.logaddexp(0.0, sign * (rival - strength))) for rival, count in met.items())

    def _met(self, policy: int, other: int) -> Counter[float]:
        """The opponents of a policy from a group that it is not in, by strength: of each deal the strongest if it won, else the weakest."""
        best = max if self._reaches[policy, other] else min
        met: Counter[float] = Counter()
        for (table, _), count in self._deals.items():
            rivals = [float(self._strengths[each]) for each in table if self.both[each, other]]
            if policy in table and rivals:
                met[best(rivals)] += count
        return met


def _superiority(strengths: Floats, covariance: Floats, links: _Links) -> Floats:
    """[i, j]: the probability that i is stronger than j.

    For linked policies the error of the difference is taken as normal. For others it is 1 minus the probability of their games if they
    were equally strong; it is 0.5 if they never met.
    """
    found = np.full(covariance.shape, 0.5)
    for i, j in combinations(range(len(strengths)), 2):
        if links.both[i, j]:
            spread = math.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
            found[i, j] = 0.5 * math.erfc((strengths[j] - strengths[i]) / (spread * math.sqrt(2)))
        else:
            chance = math.exp(min(links.log_chance(i, j, strengths[j]), links.log_chance(j, i, strengths[i])))
            sure = max(0.5, 1 - chance)
            found[i, j] = sure if strengths[i] > strengths[j] else 1 - sure
        found[j, i] = 1 - found[i, j]
    return found


def places_of(scores: Sequence[float], wins: Sequence[float]) -> Places:
    """The places at a table: all winners are first, and the others follow by score."""
    keys = [(1, 0.0) if win > 0 else (0, float(score)) for score, win in zip(scores, wins, strict=True)]
    return tuple(sum(other > mine for other in keys) for mine in keys)
