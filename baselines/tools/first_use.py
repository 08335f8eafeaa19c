"""Prints the CPU seconds of a game's first use in a new process.

python -m baselines.tools.first_use kingdomino                              # with the cache
KDENV_CACHE_DIR=$(mktemp -d) python -m baselines.tools.first_use kingdomino # without it
"""

import sys
import time
from typing import Any

PARTS = ("import", "make", "reset", "step", "search")


def main(game: str) -> None:
    """Use the game once, and print the CPU time of each part and of the whole process so far."""
    at = [time.process_time()]
    import gymnasium

    import kdenv

    at.append(time.process_time())
    env: Any = gymnasium.make(f"kdenv/{kdenv.game(game).title}-v0", opponents="random")
    at.append(time.process_time())
    _, info = env.reset(seed=1)
    at.append(time.process_time())
    env.step(int(info["action_mask"].argmax()))
    at.append(time.process_time())
    env.unwrapped.reset(seed=2)
    kdenv.policy("mce(playouts=100)").act(env.unwrapped.view())
    at.append(time.process_time())
    print(game, *[f"{part} {end - begin:.2f}" for part, begin, end in zip(PARTS, at, at[1:], strict=False)], f"whole process {at[-1]:.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
