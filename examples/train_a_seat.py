"""Trains a MaskablePPO of sb3-contrib in many games at once. The opponents are policies that play inside the environment.

python examples/train_a_seat.py --minutes 10 --out model.zip       # then: kdenv match ... "ppo(model.zip)"

This needs the extra rl. `python -m baselines.rl.ppo` has past selves among the opponents, policies that score turns, checkpoints and
resume, too.
"""

from __future__ import annotations

import argparse
import time

from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import kdenv
from kdenv.envs import SeatVecEnv

ENCODINGS = {"kingdomino": "prospects", "dominoes": "ends"}  # other games have their default


class Strength(BaseCallback):
    """Stops training when the CPU time is up, and logs the margin and the share of wins from time to time."""

    def __init__(self, game: str, against: list[str], seconds: float, every: float) -> None:
        super().__init__()
        self.game, self.against, self.seconds, self.every = game, against, seconds, every
        self.next, self.began = every, 0.0

    def _on_training_start(self) -> None:
        self.began = time.process_time()

    def _on_step(self) -> bool:
        return time.process_time() - self.began < self.seconds

    def _on_rollout_end(self) -> None:
        now = time.process_time()
        if now - self.began > self.next:
            self.next += self.every
            found = kdenv.evaluate(self.model, self.game, against=self.against, seconds=5)
            for row in found.rows:
                self.logger.record(f"margin/{row.against}", row.margin.mean)
                self.logger.record(f"wins/{row.against}", row.wins.mean)
            print(f"{self.num_timesteps:,} decisions\n{found}\n", flush=True)
            self.began += time.process_time() - now  # the time of training does not include that of the evaluation


def main() -> None:
    """Train a model and save it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--game", default="kingdomino")
    parser.add_argument("--against", nargs="+", default=["full_greedy", "random"], help="each other seat draws one of these for every game")
    parser.add_argument("--minutes", type=float, default=10, help="CPU minutes of training, without compiling and evaluations")
    parser.add_argument("--evaluate", type=float, default=60, help="CPU seconds of training between two evaluations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="model.zip")
    arguments = parser.parse_args()

    encoding = ENCODINGS.get(arguments.game)
    games = SeatVecEnv(arguments.game, pool=arguments.against, num_envs=128, seat="rotate", reward="margin", encoding=encoding)
    games.reset()
    games.step(games.action_masks().argmax(axis=1))  # compiles, so that no training time goes into that
    model = MaskablePPO("MlpPolicy", games, n_steps=32, batch_size=1024, n_epochs=4, gamma=1.0, ent_coef=0.003, seed=arguments.seed)
    model.learn(10**9, callback=Strength(arguments.game, arguments.against, 60 * arguments.minutes, arguments.evaluate))
    model.save(arguments.out)
    print(f"saved as {arguments.out}")


if __name__ == "__main__":
    main()
