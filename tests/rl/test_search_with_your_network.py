"""Does the example with a torch network learn, search many games at once, and play as "module:Name" in the processes of a match?"""

import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from clocks import Clock, Unending
from matches import run_script

from kdenv.policies import policy
from kdenv.policies.text import value

example = pytest.importorskip("search_with_your_network")
MINE = value._classes.pop("mine")  # other tests list all policies


@pytest.fixture(autouse=True)
def mine_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the policy of the example has the name that it gives itself."""
    monkeypatch.setitem(value._classes, "mine", MINE)


def test_its_policy_is_found_by_the_module_and_keeps_its_parameters() -> None:
    text = f"search_with_your_network:Mine(within={example.SEARCH})"
    found = policy(text)
    assert found == policy(str(found))
    assert found.within == policy(example.SEARCH)  # type: ignore[attr-defined]
    assert policy(found.to_json()) == found


def test_it_does_not_count_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, calls = Clock(), list[float]()
    monkeypatch.setattr(example, "time", SimpleNamespace(process_time=lambda: clock.now))
    games = Unending(lambda: clock.compile_first(calls))
    example.learn(example.new_network(3), games, 10)
    assert len(calls) == 1 + 10


@pytest.mark.cold
def test_it_learns_searches_and_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["search_with_your_network.py", "--seconds", "5", "--games", "40"])
    example.main()
    told = capsys.readouterr().out
    games, simulations, calls, rows = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", told.splitlines()[0]))
    assert (games, simulations, calls) == (256, 256 * 32, 32)
    assert rows >= 128
    assert told.count("minus greedy: ") == 2
    # In processes, which import the module anew and read the network from its file.
    script = """
from kdenv.arena import Match, Summary, play
mine = "search_with_your_network:Mine(within=mce(leaf=network, score=goal, turns=2, playouts=16))"
if __name__ == "__main__":
    summary = Summary(Match("dominoes", [mine, "random", mine, "random"], games=40, seed=1, options={"mode": "round"}))
    play(summary.match, processes=2, on_result=summary.add)
    print(summary)
"""
    shutil.copy(str(example.__file__), tmp_path)
    done = run_script(tmp_path, script)
    assert done.returncode == 0, done.stderr
    assert re.search(r"search_with_your_network:Mine\(.*\)  x2", done.stdout)
