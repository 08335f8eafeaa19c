"""Does kdenv run without what only Linux, or only POSIX, has? Each such thing is asked in one place (docs/platforms.md).

Here these things are taken away, and the other way is run; the workflow of the forge runs all tests on macOS and Windows.
"""

import ast
import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from kdenv.arena import workers
from kdenv.bench import run
from kdenv.cli import interrupts
from kdenv.core.threads import cores

pytestmark = pytest.mark.cold

ROOT = Path(__file__).parents[2]

# What not all systems have -> the files that may ask for it, because they have another way.
DOORS = {
    "os.sched_getaffinity": {"kdenv/core/threads.py"},
    "os.geteuid": {"kdenv/compiler/permissions.py"},
    "grp": {"kdenv/compiler/permissions.py"},
    "pwd": {"kdenv/compiler/permissions.py"},
    "signal.pthread_sigmask": {"kdenv/arena/workers.py"},
    "resource": {"kdenv/server/serve.py"},
    "sys.platform": {"kdenv/server/serve.py"},
    "/proc": {"kdenv/bench/run.py"},
}
ATTRIBUTES = {
    "os": {"sched_getaffinity", "getuid", "geteuid", "getgid", "fork", "forkpty", "kill", "killpg", "setsid", "nice", "name"},
    "signal": {"pthread_sigmask", "SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "alarm", "setitimer", "sigwait", "pause"},
    "sys": {"platform"},
}
MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "msvcrt", "winreg", "curses", "readline"}


def asked_for(source: str) -> Iterator[str]:
    """What a file asks for that not all systems have."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in ATTRIBUTES.get(node.value.id, ()):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield str(node.module)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"/(proc|dev|sys|tmp)\b", node.value):
            yield "/" + node.value.split("/")[1]


def test_what_not_all_systems_have_is_asked_for_in_one_place() -> None:
    found: dict[str, set[str]] = {}
    for folder in ("kdenv", "baselines", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.parent == ROOT / "baselines" / "tools":  # for developers, on Linux and macOS
                continue
            for what in asked_for(path.read_text(encoding="utf-8")):
                found.setdefault(what, set()).add(path.relative_to(ROOT).as_posix())
    assert found == DOORS


def test_what_not_all_systems_have_is_noticed() -> None:
    source = "import pty, os, signal\nos.fork()\nsignal.alarm(1)\nopen('/proc/self')\nfrom resource import getrusage\n"
    assert sorted(asked_for(source)) == ["/proc", "os.fork", "pty", "resource", "signal.alarm"]


# All of it taken away at once, in every process: the same games come out.

WITHOUT = """
import os, signal, sys
import platformdirs  # on Windows it asks Windows; here it needs the number of the user
for name in ("sched_getaffinity", "getuid", "geteuid", "getgroups", "getegid", "chown", "fork", "killpg"):
    delattr(os, name)
for name in ("pthread_sigmask", "SIGHUP"):  # not SIGKILL: multiprocessing itself needs it here
    delattr(signal, name)
for name in ("pty", "resource", "termios", "tty", "readline", "grp", "pwd"):
    sys.modules[name] = None
"""
MATCH = """
import signal, sys
from kdenv.arena import Match, play
if __name__ == "__main__":
    results = []
    assert play(Match("kingdomino", ["random", "full_greedy"], games=4, seed=1, options={"size": 3}), processes=2, on_result=results.append)
    print(hasattr(signal, "SIGHUP"), sorted((result.number, result.scores, result.turns) for result in results))
"""


def test_a_match_in_two_processes_is_the_same_without_what_only_posix_has(tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")  # every process of Python imports this first
    script = tmp_path / "script.py"
    script.write_text(MATCH, encoding="utf-8")
    said = []
    for paths in ([ROOT], [tmp_path / "without", ROOT]):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.partition(" "))
    assert [has for has, _, _ in said] == [str(hasattr(signal, "SIGHUP")), "False"]
    assert said[0][2] == said[1][2] != ""


# One by one


def test_cores_are_counted_where_a_process_cannot_be_bound_to_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cores() == os.cpu_count()


def test_ctrl_c_comes_at_once_where_signals_cannot_be_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), workers._interrupts_delayed():
        signal.raise_signal(signal.SIGINT)
        done.append("still in the block")
    assert done == []


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked on this system")
def test_ctrl_c_waits_where_signals_can_be_blocked() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), workers._interrupts_delayed():
        signal.raise_signal(signal.SIGINT)
        done.append("still in the block")
    assert done == ["still in the block"]


def test_a_command_can_be_ended_where_terminals_send_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    with pytest.raises(interrupts.Ended) as ended, interrupts.all_signals():
        signal.raise_signal(signal.SIGTERM)
    assert interrupts.exit_code(ended.value) == 128 + signal.SIGTERM


def test_the_processor_has_a_name_where_there_is_no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*arguments: object, **options: object) -> str:
        raise FileNotFoundError("/proc/cpuinfo")

    monkeypatch.setattr(run.Path, "read_text", missing)
    assert run._processor() != ""


def test_the_server_ends_where_a_loop_takes_no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    serve = pytest.importorskip("kdenv.server.serve")
    monkeypatch.setattr(serve, "sys", SimpleNamespace(platform="win32"))
    before = {number: signal.getsignal(number) for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))}

    async def serve_until_stopped() -> None:
        stop = asyncio.Event()
        serve._on_signals(stop)
        signal.raise_signal(signal.SIGTERM)
        await asyncio.wait_for(stop.wait(), 30)

    try:
        asyncio.run(serve_until_stopped())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
