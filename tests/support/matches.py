"""Matches for the tests of the arena, and what is compared of their results."""

import os
import subprocess
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

from kdenv.arena import Match, Result, play

ROOT = Path(__file__).parents[2]
HERE = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'examples'}"}
GREEDY_V_RANDOM = Match("kingdomino", ["full_greedy", "random", "random", "random"], games=8, seed=1)
SMALL = Match("kingdomino", ["full_greedy", "random"], games=6, seed=2, options={"size": 3})


def results_of(match: Match, **how) -> list[Result]:
    """The results of a match, by number."""
    results: list[Result] = []
    assert play(match, on_result=results.append, processes=how.pop("processes", 1), **how)
    return sorted(results, key=lambda result: result.number)


@cache
def small_results() -> list[Result]:
    """The results of the match SMALL, which nobody may change."""
    return results_of(SMALL)


def without_time(results: list[Result]) -> list[dict]:
    """Results as they are whenever these games are played."""
    return [{**asdict(result), "seconds": None, "pace": None} for result in results]


def run_script(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own, as users do whose policies the processes of a match must know."""
    script = folder / "script.py"
    script.write_text(text)
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, cwd=folder, env=HERE, capture_output=True, text=True, timeout=240, check=False)
