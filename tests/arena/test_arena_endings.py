"""However a match ends, it says so in one sentence, and keeps every game that it finished."""

import errno
import gc
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from matches import HERE, results_of, without_time

from kdenv.arena import Match, Result, ResultsFile, Summary, play
from kdenv.cli import main

pytestmark = pytest.mark.cold

MATCH = Match("kingdomino", ["full_greedy", "random"], games=1_000_000, seed=2, options={"size": "3"})
COMMAND = ["match", "kingdomino", "full_greedy", "random", "--option", "size=3", "--seed", "2", "--games"]
posix = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="SIGTERM and SIGHUP are caught on POSIX only")


def command(file: Path, games: int = MATCH.games, processes: int = 1) -> list[str]:
    return [sys.executable, "-m", "kdenv", *COMMAND, str(games), "--processes", str(processes), "--out", str(file)]


def kept_in(file: Path) -> int:
    """The number of games in the file. Each of them must be the one that this match plays."""
    with ResultsFile(file, MATCH) as kept:
        results = list(kept.results())
    numbers = {result.number for result in results}
    expected = Match(MATCH.game, MATCH.line_up, max(numbers) + 1, MATCH.seed, MATCH.options)
    missing = [number for number in range(expected.games) if number not in numbers]
    results.sort(key=lambda result: result.number)
    assert without_time(results) == without_time(results_of(expected, done=missing))
    return len(results)


def wait_for_lines(process: subprocess.Popen, file: Path, lines: int) -> None:
    while not (file.exists() and file.read_bytes().count(b"\n") > lines):
        assert process.poll() is None
        time.sleep(0.02)


@posix
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("name, code, word", [("SIGTERM", 143, "terminated"), ("SIGHUP", 129, "ended"), ("SIGINT", 130, "interrupted")])
def test_a_match_that_is_ended_from_outside_says_how_to_go_on(tmp_path, name: str, code: int, word: str, processes: int) -> None:
    file = tmp_path / "match.jsonl"
    with subprocess.Popen(
        command(file, processes=processes), env=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for_lines(process, file, 5)
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=240)
    kept = kept_in(file)
    begins, goes_on = f"kdenv: {word} after ", f" of 1000000 games; the same command goes on from {file}\n"
    told = without_notices(err).removeprefix(begins).removesuffix(goes_on)
    assert (process.returncode, without_notices(err)) == (code, f"{begins}{told}{goes_on}")
    assert kept - int(told) in (0, 1)  # the signal may come when a game has been written and not been counted yet
    assert f": {told} finished\n" in out  # the table of what there is


NOTICE = re.compile(r"(compiling whole games for kingdomino \(once, then it is kept on disk\)|loading whole games for kingdomino) \.\.\.\n")


def without_notices(err: str) -> str:
    """What was printed on stderr, without what is compiled or loaded."""
    return NOTICE.sub("", err)


@posix
def test_under_nohup_a_closed_terminal_ends_nothing(tmp_path) -> None:
    file = tmp_path / "match.jsonl"
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    with subprocess.Popen(command(file, 20), env=HERE, stdout=subprocess.DEVNULL, preexec_fn=ignore) as process:
        wait_for_lines(process, file, 1)
        process.send_signal(signal.SIGHUP)
        assert process.wait(timeout=240) == 0
    assert kept_in(file) == 20


@posix
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_a_closed_standard_output_loses_nothing(tmp_path, closed: str) -> None:
    file, report = tmp_path / "match.jsonl", tmp_path / "report.html"
    line = f"exec {' '.join(command(file, 12))} --report {report} {closed}"
    done = subprocess.run(["sh", "-c", line], env=HERE, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout, without_notices(done.stderr)) == (0, "", "")
    assert kept_in(file) == 12
    assert "full_greedy" in report.read_text()


@posix
def test_a_reader_that_has_gone_loses_nothing(tmp_path) -> None:
    """The same happens in `kdenv match ... | true`."""
    file, report = tmp_path / "match.jsonl", tmp_path / "report.html"
    with subprocess.Popen(
        [*command(file, 12), "--report", str(report)], env=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0
    assert kept_in(file) == 12
    assert "full_greedy" in report.read_text()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that not even the superuser can write to is known on Linux only")
@pytest.mark.parametrize("file", ["/proc/match.jsonl", "/sys/match.jsonl"])
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_played(file: str, capsys, monkeypatch) -> None:
    monkeypatch.setattr("kdenv.cli.match._play_match", lambda *_: pytest.fail("something was played"))
    assert main([*COMMAND, "4", "--out", file]) == 2
    told = capsys.readouterr().err
    assert told.startswith("kdenv: /")
    assert told.count("\n") == 1
    assert "another match" not in told


def test_a_disk_that_fills_up_while_a_batch_is_written_keeps_whole_lines(tmp_path, capsys, monkeypatch) -> None:
    """Games of one batch come together, and each has a write of its own; the write that fails is taken back."""
    file, written = tmp_path / "match.jsonl", list[str]()
    append = ResultsFile.append

    def until_full(self: ResultsFile, result) -> None:
        if len(written) == 300:
            with self.path.open("ab") as disk:
                disk.write(b'{"number": 1')
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        written.append(str(result.number))
        append(self, result)

    monkeypatch.setattr(ResultsFile, "append", until_full)
    assert main([*COMMAND, "1400", "--processes", "2", "--out", str(file)]) == 2
    captured = capsys.readouterr()
    assert without_notices(captured.err) == f"kdenv: {file}: No space left on device\n"
    assert ": 300 finished\n" in captured.out
    monkeypatch.undo()
    assert main([*COMMAND, "1400", "--processes", "2", "--out", str(file)]) == 0
    assert kept_in(file) == 1400


# Long matches


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("games", [4000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_number_of_games(games: int, processes: int) -> None:
    """The results of the last two thirds would take megabytes, even of the shorter match."""
    match = Match("kingdomino", ["full_greedy", "random"], games=games, seed=3, options={"size": 3})
    summary, traced = Summary(match), list[int]()

    def on_result(result: Result) -> None:
        summary.add(result)
        if summary.games in (games // 3, games - 200):  # the last results come when there is less and less to keep
            gc.collect()
            traced.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        assert play(match, processes=processes, on_result=on_result)
    finally:
        tracemalloc.stop()
    third, end = traced
    assert end - third < 200_000


def test_nor_does_it_with_a_file(tmp_path) -> None:
    match, games, traced = Match("kingdomino", ["full_greedy", "random"], games=3000, seed=3, options={"size": 3}), 0, list[int]()
    with ResultsFile(tmp_path / "match.jsonl", match) as file:

        def on_result(result: Result) -> None:
            nonlocal games
            games += 1
            file.append(result)
            if games in (1500, 2800):
                gc.collect()
                traced.append(tracemalloc.get_traced_memory()[0])

        tracemalloc.start()
        try:
            assert play(match, processes=1, records=True, on_result=on_result)
        finally:
            tracemalloc.stop()
    assert traced[1] - traced[0] < 200_000
    with ResultsFile(tmp_path / "match.jsonl", match) as file:
        assert sum(1 for _ in file.results()) == 3000
        assert len(file.finished) == 3000
        assert not file.finished._others  # finished games without a gap take no memory
