"""Plays the tables of a league, keeps their games in a folder, and merges the folders of several machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kdenv.arena.cluster import connection
from kdenv.arena.league import League
from kdenv.arena.match import Match, Result
from kdenv.arena.pairings import Table
from kdenv.arena.results import ResultsFile, changed_model, header, match_in, parse_header, result_of
from kdenv.arena.resume import path_in, play_remaining
from kdenv.arena.standings import Standings
from kdenv.core.errors import BadOption, BadRecord, shown
from kdenv.core.files import ordinary


def league(
    plan: League,
    folder: Path | None = None,
    *,
    plays: bool = True,
    part: tuple[int, int] = (1, 1),
    processes: int | None = None,
    move_limit: float | None = None,
    ray: str | None = None,
    lasting: bool = False,
    on_result: Callable[[Standings], None] = lambda standings: None,
) -> Standings:
    """Play the missing games of a league, and return its standings.

    Args:
        plan: The league.
        folder: A folder that keeps the games. All games in it between policies of the league count.
        plays: If false, nothing is played, and the games in the folder are rated.
        part: The share of the deals that this machine plays. (2, 3) is the second third, for one of three machines whose games are merged
            afterwards.
        processes: The number of processes. The default is one for each core.
        move_limit: The longest time of a decision, in seconds.
        ray: The address of a Ray cluster that plays, or "auto".
        lasting: If true, games are kept without records and times of turns, so that git can have them. If another
            version of kdenv or of the rules has played them, they count if the first game of their table is the same one now. Without
            `lasting` they are refused.
        on_result: A function that is called after each game.

    Returns:
        The standings. After Ctrl-C their `interrupted` is true, and all finished games are kept.

    >>> from kdenv.arena import League, league
    >>> print(league(League("kingdomino", ["full_greedy", "gprd", "random"], deals=10, options={"size": 3}), processes=1))
    kingdomino, 2 players size=3: 3 policies, round robin, 10 deals a table, seed 0; 60 games at 3 tables
    Ratings are points as in chess, and the mean is 0: 100 points more are 64 % of the wins, 400 are 91 %. ...
    ...
    1  gprd          +93 [22, 171]                94.4 %  68.8 % [54.1, 80.4]  +3.5 ± 2.5 ...
    2  full_greedy    +6 [-68, 81]                91.9 %  51.2 % [35.6, 66.6]  +1.1 ± 2.5 ...
    3  random       -99 [-203, -7]                     -  30.0 % [15.9, 49.2]  -4.6 ± 2.7 ...

    """
    plan.check()
    number, parts = part
    if not 1 <= number <= parts:
        raise BadOption(f"part {number} of {parts} is not possible; the first of two is 1 of 2")
    if parts > 1 and plan.kind == "swiss":
        raise BadOption("a swiss league cannot be played in parts: its next round depends on all games of the last one")
    nameless = [name for name, text in zip(plan.names, plan.texts, strict=True) if not isinstance(text, str)]
    if folder is not None and nameless:
        raise BadOption(f"{nameless[0]} cannot be written to a file; make it known with kdenv.add_policy, or play without a folder")
    known = known_tables(plan, folder)
    standings = Standings(plan)

    def run(table: Table, plays: bool) -> None:
        match = plan.match(table)

        def add(result: Result) -> None:
            standings.add(table, result)
            on_result(standings)

        def is_ours(game: int) -> bool:
            return plays and match.find(game)[0] % parts == number - 1

        how: dict[str, Any] = {"processes": processes, "move_limit": move_limit, "ray": ray, "lasting": lasting}
        if not play_remaining(match, folder, add, is_ours=is_ours, **how):
            standings.interrupted = True

    read: set[Table] = set()
    with connection(ray if plays else None):
        for tables in plan.rounds_of_tables(known, standings.order) if plays else ():
            deals = (plan.match(table).games // plan.n_players for table in tables)
            standings.expected += sum(plan.n_players * len(range(number - 1, each, parts)) for each in deals)
            for table in tables:
                if table in known or not standings.interrupted:
                    run(table, not standings.interrupted)
                    read.add(table)
            if standings.interrupted:
                break
    for table in sorted(known - read):
        run(table, False)
    return standings


def known_tables(plan: League, folder: Path | None) -> set[Table]:
    """The tables of this league of which the folder has a file."""
    if folder is None or not folder.exists():
        return set()
    if not folder.is_dir():
        raise BadOption(f"{folder} is a file; the games of a league are kept in a folder")
    found = set()
    for path in folder.glob("*.jsonl"):
        table = plan.table_of(match_in(path))
        if table is not None and path == path_in(folder, plan.match(table)):
            found.add(table)
    return found


def merge(plan: League, folder: Path, other: Path) -> tuple[int, int]:
    """Add the games of this league in another folder or file to the folder. Return the numbers of new games and of others.

    A game whose number the folder has stays as it is. Games that belong to no table of this league are left out.

    >>> from pathlib import Path
    >>> from kdenv.arena import League, league, merge
    >>> plan = League("kingdomino", ["full_greedy", "random"], deals=4, options={"size": 3})
    >>> for i in (1, 2):  # two machines would do this
    ...     _ = league(plan, Path(f"half{i}"), part=(i, 2), processes=1)
    >>> merge(plan, Path("half1"), Path("half2"))
    (4, 0)
    """
    plan.check()
    if not other.exists():
        raise BadOption(f"{other} is not there; give a folder with the games of a league, or one of its files")
    paths = sorted(other.glob("*.jsonl")) if other.is_dir() else [other]
    new, there, is_empty = 0, 0, True
    for path in paths:
        table = plan.table_of(match_in(path))
        if table is None:
            continue
        is_empty = False
        match = plan.match(table)
        with ResultsFile(path_in(folder, match), match) as file:
            for _ in file.results():
                pass
            for result in _results_in(path, match):
                if result.number in file.finished or result.number >= match.games:
                    there += 1
                    continue
                file.append(result)
                file.finished.add(result.number)
                new += 1
    if is_empty:
        raise BadOption(f"{other} has no games of this league: its game, policies, options, seed or budget are others")
    return new, there


def _results_in(path: Path, match: Match) -> Iterator[Result]:
    """Yield the results in a file, which is only read. A last line that was cut is left out."""
    mine = header(match)
    with ordinary(path).open("rb") as file:
        theirs = parse_header(file.readline())
        for key in ("format", "kdenv", "rules"):
            if theirs.get(key) != mine[key]:
                other = shown(theirs.get(key))
                raise BadRecord(f"{path} was written with another {key} ({other}, here it is {mine[key]}), so it cannot be merged")
        if name := changed_model(theirs, mine):
            raise BadRecord(f"{path} holds the results of another {name}: here the file is another one, so it cannot be merged")
        for number, line in enumerate(file, 2):
            if line.endswith(b"\n"):
                try:
                    yield result_of(line, match)
                except BadRecord as error:
                    raise BadRecord(f"line {number} of {path} is damaged: {error}; delete this line, and merge again") from None
