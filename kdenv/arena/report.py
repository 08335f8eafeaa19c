"""HTML pages with pictures, for matches, comparisons, leagues and curves; and a match as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kdenv import __version__
from kdenv.arena.by_round import MOST_GAMES, Rounds
from kdenv.arena.comparison import Comparison, Comparisons, interval_text
from kdenv.arena.curve import Curve
from kdenv.arena.standings import HEADINGS as STANDING
from kdenv.arena.standings import Standings, rating_text
from kdenv.arena.standings import cells as standing_cells
from kdenv.arena.statistics import Estimate, ratio_text, row_json
from kdenv.arena.summary import Summary
from kdenv.arena.tables import HEADINGS, cells, note, time_text
from kdenv.core.record import replay
from kdenv.drawing.chart import Dot, Line, chart
from kdenv.drawing.grids import heat_map, histogram
from kdenv.drawing.page import Rows, Section, report
from kdenv.drawing.rows import BoxRow, IntervalRow, ladder, spreads
from kdenv.games import find_game

_MOST_ROWS = 24  # of a heat map, so that it can be read; the table has all policies


def as_json(summary: Summary, finished: bool) -> dict[str, Any]:
    """The match and its table as JSON for programs. A number that is not known is null."""
    tables: dict[str, list[Any]] = {"policies": summary.rows(), "differences": summary.differences()}
    rows = {name: [row_json(row) for row in table] for name, table in tables.items()}
    return {"match": asdict(summary.match), "finished": finished, **rows}


# Pages


def page(summary: Summary, rounds: Rounds | None = None) -> str:
    """The page of a match: its table, margins and wins, times, points by round, and the closest game."""
    match = summary.match
    lead = (f"{summary.games} of {match.games} games finished, {summary.deals} deals.",)
    if not summary.games:
        return report(match.describe(), (*lead, "No game is finished yet."), [], __version__)
    rows = summary.rows()
    words = f"{note(summary.deals, len(summary.differences()))} A margin is a policy's points minus those of its best opponent."
    sections = [
        Section(sentences=(words,), table=Rows("All policies", HEADINGS, [cells(row) for row in rows])),
        Section("Margins and wins", pictures=_how_they_did(summary)),
    ]
    if summary.differences():
        sections.append(Section("Differences", table=_differences(summary)))
    turns = _by_turn(rounds) if rounds is not None else ()
    if turns:
        told = f"Of the first {min(MOST_GAMES, match.games)} games. A round is left out if fewer than half of them reached it."
        sections.append(Section("Round by round", (told,), pictures=turns))
    times = summary.times()
    if any(times.values()):
        shown = [BoxRow(name, shares, time_text(Estimate(row.median_seconds_per_turn))) for row, (name, shares) in _with_rows(summary)]
        picture = spreads("The time a turn took, on average over a game", "time a turn", shown, _time)
        sections.append(Section("Time", ("The number is the median.",), pictures=(picture,)))
    return report(match.describe(), lead, [*sections, _closest(summary)], __version__)


def compare_page(comparisons: Sequence[Comparison]) -> str:
    """The page of comparisons of the same two policies, at one budget or several."""
    first = comparisons[0]
    title = f"{first.match.game}: {first.a} or {first.b}?"
    headings = ("budget", "difference", "verdict", "deals", "games", "variance reduction")
    rows, bars = [], []
    for each in comparisons:
        name, found = each.budget.text if each.budget is not None else "-", each.difference
        said = interval_text(found)
        rows.append((name, said, each.verdict.value, f"{each.deals:,}", f"{each.games:,}", ratio_text(each.pairing)))
        if each.deals:
            bars.append(IntervalRow(name if each.budget is not None else f"{first.a} minus {first.b}", *found, said))
    lead = tuple(f"{each.budget.text}: {each.sentence}." if each.budget is not None else f"{each.sentence}." for each in comparisons)
    sections = [
        Section(
            sentences=(
                f"A difference is the points of {first.a} minus those of {first.b} in a game. [low, high] is an anytime-valid interval "
                f"with an error of at most {100 * first.error:.3g} %.",
                *Comparisons(list(comparisons)).notes(),
            ),
            table=Rows("Verdicts", headings, rows),
            pictures=(ladder(f"{first.a} minus {first.b}", "points a game", bars),) if bars else (),
        )
    ]
    for each in comparisons:
        if each.path:
            at = f" at {each.budget.text}" if each.budget is not None else ""
            widest = 8 * (each.difference.high - each.difference.low)  # the first intervals would hide all others
            known = {deals: found for deals, found in each.path if found.high - found.low <= widest} | {each.deals: each.difference}
            path = Line("difference and its interval", [Dot(deals, *found) for deals, found in known.items()])
            picture = chart(f"The interval after each deal{at}", "deals", "difference", [path])
            sections.append(Section(sentences=tuple(each.remarks()), pictures=(picture,)))
    return report(title, (first.describe(), *lead), sections, __version__)


def league_page(standings: Standings) -> str:
    """The page of a league: its table, the ratings, the results of each pair, and the probabilities of superiority."""
    if not standings.games:
        return report(standings.heading(), ("No game is finished yet.",), [], __version__)
    rows, order = standings.rows(), standings.order()
    table = Rows("All policies", ("policy", "place", *STANDING[2:]), [(cell[1], cell[0], *cell[2:]) for cell in map(standing_cells, rows)])
    bars = [IntervalRow(row.policy, row.rating.mean, row.rating.low, row.rating.high, rating_text(row.rating)) for row in rows if row.games]
    best, names = order[:_MOST_ROWS], [row.policy for row in rows[:_MOST_ROWS]]

    def told(row: int, column: int) -> str:
        found, games = standings.against(best[row], best[column]), standings.games_against(best[row], best[column])
        return f"{names[row]} before {names[column]}: {found.scaled(100).text(unit=' %', ends=True)} of {games} games"

    def likely(row: int, column: int) -> str:
        return f"{names[row]} is stronger than {names[column]}: {100 * standings.ratings.superiority[best[row], best[column]]:.1f} %"

    won = heat_map(
        "Who finished before whom, % of games",
        names,
        lambda row, column: standings.against(best[row], best[column]).mean,
        told,
        "The row against the column. Ties count half. Blank: they never met.",
    )
    stronger = heat_map(
        "Who is stronger than whom, % likely",
        names,
        lambda row, column: float(standings.ratings.superiority[best[row], best[column]]),
        likely,
        "The row against the column.",
    )
    cut = f"The pictures of pairs have the first {_MOST_ROWS} policies only." if len(rows) > _MOST_ROWS else ""
    sections = [
        Section(sentences=(standings.explanation(),), table=table),
        Section("Ratings", pictures=(ladder("Ratings with 95 % intervals", "points", bars),)),
        Section("Against each other", tuple(filter(None, (cut,))), pictures=(won, stronger)),
        Section(
            "The policies", items=tuple(f"{name}: {text}" for name, text in zip(standings.plan.names, standings.plan.texts, strict=True))
        ),
    ]
    return report(standings.heading(), (), sections, __version__)


def curve_page(curve: Curve) -> str:
    """The page of a curve: its picture and its points."""
    plan = curve.plan
    lead = (f"{plan.games} games a point, seed {plan.seed}. ± and [low, high] are 95 % intervals over deals.",)
    table = Rows("All points", curve.rows()[0], curve.rows()[1:])
    title = f"{find_game(plan.game).title}: strength against time"
    return report(title, lead, [Section(table=table, pictures=(curve.svg(),) if curve.points else ())], __version__)


# Parts of pages


def _differences(summary: Summary) -> Rows:
    """The points of every policy minus those of every other one."""
    rows = [
        (f"{each.policy} minus {each.less}", each.points.text(sign=True), ratio_text(each.pairing), ratio_text(each.luck))
        for each in summary.differences()
    ]
    headings = ("difference", "points a game", "variance reduction from shared deals", "by luck adjustment")
    return Rows("Every policy minus every other one", headings, rows)


def _how_they_did(summary: Summary) -> tuple[str, ...]:
    """Margins and wins with their intervals, and the margins of the first policy."""
    rows, first = summary.rows(), summary.match.line_up[0]
    margins = [IntervalRow(row.policy, *row.margin, row.margin.text(sign=True)) for row in rows]
    wins = [IntervalRow(row.policy, *row.wins.scaled(100), row.wins.scaled(100).text(unit=" %", ends=True)) for row in rows]
    return (
        ladder("Margins with 95 % intervals", "points", margins),
        ladder("Games won with 95 % intervals", "% of games", wins),
        histogram(f"Margins of {first}", summary.margins, "margin; the height is the number of games"),
    )


def _by_turn(rounds: Rounds) -> tuple[str, ...]:
    """Points and open turns by round."""
    points, open_turns = rounds.lines("points"), rounds.lines("open")
    if not any(line.dots for line in points):
        return ()
    return (
        chart("Points at the end of each round", "round", "points", points),
        chart("Open turns", "round", "open turns a turn", open_turns),
    )


def _with_rows(summary: Summary) -> list[tuple[Any, tuple[str, list[tuple[float, float]]]]]:
    return list(zip(summary.rows(), summary.times().items(), strict=True))


def _time(seconds: float) -> str:
    return time_text(Estimate(seconds), 0)


def _closest(summary: Summary) -> Section:
    """The closest game of the first policy: the seats, the last position, and the record."""
    match, closest = summary.match, summary.closest
    assert closest is not None
    *_, last = replay(closest.record, find_game)
    seats = match.seats(closest.number % len(match.line_up))
    items = tuple(f"seat {seat}: {match.line_up[place]}" for seat, place in enumerate(seats))
    told = ("Its record, which 'kdenv replay FILE --html game.html' shows move by move, is below the drawing.",)
    return Section(f"The closest game (number {closest.number})", told, items=items, drawing=last.svg(), text=closest.record)
