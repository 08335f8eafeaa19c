"""New processes for tests: what some work results in there, and which functions had to be compiled for it.

numba says itself what it compiles, by an event.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

PROCESS = """
import json, numba.core.event
with numba.core.event.install_recorder("numba:compile") as recorder:
    WORK
compiled = [record.data["dispatcher"].py_func.__qualname__ for _, record in recorder.buffer if record.is_start]
print(json.dumps([result, compiled]))
"""


class Report(NamedTuple):
    result: Any
    compiled: list[str]


def report_of(work: str, folder: Path, environment: Mapping[str, str]) -> Report:
    """What a new process makes of this work, which ends with `result = ...` and is indented by four."""
    code = PROCESS.replace("    WORK", "    " + work.strip())
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=dict(environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    return Report(*json.loads(done.stdout))
