"""Does the command line do what it says, and tell a mistake in one sentence with exit code 2?"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kdenv.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command prints, if it succeeds."""
    code = main(arguments)
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence that the command complains with."""
    try:
        code = main(arguments)
    except SystemExit as error:
        code = int(error.code or 0)
    captured = capsys.readouterr()
    assert code == 2
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    return captured.err


MATCH = ("match", "kingdomino", "full_greedy", "random", "--option", "size=3", "--games", "4", "--processes", "1")


def test_match_prints_a_table(capsys) -> None:
    out = run(capsys, *MATCH)
    assert out.startswith("kingdomino, 2 players size=3, 4 games, seed 0")
    assert "full_greedy" in out
    assert "too few deals" in out


def test_match_prints_json(capsys) -> None:
    result = json.loads(run(capsys, *MATCH, "--json"))
    assert result["finished"]
    assert [row["policy"] for row in result["policies"]] == ["full_greedy", "random"]


def test_match_goes_on_from_a_file(capsys, tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    run(capsys, *MATCH, "--out", str(file))
    before = file.read_text()
    assert len(before.splitlines()) == 5
    run(capsys, *MATCH, "--out", str(file))
    assert file.read_text() == before


def test_match_writes_a_report(capsys, tmp_path: Path) -> None:
    file = tmp_path / "report" / "match.html"
    run(capsys, *MATCH, "--report", str(file))
    assert file.read_text().startswith("<!doctype html>")


def started(command: list[str]) -> subprocess.Popen[str]:
    """A command as a terminal starts it: Ctrl-C reaches it even if these tests run in the background, where it is ignored."""

    def listen() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=listen)


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it has printed; it is made to end if it does not by itself."""
    try:
        return process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise


def test_ctrl_c_ends_a_match_cleanly(tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    command = [sys.executable, "-m", "kdenv", "match", "kingdomino", *["random"] * 4, "--games", "1000000", "--out", str(file)]
    process = started(command)
    deadline = time.monotonic() + 300  # the workers may have to compile first
    while not (file.exists() and file.read_text().count("\n") > 3) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = ended(process)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "interrupted after" in err
    assert "random" in out
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_policies_are_listed(capsys) -> None:
    out = run(capsys, "policies", "kingdomino")
    assert "full_greedy(variant=fixed)" in out
    assert "mce(" in out


def test_perft_counts(capsys) -> None:
    out = run(capsys, "perft", "kingdomino", "3", "--players", "2", "--option", "size=3")
    assert out.splitlines()[4].split() == ["3", "103,776", "0", "0"]


def test_a_game_is_played_recorded_replayed_and_drawn(capsys, tmp_path: Path, monkeypatch) -> None:
    answers = iter(["nonsense", "999"] + ["1"] * 1000)
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    record, drawing = tmp_path / "game.txt", tmp_path / "game.svg"
    out = run(capsys, "play", "kingdomino", "full_greedy", "--seed", "1", "--option", "size=3", "--record", str(record))
    assert "'nonsense' is no action" in out
    assert "1. seat" in out
    out = run(capsys, "replay", str(record), "--svg", str(drawing))
    assert "points:" in out
    assert drawing.read_text().startswith("<svg")


def test_leaving_a_game_keeps_its_record(capsys, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    record = tmp_path / "game.txt"
    run(capsys, "play", "kingdomino", "--seed", "1", "--record", str(record))
    assert record.read_text().endswith("= unfinished\n")


def test_a_search_is_asked_for_its_opinion(capsys, tmp_path: Path) -> None:
    record = tmp_path / "game.txt"
    record.write_text("kdenv kingdomino players=2 size=3\n* draw 48, draw 47, draw 1, draw 2, king 1\n= unfinished\n")
    out = run(capsys, "analyse", str(record), "mce(playouts=40)")
    assert "seat 1 decides" in out
    assert out.count("pick ") == 4


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="how to know that the workers are starting is known on Linux only")
def test_ctrl_c_while_the_workers_start_is_clean_too() -> None:
    command = [sys.executable, "-m", "kdenv", "match", "kingdomino", *["random"] * 4, "--games", "1000000"]
    process = started(command)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(children.read_text().split()) < 2:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = ended(process)
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments, what",
    [
        (["match", "kingdomio", "random", "random"], "did you mean kingdomino"),
        (["match", "kingdomino", "random"], "cannot be played by 1 players"),
        (["match", "kingdomino", "random", "mce(playouts=x)"], "playouts=x is not possible"),
        (["match", "kingdomino", "random", "random", "--option", "size=4"], "size=4 is not possible; size may be 5, 3, 7"),
        (["match", "kingdomino", "random", "random", "--option", "size"], "is not NAME=VALUE"),
        (["match", "kingdomino", "random", "random", "--games", "many"], "invalid int value"),
        (["match", "kingdomino", "random", "random", "--processes", "0"], "at least one game"),
        (["match", "kingdomino", "random", "ppo(nowhere)"], "there is no model nowhere"),
        (["play", "kingdomino", "random", "--players", "4"], "4 players are you and 3 policies, not 1"),
        (["play", "kingdomino", "random", "--seat", "7"], "--seat 7 is not at this table"),
        (["perft", "kingdomino", "-1"], "depth of -1"),
        (["perft", "kingdomino", "1", "--position", "nonsense"], "no part of a position"),
        (["policies", "chess"], "there is no game chess"),
        (["replay", "/nowhere.txt"], "No such file"),
        (["analyse", "x", "random", "--game", "kingdomino"], "no part of a position"),
        (["dance"], "invalid choice"),
        ([], "required"),
    ],
)
def test_a_mistake_is_one_sentence(capsys, arguments: list[str], what: str) -> None:
    assert what in complaint(capsys, *arguments)


@pytest.mark.parametrize(
    "text, what",
    [
        ("", "it is empty"),
        ("hello", "not with 'kdenv <game>"),
        ("kdenv kingdomino players=4\n* draw 1", "cut short"),
        ("kdenv kingdomino players=9\n= unfinished", "line 1 .* cannot be played by 9 players"),
        ("kdenv kingdomino players=4\n* draw 99\n= unfinished", "line 2 .* chance outcome 98 is not legal"),
    ],
)
def test_a_bad_record_is_one_sentence(capsys, tmp_path: Path, text: str, what: str) -> None:
    import re

    file = tmp_path / "game.txt"
    file.write_text(text)
    assert re.search(what, complaint(capsys, "replay", str(file)))
