"""Environments that have a package and what it needs, and nothing else."""

import os
import subprocess
from pathlib import Path

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


def environment(python: str, folder: Path, package: Path, extra: str = "") -> Path:
    """Make an environment in this folder with a package, with or without an extra. Return its Python."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    clean = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(clean), "-m", "pip", "install", "--quiet", "--constraint", str(CONSTRAINTS)]
    if extra == "rl":  # torch first: left to itself pip would fetch a build for graphics cards
        subprocess.run([*pip, "torch"], check=True, timeout=1800)
    subprocess.run([*pip, f"{package}[{extra}]" if extra else str(package)], check=True, timeout=1800)
    return clean
