"""Plays a match whose games are kept in a folder of many matches, from which it is resumed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from kdenv.arena.match import Match, Result
from kdenv.arena.results import ResultsFile
from kdenv.arena.workers import play


def play_remaining(
    match: Match,
    folder: Path | None,
    add: Callable[[Result], None],
    *,
    processes: int | None = None,
    move_limit: float | None = None,
    ray: str | None = None,
    is_ours: Callable[[int], bool] | None = None,
    lasting: bool = False,
) -> bool:
    """Call `add` with the games in the folder, then play the others, add and keep them. Return False after Ctrl-C.

    Without a folder all games are played. `is_ours` is called with the number of a game, and is false for games of other machines.
    `lasting` is explained at `league`.
    """
    how: dict[str, Any] = {"processes": processes, "move_limit": move_limit, "ray": ray}

    def others() -> Iterator[int]:
        return (number for number in range(match.games) if is_ours is not None and not is_ours(number))

    if folder is None:
        return play(match, done=others(), on_result=add, **how)

    def play_again(number: int) -> Result:
        found: list[Result] = []
        play(match, done=(other for other in range(match.games) if other != number), processes=1, on_result=found.append)
        if not found:
            raise KeyboardInterrupt
        return found[0]

    with ResultsFile(path_in(folder, match), match, play_again if lasting else None) as file:
        for result in file.results():
            add(result)

        def keep(result: Result) -> None:
            if lasting:
                seconds = None if result.seconds is None else [float(f"{each:.4g}") for each in result.seconds]
                result = replace(result, record="", pace=None, seconds=seconds)
            file.append(result)
            add(result)

        return play(match, done=chain(file.finished, others()), records=not lasting, on_result=keep, **how)


def path_in(folder: Path, match: Match) -> Path:
    """The file of a match. Its name has the first policy, in letters that every file system takes, and a digest of the match."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", str(match.line_up[0])).strip("-")[:60]
    by_luck = (match.luck,) if match.luck else ()
    what = repr((match.game, [str(each) for each in match.line_up], match.seed, sorted(match.options.items()), *by_luck))
    return folder / f"{words}-{hashlib.sha256(what.encode()).hexdigest()[:8]}.jsonl"
