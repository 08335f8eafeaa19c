"""Do type checkers and editors know what is public? Two scripts use it as users would; mistakes in its use are found."""

import ast
import inspect
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import public
import pytest
from served import Served

import kdenv
import kdenv.policies
from kdenv.core.parsing import in_capitals
from kdenv.envs.aec import TableEnv
from kdenv.envs.rewards import REWARDS
from kdenv.envs.setup import TableParameters
from kdenv.games import TITLES

pytestmark = pytest.mark.cold

SCRIPTS = [Path(__file__).with_name(name) for name in ("typed_user.py", "typed_doors.py")]
ROOT = Path(__file__).parents[2]
# Names for those who write searches, networks and parts. What a script needs of them is tested by test_author.py and test_from_outside.py.
SPECIAL = {"kdenv.author", "kdenv.policies", *(f"kdenv.games.{name}" for name in TITLES)}
MISTAKES = """
import kdenv
import kdenv.policies
from kdenv import kingdomino_v0
from kdenv.envs import SeatEnv, TablEnv  # wrong

kdenv.tabel("kingdomino")  # wrong
kdenv.table("kingdomino", players=3, size=7).scoers()  # wrong
env = kingdomino_v0.env(players=2, size=3, reward="gains")
env.table.scores()
env.tabel  # wrong
kdenv.dominion_v0.raw_env().agnets  # wrong
SeatEnv("kingdomino").tabel  # wrong
env.view("player_0").legals()  # wrong
env.table.scores().append("three")  # wrong
kingdomino_v0.env(players=2, syze=3)  # wrong
kingdomino_v0.raw_env(size=4)  # wrong
kdenv.dominion_v0.parallel_env(info="all")  # wrong
kdenv.game("kingdomino").layouts()  # wrong
SeatEnv("kingdomino", seat=1.5)  # wrong
SeatEnv("kingdomino").layout()["kingdoms"].size  # wrong
kdenv.policies.FullGready()  # wrong
kdenv.policies.FullGreedy(variant="papre")  # wrong
kdenv.policies.Gprd().search(kdenv.table("kingdomino").view(0)).bets  # wrong
"""
WRONG = [number for number, line in enumerate(MISTAKES.splitlines(), 1) if line.endswith("# wrong")]


def check(folder: Path, *command: str) -> str:
    """What a type checker prints of the users' scripts and of the mistakes. It finds kdenv as an installed package."""
    for script in SCRIPTS:
        shutil.copy(script, folder)
    (folder / "mistakes.py").write_text(MISTAKES)
    files = [*(script.name for script in SCRIPTS), "mistakes.py"]
    done = subprocess.run([sys.executable, "-m", *command, *files], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_a_users_script_passes_mypy_and_mistakes_do_not(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    printed = check(tmp_path, "mypy", "--strict", "--no-color-output", "--cache-dir", str(tmp_path / "cache"), "--config-file=")
    assert "typed_" not in printed, printed
    assert sorted({int(number) for number in re.findall(r"^mistakes\.py:(\d+): error", printed, re.M)}) == WRONG, printed


@pytest.mark.slow
def test_a_users_script_passes_pyright_and_mistakes_do_not(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    printed = check(tmp_path, "pyright", "--pythonpath", sys.executable)
    assert not re.search(r"typed_\w+\.py:\d", printed), printed
    assert sorted({int(number) for number in re.findall(r"mistakes\.py:(\d+):\d+ - error", printed)}) == WRONG, printed


FOR_KERNELS = ["disallow_untyped_defs", "disallow_incomplete_defs", "disallow_untyped_calls"]  # as docs/write/index.md says


def test_the_examples_pass_mypy_with_the_settings_for_kernels(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    written = (ROOT / "docs" / "write" / "index.md").read_text(encoding="utf-8")
    assert all(f"{name} = false" in written for name in FOR_KERNELS)
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict = true\n" + "".join(f"{name} = false\n" for name in FOR_KERNELS))
    examples = sorted(str(path) for path in (ROOT / "examples").glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", tmp_path / "cache", *examples]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_examples_pass_pyright(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    examples = sorted(str(path) for path in (ROOT / "examples").glob("*.py"))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *examples]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_users_script_runs(script: Path, tmp_path: Path) -> None:
    with Served(tmp_path / "games.db") as served:
        command = [sys.executable, script, f"http://127.0.0.1:{served.port}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", [module for module in public.MODULES if module not in SPECIAL])
def test_the_scripts_use_every_public_name(module: str) -> None:
    used: set[str] = set()
    for script in SCRIPTS:
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
            used |= {node.id} if isinstance(node, ast.Name) else {node.attr} if isinstance(node, ast.Attribute) else set()
    assert [name for name in import_module(module).__all__ if name not in used] == []


def test_the_scripts_use_the_module_of_every_game() -> None:
    text = "".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    assert [name for name in public.ENVIRONMENTS if f"{name.removeprefix('kdenv.')}." not in text] == []


@pytest.mark.parametrize("game", TITLES)
def test_the_types_of_options_are_those_of_the_game(game: str) -> None:
    room = import_module(f"kdenv.games.{game}.options")
    types = get_type_hints(getattr(room, f"{TITLES[game]}Options"))
    options = kdenv.game(game).options
    assert list(types) == [option.name for option in options]
    for option in options:
        if option.choices:
            values = {True, False} if types[option.name] is bool else set(get_args(types[option.name]))
            assert values == set(option.choices)


def test_the_types_of_rule_players_are_those_that_the_games_list() -> None:
    room = Path(kdenv.policies.__file__).parent
    stubs = ast.parse((room / "rule_players.pyi").read_text(encoding="utf-8"))
    made = {node.name: node.body[0] for node in stubs.body if isinstance(node, ast.ClassDef)}
    players = [player for game in TITLES for player in kdenv.game(game).knowledge.players.items()]
    listed = [name for name, rule in players if rule.make.__module__.startswith("kdenv.")]  # other tests may have added some
    assert list(made) == list(dict.fromkeys(map(in_capitals, listed)))
    init = ast.parse((room / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(init) if isinstance(node, ast.ImportFrom)]
    assert [alias.asname for node in imports if node.module == "kdenv.policies.rule_players" for alias in node.names] == sorted(made)
    for name, function in made.items():
        cls = getattr(kdenv.policies, name)
        assert isinstance(function, ast.FunctionDef)
        assert [said.arg for said in function.args.kwonlyargs] == list(cls.parameters())
        for said, default, parameter in zip(function.args.kwonlyargs, function.args.kw_defaults, cls.parameters().values(), strict=True):
            assert said.annotation is not None and default is not None
            hint = eval(ast.unparse(said.annotation), {"Literal": Literal})
            assert ast.literal_eval(default) == parameter.default
            assert parameter.type is (str if get_origin(hint) is Literal else hint)
            for value in get_args(hint) or (parameter.default,):
                assert getattr(cls(**{parameter.name: value}), parameter.name) == value


def test_the_types_of_parameters_are_those_of_the_environment() -> None:
    types = get_type_hints(TableParameters)
    named = [p.name for p in inspect.signature(TableEnv).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert list(types) == named
    rewards = next(each for each in get_args(types["reward"]) if get_origin(each) is Literal)
    assert get_args(rewards) == REWARDS
    for name in ("observation", "illegal", "render_mode", "reward"):
        values = types[name] if get_origin(types[name]) is Literal else next(e for e in get_args(types[name]) if get_origin(e) is Literal)
        for value in get_args(values):
            TableEnv(**{name: value})
