"""Checks of a ladder by games: an entry plays a deal with each of its rows, and a row of the table is played again on fresh deals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kdenv.arena.ladder import Ladder, LadderEntry
from kdenv.arena.league_games import known_tables
from kdenv.arena.match import Match, processor_time
from kdenv.arena.standings import Standings
from kdenv.arena.statistics import Estimate, normal_quantile
from kdenv.arena.summary import Summary
from kdenv.arena.workers import play
from kdenv.core.errors import BadOption, shown
from kdenv.policies import policy
from kdenv.policies.learned import models_of

_FALSE_ALARM = 0.01  # the probability that rows which are as strong as before do not hold, over all games that are verified at once


def check_entry(plan: Ladder, entry: LadderEntry) -> list[str]:
    r"""Check an entry against a ladder: each row plays one deal against random players. Return a line for each row and game.

    >>> from pathlib import Path
    >>> from kdenv.arena import check_entry, read_ladder
    >>> row = '[[rows]]\nname = "{0}"\nkind = "rule"\npolicy = {{dominoes = "{0}"}}\n'
    >>> _ = Path("ladder.toml").write_text("seed = 1\n[games.dominoes]\ndeals = 2\n" + row.format("greedy") + row.format("random"))
    >>> from kdenv.arena import read_entry
    >>> card = 'who = "Ann"\nwhat = "a rule"\ncommand = "none"\nhardware = "any"\n'
    >>> _ = Path("entry.toml").write_text(card + row.format("greedy").replace('name = "greedy"', 'name = "mine"'))
    >>> check_entry(read_ladder(Path("ladder.toml")), read_entry(Path("entry.toml")))
    ['mine plays dominoes: ... ms of CPU time a turn']

    """
    if not entry.rungs:
        raise BadOption("the entry has no rows; write at least one [[rows]]")
    taken, lines = [row.label for row in plan.rows], []
    for row in entry.rungs:
        if row.label in taken and row not in plan.rows:
            raise BadOption(f"the ladder has a row named {shown(row.label)}; give yours another name")
        taken.append(row.label)
        row.check(plan.games)
        used = {name: digest for text in row.policy.values() for name, digest in models_of(policy(text)).items()}
        if used and not row.models:
            written = ", ".join(f'"{name}" = "{digest}"' for name, digest in used.items())
            raise BadOption(f"{row.label} has files that are not frozen; write models = {{ {written} }}")
        for game, text in row.policy.items():
            table = plan.games[game].league(game, {row.label: text})
            line_up = ["random" if place % table.teams else text for place in range(table.n_players)]
            tried = Summary(Match(game, line_up, table.n_players, plan.seed, table.options))
            with processor_time():
                play(tried.match, processes=1, on_result=tried.add)
            lines.append(f"{row.label} plays {game}: {1e3 * tried.rows()[0].seconds_per_turn.mean:.2f} ms of CPU time a turn")
    return lines


@dataclass(frozen=True)
class Verified:
    """A row that was played again on fresh deals: its share of the wins in the table and now.

    It is one of so many `checks`: if all rows are as strong as before, one of them does not hold in about 1 of 100 cases (Bonferroni).
    """

    game: str
    label: str
    before: Estimate
    now: Estimate
    checks: int = 1

    @property
    def holds(self) -> bool:
        """True if the two shares differ by no more than the interval of their difference, at the level that is left to each check."""
        side = (self.before.mean - self.before.low, self.now.high - self.now.mean)
        if self.now.mean > self.before.mean:
            side = (self.before.high - self.before.mean, self.now.mean - self.now.low)
        wider = normal_quantile(_FALSE_ALARM / 2 / self.checks) / normal_quantile(0.025)  # than a 95 % interval
        return abs(self.now.mean - self.before.mean) <= wider * math.hypot(*side)

    def __str__(self) -> str:
        """The result in one line."""
        before, now = (each.scaled(100).text(unit=" %", ends=True) for each in (self.before, self.now))
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return f"{self.game}, {self.label}: {verdict}; {before} of the wins in the table, {now} on fresh deals"


def verify_row(
    plan: Ladder, label: str, before: Mapping[str, Estimate], seed: int, checks: int | None = None, folder: Path | None = None
) -> list[Verified]:
    r"""Play a row again, against every row of its games, on deals of another seed.

    `before` has its share of the wins by game. At tables of more than two policies this share depends on the others. So the row
    sits at the tables of `folder` again, which has the games of the ladder. Without it they are those of a ladder played at once. If the
    row is as strong as it was, one of its games does not hold in about 1 of 100 cases. Rows that are verified together are given the
    number of games of all of them as `checks`; then this is so for all of them together.
    Ctrl-C ends it with KeyboardInterrupt and without a result.

    >>> from pathlib import Path
    >>> from kdenv.arena import climb, read_ladder, verify_row
    >>> row = '[[rows]]\nname = "{0}"\nkind = "rule"\npolicy = {{dominoes = "{0}"}}\n'
    >>> _ = Path("ladder.toml").write_text("seed = 1\n[games.dominoes]\ndeals = 2\n" + row.format("greedy") + row.format("random"))
    >>> ladder = read_ladder(Path("ladder.toml"))
    >>> before = {row.label: row.wins for row in climb(ladder).rows("dominoes")}
    >>> verify_row(ladder, "random", {"dominoes": before["random"]}, seed=2)[0].game
    'dominoes'

    """
    row = next((row for row in plan.rows if row.label == label), None)
    if row is None:
        raise BadOption(f"there is no row {shown(label)} on this ladder; its rows are {'; '.join(row.label for row in plan.rows)}")
    found = []
    for game in row.policy:
        if game not in before:
            raise BadOption(f"the results have no row {shown(label)} of {game}; play the ladder first")
        again = replace(plan.leagues[game], seed=seed)
        known = known_tables(plan.leagues[game], None if folder is None else folder / game)
        standings, me = Standings(again), again.names.index(label)
        with processor_time():
            for table in (table for tables in again.rounds_of_tables(known, list) for table in tables if me in table):
                if not play(again.match(table), processes=1, on_result=partial(standings.add, table)):
                    raise KeyboardInterrupt  # the games played so far are no fair part of all: some opponents are missing
        now = next(each.wins for each in standings.rows() if each.policy == label)
        found.append(Verified(game, label, before[game], now, checks or len(row.policy)))
    return found
