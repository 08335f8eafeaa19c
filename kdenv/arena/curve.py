"""Strength as a function of time: policies with several budgets, each in a match against the same field on the same deals.

A policy that takes a budget has a point for each budget, another policy has one point. Every point is a match, whose games are kept and
resumed like those of any match (results.py).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from kdenv.arena.cluster import connection
from kdenv.arena.match import Match, Result, processor_time
from kdenv.arena.resume import play_remaining
from kdenv.arena.statistics import Estimate
from kdenv.arena.summary import PolicyRow, Summary
from kdenv.arena.tables import note, time_text
from kdenv.core.columns import align
from kdenv.core.errors import BadOption, shown
from kdenv.core.game import Game
from kdenv.core.record import options_text
from kdenv.drawing.chart import Dot, Line, chart
from kdenv.games import find_game
from kdenv.policies import Policy
from kdenv.policies.text.grammar import Term, parse
from kdenv.policies.text.value import class_of

_SECONDS = re.compile(r"(\d+(?:\.\d+)?)(us|µs|ms|s)")
_UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
_COLUMNS = ("policy", "budget", "seconds", "games", "margin", "margin_low", "margin_high", "wins", "wins_low", "wins_high", "playouts")


class CurveBudget(NamedTuple):
    """The budget of every decision of a policy: seconds or playouts."""

    text: str  # as the user wrote it: 10ms, playouts=1000
    parameter: str
    value: str
    seconds: float | None


def read_budget(text: str) -> CurveBudget:
    """A budget from its text: a time such as 300us, 10ms or 1s, or a parameter of policies such as playouts=1000.

    >>> from kdenv.arena import read_budget
    >>> read_budget("10ms").seconds, read_budget("playouts=1000").value
    (0.01, '1000')
    """
    time = _SECONDS.fullmatch(text.strip())
    if time is not None:
        seconds = float(time[1]) * _UNITS[time[2]]
        return CurveBudget(text.strip(), "seconds", f"{seconds:g}", seconds)
    name, equals, value = text.strip().partition("=")
    if not equals or not name.isidentifier() or not value:
        raise BadOption(f"{shown(text.strip())} is no budget; write a time such as 10ms or 0.5s, or playouts=1000")
    try:
        return CurveBudget(text.strip(), name, value, float(value) if name == "seconds" else None)
    except ValueError:
        raise BadOption(f"{shown(text.strip())} is no budget; {shown(value)} is no number of seconds") from None


def read_budgets(text: str) -> list[CurveBudget]:
    """The budgets of a text in which commas separate them, except commas within a list such as playouts=[30,20].

    >>> from kdenv.arena import read_budgets
    >>> [budget.text for budget in read_budgets("1ms,playouts=[30,20]")]
    ['1ms', 'playouts=[30,20]']
    """
    return [read_budget(each) for each in re.split(r",(?![^\[]*\])", text)]


@dataclass(frozen=True)
class CurvePlan:
    """The policies and budgets of a curve, the policies that they play against, and the number of games of each point."""

    game: str
    policies: Sequence[str]
    budgets: Sequence[CurveBudget]
    against: Sequence[str]  # the policies of all other teams, in turn
    games: int = 100
    seed: int = 0
    players: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    by_processor: bool = False  # measure CPU time; then the games are played in this process, or by a cluster
    luck: str = ""  # the policy of values by which results are adjusted for luck; empty if they are not

    def __post_init__(self) -> None:
        """Refuse budgets of real time if CPU time is measured."""
        given = [budget.text for budget in self.budgets if budget.seconds is not None]
        if self.by_processor and given:
            raise BadOption(f"the budget {given[0]} is real time, which the time of the processor cannot measure; give playouts=N")

    def matches(self) -> Iterator[tuple[str, CurveBudget | None, Match]]:
        """A match for every point: the policy, its budget, and the match, in which the policy has the first place."""
        game = find_game(self.game)
        players, _ = game.variant(self.players, **self.options)
        if not self.against:
            raise BadOption("nobody is named to play against; give at least one policy")
        others = seats_of_others(self.game, players, self.against) if game.teams(players) > 1 else {}  # a solo game has no others
        for text in self.policies:
            for budget in self.budgets if takes_budget(text) else (None,):
                written = text if budget is None else with_budget(text, budget)
                line_up = [others.get(place, written) for place in range(players)]
                yield text, budget, Match(self.game, line_up, self.games, self.seed, self.options, luck=self.luck)


class Point(NamedTuple):
    """A policy with a budget, and its row in the table of its match."""

    policy: str
    budget: CurveBudget | None
    row: PolicyRow
    deals: int

    @property
    def seconds(self) -> float:
        """The time a turn: the budget if it is a time, else the measured median."""
        given = None if self.budget is None else self.budget.seconds
        return self.row.median_seconds_per_turn if given is None else given


def seats_of_others(game: str, players: int, policies: Sequence[Any]) -> dict[int, Any]:
    """The policies of the other teams by place in the line-up. If there are fewer policies than places, they take turns."""
    teams = find_game(game).teams(players)
    places = [place for place in range(players) if place % teams]
    if len(policies) > len(places):
        seats = f"{len(places)} seat{'s' * (len(places) != 1)} of the others"
        raise BadOption(f"{len(policies)} policies are given for the {seats}; {game} has {players} here")
    return {place: policies[number % len(policies)] for number, place in enumerate(places)}


def seats_for(game: Game, against: Sequence[Any]) -> int:
    """The number of seats if none is named: one more than there are opponents, if the game can be played so, else the fewest above one."""
    wanted = 1 + len(against) if len(against) > 1 else 2
    return wanted if wanted in game.players else min(n for n in game.players if n > 1)


def takes_budget(text: str) -> bool:
    """True for the text of a search that takes a budget and has none."""
    term = parse(text)
    alternatives = class_of(term, Policy).alternatives
    return bool(alternatives) and not any(name in term.named for name in alternatives)


def with_budget(text: str, budget: CurveBudget) -> str:
    """Add the budget to the text of a policy. Raise BadOption if the policy takes no such budget."""
    term = parse(text)
    known = class_of(term, Policy).alternatives
    if budget.parameter not in known:
        raise BadOption(f"{text} cannot have the budget {budget.text}; its budgets are {', '.join(known)}")
    return str(term._replace(named={**term.named, budget.parameter: Term(budget.value, [], {})}))


class Curve:
    """The points of a plan that have been measured. `print` writes them as a table."""

    def __init__(self, plan: CurvePlan) -> None:
        self.plan = plan
        self.points: list[Point] = []

    def measure(
        self,
        folder: Path | None = None,
        processes: int | None = None,
        on_result: Callable[[int, int], None] = lambda done, games: None,
        ray: str | None = None,
    ) -> bool:
        """Play the match of every point, and keep its games in the folder, from which the same plan resumes. Return False after Ctrl-C.

        on_result is called after each game with the number of games that are done, and of all games of the plan. `ray` is the address of
        a Ray cluster that plays, or "auto". CPU time is measured in one process, or on the nodes of the cluster.
        """
        matches = list(self.plan.matches())
        for _, _, match in matches:
            match.check()
        self.points, total = [], self.plan.games * len(matches)
        with connection(ray), processor_time() if self.plan.by_processor else nullcontext():
            for number, (text, budget, match) in enumerate(matches):
                summary = Summary(match)

                def add(result: Result, summary: Summary = summary, before: int = number * self.plan.games) -> None:
                    summary.add(result)
                    on_result(before + summary.games, total)

                finished = play_remaining(match, folder, add, processes=1 if self.plan.by_processor and ray is None else processes, ray=ray)
                if summary.games:
                    self.points.append(Point(text, budget, summary.rows()[0], summary.deals))
                if folder is not None:
                    self.write(folder)
                if not finished:
                    return False
        return True

    def write(self, folder: Path) -> None:
        """Write curve.csv and curve.svg."""
        for name, content in (("curve.csv", self.csv()), ("curve.svg", self.svg())):
            new = folder / f".{name}.new"
            new.write_text(content, encoding="utf-8", newline="\n")
            new.replace(folder / name)

    def csv(self) -> str:
        """A row for every point."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for point in self.points:
            row, budget = point.row, "" if point.budget is None else point.budget.text
            writer.writerow([point.policy, budget, f"{point.seconds:.6g}", row.games, *row.margin, *row.wins, row.playouts_per_turn.mean])
        return text.getvalue()

    def svg(self) -> str:
        """Margin by time a turn, a line for every policy, with 95 % intervals."""
        lines = []
        for text in dict.fromkeys(point.policy for point in self.points):
            mine = [point for point in self.points if point.policy == text]
            lines.append(Line(text, [Dot(max(point.seconds, 1e-6), *point.row.margin) for point in mine]))
        plan = self.plan
        title = f"{find_game(plan.game).title} against {', '.join(dict.fromkeys(plan.against))}, {plan.games} games a point"
        across = "processor time a turn" if plan.by_processor else "time a turn"
        return chart(title, across, "margin", lines, log=True, write=lambda seconds: time_text(Estimate(seconds), 0))

    def _repr_svg_(self) -> str:
        """The picture, for a notebook."""
        return self.svg()

    def rows(self) -> list[tuple[str, ...]]:
        """The headings of a table, and a row for every point."""
        rows: list[tuple[str, ...]] = [("policy", "budget", "time a turn", "margin", "wins", "games")]
        for point in self.points:
            row = point.row
            budget = "-" if point.budget is None else point.budget.text
            time, wins = time_text(Estimate(row.median_seconds_per_turn)), row.wins.scaled(100).text(unit=" %", ends=True)
            rows.append((point.policy, budget, time, row.margin.text(sign=True), wins, str(row.games)))
        return rows

    def describe(self) -> str:
        """The game, its seats, the opponents and the number of games of a point, in one line."""
        plan, game = self.plan, find_game(self.plan.game)
        players, _ = game.variant(plan.players, **plan.options)
        against = f" against {', '.join(dict.fromkeys(plan.against))}" if game.teams(players) > 1 else ""
        return f"{plan.game}, {players} players{options_text(plan.options)}{against}, {plan.games} games a point, seed {plan.seed}"

    def __str__(self) -> str:
        """A heading, a sentence about the intervals, and a table for a terminal."""
        deals = min((point.deals for point in self.points), default=0)
        return "\n".join([self.describe(), f"Seats rotated, deals shared. {note(deals)}", "", *align(self.rows())])
