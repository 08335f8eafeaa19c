"""The number of processes of a match, from the cores of this machine and the threads of the searches."""

from __future__ import annotations

import warnings

from kdenv.arena.match import Match
from kdenv.core.errors import KdenvWarning
from kdenv.core.threads import cores
from kdenv.policies import Policy, policy


def usual_processes(match: Match) -> int:
    """The default number of processes of a match, with which each thread of a search has a core."""
    return max(1, cores() // most_threads(match))


def most_threads(match: Match) -> int:
    """The largest number of threads with which a policy of this match decides."""
    return max(_threads(each) for each in _policies(match))


def warn_of_shared_cores(match: Match, processes: int) -> None:
    """Warn if searches with a budget of seconds share cores, because they then do less work in their time."""
    budgets = "seconds", "turn_seconds", "game_seconds"
    timed = [each for each in _policies(match) if any(getattr(each, name, None) is not None for name in budgets)]
    threads, here = max(map(_threads, timed), default=0), cores()
    if processes * threads <= here:
        return
    fit = here // threads
    advice = f"give threads={here}" if fit == 0 else f"play with {fit} process{'es' * (fit > 1)}"
    searches = f"{processes} search{'es' * (processes > 1)}" + (f" of {threads} threads" if threads > 1 else "")
    on_cores = f"on {here} core{'s' * (here > 1)}"
    why = f"{searches} will run at the same time {on_cores}, so seconds buy less than on cores of their own; {advice}"
    warnings.warn(why, KdenvWarning, stacklevel=3)


def _policies(match: Match) -> list[Policy]:
    """The policies of a match, which has been checked; one of each."""
    return [policy(text) for text in dict.fromkeys([*match.line_up, *match.other])]


def _threads(player: Policy) -> int:
    """The number of threads with which a policy decides."""
    threads = getattr(player, "threads", 1)
    return threads if isinstance(threads, int) else 1
