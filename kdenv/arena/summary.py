"""Sums up the results of a match: a row for every policy, and the other numbers of the page of a match."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from kdenv.arena.match import Match, Result
from kdenv.arena.statistics import AdjustedSums, DealSums, Estimate, Median, pairing
from kdenv.arena.tables import HEADINGS, cells, difference_lines, note, text_table
from kdenv.core.errors import BadOption, KdenvError
from kdenv.drawing.page import Rows, notebook
from kdenv.policies import policy

_COLUMNS = 4  # numbers of a policy in a game: margin, score, win, playouts a turn
_SCORE, _WIN, _PLAYOUTS = 1, 2, 3


@dataclass(frozen=True)
class PolicyRow:
    """The row of a policy in the table of a match, over all its places in the line-up."""

    policy: str
    places: int
    games: int
    margin: Estimate
    score: Estimate
    wins: Estimate
    seconds_per_turn: Estimate
    median_seconds_per_turn: float  # the median over games of a game's seconds a turn, to 1 %
    playouts_per_turn: Estimate


@dataclass(frozen=True)
class Difference:
    """The points of a policy minus those of another one, in a game, on average over the places of each.

    If a match has several differences, their intervals are wider (Bonferroni): they contain all true differences in 95 % of all matches.
    """

    policy: str
    less: str
    points: Estimate
    pairing: float  # variance reduction from shared deals (statistics.pairing); nan if not known
    luck: float = math.nan  # variance reduction by luck adjustment (AdjustedSums.reduction); nan if luck is not measured


class Summary:
    """Takes the results of a match one by one. It keeps sums, the closest game, and the frequencies of margins.

    `print` and notebooks show the table of the match.
    """

    def __init__(self, match: Match, results: Iterable[Result] = ()) -> None:
        self.match = match
        self.closest: Result | None = None  # the game that was closest for the first policy of the line-up
        self.margins: Counter[int] = Counter()  # margin of the first policy of the line-up -> number of games
        if match.other:
            raise BadOption("a match of two line-ups has no table of policies; a Comparison says what it found")
        self._places = {text: [place for place, other in enumerate(match.line_up) if other == text] for text in match.line_up}
        self._pairs = list(combinations(range(len(self._places)), 2))
        self._sums = DealSums(len(match.line_up))
        self._adjusted = AdjustedSums(len(match.line_up)) if match.luck else None  # by policy margin and win, then by pair points
        self._times = DealSums(len(match.line_up))  # the seconds a turn of each policy, in games whose time was measured
        self._medians = {text: Median() for text in self._places}
        for result in results:
            self.add(result)

    @property
    def games(self) -> int:
        """The number of games whose results were added."""
        return self._sums.games

    @property
    def deals(self) -> int:
        """The number of deals to which these games belong."""
        return self._sums.deals

    def add(self, result: Result) -> None:
        """Add the result of a game. A game must not be added twice; this is not checked."""
        numbers: list[float] = []
        for places in self._places.values():
            playouts = [result.playouts[place] / max(1, result.turns[place]) for place in places]
            columns = ([of[place] for place in places] for of in (result.margins, result.scores, result.wins))
            numbers += [sum(column) / len(places) for column in (*columns, playouts)]
        if result.seconds is not None:
            self._add_times(result.deal, result.seconds, result.turns)
        numbers += [numbers[_COLUMNS * one + _SCORE] - numbers[_COLUMNS * other + _SCORE] for one, other in self._pairs]
        self._sums.add(result.deal, numbers)
        if self._adjusted is not None:
            self._adjusted.add(result.deal, self._with_luck(result, numbers))
        self.margins[result.margins[0]] += 1
        if self.closest is None or _closeness(result) < _closeness(self.closest):
            self.closest = result

    def _with_luck(self, result: Result, numbers: list[float]) -> list[tuple[float, float]]:
        """The numbers from which luck is subtracted, each with its luck."""
        assert result.luck is not None  # the match measures it
        of_policy = [sum(result.luck[place] for place in places) / len(places) for places in self._places.values()]
        own = [(numbers[_COLUMNS * policy + column], luck) for policy, luck in enumerate(of_policy) for column in (0, _WIN)]
        differences = numbers[_COLUMNS * len(self._places) :]
        return own + [(points, of_policy[one] - of_policy[other]) for points, (one, other) in zip(differences, self._pairs, strict=True)]

    def _add_times(self, deal: int, seconds: list[float], turns: list[int]) -> None:
        """Add the time of a game."""
        means: list[float] = []
        for text, places in self._places.items():
            of_places = [seconds[place] / max(1, turns[place]) for place in places]
            means.append(sum(of_places) / len(places))
            for each in of_places:
                self._medians[text].add(each)
        self._times.add(deal, means)

    def rows(self) -> list[PolicyRow]:
        """A row for every policy, in the order of the line-up."""
        return [self._row(text, number) for number, text in enumerate(self._places)]

    def times(self) -> dict[str, list[tuple[float, float]]]:
        """The distribution over games of the seconds a turn, for each policy: numbers, ascending, and the share of games of each."""
        return {str(text): median.shares() for text, median in self._medians.items()}

    def differences(self) -> list[Difference]:
        """For every two policies the points of the first minus those of the second, on the same deals."""
        names, sums, first = list(map(str, self._places)), self._sums, _COLUMNS * len(self._places)
        adjusted, at, n = self._adjusted, 2 * len(self._places), len(self._pairs)
        return [
            Difference(
                policy=names[one],
                less=names[other],
                points=(sums.mean(first + pair, n) if adjusted is None else adjusted.mean(at + pair, n)),
                pairing=pairing(sums, _COLUMNS * one + _SCORE, _COLUMNS * other + _SCORE, first + pair),
                luck=math.nan if adjusted is None else adjusted.reduction(at + pair),
            )
            for pair, (one, other) in enumerate(self._pairs)
        ]

    def __str__(self) -> str:
        return self.text()

    def text(self, bars: bool = False) -> str:
        """The heading, the explanation, a line for every policy, with a bar for its wins if wanted, and one for every two policies."""
        if not self.games:
            return self._heading()
        differences = "".join(f"\n{line}" for line in difference_lines(self.differences()))
        return f"{self._heading()}\n{self._explanation()}\n\n{text_table(self.rows(), bars)}" + (f"\n{differences}" if differences else "")

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        if not self.games:
            return notebook((self._heading(),))
        table = Rows(self._heading(), HEADINGS, [cells(row) for row in self.rows()])
        return notebook((self._heading(),), table, (*difference_lines(self.differences()), self._explanation()))

    def _heading(self) -> str:
        return self.match.describe() + ("" if self.games == self.match.games else f": {self.games} finished")

    def _explanation(self) -> str:
        told = f"{self.deals} deal{'s' * (self.deals != 1)}, seats rotated, deals shared. {note(self.deals, len(self._pairs))}"
        if self.match.luck:
            told += f" Margins, wins and differences are adjusted for luck, as {self.match.luck} values it."
        if any(self._has_more_than_its_budget(text, number) for number, text in enumerate(self._places)):
            told += " A turn is all that a seat decides in a row; a budget of playouts is for each of its decisions."
        return told

    def _has_more_than_its_budget(self, text: Any, number: int) -> bool:
        """True if a turn of this policy has more playouts than its budget, which is for a decision."""
        try:
            found = policy(text)
        except KdenvError:  # it comes from a package or a file that is not here
            return False
        budget, whole = getattr(found, "playouts", None), getattr(found, "whole", False)
        return isinstance(budget, int) and not whole and round(self._sums.mean(_COLUMNS * number + _PLAYOUTS).mean) > budget

    def _row(self, text: Any, number: int) -> PolicyRow:
        sums, first = self._sums, _COLUMNS * number
        return PolicyRow(
            policy=str(text),
            places=len(self._places[text]),
            games=self.games,
            margin=sums.mean(first) if self._adjusted is None else self._adjusted.mean(2 * number),
            score=sums.mean(first + 1),
            wins=sums.share(first + _WIN) if self._adjusted is None else self._adjusted.share(2 * number + 1),
            seconds_per_turn=self._times.mean(number),
            median_seconds_per_turn=self._medians[text].value(),
            playouts_per_turn=sums.mean(first + _PLAYOUTS),
        )


def _closeness(result: Result) -> tuple[int, int]:
    """A key that is smallest for the closest game and, of equally close games, for the first one."""
    return abs(result.margins[0]), result.number
