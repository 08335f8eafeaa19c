"""Writes the results of a match as JSON for programs, and as an HTML page."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kdenv.arena.statistics import Estimate
from kdenv.arena.summary import Summary
from kdenv.arena.tables import differences_html, html_table, note
from kdenv.core.record import replay
from kdenv.games import find_game

_BARS = 45  # there are at most so many bars on each side of a margin of 0
_LEFT, _RIGHT, _TOP, _BOTTOM = 20, 920, 20, 150  # the bars lie between these lines of a picture of 940 by 180


def as_json(summary: Summary, finished: bool) -> dict[str, Any]:
    """The match and its table as JSON for programs. A number that is not known is null."""
    tables: dict[str, list[Any]] = {"policies": summary.rows(), "differences": summary.differences()}
    rows = {name: [_plain(asdict(row)) for row in table] for name, table in tables.items()}
    return {"match": asdict(summary.match), "finished": finished, **rows}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: {name: _known(number) for name, number in zip(Estimate._fields, value, strict=True)}
        if isinstance(value, tuple)
        else _known(value)
        for key, value in row.items()
    }


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def page(summary: Summary) -> str:
    """The match as an HTML page that loads no other files. It has the table, the margins, and the last position of the closest game."""
    match = summary.match
    first = html.escape(str(match.line_up[0]))
    if summary.games:
        table = f"<div class='wide'>{html_table(summary.rows())}</div>"
        words = f"<p>{note(summary.deals)} A margin is a policy's points minus those of its best rival.</p>"
        margins = f"<h2>Margins of {first}: in how many games it had each</h2>{_bars(summary.margins)}"
        content = table + differences_html(summary.differences()) + words + margins + _closest(summary)
    else:
        content = "<p>No game is finished yet.</p>"
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        "<title>kdenv match</title><style>"
        "body{font:16px/1.5 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
        "h1,h2,li{overflow-wrap:anywhere}.wide{overflow-x:auto}"
        "table{border-collapse:collapse;width:100%}"
        "td,th{text-align:right;padding:.4rem .6rem;border-bottom:1px solid #ddd;white-space:nowrap}"
        "td:first-child,th:first-child{text-align:left;font-family:ui-monospace,monospace;font-size:.9em;white-space:normal;"
        "overflow-wrap:anywhere;min-width:12rem}"
        "svg{max-width:100%;height:auto}pre{background:#f6f6f6;padding:1rem;overflow:auto}</style>"
        f"<h1>{html.escape(match.describe())}</h1><p>{summary.games} finished, {summary.deals} deals.</p>{content}</html>"
    )


def _closest(summary: Summary) -> str:
    """The closest game of the first policy: who sat where, how it ended, and its record."""
    match, closest = summary.match, summary.closest
    assert closest is not None
    *_, last = replay(closest.record, find_game)
    seats = match.seats(closest.number % len(match.line_up))
    names = "".join(f"<li>seat {seat}: {html.escape(str(match.line_up[place]))}</li>" for seat, place in enumerate(seats))
    return (
        f"<h2>The closest game (number {closest.number})</h2><ul>{names}</ul>{last.svg()}"
        f"<h3>Its record</h3><pre>{html.escape(closest.record)}</pre>"
    )


def _bars(margins: Counter[int]) -> str:
    """A bar for every margin, or for every few neighbouring ones; its height says how many games had it."""
    step = max(1, math.ceil(max(map(abs, margins)) / _BARS))
    games: Counter[int] = Counter()  # bar -> games; bar 0 is a margin of 0, bar 1 the margins from 1 to step, bar -1 those from -1 to -step
    for margin, count in margins.items():
        bar = math.ceil(abs(margin) / step)
        games[bar if margin > 0 else -bar] += count
    low, high = min(0, *games), max(0, *games)
    width, highest = (_RIGHT - _LEFT) / (high - low + 1), max(games.values())
    bars = []
    for bar, count in sorted(games.items()):
        least, most = (abs(bar) - 1) * step + 1, abs(bar) * step
        sign, colour = ("+", "#2a9d4a") if bar > 0 else ("-", "#c1442d") if bar < 0 else ("", "#888")
        which = "0" if bar == 0 else f"{sign}{most}" if step == 1 else f"{sign}{least} to {sign}{most}"
        height = (_BOTTOM - _TOP) * count / highest
        bars.append(
            f"<rect x='{_LEFT + (bar - low) * width + 0.1 * width:.1f}' y='{_BOTTOM - height:.1f}' width='{0.8 * width:.1f}' "
            f"height='{height:.1f}' fill='{colour}'><title>{which}: {count}</title></rect>"
        )
    middle, last = _LEFT + (0.5 - low) * width, _BOTTOM + 20
    ends = "".join(
        f"<text x='{_LEFT + (bar - low + 0.5) * width:.1f}' y='{last}' font-size='13' text-anchor='middle'>{bar * step:+d}</text>"
        for bar in {low, high} - {0}
    )
    return (
        f"<svg viewBox='0 0 940 180'><line x1='{_LEFT}' x2='{_RIGHT}' y1='{_BOTTOM}' y2='{_BOTTOM}' stroke='#999'/>"
        f"{''.join(bars)}{ends}<text x='{middle:.1f}' y='{last}' font-size='13' text-anchor='middle'>0</text></svg>"
    )
