"""Who may import whom: every line of the table in section 1 of the design, held by reading the sources."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GAMES = ("kingdomino", "dominion", "carcassonne", "dominoes")

# The files that every game room has.
OF_A_GAME = ["__init__", "options", "tables", "rules", "heuristics", "encoding", "notation", "drawing", "match_columns"]

# What the rooms of compiled code may import, the standard library apart; all else is forbidden to them.
ONLY = {
    "compiler": ("numpy", "numba", "llvmlite", "filelock", "platformdirs", "kdenv.compiler"),
    "core": ("numpy", "numba", "kdenv.compiler", "kdenv.core"),
    "drawing": ("jinja2", "markupsafe", "kdenv.drawing"),
    "search": ("numpy", "kdenv.compiler", "kdenv.core", "kdenv.search"),
    "networks": ("numpy", "kdenv.compiler", "kdenv.core", "kdenv.search", "kdenv.networks"),
    "games": ("numpy", "kdenv.compiler", "kdenv.core", "kdenv.drawing"),  # and, for each game, its own room
}
# What the other rooms may import of kdenv.
OF_KDENV = {
    "policies": ("compiler", "core", "search", "networks", "games", "policies"),
    "training": ("compiler", "core", "drawing", "search", "networks", "games", "policies", "training", "__version__"),
    "envs": ("compiler", "core", "games", "policies", "envs"),
    "rl": ("core", "envs", "policies", "rl"),
    "arena": ("compiler", "core", "drawing", "games", "policies", "arena", "__version__"),
    "server": ("compiler", "core", "games", "policies", "arena", "server", "__version__"),
    "author": ("compiler", "core", "search", "policies"),
    "client": (),
}
# The files of the compiler that other rooms may import; its README lists them.
DOORS = ("atomics", "bits", "cache_folder", "errors", "interrupts", "kernel", "notice", "question", "random", "state")
GYM = ("gymnasium", "pettingzoo")
TORCH = ("torch", "stable_baselines3", "sb3_contrib")
COMPILED_BY = {"kernel", "allocating_kernel"}


def complaints(path: str, source: str) -> list[str]:
    """What is wrong with this file, whose path is given from the root of the project; each with its line."""
    tree = ast.parse(source)
    room, *below = Path(path).with_suffix("").parts[1:] if path.startswith("kdenv/") else ("baselines",)
    found = []
    for line, name, in_function in imports(tree, path):
        wrong = forbidden(room, below, name, in_function)
        if wrong:
            found.append(f"{path}:{line} imports {name}: {wrong}")
    if room != "games":
        found += [f"{path}:{line} asks which game it is" for line in questions_which_game(tree)]
    found += [f"{path}:{line} has a string in a kernel" for line in strings_in_kernels(tree)]
    return found


def imports(tree: ast.Module, path: str) -> Iterator[tuple[int, str, bool]]:
    """Line, full name, and whether it is inside a function, of everything imported."""
    inside = {id(node) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = Path(path).parent.parts[: len(Path(path).parent.parts) - node.level + 1] if node.level else ()
            names = [".".join([*package, *([node.module] if node.module else []), alias.name]) for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            names = [node.args[0].value] if isinstance(node.args[0], ast.Constant) else []
        for name in names:
            yield node.lineno, name, id(node) in inside


def forbidden(room: str, below: list[str], name: str, in_function: bool) -> str:
    """Why this room may not import this name; empty if it may."""
    top = name.split(".")[0]
    if top in GYM and room not in ("envs", "bench", "baselines"):  # bench measures against their peers
        return "only envs may"
    is_vec_env = (room, below, top) == ("envs", ["sb3"], "stable_baselines3")  # a module that the package does not import
    is_model_file = (room, below) == ("policies", ["torch_models"]) and in_function
    if top in TORCH and room not in ("baselines", "rl", "bench") and not is_vec_env and not is_model_file:
        return "only rl, bench, baselines, functions of policies/torch_models.py and, for Stable-Baselines3, envs/sb3.py may"
    if room == "baselines" and top == "kdenv" and any(part.startswith("_") for part in name.split(".")):
        return "baselines use public names only"
    if room != "compiler" and within(name, ["kdenv.compiler"]) and not within(name, [f"kdenv.compiler.{door}" for door in DOORS]):
        return f"of the compiler, other rooms may import only {', '.join(DOORS)}"
    if top in sys.stdlib_module_names:
        return ""
    if room in ONLY:
        allowed = ONLY[room] + ((f"kdenv.games.{below[0]}",) if room == "games" and below[0] != "__init__" else ())
        return "" if within(name, allowed) else f"{room} may import only {', '.join(allowed)}"
    if room in OF_KDENV and top == "kdenv":
        is_kdom = (room, below) == ("server", ["kdom"])  # it speaks the protocol of the Kingdomino paper
        if within(name, [f"kdenv.games.{game}" for game in GAMES]) and not is_kdom:
            return f"{room} knows no game by name"
        if not within(name, [f"kdenv.{other}" for other in OF_KDENV[room]]):
            return f"of kdenv, {room} may import only {', '.join(OF_KDENV[room])}"
    return ""


def within(name: str, packages: list[str] | tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def questions_which_game(tree: ast.Module) -> Iterator[int]:
    """The lines that compare something with the name of a game."""
    for node in ast.walk(tree):
        compared = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        if isinstance(node, ast.match_case):
            compared = [node.pattern]
        words = [leaf.value for side in compared for leaf in ast.walk(side) if isinstance(leaf, ast.Constant)]
        if any(word in GAMES for word in words):
            yield compared[0].lineno


def strings_in_kernels(tree: ast.Module) -> Iterator[int]:
    """The lines of compiled functions that have a string which is not the docstring."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and any(ast.unparse(mark) in COMPILED_BY for mark in function.decorator_list):
            statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
            for leaf in (leaf for statement in statements for leaf in ast.walk(statement)):
                if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str):
                    yield leaf.lineno


def sources() -> list[str]:
    return [str(path.relative_to(ROOT)) for room in ("kdenv", "baselines") for path in sorted((ROOT / room).rglob("*.py"))]


def test_every_file_keeps_to_its_room() -> None:
    assert [complaint for path in sources() for complaint in complaints(path, (ROOT / path).read_text())] == []


@pytest.mark.parametrize("room", ["core", "games", "search", "policies"])
def test_there_are_files_to_check(room: str) -> None:
    assert any(path.startswith(f"kdenv/{room}/") for path in sources())


BROKEN = [
    # core knows no game, and nothing above it
    ("kdenv/core/table.py", "from kdenv.games.kingdomino import rules"),
    ("kdenv/core/table.py", "def f():\n    from kdenv.games import find_game"),
    ("kdenv/core/table.py", "from kdenv import games"),
    ("kdenv/core/table.py", "from ..games import find_game"),
    ("kdenv/core/table.py", "from kdenv.search import perft"),
    ("kdenv/core/table.py", "import pandas"),
    # the compiler has a few files for other rooms
    ("kdenv/core/table.py", "from kdenv.compiler.cache import KeptKernel"),
    ("kdenv/arena/match.py", "from kdenv.compiler import fast_compile"),
    # a game knows core and its own room
    ("kdenv/games/kingdomino/rules.py", "from kdenv.games.dominion import tables"),
    ("kdenv/games/kingdomino/rules.py", "from kdenv.games import find_game"),
    ("kdenv/games/kingdomino/rules.py", "from kdenv.search.playout import Uniform"),
    ("kdenv/games/kingdomino/rules.py", "import gymnasium"),
    ("kdenv/games/kingdomino/rules.py", "@kernel\ndef phase(s):\n    '''What is next?'''\n    return s.stage == 'over'"),
    ("kdenv/games/__init__.py", "from kdenv.games.kingdomino import GAME"),
    # search knows core
    ("kdenv/search/uct.py", "import kdenv.games.kingdomino"),
    ("kdenv/search/uct.py", "from kdenv.games import names"),
    ("kdenv/search/uct.py", "from kdenv.policies import policy"),
    # policies know no game by name
    ("kdenv/policies/simple.py", "from kdenv.games.kingdomino.heuristics import Greedy"),
    ("kdenv/policies/simple.py", "from kdenv.envs import aec"),
    ("kdenv/policies/simple.py", "from importlib import import_module\nimport_module('kdenv.games.kingdomino')"),
    ("kdenv/policies/simple.py", "def f():\n    import torch"),
    ("kdenv/policies/torch_models.py", "import torch"),
    ("kdenv/policies/learned.py", "def f():\n    from sb3_contrib import MaskablePPO"),
    # envs know no rules, no search, no arena
    ("kdenv/envs/aec.py", "from kdenv.games.kingdomino import rules"),
    ("kdenv/envs/aec.py", "from kdenv.search import perft"),
    ("kdenv/envs/aec.py", "from kdenv.arena import match"),
    ("kdenv/envs/aec.py", "import stable_baselines3"),
    ("kdenv/envs/sb3.py", "import torch"),
    # the arena knows neither gym nor torch
    ("kdenv/arena/match.py", "import gymnasium"),
    ("kdenv/arena/match.py", "def f():\n    import torch"),
    ("kdenv/arena/match.py", "from kdenv.envs.aec import TableEnv"),
    ("kdenv/cli/play.py", "from pettingzoo import AECEnv"),
    ("kdenv/author.py", "from kdenv.games.dominion import Card"),
    ("kdenv/server/web.py", "import torch"),
    ("kdenv/server/service.py", "from kdenv.games.kingdomino import GAME"),
    ("kdenv/server/service.py", "from kdenv.cli import play"),
    ("kdenv/kingdomino_v0.py", "import gymnasium"),
    # baselines use what is public
    ("baselines/rl/train.py", "from kdenv.policies.parse import _mce"),
    ("baselines/rl/train.py", "from kdenv._core import x"),
    # nobody outside games/ asks which game it is
    ("kdenv/search/uct.py", "def f(game):\n    if game == 'kingdomino':\n        return 1"),
    ("kdenv/cli/play.py", "def f(game):\n    return game.name in ('dominion', 'dominoes')"),
    ("kdenv/cli/play.py", "def f(game):\n    match game:\n        case 'dominion':\n            return 1"),
]


@pytest.mark.parametrize("path, source", BROKEN)
def test_the_checker_catches(path: str, source: str) -> None:
    assert len(complaints(path, source)) == 1


SOUND = [
    ("kdenv/compiler/bits.py", "from llvmlite import ir\nimport numba\nimport hashlib\nfrom kdenv.compiler.kernel import kernel"),
    ("kdenv/games/dominion/rules.py", "from kdenv.compiler.bits import bit\nfrom kdenv.games.dominion.tables import CARDS"),
    ("kdenv/games/dominion/notation.py", "def f(word):\n    return word == 'dominion'"),
    ("kdenv/policies/torch_models.py", "def f():\n    from sb3_contrib import MaskablePPO"),
    ("kdenv/policies/parse.py", "from kdenv.games import find_game\nfrom kdenv.search.budget import Budget"),
    ("kdenv/envs/aec.py", "import gymnasium\nfrom pettingzoo import AECEnv\nfrom kdenv.policies import policy"),
    ("kdenv/server/kdom.py", "from kdenv.games.kingdomino import kdom"),
    ("kdenv/envs/sb3.py", "from stable_baselines3.common.vec_env import VecEnv"),
    ("baselines/rl/train.py", "import torch\nfrom kdenv.envs.single_agent import SeatEnv"),
    ("kdenv/compiler/random.py", "@kernel\ndef below(rng, n):\n    '''A random integer.'''\n    return n"),
]


@pytest.mark.parametrize("path, source", SOUND)
def test_the_checker_lets_pass(path: str, source: str) -> None:
    assert complaints(path, source) == []


def test_importing_kdenv_imports_no_compiler() -> None:
    """`import kdenv` takes 0.3 s; numba alone takes longer, and waits until a game is asked for."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import kdenv, sys; print(*sys.modules)"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"numba", "torch"} & set(loaded.stdout.split())


@pytest.mark.parametrize("game", GAMES)
def test_every_game_room_has_the_same_files(game: str) -> None:
    files = [*(f"{name}.py" for name in OF_A_GAME), "README.md"]
    assert [file for file in files if not (ROOT / "kdenv" / "games" / game / file).is_file()] == []
