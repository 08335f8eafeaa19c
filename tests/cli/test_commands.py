"""Do all commands and Python blocks of the READMEs and of the site run, and every command of kdenv for every game? All at quick sizes.

tests/docs/test_docstrings.py does the same for docstrings.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import three_shells
from blocks import HOME, NOT_RUN, blocks, commands, quick, run_python
from random_games import random_game

from kdenv.cli import COMMANDS, main
from kdenv.cli.arguments import Commands
from kdenv.games import find_game, names

ROOMS = ("", "baselines", "baselines/papers", "docs", *(f"kdenv/{room}" for room in ("arena", "compiler", "networks", "server")))
READMES = [
    *(HOME / place / "README.md" for place in ROOMS),
    HOME / "CONTRIBUTING.md",
    HOME / "ARCHITECTURE.md",
    *sorted((HOME / "kdenv" / "games").glob("*/README.md")),
]
SITE = [HOME / "docs/games/index.md"]  # the pages that are written by hand
SITE += sorted(path for folder in ("docs", "docs/concepts", "docs/tutorials", "docs/write") for path in (HOME / folder).glob("*.md"))
PAGES = [*READMES, *SITE]


def name_of(page: Path) -> str:
    """A page in the name of a test."""
    return str(page.relative_to(HOME).with_suffix(""))


@pytest.mark.cold
@pytest.mark.parametrize("readme", [page for page in PAGES if list(commands(page))], ids=name_of)
def test_every_command_of_a_readme_runs(readme: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("examples", "baselines"):
        (tmp_path / name).symlink_to(HOME / name)
    for words in commands(readme):
        if words[0] == "kdenv":
            assert main(words[1:]) == 0, (words, capsys.readouterr().err)
        else:
            done = run_python(words[1:], tmp_path)
            assert done.returncode == 0, (words, done.stderr)


@pytest.mark.cold
@pytest.mark.parametrize("readme", [page for page in PAGES if any(kind == "python" for kind, _ in blocks(page))], ids=name_of)
def test_every_python_block_of_a_readme_runs(readme: Path, tmp_path: Path) -> None:
    """Each in a process of its own, so that a reader can begin with any. Files that one writes are there for the next."""
    for code in (quick(text) for kind, text in blocks(readme) if kind == "python"):
        done = run_python(["-c", code], tmp_path)
        assert done.returncode == 0, code + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_block_is_run_or_is_of_a_kind_that_cannot_be(page: Path) -> None:
    """Commands and Python are run; `text` is output, programs read `toml` and parts of files; all others say why they are not run."""
    kinds = {kind.partition(" ")[0] for kind, _ in blocks(page)}
    assert kinds <= {"", "python", "text", "toml", "{from}", "{literalinclude}", "{toctree}"}


def test_there_are_commands_and_blocks_to_run() -> None:
    found = [words for readme in PAGES for words in commands(readme)]
    assert {"match", "policies"} <= {words[1] for words in found if words[0] == "kdenv"}
    assert sum(kind == "python" for readme in PAGES for kind, _ in blocks(readme)) >= 2


# Every command for every game

GAMES = pytest.mark.parametrize("game", names())


def broken_off(game: str, folder: Path) -> Path:
    """The record of a game broken off where somebody decides."""
    table = random_game(find_game(game), 1, None, 12)
    while table.at_chance:
        table.chance(table.chances()[0][0])
    file = folder / "game.txt"
    file.write_text(table.record(), encoding="utf-8")
    return file


@pytest.fixture
def record(game: str, tmp_path: Path) -> Path:
    return broken_off(game, tmp_path)


@GAMES
def test_match(game: str, capsys) -> None:
    players = find_game(game).players[0]
    assert main(["match", game, *["random"] * players, "--games", "4", "--processes", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["policies"][0]["places"] == players


@GAMES
def test_play(game: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "1")
    file = tmp_path / "played.txt"
    opponents = ["random"] * (find_game(game).players[0] - 1)
    assert main(["play", game, "--against", *opponents, "--seed", "1", "--record", str(file)]) == 0
    assert main(["replay", str(file)]) == 0
    assert "(unfinished)" not in capsys.readouterr().out


@GAMES
def test_policies(game: str, capsys) -> None:
    assert main(["policies", game]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("  mce ") for line in lines)
    assert max(map(len, lines)) <= 100


def test_papers_are_listed_under_the_games_they_are_about(capsys) -> None:
    for game, paper, row in (("kingdomino", "Gedda et al. 2018", "mce-tr/r"), ("dominoes", "DominAI 2016", "pimc_paper")):
        main(["policies", game])
        below = capsys.readouterr().out.split(f"  {paper}\n")[1]
        assert re.search(rf"^    {row} ", below, re.MULTILINE)
    assert "Gedda" not in below
    assert "mce-tr/r," in below.split("on other games")[1]


def test_games(capsys) -> None:
    assert main(["games"]) == 0
    said = capsys.readouterr().out
    for name in names():
        game = find_game(name)
        assert f"{name}: {game.title}, {game.players[0]} players" in said
        assert all(f"\n  {option.name}=" in said for option in game.options)
    assert "size=5|3|7  the kingdom" in said


@GAMES
def test_rules(game: str, capsys) -> None:
    assert main(["rules", game]) == 0
    said = capsys.readouterr().out
    assert "\nRules as implemented\n----" in said
    assert "Observation" not in said  # this and what follows is for programs
    assert not re.search(r"`|\*\*|\]\(", said.replace("\n    ", ""))
    assert max(map(len, said.splitlines())) <= 100


def test_a_game_without_a_readme_has_no_rules_to_print(monkeypatch, capsys) -> None:
    monkeypatch.setattr("kdenv.games._from_outside", {"three_shells": three_shells.GAME})
    assert main(["rules", "three_shells"]) == 2
    assert "has no README.md beside its rules" in capsys.readouterr().err


def examples() -> list[str]:
    commands = Commands()
    for command in COMMANDS:
        command.add(commands)
    return commands.examples


@pytest.mark.cold
@pytest.mark.filterwarnings("ignore")  # of PettingZoo's own games, which bench measures
@pytest.mark.parametrize("example", [each for each in examples() if not each.startswith(tuple(NOT_RUN))])
def test_every_example_of_help_runs(example: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    broken_off("kingdomino", tmp_path)
    for game in ("kingdomino", "dominoes"):
        (tmp_path / "training" / game).mkdir(parents=True)
        shutil.copy(HOME / "baselines" / "rl" / "curves" / f"{game}.csv", tmp_path / "training" / game / "curve.csv")
    for path in (HOME / "examples" / "league.toml", HOME / "examples" / "ladder.toml"):
        shutil.copy(path, tmp_path)
    shutil.copy(HOME / "baselines" / "ladder" / "entries" / "template.toml", tmp_path / "entry.toml")
    if "--verify" in example:
        assert main(["ladder", "ladder.toml", "--out", "games"]) == 0
    assert main(shlex.split(quick(example))[1:]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__.rpartition(".")[2])
def test_every_command_shows_an_example(command, capsys) -> None:
    name = command.__name__.rpartition(".")[2].replace("_", "-")
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert f"  kdenv {name}" in capsys.readouterr().out


@GAMES
def test_replay_and_analyse(game: str, record: Path, capsys) -> None:
    assert main(["replay", str(record), "--every"]) == 0
    assert main(["analyse", str(record), "mce(playouts=20)"]) == 0
    assert "nan" not in capsys.readouterr().out.split("decides")[1]


@pytest.mark.parametrize("game", [pytest.param(game, marks=[pytest.mark.cold] * (game in ("carcassonne", "dominion"))) for game in names()])
def test_perft(game: str, capsys) -> None:
    assert main(["perft", game, "2"]) == 0
    assert "nodes in" in capsys.readouterr().out


@pytest.mark.cold
@GAMES
def test_warm(game: str, capsys) -> None:
    assert main(["warm", game]) == 0
    assert capsys.readouterr().out == f"{game}: everything is compiled\n"


WARM = """
import sys
from kdenv.cli import main, warm
warm.tasks_of = lambda game: [lambda: warm._play_a_little(game)]  # a part of it is enough
raise SystemExit(main(["warm", "dominoes", "--into", sys.argv[1]]))
"""
USE = """
from numba.core import event
from kdenv.cli import warm
from kdenv.games import find_game
with event.install_recorder("numba:compile") as found:
    warm._play_a_little(find_game("dominoes"))
print(len(found.buffer))
"""


@pytest.mark.cold
def test_machine_code_in_a_folder_is_used_elsewhere_and_by_those_who_only_read(tmp_path: Path) -> None:
    """The folder is copied, as into an image. Nothing is compiled with the copy, although its files cannot be written."""
    elsewhere = {name: value for name, value in os.environ.items() if name not in ("KDENV_CACHE_DIR", "XDG_CACHE_HOME")}
    elsewhere["TMPDIR"] = str(tmp_path)  # so that no other code of this user is found

    def run(program: str, *words: str, cache: str) -> str:
        command = [sys.executable, "-c", program, *words]
        done = subprocess.run(command, env=elsewhere | {"KDENV_CACHE_DIR": cache}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    out = run(WARM, str(tmp_path / "made"), cache=str(tmp_path / "not_used"))
    assert f"KDENV_CACHE_DIR={tmp_path / 'made'}" in out
    assert not (tmp_path / "not_used").exists()
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "made", copy)
    places = [copy, *copy.rglob("*")]
    if os.name == "posix":
        assert all(place.stat().st_mode & 0o044 == 0o044 and not place.stat().st_mode & 0o022 for place in places)
    for place in places:
        place.chmod(place.stat().st_mode & ~0o222)
    assert run(USE, cache=str(copy)) == "0\n"
    assert int(run(USE, cache=str(tmp_path / "empty"))) > 0
    for place in places:
        place.chmod(place.stat().st_mode | 0o200)


def test_a_folder_that_is_a_file_cannot_be_warmed(tmp_path: Path, capsys) -> None:
    (tmp_path / "file").write_text("")
    assert main(["warm", "dominoes", "--into", str(tmp_path / "file")]) == 2
    assert "is a file; give a folder" in capsys.readouterr().err


@pytest.mark.cold
@GAMES
@pytest.mark.filterwarnings("ignore")  # of PettingZoo's own games
def test_bench(game: str, capsys) -> None:
    assert main(["bench", game, "--quick"]) == 0
    out = capsys.readouterr().out
    assert f"{game}: AEC loop, masked sample" in out
    assert "quick: every figure was measured only for a moment" in out
    assert not re.search(r"(floor|most) [\d,.]+:", out)
