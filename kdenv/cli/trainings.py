"""`kdenv trainings`: draws the curves of several trainings in one picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from kdenv.cli import files
from kdenv.cli.arguments import Commands
from kdenv.core.errors import BadOption


def add(commands: Commands) -> None:
    parser = commands.add(
        "trainings",
        _run,
        "draw the curves of several trainings in one picture",
        "kdenv trainings training/kingdomino/curve.csv training/dominoes/curve.csv --draw curves.svg",
    )
    parser.add_argument("curves", nargs="+", type=Path, metavar="CSV", help="the curves; each is named by its file or folder")
    parser.add_argument("--draw", type=Path, required=True, metavar="FILE", help="the picture to write, an .svg")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.training.curve import read_curve, together

    if parsed.draw.suffix != ".svg":
        raise BadOption(f"--draw {parsed.draw} is not possible; the picture is an .svg")
    curves = {path.parent.name if path.stem == "curve" else path.stem: read_curve(path) for path in parsed.curves}
    files.write(parsed.draw, together(curves, "Strength by time of training, 95 % intervals"))
    print(f"the picture is {parsed.draw}")
