"""A league: its policies and tables, and the match of each table. It can be read from a TOML file.

Every table is a separate match, whose deals are played from every seat. Different tables have different deals, so the number of
independent samples is that of the tables times that of the deals. league_games.py plays the tables, standings.py rates the policies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kdenv.arena.curve import read_budget, takes_budget, with_budget
from kdenv.arena.match import Match
from kdenv.arena.pairings import Table, even_tables, most_meetings, neighbours
from kdenv.arena.results import header
from kdenv.compiler.random import derive_seed
from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.fields import LARGEST_SEED, check_fields, declare, fields_of
from kdenv.core.files import read_toml
from kdenv.core.record import options_text
from kdenv.games import find_game

KINDS = ("round robin", "gauntlet", "swiss")


@dataclass(frozen=True)
class League:
    """The plan of a league: the game, the policies, the pairings, and the number of deals of a table.

    Policies have names; in a list, a policy's text is its name. All other names here are names of policies.

    Args:
        game: The name of the game.
        policies: A list of policies, or a mapping of names to policies.
        kind: In a "round robin" all policies meet, in a "gauntlet" only challengers meet all, and in a "swiss" league neighbours in the
            ranking meet.
        deals: The deals of a table, each of which is played from every seat.
        players: The number of seats; by default the smallest above one.
        seed: The seed of the deals and the policies.
        budget: The budget of searches that name none, such as 10ms or playouts=100.
        challengers: The policies that meet all others in a gauntlet.
        meetings: The smallest number of tables at which two policies meet. Tables of two allow one.
        rounds: The number of rounds of a swiss league.
        anchor: The policy whose rating is 0; by default the mean is 0.
        options: The options of the game.
        most_deals: For policies whose games take long, the most deals of their tables.
        luck: A policy of values, such as learned(dominion), by which wins, margins and results of pairs are adjusted for luck.

    """

    game: str
    policies: Mapping[str, Any] | Sequence[Any] = declare(form="a list of policies, or a table of names and policies")
    kind: str = declare(default="round robin", choices=KINDS)
    deals: int = declare(default=50, least=1, most=10**9)
    players: int | None = declare(default=None)
    seed: int = declare(default=0, least=0, most=LARGEST_SEED)
    budget: str | None = declare(default=None)
    challengers: Sequence[str] = declare(default=(), form="a list of names")
    meetings: int = declare(default=1, least=1, most=10**6)
    rounds: int = declare(default=0, least=0, most=10**6)
    anchor: str | None = declare(default=None)
    options: dict[str, Any] = declare(default_factory=dict)
    most_deals: dict[str, int] = declare(default_factory=dict)
    luck: str = declare(default="")

    def __post_init__(self) -> None:
        """Give names to policies that have none, and check everything but the game and the policies."""
        check_fields(self, fields_of(League))
        if not isinstance(self.policies, Mapping):
            object.__setattr__(self, "policies", _by_name(self.policies))
        for name in [*self.challengers, *self.most_deals, *([] if self.anchor is None else [self.anchor])]:
            if name not in self.policies:
                meant = did_you_mean(str(name), self.names)
                raise BadOption(f"{shown(name)} is no policy of this league{meant}; its policies are {', '.join(self.names)}")
        for of, key, given, purpose in (
            ("gauntlet", "challengers", bool(self.challengers), "who meet all others"),
            ("swiss", "rounds", self.rounds > 0, "as in rounds = 5"),
        ):
            if self.kind == of and not given:
                raise BadOption(f"a {of} league needs {key}, {purpose}")
            if self.kind != of and given:
                raise BadOption(f"only a {of} league has {key}; this one is a {self.kind} league")
        for name, most in self.most_deals.items():
            if type(most) is not int or most < 1:
                raise BadOption(f"most_deals of {shown(name)} is {shown(most)}; it is a whole number from 1")
        if self.kind == "swiss" and self.meetings != 1:
            raise BadOption("a swiss league has no meetings; its rounds say how often everyone plays")

    def check(self) -> None:
        """Raise a KdenvError if this league cannot be played. Nothing is played for that."""
        game = find_game(self.game)
        players = self.n_players
        game.variant(players, **self.options)
        if self.teams < 2:
            raise BadOption(f"{self.game} for {players} players has no two teams, so nobody can meet")
        if len(self.names) < self.teams:
            raise BadOption(f"a table needs {self.teams} policies, and this league has {len(self.names)}")
        most = most_meetings(len(self.names), self.teams)
        if self.kind != "swiss" and self.meetings > most:
            raise BadOption(f"meetings={self.meetings} is not possible; two of {len(self.names)} policies can meet at {most} tables")
        texts: dict[str, str] = {}
        for name, text in zip(self.names, self.texts, strict=True):
            if str(text) in texts:
                raise BadOption(f"{texts[str(text)]} and {name} are the same policy, {shown(text)}; leave one of them out")
            texts[str(text)] = name
        for table in [tuple(range(at, at + self.teams)) for at in range(len(self.names) - self.teams + 1)]:
            self.match(table).check()

    @cached_property
    def names(self) -> list[str]:
        """The names of all policies. Everywhere else they are numbers: places in this list."""
        return list(self._named)

    @property
    def _named(self) -> Mapping[str, Any]:
        assert isinstance(self.policies, Mapping)  # see __post_init__
        return self.policies

    @cached_property
    def texts(self) -> list[Any]:
        """The policy of each name; a search without a budget has that of the league."""
        given = Match(self.game, list(self._named.values()), 1).line_up
        if self.budget is None:
            return list(given)
        budget = read_budget(self.budget)
        takes = [isinstance(each, str) and takes_budget(each) for each in given]
        if not any(takes):
            raise BadOption(f"no policy of this league is a search without a budget of its own, so budget={self.budget} is of no use")
        return [with_budget(each, budget) if take else each for each, take in zip(given, takes, strict=True)]

    @property
    def n_players(self) -> int:
        """The number of seats of a table."""
        return self.players if self.players is not None else min(n for n in find_game(self.game).players if n > 1)

    @property
    def teams(self) -> int:
        """The number of policies at a table. In a team game a policy plays all seats of its team."""
        return find_game(self.game).teams(self.n_players)

    def match(self, table: Table) -> Match:
        """The match that this table plays. It does not depend on the order in which the league lists its policies."""
        texts = sorted((self.texts[each] for each in table), key=str)
        seed = derive_seed("league", self.seed, *(int.from_bytes(str(text).encode()) for text in texts)) & LARGEST_SEED
        line_up = [texts[place % self.teams] for place in range(self.n_players)]
        deals = min([self.deals, *(self.most_deals.get(self.names[each], self.deals) for each in table)])
        return Match(self.game, line_up, deals * self.n_players, seed, self.options, luck=self.luck)

    def table_of(self, match: Mapping[str, Any]) -> Table | None:
        """The table whose match the first line of a file describes; None if it is no match of this league."""
        number = {str(text): each for each, text in enumerate(self.texts)}
        line_up = match.get("line_up")
        if not isinstance(line_up, list) or not line_up or not all(isinstance(text, str) and text in number for text in line_up):
            return None
        table = tuple(sorted({number[text] for text in line_up}))
        return table if len(table) == self.teams and header(self.match(table))["match"] == match else None

    def rounds_of_tables(self, known: Collection[Table], order: Callable[[], list[int]]) -> Iterator[list[Table]]:
        """Yield the tables to play, round by round. The next round of a Swiss league is drawn when the last one has been played.

        `known` has the tables that have already played; `order` returns the policies from the strongest to the weakest.
        """
        n = len(self.names)
        if self.kind != "swiss":
            challengers = {self.names.index(name) for name in self.challengers}
            yield even_tables(n, self.teams, self.meetings, lambda i, j: not challengers or bool(challengers & {i, j}), known)
            return
        drawn: list[Table] = []
        for _ in range(self.rounds):
            tables = neighbours(order(), self.teams, drawn)
            if not tables:
                return
            drawn += tables
            yield tables

    def describe(self) -> str:
        """The league in one line."""
        counts = f"{len(self.names)} policies, {self.kind}, {self.deals} deal{'s' * (self.deals != 1)} a table"
        fewer = sorted({most for most in self.most_deals.values() if most < self.deals}, reverse=True)
        counts += f" ({' or '.join(map(str, fewer))} with slow policies)" if fewer else ""
        budget = f", {self.budget}" if self.budget is not None else ""
        return f"{self.game}, {self.n_players} players{options_text(self.options)}: {counts}{budget}, seed {self.seed}"


def _by_name(policies: Sequence[Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for each in policies:
        name = each if isinstance(each, str) else str(getattr(each, "text", None) or getattr(each, "__name__", each))
        if name in named:
            raise BadOption(f"{shown(name)} is listed twice; every policy of a league is another one")
        named[name] = each
    return named


def read_league(path: Path, seed: int = 0) -> League:
    r"""Read a league from a TOML file, whose keys are the fields of League. `seed` is used if the file has none.

    >>> from pathlib import Path
    >>> from kdenv.arena import read_league
    >>> _ = Path("league.toml").write_text('game = "kingdomino"\npolicies = ["full_greedy", "gprd", "random"]\ndeals = 10\n')
    >>> plan = read_league(Path("league.toml"))
    >>> plan.names, plan.kind, plan.deals
    (['full_greedy', 'gprd', 'random'], 'round robin', 10)
    """
    found = read_toml(path)
    known = fields_of(League)
    for name in found:
        if name not in known:
            raise BadOption(f"{path}: {shown(name)} is no key of a league{did_you_mean(name, known)}; its keys are {', '.join(known)}")
    for name, field in known.items():
        if field.is_required and name not in found:
            raise BadOption(f"{path}: the key {name} is missing")
    policies = found["policies"]
    for text in policies.values() if isinstance(policies, dict) else policies if isinstance(policies, list) else ():
        if not isinstance(text, str):
            raise BadOption(f'{path}: {shown(text)} is no policy; a policy is a text such as "full_greedy"')
    try:
        return League(**{"seed": seed, **found})
    except BadOption as error:
        raise BadOption(f"{path}: {error}") from None
