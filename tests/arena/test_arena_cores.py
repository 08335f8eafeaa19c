"""Does every process of a match use one thread, and is it told when searches share cores?"""

import json
import os
import warnings
from pathlib import Path

import pytest
from matches import HERE, run_script

from kdenv.arena import Match, cores, play
from kdenv.arena.cores import usual_processes, warn_of_shared_cores
from kdenv.cli import main
from kdenv.core.errors import KdenvWarning
from kdenv.core.threads import cores as usable_cores
from kdenv.core.threads import one_thread_each

pytestmark = pytest.mark.cold

COUNTING = """
import json, os, sys
import numpy as np
from kdenv.arena import Match, play
from kdenv.policies import Policy

class Counting(Policy):
    "It makes numpy and torch work, and notes how many threads there are then."
    def act(self, view):
        import torch
        np.ones((600, 600)) @ np.ones((600, 600))
        torch.ones(600, 600) @ torch.ones(600, 600)
        found = {"torch": torch.get_num_threads(), "all": len(os.listdir("/proc/self/task"))}
        with open(sys.argv[1], "a") as file:
            file.write(json.dumps(found) + "\\n")
        return view.legal()[0]

if __name__ == "__main__":
    play(Match("kingdomino", ["random", Counting()], games=4, options={"size": 3}), processes=2, on_result=lambda result: None)
    print(os.environ["OMP_NUM_THREADS"])
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="how to count the threads of a process is known on Linux only")
def test_processes_that_play_use_one_thread_each(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setitem(HERE, name, "6")
    done = run_script(tmp_path, COUNTING, str(tmp_path / "found"))
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "found").read_text().splitlines()]
    assert len(found) > 8
    assert {each["torch"] for each in found} == {1}
    assert max(each["all"] for each in found) <= 3  # the one that plays, the one that waits for the parent to end, and one of torch's
    assert done.stdout == "6\n"  # the process that starts them keeps its own setting


def test_the_setting_of_the_process_that_starts_others_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with one_thread_each():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


# Searches that share cores


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "cores", lambda: 4)


@pytest.mark.parametrize(
    "rival, processes, what",
    [
        ("mce(seconds=0.05)", 4, ""),
        ("mce(seconds=0.05)", 5, "5 searches will run at the same time on 4 cores, so seconds buy less .*; play with 4 processes$"),
        ("uct(game_seconds=5)", 8, "8 searches will run"),
        ("uct(turn_seconds=5)", 8, "8 searches will run"),
        ("mce(seconds=0.05, threads=2)", 2, ""),
        ("mce(seconds=0.05, threads=3)", 2, "2 searches of 3 threads will run .*; play with 1 process$"),
        ("mce(seconds=0.05, threads=8)", 1, "1 search of 8 threads will run at the same time on 4 cores, .*; give threads=4$"),
        ("mce(playouts=100, threads=8)", 8, ""),  # takes longer, but searches as much
        ("full_greedy", 100, ""),
    ],
)
def test_it_is_told_when_searches_share_cores(four_cores, rival: str, processes: int, what: str) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn_of_shared_cores(Match("kingdomino", ["random", rival], 10), processes)
    assert len(told) == bool(what)
    if what:
        with pytest.warns(KdenvWarning, match=what):
            warn_of_shared_cores(Match("kingdomino", ["random", rival], 10), processes)


def test_it_is_told_before_anything_is_played(four_cores, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kdenv.arena.workers._Workers", lambda *_: pytest.fail("it began"))
    with pytest.warns(KdenvWarning, match="play with 4 processes"), pytest.raises(pytest.fail.Exception):
        play(Match("kingdomino", ["random", "mce(seconds=0.01)"], 10), processes=9, on_result=lambda result: None)


def test_the_command_tells_it_in_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(cores, "cores", lambda: 1)
    command = ["match", "kingdomino", "random", "mce(seconds=0.001, threads=2)", "--option", "size=3", "--games", "1", "--processes", "1"]
    with warnings.catch_warnings():
        warnings.simplefilter("always", KdenvWarning)  # in tests it would be an error
        assert main(command) == 0
    sentence = "1 search of 2 threads will run at the same time on 1 core, so seconds buy less than on cores of their own; give threads=1"
    assert f"kdenv: {sentence}\n" in capsys.readouterr().err


@pytest.mark.parametrize("rival, processes", [("random", 4), ("mce(playouts=5, threads=2)", 2), ("mce(playouts=5, threads=9)", 1)])
def test_usually_each_thread_of_a_search_has_a_core(four_cores, rival: str, processes: int) -> None:
    assert usual_processes(Match("kingdomino", ["random", rival], 10)) == processes


def test_only_cores_that_this_process_may_use_are_counted() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
