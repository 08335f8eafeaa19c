"""Files that a user names: what is no ordinary file is refused in a sentence, where reading it would never end."""

import os
import socket
import sys
from pathlib import Path

import pytest

from kdenv.arena import League, Match, ResultsFile, merge, read
from kdenv.cli import main
from kdenv.core import files
from kdenv.core.errors import BadRecord

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")

DEVICES = ["/dev/full", "/dev/zero", "/dev/null"]


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_is_refused(device: str) -> None:
    with pytest.raises(BadRecord, match=f"^{device} is a device, of which no end may ever come; give an ordinary file$"):
        files.read_text(Path(device))


def test_a_pipe_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadRecord, match="pipe is a pipe"):
        files.read_text(tmp_path / "pipe")


def test_a_socket_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as there:
        there.bind("here")
        with pytest.raises(BadRecord, match="here is a socket"):
            files.read_text(Path("here"))


def test_a_file_larger_than_any_text_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files, "_MOST", 1 << 20)
    (tmp_path / "text").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(BadRecord, match="is larger than 1 MB"):
        files.read_text(tmp_path / "text")


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay", "/dev/full"],
        ["analyse", "/dev/zero", "mce(playouts=1)"],
        ["league", "/dev/zero"],
        ["match", "kingdomino", "random", "random", "--out", "/dev/full"],
        ["compare", "kingdomino", "random", "full_greedy", "--out", "/dev/zero"],
        ["train", "kingdomino", "--config", "/dev/zero"],
        ["trainings", "/dev/zero", "--draw", "x.svg"],
        ["bench", "kingdomino", "--quick", "--compare", "/dev/zero"],
    ],
    ids=" ".join,
)
def test_commands_refuse_devices(arguments: list[str], capsys, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert "is a device, of which no end may ever come" in capsys.readouterr().err


def test_results_are_neither_read_from_devices_nor_written_to_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    plan = League("kingdomino", ["random", "full_greedy"], deals=1, options={"size": 3})
    for attempt in (
        lambda: read("/dev/zero"),
        lambda: merge(plan, Path("nowhere"), Path("/dev/zero")),
        lambda: ResultsFile(tmp_path / "pipe", Match("kingdomino", ["random"] * 2, 1)).__enter__(),
    ):
        with pytest.raises(BadRecord, match=r"is a (device|pipe)"):
            attempt()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]  # no lock is left
