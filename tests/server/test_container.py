"""The Containerfile, as far as it can be tried without building an image: what it names exists, and its steps and its command run here.

`--slow` takes its steps in an environment made from nothing, with packages from PyPI, as the user of the command is not root.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.cold

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
LINES = TEXT.replace("\\\n", " ").splitlines()
STEPS = [tuple(line.split(maxsplit=1)) for line in LINES if line and not line.startswith("#")]
RUN = " && ".join(more for word, more in STEPS if word == "RUN")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LEFT_OUT = [line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
NOBODY = 65534  # the user nobody, and its group
COMMAND: list[str] = json.loads(dict(STEPS)["CMD"])


def test_every_step_is_one_that_is_tried_here() -> None:
    assert [word for word, _ in STEPS] == [
        "FROM",
        "ARG",
        "ARG",
        "ENV",
        "COPY",
        "RUN",
        "RUN",
        "USER",
        "WORKDIR",
        "VOLUME",
        "EXPOSE",
        "HEALTHCHECK",
        "CMD",
    ]


def test_its_python_is_one_that_the_package_supports() -> None:
    version = re.fullmatch(r"docker\.io/library/python:(3\.\d+)\.\d+-slim-bookworm", dict(STEPS)["FROM"])
    assert version
    assert f"Programming Language :: Python :: {version[1]}" in PROJECT["classifiers"]


def test_the_extras_that_it_installs_exist_and_have_what_the_server_needs() -> None:
    (extras,) = re.findall(r'"/source\[([a-z,]+)\]"', RUN)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    assert {"serve", "render"} <= set(extras.split(","))  # render makes the films


def test_what_git_does_not_keep_is_not_copied_into_the_image() -> None:
    assert dict(STEPS)["COPY"] == ". /source"
    ignored = {line.replace("!/", "!").strip("/*") for line in (ROOT / ".gitignore").read_text().splitlines()}
    assert ignored | {".git"} == {line.strip("/*") for line in LEFT_OUT}


def test_the_user_exists_is_not_root_and_may_write_to_the_volume() -> None:
    steps = dict(STEPS)
    assert f"useradd --create-home {steps['USER']}" in RUN
    assert f"install -d -o {steps['USER']} {steps['VOLUME']}" in RUN
    assert steps["WORKDIR"] == steps["VOLUME"]
    folder = re.findall(r"KDENV_CACHE_DIR=(\S+)", steps["ENV"])
    assert [f"kdenv warm --into {each}" in RUN for each in folder] == [True]
    assert COMMAND[COMMAND.index("--database") + 1].startswith(steps["VOLUME"] + "/")
    assert steps["EXPOSE"] == "8000"  # the usual port: the command names none
    assert "--port" not in COMMAND


def ask(address: str, path: str, body: object = None) -> object:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        content = answer.read()
    return json.loads(content) if answer.headers["Content-Type"].startswith("application/json") else content


@contextmanager
def volume(owner: int | None) -> Iterator[Path]:
    """An empty folder that everybody may enter and the user owns."""
    folder = Path(tempfile.mkdtemp(prefix="kdenv-volume-"))
    folder.chmod(0o755)
    if owner is not None:
        os.chown(folder, owner, owner)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def somebody_else(program: str) -> int | None:
    """A user who is not root and may run this program; None if we are not root, or it lies where nobody else may go."""
    if os.geteuid() != 0:
        return None
    try:
        subprocess.run([program, "--version"], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", capture_output=True, check=True)
    except PermissionError:
        return None
    return NOBODY


def serve_and_play(program: list[str], env: dict[str, str], nobody: int | None = None) -> None:
    """Run the command of the file with another volume and a free port, perhaps as another user. Play a game, make a film, and end it."""
    steps = dict(STEPS)
    with volume(nobody) as data:
        inside = [word.replace(steps["VOLUME"], str(data)) for word in COMMAND[1:]]
        kept = {name: value.replace("VOLUME", str(data)) for name, value in env.items()}
        as_nobody = {} if nobody is None else {"user": nobody, "group": nobody, "extra_groups": []}
        pipe = subprocess.PIPE
        command = [*program, *inside, "--port", "0"]
        server = subprocess.Popen(command, cwd=data, env=kept, stdout=pipe, stderr=subprocess.STDOUT, text=True, **as_nobody)
        try:
            assert server.stdout is not None
            said = next((line for line in server.stdout if "the page is at" in line), "nothing")
            found = re.search(r"http://0\.0\.0\.0:(\d+)/", said)
            assert found, said
            address = f"http://127.0.0.1:{found[1]}"
            assert b"<title>kdenv</title>" in ask(address, "/")  # type: ignore[operator]
            game = {"game": "kingdomino", "options": {"size": 3, "dominoes": 4}, "players": 2, "seats": ["mce(playouts=5)", "random"]}
            made = ask(address, "/api/v1/games", game)
            deadline = time.monotonic() + 300
            while (state := ask(address, f"/api/v1/games/{made['id']}"))["status"] != "over":  # type: ignore[index]
                assert time.monotonic() < deadline
                time.sleep(0.2)
            assert state["result"]["finished"]  # type: ignore[index]
            with pytest.raises(urllib.error.HTTPError, match="403"):  # nobody has played this game
                ask(address, f"/api/v1/games/{made['id']}/film.gif")
            assert (data / "games.sqlite").stat().st_uid == (nobody if nobody is not None else os.getuid())
            server.send_signal(signal.SIGTERM)  # what `podman stop` sends
            assert server.wait(60) == 0
        finally:
            server.kill()
            server.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="the image is one of Linux")
def test_the_command_serves() -> None:
    assert shlex.join(COMMAND).startswith("kdenv serve --host 0.0.0.0")
    serve_and_play([sys.executable, "-m", "kdenv"], {**os.environ, "PYTHONPATH": str(ROOT)})  # with the machine code that there is


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the image is one of Linux")
def test_the_steps_make_an_environment_in_which_the_command_runs(tmp_path: Path) -> None:
    copy = tmp_path / "source"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    with volume(None) as home:
        venv.create(home / "venv", with_pip=True)
        (install,) = re.findall(r'pip install --no-cache-dir --constraint /source/\.ci/image\.txt "([^"]+)"', RUN)
        pip = home / "venv" / "bin" / "pip"
        command = [pip, "install", "--quiet", "--no-cache-dir", install.replace("/source", str(copy))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "NewConnectionError" in done.stderr or "Temporary failure in name resolution" in done.stderr:
            pytest.skip("PyPI cannot be reached")
        assert done.returncode == 0, done.stderr
        shutil.rmtree(copy)  # the image removes it, too
        program = str(home / "venv" / "bin" / "kdenv")
        env = {"PATH": os.environ["PATH"], "KDENV_CACHE_DIR": "VOLUME/cache", "HOME": "VOLUME"}
        serve_and_play([program], env, somebody_else(program))
