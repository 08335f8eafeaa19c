"""The ladder: one table of named policies in several games, at budgets of time. A TOML file defines it, and every game is a league.

A row of the file is a policy at a budget, with its text in each game. Budgets are numbers of playouts that take about the stated CPU time,
so that the games depend on the seed and not on the machine. The measured time stands beside them. What is printed is in ladder_table.py.
Rows are played again, and entries tried, by ladder_checks.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from kdenv.arena.league import League
from kdenv.arena.league_games import league, merge
from kdenv.arena.match import Match, processor_time
from kdenv.arena.standings import Standings
from kdenv.arena.statistics import Estimate
from kdenv.core.errors import BadOption, shown
from kdenv.core.fields import LARGEST_SEED, check_fields, declare, fields_of
from kdenv.core.files import read_toml
from kdenv.policies import policy
from kdenv.policies.learned import models_of

KINDS = ("rule", "paper", "search", "learned", "learned and search")
NO_SEARCH = "none"


class _FromTable:
    """A dataclass whose fields are the keys of a table in a TOML file."""

    @classmethod
    def read(cls, found: object, where: str) -> Self:
        """Make one from a table. BadOption names the key that is wrong."""
        known = fields_of(cls)  # type: ignore[arg-type]  # Self has a hash
        if not isinstance(found, dict):
            raise BadOption(f"{where} is no table of names and values; its keys are {', '.join(known)}")
        if unknown := next((name for name in found if name not in known), None):
            raise BadOption(f"{where}: {shown(unknown)} is no key here; the keys are {', '.join(known)}")
        if missing := next((name for name, field in known.items() if field.is_required and name not in found), None):
            raise BadOption(f"{where}: the key {missing} is missing")
        try:
            return cls(**found)
        except BadOption as error:
            raise BadOption(f"{where}: {error}") from None


@dataclass(frozen=True)
class Rung(_FromTable):
    """A row of the ladder: a policy at a budget, in some of the games.

    Args:
        name: The name of the policy. Rows of the same name differ in their budget.
        kind: What it is: a rule player, the search of a paper, another search, a learned player, or both.
        policy: The text of the policy in each game.
        budget: The CPU time of a turn, as text; "none" for a policy that does not search.
        training: CPU hours of its training, by game.
        models: The digests of its model files, and of modules outside kdenv, as frozen; `kdenv ladder --check` prints them.
        by: Who entered it, or the paper.
        deals: The most deals of its tables, if its games take long.

    """

    name: str
    kind: str = declare(choices=KINDS)
    policy: dict[str, str] = declare()
    budget: str = declare(default=NO_SEARCH)
    training: dict[str, float] = declare(default_factory=dict)
    models: dict[str, str] = declare(default_factory=dict)
    by: str = declare(default="")
    deals: int | None = declare(default=None, least=1, most=10**9)

    def __post_init__(self) -> None:
        check_fields(self, fields_of(Rung))

    @property
    def label(self) -> str:
        """The name, and the budget if it searches. A ladder has each label once."""
        return self.name if self.budget == NO_SEARCH else f"{self.name}, {self.budget}"

    def check(self, plans: Mapping[str, LadderGame]) -> None:
        """Raise a KdenvError if it cannot play in these games, or if a model is not the file that was frozen."""
        if not self.policy:
            raise BadOption(f"{self.label} plays no game; write its policy for at least one of {', '.join(plans)}")
        for game, text in self.policy.items():
            if game not in plans:
                raise BadOption(f"{self.label} plays {shown(game)}, and the games of this ladder are {', '.join(plans)}")
            alone = plans[game].league(game, {self.label: text})
            match = Match(game, [text] * alone.n_players, 1, options=alone.options)
            match.check()
            for name, digest in models_of(policy(text)).items():
                if self.models and self.models.get(name) != digest:
                    was = self.models.get(name, "none")
                    raise BadOption(f"{self.label}: {name} has the digest {digest}, and the one that was frozen is {was}")


@dataclass(frozen=True)
class LadderGame(_FromTable):
    """A game of the ladder: its seats and options, and the deals of every table."""

    deals: int = declare(least=1, most=10**9)
    players: int | None = declare(default=None)
    options: dict[str, Any] = declare(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self, fields_of(LadderGame))

    def league(self, game: str, policies: Mapping[str, str], **how: Any) -> League:
        """A league of these policies at the tables of this game."""
        return League(game, policies, players=self.players, options=self.options, **{"deals": self.deals, **how})


@dataclass(frozen=True)
class Ladder:
    """The games and rows of a ladder. Read one with `read_ladder`."""

    seed: int
    games: Mapping[str, LadderGame]
    rows: Sequence[Rung]
    title: str = "The ladder"

    def check(self) -> None:
        """Raise a KdenvError if a row cannot play, or if two rows have the same name and budget."""
        labels = [row.label for row in self.rows]
        if twice := next((label for label in labels if labels.count(label) > 1), None):
            raise BadOption(f"the ladder has two rows named {shown(twice)}; a row has another name or another budget")
        for row in self.rows:
            row.check(self.games)
        for plan in self.leagues.values():
            plan.check()

    @cached_property
    def leagues(self) -> dict[str, League]:
        """The league of each game. Its policies are named by the labels of the rows."""
        policies = {game: {row.label: row.policy[game] for row in self.rows if game in row.policy} for game in self.games}
        slow = {row.label: row.deals for row in self.rows if row.deals is not None}
        return {
            game: how.league(game, named, seed=self.seed, most_deals={label: deals for label, deals in slow.items() if label in named})
            for (game, how), named in zip(self.games.items(), policies.values(), strict=True)
        }


def read_ladder(path: Path, entries: Sequence[Path] = ()) -> Ladder:
    r"""Read a ladder from a TOML file, and add the rows of these entries. The file names entries of its own from its folder.

    >>> from pathlib import Path
    >>> from kdenv.arena import read_ladder
    >>> row = '[[rows]]\nname = "{0}"\nkind = "rule"\npolicy = {{dominoes = "{0}"}}\n'
    >>> _ = Path("ladder.toml").write_text("seed = 1\n[games.dominoes]\ndeals = 2\n" + row.format("greedy") + row.format("random"))
    >>> [row.label for row in read_ladder(Path("ladder.toml")).rows]
    ['greedy', 'random']

    """
    found = read_toml(path)
    if unknown := next((name for name in found if name not in ("title", "seed", "games", "rows", "entries")), None):
        raise BadOption(f"{path}: {shown(unknown)} is no key of a ladder; its keys are title, seed, games, rows and entries")
    for name, kind in (("seed", int), ("games", dict), ("rows", list)):
        if not isinstance(found.get(name), kind):
            raise BadOption(f"{path}: a ladder needs {name}")
    entered = found.get("entries", [])
    if not isinstance(entered, list) or not all(isinstance(name, str) for name in entered):
        raise BadOption(f'{path}: entries={shown(entered)} is no list of files such as ["entries/mine.toml"]')
    if not 0 <= found["seed"] <= LARGEST_SEED:
        raise BadOption(f"{path}: seed={found['seed']} is not possible; it is a whole number from 0 to {LARGEST_SEED}")
    games = {game: LadderGame.read(how, f"{path}: games.{game}") for game, how in found["games"].items()}
    rows = [Rung.read(row, f"{path}: row {number}") for number, row in enumerate(found["rows"], 1)]
    for entry in [*(path.parent / name for name in entered), *entries]:
        rows += [row for row in read_entry(entry).rungs if row not in rows]
    return Ladder(found["seed"], games, rows, str(found.get("title", "The ladder")))


@dataclass(frozen=True)
class LadderEntry(_FromTable):
    """A card with which somebody enters the ladder: who, what, and how it was made, and rows as in the file of the ladder."""

    who: str
    what: str
    command: str
    hardware: str
    rows: list[Any] = declare(form="a list of rows, each written as [[rows]]")
    seeds: list[Any] = declare(default_factory=list)

    def __post_init__(self) -> None:
        check_fields(self, fields_of(LadderEntry))
        for name in ("who", "what", "command", "hardware"):
            if not getattr(self, name).strip():
                raise BadOption(f"{name} is empty; others need it to judge and to repeat the entry")

    @property
    def rungs(self) -> list[Rung]:
        """The rows of the entry, which name who entered them."""
        return [replace(row, by=row.by or self.who) for row in (Rung.read(row, f"row {i}") for i, row in enumerate(self.rows, 1))]


def read_entry(path: Path) -> LadderEntry:
    r"""Read an entry from a TOML file.

    >>> from pathlib import Path
    >>> from kdenv.arena import read_entry
    >>> card = 'who = "Ann"\nwhat = "a rule"\ncommand = "none"\nhardware = "any"\n'
    >>> row = '[[rows]]\nname = "gprd"\nkind = "rule"\npolicy = {kingdomino = "gprd"}\n'
    >>> _ = Path("entry.toml").write_text(card + row)
    >>> read_entry(Path("entry.toml")).who
    'Ann'

    """
    entry = LadderEntry.read(read_toml(path), str(path))
    try:
        _ = entry.rungs
    except BadOption as error:
        raise BadOption(f"{path}: {error}") from None
    return entry


@dataclass(frozen=True)
class LadderRow:
    """A row of the table of one game."""

    game: str
    row: Rung
    place: int
    rating: Estimate
    wins: Estimate
    seconds_per_turn: Estimate
    games: int
    on_frontier: bool  # no row of the game is as fast and stronger

    @property
    def label(self) -> str:
        """The name and the budget of the row."""
        return self.row.label


@dataclass(frozen=True)
class Climbed:
    """The ladder as played: the standings of each game."""

    plan: Ladder
    standings: Mapping[str, Standings]

    @property
    def interrupted(self) -> bool:
        """True after Ctrl-C."""
        return any(each.interrupted for each in self.standings.values())

    def rows(self, game: str) -> list[LadderRow]:
        """The rows of a game, from the strongest to the weakest."""
        of_label = {row.label: row for row in self.plan.rows}
        found, fastest = [], math.inf
        for each in self.standings[game].rows():  # from the strongest on
            seconds = each.seconds_per_turn.mean
            found.append(
                LadderRow(
                    game, of_label[each.policy], each.place, each.rating, each.wins, each.seconds_per_turn, each.games, seconds < fastest
                )
            )
            fastest = min(fastest, seconds)
        return found

    def overall(self) -> list[tuple[Rung, Estimate]]:
        """The rows that play every game, with the mean of their ratings, in which each game has the same weight; the strongest first.

        Errors of different games are independent. So each side of the interval is the root of the summed squares, divided by the number
        of games. An end that the games of one game do not bound is infinite.
        """
        ratings = {(game, row.label): row.rating for game in self.standings for row in self.rows(game)}
        found, n = [], len(self.standings)
        for row in self.plan.rows:
            if not all((game, row.label) in ratings for game in self.standings):
                continue
            mine = [ratings[game, row.label] for game in self.standings]
            mean = math.fsum(each.mean for each in mine) / n
            low, high = (
                math.hypot(*(end - each.mean for end, each in ends)) / n
                for ends in ([(e.low, e) for e in mine], [(e.high, e) for e in mine])
            )
            found.append((row, Estimate(mean, mean - low, mean + high)))
        return sorted(found, key=lambda each: -each[1].mean)


def climb(
    plan: Ladder,
    folder: Path | None = None,
    *,
    plays: bool = True,
    part: tuple[int, int] = (1, 1),
    processes: int | None = 1,
    ray: str | None = None,
    on_result: Callable[[Standings], None] = lambda standings: None,
) -> Climbed:
    r"""Play the missing games of a ladder, and return its standings. The games of each game are in a folder of its name.

    With one process, which is the default, or on a cluster, times are CPU times. The other arguments are those of `league`; games are kept
    as `lasting`.

    >>> from pathlib import Path
    >>> from kdenv.arena import climb, read_ladder
    >>> row = '[[rows]]\nname = "{0}"\nkind = "rule"\npolicy = {{dominoes = "{0}"}}\n'
    >>> _ = Path("ladder.toml").write_text("seed = 1\n[games.dominoes]\ndeals = 2\n" + row.format("greedy") + row.format("random"))
    >>> [row.label for row in climb(read_ladder(Path("ladder.toml"))).rows("dominoes")]
    ['greedy', 'random']

    """
    plan.check()
    clock = processor_time() if processes == 1 or ray is not None else nullcontext()
    found: dict[str, Standings] = {}
    with clock:
        for game, of_game in plan.leagues.items():
            where = None if folder is None else folder / game
            how: dict[str, Any] = {"part": part, "processes": processes, "ray": ray, "lasting": True, "on_result": on_result}
            stopped = any(each.interrupted for each in found.values())
            found[game] = league(of_game, where, plays=plays and not stopped, **how)
            found[game].interrupted |= stopped
    return Climbed(plan, found)


def merge_ladders(plan: Ladder, folder: Path, other: Path) -> tuple[int, int]:
    r"""Add the games of another machine's folder. Return the numbers of new games and of those that were there.

    >>> from pathlib import Path
    >>> from kdenv.arena import climb, merge_ladders, read_ladder
    >>> row = '[[rows]]\nname = "{0}"\nkind = "rule"\npolicy = {{dominoes = "{0}"}}\n'
    >>> _ = Path("ladder.toml").write_text("seed = 1\n[games.dominoes]\ndeals = 2\n" + row.format("greedy") + row.format("random"))
    >>> ladder = read_ladder(Path("ladder.toml"))
    >>> _ = climb(ladder, Path("there"))
    >>> merge_ladders(ladder, Path("here"), Path("there"))
    (8, 0)

    """
    plan.check()
    places = [game for game in plan.games if (other / game).is_dir()]
    if not places:
        raise BadOption(f"{other} has no games of this ladder; it has no folder {' or '.join(plan.games)}")
    climb(plan, folder, plays=False)  # so that the games of another version count, or are refused
    counts = [merge(plan.leagues[game], folder / game, other / game) for game in places]
    return sum(new for new, _ in counts), sum(there for _, there in counts)
