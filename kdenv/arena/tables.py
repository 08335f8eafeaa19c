"""The cells of the table of a match, and the table as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kdenv.arena.statistics import FEWEST_DEALS, TOO_FEW, Estimate, luck_text, pairing_text
from kdenv.core.columns import align

if TYPE_CHECKING:
    from kdenv.arena.summary import Difference, PolicyRow

HEADINGS = ("policy", "margin", "score", "wins", "time a turn", "median", "playouts a turn")
_BAR = HEADINGS.index("wins") + 1
_WIDEST_NAME = 40  # longer names get a line of their own


def cells(row: PolicyRow) -> tuple[str, ...]:
    """The cells of a row, as text."""
    name = row.policy + (f"  x{row.places}" if row.places > 1 else "")
    playouts = row.playouts_per_turn.text(0) if row.playouts_per_turn.mean else "-"
    return (
        name,
        row.margin.text(sign=True),
        row.score.text(),
        row.wins.scaled(100).text(unit=" %", ends=True),
        time_text(row.seconds_per_turn),
        time_text(Estimate(row.median_seconds_per_turn)),
        playouts,
    )


def time_text(seconds: Estimate, digits: int | None = None) -> str:
    """A time as text, in the largest of s, ms and µs in which it is not below 1; - if it is not known."""
    if seconds.mean != seconds.mean:
        return "-"
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if round(seconds.mean * factor, 6) >= 1:
            return seconds.scaled(factor).text((2 if unit == "s" else 1) if digits is None else digits, f" {unit}")
    return seconds.scaled(1e6).text(1 if digits is None else digits, " µs")


def bar(share: float, width: int = 10) -> str:
    """A bar of block characters for a number from 0 to 1, padded to the width."""
    eighths = round(8 * width * min(max(share, 0.0), 1.0)) if share == share else 0
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8]).strip().ljust(width)


def note(deals: int, differences: int = 1) -> str:
    """The sentences about the intervals in the table and of this many differences, or the reason why there are none."""
    if deals < FEWEST_DEALS:
        return f"No intervals: {TOO_FEW} ({deals}; {FEWEST_DEALS} are needed)."
    several = f" Those of the {differences} differences are wider, so that all of them are right in 95 % of all matches (Bonferroni)."
    return "± and [low, high] are 95 % intervals over deals." + (several if differences > 1 else "")


def text_table(rows: Sequence[PolicyRow], bars: bool = False) -> str:
    """The table for a terminal, with a bar beside the wins if wanted."""
    lines = [HEADINGS, *map(cells, rows)]
    if bars:
        drawn = ["", *(bar(row.wins.mean) for row in rows)]
        lines = [(*line[:_BAR], each, *line[_BAR:]) for line, each in zip(lines, drawn, strict=True)]
    above = [name if len(name) > _WIDEST_NAME else "" for name, *_ in lines]
    aligned = align([("" if long else name, *numbers) for long, (name, *numbers) in zip(above, lines, strict=True)])
    return "\n".join(f"{long}\n{line}" if long else line for long, line in zip(above, aligned, strict=True))


def difference_lines(differences: Sequence[Difference]) -> list[str]:
    """A line for every difference, in points a game."""
    return [
        f"{each.policy} minus {each.less}: {each.points.text(sign=True)} points a game"
        + "".join(f"; {helped}" for helped in (pairing_text(each.pairing), luck_text(each.luck)) if helped)
        for each in differences
    ]
