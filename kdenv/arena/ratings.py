"""Ratings of policies that need not all have met: how strong each is, from who finished before whom at which table.

The model is that of Plackett (1975) and Luce (1959): whoever comes first is drawn with odds exp(strength), whoever comes second likewise
among the others, and so on. For two at a table it is that of Bradley and Terry (1952). A tie counts as the mean over all orders of those
who tie; for two it is half a win for each. So a difference of strengths says which share of the wins to expect, ties included.

Intervals are those of profile likelihood: they hold every rating at which what happened is not much less probable than at the best one.
So they are right also where somebody won only once or twice. Games of one deal are one sample: the difference that counts as much is
scaled by the cluster-robust variance (the sandwich of Liang and Zeger 1986), as Chandler and Bate do (2007).
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

POINTS = 400 / math.log(10)  # the points of a strength of 1. They are those of chess: 400 points are odds of 10 to 1

# Every policy has also drawn this part of a game with an imagined one of strength 0. So whoever won everything has a finite rating.
_IMAGINED = 0.25
_TAIL = 0.025  # how probable it is, at most, that the finite end of a one-sided interval misses the truth
_STEPS = 100  # Newton's method takes at most so many steps; about eight are enough
_NEAR = 1e-10  # it ends with a step that is smaller than this
_CLOSE = 1e-7  # the end of an interval is as right as this

Table = tuple[int, ...]  # the numbers of the policies at a table
Places = tuple[int, ...]  # in the same order, where each finished: 0 is first, and equal places are a tie
Deals = Counter[tuple[Table, tuple[Places, ...]]]  # how many deals of a table had games that ended like this
Floats = NDArray[np.float64]


class Ratings(NamedTuple):
    """What is known about the strengths of policies."""

    estimates: list[Estimate]  # in points. An end that nothing in the games bounds is inf; both are nan where deals are too few
    reference: list[int]  # the policies whose mean rating is 0
    superiority: Floats  # [i, j]: how likely it is that i is stronger than j


class Placings:
    """Collects who finished where in the games of a league, and rates the policies, which are numbered from 0."""

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
        """Rate all policies. The anchor has 0; without one, 0 is the mean of the largest group of linked policies."""
        found = self._deals + Counter((table, tuple(sorted(games))) for (table, _), games in self._partial.items())
        deals = Counter(dict(sorted(found.items())))  # so that no digit depends on the order in which games ended
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
    """The sets from which the first, the second ... were drawn if a table ended like this, each with its weight.

    With a tie these are the sets of all orders of those who tie, and their weights are shares of these orders.
    """
    sets: list[tuple[tuple[int, ...], float]] = []
    for place in sorted(set(places)):
        tied = [each for each, other in enumerate(places) if other == place]
        behind = tuple(each for each, other in enumerate(places) if other > place)
        for left in range(len(tied), 0, -1):
            sets += [((*some, *behind), 1 / math.comb(len(tied), left)) for some in combinations(tied, left)]
    return tuple(sets)


class _Likelihood:
    """The likelihood of strengths, given deals. Games that ended alike are one, so its size does not grow with the number of games."""

    def __init__(self, policies: int, deals: Deals, imagined: float = 0.0) -> None:
        """Each policy has also drawn the part `imagined` of a game. If that is 0, all must be linked, and the mean strength is 0."""
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
        """The degrees of freedom of an interval: the deals less the strengths, of which one is given."""
        return max(1, self._deals.total() - (self._policies - 1))

    def most_probable(self, start: Floats | None = None, contrast: Floats | None = None) -> Floats:
        """The strengths that are most probable; those of which `contrast @ strengths` is as at the start, if a contrast is given.

        Newton's method, with shorter steps where a step leads down.
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
        """Newton's step, which does not change the contrast if one is given; and how the value rises with the contrast there."""
        information, slope = self._information(strengths), self._slope(strengths)
        if contrast is None:
            return np.asarray(np.linalg.solve(information, slope)), 0.0
        information += np.outer(contrast, contrast)  # changes no step that leaves the contrast as it is, and keeps this from being singular
        free, held = np.linalg.solve(information, np.column_stack([slope, contrast])).T
        rise = float(contrast @ free) / float(contrast @ held)
        return np.asarray(free - rise * held), rise

    def robust_covariance(self, strengths: Floats) -> Floats:
        """The covariance of the strengths, if deals are independent and games of a deal need not be.

        The imagined games count as what a decided game would add, so that it is never 0, as where all deals ended alike.
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
        """The covariance of the strengths, if all games are independent."""
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
        """For each set, how probable each policy is to be drawn from it."""
        odds = self._members * np.exp(strengths)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _information_of_game(strengths: Floats) -> Floats:
    """What a game against a strength of 0 tells about each strength."""
    return np.asarray(1 / (2 + np.exp(strengths) + np.exp(-strengths)))


def _slope_of_game(strengths: tuple[float, ...], places: Places) -> Floats:
    """How the likelihood of a game rises with the strength of each at its table."""
    odds, slope = np.exp(strengths), np.ones(len(places))
    for members, weight in _choices(places):
        drawn = odds[list(members)]
        slope[list(members)] -= weight * drawn / drawn.sum()
    return slope


# Intervals


class _Profile:
    """Intervals of the strengths in a group of linked policies, less the mean strength of those of the group that are the reference.

    For each difference from the reference, the other strengths are the most probable ones. No game is imagined here, since that would
    matter where somebody won once. Other policies are left out: at a table they are before, or behind, all of the group, so the order
    within the group has the same likelihood without them.
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
        fall = half * half / naive / 2  # of the likelihood, which is scaled so that its curvature is that of the robust variance
        return self._end(contrast, -half, fall), self._end(contrast, half, fall)

    def _end(self, contrast: Floats, half: float, fall: float) -> float:
        """The value of the contrast, on that side of the best one to which `half` leads, at which the likelihood has fallen so much.

        Newton's method for the root of the fall, which is nearly straight; with halves of the bracket where that leads out of it.
        """
        best, along = float(contrast @ self._best), self._naive @ contrast / (contrast @ self._naive @ contrast)
        near, far, at, strengths = 0.0, math.inf, abs(half), self._best  # at `near` it has fallen less, at `far` more
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
    """Which policies the games compare. Two are linked if each has beaten or tied the other, or someone who has, and so on.

    Whoever always finished before others is not linked with them. Of its strength only one end is known: it is so large that all these
    deals are not too improbable, where each deal counts as one game, and the strengths of the others are taken as they are.
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
        """The ends of the interval of a policy which is not linked with the other one, whose group is taken as known."""
        sign = 1 if self._reaches[policy, other] else -1
        if not self._met(policy, other):
            return -math.inf, math.inf
        near, far = float(self._strengths[policy]), sign * -1000.0  # at `near` what happened is probable enough, at `far` it is not
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
        """Whom of the group a policy met that is not in it: in each deal the strongest one if it won, else the weakest."""
        best = max if self._reaches[policy, other] else min
        met: Counter[float] = Counter()
        for (table, _), count in self._deals.items():
            rivals = [float(self._strengths[each]) for each in table if self.both[each, other]]
            if policy in table and rivals:
                met[best(rivals)] += count
        return met


def _superiority(strengths: Floats, covariance: Floats, links: _Links) -> Floats:
    """[i, j]: how likely it is that i is stronger than j.

    For linked policies the error of the difference is taken for normal. For others it is 1 less the probability of what happened
    if they were equally strong, and 0.5 where nothing is known.
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
    """The places at a table: the winners are first, whatever broke their tie, and the others follow by score."""
    keys = [(1, 0.0) if win > 0 else (0, float(score)) for score, win in zip(scores, wins, strict=True)]
    return tuple(sum(other > mine for other in keys) for mine in keys)
