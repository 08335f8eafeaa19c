"""The standings of a league: ratings, the results of each pair, and the wins and margins of each policy over all its games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from kdenv.arena.league import League
from kdenv.arena.match import Result
from kdenv.arena.pairings import Table
from kdenv.arena.ratings import Placings, Ratings, places_of
from kdenv.arena.statistics import TOO_FEW, AdjustedSums, DealSums, Estimate, estimate_json, row_json
from kdenv.arena.tables import bar, time_text
from kdenv.core.columns import align
from kdenv.drawing.page import Rows, notebook

_MARGIN = 1  # the column of a policy's sums that has its margin; column 0 has its wins
HEADINGS = ("", "policy", "rating", "better than the next", "wins", "margin", "time a turn", "games")


@dataclass(frozen=True)
class Standing:
    """The row of a policy in the table of a league."""

    place: int
    policy: str
    rating: Estimate  # in points; an end that no game bounds is infinite
    above_next: float  # the probability that it is stronger than the policy below it; nan for the last one, and without games
    wins: Estimate
    margin: Estimate
    seconds_per_turn: Estimate
    games: int


class Standings:
    """Takes the results of a league one by one, and rates its policies. `print` and notebooks show a ranked table."""

    def __init__(self, plan: League) -> None:
        self.plan = plan
        self.interrupted = False
        self.games = 0
        self.expected = 0  # the number of games of all tables drawn so far
        self._full = plan.n_players
        self._placings = Placings(len(plan.names), self._full)
        self._own = [self._sums() for _ in plan.names]  # wins and margin
        self._times = [DealSums(self._full) for _ in plan.names]  # seconds a turn, in games whose time was measured
        self._against: dict[tuple[int, int], DealSums | AdjustedSums] = {}  # the share of games in which the first one finished first
        self._tables: dict[Table, tuple[int, list[int]]] = {}  # the number of a table, and the policy of each place of its line-up
        self._ratings: tuple[int, Ratings] | None = None  # the number of games that were rated, and the ratings

    def _sums(self) -> DealSums | AdjustedSums:
        return AdjustedSums(self._full) if self.plan.luck else DealSums(self._full)

    def add(self, table: Table, result: Result) -> None:
        """Add the result of a game of this table. A game must not be added twice; this is not checked."""
        if table not in self._tables:
            line_up = self.plan.match(table).line_up
            self._tables[table] = len(self._tables), [self.plan.texts.index(text) for text in line_up]
        number, of_place = self._tables[table]
        self.games += 1
        deal = number << 40 | result.deal  # different at every table
        first = {policy: of_place.index(policy) for policy in table}  # partners have the score and the win of their team
        luck = {policy: 0.0 if result.luck is None else result.luck[first[policy]] for policy in table}
        places = places_of([result.scores[first[each]] for each in table], [result.wins[first[each]] for each in table])
        self._placings.add(table, result.deal, places)
        for policy in table:
            mine = [place for place, other in enumerate(of_place) if other == policy]
            _add(self._own[policy], deal, [result.wins[mine[0]], result.margins[mine[0]]], luck[policy])
            if result.seconds is not None:
                turns = sum(result.turns[place] for place in mine)
                self._times[policy].add(deal, [sum(result.seconds[place] for place in mine) / max(1, turns)])
        for (one, at), (other, there) in combinations(zip(table, places, strict=True), 2):
            against = self._against.setdefault((one, other), self._sums())
            _add(against, deal, [1.0 if at < there else 0.5 if at == there else 0.0], luck[one] - luck[other])

    @property
    def ratings(self) -> Ratings:
        """The ratings of all policies, in the order of the league."""
        if self._ratings is None or self._ratings[0] != self.games:
            anchor = self.plan.anchor
            self._ratings = self.games, self._placings.rate(None if anchor is None else self.plan.names.index(anchor))
        return self._ratings[1]

    def order(self) -> list[int]:
        """The numbers of all policies, from the strongest to the weakest."""
        return sorted(range(len(self.plan.names)), key=lambda policy: (-self.ratings.estimates[policy].mean, policy))

    def against(self, one: int, other: int) -> Estimate:
        """The share of their games in which `one` finished before `other`; a tie counts half. It is nan if they never met."""
        if one > other:
            found = self.against(other, one)
            return Estimate(1 - found.mean, 1 - found.high, 1 - found.low)
        return self._against[one, other].share(0) if (one, other) in self._against else Estimate(math.nan)

    def games_against(self, one: int, other: int) -> int:
        """The number of games in which both played."""
        sums = self._against.get((min(one, other), max(one, other)))
        return 0 if sums is None else sums.games

    def rows(self) -> list[Standing]:
        """A row for every policy, from the strongest to the weakest."""
        order, ratings, rows = self.order(), self.ratings, list[Standing]()
        for number, policy in enumerate(order):
            sums = self._own[policy]
            below = order[number + 1] if number + 1 < len(order) else None
            is_compared = below is not None and sums.games > 0 and self._own[below].games > 0
            rows.append(
                Standing(
                    place=number + 1,
                    policy=self.plan.names[policy],
                    rating=ratings.estimates[policy],
                    above_next=float(ratings.superiority[policy, below]) if is_compared else math.nan,
                    wins=sums.share(0),
                    margin=sums.mean(_MARGIN),
                    seconds_per_turn=self._times[policy].mean(0),
                    games=sums.games,
                )
            )
        return rows

    # In words

    def heading(self) -> str:
        """The league and its number of games, in one line."""
        of = f" of {self.expected}" if self.interrupted and self.expected > self.games else ""
        return f"{self.plan.describe()}; {self.games}{of} games at {len(self._tables)} tables"

    def explanation(self) -> str:
        """The meaning of the numbers, in sentences."""
        of_mean = [self.plan.names[policy] for policy in self.ratings.reference]
        whole = len(of_mean) == len(self.plan.names)
        who = "" if whole else f"of {', '.join(of_mean)} "
        zero = f"{of_mean[0]} has 0" if len(of_mean) == 1 else f"the mean {who}is 0"
        words = f"Ratings are points as in chess, and {zero}: 100 points more are 64 % of the wins, 400 are 91 %."
        words += " [low, high] are 95 % intervals over deals."
        if self.plan.luck:
            known = [times for sums in self._own if isinstance(sums, AdjustedSums) and not math.isnan(times := sums.reduction(_MARGIN))]
            of = f" (variance reduction of margins {min(known):.2f}x to {max(known):.2f}x)" if known else ""
            words += f" Wins, margins and pairs are adjusted for luck, as {self.plan.luck} values it{of}; ratings are not."
        if any(math.isinf(each.low) or math.isinf(each.high) for each in self.ratings.estimates):
            words += " 'at least' and 'at most': a policy that won, or lost, all these games has only one end."
        idle = [name for name, sums in zip(self.plan.names, self._own, strict=True) if not sums.games]
        return words + (f" No game of {', '.join(idle)} is finished yet." if idle else "")

    def __str__(self) -> str:
        return self.text()

    def text(self, bars: bool = False) -> str:
        """The heading, the explanation, and a line for every policy, with a bar for its rating if wanted."""
        if not self.games:
            return f"{self.heading()}\nNo game is finished yet."
        rows = self.rows()
        lines = [list(HEADINGS), *([*cells(row)] for row in rows)]
        if bars:
            low, high = min(row.rating.mean for row in rows), max(row.rating.mean for row in rows)
            lines = [
                [*line[:3], drawn, *line[3:]]
                for line, drawn in zip(lines, ["", *(bar((row.rating.mean - low) / ((high - low) or 1.0)) for row in rows)], strict=True)
            ]
        return "\n".join([self.heading(), self.explanation(), "", *align(lines, left=(1,))])

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        table = Rows(self.heading(), HEADINGS, [cells(row) for row in self.rows()])
        return notebook((self.heading(),), table, (self.explanation(),))

    def as_json(self) -> dict[str, Any]:
        """The league and its standings for programs. Numbers that are not known, and ends that are not bounded, are null."""
        names, ratings = self.plan.names, self.ratings
        plan = {key: value for key, value in asdict(self.plan).items() if value is not None}
        plan["policies"] = dict(zip(names, map(str, self.plan.texts), strict=True))
        pairs = [
            {
                "policy": names[one],
                "rival": names[other],
                "games": self.games_against(one, other),
                "wins": estimate_json(self.against(one, other)),
                "superiority": float(ratings.superiority[one, other]),
            }
            for one, other in combinations(range(len(names)), 2)
        ]
        reference = [names[policy] for policy in ratings.reference]
        return {
            "league": plan,
            "finished": not self.interrupted,
            "games": self.games,
            "reference": reference,
            "policies": [row_json(row) for row in self.rows()],
            "pairs": pairs,
        }


def _add(sums: DealSums | AdjustedSums, deal: int, numbers: Sequence[float], luck: float) -> None:
    """Add the numbers of a game, all of which have this luck."""
    if isinstance(sums, AdjustedSums):
        sums.add(deal, [(number, luck) for number in numbers])
    else:
        sums.add(deal, numbers)


def cells(row: Standing) -> tuple[str, ...]:
    """The cells of a row, as text."""
    above = "-" if math.isnan(row.above_next) else f"{100 * row.above_next:.1f} %"
    wins, margin = row.wins.scaled(100).text(unit=" %", ends=True), row.margin.text(sign=True)
    rating = rating_text(row.rating) if row.games else "no games yet"
    return str(row.place), row.policy, rating, above, wins, margin, time_text(row.seconds_per_turn), str(row.games)


def rating_text(rating: Estimate) -> str:
    """A rating with its interval; if an end is not bounded, only the other one."""
    if not rating.has_interval:
        return f"{rating.mean:+.0f} ({TOO_FEW})"
    if math.isinf(rating.low) and math.isinf(rating.high):
        return f"{rating.mean:+.0f} (not linked)"
    if math.isinf(rating.high):
        return f"at least {rating.low:+.0f}"
    if math.isinf(rating.low):
        return f"at most {rating.high:+.0f}"
    return rating.text(0, sign=True, ends=True)
