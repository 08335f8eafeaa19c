"""Environments for PettingZoo and Gymnasium: the only package that imports them. Nothing in it knows a game."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kdenv.envs.aec import TableEnv
    from kdenv.envs.decisions import BatchPolicy, Decisions
    from kdenv.envs.parallel import TableParallelEnv
    from kdenv.envs.rewards import ArrayReward, GameEnds
    from kdenv.envs.sb3 import SeatVecEnv
    from kdenv.envs.single_agent import SeatEnv
    from kdenv.envs.vector import SeatVectorEnv, SelfPlay

__all__ = [
    "ArrayReward",
    "BatchPolicy",
    "Decisions",
    "GameEnds",
    "SeatEnv",
    "SeatVecEnv",
    "SeatVectorEnv",
    "SelfPlay",
    "TableEnv",
    "TableParallelEnv",
]

_HOMES = {
    "ArrayReward": "kdenv.envs.rewards",
    "BatchPolicy": "kdenv.envs.decisions",
    "Decisions": "kdenv.envs.decisions",
    "GameEnds": "kdenv.envs.rewards",
    "SeatEnv": "kdenv.envs.single_agent",
    "SeatVecEnv": "kdenv.envs.sb3",  # needs Stable-Baselines3
    "SeatVectorEnv": "kdenv.envs.vector",
    "SelfPlay": "kdenv.envs.vector",
    "TableEnv": "kdenv.envs.aec",
    "TableParallelEnv": "kdenv.envs.parallel",
}


if not TYPE_CHECKING:  # to a type checker, a name that is not there is an error

    def __getattr__(name: str) -> Any:
        """Import an environment when it is asked for, because it imports numba, which `import kdenv` must not do."""
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        raise AttributeError(f"kdenv.envs has no {name}; it has {', '.join(__all__)}")
