"""The pictures of strength by time a turn: searches, networks and rule players, with the ceiling of each game as a line.

python -m baselines.tools.pictures

Reads baselines/search/GAME.csv, the points of `kdenv curve`, and ceilings.csv, and writes GAME.svg beside them.
"""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

from kdenv.arena.statistics import Estimate
from kdenv.arena.tables import time_text
from kdenv.drawing.chart import Dot, Line, chart
from kdenv.games import find_game

FOLDER = Path(__file__).parents[1] / "search"
AGAINST = {
    "kingdomino": "three full_greedy(variant=paper)",
    "carcassonne": "greedy",
    "dominion": "double_witch",
    "dominoes": "two greedy",
}


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a table in this folder."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def picture_of(game: str) -> str:
    """The picture of a game, as SVG."""
    rows = rows_of(f"{game}.csv")
    lines = []
    for policy, points in groupby(rows, key=lambda row: row["policy"]):
        lines.append(
            Line(policy, [Dot(*(float(row[key]) for key in ("seconds", "margin", "margin_low", "margin_high"))) for row in points])
        )
    ends = [dot.x for line in lines for dot in line.dots]
    ceilings = [row for row in rows_of("ceilings.csv") if row["game"] == game]
    lines += [Line(row["player"], [Dot(x, float(row["margin"])) for x in (min(ends), max(ends))], is_guide=True) for row in ceilings]
    games = [int(row["games"]) for row in rows]
    fewer = "" if min(games) == max(games) else f" (at least {min(games)})"
    title = f"{find_game(game).title} against {AGAINST[game]}, {max(games)} games a point{fewer}"
    return chart(title, "CPU time a turn", "margin", lines, log=True, write=lambda seconds: time_text(Estimate(seconds), 0))


def main() -> None:
    for game in AGAINST:
        (FOLDER / f"{game}.svg").write_text(picture_of(game), encoding="utf-8", newline="\n")
        print(f"{FOLDER / game}.svg")


if __name__ == "__main__":
    main()
