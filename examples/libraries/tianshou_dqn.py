"""DQN of Tianshou 2 against random players. Needs `pip install tianshou`.

Tianshou takes the mask of legal actions from observations that are dicts of "obs" and "mask".
"""

import argparse
import time

import gymnasium
import torch
from gymnasium.spaces import Dict, Discrete
from gymnasium.wrappers import TransformObservation
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import kdenv  # noqa: F401  (importing it registers the environments)


def make_env():
    """One game of Kingdomino on a small board, for Tianshou."""
    env = gymnasium.make(
        "kdenv/Kingdomino-v0", players=2, size=3, opponents="random", seat="rotate", reward="win", observation="dict", skip_forced=True
    )
    seen_by_env = env.observation_space
    assert isinstance(seen_by_env, Dict)
    space = Dict({"obs": seen_by_env["observation"], "mask": seen_by_env["action_mask"]})
    return TransformObservation(env, lambda seen: {"obs": seen["observation"], "mask": seen["action_mask"]}, space)


def main():
    """Train a player, and print its share of wins."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=10_000)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)

    envs, test_envs = (DummyVectorEnv([make_env] * 8) for _ in range(2))
    envs.seed(1)
    test_envs.seed(2)
    spaces = make_env()
    seen, actions = spaces.observation_space, spaces.action_space
    assert isinstance(seen, Dict) and isinstance(actions, Discrete)
    space = seen["obs"]
    network = Net(state_shape=space.shape, action_shape=int(actions.n), hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(model=network, action_space=actions, eps_training=0.1)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, target_update_freq=200, n_step_return_horizon=3)
    training = Collector(algorithm, envs, VectorReplayBuffer(20_000, 8), exploration_noise=True)
    testing = Collector(algorithm, test_envs)
    before = testing.collect(n_episode=200, reset_before_collect=True).returns_stat.mean

    begun = time.perf_counter()
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=training,
            test_collector=None,
            max_epochs=1,
            epoch_num_steps=arguments.steps,
            collection_step_num_env_steps=64,
            batch_size=64,
            update_step_num_gradient_steps_per_sample=0.3,
            show_progress=False,
        )
    )
    seconds = time.perf_counter() - begun
    after = testing.collect(n_episode=200, reset_before_collect=True).returns_stat.mean
    print(f"{arguments.steps} steps in {seconds:.0f} s; wins {(1 + before) / 2:.0%} untrained, {(1 + after) / 2:.0%} trained")


if __name__ == "__main__":
    main()
