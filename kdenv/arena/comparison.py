"""Compares two policies: they take the same seats on the same deals, until it is known which one is stronger.

A deal gives one difference: the points of one policy minus those of the other, on average over all seats. Both play the same deal,
which cancels most of the luck. The differences are counted in the order of the deals, not in that in which games end. So the result
does not depend on the number of processes, and long games count as much as short ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from kdenv.arena.curve import CurveBudget, seats_for, seats_of_others, takes_budget, with_budget
from kdenv.arena.elo import WinSums
from kdenv.arena.match import Match, Result
from kdenv.arena.results import ResultsFile
from kdenv.arena.sequential import ConfidenceSequence
from kdenv.arena.statistics import (
    FEWEST_DEALS,
    TOO_FEW,
    DealSums,
    Estimate,
    estimate_json,
    finite,
    luck_text,
    pairing,
    pairing_text,
    ratio_text,
    slope_of_luck,
)
from kdenv.arena.workers import play
from kdenv.core.errors import BadOption, shown
from kdenv.core.record import options_text
from kdenv.drawing.page import Rows, notebook
from kdenv.games import find_game
from kdenv.policies import policy

MOST_DEALS = 20_000  # a comparison ends after this number of deals, even without a verdict
_FOR_ALIKE = 0.02  # the share of the error for the verdict ALIKE; the interval has the rest
_DIGITS = 9  # digits to which differences are rounded, so that equal ones are the same number
_DIFFERENCE = 2  # the first of three columns of _sums, as slope_of_luck reads them
_RARE = 0.05  # ALIKE: fewer than this share of all deals have another difference


class Verdict(Enum):
    """The result of a comparison of the first policy, A, with the second one, B."""

    OPEN = "open"  # it is not known yet
    STRONGER = "stronger"  # A makes more points than B
    WEAKER = "weaker"  # A makes fewer points than B
    CLOSE = "close"  # they differ by less than the smallest difference of interest
    ABOVE = "above"  # A minus B is more than the lower one of the bounds that were given
    BELOW = "below"  # A minus B is less than the upper one of the bounds that were given
    BETWEEN = "between"  # A minus B lies between the bounds that were given
    ALIKE = "alike"  # many deals all had the same difference, so other differences are rare


class Comparison:
    """Takes the results of the games of two policies until it is known which one is stronger.

    `print` writes the verdict as a sentence; a notebook shows a table. Make one with `compare`.
    """

    def __init__(self, match: Match, *, error: float = 0.05, smallest: float = 1.0, bounds: tuple[float, float] | None = None) -> None:
        if not 0 < error < 0.5:
            raise BadOption(f"an error of {error:g} is not possible; it is a probability above 0 and below 0.5")
        if not (math.isfinite(smallest) and smallest >= 0):
            raise BadOption(f"a smallest difference of {smallest:g} is not possible; it is a number of points from 0 on")
        if bounds is not None and not (all(map(math.isfinite, bounds)) and bounds[0] <= bounds[1]):
            raise BadOption(
                f"the bounds {bounds[0]:g} and {bounds[1]:g} are not possible; they are two numbers of points, the lower one first"
            )
        self.match, self.error, self.smallest, self.bounds = match, error, smallest, bounds
        self.a, self.b = match.line_up[0], match.other[0] if match.other else match.line_up[1]
        self.budget: CurveBudget | None = None
        self.verdict = Verdict.OPEN
        self.interrupted = False
        self._teams = find_game(match.game).teams(len(match.line_up))
        self._differences = ConfidenceSequence((1 - _FOR_ALIKE) * error)
        self._deals_for_alike = math.ceil(math.log(_FOR_ALIKE * error) / math.log(1 - _RARE))
        self._sums = DealSums(1)  # by deal: the points of A, those of B, A minus B, the luck of A minus that of B, and the sum of these two
        self._adjusted = DealSums(1)  # by deal: A minus B, adjusted for luck
        self.path: list[tuple[int, Estimate]] = []  # (deals, estimate), for a chart; each at 5 % more deals than the one before
        self.wins = WinSums(share_a_table=not match.other)
        self._waiting: dict[int, list[_Game]] = {}  # games of deals that are not counted yet

    @property
    def deals(self) -> int:
        """The number of deals that are counted."""
        return self._differences.count

    @property
    def games(self) -> int:
        """The number of games of these deals."""
        return self.deals * self.match.games_of_a_deal

    @property
    def difference(self) -> Estimate:
        """The points of A minus those of B, in a game. The interval is anytime-valid: it may be read after every deal."""
        return self._differences.interval()

    @property
    def pairing(self) -> float:
        """Variance reduction from shared deals: the factor by which independent deals would need more deals; nan if not known."""
        return pairing(self._sums, 0, 1, 2)

    @property
    def luck_reduction(self) -> float:
        """Variance reduction by luck adjustment; nan if luck is not measured, or if there are too few deals."""
        before, after = self._sums.variance(_DIFFERENCE), self._adjusted.variance(0)
        return before / after if self.match.luck and after > 0 else math.nan

    @property
    def is_known(self) -> bool:
        """True if there is a verdict; then no more deals are counted."""
        return self.verdict is not Verdict.OPEN

    def add(self, result: Result) -> bool:
        """Add the result of a game. Return True if there is a verdict."""
        deal, _, line_up = self.match.find(result.number)
        if self.is_known or deal < self.deals:  # the deal is already counted
            return self.is_known
        games = self._waiting.setdefault(deal, [])
        games.append(self._game_of(result, line_up))
        while not self.is_known and len(self._waiting.get(self.deals, ())) == self.match.games_of_a_deal:
            whole, n = self._waiting.pop(self.deals), len(self.match.line_up)
            of_a, of_b = ([win for game in whole if (win := game.wins[i]) is not None] for i in range(2))
            self.wins.add(self.deals, of_a, of_b)
            a, b = (math.fsum(game.points[i] for game in whole) / n for i in range(2))
            self.add_deal(a, b, math.fsum(game.luck for game in whole) / n)
        return self.is_known

    def add_deal(self, a: float, b: float, luck: float = 0.0) -> None:
        """Count the next deal, in which A and B made these points on average, and update the verdict.

        `luck` is that of A minus that of B. What is subtracted is its multiple by the slope of the deals before. So the mean of the
        differences stays the same, whatever those deals were, and the interval stays anytime-valid.
        """
        adjusted = a - b - slope_of_luck(self._sums, _DIFFERENCE) * luck
        self._sums.add(self.deals, [a, b, a - b, luck, a - b + luck])
        self._adjusted.add(self.deals, [adjusted])
        self._differences.add(round(adjusted, _DIGITS))
        estimate, differences = self.difference, self._differences
        if estimate.has_interval and (not self.path or self.deals >= 1.05 * self.path[-1][0]):
            self.path.append((self.deals, estimate))
        if estimate.has_interval:
            self.verdict = self._verdict_of(estimate)
        if not self.is_known and differences.differing == 0 and self.deals >= self._deals_for_alike:
            self.verdict = Verdict.ALIKE

    def _verdict_of(self, estimate: Estimate) -> Verdict:
        """The verdict of an interval of the difference."""
        if self.bounds is not None:
            is_above, is_below = estimate.low > self.bounds[0], estimate.high < self.bounds[1]
            return {(1, 1): Verdict.BETWEEN, (1, 0): Verdict.ABOVE, (0, 1): Verdict.BELOW}.get((is_above, is_below), Verdict.OPEN)
        if estimate.low > 0:
            return Verdict.STRONGER
        if estimate.high < 0:
            return Verdict.WEAKER
        return Verdict.CLOSE if max(-estimate.low, estimate.high) < self.smallest else Verdict.OPEN

    def _game_of(self, result: Result, line_up: int) -> _Game:
        """The points and wins of A and B in a game. If they do not share a table, the points are margins, with 0 for the absent policy."""
        if self.match.other:
            margin, win = result.margins[0], _share(result.wins, self._teams)
            luck = 0.0 if result.luck is None else result.luck[0]
            return _Game((margin, 0.0), (win, None), luck) if line_up == 0 else _Game((0.0, margin), (None, win), -luck)
        (a, b), of_a = (result.scores[first::2] for first in (0, 1)), _share(result.wins, 2)
        luck = 0.0 if result.luck is None else 2 * (sum(result.luck[::2]) - sum(result.luck[1::2])) / len(result.luck)
        return _Game((sum(a) / len(a), sum(b) / len(b)), (of_a, 1 - of_a), luck)

    # In words

    @property
    def sentence(self) -> str:
        """The verdict as a sentence, without the full stop."""
        a, b, estimate, deals = self.a, self.b, self.difference, f"{self.deals:,} deal{'s' * (self.deals != 1)}"
        certainty = f"(error at most {_percent(self.error)}), after {deals}"
        if self.verdict is Verdict.STRONGER:
            return f"{a} is stronger than {b} by {interval_text(estimate)} points a game {certainty}"
        if self.verdict is Verdict.WEAKER:
            turned = Estimate(-estimate.mean, -estimate.high, -estimate.low)
            return f"{b} is stronger than {a} by {interval_text(turned)} points a game {certainty}"
        if self.verdict is Verdict.CLOSE:
            difference = f"{a} minus {b} is {interval_text(estimate, self.smallest)} points a game"
            return f"{a} and {b} differ by less than {_points_text(self.smallest)}: {difference} {certainty}"
        if self.bounds is not None and self.verdict in (Verdict.ABOVE, Verdict.BELOW, Verdict.BETWEEN):
            low, high = map(_points_text, self.bounds)
            known = {Verdict.ABOVE: f"more than {low}", Verdict.BELOW: f"less than {high}"}.get(self.verdict, f"between {low} and {high}")
            return f"{a} minus {b} is {known}: {interval_text(estimate)} {certainty}"
        if self.verdict is Verdict.ALIKE:
            what = "made the same points" if estimate.mean == 0 else f"differed by exactly {_points_text(estimate.mean)}"
            return f"{a} and {b} {what} on every deal; this fails on fewer than {_RARE * 100:g} % of all deals {certainty}"
        if self.bounds is not None:
            return f"it is not known whether {a} minus {b} is more than {self.bounds[0]:g} or less than {self.bounds[1]:g}: {self._open()}"
        return f"it is not known whether {a} or {b} is stronger: {self._open()}"

    def _open(self) -> str:
        """The reason why there is no verdict, in words."""
        estimate, differing = self.difference, self._differences.differing
        if self.deals < FEWEST_DEALS:
            return f"{TOO_FEW} ({self.deals}; {FEWEST_DEALS} are needed)"
        if differing < FEWEST_DEALS:
            same = "all differences are equal" if differing == 0 else f"only {differing} of {self.deals:,} deals differ from the others"
            return f"{same} ({FEWEST_DEALS} others are needed for an interval)"
        known = interval_text(estimate) if estimate.has_interval else f"about {estimate.mean:.1f}"
        return f"their difference is {known} points a game (error at most {_percent(self.error)}), after {self.deals:,} deals"

    @property
    def progress(self) -> str:
        """The progress of the comparison, in a few words."""
        estimate = self.difference
        if not estimate.has_interval:
            return f"{self.deals} deals: no interval yet"
        # A verdict needs half an interval of at most this: |mean| for STRONGER or WEAKER, smallest - |mean| for CLOSE.
        half, most = max(abs(estimate.mean), self.smallest - abs(estimate.mean)), self.match.games // self.match.games_of_a_deal
        if self.bounds is not None:
            half = max(estimate.mean - self.bounds[0], self.bounds[1] - estimate.mean)
        needed = self._differences.count_for(half, most)
        return f"{self.deals} deals: {interval_text(estimate)}, about {max(1, needed - self.deals)} to go"

    def describe(self) -> str:
        """The game, the policies and their opponents, in one line."""
        match, n = self.match, len(self.match.line_up)
        others = dict.fromkeys(match.line_up[place] for place in range(n) if place % self._teams) if match.other else {}
        against = f" against {', '.join(map(str, others))}" if others else ""
        return f"{match.game}, {n} players{options_text(match.options)}, seed {match.seed}: {self.a} or {self.b}{against}"

    def __str__(self) -> str:
        return "\n".join([self.describe(), f"{self.sentence}.", *self.remarks()])

    def remarks(self) -> list[str]:
        """The sentences beside the verdict: a comparison with itself, wins and Elo difference, variance reduction."""
        same = "A and B are the same policy, so their true difference is 0" if policy(self.a) == policy(self.b) else ""
        return [
            f"{line[0].upper()}{line[1:]}."
            for line in (same, str(self.wins), pairing_text(self.pairing), luck_text(self.luck_reduction))
            if line
        ]

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return Comparisons([self])._repr_html_()

    def as_json(self) -> dict[str, Any]:
        """The verdict and its numbers for programs. A number that is not known is null."""
        estimate = self.difference
        numbers = {"difference": estimate.mean, "low": estimate.low, "high": estimate.high, "pairing": self.pairing}
        numbers |= {"luck": self.luck_reduction} if self.match.luck else {}
        numbers |= {"superiority": self.wins.superiority}
        known: dict[str, Any] = {name: finite(number) for name, number in numbers.items()}
        known |= {"wins": asdict(self.wins.a), "elo": estimate_json(self.wins.elo)} | (
            {"wins_b": asdict(self.wins.b)} if self.match.other else {}
        )
        about = {"a": str(self.a), "b": str(self.b), "budget": self.budget.text if self.budget is not None else None}
        levels = {"error": self.error, "smallest": self.smallest, "bounds": self.bounds, "seed": self.match.seed}
        counts = {"deals": self.deals, "games": self.games, "verdict": self.verdict.value, "sentence": self.sentence}
        return {"game": self.match.game, **about, **levels, **known, **counts}


class _Game(NamedTuple):
    """A game of a comparison: the points of A and of B, and their shares of the win, with None for a policy that did not play."""

    points: tuple[float, float]
    wins: tuple[float | None, float | None]
    luck: float  # of A minus that of B


def _share(wins: Sequence[float], teams: int) -> float:
    """The share of the win of the first team, whose places in the line-up are every `teams`-th one."""
    return sum(wins[::teams]) / sum(wins)


@dataclass
class Comparisons:
    """Comparisons of the same two policies at several budgets. `print` writes a line for each."""

    rows: list[Comparison]

    def __str__(self) -> str:
        return "\n".join([*map(self.line, self.rows), *self.notes()])

    def notes(self) -> list[str]:
        """The error of several comparisons together, as a sentence: errors add up. Empty if there is only one."""
        error, n = math.fsum(row.error for row in self.rows), len(self.rows)
        return [f"The probability that any of these {n} answers is wrong is at most {_percent(error)}."] if n > 1 else []

    def line(self, row: Comparison) -> str:
        """The line of one of these comparisons."""
        wins = f" {text[0].upper()}{text[1:]}." if (text := str(row.wins)) else ""
        return (f"{row.budget.text}: " if row.budget is not None else "") + f"{row.sentence}.{wins}"

    def _repr_html_(self) -> str:
        """The same as a table, for a notebook."""
        rows = [
            (row.describe(), interval_text(row.difference), row.verdict.value, str(row.deals), str(row.games), ratio_text(row.pairing))
            for row in self.rows
        ]
        table = Rows("", ("what", "difference", "verdict", "deals", "games", "pairing"), rows)
        return notebook((), table, [*map(self.line, self.rows), *self.notes()])


def compare(
    game: str,
    a: Any,
    b: Any,
    *,
    against: Any = (),
    at: CurveBudget | None = None,
    players: int | None = None,
    options: dict[str, Any] | None = None,
    seed: int = 0,
    error: float = 0.05,
    smallest: float = 1.0,
    bounds: tuple[float, float] | None = None,
    deals: int = MOST_DEALS,
    processes: int | None = None,
    move_limit: float | None = None,
    ray: str | None = None,
    luck: str = "",
    out: Path | None = None,
    on_deal: Callable[[Comparison], None] = lambda comparison: None,
) -> Comparison:
    """Compare two policies on the same deals and seats, until it is known which one is stronger or all deals are played.

    Without opponents A and B share a table; in a game of more than two seats A has every second one. With opponents they never meet: A
    and B play every deal one after the other. In a team game A also takes the seats of its partners.

    Args:
        game: The name of a game.
        a: A policy.
        b: The policy to compare it with.
        against: The opponents: a policy, or several, for the other seats. If they are fewer than these seats, they take turns.
        at: A budget for those of A and B that are searches without a budget.
        players: The number of seats. The default is the smallest that fits.
        options: Options of the game.
        seed: The seed of the deals and of all policies.
        error: The largest probability of a wrong verdict, whenever the comparison ends and however often it is read.
        smallest: The smallest difference of interest, in points a game. The comparison ends when the difference is known to be smaller.
        bounds: In place of `smallest`, two numbers of points a game. The comparison ends when A minus B is known to be more than the first
            or less than the second; `(-1, 1)` finds out which policy is at most 1 point weaker.
        deals: The largest number of deals.
        processes: The number of processes. The default is one for each core.
        move_limit: The longest time of a decision, in seconds.
        ray: The address of a Ray cluster that plays, or "auto"; as in `play`.
        luck: A policy of values, such as learned(dominion), by which results are adjusted for luck. Its file is fixed by a digest before
            the first game.
        out: A file for the games. A comparison of the same policies resumes from it, and may have another error.
        on_deal: A function that is called after each game, to show the progress.

    Returns:
        The comparison. Its `interrupted` is true after Ctrl-C.

    >>> from kdenv.arena import compare
    >>> compare("kingdomino", "full_greedy", "random", players=2, options={"size": 3}, processes=1).sentence
    'full_greedy is stronger than random by 5.2 [0.1, 10.8] points a game (error at most 5 %), after 22 deals'

    """
    if at is not None:
        a, b = _give_budget(at, a, b)
    is_single = isinstance(against, (str, Mapping)) or not isinstance(against, Iterable)
    line_up, other = _line_ups(game, a, b, [against] if is_single else list(against), players)
    if deals < 1:
        raise BadOption(f"{deals} deals are not possible; a comparison has at least one")
    games = deals * len(line_up) * (2 if other else 1)
    match = Match(game, line_up, games, seed, options or {}, other, luck)
    match.check()
    comparison = Comparison(match, error=error, smallest=smallest, bounds=bounds)
    comparison.budget = at
    how = {"processes": processes, "move_limit": move_limit, "ray": ray}
    if out is None:
        return _run(comparison, None, how, on_deal)
    with ResultsFile(out, match) as file:
        return _run(comparison, file, how, on_deal)


def _run(comparison: Comparison, file: ResultsFile | None, how: Mapping[str, Any], on_deal: Callable[[Comparison], None]) -> Comparison:
    """Play the missing games until there is a verdict. `how` has arguments of play()."""
    for result in file.results() if file is not None else ():
        comparison.add(result)

    def on_result(result: Result) -> bool:
        if file is not None:
            file.append(result)
        known = comparison.add(result)
        on_deal(comparison)
        return known

    if not comparison.is_known:
        done, records = (() if file is None else file.finished), file is not None
        comparison.interrupted = not play(comparison.match, done=done, records=records, on_result=on_result, **how)
    return comparison


def _give_budget(budget: CurveBudget, a: Any, b: Any) -> tuple[Any, Any]:
    """Give this budget to those of A and B that are searches without one. Raise BadOption if neither is."""
    takes = [isinstance(each, str) and takes_budget(each) for each in (a, b)]
    if not any(takes):
        raise BadOption(f"neither {a} nor {b} is a search without a budget of its own, so they cannot be compared at {budget.text}")
    given = [with_budget(each, budget) if take else each for each, take in zip((a, b), takes, strict=True)]
    return given[0], given[1]


def _line_ups(game: str, a: Any, b: Any, against: list[Any], players: int | None) -> tuple[list[Any], list[Any]]:
    """The line-up with A and, if A and B do not share a table, the one with B."""
    rules = find_game(game)
    players = seats_for(rules, against) if players is None else players
    rules.variant(players)
    teams = rules.teams(players)
    if against:
        others = seats_of_others(game, players, against)
        return [others.get(place, a) for place in range(players)], [others.get(place, b) for place in range(players)]
    if players < 2 or teams % 2:
        raise BadOption(f"{shown(a)} and {shown(b)} cannot share {players} seats evenly; name opponents for the others, or 2 players")
    return [a if place % 2 == 0 else b for place in range(players)], []


def interval_text(estimate: Estimate, smallest: float = 0.0) -> str:
    """A mean and its interval, with enough digits that no end is printed as 0 or as the smallest difference, if possible."""
    digits = 1
    while digits < 4 and any(round(abs(end), digits) in (0, round(smallest, digits)) for end in (estimate.low, estimate.high)):
        digits += 1
    return estimate.text(digits, ends=True)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _points_text(number: float) -> str:
    return f"{number:g} point{'s' * (number != 1)} a game"
