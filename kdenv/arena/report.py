"""The table of a match: for a terminal, as JSON for programs, and as a page to look at."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kdenv.arena.match import Match, Result, Row
from kdenv.arena.statistics import Estimate
from kdenv.core.record import replay
from kdenv.games import find_game

HEADINGS = ("policy", "margin", "score", "wins", "time a turn", "playouts a turn")
_NOTE = "± is the half-width of a 95 % interval; games of one deal count as one sample. Margin: own points less the best rival's."


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table as words."""
    name = row.policy + (f"  x{row.places}" if row.places > 1 else "")
    percent = Estimate(100 * row.wins.mean, 100 * row.wins.half)
    playouts = row.playouts_per_turn.text(0) if row.playouts_per_turn.mean else "-"
    return (name, row.margin.text(1, sign=True), row.score.text(1), percent.text(1, " %"), _time(row.seconds_per_turn), playouts)


def _time(seconds: Estimate) -> str:
    """A time in the unit that suits it."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds.mean * factor >= 1 or unit == "us":
            return Estimate(seconds.mean * factor, seconds.half * factor).text(2 if unit == "s" else 1, f" {unit}")
    raise AssertionError


def text_table(rows: Sequence[Row]) -> str:
    """The table for a terminal."""
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join("  ".join([name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])]) for name, *numbers in lines)


def as_json(match: Match, rows: Sequence[Row], finished: bool) -> dict[str, Any]:
    """The match and its table for programs; an interval that is not known is null."""
    return {"match": asdict(match), "finished": finished, "policies": [_known(asdict(row)) for row in rows]}


def _known(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: {"mean": value[0], "half_width": None if math.isnan(value[1]) else value[1]} if isinstance(value, tuple) else value
        for key, value in row.items()
    }


def page(match: Match, rows: Sequence[Row], results: Sequence[Result]) -> str:
    """The match as an HTML page without anything from elsewhere: table, margins, and the last position of its closest game."""
    head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells(row)) + "</tr>" for row in rows)
    closest = min(results, key=lambda result: abs(result.margins[0]))
    *_, last = replay(closest.record, find_game)
    seats = match.seats(closest.number % len(match.line_up))
    names = "".join(f"<li>seat {seat}: {html.escape(match.line_up[place])}</li>" for seat, place in enumerate(seats))
    return (
        "<!doctype html><meta charset='utf-8'><title>kdenv match</title><style>"
        "body{font:16px/1.5 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem;color:#222}"
        "table{border-collapse:collapse;width:100%}td,th{text-align:right;padding:.4rem .6rem;border-bottom:1px solid #ddd}"
        "td:first-child,th:first-child{text-align:left;font-family:ui-monospace,monospace;font-size:.9em}"
        "svg{max-width:100%;height:auto}pre{background:#f6f6f6;padding:1rem;overflow:auto}</style>"
        f"<h1>{html.escape(match.describe())}</h1><table><tr>{head}</tr>{body}</table><p>{_NOTE}</p>"
        f"<h2>Margins of {html.escape(match.line_up[0])}, game by game</h2>{_strip([result.margins[0] for result in results])}"
        f"<h2>The closest game (number {closest.number})</h2><ul>{names}</ul>{last.svg()}"
        f"<h3>Its record</h3><pre>{html.escape(closest.record)}</pre>"
    )


def _strip(margins: Sequence[int]) -> str:
    """A dot per game on a line from the worst margin to the best, stacked where margins are equal."""
    low, high = min(0, *margins), max(0, *margins)
    scale = 900 / max(1, high - low)
    heights: dict[int, int] = {}
    dots = []
    for margin in sorted(margins):
        heights[margin] = heights.get(margin, 0) + 1
        colour = "#2a9d4a" if margin > 0 else "#c1442d" if margin < 0 else "#888"
        dots.append(f"<circle cx='{20 + (margin - low) * scale:.1f}' cy='{150 - 9 * heights[margin]}' r='4' fill='{colour}'/>")
    zero = 20 - low * scale
    mean = 20 + (sum(margins) / len(margins) - low) * scale
    return (
        f"<svg viewBox='0 0 940 180'><line x1='20' x2='920' y1='150' y2='150' stroke='#999'/>"
        f"<line x1='{zero:.1f}' x2='{zero:.1f}' y1='20' y2='155' stroke='#999' stroke-dasharray='3 4'/>"
        f"<path d='M{mean:.1f} 152l-6 10h12z' fill='#222'/>{''.join(dots)}"
        f"<text x='20' y='175' font-size='13'>{low}</text><text x='{zero:.1f}' y='175' font-size='13' text-anchor='middle'>0</text>"
        f"<text x='920' y='175' font-size='13' text-anchor='end'>{high:+d}</text></svg>"
    )
