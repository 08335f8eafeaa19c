"""The table of a ladder: as text, as CSV that --verify reads, as Markdown with pictures for the site, and as a page of HTML."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kdenv import __version__
from kdenv.arena.ladder import NO_SEARCH, Climbed, LadderRow
from kdenv.arena.results import rules_digest
from kdenv.arena.standings import rating_text
from kdenv.arena.statistics import Estimate, finite, row_json
from kdenv.arena.tables import time_text
from kdenv.core.columns import align
from kdenv.core.errors import BadRecord
from kdenv.core.files import read_text
from kdenv.drawing.chart import Dot, Line, chart
from kdenv.drawing.page import Rows, Section, report
from kdenv.games import find_game
from kdenv.policies import policy
from kdenv.policies.learned import models_of

HEADINGS = ("policy", "budget", "rating", "wins", "CPU time a turn", "training", "games", "kind")
_COLUMNS: tuple[str, ...] = ("game", "row", "policy", "budget", "kind", "by", "rating", "rating_low", "rating_high")
_COLUMNS += ("wins", "wins_low", "wins_high", "seconds_a_turn", "training_hours", "games", "kdenv", "rules", "models")
RESULTS = "results.csv"
_SOONEST = 1e-3  # hours: a shorter training is drawn here, because the axis is logarithmic


def cells(row: LadderRow) -> tuple[str, ...]:
    """The cells of a row, as text."""
    hours = row.row.training.get(row.game, 0.0)
    return (
        row.row.name + (" *" if row.on_frontier else ""),
        "-" if row.row.budget == NO_SEARCH else row.row.budget,
        rating_text(row.rating),
        row.wins.scaled(100).text(unit=" %", ends=True),
        time_text(Estimate(row.seconds_per_turn.mean)),
        f"{hours:g} h" if hours else "-",
        str(row.games),
        row.row.kind + (f" ({row.row.by})" if row.row.by else ""),
    )


def explanation() -> str:
    """The meaning of the numbers."""
    return (
        "Every two rows of a game meet, on the same deals and from every seat. Ratings are points as in chess. In each game 0 is the mean "
        "of the largest group of rows that are linked by wins in both directions. A row that lost, or won, all games against them has only "
        "one end. [low, high] are 95 % intervals over deals, each for itself: about one in 20 misses. Wins depend on whom a row has met, "
        "so compare ratings. * marks the frontier: no row of the game is as fast and stronger."
    )


def text(climbed: Climbed) -> str:
    """A table for a terminal."""
    lines = [climbed.plan.title, explanation()]
    for game, standings in climbed.standings.items():
        lines += ["", standings.heading()]
        if standings.games:
            lines += align([HEADINGS, *map(cells, climbed.rows(game))], left=(0, 7))
    if rows := _overall(climbed):
        lines += ["", "All games, each with the same weight", *align([("policy", "budget", "rating"), *rows])]
    return "\n".join(lines)


def _overall(climbed: Climbed) -> list[tuple[str, ...]]:
    """The cells of the rows that play every game; empty if a game has not begun, or if there is only one."""
    if len(climbed.standings) < 2 or not all(each.games for each in climbed.standings.values()):
        return []
    return [(row.name, "-" if row.budget == NO_SEARCH else row.budget, rating_text(rating)) for row, rating in climbed.overall()]


def as_json(climbed: Climbed) -> dict[str, Any]:
    """The same for programs."""
    rows = [row_json(row) for game in climbed.standings if climbed.standings[game].games for row in climbed.rows(game)]
    overall = [{"row": row.label, **row_json_of(rating)} for row, rating in climbed.overall()] if _overall(climbed) else []
    return {"title": climbed.plan.title, "finished": not climbed.interrupted, "rows": rows, "overall": overall}


def row_json_of(rating: Estimate) -> dict[str, Any]:
    """A rating as JSON."""
    return {"rating": finite(rating.mean), "low": finite(rating.low), "high": finite(rating.high)}


# Files


def write(climbed: Climbed, folder: Path) -> None:
    """Write results.csv, table.md and the pictures of every game to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {RESULTS: as_csv(climbed), "table.md": markdown(climbed)}
    for game, standings in climbed.standings.items():
        if standings.games:
            files |= {f"{game}.svg": by_time(climbed, game), f"{game}-training.svg": by_training(climbed, game)}
    for name, content in files.items():
        new = folder / f".{name}.new"
        new.write_text(content, encoding="utf-8", newline="\n")
        new.replace(folder / name)


def as_csv(climbed: Climbed) -> str:
    """A row for each policy at each budget in each game, with the versions and model files that played."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for game, standings in climbed.standings.items():
        rules = rules_digest(find_game(game))
        for row in climbed.rows(game) if standings.games else ():
            text = row.row.policy[game]
            models = " ".join(f"{name}={digest}" for name, digest in sorted(models_of(policy(text)).items()))
            numbers = [f"{number:.6g}" for number in (*row.rating, *row.wins, row.seconds_per_turn.mean, row.row.training.get(game, 0.0))]
            about = (game, row.label, text, row.row.budget, row.row.kind, row.row.by)
            writer.writerow([*about, *numbers, row.games, __version__, rules, models])
    return out.getvalue()


def wins_in(path: Path, label: str) -> dict[str, Estimate]:
    """The share of the wins of a row in each game, from results.csv."""
    found: dict[str, Estimate] = {}
    rows = csv.DictReader(io.StringIO(read_text(path)))
    if list(rows.fieldnames or ()) != list(_COLUMNS):
        raise BadRecord(f"{path} has not the columns of a ladder; write it with 'kdenv ladder --out {path.parent}'")
    for row in rows:
        if row["row"] == label:
            try:
                found[row["game"]] = Estimate(*(float(row[name]) for name in ("wins", "wins_low", "wins_high")))
            except (TypeError, ValueError):
                raise BadRecord(f"{path}: the wins of {label} in {row['game']} are no numbers") from None
    return found


def markdown(climbed: Climbed) -> str:
    """The tables of all games with their pictures, for the site."""
    parts = ["# The table of the ladder", explanation()]
    if rows := _overall(climbed):
        parts += ["## All games, each with the same weight", _markdown(("policy", "budget", "rating"), rows)]
    for game, standings in climbed.standings.items():
        title = find_game(game).title
        parts += [f"## {title}", f"{standings.heading()}."]
        if standings.games:
            parts += [_markdown(HEADINGS, list(map(cells, climbed.rows(game)))), f"![{title}: rating by CPU time a turn]({game}.svg)"]
            parts += [f"![{title}: rating by hours of training]({game}-training.svg)"]
    return "\n\n".join(parts) + "\n"


def _markdown(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [headings, ("---",) * len(headings), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in line) + " |" for line in lines)


def page(climbed: Climbed) -> str:
    """A page of HTML."""
    sections = []
    if rows := _overall(climbed):
        sections.append(Section("All games", table=Rows("All games, each with the same weight", ("policy", "budget", "rating"), rows)))
    for game, standings in climbed.standings.items():
        if standings.games:
            table = Rows(standings.heading(), HEADINGS, list(map(cells, climbed.rows(game))))
            sections.append(Section(find_game(game).title, table=table, pictures=(by_time(climbed, game), by_training(climbed, game))))
    return report(climbed.plan.title, (explanation(),), sections, __version__)


# Pictures


def by_time(climbed: Climbed, game: str) -> str:
    """Rating by CPU time a turn: a line for every name, whose dots are its budgets."""
    return _picture(
        climbed, game, "CPU time a turn", lambda row: max(row.seconds_per_turn.mean, 1e-6), lambda at: time_text(Estimate(at), 0)
    )


def by_training(climbed: Climbed, game: str) -> str:
    """Rating by hours of training. Rows that were not trained are at the left end."""
    return _picture(
        climbed, game, "CPU hours of training", lambda row: max(row.row.training.get(game, 0.0), _SOONEST), lambda at: f"{at:g} h"
    )


def _picture(climbed: Climbed, game: str, across: str, x: Callable[[LadderRow], float], write: Callable[[float], str]) -> str:
    rows = [row for row in climbed.rows(game) if math.isfinite(row.rating.mean) and x(row) == x(row)]
    frontier: list[Dot] = []
    for row in sorted(rows, key=x):
        if not frontier or row.rating.mean > frontier[-1].y:
            frontier.append(Dot(x(row), row.rating.mean))
    lines = [Line("the frontier", frontier, is_guide=True)]
    for name in dict.fromkeys(row.row.name for row in rows):
        mine = sorted((row for row in rows if row.row.name == name), key=x)
        dots = [Dot(x(row), row.rating.mean, *(end if math.isfinite(end) else math.nan for end in row.rating[1:])) for row in mine]
        lines.append(Line(name, dots))
    return chart(f"{find_game(game).title}: rating by {across}", across, "rating", lines, log=True, write=write)
