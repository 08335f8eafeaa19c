"""What the modules `kdenv.<game>_v0` hold, as PettingZoo's own environments do: env, raw_env and parallel_env of one game."""

from __future__ import annotations

from functools import partial
from typing import Any

from pettingzoo import AECEnv, ParallelEnv

from kdenv.envs import aec


def doors(game: str) -> tuple[partial[AECEnv[str, Any, Any]], partial[aec.TableEnv], partial[ParallelEnv[str, Any, Any]]]:
    """env, raw_env and parallel_env of this game."""
    return partial(aec.env, game), partial(aec.raw_env, game), partial(aec.parallel_env, game)
