"""Results of the games that were finished here: by name, and head to head, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kdenv.arena.statistics import DealSums, Estimate, estimate_json

MOST = 5000  # the last games that are counted
_NAMES = 100  # the names in an answer, those with the most games


def statistics(game: str, results: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> dict[str, Any]:
    """The statistics of a game, from the result of each of its games and the names in its seats. Games of one player do not count."""
    sums: dict[str, DealSums] = {}
    pairs: dict[tuple[str, str], DealSums] = {}
    counted = 0
    for number, (result, names) in enumerate(results):
        if len(names) < 2:
            continue
        counted += 1
        for seat, name in enumerate(names):
            numbers = [result[of][seat] for of in ("wins", "margins", "scores")]
            sums.setdefault(name, DealSums(1)).add(number * 16 + seat, numbers)
            for other, rival in enumerate(names):
                if name < rival:
                    ahead = result["ranks"][seat] - result["ranks"][other]
                    share = 0.5 if ahead == 0 else float(ahead < 0)
                    pairs.setdefault((name, rival), DealSums(1)).add(number * 256 + seat * 16 + other, [share])
    most = sorted(sums, key=lambda name: (-sums[name].games, name))[:_NAMES]
    return {
        "game": game,
        "games": counted,
        "players": [
            {
                "name": name,
                "games": sums[name].games,
                "wins": _told(sums[name].share(0)),
                "margin": _told(sums[name].mean(1)),
                "score": _told(sums[name].mean(2)),
            }
            for name in most
        ],
        "pairs": [
            {"name": name, "rival": rival, "games": both.games, "ahead": _told(both.share(0))}
            for (name, rival), both in sorted(pairs.items(), key=lambda pair: (-pair[1].games, pair[0]))[:_NAMES]
        ],
    }


def _told(estimate: Estimate) -> dict[str, float | None]:
    """An estimate as JSON has it. Without an interval there were too few games for one."""
    return estimate_json(Estimate(*(round(number, 4) for number in estimate)))
