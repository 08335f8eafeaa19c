"""Does `kdenv bench` keep, compare and judge its figures? What is measured is not measured here, but in test_commands.py."""

import json
import math
import time

import pytest

from kdenv.bench import bench, peers
from kdenv.bench.measuring import QUICK, BenchRow, Effort, per_second, times
from kdenv.bench.run import read_run
from kdenv.cli import main
from kdenv.games import find_game

GOOD = [BenchRow("games", 1200.0, "games/s", 1000.0), BenchRow("a decision", 5.0, "µs", 20.0), BenchRow("a ratio", 3.0, "x")]
BAD = [
    BenchRow("games", 900.0, "games/s", 1000.0),
    BenchRow("a decision", 25.0, "µs", 20.0),
    BenchRow("a ratio", 1.5, "x"),
    BenchRow("new", 1.0, "x"),
]


def runs(rows: list[BenchRow], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of a run that measures these figures."""
    monkeypatch.setattr(bench, "rows", lambda games, effort: iter(rows))
    return main(["bench", *arguments])


@pytest.mark.parametrize("rows, code", [(GOOD, 0), (BAD, 1), ([BenchRow("games", math.nan, "games/s", 1000.0)], 1), ([], 0)])
def test_check_ends_with_1_if_a_floor_is_missed(rows: list[BenchRow], code: int, monkeypatch, capsys) -> None:
    assert runs(rows, monkeypatch, "--check") == code
    assert ("floors are missed" in capsys.readouterr().out) == bool(code)
    assert runs(rows, monkeypatch) == 0  # without --check they are only told


def test_the_missed_floors_are_listed(monkeypatch, capsys) -> None:
    runs(BAD, monkeypatch)
    *_, headline, one, two = capsys.readouterr().out.splitlines()
    assert headline == "2 of 2 floors are missed:"
    assert (one.split(), two.split()) == (
        ["games", "900", "games/s", "floor", "1,000:", "0.90", "x", "MISSED"],
        ["a", "decision", "25.00", "µs", "most", "20:", "0.80", "x", "MISSED"],
    )


def test_a_run_is_kept_and_compared_with(tmp_path, monkeypatch, capsys) -> None:
    file = tmp_path / "run.json"
    assert runs(GOOD, monkeypatch, "--json", str(file)) == 0
    assert read_run(file).rows == GOOD
    assert {"date", "processor", "cores", "system", "kdenv", "python", "numba", "numpy"} <= read_run(file).about.keys()
    capsys.readouterr()
    assert runs(BAD, monkeypatch, "--compare", str(file)) == 0
    told = [line.rsplit(maxsplit=2) for line in capsys.readouterr().out.partition("times as good as on ")[2].splitlines()[1:4]]
    assert told == [["games", "0.75", "x"], ["a decision", "0.20", "x"], ["a ratio", "0.50", "x"]]


def test_a_run_by_cpu_time_says_so_and_measures_it(tmp_path, monkeypatch) -> None:
    file, efforts = tmp_path / "run.json", []
    monkeypatch.setattr(bench, "rows", lambda games, effort: efforts.append(effort) or iter(GOOD))
    assert main(["bench", "--processor-time", "--json", str(file)]) == 0
    assert read_run(file).about["clock"] == "CPU time"
    (effort,) = efforts
    assert effort.clock is time.process_time and not effort.is_real_time


def test_a_rate_is_measured_by_the_clock_of_the_effort() -> None:
    worked = [0.0]

    def work(n: int) -> None:
        worked[0] += n / 5

    assert per_second(Effort(1, 8.0, 1, lambda: worked[0]), work) == pytest.approx(5)


def test_another_machine_is_told(tmp_path, monkeypatch, capsys) -> None:
    file = tmp_path / "run.json"
    runs(GOOD, monkeypatch, "--json", str(file))
    found = json.loads(file.read_text())
    found["about"]["processor"] = "an abacus"
    file.write_text(json.dumps(found))
    runs(GOOD, monkeypatch, "--compare", str(file))
    assert "(processor: an abacus then, " in capsys.readouterr().out


def test_json_without_a_file_is_printed_alone(monkeypatch, capsys) -> None:
    assert runs(GOOD, monkeypatch, "kingdomino", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["figure"] for row in found["rows"]] == [1200.0, 5.0, 3.0]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "kdenv bench 2"}', '{"format": "kdenv bench 1", "rows": 5}', "\0"])
def test_a_file_of_something_else_is_refused(tmp_path, content: str, monkeypatch, capsys) -> None:
    (tmp_path / "notes.json").write_text(content)
    assert runs([], monkeypatch, "--compare", str(tmp_path / "notes.json")) == 2
    assert "notes.json is not a run of kdenv bench; write one with kdenv bench --json notes.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, what",
    [
        (["--check", "--quick"], "--check needs figures that were measured for long enough"),
        (["--json", "kingdomino"], "write kdenv bench kingdomino --json"),
        (["--compare", "/nowhere/run.json"], "/nowhere/run.json: No such file"),
        (["--json", "/nowhere/run.json"], "/nowhere/run.json: No such file"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_measured(arguments: list[str], what: str, monkeypatch, capsys) -> None:
    monkeypatch.setattr(bench, "rows", lambda games, effort: pytest.fail("it was measured"))
    assert main(["bench", *arguments]) == 2
    assert what in capsys.readouterr().err


def test_a_quick_run_is_not_compared_with_a_whole_one(tmp_path, monkeypatch, capsys) -> None:
    file = tmp_path / "run.json"
    runs(GOOD, monkeypatch, "--json", str(file))
    assert runs(GOOD, monkeypatch, "--quick", "--compare", str(file)) == 2
    assert "is of a run without --quick" in capsys.readouterr().err


def test_a_peer_that_is_not_installed_is_left_out(monkeypatch, capsys) -> None:
    def missing(name: str):
        raise ImportError(f"No module named {name}")

    monkeypatch.setattr(peers.importlib, "import_module", missing)
    assert list(peers.rows_of_peers([find_game("dominoes"), find_game("dominion")], QUICK)) == []
    told = capsys.readouterr().out
    for package in ("PettingZoo's connect_four", "OpenSpiel's backgammon", "pgx", "OpenSpiel's team dominoes", "pyminion"):
        assert f"(nothing of {package}: No module named" in told


def test_a_ratio_to_nothing_is_not_known() -> None:
    assert math.isnan(times(3.0, 0.0))
    assert math.isnan(BenchRow("a", 1.0, "x").ratio)
