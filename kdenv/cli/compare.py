"""`kdenv compare`: compares two policies until it is known which one is stronger."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli.arguments import Commands, add_against, add_game, add_luck, add_players, add_playing, luck_of, options, whole
from kdenv.cli.interrupts import print_end
from kdenv.cli.reports import add_report, check_report, show_and_report
from kdenv.cli.seeds import chosen, kept_in_files
from kdenv.cli.terminal import ProgressLine
from kdenv.core.errors import BadOption, shown

if TYPE_CHECKING:
    from kdenv.arena import Comparison, CurveBudget


def add(commands: Commands) -> None:
    compare = commands.add(
        "compare",
        _compare,
        "find out which of two policies is stronger, on the same deals and in the same seats, and stop when it is known",
        "kdenv compare kingdomino full_greedy gprd",
        "kdenv compare kingdomino full_greedy gprd --against random --players 4 --smallest 2",
        "kdenv compare kingdomino mce uct --at playouts=10,playouts=20 --deals 20",
    )
    add_game(compare)
    compare.add_argument("a", help="a policy, as 'kdenv policies GAME' shows them")
    compare.add_argument("b", help="another one")
    add_against(compare, "none, and A and B share a table; with opponents they never meet")
    add_players(compare, "the number of seats (default: one more than opponents are named; without them 2, if the game has it)")
    compare.add_argument("--at", metavar="B,...", help="compare searches that name no budget at each of these, such as 0.01s,0.1s")
    of_error = "the largest probability of a wrong answer; of any wrong answer, if --at asks for several (default: 0.05)"
    compare.add_argument("--error", type=float, default=0.05, metavar="P", help=of_error)
    ends = compare.add_mutually_exclusive_group()
    ends.add_argument(
        "--smallest", type=float, default=1.0, metavar="POINTS", help="the smallest difference of interest, in points a game (default: 1)"
    )
    what = "end when A minus B is known to be more than LOW or less than HIGH points a game; -1 1 finds out which is at most 1 point weaker"
    ends.add_argument("--bounds", type=float, nargs=2, metavar=("LOW", "HIGH"), help=what)
    compare.add_argument("--deals", type=whole(1), metavar="N", help="end after N deals without an answer (default: 20000)")
    add_playing(compare)
    add_luck(compare)
    add_report(compare)


def _compare(parsed: argparse.Namespace) -> int:
    from kdenv.arena import Comparisons, read_budgets, report

    check_report(parsed.report, parsed.out)
    budgets = [] if parsed.at is None else read_budgets(parsed.at)
    parsed.error /= max(1, len(budgets))  # so that it is that of all answers
    outs = [] if parsed.out is None else [_out(parsed.out, budget) for budget in budgets] or [parsed.out]
    is_given, parsed.seed = parsed.seed is not None, chosen(parsed.seed, kept_in_files(outs))
    if parsed.at is None:
        comparison = _run(parsed, None, parsed.out)
        shown = json.dumps(comparison.as_json()) if parsed.json else str(comparison)
        show_and_report(parsed.report, lambda: report.compare_page([comparison]), lambda: print(shown), not parsed.json)
        return _code(comparison, parsed.out)
    rows = Comparisons([])
    if not (is_given or parsed.json):
        print(f"seed {parsed.seed}", flush=True)
    for budget in budgets:
        out = None if parsed.out is None else _out(parsed.out, budget)
        rows.rows.append(_run(parsed, budget, out))
        if not parsed.json:
            print(rows.line(rows.rows[-1]), flush=True)
        code = _code(rows.rows[-1], out)
        if code:
            break

    def show() -> None:
        if parsed.json:
            print(json.dumps([row.as_json() for row in rows.rows]))
        for sentence in () if parsed.json else rows.notes():
            print(sentence)

    show_and_report(parsed.report, lambda: report.compare_page(rows.rows), show, not parsed.json)
    return code


def _out(path: Path, budget: CurveBudget) -> Path:
    """The file for the games at this budget."""
    try:
        return path.with_name(f"{path.stem}-{budget.text}{path.suffix}")
    except ValueError:  # the path is a folder, or the budget has a slash
        raise BadOption(f"--out {shown(path)} and the budget {shown(budget.text)} make no name of a file") from None


def _run(parsed: argparse.Namespace, budget: CurveBudget | None, out: Path | None) -> Comparison:
    """Compare at this budget, with a line of progress on a terminal."""
    from kdenv.arena import compare
    from kdenv.arena.comparison import MOST_DEALS

    line = ProgressLine()
    start = f"{budget.text}: " if budget is not None else ""

    def on_deal(comparison: Comparison) -> None:
        if line.is_due():
            line.write(start + comparison.progress)

    try:
        return compare(
            parsed.game,
            parsed.a,
            parsed.b,
            against=parsed.against,
            at=budget,
            players=parsed.players,
            options=options(parsed.option),
            seed=parsed.seed,
            error=parsed.error,
            smallest=parsed.smallest,
            bounds=None if parsed.bounds is None else tuple(parsed.bounds),
            deals=parsed.deals or MOST_DEALS,
            processes=parsed.processes,
            move_limit=parsed.move_limit,
            ray=parsed.ray,
            luck=luck_of(parsed),
            out=out,
            on_deal=on_deal,
        )
    finally:
        line.end()


def _code(comparison: Comparison, out: Path | None) -> int:
    """The exit code. If the comparison was ended from outside, print how to resume it."""
    return print_end(f"{comparison.deals} deals", out) if comparison.interrupted else 0
