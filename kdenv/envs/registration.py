"""Registers the games with Gymnasium and PettingZoo. `import kdenv` does this, so nothing else may be imported here, such as numba."""

import gymnasium
import pettingzoo

from kdenv.core.entry_points import GAMES
from kdenv.games import TITLES


def register(name: str, title: str) -> None:
    """Register a game as kdenv/<Title>-v0: with Gymnasium for one seat that learns, and with PettingZoo for all seats."""
    identity = f"kdenv/{title}-v0"
    # Registering a second time, as after a reload, would print a warning although nothing is wrong.
    if identity not in gymnasium.registry:
        gymnasium.register(
            identity,
            entry_point="kdenv.envs.single_agent:SeatEnv",
            vector_entry_point="kdenv.envs.vector:SeatVectorEnv",
            kwargs={"game": name},
        )
    if hasattr(pettingzoo, "register") and identity not in pettingzoo.aec_registry:  # PettingZoo has registries since 1.27
        pettingzoo.register("aec", identity, entry_point="kdenv.envs.aec:env", kwargs={"game": name})
        pettingzoo.register("parallel", identity, entry_point="kdenv.envs.parallel:parallel_env", kwargs={"game": name})


def register_all() -> None:
    """Register every game of kdenv and of installed packages, whose games are imported only when an environment is made."""
    for name, title in TITLES.items():
        register(name, title)
    for name in GAMES.names():
        if name not in TITLES:
            from kdenv.core.parsing import in_capitals

            register(name, in_capitals(name))
