"""Is a results file never glued, counted twice, mixed with another version's, or believed where it is damaged?"""

import json
import random
import resource
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from matches import HERE, SMALL, small_results
from models import random_model

from kdenv.arena import Match, Result, ResultsFile
from kdenv.arena.results import header, rules_digest
from kdenv.cli import main
from kdenv.core.errors import BadOption, BadRecord, KdenvError
from kdenv.games import find_game


def written(path: Path, results: list[Result], match: Match = SMALL) -> Path:
    """A file with these results."""
    with ResultsFile(path, match) as file:
        for result in results:
            file.append(result)
    return path


def read(path: Path, match: Match = SMALL) -> list[Result]:
    with ResultsFile(path, match) as file:
        return list(file.results())


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_what_was_written_is_read(tmp_path) -> None:
    file = written(tmp_path / "new folder" / "match.jsonl", small_results()[:3])
    assert read(file) == small_results()[:3]
    written(file, small_results()[3:])
    assert read(file) == small_results()


def of_other_rules(path: Path, *, models: dict[str, str] | None = None) -> bytes:
    """Let the first line of a file name other rules, and these models. Return the line as it was."""
    first, *games = lines_of(path)
    path.write_bytes(
        json.dumps(json.loads(first) | {"rules": "of yesterday"} | ({"models": models} if models else {})).encode()
        + b"\n"
        + b"".join(games)
    )
    return first


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_games_of_other_rules_count_if_the_first_one_is_the_same_now(tmp_path, kept: int) -> None:
    file = written(tmp_path / "match.jsonl", small_results()[1 : 1 + kept])
    now, played = of_other_rules(file), []

    def play_again(number: int) -> Result:
        played.append(number)
        return small_results()[number]

    with pytest.raises(BadRecord, match="another version of the rules"):
        read(file)
    for _ in range(2):
        with ResultsFile(file, SMALL, play_again) as opened:
            assert list(opened.results()) == small_results()[1 : 1 + kept]
        assert lines_of(file)[0] == now
    assert played == [1][:kept]
    assert read(file) == small_results()[1 : 1 + kept]


def test_games_of_other_rules_are_refused_if_the_first_one_is_another_one_now(tmp_path) -> None:
    file = written(tmp_path / "match.jsonl", small_results()[:2])
    of_other_rules(file)
    before = file.read_bytes()
    with pytest.raises(BadRecord, match="game 0 is another one here"), ResultsFile(file, SMALL, lambda number: small_results()[1]):
        pass
    of_other_rules(file, models={"a.npz": "changed"})
    changed = file.read_bytes()
    with pytest.raises(BadRecord, match="another version of the rules"), ResultsFile(file, SMALL, lambda number: small_results()[0]):
        pass
    assert file.read_bytes() == changed != before


def test_games_beyond_those_of_this_match_are_left_out(tmp_path) -> None:
    """A match of fewer games goes on from the file of one of more, and the other way round."""
    fewer = Match(SMALL.game, SMALL.line_up, 2, SMALL.seed, SMALL.options)
    assert read(written(tmp_path / "match.jsonl", small_results()), fewer) == small_results()[:2]


@pytest.mark.parametrize("kept", range(0, 200, 7))
def test_a_last_line_that_a_crash_cut_is_dropped_and_nothing_is_glued_to_it(tmp_path, kept: int) -> None:
    file = written(tmp_path / "match.jsonl", small_results()[:3])
    *whole, last = lines_of(file)
    file.write_bytes(b"".join(whole) + last[: kept % len(last)])
    assert read(file) == small_results()[:2]
    written(file, small_results()[2:])
    assert read(file) == small_results()


def test_a_file_can_be_cut_anywhere(tmp_path) -> None:
    file = written(tmp_path / "match.jsonl", small_results()[:2])
    data, ends = file.read_bytes(), [0]
    for line in lines_of(file):
        ends.append(ends[-1] + len(line))
    for size in {*range(0, len(data), 29), *ends, *(end - 1 for end in ends[1:])}:
        file.write_bytes(data[:size])
        kept = max(0, sum(end <= size for end in ends) - 2)
        assert read(file) == small_results()[:kept]
        assert lines_of(file)[0] == data[: ends[1]]


STRANGERS = ["hello", "hello\n", '{"game": "kingdomino"}\n', "[]\n", "5\n", "\n", "[" * 100_000 + "\n", "\0\n", "\xff\n"]


@pytest.mark.parametrize("text", STRANGERS)
def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path, text: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(BadRecord, match="is not a file of match results; choose another --out"):
        read(file)
    assert file.read_text(encoding="latin-1") == text


@pytest.mark.parametrize(
    "change, what",
    [
        ({"line_up": ["random", "random"]}, "another match"),
        ({"seed": 3}, "another match"),
        ({"options": {}}, "another match"),
        ({"game": "dominion"}, "another match"),
    ],
)
def test_results_of_another_match_are_refused(tmp_path, change: dict, what: str) -> None:
    file = written(tmp_path / "match.jsonl", small_results()[:1])
    other = Match(**{**vars(SMALL), **change})
    with pytest.raises(BadRecord, match=what):
        read(file, other)
    assert read(file) == small_results()[:1]


@pytest.mark.parametrize(
    "change, what",
    [
        ({"kdenv": "0.0.9"}, "another version of kdenv \\(0.0.9, here it is .*\\), .* choose another --out"),
        ({"kdenv": None}, "another version of kdenv"),
        ({"rules": "0123456789ab"}, "another version of the rules of kingdomino \\(0123456789ab, here it is"),
        ({"format": "kdenv results 2"}, "is written as 'kdenv results 2', and this version reads 'kdenv results 1'"),
    ],
)
def test_results_of_another_version_are_refused(tmp_path, change: dict, what: str) -> None:
    file = tmp_path / "match.jsonl"
    file.write_text(json.dumps({**header(SMALL), **change}) + "\n")
    with pytest.raises(BadRecord, match=what):
        read(file)


def test_results_of_a_model_that_was_trained_on_are_refused(tmp_path: Path) -> None:
    """A search and a playout by the model count as the model does."""
    model, file, none = (tmp_path / name for name in ("model.npz", "match.jsonl", "older.jsonl"))
    line_up = [f"mce(playouts=2, playout=by_seat(mine=learned({model}), others=random))", *["random"] * 3]
    match = Match("kingdomino", line_up, games=4)
    random_model(model, "kingdomino", seed=1)
    assert read(written(file, [], match), match) == []
    first = json.loads(file.read_text())
    assert list(first["models"]) == [str(model)]
    none.write_text(json.dumps({key: value for key, value in first.items() if key != "models"}) + "\n")  # as files were before
    random_model(model, "kingdomino", seed=2)
    with pytest.raises(BadRecord, match=r"holds the results of another .*model.npz: the file has changed since; choose another --out"):
        read(file, match)
    assert read(none, match) == []
    random_model(model, "kingdomino", seed=1)
    assert read(file, match) == []


def test_the_digest_changes_with_the_rules(tmp_path) -> None:
    module = ModuleType("somewhere")
    module.__file__ = str(tmp_path / "rules.py")
    game, digests = SimpleNamespace(room=(module,)), set()
    for text in ("PASS_COSTS = 1", "PASS_COSTS = 2"):
        (tmp_path / "rules.py").write_text(text)
        digests.add(rules_digest(game))
    assert len(digests) == 2
    assert rules_digest(find_game("kingdomino")) != rules_digest(find_game("dominoes"))


@pytest.mark.parametrize(
    "field, value, what",
    [
        *(("number", value, "is not the number of a game") for value in (-5, 1.5, True, 10**400, "1", None, [1])),
        *(("deal", value, "is not the deal of game 2, which is 1") for value in (0, 2, -1, 1.0, True, None)),
        *(("scores", value, "is not a list of 2 valid numbers, one for each policy") for value in (5, [], [1], [1, 2, 3], [1, "2"])),
        *(("scores", value, "is not a list of 2 valid numbers, one for each policy") for value in ([True, 1], [1.5, 2], [10**400, 1])),
        ("margins", [None, 1], "is not a list"),
        *(("turns", value, "is not a list") for value in ([-1, 1], [1.0, 1], {"0": 1})),
        ("playouts", [1, -1], "is not a list"),
        *(("seconds", value, "is not a list") for value in ([-0.1, 1], ["1", 1], [True, 1.0], [10**400, 1])),
        *(("wins", value, "is not a list") for value in ([2, -1], [1.0], [True, False], ["1", 0])),
        *(("wins", value, "do not add up to 1") for value in ([1.0, 1.0], [0.0, 0.0], [0.5, 0.4])),
        *(("record", value, "is not a text") for value in (None, 5, ["kdenv"])),
        ("more", 1, "is not an object with the fields number, deal"),
    ],
)
def test_every_field_of_a_line_is_checked(tmp_path, field: str, value: object, what: str) -> None:
    file = written(tmp_path / "match.jsonl", small_results()[:2])
    line = json.dumps({**asdict(small_results()[2]), field: value})
    with file.open("a") as more:
        more.write(line + "\n")
    with pytest.raises(BadRecord, match=rf"line 4 of .*match.jsonl is damaged: .*{what}.*; delete this line, and run"):
        read(file)


def test_a_number_too_large_for_a_float_is_refused(tmp_path) -> None:
    file = written(tmp_path / "match.jsonl", small_results()[:1])
    with file.open("a") as more:
        more.write(json.dumps({**asdict(small_results()[1]), "seconds": [12345.0, 1.0]}).replace("12345.0", "1e999") + "\n")
    with pytest.raises(BadRecord, match=r"seconds=.* is not a list of 2 valid numbers, one for each policy"):
        read(file)


NO_RESULTS = ["", "null", "[1, 2]", "NaN", '{"number": NaN}', "[" * 100_000, '{"number": ' + "9" * 5000 + "}", '{"number": 2']


@pytest.mark.parametrize("line", NO_RESULTS)
def test_a_line_that_is_no_result_is_refused(tmp_path, line: str) -> None:
    file = written(tmp_path / "match.jsonl", small_results()[:2])
    with file.open("a") as more:
        more.write(line + "\n")
    with pytest.raises(BadRecord, match=r"line 4 of .* is damaged: "):
        read(file)


def test_a_game_is_not_counted_twice(tmp_path) -> None:
    file = written(tmp_path / "match.jsonl", [*small_results()[:2], small_results()[0]])
    with pytest.raises(BadRecord, match=r"line 4 of .* game 0 is in the file a second time"):
        read(file)


def test_two_matches_on_one_file_exclude_each_other(tmp_path) -> None:
    path = tmp_path / "match.jsonl"
    with ResultsFile(path, SMALL) as file:
        with pytest.raises(BadOption, match=r"another match is writing to .*match.jsonl; wait until it has ended, or choose another --out"):
            read(path)
        file.append(small_results()[0])
    assert read(path) == small_results()[:1]


COMMAND = ["match", "kingdomino", "full_greedy", "random", "--option", "size=3", "--seed", "2", "--games"]


def test_a_second_command_on_a_file_in_use_says_so(tmp_path, capsys) -> None:
    file = tmp_path / "match.jsonl"
    command = [sys.executable, "-m", "kdenv", *COMMAND, "1000000", "--processes", "1", "--out", str(file)]
    with subprocess.Popen(command, env=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (file.exists() and len(lines_of(file)) > 2):
            assert process.poll() is None
            time.sleep(0.01)
        code = main([*COMMAND, "1000000", "--out", str(file)])
        process.kill()
    captured = capsys.readouterr()
    assert code == 2
    assert captured.err == f"kdenv: another match is writing to {file}; wait until it has ended, or choose another --out\n"
    assert main([*COMMAND, "3", "--processes", "1", "--out", str(file)]) == 0  # the lock ended with the process


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="limits of the size of a file are known to POSIX only")
def test_a_full_disk_keeps_what_is_finished(tmp_path) -> None:
    """A limit of the size of files stands for the disk: the write that meets it writes a part."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))

    file = tmp_path / "match.jsonl"
    command = [sys.executable, "-m", "kdenv", *COMMAND, "1000", "--processes", "1", "--out", str(file)]
    done = subprocess.run(command, env=HERE, capture_output=True, text=True, preexec_fn=limit, timeout=240, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "the disk may be full" in done.stderr
    kept = len(lines_of(file)) - 1
    assert kept >= 2
    assert f": {kept} finished" in done.stdout
    assert file.read_bytes().endswith(b"\n")


# Fuzzing: whatever happens to a file, it is refused in a sentence, or what is read of it was written.


def damaged(data: bytes, dice: random.Random) -> bytes:
    """The bytes of a file after one or two accidents."""
    for _ in range(dice.choice([1, 1, 2])):
        at, other = sorted((dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)))
        lines = data.splitlines(keepends=True)
        line = dice.randrange(len(lines)) if lines else 0
        bit = dice.choice([b"-", b"1", b"e9", b"[", b"}", b'"', b"null", b"true", b"\n", b"\r", b"\0" * 50, bytes([dice.randrange(256)])])
        accidents = [
            data[:at],
            data[:at] + data[other:],
            data[:at] + bit + data[at:],
            data[:at] + bit + data[at + 1 :],
            b"".join(lines[:line] + lines[line + 1 :]),
            data + b"".join(lines[line : line + 1]),
            b"".join(lines[:line]).rstrip(b"\n") + b"".join(lines[line:]),
            data[at:] + data[:at],
            data + data[at:other],
        ]
        data = dice.choice(accidents)
        if not data:
            break
    return data


@pytest.mark.parametrize("rounds", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_damaged_files_are_refused_or_right(tmp_path, rounds: int) -> None:
    """A digit may have become another one, which nobody can see; all else that is read must be what was written, and once."""
    dice, file = random.Random(rounds), tmp_path / "match.jsonl"
    good = written(file, small_results()[:4]).read_bytes()
    refused = 0
    for _ in range(rounds):
        file.write_bytes(damaged(good, dice))
        try:
            found = read(file)
        except KdenvError as error:
            assert "\n" not in str(error)
            refused += 1
            continue
        numbers = [result.number for result in found]
        assert len(set(numbers)) == len(numbers)
        for result in found:
            assert isinstance(result.number, int)
            assert list(map(len, (result.scores, result.margins, result.wins, result.seconds, result.turns, result.playouts))) == [2] * 6
        # A match that goes on writes what is missing, and the whole is read again.
        missing = [result for result in small_results() if result.number not in numbers]
        with ResultsFile(file, SMALL) as again:
            list(again.results())
            for result in missing:
                again.append(result)
        assert sorted(result.number for result in read(file)) == list(range(6))
    assert refused > rounds / 4
    assert refused < rounds


# Places that cannot be written


def test_a_place_that_cannot_be_written_is_told_before_anything_is_played(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("kdenv.arena.workers.CompiledGames", lambda *_: pytest.fail("something was played"))
    folder, note = tmp_path / "folder", tmp_path / "note"
    folder.mkdir()
    note.write_text("hello")
    places = [("--report", folder), ("--report", note / "x.html"), ("--report", "/proc/x"), ("--out", folder), ("--out", note / "x.jsonl")]
    for option, place in places:
        assert main([*COMMAND, "4", "--processes", "1", option, str(place)]) == 2
        captured = capsys.readouterr()
        assert captured.err.startswith("kdenv: ")
        assert captured.err.count("\n") == 1
    same = str(tmp_path / "same")
    assert main([*COMMAND, "4", "--report", same, "--out", same]) == 2
    assert "--report and --out are both" in capsys.readouterr().err


def test_looking_at_the_place_of_the_report_changes_nothing_there(tmp_path) -> None:
    report = tmp_path / "report.html"
    assert main([*COMMAND, "4", "--processes", "1", "--report", str(report), "--out", str(tmp_path)]) == 2
    assert not report.exists()
    report.write_text("an earlier report")
    assert main([*COMMAND, "4", "--processes", "1", "--report", str(report), "--out", str(tmp_path)]) == 2
    assert report.read_text() == "an earlier report"


def test_the_table_is_printed_even_if_the_report_cannot_be_written_in_the_end(tmp_path, capsys, monkeypatch) -> None:
    report = tmp_path / "report.html"
    monkeypatch.setattr("kdenv.arena.report.page", lambda *_: report.mkdir() or "a page")
    assert main([*COMMAND, "4", "--processes", "1", "--report", str(report)]) == 2
    captured = capsys.readouterr()
    assert "full_greedy" in captured.out
    assert "Is a directory" in captured.err
