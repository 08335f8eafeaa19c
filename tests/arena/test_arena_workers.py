"""Do many games in processes come through: scripts without a guard, killed processes, killed parents, policies that hang or fail?"""

import contextlib
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from matches import GREEDY_V_RANDOM, HERE, results_of, run_script, without_time

from kdenv.arena import Match, Result, ResultsFile, play, workers
from kdenv.cli import main

pytestmark = pytest.mark.cold

posix = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="SIGKILL is known to POSIX only")
linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="how to find the children of a process is known on Linux only")

UNGUARDED = """
from kdenv.arena import Match, play
play(Match("kingdomino", ["random"] * 4, games=8), processes=2, on_result=print)
"""
GAME_ADDED_TOO_LATE = """
import kdenv, three_shells
from kdenv.arena import Match, play
if __name__ == "__main__":
    kdenv.add_game(three_shells.GAME)
    play(Match("three_shells", ["bold", "random"], games=8), processes=2, on_result=print)
"""


@pytest.mark.parametrize("script", [UNGUARDED, GAME_ADDED_TOO_LATE])
def test_processes_that_cannot_start_are_not_tried_for_ever(tmp_path, script: str) -> None:
    """Processes import the script that starts them, but not what is under its guard."""
    done = run_script(tmp_path, script)
    assert done.returncode == 1
    assert "BadOption: the processes that play cannot start" in done.stderr


def test_processes_know_a_game_that_a_script_adds_when_it_is_imported(tmp_path) -> None:
    add = "kdenv.add_game(three_shells.GAME)"
    done = run_script(tmp_path, GAME_ADDED_TOO_LATE.replace(f"    {add}\n", "").replace("if __name__", f"{add}\nif __name__"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Result(") == 8


# Policies that hang, fail or kill. The script adds a policy that does something in game 5, and takes the rest from the command line.

MISBEHAVING = """
import itertools, os, signal, sys, time
from kdenv.arena import workers
from kdenv.cli import main
from kdenv.core.errors import NotSupported
from kdenv.policies import Policy, named, param, policy

workers._COMPILING = 2.0
resets = itertools.count()

@named("misbehaving")
class Misbehaving(Policy):
    "It misbehaves."
    when: str = param("when it begins to", default="later", kw_only=False)
    def reset(self, seed=0):
        super().reset(seed)
        self.memory.is_bad = next(resets) > 4  # one trial game and a few games are played first
    def act(self, view):
        if self.memory.is_bad or self.when == "at_once":
            MISBEHAVIOUR
        return view.legal()[0]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
SEEDS_OF_GAME_7 = """
from kdenv.arena import Match, play_game

SEEDS = []
class Noting(Policy):
    def reset(self, seed=0):
        super().reset(seed)
        SEEDS.append(seed)
    def act(self, view):
        return view.legal()[0]
play_game(Match("kingdomino", ["random", "random"], 40, 9, {"size": "3"}), 7, [policy("random"), Noting()])
"""
COMMAND = ("match", "kingdomino", "random", "misbehaving", "--option", "size=3", "--games", "40", "--seed", "9")


def misbehave(folder: Path, how: str, *arguments: str) -> tuple[str, str]:
    """The output of a match, and its last sentence, when a policy misbehaves after some games."""
    done = run_script(folder, MISBEHAVING.replace("MISBEHAVIOUR", how), *COMMAND, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    return done.stdout, done.stderr


WHERE = r"kdenv: misbehaving in seat \d of game \d+ \(kingdomino, seed 9\) "


@pytest.mark.parametrize(
    "how, what",
    [
        ("raise NotSupported('no search of 2000 turns')", WHERE + "cannot go on: no search of 2000 turns"),
        ("return 2.0 ** 2000", WHERE + r"cannot go on: OverflowError: .* \(script\.py:\d+, in act\)"),
        ("return 999", WHERE + r"cannot go on: action 999 .*is not legal in kingdomino position .*; legal: "),
    ],
)
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_policy_that_fails_ends_the_match_with_a_sentence(tmp_path, how: str, what: str, processes: str) -> None:
    file = tmp_path / "match.jsonl"
    out, err = misbehave(tmp_path, how, "--processes", processes, "--out", str(file))
    assert re.match(what, err)
    finished = len(file.read_text().splitlines()) - 1
    assert finished >= 2
    assert f": {finished} finished\n" in out


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_policy_that_never_answers_ends_a_match_that_has_a_limit(tmp_path, processes: str) -> None:
    out, err = misbehave(tmp_path, "time.sleep(1000)", "--processes", processes, "--move-limit", "0.5")
    assert re.match(WHERE + r"did not decide within the move limit of 0.5 s\n", err)
    assert " finished\n" in out


def test_a_policy_that_never_answers_at_all_is_noticed_too(tmp_path) -> None:
    script = MISBEHAVING.replace("MISBEHAVIOUR", "time.sleep(1000)")
    arguments = [*COMMAND[:3], "misbehaving(at_once)", *COMMAND[4:], "--move-limit", "0.5"]
    done = run_script(tmp_path, script, *arguments)
    what = "misbehaving(at_once) in seat 1 of the trial game (kingdomino, seed 9) did not decide within the move limit of 0.5 s"
    assert (done.returncode, done.stderr) == (2, f"kdenv: {what}\n")


@posix
def test_a_game_that_kills_every_process_is_named_after_three_tries(tmp_path) -> None:
    # Only game 7 kills: a process that replaces another goes on with the others, so the seed tells which game it is.
    script = MISBEHAVING.replace("next(resets) > 4", "seed == SEEDS[0]")
    script = script.replace('@named("misbehaving")', SEEDS_OF_GAME_7 + '\n@named("misbehaving")')
    file = tmp_path / "match.jsonl"
    done = run_script(
        tmp_path, script.replace("MISBEHAVIOUR", "os.kill(os.getpid(), signal.SIGKILL)"), *COMMAND, "--processes", "2", "--out", str(file)
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr == "kdenv: 3 processes ended in game 7 (kingdomino, seed 9), the last one by SIGKILL (memory may have run out)\n"
    numbers = {int(line.split(":")[1].split(",")[0]) for line in file.read_text().splitlines()[1:]}
    assert set(range(7)) <= numbers
    assert 7 not in numbers


@posix
def test_a_decision_is_late_when_it_has_been_seen_for_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1000, 1004, 1006, 1006.1, 1020, 1021, 1025, 1027])
    monkeypatch.setattr(workers, "time", SimpleNamespace(monotonic=lambda: next(times)))
    worker = workers._Worker(GREEDY_V_RANDOM, True, False)
    worker.process.kill()
    seen = []
    # What the process has written when it is looked at: an odd number during a decision, and the seat.
    for count, seat in ((1, 3), (1, 3), (1, 3), (2, 3), (2, 3), (3, 1), (3, 1), (3, 1)):
        worker._watch[0], worker._watch[1] = count, seat
        seen.append(worker.late(5.0))
    assert seen == [None, None, 3, None, None, None, None, 1]
    worker.process.join()
    worker.pipe.close()
    assert worker.exit_words() == "by SIGKILL (memory may have run out)"


# Processes killed from outside


def results_under_fire(match: Match, processes: int, kills: int, seed: int) -> list[Result]:
    """The results of a match whose processes are killed at random moments, so many of them."""
    dice, results = random.Random(seed), list[Result]()
    moments = sorted(dice.sample(range(match.games - processes), kills))

    def on_result(result: Result) -> None:
        results.append(result)
        while moments and len(results) > moments[0]:
            moments.pop(0)
            time.sleep(dice.random() * 0.005)
            os.kill(dice.choice(multiprocessing.active_children()).pid, signal.SIGKILL)

    assert play(match, processes=processes, on_result=on_result)
    assert not moments
    return sorted(results, key=lambda result: result.number)


@posix
@pytest.mark.parametrize("games, kills, seed", [(24, 3, 1), *(pytest.param(60, 8, seed, marks=pytest.mark.slow) for seed in range(10, 20))])
def test_killed_processes_change_no_result(games: int, kills: int, seed: int) -> None:
    match = Match("kingdomino", GREEDY_V_RANDOM.line_up, games=games, seed=seed)
    assert without_time(results_under_fire(match, 2, kills, seed)) == without_time(results_of(match))
    assert not multiprocessing.active_children()


MATCH = Match("kingdomino", ["full_greedy", "random"], games=400, seed=5)
AS_COMMAND = ["match", MATCH.game, *MATCH.line_up, "--games", str(MATCH.games), "--seed", str(MATCH.seed), "--processes", "2"]


def kill_after(command: list[str], file: Path, lines: int, wait: float, victims: random.Random | None = None) -> list[str]:
    """Start a match, and kill its process once the file has grown by this many lines. Return its children that do not end with it.

    With `victims`, one of its children is killed before, and the match goes on for a moment.
    """
    before = file.read_bytes().count(b"\n") if file.exists() else 0
    command = [sys.executable, *command, "--out", str(file)]
    with subprocess.Popen(command, env=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while not (file.exists() and file.read_bytes().count(b"\n") >= before + lines):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(wait)
        while not (children := Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()):
            time.sleep(0.001)  # the first line of the file is there before any process plays
        if victims is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(victims.choice(children)), signal.SIGKILL)
            time.sleep(victims.random() * 0.1)
            children += Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
    while any(is_running(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.01)
    return [child for child in children if is_running(child)]


def is_running(pid: str) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@linux
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_match_killed_again_and_again_ends_as_one_that_was_not(tmp_path, capsys, kills: int) -> None:
    file, dice = tmp_path / "match.jsonl", random.Random(kills)
    for _ in range(kills):
        assert kill_after(["-m", "kdenv", *AS_COMMAND], file, dice.randrange(1, 12), dice.random() * 0.02) == []
    assert main([*AS_COMMAND, "--out", str(file)]) == 0
    with ResultsFile(file, MATCH) as kept:
        results = sorted(kept.results(), key=lambda result: result.number)
    assert without_time(results) == without_time(results_of(MATCH))


CHEAP = Match("kingdomino", ["full_greedy", "random"], games=40_000, seed=6, options={"size": "3"})


@linux
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_whole_games_whose_processes_and_parents_are_killed_are_those_of_a_quiet_run(tmp_path, capsys, kills: int) -> None:
    """At each of these random moments a process that plays is killed, and a little later its parent. Batches are under way then."""
    file, dice = tmp_path / "match.jsonl", random.Random(kills)
    command = ["match", CHEAP.game, *CHEAP.line_up, "--option", "size=3", "--games", str(CHEAP.games), "--seed", "6", "--processes", "2"]
    for _ in range(kills):
        assert kill_after(["-m", "kdenv", *command], file, dice.randrange(1, 200), dice.random() * 0.1, dice) == []
    with ResultsFile(file, CHEAP) as kept:
        last = max(result.number for result in kept.results())
    command[command.index("--games") + 1] = str(max(1400, last + 1))
    assert main([*command, "--out", str(file)]) == 0
    capsys.readouterr()
    expected = Match(CHEAP.game, CHEAP.line_up, max(1400, last + 1), CHEAP.seed, CHEAP.options)
    with ResultsFile(file, expected) as kept:
        results = sorted(kept.results(), key=lambda result: result.number)
    assert without_time(results) == without_time(results_of(expected))


@linux
def test_a_policy_that_never_answers_does_not_outlive_a_match_that_is_killed(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MISBEHAVING.replace("MISBEHAVIOUR", "time.sleep(1000)"))
    assert kill_after([str(script), *COMMAND, "--processes", "2"], tmp_path / "match.jsonl", 4, 1.0) == []


# Compiling

COMPILE = """
import os, sys
import numba.core.event
from kdenv.arena import Match, play

class Listener(numba.core.event.Listener):
    def on_start(self, event):
        print("compiling", os.getpid(), event.data["dispatcher"].py_func.__qualname__, file=sys.stderr, flush=True)
    def on_end(self, event): ...

numba.core.event.register("numba:compile", Listener())
if __name__ == "__main__":
    assert play(Match("dominoes", ["greedy", "random"] * 2, games=12), processes=3, on_result=lambda result: None)
"""


def test_processes_on_an_empty_cache_compile_everything_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(HERE, "KDENV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setitem(HERE, "TMPDIR", str(tmp_path))  # machine code that others keep in the shared temporary folder must not be found
    done = run_script(tmp_path, COMPILE)
    assert done.returncode == 0, done.stderr
    compiled = [line.split()[1:] for line in done.stderr.splitlines() if line.startswith("compiling ")]
    assert len(compiled) > 5
    assert len({process for process, _ in compiled}) == 1, compiled
