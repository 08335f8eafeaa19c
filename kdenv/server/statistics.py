"""Results of the games that were finished here: by name, and head to head, with 95 % intervals.

Points of games with other rules or another number of players cannot be compared, so each kind of table has statistics of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from kdenv.arena.statistics import DealSums, Estimate, finite
from kdenv.core.game import Game
from kdenv.server.models import Interval, Result, Statistics
from kdenv.server.store import PastGame

MOST = 5000  # the last games that are counted
_NAMES = 100  # the names in an answer, those with the most games


def statistics(game: Game, past: Iterable[PastGame], table: str, check: Callable[[], None] = lambda: None) -> Statistics:
    """The statistics of a game at one kind of table, by default the most frequent one. Games of one player do not count.

    Args:
        game: the game.
        past: the games that are over.
        table: the kind of table, as `tables` of the answer lists it; empty for the most frequent one.
        check: is called at each game, and may raise.

    """
    played: defaultdict[str, list[tuple[Result, Sequence[str]]]] = defaultdict(list)
    for each in past:
        check()
        if len(each.names) > 1:
            played[_table_of(game, each)].append((each.result, each.names))
    kinds = sorted(played, key=lambda kind: (-len(played[kind]), kind))
    chosen = table or (kinds[0] if kinds else "")
    sums, pairs = _sums(played.get(chosen, []))
    most = sorted(sums, key=lambda name: (-sums[name].games, name))[:_NAMES]
    return {
        "game": game.name,
        "table": chosen,
        "games": len(played.get(chosen, [])),
        "tables": [{"table": kind, "games": len(played[kind])} for kind in kinds],
        "players": [
            {
                "name": name,
                "games": sums[name].games,
                "wins": _interval(sums[name].share(0)),
                "margin": _interval(sums[name].mean(1)),
                "score": _interval(sums[name].mean(2)),
            }
            for name in most
        ],
        "pairs": [
            {"name": name, "rival": rival, "games": both.games, "ahead": _interval(both.share(0))}
            for (name, rival), both in sorted(pairs.items(), key=lambda pair: (-pair[1].games, pair[0]))[:_NAMES]
        ],
    }


def _table_of(game: Game, past: PastGame) -> str:
    """The kind of a table in words, such as "2 players, size=7, casual"."""
    usual = game.options_of(game.variant(len(past.names))[1])
    changed = [f"{name}={value}" for name, value in sorted(past.options.items()) if value != usual.get(name)]
    return ", ".join([f"{len(past.names)} players", *changed, *(["casual"] if past.casual else [])])


def _sums(played: Sequence[tuple[Result, Sequence[str]]]) -> tuple[dict[str, DealSums], dict[tuple[str, str], DealSums]]:
    """The sums of shares of wins, margins and points by name, and of the shares of being ahead by pair of names."""
    sums: dict[str, DealSums] = {}
    pairs: dict[tuple[str, str], DealSums] = {}
    for number, (result, names) in enumerate(played):
        for seat, name in enumerate(names):
            numbers = [result["wins"][seat], result["margins"][seat], result["scores"][seat]]
            sums.setdefault(name, DealSums(1)).add(number * 16 + seat, numbers)
            for other, rival in enumerate(names):
                if name < rival:
                    ahead = result["ranks"][seat] - result["ranks"][other]
                    share = 0.5 if ahead == 0 else float(ahead < 0)
                    pairs.setdefault((name, rival), DealSums(1)).add(number * 256 + seat * 16 + other, [share])
    return sums, pairs


def _interval(estimate: Estimate) -> Interval:
    """An estimate as JSON has it. Without an interval there were too few games for one."""
    mean, low, high = (finite(round(number, 4)) for number in estimate)
    return {"mean": mean, "low": low, "high": high}
