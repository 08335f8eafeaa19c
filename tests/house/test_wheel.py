"""Does the wheel hold kdenv and nothing else, with its models, and does its page work outside the repository?"""

import os
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import kdenv

pytestmark = pytest.mark.cold

ROOT = Path(__file__).parents[2]
ABOUT = f"kdenv-{kdenv.__version__}.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    """The content of a wheel built from these sources."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (file,) = folder.iterdir()
    return zipfile.Path(file)


@pytest.fixture(scope="module")
def page(wheel: zipfile.Path) -> str:
    """The page that PyPI shows, as text with its headings."""
    return (wheel / ABOUT / "METADATA").read_text(encoding="utf-8")


def test_only_kdenv_becomes_a_package(wheel: zipfile.Path) -> None:
    assert {path.name for path in wheel.iterdir()} == {"kdenv", ABOUT}


def test_the_wheel_has_every_file_of_the_package(wheel: zipfile.Path) -> None:
    inside = {name for name in wheel.root.namelist() if name.startswith("kdenv/") and not name.endswith("/")}
    kinds = (".py", ".pyi", ".npz", ".md", ".html", ".js", ".css", ".svg", "py.typed")
    ours = (path for path in (ROOT / "kdenv").rglob("*") if path.name.endswith(kinds))
    assert inside == {path.relative_to(ROOT).as_posix() for path in ours}
    assert "kdenv/models/kingdomino-ppo.npz" in inside


def test_the_command_and_the_version_are_in_the_wheel(wheel: zipfile.Path, page: str) -> None:
    assert (wheel / ABOUT / "entry_points.txt").read_text() == "[console_scripts]\nkdenv = kdenv.cli:main\n"
    assert Parser().parsestr(page)["Version"] == kdenv.__version__


def test_the_page_has_no_link_that_works_only_in_the_repository(page: str) -> None:
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert len(links) >= 2
    assert [link for link in links if not link.startswith("https://")] == []


def test_every_file_that_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)]*)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    files = [link for link in links if not link.startswith("https://")]
    assert "kdenv/games/kingdomino/README.md" in files
    assert [link for link in files if not leads_somewhere(link)] == []


def leads_somewhere(link: str) -> bool:
    """Whether a link of the README leads to a file and, if it names a section, to a heading in it."""
    path, _, section = link.partition("#")
    if not section or not (ROOT / path).exists():
        return (ROOT / path).exists()
    headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    return section in {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_a_link_to_no_section_is_noticed() -> None:
    assert leads_somewhere("baselines/README.md#numbers-of-papers")
    assert not leads_somewhere("baselines/README.md#nothing")


def test_what_the_wheel_installs_plays_its_model(wheel: zipfile.Path, tmp_path: Path) -> None:
    wheel.root.extractall(tmp_path)
    code = (
        "import kdenv; from kdenv.author import make_rng; t = kdenv.table('kingdomino'); t.run_chance(make_rng(1)); "
        "print(kdenv.__file__); print(t.name(kdenv.policy('ppo(kingdomino-ppo)').act(t.view(t.seat))))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    place, action = done.stdout.splitlines()
    assert Path(place).is_relative_to(tmp_path)
    assert action.startswith("pick ")
