"""Trains a MaskablePPO of sb3-contrib in many games at once, against policies that are played inside the environment.

python examples/train_a_seat.py --minutes 10 --out model.zip       # then: kdenv match ... "ppo(model.zip)"

This needs the extra rl. `python -m baselines.rl.ppo` has past selves among the opponents, evaluations, checkpoints and resume, too.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from kdenv.envs import SeatVecEnv


class Clock(BaseCallback):
    """Stops training when the time is up, and prints the mean reward after each rollout."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.end = time.monotonic() + seconds

    def _on_step(self) -> bool:
        return time.monotonic() < self.end

    def _on_rollout_end(self) -> None:
        rewards = [episode["r"] for episode in self.model.ep_info_buffer or []]
        print(f"  {self.num_timesteps:,} decisions, reward {np.mean(rewards):+.3f}" if rewards else "", flush=True)


def main() -> None:
    """Train a model and save it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="kingdomino")
    parser.add_argument("--against", nargs="+", default=["full_greedy", "random"], help="each other seat draws one of these for every game")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="model.zip")
    arguments = parser.parse_args()

    games = SeatVecEnv(arguments.game, pool=arguments.against, num_envs=128, seat="rotate", reward="margin")
    model = MaskablePPO("MlpPolicy", games, n_steps=32, batch_size=1024, n_epochs=4, gamma=1.0, ent_coef=0.003, seed=arguments.seed)
    model.learn(10**9, callback=Clock(60 * arguments.minutes))
    model.save(arguments.out)
    print(f"saved as {arguments.out}")


if __name__ == "__main__":
    main()
