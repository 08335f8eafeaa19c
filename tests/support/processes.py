"""New processes for tests: what some work results in there, which functions had to be compiled for it, and what a terminal shows.

numba says itself what it compiles, by an event.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
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
    """The result of this work in a new process. The work ends with `result = ...` and is indented by four."""
    code = PROCESS.replace("    WORK", "    " + work.strip())
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=dict(environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    return Report(*json.loads(done.stdout))


def shown_in_terminal(command: list[str], environment: Mapping[str, str], answers: Iterable[str] = (), question: bytes = b"") -> bytes:
    """What a command shows in a terminal, with these answers where it ends with the question. It must end with exit code 0."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(environment))
    os.close(theirs)
    left, shown = iter(answers), b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # how Linux says that nobody has the terminal open any more
            break
        if not piece:
            break
        shown += piece
        if question and shown.endswith(question):
            os.write(ours, next(left).encode() + b"\n")
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return shown
