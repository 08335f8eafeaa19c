"""Can the project be released: is the version in one place, are the workflows of the forge whole, and does the package please PyPI?"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from clean import environment

import kdenv

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMED = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]  # versions of Python

# The keys that the forge knows, of which we use these.
OF_WORKFLOW = {"name", "on", "permissions", "jobs"}
OF_JOB = {"name", "runs-on", "needs", "timeout-minutes", "strategy", "environment", "permissions", "steps"}
OF_STEP = {"name", "uses", "with", "run", "env", "if"}
EVENTS = {"push", "pull_request", "schedule"}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def complaints(workflow: Any) -> list[str]:
    """What the forge would refuse, or what would fail there."""
    found = [f"unknown key {key}" for key in workflow.keys() - OF_WORKFLOW - {True}]  # YAML reads the word on as true
    found += [f"unknown event {event}" for event in workflow.get("on", workflow.get(True, {})).keys() - EVENTS]
    for name, job in workflow["jobs"].items():
        found += [f"{name}: unknown key {key}" for key in job.keys() - OF_JOB]
        needs = job.get("needs", [])
        found += [f"{name}: needs {other}" for other in ([needs] if isinstance(needs, str) else needs) if other not in workflow["jobs"]]
        if not isinstance(job.get("timeout-minutes"), int):
            found.append(f"{name}: no timeout-minutes")
        for step in job["steps"]:
            found += [f"{name}: unknown key {key}" for key in step.keys() - OF_STEP]
            if ("uses" in step) == ("run" in step):
                found.append(f"{name}: a step has either uses or run")
            if not re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step.get("uses", "a/b@v1")):
                found.append(f"{name}: {step['uses']} names no version")
            made = re.findall(r"make ([\w -]+)", step.get("run", ""))
            found += [f"{name}: make {target} is no target" for line in made for target in line.split() if target not in TARGETS]
            extras = re.findall(r'"\.\[(.*?)\]"', step.get("run", ""))
            extras = [extra for line in extras for extra in line.split(",")]
            found += [f"{name}: no extra {extra}" for extra in extras if extra not in PROJECT["optional-dependencies"]]
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_whole(path: Path) -> None:
    assert complaints(read(path)) == []


def test_a_broken_workflow_is_noticed() -> None:
    step = {"uses": "actions/checkout", "run": 'make tset && pip install ".[rll]"', "whith": {}}
    broken = {"on": {"push": None, "pushed": None}, "job": {}, "jobs": {"one": {"needs": "two", "run-on": "x", "steps": [step]}}}
    said = "\n".join(complaints(broken))
    for word in ("key job", "event pushed", "needs two", "key run-on", "no timeout", "key whith", "either", "no version", "tset", "rll"):
        assert word in said


def test_the_workflows_test_three_systems_and_the_pythons_that_the_package_names() -> None:
    jobs = read(ROOT / ".github/workflows/tests.yml")["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}
    tested = {*matrix["python"], *(each["python"] for each in matrix["include"])}
    tested |= {step["with"]["python-version"] for step in jobs["package"]["steps"] if "python-version" in step.get("with", {})}
    assert tested == set(NAMED)


def test_the_wheel_of_a_release_is_tried_on_every_python_before_it_is_published() -> None:
    jobs = read(ROOT / ".github/workflows/release.yml")["jobs"]
    assert set(jobs["wheel"]["strategy"]["matrix"]["python"]) == set(NAMED)
    assert (jobs["wheel"]["needs"], jobs["publish"]["needs"]) == ("build", "wheel")


def test_the_addresses_of_the_project_are_in_one_place() -> None:
    """Only pyproject.toml names them, so that a move of the repository is one change."""
    assert PROJECT["urls"].keys() == {"Repository", "Documentation", "Issues"}
    assert PROJECT["urls"]["Issues"] == PROJECT["urls"]["Repository"] + "/issues"
    place = PROJECT["urls"]["Repository"].removeprefix("https://")
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*.cff"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/*.py"), *ROOT.glob("kdenv/**/*.py")]
    assert [str(page.relative_to(ROOT)) for page in pages if place in page.read_text(encoding="utf-8")] == []


def test_the_image_is_pinned_and_has_a_health_check() -> None:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    base = next(line for line in lines if line.startswith("FROM "))
    assert re.search(r"/python:3\.\d+\.\d+-slim-\w+$", base)
    assert any(line.startswith("HEALTHCHECK ") for line in lines)
    pinned = dict(
        line.split("==") for line in (ROOT / ".ci/image.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    )
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["serve"], *PROJECT["optional-dependencies"]["render"]]
    assert {re.split(r"[<>=]", need)[0] for need in needed} <= pinned.keys()
    for need in needed:
        name, *bounds = re.split(r">=|,<", need)
        numbers = [tuple(map(int, text.split("."))) for text in (pinned[name], *bounds)]
        assert numbers[1] <= numbers[0] and all(numbers[0] < most for most in numbers[2:]), need


def test_publishing_needs_no_password_and_only_a_tag_publishes() -> None:
    release = read(ROOT / ".github/workflows/release.yml")
    assert release[True] == {"push": {"tags": ["v*"]}}
    assert release["permissions"] == {"contents": "read"}
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_whole(path: Path) -> None:
    form = read(path)
    assert form.keys() == {"name", "description", "labels", "body"}
    for question in form["body"]:
        assert question["type"] in {"textarea", "input"}
        assert question.keys() <= {"type", "id", "attributes", "validations"}
        assert question["attributes"]["label"]


def test_every_hook_runs_the_tool_of_a_target_on_changed_files() -> None:
    (local,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [hook["id"] for hook in local["hooks"]] == ["lint", "types"]
    for hook in local["hooks"]:
        assert hook.get("pass_filenames", True)
        command = hook["entry"].replace(".venv/bin", "$(BIN)")
        assert f"\n{hook['id']}: $(VENV)/.installed-dev\n\t{command}" in makefile


def test_the_version_is_in_one_place() -> None:
    assert "version" in PROJECT["dynamic"] and "version" not in PROJECT
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == kdenv.__version__
    assert citation["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors", "type"} <= citation.keys()
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(kdenv.__version__)}\b", changes, re.MULTILINE)


def test_pypi_would_take_the_packages(built: Path) -> None:
    pytest.importorskip("twine")
    files = sorted(map(str, built.iterdir()))
    assert [Path(file).name for file in files] == [f"kdenv-{kdenv.__version__}-py3-none-any.whl", f"kdenv-{kdenv.__version__}.tar.gz"]
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_source_package_has_nothing_that_git_does_not_keep(built: Path) -> None:
    """Such as a site that was built, which a .gitignore in a folder does not keep out."""
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if kept.returncode:
        pytest.skip("this is no clone")
    (package,) = built.glob("*.tar.gz")
    with tarfile.open(package) as inside:
        names = {name.partition("/")[2] for name in inside.getnames()}
    assert names - {"PKG-INFO"} <= set(kept.stdout.splitlines())


def test_what_was_left_in_the_folder_does_not_get_into_the_source_package(built: Path) -> None:
    """Its list names what is in it: the folders and files of a clone, and no wheel, archive or database among them."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["sdist"]
    (package,) = built.glob("*.tar.gz")
    with tarfile.open(package) as inside:
        names = {name.partition("/")[2] for name in inside.getnames()}
    tops = {name.partition("/")[0] for name in names} - {"PKG-INFO", ".gitignore", ""}
    assert tops == set(listed["only-include"])
    assert not [name for name in names if name.endswith((".whl", ".tar.gz", ".sqlite"))]
    assert package.stat().st_size < 12 << 20


def test_the_wheel_has_no_mistake_that_wheels_often_have(built: Path) -> None:
    pytest.importorskip("check_wheel_contents")
    done = subprocess.run(
        [sys.executable, "-m", "check_wheel_contents", built], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


PLAYED = """
import sys, kdenv
from kdenv import kingdomino_v0
from kdenv.cli import main
assert "site-packages" in kdenv.__file__, kdenv.__file__
env = kingdomino_v0.env(players=2)
env.reset(seed=1)
page = __import__("pathlib").Path(sys.argv[1]) / "match.html"
line_up = ["learned(kingdomino)", "ppo(kingdomino-ppo)", "random", "random"]
sys.exit(main(["match", "kingdomino", *line_up, "--games", "4", "--seed", "1", "--processes", "1", "--report", str(page)]))
"""

BATCH = """
import gymnasium, kdenv
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    batch = gymnasium.make_vec("kdenv/Kingdomino-v0", num_envs=2)
    _, info = batch.reset(seed=1)
    batch.step(info["action_mask"].argmax(axis=1))
print(len(compiled.buffer))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
@pytest.mark.parametrize("python", [f"python{version}" for version in NAMED])
def test_the_packages_work_in_an_environment_that_has_nothing_else(built: Path, tmp_path: Path, python: str, kind: str) -> None:
    """Models, pages and types are within; a match of learned players writes its report; the second process of a batch compiles nothing."""
    if shutil.which(python) is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no {python} here")
    (package,) = built.glob(kind)
    clean = environment(python, tmp_path / "venv", package)
    done = subprocess.run([clean, "-c", PLAYED, tmp_path], cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "match.html").read_text(encoding="utf-8")
    empty = {**os.environ, "KDENV_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run([clean, "-c", BATCH], cwd=tmp_path, env=empty, capture_output=True, text=True, timeout=900, check=True)
        for _ in range(2)
    )
    assert int(first.stdout) > 0
    assert (second.stdout, second.stderr) == ("0\n", "")
