"""PPO of RLlib against random players. Needs `pip install "ray[rllib]"` in a separate environment, because it needs an older Gymnasium.

RLlib has a module for masks. It takes observations that are dicts of "observations" and "action_mask", both as float32.
"""

import argparse
import time

import gymnasium
import numpy as np
import ray
from gymnasium import spaces
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

GAME = {"players": 2, "size": 3, "opponents": "random", "seat": "rotate", "reward": "margin", "skip_forced": True}


def make_env(config):
    """A game of kdenv for RLlib. The config has the name of the environment and its parameters."""
    parameters = dict(config)
    env = gymnasium.make(parameters.pop("name", "kdenv:kdenv/Kingdomino-v0"), observation="dict", **parameters)
    seen_by_env = env.observation_space
    assert isinstance(seen_by_env, spaces.Dict)
    space = spaces.Dict(
        {
            "observations": seen_by_env["observation"],
            "action_mask": spaces.Box(0.0, 1.0, seen_by_env["action_mask"].shape, np.float32),
        }
    )

    def as_floats(seen):
        return {"observations": seen["observation"], "action_mask": seen["action_mask"].astype(np.float32)}

    return gymnasium.wrappers.TransformObservation(env, as_floats, space)


def main():
    """Train a player, and print its mean reward."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--iterations", type=int, default=10)
    arguments = parser.parse_args()
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    register_env("kingdomino", make_env)
    config = (
        PPOConfig()
        .environment("kingdomino", env_config=GAME)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .learners(num_learners=0)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [128]}))
        .training(gamma=1.0, lr=1e-3, train_batch_size_per_learner=1024, minibatch_size=256, num_epochs=4, entropy_coeff=0.01)
        .debugging(seed=1, log_level="ERROR")
    )
    algorithm = config.build_algo()
    begun = time.perf_counter()
    margins = [algorithm.train()["env_runners"]["episode_return_mean"] for _ in range(arguments.iterations)]
    algorithm.stop()
    ray.shutdown()
    steps, seconds = 1024 * arguments.iterations, time.perf_counter() - begun
    print(f"{steps} steps in {seconds:.0f} s; margin {100 * margins[0]:+.1f} points at first, {100 * margins[-1]:+.1f} at the end")


if __name__ == "__main__":
    main()
