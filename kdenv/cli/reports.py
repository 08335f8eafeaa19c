"""The option --report of commands that find something out: an HTML page beside what is printed."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from kdenv.cli import files
from kdenv.core.errors import BadOption


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", type=Path, metavar="FILE", help="write an HTML page with the results and pictures of them to this file")


def check_report(path: Path | None, results: Path | None) -> None:
    """Raise an error if the report could not be written to this path, before anything is played."""
    if path is None:
        return
    if results is not None and path.resolve() == results.resolve():
        raise BadOption(f"--report and --out are both {path}; give them different files")
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    path.open("ab").close()
    if is_new:
        path.unlink()


def show_and_report(path: Path | None, page: Callable[[], str], show: Callable[[], None], is_told: bool) -> None:
    """Write the report if there is a path for it, and show what was found, even if one of them fails."""
    try:
        if path is not None:
            files.write(path, page())
    finally:
        show()
    if path is not None and is_told:
        print(f"the report is in {path}")
