"""Does the training of baselines/rl/ppo.py learn, stop, go on and leave what it says?"""

import csv
import json
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")

import kdenv
from baselines.rl import ppo

pytestmark = pytest.mark.cold

TINY = ppo.Settings(
    options={"players": 2}, past=1, envs=8, steps=12, batch=48, epochs=1, layers=(8,), refresh=1, check=0, evaluate=1000, games=8
)


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_a_run_leaves_a_model_and_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = ppo.train(TINY, tmp_path, 0.02)
    shown = re.search(r"the environment took ([0-9.]+)% of the processor time of training\n", capsys.readouterr().out)
    assert shown and 0 < float(shown[1]) < 100
    assert first.num_timesteps > 0
    found = {file.name for file in tmp_path.iterdir()}
    assert {"checkpoint.zip", "model.npz", "past-0.npz", "progress.csv", "state.json", "strength.csv"} <= found
    kdenv.policy(f"ppo({tmp_path / 'model.npz'})").check(kdenv.game("kingdomino"), 2)
    again = ppo.train(TINY, tmp_path, 0.02)
    assert again.num_timesteps > first.num_timesteps
    told = rows(tmp_path / "strength.csv")
    assert [int(row["decisions"]) for row in told] == [first.num_timesteps, again.num_timesteps]
    assert all(row["opponent"] == "random" and row["games"] == "8" and float(row["interval"]) > 0 for row in told)
    assert len(list(tmp_path.glob("progress*.csv"))) == 2  # the first run's is not written over
    assert json.loads((tmp_path / "state.json").read_text(encoding="utf-8"))["next"] >= 2  # past selves have been replaced


def test_past_selves_are_replaced_in_turn(tmp_path: Path) -> None:
    settings = ppo.Settings(options={"players": 2}, past=2, envs=2, steps=2, batch=4, layers=(4,))
    env = ppo.environment(settings, ["random"], 2)
    model, pool = ppo.new_model(settings, env), ppo.Pool(settings, tmp_path)
    pool.fill(model)
    before = [file.stat().st_mtime_ns for file in pool.files]
    for expected in ([True, False], [True, True]):
        pool.refresh(model, env)
        assert [file.stat().st_mtime_ns != then for file, then in zip(pool.files, before, strict=True)] == expected


def test_the_settings_of_a_run_survive_json() -> None:
    again = ppo.Settings(**json.loads(json.dumps(asdict(TINY))))
    assert list(again.layers) == list(TINY.layers) and again.options == TINY.options and list(again.against) == list(TINY.against)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nogame"], "there is no game nogame; the games are"),
        (["kingdomino", "--option", "size"], "--option size is not NAME=VALUE; write for example --option size=5"),
        (["kingdomino", "--against", "nobody"], "there is no policy nobody"),
        (["--resume", "nowhere"], "nowhere has no run to go on with"),
    ],
)
def test_a_mistake_is_one_sentence(words: list[str], sentence: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "baselines.rl.ppo", *words, "--minutes", "0.01", "--out", str(tmp_path / "run")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2])
    assert told.returncode == 1 and told.stderr.startswith(sentence) and told.stderr.count("\n") == 1
