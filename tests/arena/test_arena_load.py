"""Are results read as the columns that they are, whichever command has written them?"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from matches import SMALL, results_of, small_results

from kdenv.arena import Match, ResultsFile, compare, read
from kdenv.core.errors import BadOption, BadRecord

COLUMNS = ["file", "game", "seed", "line_up", "place", "policy", "seat", "number", "deal"]
COLUMNS += ["score", "margin", "win", "seconds", "turns", "playouts", "luck"]


@pytest.fixture
def file(tmp_path) -> Path:
    with ResultsFile(tmp_path / "match.jsonl", SMALL) as kept:
        for result in small_results():
            kept.append(result)
    return tmp_path / "match.jsonl"


def test_every_policy_has_a_row_in_every_game(file: Path) -> None:
    columns = read(file)
    assert list(columns) == COLUMNS
    assert {len(column) for column in columns.values()} == {12}
    assert columns["policy"] == ["full_greedy", "random"] * 6
    assert columns["number"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert columns["deal"].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    assert columns["seat"].tolist() == [0, 1, 1, 0] * 3
    for name, of in (("score", "scores"), ("margin", "margins"), ("win", "wins"), ("seconds", "seconds"), ("turns", "turns")):
        assert columns[name].tolist() == [value for result in small_results() for value in getattr(result, of)]
    assert (set(columns["file"]), set(columns["game"]), set(columns["seed"])) == ({"match.jsonl"}, {"kingdomino"}, {2})
    assert {columns[name].dtype for name in ("number", "score", "turns", "seat")} == {np.dtype("int64")}


def test_the_seat_is_that_of_the_record(file: Path) -> None:
    columns = read(str(file), records=True)
    for row in range(12):
        points = columns["record"][row].splitlines()[-1].removeprefix("= ").split()
        assert int(points[columns["seat"][row]]) == columns["score"][row]


def test_each_of_three_policies_has_the_seat_of_its_score(tmp_path: Path) -> None:
    """With three, the seat of a place in the line-up is not the place of the policy in that seat, as it is with two."""
    match = Match("kingdomino", ["full_greedy", "random", "gprd"], games=3, options={"size": 3})
    with ResultsFile(tmp_path / "three.jsonl", match) as kept:
        for result in results_of(match):
            kept.append(result)
    columns = read(tmp_path / "three.jsonl", records=True)
    assert columns["seat"].tolist() == [0, 1, 2, 1, 2, 0, 2, 0, 1]
    points = [record.splitlines()[-1].removeprefix("= ").split() for record in columns["record"]]
    assert [int(of[seat]) for of, seat in zip(points, columns["seat"], strict=True)] == columns["score"].tolist()


def test_the_pace_of_every_turn_comes_with_the_records(file: Path) -> None:
    columns = read(file, records=True)
    assert columns["pace"] == [pace for result in small_results() for pace in result.pace]
    assert [len(pace) for pace in columns["pace"]] == columns["turns"].tolist()


def test_a_data_frame_takes_the_columns(file: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(read(file))
    assert frame.groupby("policy").margin.mean()["random"] == -frame.groupby("policy").margin.mean()["full_greedy"]


def test_time_that_was_not_measured_is_nan(file: Path) -> None:
    first, *lines = file.read_text().splitlines(keepends=True)
    file.write_text(first + json.dumps({**json.loads(lines[0]), "seconds": None}) + "\n" + "".join(lines[1:]))
    assert [math.isnan(each) for each in read(file)["seconds"]] == [True, True, *[False] * 10]


def test_the_line_ups_of_a_comparison_are_told_apart(tmp_path) -> None:
    file = tmp_path / "compare.jsonl"
    compare("kingdomino", "full_greedy", "gprd", against="random", options={"size": 3}, deals=3, processes=1, out=file)
    columns = read(file)
    assert columns["policy"] == ["full_greedy", "random", "gprd", "random"] * 6
    assert columns["line_up"].tolist() == [0, 0, 1, 1] * 6


def test_a_folder_is_read_file_by_file(file: Path) -> None:
    with ResultsFile(file.with_name("another.jsonl"), Match("kingdomino", ["gprd", "random"], 2, 3, {"size": 3})) as kept:
        kept.append(results_of(Match("kingdomino", ["gprd", "random"], 2, 3, {"size": 3}))[0])
    columns = read(file.parent)
    assert columns["file"] == ["another.jsonl"] * 2 + ["match.jsonl"] * 12
    assert columns["policy"][:2] == ["gprd", "random"]


def test_a_line_that_is_being_written_is_left_out(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])
    assert len(read(file)["score"]) == 10


def test_what_cannot_be_read_is_told(file: Path, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadOption, match=r"the folder .*empty has no files of results"):
        read(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    for first in ("", "hello\n", '{"format": "kdenv results 9"}\n', '{"format": "kdenv results 1", "match": 5}\n'):
        file.write_text(first + lines[1])
        with pytest.raises(BadRecord, match="is not a file of match results"):
            read(file)
    for match in ({}, {"game": "kingdomino"}, {"game": "kingdomino", "line_up": ["random"] * 2, "speed": 3}):
        file.write_text(json.dumps({"format": "kdenv results 1", "match": match}) + "\n" + lines[1])
        with pytest.raises(BadRecord, match="describes no match"):
            read(file)
    file.write_text(lines[0] + lines[1] + "{}\n")
    with pytest.raises(BadRecord, match=r"line 3 of .* is damaged: .*; delete this line"):
        read(file)
