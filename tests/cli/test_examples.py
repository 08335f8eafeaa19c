"""Does every example run? Those that take long are told to be quick."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
EXAMPLES = sorted((HOME / "examples").glob("*.py"))
QUICK = {  # what makes them quick
    "train_a_seat.py": ["--minutes", "0.2"],
    "dominion_against_pyminion.py": ["--seconds", "0.3"],
    "own_ppo.py": ["--minutes", "0.05"],
    "cleanrl_ppo.py": ["--steps", "4096", "--games", "50"],
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example), *QUICK.get(example.name, [])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(HOME)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
