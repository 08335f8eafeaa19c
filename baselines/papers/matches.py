"""The matches of the papers' tables: plays them, keeps their games until they are no longer needed, and measures what a line asks for."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import kdenv
from kdenv.arena import Breakdown, DealSums, Estimate, Match, Result, ResultsFile, play, processor_time

SEED = 2026
KINDS = ("match", "seats")
_Z = 1.96
_SHARES = ("wins", "draws", "losses", "score")
_OF_RIVAL = "rival's "
_FIRST, _SECOND = " first", " second"


def plain(measure: str) -> str:
    """The measure without the words that say whose number it is, and in which games: "points" of "rival's points second"."""
    return measure.removeprefix(_OF_RIVAL).removesuffix(_FIRST).removesuffix(_SECOND)


def is_share(measure: str) -> bool:
    """Whether this measure is a share of games, in %."""
    return plain(measure) in _SHARES or measure.startswith("points = ")


@dataclass
class Games:
    """The games of a match, and what their records tell: it takes long to find, and many lines may ask for it."""

    match: Match
    results: list[Result]
    spent: float = 0.0  # seconds of the processor in this run, to play and measure them

    @property
    def seconds(self) -> float:
        """The seconds of the processor, also of the games that an earlier run played."""
        return max(self.spent, sum(sum(result.seconds or [0.0]) for result in self.results))

    @cached_property
    def breakdowns(self) -> list[Breakdown]:
        """What the record of each game tells."""
        found = []
        for result in self.results:
            found.append(Breakdown(self.match))
            found[-1].add(result)
        return found

    @property
    def parts(self) -> Iterator[Any]:
        """What each game tells of the first policy."""
        return (breakdown.parts[str(self.match.line_up[0])] for breakdown in self.breakdowns)

    def told(self, measure: str) -> Iterator[float]:
        """A number of the first policy in each game: "points N" after round N, or what the game adds, such as "points cities".

        A single word, such as "meeples", is the sum of all columns that begin with it.
        """
        what, _, number = measure.partition(" ")
        for part in self.parts:
            if what == "points" and number.isdigit():
                yield part.rounds[int(number) - 1].score.mean
            elif number:
                yield part.own[measure].mean(0).mean if measure in part.own else 0.0
            else:
                yield sum(sums.mean(0).mean for name, sums in part.own.items() if name.partition(" ")[0] == what)


class Matches:
    """The matches of a run. Lines of the same match share its games, however its policies are written.

    The games lie in a folder until `forget` is called, so that a run that was interrupted goes on within a match.
    """

    def __init__(self, folder: Path, progress: Callable[[int, str], Any] | None = None) -> None:
        """progress: makes something that shows how far a match of so many games has come; see its use."""
        self._folder, self._progress = folder, progress
        self._games: dict[Hashable, Games] = {}

    def play(self, kind: str, words: str, games: int) -> Games:
        """The games of the match that these words say: game; options; policies. Raises KeyboardInterrupt after Ctrl-C.

        Of the games of each deal, which differ in the seats, one is played: with "match" the seats go round, with "seats" they do not.
        """
        match = _match(words, games)
        match.check()
        key = kind, match.game, games, tuple(sorted(match.options.items())), tuple(kdenv.policy(text) for text in match.line_up)
        if key not in self._games:
            self._games[key] = self._play(match, kind)
        return self._games[key]

    def _play(self, match: Match, kind: str) -> Games:
        n, games = len(match.line_up), Games(match, [])
        progress = self._progress and self._progress(match.games // n, "games")

        def add(result: Result) -> None:
            games.results.append(result)
            if progress:
                progress.step()

        def keep(result: Result) -> None:
            file.append(result)
            add(result)

        others = [number for number in range(match.games) if number % n != (number // n % n if kind == "match" else 0)]
        try:
            with processor_time(), ResultsFile(self._path(kind, match), match) as file:
                for result in file.results():
                    add(result)
                if not play(match, processes=1, done=[*file.finished, *others], records=True, on_result=keep):
                    raise KeyboardInterrupt
        finally:
            if progress:
                progress.end()
        games.results.sort(key=lambda result: result.number)
        return games

    def _path(self, kind: str, match: Match) -> Path:
        """The file of a match. How many games it has does not matter, so that a longer one goes on."""
        what = repr((kind, match.game, match.line_up, match.seed, sorted(match.options.items())))
        return self._folder / f"{hashlib.sha256(what.encode()).hexdigest()[:16]}.jsonl"

    def forget(self, kind: str, words: str, games: int) -> None:
        """Remove the file of a match, from this run or an earlier one, as the numbers of so many games are known now.

        A file with more games stays: it is that of a longer match that was interrupted.
        """
        path = self._path(kind, _match(words, 1))
        if path.exists():
            with path.open("rb") as file:
                if sum(1 for _ in file) > 1 + games:
                    return
        path.unlink(missing_ok=True)
        path.with_name(path.name + ".lock").unlink(missing_ok=True)
        if self._folder.exists() and not any(self._folder.iterdir()):
            self._folder.rmdir()


def _match(words: str, games: int) -> Match:
    """The match of these words, with so many deals."""
    game, options, policies = (part.strip() for part in words.split(";"))
    line_up = [policy.strip() for policy in policies.split(" v ")]
    return Match(game, line_up, games * len(line_up), seed=SEED, options=dict(option.split("=") for option in options.split()))


def measured(games: Games, measure: str) -> Estimate:
    """The number of the first policy in these games, with its interval; without one if there are too few games."""
    what, place = plain(measure), int(measure.startswith(_OF_RIVAL))
    of: dict[str, Callable[[Result], float]] = {
        "wins": lambda result: float(result.wins[place] == 1.0),
        "draws": lambda result: float(0.0 < result.wins[place] < 1.0),
        "losses": lambda result: float(result.wins[place] == 0.0),
        "score": lambda result: result.wins[place],
        "margin": lambda result: float(result.margins[place]),
        **{name: lambda result: float(result.scores[place]) for name in ("points", "least", "most", "deviation")},
    }
    if " / " in what:
        return _ratio(*(list(games.told(name)) for name in what.split(" / ")))
    if what.partition(" ")[0] == "seconds":
        return _seconds(games, what.removeprefix("seconds").strip() or "1-")
    if what.startswith("points = "):
        wanted = float(what.removeprefix("points = "))
        return _estimate([float(result.scores[place] == wanted) for result in games.results], is_share=True)
    numbers = [of[what](result) for result in _half(games.results, measure, place)] if what in of else list(games.told(what))
    if what in ("least", "most"):
        return Estimate((min if what == "least" else max)(numbers))
    return _deviation(numbers) if what == "deviation" else _estimate(numbers, is_share=what in _SHARES)


def _estimate(numbers: list[float], *, is_share: bool) -> Estimate:
    """The mean of the numbers of games, or their share in %."""
    sums = DealSums(1)
    for deal, number in enumerate(numbers):
        sums.add(deal, [number])
    return sums.share(0).scaled(100) if is_share else sums.mean(0)


def _deviation(numbers: list[float]) -> Estimate:
    """The standard deviation of numbers, with the interval of its linear approximation."""
    n, mean = len(numbers), math.fsum(numbers) / len(numbers)
    deviation = math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / (n - 1))
    squares = _estimate([(number - mean) ** 2 for number in numbers], is_share=False)
    half = (squares.high - squares.mean) / (2 * deviation) if deviation else squares.high - squares.mean
    return Estimate(deviation, max(0.0, deviation - half), deviation + half)


def _seconds(games: Games, rounds: str) -> Estimate:
    """The seconds of the processor that a turn takes in these rounds, such as "1-10" or "11-"."""
    first, last = (int(end) if end else math.inf for end in rounds.split("-"))
    spreads = [[row.seconds for number, row in part.rounds.items() if first <= number + 1 <= last] for part in games.parts]
    return _ratio([sum(row.total for row in rows) for rows in spreads], [float(sum(row.n for row in rows)) for rows in spreads])


def _ratio(above: list[float], below: list[float]) -> Estimate:
    """The ratio of two sums over games, with the interval of its linear approximation."""
    ratio, mean = sum(above) / sum(below), sum(below) / len(below)
    _, low, high = _estimate([a - ratio * b for a, b in zip(above, below, strict=True)], is_share=False)
    return Estimate(ratio, ratio + low / mean, ratio + high / mean)


def _half(results: list[Result], measure: str, place: int) -> list[Result]:
    """The games in which the policy in this place made the first decision, or those in which it did not, if the measure says so."""
    if not measure.endswith((_FIRST, _SECOND)):
        return results
    return [result for result in results if _began(result, place) == measure.endswith(_FIRST)]


def _began(result: Result, place: int) -> bool:
    """Whether the policy in this place of the line-up made the first decision of the game, after the seats rotated."""
    first = next(line for line in str(result.record).splitlines() if line[:1].isdigit())
    rotation = result.number % len(result.scores)
    return (int(first.partition(":")[0]) - rotation) % len(result.scores) == place
