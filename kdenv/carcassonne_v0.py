"""Carcassonne for PettingZoo: `env`, `raw_env` and `parallel_env`, as PettingZoo's own games have them; see kdenv.envs.aec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdenv.envs import aec

if TYPE_CHECKING:
    from typing import Unpack

    from kdenv.envs.setup import TableParameters
    from kdenv.games.carcassonne.options import CarcassonneOptions

    class _Parameters(TableParameters, CarcassonneOptions, total=False): ...


def env(players: int | None = None, **parameters: Unpack[_Parameters]) -> aec.TableEnv:
    """A game for all seats, in which an illegal action is a loss."""
    return aec.env("carcassonne", players, **parameters)


def raw_env(players: int | None = None, **parameters: Unpack[_Parameters]) -> aec.TableEnv:
    """A game for all seats, in which an illegal action is an error."""
    return aec.raw_env("carcassonne", players, **parameters)


def parallel_env(players: int | None = None, **parameters: Unpack[_Parameters]) -> aec.ForAllAtOnce:
    """The game of env() for libraries that step all agents at once."""
    return aec.parallel_env("carcassonne", players, **parameters)
