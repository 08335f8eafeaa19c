"""Dominion for PettingZoo: `env`, `raw_env` and `parallel_env`. The parameters are those of kdenv.envs.TableEnv."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdenv.envs import aec, parallel

if TYPE_CHECKING:
    from typing import Unpack

    from kdenv.envs.setup import TableParameters
    from kdenv.games.dominion.options import DominionOptions

    class _Parameters(TableParameters, DominionOptions, total=False): ...


def env(players: int | None = None, **parameters: Unpack[_Parameters]) -> aec.TableEnv:
    """Make an environment for all seats, in which an illegal action is a loss."""
    return aec.env("dominion", players, **parameters)


def raw_env(players: int | None = None, **parameters: Unpack[_Parameters]) -> aec.TableEnv:
    """Make an environment for all seats, in which an illegal action is an error."""
    return aec.raw_env("dominion", players, **parameters)


def parallel_env(players: int | None = None, **parameters: Unpack[_Parameters]) -> parallel.TableParallelEnv:
    """Make the environment of env() for libraries that step all agents at once. An agent that does not decide has one action, to wait."""
    return parallel.parallel_env("dominion", players, **parameters)
