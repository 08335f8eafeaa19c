"""A game as pictures: does the page with steps hold every position, and do all files show the same?"""

import json
import re
from pathlib import Path

import pytest
from random_games import random_game

from kdenv.cli import main
from kdenv.core.record import replay
from kdenv.games import find_game, names


@pytest.fixture
def record(tmp_path: Path) -> Path:
    file = tmp_path / "game.txt"
    file.write_text(random_game(find_game("kingdomino"), 3, None, 20).record(), encoding="utf-8")
    return file


def constant(name: str, page: str) -> list:
    found = re.search(rf"^const {name} = (.*);$", page, re.MULTILINE)
    assert found is not None
    return json.loads(found[1])


def frames(page: str) -> list[str]:
    """The drawings of a page, put together as its script does."""
    parts, drawn = constant("parts", page), []
    before: list[int] = []
    for head, middle, tail in constant("changes", page):
        before = before[:head] + middle + before[len(before) - tail :]
        drawn.append("".join(parts[number] for number in before))
    return drawn


@pytest.mark.parametrize("game", names())
def test_the_page_holds_every_position(game: str, tmp_path: Path) -> None:
    text = random_game(find_game(game), 1, None, 60).record()
    file, page = tmp_path / "game.txt", tmp_path / "game.html"
    file.write_text(text, encoding="utf-8")
    assert main(["replay", str(file), "--html", str(page)]) == 0
    whole = page.read_text(encoding="utf-8")
    assert frames(whole) == [table.svg() for table in replay(text, find_game)]
    said = constant("said", whole)
    assert len(said) == len(frames(whole))
    lines = text.splitlines()
    assert said[0] == lines[0].removeprefix("kdenv ")
    assert [words.removeprefix("seat ").replace("chance:", "*") for words in said[1:]] == lines[1:-1]
    assert not re.search(r"url\(http|@import| src=| href=\"http", whole)
    assert "prefers-color-scheme: dark" in whole


def test_what_is_said_cannot_end_the_script(record: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("kdenv.cli.pictures._said", lambda line: "</script><b>")
    page = tmp_path / "game.html"
    assert main(["replay", str(record), "--html", str(page)]) == 0
    assert "</script><b>" not in page.read_text(encoding="utf-8")


def test_all_files_show_the_same_positions(record: Path, tmp_path: Path, capsys) -> None:
    page, folder, last, film = tmp_path / "g.html", tmp_path / "frames", tmp_path / "g.svg", tmp_path / "g.gif"
    wanted = ["--html", str(page), "--svg-frames", str(folder), "--draw", str(last), "--gif", str(film)]
    assert main(["replay", str(record), "--step", "8", *wanted]) == 0
    told = capsys.readouterr().out
    assert all(f"the drawing is in {path}\n" in told for path in (page, folder, last, film))
    drawn = frames(page.read_text(encoding="utf-8"))
    assert len(drawn) == 9
    assert [path.name for path in sorted(folder.iterdir())] == [f"{number:03d}.svg" for number in range(9)]
    assert [path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())] == drawn
    assert last.read_text(encoding="utf-8") == drawn[-1]
    assert film.read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--draw", "x.gif"], "--draw x.gif ends in neither .svg nor .png; --gif, --svg-frames and --html show the whole game"),
        (["--svg-frames", "game.txt"], "--svg-frames game.txt is a file; give a folder"),
        (["--html", "/nowhere/x.html"], "/nowhere/x.html: No such file"),
    ],
)
def test_what_cannot_be_drawn_is_told(arguments: list[str], sentence: str, record: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["replay", "game.txt", *arguments]) == 2
    assert sentence in capsys.readouterr().err
