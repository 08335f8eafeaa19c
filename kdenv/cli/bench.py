"""`kdenv bench`: measures the speed of everything on this machine."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli.arguments import Commands
from kdenv.core.errors import BadOption

if TYPE_CHECKING:
    from kdenv.bench.run import BenchRun

_PRINTED = "-"


def add(commands: Commands) -> None:
    parser = commands.add(
        "bench",
        _run,
        "measure the speed of everything on this machine, beside that of other packages",
        "kdenv bench kingdomino --quick --json today.json",
    )
    parser.add_argument("game", nargs="?", help="measure only this game (default: all games)")
    parser.add_argument("--quick", action="store_true", help="run every measurement only for a moment; the figures mean little")
    parser.add_argument("--processor-time", action="store_true", help="measure CPU time, without threads; for machines that are shared")
    parser.add_argument("--check", action="store_true", help="end with exit code 1 if a figure misses its floor")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="print how many times as good each figure is as in this earlier run")
    parser.add_argument(
        "--json", nargs="?", const=_PRINTED, metavar="FILE", help="write the run to this file as JSON; without FILE, print only that"
    )


def _run(parsed: argparse.Namespace) -> int:
    from kdenv.bench import bench
    from kdenv.bench.measuring import QUICK, USUAL
    from kdenv.bench.run import new_run, read_run
    from kdenv.games import find_game, names

    if parsed.check and parsed.quick:
        raise BadOption("--check needs figures that were measured for long enough; leave --quick out")
    if parsed.json in names():
        raise BadOption(f"--json {parsed.json} would write to a file of this name; write kdenv bench {parsed.json} --json")
    games = [find_game(name) for name in ([parsed.game] if parsed.game is not None else names())]
    earlier = None if parsed.compare is None else read_run(parsed.compare)
    effort = QUICK if parsed.quick else USUAL
    if parsed.processor_time:
        effort = effort._replace(clock=time.process_time)
    run = new_run(parsed.quick, effort)
    if earlier is not None and earlier.quick != run.quick:
        raise BadOption(f"{parsed.compare} is of a run {'with' if earlier.quick else 'without'} --quick, so this run must be one, too")
    if parsed.json not in (None, _PRINTED):
        _write(Path(parsed.json), run)  # a file that cannot be written is noticed before anything is measured
    if parsed.json != _PRINTED:
        print(", ".join(f"{name} {value}" for name, value in run.about.items()))
    for row in bench.rows(games, effort):
        run.rows.append(row)
        if parsed.json != _PRINTED:
            print(row, flush=True)
    if parsed.json == _PRINTED:
        print(run.as_json())
    else:
        _conclude(run, earlier, None if parsed.json is None else Path(parsed.json))
    return int(parsed.check and bool(run.missed))


def _conclude(run: BenchRun, earlier: BenchRun | None, path: Path | None) -> None:
    """Print what follows the figures, and write the run to a file if there is a path."""
    if path is not None:
        _write(path, run)
        print(f"\nthe run is in {path}")
    if earlier is not None:
        print(f"\ntimes as good as on {earlier.about.get('date', 'another day')}:", *run.compared(earlier), sep="\n")
    if run.quick:
        print("(quick: every figure was measured only for a moment and means little; figures are not compared with their floors)")
    elif run.missed:
        print(f"\n{len(run.missed)} of {sum(row.floor is not None for row in run.rows)} floors are missed:")
        print(*run.missed, sep="\n")


def _write(path: Path, run: BenchRun) -> None:
    path.write_text(run.as_json() + "\n", encoding="utf-8")
