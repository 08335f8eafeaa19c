"""Do TorchRL, Tianshou and RLlib take the environments? Each is installed into a Python environment of its own, because they pin others.

These tests need the network and minutes, so they run with --slow only. What is installed here already (torch, numba ...) is found by
the new environment, behind what it installs itself.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
HOME = Path(__file__).parents[2]
LIBRARIES = HOME / "examples" / "libraries"

TORCHRL = """
import kdenv
from kdenv.envs import SeatVectorEnv
from torchrl.envs import GymEnv, GymWrapper, PettingZooWrapper, check_env_specs

def masked(td):
    td["action"] = td["action_mask"].float().multinomial(1).squeeze(-1)
    return td

for game in kdenv.games():
    for parameters in ({}, {"observation": "dict"}):
        check_env_specs(GymEnv(f"kdenv/{kdenv.game(game).title}-v0", **parameters))
    many = SeatVectorEnv(game, num_envs=3, autoreset_mode="Disabled", observation="dict")
    for batch in (many, SeatVectorEnv(game, num_envs=3)):
        check_env_specs(GymWrapper(batch, categorical_action_encoding=True))
    played = GymWrapper(many, categorical_action_encoding=True).rollout(400, masked, break_when_any_done=False)
    assert played["next", "done"].sum() > 6 and not played["next", "done"].all()
    seats = PettingZooWrapper(getattr(kdenv, f"{game}_v0").parallel_env(), categorical_actions=True, use_mask=True)
    check_env_specs(seats)
    assert seats.rollout(100).shape[0] > 10
    print("passed:", game)
"""
RLLIB = """
import sys
sys.path.insert(0, LIBRARIES)
import gymnasium
from gymnasium.utils.env_checker import check_env
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

import kdenv
import rllib_ppo

for game in kdenv.games():
    name = f"kdenv/{kdenv.game(game).title}-v0"
    check_env(gymnasium.make(name).unwrapped, skip_render_check=True)  # RLlib leaves environments of one agent to this check
    check_env(rllib_ppo.make_env({"name": name}), skip_render_check=True)
    check_multiagent_environments(PettingZooEnv(getattr(kdenv, f"{game}_v0").env()))
    print("passed:", game)
"""


def run(python: Path, folder: Path, *command: str) -> str:
    """What a program prints that is run in an environment. What it writes to the home of the user goes to the folder."""
    environment = {**os.environ, "PYTHONPATH": str(HOME), "HOME": str(folder), "RAY_AUTH_MODE": "disabled", "PYTHONWARNINGS": "ignore"}
    environment.setdefault("KDENV_CACHE_DIR", str(folder / "cache"))
    done = subprocess.run([str(python), *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def environment_with(folder: Path, *packages: str) -> Path:
    """The Python of a new environment with these packages, and behind them all that is installed here."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    inside = subprocess.run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True)
    here = {Path(path) for path in sys.path if Path(path).name == "site-packages"}
    (Path(inside.stdout.strip()) / "behind.pth").write_text("\n".join(map(str, sorted(here))))
    torch = f"torch=={pytest.importorskip('torch').__version__}"  # stays as it is here
    done = subprocess.run([str(python), "-m", "pip", "install", "-q", *packages, torch], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return python


def test_torchrl_checks_and_learns(tmp_path: Path) -> None:
    python = environment_with(tmp_path / "venv", "torchrl")
    assert run(python, tmp_path, "-c", TORCHRL).count("passed") == 4
    assert "steps in" in run(python, tmp_path, str(LIBRARIES / "torchrl_ppo.py"), "--steps", "2048")


def test_tianshou_learns(tmp_path: Path) -> None:
    python = environment_with(tmp_path / "venv", "tianshou")
    assert "steps in" in run(python, tmp_path, str(LIBRARIES / "tianshou_dqn.py"), "--steps", "2048")


def test_rllib_checks_and_learns(tmp_path: Path) -> None:
    python = environment_with(tmp_path / "venv", "ray[rllib]")
    assert run(python, tmp_path, "-c", RLLIB.replace("LIBRARIES", repr(str(LIBRARIES)))).count("passed") == 4
    assert "steps in" in run(python, tmp_path, str(LIBRARIES / "rllib_ppo.py"), "--iterations", "2")
