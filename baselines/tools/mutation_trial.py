"""The plugin of pytest that mutation.py uses: it tries faults, each in a fork of a process that has collected the tests.

First all tests run once, to measure their time and to note the functions of the package that they call. For a fault, the changed
function gets its changed code in the fork. The tests that call the function run there: first those that have found a fault before, then
the cheapest. A change of code that runs while its module is imported is tried in a new process.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

HERE = Path.cwd()
SLOW = float(os.environ["TRIAL_SLOWEST"])  # seconds of the processor; a test that takes longer is left out


class Cost(NamedTuple):
    """The time of a test, in seconds, and the functions that it calls (file and qualified name)."""

    seconds: float
    wall: float
    called: list[list[str]]


class Change(NamedTuple):
    """Function objects, and the code that they get."""

    functions: list[FunctionType]
    code: CodeType


class _TooSlow(BaseException):
    pass


class Calls:
    """Records the functions of the package that are called."""

    def __init__(self) -> None:
        self._codes: dict[int, CodeType] = {}

    def begin(self) -> None:
        sys.settrace(self._note)

    def end(self) -> None:
        sys.settrace(None)

    def _note(self, frame: FrameType, event: str, arg: object) -> None:
        self._codes[id(frame.f_code)] = frame.f_code

    def functions(self) -> list[list[str]]:
        """File and qualified name of each; a function inside another counts as the outer one."""
        here = str(HERE / "kdenv")
        codes = [code for code in self._codes.values() if code.co_filename.startswith(here)]
        names = {(os.path.relpath(code.co_filename, HERE), code.co_qualname.split(".<locals>")[0]) for code in codes}
        return [list(name) for name in names]


_at_import = Calls()


def pytest_configure() -> None:
    _at_import.begin()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    if session.testsfailed:
        raise session.Interrupted("the tests cannot be collected")
    faults = json.loads((HERE / "faults.json").read_text(encoding="utf-8"))
    with os.fdopen(int(os.environ["TRIAL_PIPE"]), "w", encoding="utf-8") as pipe:

        def tell(**what: Any) -> None:
            print(json.dumps(what), file=pipe, flush=True)

        _at_import.end()
        costs = _costs(session.items)
        tell(said=f"{len(costs)} of {len(session.items)} tests, {sum(cost.seconds for cost in costs.values()):.0f} s")
        tests = {item.nodeid: item for item in session.items if item.nodeid in costs}
        kills: Counter[tuple[str, str]] = Counter()
        for number, fault in enumerate(faults):
            path = fault["path"]
            ranked = sorted((-kills[path, test], costs[test].seconds, test) for test in tests)
            by, said = _tried(fault, [tests[test] for *_, test in ranked], costs)
            if by in tests:
                kills[path, by] += 1
            tell(fault=number, by=by, said=said)
    return True


def _costs(items: list[pytest.Item]) -> dict[str, Cost]:
    """The cost of every test that passes in time. Without the compiler it is measured in a fork, so that nothing is cached here."""
    if os.environ["TRIAL_WARM"] == "1":
        return {item.nodeid: cost for item in items if (cost := _cost(item))}
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "w", encoding="utf-8") as pipe:
            json.dump([(item.nodeid, cost) for item in items if (cost := _cost(item))], pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as pipe:
        told = json.load(pipe)
    os.waitpid(child, 0)
    return {test: Cost(*cost) for test, cost in told}


def _cost(item: pytest.Item) -> Cost | None:
    """The cost of a test; None if it fails, is skipped, or is too slow."""
    calls, is_stopped = Calls(), False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal is_stopped
        is_stopped = True
        calls.end()
        raise _TooSlow

    signal.signal(signal.SIGPROF, stop)
    before, start = sum(os.times()[:4]), time.monotonic()
    signal.setitimer(signal.ITIMER_PROF, SLOW)
    calls.begin()
    try:
        passed = _passes(item)
    except BaseException:  # of a test that is stopped, plugins of pytest may make any other error out of _TooSlow
        if not is_stopped:
            raise
        passed = False
    finally:
        calls.end()
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return Cost(sum(os.times()[:4]) - before, time.monotonic() - start, calls.functions()) if passed else None


def _passes(item: pytest.Item) -> bool:
    reports = runtestprotocol(item, log=False, nextitem=None)
    return all(report.passed for report in reports) and any(report.when == "call" for report in reports)


def _tried(fault: dict[str, Any], items: list[pytest.Item], costs: dict[str, Cost]) -> tuple[str | None, str]:
    """The test that fails for a fault (None if there is none), and the number of tests that ran, in words."""
    path, left = HERE / fault["path"], float(os.environ["TRIAL_SECONDS"])
    function = [fault["path"], fault["function"]]
    calling = [item for item in items if function in costs[item.nodeid].called]
    if not calling and fault["function"] != "<module>" and function not in _at_import.functions():
        return None, "no test calls it"
    change = _change(fault) if calling else None
    able = calling if change else items
    chosen = []
    for item in able:
        if costs[item.nodeid].seconds <= left:
            chosen.append(item)
            left -= costs[item.nodeid].seconds
    original = path.read_text(encoding="utf-8")
    path.write_text(fault["source"], encoding="utf-8")  # for the processes that tests start
    try:
        by = _by_fork(change, chosen, costs) if change else _by_process(chosen)
    finally:
        path.write_text(original, encoding="utf-8")
    return by, f"{len(chosen)} of {len(able)} tests{' that call it' if change else ''}"


def _by_process(items: list[pytest.Item]) -> str | None:
    """Try the fault that is on disk in a new process, with --cold, because the tests that were asked for may be cold."""
    environment = {name: value for name, value in os.environ.items() if name != "TRIAL_PIPE"}
    command = [sys.executable, "-m", "pytest", "--cold", "-x", "-q", "-p", "no:cacheprovider", *(item.nodeid for item in items)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False, cwd=HERE)
    return None if run.returncode == 0 else (run.stdout.strip().splitlines() or ["?"])[-2:][0]


def _by_fork(change: Change, items: list[pytest.Item], costs: dict[str, Cost]) -> str | None:
    """Make the change in a fork and run the tests there."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setsid()
        try:
            with os.fdopen(write, "w", encoding="utf-8") as pipe:
                for function in change.functions:
                    function.__code__ = change.code
                _run(items, costs, pipe)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as pipe:
        begun = pipe.read().splitlines()
    os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the test has started
    return None if begun[-1:] == ["passed"] else begun[-1]


def _run(items: list[pytest.Item], costs: dict[str, Cost], pipe: Any) -> None:
    """Run tests until one fails. Write each before it begins, and "passed" after the last. A test that takes too long ends the process."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for item in items:
        cost = costs[item.nodeid]
        signal.setitimer(signal.ITIMER_PROF, 3.0 + 4 * cost.seconds)
        signal.setitimer(signal.ITIMER_REAL, 30.0 + 5 * cost.wall)
        print(item.nodeid, file=pipe, flush=True)
        if not _passes(item):
            return
    print("passed", file=pipe, flush=True)


def _change(fault: dict[str, Any]) -> Change | None:
    """The functions to change for a fault, and their code; None if two functions have this name."""
    path = str(HERE / fault["path"])
    codes = list(_codes(compile(fault["source"], path, "exec", dont_inherit=True), fault["function"]))
    functions = [each for each in gc.get_objects() if isinstance(each, FunctionType) and each.__code__.co_filename == path]
    changed = [each for each in functions if each.__code__.co_qualname == fault["function"]]
    return Change(changed, codes[0]) if len(codes) == 1 and changed else None


def _codes(code: CodeType, name: str) -> Iterator[CodeType]:
    """The code of all functions of this qualified name."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_qualname == name:
                yield inner
            elif "<locals>" not in inner.co_qualname:
                yield from _codes(inner, name)
