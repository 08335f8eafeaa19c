"""Makes the functions that the modules `kdenv.<game>_v0` hold, as those of PettingZoo's own games do: env, raw_env and parallel_env."""

from __future__ import annotations

from functools import partial
from typing import Any

from pettingzoo import AECEnv, ParallelEnv

from kdenv.envs import aec


def entry_points(game: str) -> tuple[partial[AECEnv[str, Any, Any]], partial[aec.TableEnv], partial[ParallelEnv[str, Any, Any]]]:
    """The functions env, raw_env and parallel_env for the game of this name."""
    return partial(aec.env, game), partial(aec.raw_env, game), partial(aec.parallel_env, game)
