"""Details of a match beyond its table: wins, draws and losses by who began, the spread of points, rounds, and columns of the game.

Except for times and playouts by round, all of it is computed from the records of the games, when it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kdenv.arena.elo import Outcomes
from kdenv.arena.match import Match, Result
from kdenv.arena.statistics import DealSums, Estimate, finite
from kdenv.core.columns import align
from kdenv.core.match_columns import GameReport, report_of
from kdenv.games import find_game

SHOWN = ("seats", "spread", "rounds", "game")


@dataclass
class ScoreSpread:
    """The count, mean, standard deviation, minimum and maximum of numbers that are added one by one."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def add(self, number: float) -> None:
        """Add a number."""
        self.n, self.total, self.squares = self.n + 1, self.total + number, self.squares + number * number
        self.least, self.most = min(self.least, number), max(self.most, number)

    @property
    def mean(self) -> float:
        return self.total / self.n if self.n else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation of a sample; nan for fewer than two numbers."""
        return math.sqrt(max(0.0, self.squares - self.total * self.mean) / (self.n - 1)) if self.n > 1 else math.nan


@dataclass
class Round:
    """Statistics of one round of a policy, over all its turns in the round."""

    score: ScoreSpread = field(default_factory=ScoreSpread)
    open: ScoreSpread = field(default_factory=ScoreSpread)
    seconds: ScoreSpread = field(default_factory=ScoreSpread)
    playouts: ScoreSpread = field(default_factory=ScoreSpread)


@dataclass
class Slice:
    """Statistics of a policy, over all its places in the line-up."""

    all: Outcomes = field(default_factory=Outcomes)
    first: Outcomes = field(default_factory=Outcomes)  # where it made the first decision of the game; in a game with teams, its team
    later: Outcomes = field(default_factory=Outcomes)
    score: ScoreSpread = field(default_factory=ScoreSpread)
    margin: ScoreSpread = field(default_factory=ScoreSpread)
    rounds: dict[int, Round] = field(default_factory=dict)
    own: dict[str, DealSums] = field(default_factory=dict)


class Breakdown:
    """Takes the results of a match one by one, and computes the statistics that SHOWN names for each policy."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.parts: dict[str, Slice] = {str(text): Slice() for text in match.line_up}
        self._games = find_game(match.game)
        self._seen: list[int] = []  # the deals of the games that were added

    def add(self, result: Result) -> None:
        """Add the result of a game. A game must not be added twice; this is not checked."""
        match, n = self.match, len(self.match.line_up)
        told = report_of(str(result.record), find_game)
        seats = match.seats(match.find(result.number)[1])
        seat_of = [seats.index(place) for place in range(n)]
        teams = self._games.teams(n)
        sums: dict[str, dict[str, list[float]]] = {}
        for place, text in enumerate(match.line_up):
            part, seat = self.parts[str(text)], seat_of[place]
            part.all.add(result.wins[place])
            (part.first if told.first % teams == seat % teams else part.later).add(result.wins[place])
            part.score.add(result.scores[place])
            part.margin.add(result.margins[place])
            self._add_rounds(part, told, seat, result.pace[place] if result.pace is not None else None)
            for name, by_seat in told.own.items():
                sums.setdefault(str(text), {}).setdefault(name, []).append(by_seat[seat])
        for text, columns in sums.items():
            self._add_own(self.parts[text], columns, result.deal)
        self._seen.append(result.deal)

    def _add_rounds(self, part: Slice, told: GameReport, seat: int, pace: list[list[float]] | None) -> None:
        for turn in told.turns[seat]:
            row = part.rounds.setdefault(turn.round, Round())
            row.score.add(turn.score)
            row.open.add(turn.open)
            if pace is not None and turn.number >= 0:
                row.seconds.add(pace[turn.number][0])
                row.playouts.add(pace[turn.number][1])

    def _add_own(self, part: Slice, columns: Mapping[str, list[float]], deal: int) -> None:
        """Add the columns of the game. A column that appears for the first time was 0 in all games before."""
        for name in columns.keys() - part.own.keys():
            part.own[name] = DealSums(len(self.match.line_up))
            for each in self._seen:
                part.own[name].add(each, [0.0])
        for name, sums in part.own.items():
            values = columns.get(name, [0.0])
            sums.add(deal, [sum(values) / len(values)])

    def text(self, shown: list[str]) -> str:
        """These of the things in SHOWN, as lines for a terminal."""
        return "\n\n".join("\n".join(getattr(self, f"_{name}")()) for name in shown)

    def as_json(self, shown: list[str]) -> dict[str, Any]:
        """The same as plain values, by policy."""
        found: dict[str, Any] = {}
        for text, part in self.parts.items():
            mine: dict[str, Any] = found.setdefault(text, {})
            if "seats" in shown:
                mine["seats"] = {name: vars(getattr(part, name)) for name in ("all", "first", "later")}
            if "spread" in shown:
                mine["spread"] = {name: _numbers(getattr(part, name)) for name in ("score", "margin")}
            if "rounds" in shown:
                mine["rounds"] = [
                    {"round": number, **{name: finite(getattr(row, name).mean) for name in ("score", "open", "seconds", "playouts")}}
                    for number, row in sorted(part.rounds.items())
                ]
            if "game" in shown:
                mine["game"] = {name: [finite(number) for number in sums.mean(0)] for name, sums in sorted(part.own.items())}
        return found

    def _seats(self) -> list[str]:
        rows: list[tuple[str, ...]] = [("", "wins", "draws", "losses", "began: wins", "draws", "losses", "later: wins", "draws", "losses")]
        for text, part in self.parts.items():
            rows.append((text, *(str(each) for of in (part.all, part.first, part.later) for each in (of.wins, of.draws, of.losses))))
        return align(rows)

    def _spread(self) -> list[str]:
        rows: list[tuple[str, ...]] = [("", "points: least", "mean", "most", "deviation", "margin: least", "mean", "most", "deviation")]
        for text, part in self.parts.items():
            numbers = (each for of in (part.score, part.margin) for each in (of.least, of.mean, of.most, of.deviation))
            rows.append((text, *(f"{each:.1f}" for each in numbers)))
        return align(rows)

    def _rounds(self) -> list[str]:
        rows: list[tuple[str, ...]] = [("", "round", "turns", "points", "open turns", "time a turn", "playouts a turn")]
        for text, part in self.parts.items():
            for number, row in sorted(part.rounds.items()):
                time = f"{1000 * row.seconds.mean:.2f} ms" if row.seconds.n else "-"
                playouts = f"{row.playouts.mean:.0f}" if row.playouts.n else "-"
                rows.append((text, str(number + 1), str(row.score.n), f"{row.score.mean:.2f}", f"{row.open.mean:.2f}", time, playouts))
        return align(rows)

    def _game(self) -> list[str]:
        names = sorted({name for part in self.parts.values() for name in part.own})
        if not names:
            return [f"{self.match.game} adds nothing of its own"]
        rows: list[tuple[str, ...]] = [("", *self.parts)]
        for name in names:
            means = (part.own[name].mean(0) if name in part.own else Estimate(0.0) for part in self.parts.values())
            rows.append((name, *(mean.text(2) for mean in means)))
        return align(rows)


def _numbers(spread: ScoreSpread) -> dict[str, float | None]:
    found = {"mean": spread.mean, "least": spread.least, "most": spread.most, "deviation": spread.deviation}
    return {name: finite(value) for name, value in found.items()}
