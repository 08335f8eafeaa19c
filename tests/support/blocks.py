"""The code blocks and command lines of pages and docstrings, which tests run: what makes them quick, and what is not run and why.

In a page, blocks are fenced: those without a language hold command lines. In a docstring, `>>>` begins Python with what it prints;
lines that begin as a command does, in a paragraph of nothing else, are command lines; any other paragraph that is indented, or that
could be Python, is text, and TEXTS says of what.
"""

import ast
import contextlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).parents[2]
_FENCED = re.compile(r"^(<!-- not run: .+ -->\n)?```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"\s*(kdenv [a-z]+|python (-m|examples/\S+)|make [a-z-]+|pip install)( |$)")

# What makes a command or a block quick, without changing what it shows.
QUICK = [
    (r"--games \d+", "--games 4 --processes 1"),
    (r"--minutes [\d.]+", "--minutes 0.02"),
    (r"^(kdenv train .*)--against", r"\1--deals 2 --against"),
    (r"--seeds 1 2 3", "--seeds 1"),
    (r"games=\d+", "games=4"),
    (r"\.learn\(40_000\)", ".learn(1)"),
    (r"n_steps=256", "n_steps=64"),
    (r"playouts=\d+", "playouts=8"),
    (r"^kdenv bench", "kdenv bench --quick"),
    (r"(--verify \"mce, 1 ms\")", r"\1 --seed 1"),  # without a seed, a row fails in a game in 1 of 100 cases
    (r"^kdenv compare (.*?)( --deals \d+)?$", r"kdenv compare \1 --deals 2 --processes 1"),
    (r"^(python examples/cleanrl_ppo\.py) --steps \d+", r"\1 --steps 4096 --games 50"),
    (r"^(python examples/ppo_turns\.py) --seconds \d+", r"\1 --seconds 1 --num_envs 16"),
    (r"^(python examples/(?:alphazero|search_with_your_network)\.py) --seconds \d+", r"\1 --seconds 1 --games 8"),
    (r"\bminutes=\d+", "minutes=0.01"),
    (r"range\(30\)", "range(2)"),
    (r"deals=\d+", "deals=10"),
    (r"^(python -m baselines\.search\.foresight).*", r"\1 --games 4 --playouts 8"),
    (r"^(python examples/dominion_against_pyminion\.py)", r"\1 --seconds 0.3"),
]

# How a command that is not run here begins, and why it is not.
_PAPERS = "papers take minutes, and have tests of their own (`kdenv reproduce --list` is run)"
_SERVER = "a server runs until it is ended, and programs need one; tests/server runs both"
NOT_RUN = {
    "make ": "builds an environment of its own",
    "pip ": "tests install nothing; test_release.py makes environments",
    "kdenv play ": "a person plays",
    "kdenv warm": "test_commands.py does it game by game",
    "kdenv serve": _SERVER,
    "kdenv join": _SERVER,
    "python examples/server/": _SERVER,
    "kdenv reproduce --quick": _PAPERS,
    "kdenv reproduce wong": _PAPERS,
    "kdenv reproduce jan": _PAPERS,
    "kdenv reproduce claims": _PAPERS,
    "kdenv league baselines/": "takes hours; test_strongest_leagues.py checks that its policies can play",
    "kdenv ladder baselines/": "takes minutes; test_ladder.py plays small ones",
    "python -m baselines.search.improvement": "takes minutes; test_improvement.py measures in a small game",
    "python -m baselines.search.ceiling": "takes minutes; test_ceiling.py searches a small game",
    "python -m baselines.papers.": _PAPERS,
    "python -m baselines.tools.": "takes minutes; the tests of the arena use parts of it",
    "kdenv export": "needs a trained model; test_learned.py exports one",
}

# Docstrings with indented paragraphs that are neither Python nor commands, and what they are.
TEXTS = {
    "kdenv/core/entry_points.py": "lines of a pyproject.toml; tests/toy_package has such lines, and test_entry_points.py installs it",
    "kdenv/core/record.py": "a record",
    "kdenv/games/dominion/notation.py": "parts of a position",
    "kdenv/networks/network.py": "the questions of a network with their arguments",
    "kdenv/training/training.py": "files of a folder",
    "baselines/papers/claims.py": "columns of a table",
    "baselines/papers/tables.py": "words of a table",
}

_SECTIONS = ("Args:", "Attributes:", "Returns:", "Raises:", "Yields:")


class Docstring(NamedTuple):
    """A docstring, and whose it is."""

    file: str
    name: str  # empty for a module
    text: str

    @property
    def has_python(self) -> bool:
        return ">>> " in self.text


def quick(text: str) -> str:
    for pattern, replacement in QUICK:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def blocks(page: Path) -> list[tuple[str, str]]:
    """The kind and the text of every block of a page that is not marked as one that cannot be run."""
    return [(kind, text) for mark, kind, text in _FENCED.findall(page.read_text(encoding="utf-8")) if not mark]


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every command line of a page that is run."""
    for kind, text in blocks(page):
        if not kind:
            yield from _words(text.replace("\\\n", " ").splitlines())


def docstrings() -> list[Docstring]:
    """Every docstring of the package, of baselines and of examples."""
    paths = [path for room in ("kdenv", "baselines", "examples") for path in sorted((HOME / room).rglob("*.py"))]
    return [docstring for path in paths for docstring in docstrings_of(path)]


def docstrings_of(path: Path) -> Iterator[Docstring]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
            yield Docstring(path.relative_to(HOME).as_posix(), getattr(node, "name", ""), text)


def commands_in(docstring: str) -> Iterator[list[str]]:
    """The words of every command line of a docstring that is run."""
    for lines in _paragraphs(docstring):
        if all(map(_COMMAND.match, lines)):
            yield from _words([line.strip() for line in lines])


def texts_in(docstring: str) -> Iterator[str]:
    """The paragraphs of a docstring that are indented or could be Python, and that are neither examples nor commands."""
    for lines in _paragraphs(docstring):
        if any(">>> " in line for line in lines) or all(map(_COMMAND.match, lines)) or lines[0].strip() in _SECTIONS:
            continue
        indented = [line for line in lines if line.startswith("    ")]
        if indented or _is_python("\n".join(lines)):
            yield "\n".join(indented or lines)


def _is_python(text: str) -> bool:
    """True if this could be Python. A single word is not."""
    with contextlib.suppress(SyntaxError):
        return not isinstance(ast.parse(text).body[0], ast.Expr) or not text.isidentifier()
    return False


def run_python(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in this folder. It finds kdenv and baselines of this repository."""
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=300, check=False)


def _paragraphs(text: str) -> list[list[str]]:
    return [paragraph.splitlines() for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def _words(lines: list[str]) -> Iterator[list[str]]:
    for line in lines:
        if _COMMAND.match(line) and not line.startswith(tuple(NOT_RUN)):
            yield shlex.split(quick(line), comments=True)
