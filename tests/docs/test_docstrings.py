"""Do the examples in docstrings print what they say, and do the command lines in them run? Does each of examples/ say how it is run?"""

from importlib import import_module
from inspect import isroutine
from pathlib import Path

import public
import pytest
from blocks import HOME, NOT_RUN, TEXTS, Docstring, commands_in, docstrings, docstrings_of, run_python, texts_in
from numba.extending import is_jitted
from served import Served

from kdenv.cli import main
from kdenv.compiler.digest import questions

pytestmark = pytest.mark.cold

ALL = docstrings()
PYTHON = sorted({docstring.file for docstring in ALL if docstring.has_python})
COMMANDS = [docstring for docstring in ALL if list(commands_in(docstring.text))]

# Runs the examples of one module. Where a docstring speaks of a server, SERVER is the address of one.
EXAMINE = """
import doctest, importlib, sys
name, server = sys.argv[1:]
finder = doctest.DocTestFinder()
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
for test in finder.find(importlib.import_module(name), name, globs={}):
    for example in test.examples:
        example.source = example.source.replace("http://127.0.0.1:8000", server)
    runner.run(test)
assert runner.tries, f"{name} has examples that doctest does not find"
sys.exit(runner.failures > 0)
"""


@pytest.mark.parametrize("file", PYTHON)
def test_examples_print_what_their_docstrings_say(file: str, tmp_path: Path) -> None:
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    with Served(tmp_path / "games.db") as served:
        done = run_python(["-c", EXAMINE, module, f"http://127.0.0.1:{served.port}"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("docstring", COMMANDS, ids=lambda docstring: f"{docstring.file}{docstring.name}")
def test_commands_of_docstrings_run(docstring: Docstring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("examples", "baselines"):
        (tmp_path / name).symlink_to(HOME / name)
    for words in commands_in(docstring.text):
        if words[0] == "kdenv":
            assert main(words[1:]) == 0, words
        else:
            done = run_python(words[1:], tmp_path)
            assert done.returncode == 0, (words, done.stderr)
            assert done.stdout


def test_every_example_says_how_it_is_run() -> None:
    files = {path.relative_to(HOME).as_posix() for path in (HOME / "examples").glob("*.py")}
    ours = [docstring for docstring in COMMANDS if docstring.file in files]
    assert {docstring.file for docstring in ours} == files
    assert [docstring.file for docstring in ours if not any(docstring.file in words for words in commands_in(docstring.text))] == []


def test_what_is_indented_in_a_docstring_is_run_or_is_known_to_be_text() -> None:
    found = {docstring.file for docstring in ALL if list(texts_in(docstring.text))}
    assert found == set(TEXTS)


def test_every_reason_not_to_run_a_command_is_needed() -> None:
    """By a page, a docstring or a help text."""
    kinds = ("**/*.md", "**/*.py")
    rooms = [HOME / room for room in ("kdenv", "baselines", "examples", "docs")]
    written = [path.read_text(encoding="utf-8") for room in rooms for kind in kinds for path in room.glob(kind)]
    written += [path.read_text(encoding="utf-8") for path in HOME.glob("*.md")]
    assert [begin for begin in NOT_RUN if not any(begin in text for text in written)] == []


def test_every_public_function_has_an_example() -> None:
    """Verbs and questions are answered by the kernels of a game or of a part; "Write your own" shows them."""
    asked = {id(each) for each in questions}
    found = [(module, name, getattr(import_module(module), name)) for module in public.MODULES for name in import_module(module).__all__]
    functions = [each for each in found if (isroutine(each[2]) or is_jitted(each[2])) and id(each[2]) not in asked]
    assert len(functions) > 40
    assert [f"{module}.{name}" for module, name, function in functions if ">>> " not in (function.__doc__ or "")] == []


WRITTEN = '''"""A module.

    >>> 1 + 1
    2

python examples/mine.py --games 100      # quickly

    kdenv games
    python -m baselines.papers.mine

    kdenv kingdomino players=4
    = 52 48

play("kingdomino", games=4)
"""


def one():
    """kdenv says nothing here, nor does
    python.
    """
'''


def test_python_commands_and_texts_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blocks.HOME", tmp_path)
    file = tmp_path / "module.py"
    file.write_text(WRITTEN, encoding="utf-8")
    module, function = docstrings_of(file)
    assert module.has_python and not function.has_python
    games = ["python", "examples/mine.py", "--games", "4", "--processes", "1"]
    assert list(commands_in(module.text)) == [games, ["kdenv", "games"]]
    assert list(texts_in(module.text)) == ["    kdenv kingdomino players=4\n    = 52 48", 'play("kingdomino", games=4)']
    assert list(commands_in(function.text)) == list(texts_in(function.text)) == []
