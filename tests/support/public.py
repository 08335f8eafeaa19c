"""What ARCHITECTURE.md says is public."""

import re
from pathlib import Path

from kdenv.games import TITLES

_ROOT = Path(__file__).parents[2]


def _modules() -> list[str]:
    said = (_ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("**Public** is what")[2].partition("All else")[0]
    named = re.findall(r"`(kdenv[\w.<>]*)`", said)
    return [module.replace("<game>", game) for module in named for game in (TITLES if "<game>" in module else ("",))]


MODULES = [module for module in _modules() if not module.endswith("_v0")]  # those whose `__all__` is public
ENVIRONMENTS = [module for module in _modules() if module.endswith("_v0")]  # those that are public as a whole
