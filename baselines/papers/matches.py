"""Plays the matches of the papers' tables, each on separate deals, and computes the measures of the lines."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import kdenv
from baselines.papers import saved_games
from baselines.papers.jansen2014 import add_woodcutters
from kdenv.arena import Breakdown, DealSums, Estimate, Match, Result, play, processor_time

SEED = 2026  # of a run that names none
KINDS = ("match", "seats")
_Z = 1.96
_SHARES = ("wins", "draws", "losses", "score")
_OF_RIVAL = "rival's "
_FIRST, _SECOND = " first", " second"


def plain(measure: str) -> str:
    """The measure without the words for the policy and the games: "points" of "rival's points second"."""
    return measure.removeprefix(_OF_RIVAL).removesuffix(_FIRST).removesuffix(_SECOND)


def is_share(measure: str) -> bool:
    """True if this measure is a share of games, in %."""
    return plain(measure) in _SHARES or measure.startswith("points = ")


@dataclass
class Games:
    """The games of a match, and statistics of their records, which take long to compute and are used by many lines."""

    match: Match
    results: list[Result]
    commits: list[str] = field(default_factory=list)  # of the games, each once
    spent: float = 0.0  # the CPU time in this run, to play and measure them, in seconds

    @property
    def seconds(self) -> float:
        """The CPU time in seconds, including that of games of earlier runs."""
        return max(self.spent, sum(sum(result.seconds or [0.0]) for result in self.results))

    @cached_property
    def breakdowns(self) -> list[Breakdown]:
        """The statistics of the record of each game."""
        found = []
        for result in self.results:
            found.append(Breakdown(self.match))
            found[-1].add(result)
        return found

    @property
    def parts(self) -> Iterator[Any]:
        """The statistics of the first policy in each game."""
        return (breakdown.parts[str(self.match.line_up[0])] for breakdown in self.breakdowns)

    def told(self, measure: str) -> Iterator[float]:
        """A number of the first policy in each game: "points N" after round N, or what the game adds, such as "points cities".

        A single word, such as "meeples", is the sum of all columns that begin with it; "A + B" is that of two columns.
        """
        if " + " in measure:
            yield from map(sum, zip(*(self.told(each) for each in measure.split(" + ")), strict=True))
            return
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

    A match is named by the first row that asks for it, and its deals come from this name and the seed of the run. So rows of different
    matches are independent of each other. Its games are kept in a folder (saved_games.py), so that an interrupted run continues.
    """

    def __init__(
        self,
        folder: Path,
        progress: Callable[[int, str], Any] | None = None,
        *,
        rows: Iterable[tuple[str, str]] = (),
        seed: int = SEED,
        commit: str = "",
        again: bool = False,
        ray: str | None = None,
    ) -> None:
        """Begin a run of this commit.

        `progress` makes the progress bar of a match, from its number of games. `rows` has `how` and the name of each row of the paper;
        a match without a row is named by its words. With `again`, games of other commits are dropped. `ray` is the address of a cluster
        that plays; times are CPU times there, too.
        """
        self.seed, self.commit, self._ray = seed, commit, ray
        self._folder, self._progress, self._again = folder, progress, again
        self._rows = list(rows)
        self._games: dict[Hashable, Games] = {}
        self._begun: set[Path] = set()

    @cached_property
    def _firsts(self) -> dict[Hashable, tuple[str, str]]:
        """For each match the name and the words of its first row."""
        found: dict[Hashable, tuple[str, str]] = {}
        for how, name in self._rows:
            kind, _, words = how.partition(" ")
            if kind in KINDS:
                found.setdefault(match_key(kind, words), (name, words))
        return found

    def _first(self, kind: str, words: str) -> tuple[str, str]:
        return self._firsts.get(match_key(kind, words), (f"{kind} {words}", words))

    def match(self, kind: str, words: str, games: int) -> Match:
        """The match of these words with this number of deals. Its deals depend on its name and the seed of the run."""
        name, first = self._first(kind, words)
        match = replace(_match(first, games), seed=seed_of(self.seed, name))
        match.check()
        return match

    def play(self, kind: str, words: str, games: int) -> Games:
        """The games of the match that these words say: game; options; policies. Raises KeyboardInterrupt after Ctrl-C.

        Of the games of each deal, which differ in the seats, one is played: with "match" the seats go round, with "seats" they do not.
        """
        match = self.match(kind, words, games)
        key = games, match_key(kind, words)
        if key not in self._games:
            self._games[key] = self._play(match, kind, self._stem(kind, words))
        return self._games[key]

    def _play(self, match: Match, kind: str, stem: Path) -> Games:
        n = len(match.line_up)
        wanted = {number for number in range(match.games) if number % n == (number // n % n if kind == "match" else 0)}
        progress = self._progress and self._progress(len(wanted), "games")

        def add(result: Result) -> None:
            file.add(result, self.commit)
            if progress:
                progress.step()

        try:
            with (
                processor_time(),
                saved_games.KeptGames(stem, match, self._counts if stem not in self._begun else lambda commit: True) as file,
            ):
                self._begun.add(stem)
                there = wanted & file.games.keys()
                if progress:
                    for _ in there:
                        progress.step()
                missing = wanted - there
                done, processes = set(range(match.games)) - missing, 1 if self._ray is None else None
                if missing and not play(match, processes=processes, done=done, records=True, ray=self._ray, on_result=add):
                    raise KeyboardInterrupt
        finally:
            if progress:
                progress.end()
        played = [file.games[number] for number in sorted(wanted)]
        return Games(match, [each.result for each in played], list(dict.fromkeys(each.commit for each in played)))

    def _counts(self, commit: str) -> bool:
        """True if games of this commit count. In a run with `again` only those of the present commit do."""
        return not self._again or is_same(commit, self.commit)

    def _stem(self, kind: str, words: str) -> Path:
        """The files of a match, without their endings. They do not depend on its number of games, so a longer match resumes from them."""
        match = self.match(kind, words, 1)
        what = repr((kind, match.game, match.line_up, match.seed, sorted(match.options.items())))
        name = self._first(kind, words)[0].removeprefix(f"{self._folder.name}, ")  # the folder is named by the paper
        name = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")[:60]
        return self._folder / f"{name}-{self.seed}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"

    def forget(self, kind: str, words: str, games: int) -> None:
        """Remove the saved games of a match whose games are quick to play, when its numbers are known."""
        saved_games.forget(self._stem(kind, words), games)


def is_same(commit: str, other: str) -> bool:
    """True if two commits are the same, and no file had changed since. Unknown commits are not the same."""
    return commit == other and commit != "" and not commit.endswith("+")


def seed_of(seed: int, *names: str) -> int:
    """The seed for this name, in a run with this seed."""
    return int.from_bytes(hashlib.sha256("\n".join([str(seed), *names]).encode()).digest()[:8]) >> 1


@cache
def match_key(kind: str, words: str) -> Hashable:
    """A key that is equal for all ways to write a match."""
    match = _match(words, 1)
    return kind, match.game, tuple(sorted(match.options.items())), tuple(kdenv.policy(text) for text in match.line_up)


def _match(words: str, games: int) -> Match:
    """The match of these words, with this number of deals and the default seed."""
    game, written, policies = (part.strip() for part in words.split(";"))
    line_up, options = [policy.strip() for policy in policies.split(" v ")], dict(option.split("=") for option in written.split())
    add_woodcutters(options.get("kingdom", ""))
    return Match(game, line_up, games * len(line_up), options=options)


def measured(games: Games, measure: str) -> Estimate:
    """The number of the first policy in these games, with its interval; without one if there are too few games."""
    what = plain(measure)
    if " / " in what:
        return _ratio(*(list(games.told(name)) for name in what.split(" / ")))
    if what.partition(" ")[0] == "seconds":
        return _seconds(games, what.removeprefix("seconds").strip() or "1-")
    numbers = numbers_of(games, measure)
    if not numbers:
        return Estimate(math.nan)
    if what in ("least", "most"):
        return Estimate((min if what == "least" else max)(numbers))
    return _deviation(numbers) if what == "deviation" else _estimate(numbers, is_share=is_share(measure))


def numbers_of(games: Games, measure: str) -> list[float]:
    """The number of each game whose mean, share or spread the measure is."""
    what, place = plain(measure), int(measure.startswith(_OF_RIVAL))
    of: dict[str, Callable[[Result], float]] = {
        "wins": lambda result: float(result.wins[place] == 1.0),
        "draws": lambda result: float(0.0 < result.wins[place] < 1.0),
        "losses": lambda result: float(result.wins[place] == 0.0),
        "score": lambda result: result.wins[place],
        "margin": lambda result: float(result.margins[place]),
        **{name: lambda result: float(result.scores[place]) for name in ("points", "least", "most", "deviation")},
    }
    if what.startswith("points = "):
        wanted = float(what.removeprefix("points = "))
        return [float(result.scores[place] == wanted) for result in games.results]
    return [of[what](result) for result in _half(games.results, measure, place)] if what in of else list(games.told(what))


def difference(one: Games, other: Games, measure: str) -> Estimate:
    """The mean difference of two matches on the same deals, with the interval over deals."""
    numbers = [a - b for a, b in zip(numbers_of(one, measure), numbers_of(other, measure), strict=True)]
    return _estimate(numbers, is_share=False).scaled(100 if is_share(measure) else 1)


def _estimate(numbers: list[float], *, is_share: bool) -> Estimate:
    """The mean of the numbers of games, or their share in %."""
    sums = DealSums(1)
    for deal, number in enumerate(numbers):
        sums.add(deal, [number])
    return sums.share(0).scaled(100) if is_share else sums.mean(0)


def _deviation(numbers: list[float]) -> Estimate:
    """The standard deviation of numbers, with the interval of its linear approximation."""
    if len(numbers) < 2:
        return Estimate(math.nan)
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
    if not sum(below):
        return Estimate(math.nan)
    ratio, mean = sum(above) / sum(below), sum(below) / len(below)
    _, low, high = _estimate([a - ratio * b for a, b in zip(above, below, strict=True)], is_share=False)
    return Estimate(ratio, ratio + low / mean, ratio + high / mean)


def _half(results: list[Result], measure: str, place: int) -> list[Result]:
    """The games of a measure: all, or those in which the policy in this place made the first decision, or the others."""
    if not measure.endswith((_FIRST, _SECOND)):
        return results
    return [result for result in results if _began(result, place) == measure.endswith(_FIRST)]


def _began(result: Result, place: int) -> bool:
    """True if the policy in this place of the line-up made the first decision of the game."""
    first = next(line for line in str(result.record).splitlines() if line[:1].isdigit())
    rotation = result.number % len(result.scores)
    return (int(first.partition(":")[0]) - rotation) % len(result.scores) == place
