"""Tells Gymnasium and PettingZoo of the games. Happens on `import kdenv`; nothing else is imported for it, least of all numba."""

import gymnasium
import pettingzoo

from kdenv.games import TITLES


def register(name: str, title: str) -> None:
    """Register a game as kdenv/<Title>-v0: with Gymnasium for one seat that learns, with PettingZoo for all seats."""
    identity = f"kdenv/{title}-v0"
    # Registering anew (as after a reload) would warn of what is no mistake.
    if identity not in gymnasium.registry:
        gymnasium.register(identity, entry_point="kdenv.envs.seat:SeatEnv", kwargs={"game": name})
    if identity not in pettingzoo.aec_registry:
        pettingzoo.register("aec", identity, entry_point="kdenv.envs.aec:env", kwargs={"game": name})
        pettingzoo.register("parallel", identity, entry_point="kdenv.envs.aec:parallel_env", kwargs={"game": name})


def register_all() -> None:
    """Register every game of the package."""
    for name, title in TITLES.items():
        register(name, title)
