"""The seed of a command that names none is drawn, printed and kept with the games. Python's default stays 0."""

import json
import re
from pathlib import Path

import pytest

from kdenv.arena import League, Match, league
from kdenv.cli import main

PAIR = ["kingdomino", "random", "full_greedy", "--option", "size=3", "--processes", "1"]
MATCH = ["match", *PAIR, "--games", "2"]
COMPARE = ["compare", *PAIR, "--deals", "1"]
CURVE = ["curve", *PAIR, "--games", "2"]
LEAGUE = 'game = "kingdomino"\npolicies = ["random", "full_greedy"]\ndeals = 1\n{}[options]\nsize = 3\n'


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def seed_in(text: str) -> int:
    found = re.search(r"\bseed (\d+)\b", text)
    assert found is not None, text
    return int(found[1])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def league_file(line: str = "") -> str:
    Path("league.toml").write_text(LEAGUE.format(line))
    return "league.toml"


@pytest.mark.parametrize("command", [MATCH, COMPARE, CURVE, [*COMPARE[:2], "mce", *COMPARE[3:], "--at", "playouts=2"]], ids=" ".join)
def test_a_new_seed_is_drawn_and_printed(command: list[str], capsys) -> None:
    first, second = (seed_in(said(capsys, *command)) for _ in range(2))
    assert first != second
    assert 0 < first < 2**53
    assert seed_in(said(capsys, *command, "--seed", "5") + "seed 5") == 5


def test_json_has_the_seed_and_nothing_else_is_printed(capsys) -> None:
    assert json.loads(said(capsys, *MATCH, "--json"))["match"]["seed"] > 0
    assert json.loads(said(capsys, *COMPARE, "--json"))["seed"] > 0
    assert json.loads(said(capsys, *COMPARE[:2], "mce", *COMPARE[3:], "--at", "playouts=2", "--json"))[0]["seed"] > 0


@pytest.mark.parametrize("command", [MATCH, COMPARE], ids=lambda command: command[0])
@pytest.mark.parametrize("given", [[], ["--seed", "0"]])
def test_a_file_of_games_goes_on_with_its_seed(command: list[str], given: list[str], capsys) -> None:
    first = said(capsys, *command, *given, "--out", "games.jsonl")
    games = Path("games.jsonl").read_bytes()
    assert said(capsys, *command, "--out", "games.jsonl") == first
    assert Path("games.jsonl").read_bytes() == games
    assert main([*command, "--seed", "5", "--out", "games.jsonl"]) == 2
    assert "holds the results of another match" in capsys.readouterr().err


def test_comparisons_at_several_budgets_have_one_seed(capsys) -> None:
    command = [*COMPARE[:2], "mce", *COMPARE[3:], "--out", "games.jsonl", "--at"]
    first = seed_in(said(capsys, *command, "playouts=2"))
    assert seed_in(said(capsys, *command, "playouts=3,playouts=2")) == first
    assert len([*Path().glob("*.jsonl")]) == 2


def test_a_curve_goes_on_with_its_seed(capsys) -> None:
    first = seed_in(said(capsys, *CURVE, "--out", "curve"))
    assert seed_in(said(capsys, *CURVE, "--out", "curve")) == first
    assert len([*Path("curve").glob("*.jsonl")]) == 1 + ("random" != "full_greedy")


def test_a_curve_of_an_older_version_goes_on_with_0(capsys) -> None:
    said(capsys, *CURVE, "--seed", "0", "--out", "curve")
    Path("curve/seed.txt").unlink()
    assert seed_in(said(capsys, *CURVE, "--out", "curve")) == 0


def test_a_league_draws_its_seed_and_goes_on_with_it(capsys) -> None:
    path = league_file()
    first = seed_in(said(capsys, "league", path, "--processes", "1"))
    assert first > 0
    assert seed_in(said(capsys, "league", path, "--processes", "1")) == first
    assert seed_in(said(capsys, "league", path, "--only-rate", "--out", "other", "--merge", "league")) == first
    assert seed_in(said(capsys, "league", league_file("seed = 5\n"), "--processes", "1", "--out", "third")) == 5


def test_a_league_of_an_older_version_goes_on_with_0(capsys) -> None:
    league(League("kingdomino", ["random", "full_greedy"], deals=1, options={"size": 3}), Path("league"), processes=1)
    before = sorted(path.name for path in Path("league").glob("*.jsonl"))
    out = said(capsys, "league", league_file(), "--processes", "1", "--part", "1/1")
    assert "seed 0; 2 games at 1 tables" in out
    assert sorted(path.name for path in Path("league").glob("*.jsonl")) == before


def test_a_part_of_a_league_needs_a_seed_that_all_parts_have(capsys) -> None:
    assert main(["league", league_file(), "--part", "1/2"]) == 2
    assert re.search(r"league\.toml names no seed, .*; add a line such as seed = \d+$", capsys.readouterr().err.strip())
    assert not Path("league").exists()
    assert main(["league", league_file("seed = 3\n"), "--part", "1/2", "--processes", "1"]) == 0


def test_a_kept_seed_that_is_none_is_told(capsys) -> None:
    Path("league").mkdir()
    Path("league/seed.txt").write_text("many")
    assert main(["league", league_file()]) == 2
    assert "seed.txt holds no seed but 'many'" in capsys.readouterr().err


def test_the_default_of_python_is_0() -> None:
    assert Match("kingdomino", ["random", "random"], 1).seed == 0
    assert League("kingdomino", ["random", "full_greedy"]).seed == 0
