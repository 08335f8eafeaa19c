"""A run of `kdenv bench`: its figures, its machine and its versions. It is kept as JSON, to compare later runs with."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kdenv import __version__
from kdenv.bench.measuring import BenchRow, Effort
from kdenv.core.errors import BadRecord
from kdenv.core.files import read_text

_FORMAT = "kdenv bench 1"
_PACKAGES = ("numba", "llvmlite", "numpy", "gymnasium", "pettingzoo", "open_spiel", "pyminion", "pgx")


@dataclass
class BenchRun:
    """The figures of one run. `about` has the machine and the versions."""

    quick: bool
    about: dict[str, str]
    rows: list[BenchRow] = field(default_factory=list)

    @property
    def missed(self) -> list[BenchRow]:
        """The figures that miss their floors."""
        return [row for row in self.rows if row.floor is not None and not row.ratio >= 1]

    def as_json(self) -> str:
        return json.dumps({"format": _FORMAT, **asdict(self), "rows": [row._asdict() for row in self.rows]}, indent=1)

    def compared(self, earlier: BenchRun) -> Iterator[str]:
        """Yield a line for every figure of both runs, with its ratio, after lines for the differences of machine and versions."""
        for name, value in self.about.items():
            if name != "date" and earlier.about.get(name, "-") != value:
                yield f"({name}: {earlier.about.get(name, '-')} then, {value} now)"
        before = {row.what: row.figure for row in earlier.rows}
        for row in self.rows:
            old = before.get(row.what)
            if old and row.figure:
                yield f"{row.what:78} {row.figure / old if not row.is_time else old / row.figure:>8.2f} x"


def new_run(quick: bool, effort: Effort) -> BenchRun:
    """A run without figures, of this machine and its installed packages."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    about = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "clock": "real time" if effort.is_real_time else "CPU time",
        "system": platform.platform(terse=True),
        "kdenv": __version__,
        "python": platform.python_version(),
        **versions,
    }
    return BenchRun(quick, about)


def read_run(path: Path) -> BenchRun:
    """The run in this file; BadRecord if it has none."""
    text = read_text(path)
    try:
        found = json.loads(text)
        if found["format"] != _FORMAT:
            raise KeyError("format")
        return BenchRun(bool(found["quick"]), dict(found["about"]), [_row(each) for each in found["rows"]])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadRecord(f"{path} is not a run of kdenv bench; write one with kdenv bench --json {path.name}") from None


def _row(found: dict[str, Any]) -> BenchRow:
    floor = found["floor"]
    return BenchRow(str(found["what"]), float(found["figure"]), str(found["unit"]), None if floor is None else float(floor))


def _processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
