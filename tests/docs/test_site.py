"""Does the site take what it says it takes, does it list every public name with a sentence, and is what leads nowhere an error?

The blocks of its pages are run by tests/cli/test_commands.py, and those of docstrings and examples by test_docstrings.py.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import public
import pytest

import kdenv

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def extension() -> Iterator[str]:
    """The name of the package that makes pages, which can be imported while a test uses this."""
    sys.path.insert(0, str(DOCS))
    yield "extension"
    sys.path.remove(str(DOCS))


# Public names


def test_every_public_name_is_listed_and_says_in_a_sentence_what_it_is(extension: str) -> None:
    names = import_module(f"{extension}.names")
    found = [each for module in (*names.MODULES, *names.GAME_MODULES) for each in names.public_names(module)]
    assert {"kdenv", "kdenv.author", "kdenv.arena", "kdenv.envs", "kdenv.policies", "kdenv.games.dominion"} <= {e.module for e in found}
    assert [f"{each.module}.{each.name}" for each in found if len(each.said.split()) < 2] == []


def test_what_contributing_calls_public_is_listed_and_nothing_else(extension: str) -> None:
    names = import_module(f"{extension}.names")
    outside = {game for game in kdenv.games() if game not in import_module("kdenv.games").TITLES}  # other tests may have added some
    listed = [module for module in (*names.MODULES, *names.GAME_MODULES) if not any(game in module for game in outside)]
    assert sorted(listed) == sorted([*public.MODULES, *public.ENVIRONMENTS])
    assert all(import_module(module).__all__ for module in public.MODULES)


def test_a_name_is_documented_once(extension: str, tmp_path: Path) -> None:
    names = import_module(f"{extension}.names")
    names.write_pages(tmp_path)
    text = (tmp_path / "kdenv.author.md").read_text(encoding="utf-8")
    assert "It is {py:obj}`kdenv.policies.Policy`, which is documented there." in text
    assert "{py:class} View(table: Table, seat: int)" in text
    assert "{py:method} legal() -> list[int]" in text
    policies = (tmp_path / "kdenv.policies.md").read_text(encoding="utf-8")
    assert policies.count("{py:method} to_json() -> ") < 6  # of public bases, not of each class that inherits it
    assert "It also has what {py:obj}`kdenv.policies.SearchPolicy` has." in policies


def test_signatures_show_what_a_reader_would_type(extension: str) -> None:
    signature = import_module(f"{extension}.names")._signature

    class Two(NamedTuple):
        one: "int | None"
        two: Path = Path()

    def function(self: Any, a: str = "x", *, call: Callable[[int], int] = lambda number: number) -> "Path":
        raise NotImplementedError

    assert signature(function) == "(a: str = 'x', *, call: Callable[[int], int] = ...) -> Path"
    assert signature(Two).startswith("(one: int | None, two: Path = ")


def test_docstrings_become_pages(extension: str) -> None:
    as_markdown = import_module(f"{extension}.names")._as_markdown
    assert as_markdown("kdenv/<Title>-v0, `<b>`") == "kdenv/&lt;Title>-v0, `<b>`"
    assert as_markdown("A table.\n\n>>> print('<b>')\n<b>\n\n    <i>\n# no title") == (
        "A table.\n\n~~~pycon\n>>> print('<b>')\n<b>\n~~~\n\n    <i>\n\\# no title"
    )


def test_no_page_of_names_has_html_of_a_docstring(extension: str, tmp_path: Path) -> None:
    """A word in angle brackets, such as <Title>, would hide the rest of the page."""
    import_module(f"{extension}.names").write_pages(tmp_path)
    for page in tmp_path.glob("*.md"):
        text = re.sub(r"^~~~.*?^~~~$|^( {4}|[`{]{4}).*?$|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        assert re.findall(r"<\w+>", text) == [], page.name
    assert "`state_dtype`" in (tmp_path / "index.md").read_text(encoding="utf-8")


# Parts of READMEs


def test_a_page_takes_a_section_without_its_heading(extension: str) -> None:
    pages = import_module(f"{extension}.pages")
    taken = pages.filled("# Mine\n\n```{from} README.md\nTraining and evaluation\n```\n\nEnd")
    assert taken.startswith("# Mine\n\n`SeatVecEnv` holds many games in one array")
    assert taken.endswith("End")
    assert "## " not in taken


@pytest.mark.parametrize("block, complaint", [("README.md\nTrianing", "has no section 'Trianing'"), ("REDAME.md\n(all)", "REDAME.md")])
def test_a_part_that_is_not_there_is_an_error(extension: str, block: str, complaint: str) -> None:
    pages = import_module(f"{extension}.pages")
    with pytest.raises((pages.PageError, FileNotFoundError), match=complaint):
        pages.filled(f"```{{from}} {block}\n```")


PROGRAMS = [
    path for folder in ("write", "tutorials") for path in sorted((DOCS / folder).glob("*.md")) if path.stem not in ("index", "tour")
]


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda path: path.stem)
def test_the_blocks_of_a_page_that_builds_something_are_its_whole_program(extension: str, page: Path) -> None:
    """Each line from the first import on, in its order: the examples that the tests run are what a reader copies."""
    pages = import_module(f"{extension}.pages")
    text = page.read_text(encoding="utf-8")
    (path,) = set(re.findall(r"^```\{from\} (\S+\.py)$", text, re.MULTILINE))
    shown = "\n".join(re.findall(r"^```python\n(.*?)^```$", pages.filled(text), re.MULTILINE | re.DOTALL))
    program = (ROOT / path).read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert [line for line in shown.splitlines() if line] == [line for line in program.splitlines() if line]


def test_a_part_of_a_program_begins_with_its_decorators_and_is_cut_by_the_next(extension: str, tmp_path: Path, monkeypatch) -> None:
    pages = import_module(f"{extension}.pages")
    (tmp_path / "own.py").write_text("import a\n\n\n# why\n@b\ndef c():\n    d = 1\n\n    return d\n\n\n# e\n\nf()\n", encoding="utf-8")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    parts = pages.code("own.py", ["import a", "def c", "return", "# e"])
    assert parts == [f"```python\n{part}\n```" for part in ("import a", "# why\n@b\ndef c():\n    d = 1", "    return d", "# e\n\nf()")]
    with pytest.raises(pages.PageError, match=r"own.py has no line that begins with 'import a' after line 4"):
        pages.code("own.py", ["def c", "import a"])


def test_links_lead_to_pages_or_name_the_file(extension: str) -> None:
    linked = import_module(f"{extension}.pages").linked
    assert linked("[the games](kdenv/games/dominion/README.md)", "README.md") == "[the games](/games/dominion.md)"
    assert linked("[more](../../REFERENCES.md#searches)", "kdenv/arena/README.md") == "[more](/references.md#searches)"
    assert linked("[licence](LICENSE)", "README.md") == "licence (`LICENSE`)"
    assert linked("[below](#search-with-networks)", "baselines/README.md") == "[below](/strength.md#search-with-networks)"
    assert linked("[start](docs/start.md)", "README.md") == "[start](/start.md)"
    assert linked("[site](docs/README.md)", "README.md") == "site (`docs/README.md`)"
    assert linked("![a game](examples/kingdomino.svg)", "README.md") == "![a game](/../examples/kingdomino.svg)"
    assert linked("`[not](a-link)` [a](https://b.c)", "README.md") == "`[not](a-link)` [a](https://b.c)"
    with pytest.raises(ValueError, match=r"README\.md links to kdenv/game\.md, which is not there"):
        linked("[x](kdenv/game.md)", "README.md")


def test_a_notebook_becomes_words_and_blocks_of_code(extension: str, tmp_path: Path, monkeypatch) -> None:
    pages = import_module(f"{extension}.pages")
    cells = [("markdown", ["# Title\n", "\n", "Words."]), ("code", ["a = 1\n", "a"])]
    (tmp_path / "tour.ipynb").write_text(json.dumps({"cells": [{"cell_type": kind, "source": text} for kind, text in cells]}))
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    assert pages.filled("```{from} tour.ipynb\n(all)\n```").strip() == "Words.\n\n```python\na = 1\na\n```"


def test_each_section_with_sections_becomes_a_page(extension: str, tmp_path: Path, monkeypatch) -> None:
    pages = import_module(f"{extension}.pages")
    text = "# Results\n\n## All\n\nNo page.\n\n## Gedda, Butler 2018 (Kingdomino)\n\nWords.\n\n### Table I\n\n```\n# code\n```\n"
    (tmp_path / "results.md").write_text(text)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    pages.write_sections("results.md", tmp_path / "out")
    (page,) = (tmp_path / "out").iterdir()
    assert page.name == "gedda-butler-2018-kingdomino.md"
    assert page.read_text() == "# Gedda, Butler 2018 (Kingdomino)\n\nWords.\n\n## Table I\n\n```\n# code\n```\n"


def test_the_fields_of_a_dataclass_are_explained_by_their_comments(extension: str) -> None:
    names = import_module(f"{extension}.names")
    game, knowledge = (dict(names._fields(getattr(import_module("kdenv.author"), name))) for name in ("Game", "Knowledge"))
    assert game["title"] == "As in the environment kdenv/Title-v0."
    assert knowledge["reflex"].startswith("A player that is called before any search")  # the comment is above the field
    assert len(game) > 15 and len(knowledge) > 6


# The site


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--fresh-env", source, out]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)


CONF = 'extensions = ["myst_parser"]\nnitpicky = True\nhtml_theme = "furo"\n'


@pytest.mark.parametrize(
    "page, complaint",
    [
        ("[there](nowhere.md)", "nowhere.md"),
        ("[there](#nothing)", "nothing"),
        ("{py:func}`kdenv.nothing`", "kdenv.nothing"),
        ("```{literalinclude} conf.py\n:start-at: nothing\n```", "nothing"),
    ],
)
def test_what_leads_nowhere_fails(tmp_path: Path, page: str, complaint: str) -> None:
    """These are the settings of docs/conf.py that matter here; a copy, as that one plays games."""
    pytest.importorskip("sphinx")
    settings = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert "nitpicky = True" in settings and '"myst_parser"' in settings
    (tmp_path / "conf.py").write_text(CONF, encoding="utf-8")
    (tmp_path / "index.md").write_text(f"# Title\n\n{page}\n", encoding="utf-8")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode != 0
    assert complaint in done.stderr


@pytest.mark.slow
def test_the_site_is_built_and_has_what_a_page_of_a_game_needs(tmp_path: Path) -> None:
    """`make docs`, which .ci/run calls, does the same."""
    pytest.importorskip("sphinx")
    done = build(DOCS, tmp_path)
    assert done.returncode == 0, done.stderr
    for name in import_module("kdenv.games").TITLES:
        page = (tmp_path / "games" / f"{name}.html").read_text(encoding="utf-8")
        for words in (
            "Rules as implemented",
            "import",
            "Discrete(",
            "part by part",
            "Rewards",
            "Policies",
            "Version history",
            "Start and end of an episode",
            "A game, played through",
        ):
            assert words in page, (name, words)
        assert len(re.findall(rf'<img [^>]*src="\.\./_images/{name}[.-]', page)) == 5  # a moving picture, and four of positions
