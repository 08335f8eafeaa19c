"""PPO of TorchRL against random players. Needs `pip install torchrl`.

With observation="dict" the mask is a part of the observation, and MaskedCategorical uses it. The games are one SeatVectorEnv, which TorchRL
resets itself (autoreset_mode="Disabled").
"""

import argparse
import time

import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from kdenv.envs import SeatVectorEnv

FRAMES, GAMES, EPOCHS, MINIBATCH = 1024, 32, 4, 256


def make_env():
    """Games of Kingdomino on a small board, for TorchRL."""
    options = {
        "players": 2,
        "size": 3,
        "encoding": "prospects",
        "opponents": "random",
        "seat": "rotate",
        "reward": "margin",
        "skip_forced": True,
    }
    games = SeatVectorEnv("kingdomino", num_envs=GAMES, observation="dict", autoreset_mode="Disabled", **options)
    return GymWrapper(games, categorical_action_encoding=True)


def main():
    """Train a player, and print its mean reward."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=10 * FRAMES)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)

    env = make_env()
    env.set_seed(1)
    n_in, n_actions = env.observation_spec["observation"].shape[-1], int(env.action_spec.space.n)
    to_mask = TensorDictModule(lambda mask: mask.bool(), in_keys=["action_mask"], out_keys=["mask"])
    network = nn.Sequential(nn.Linear(n_in, 128), nn.Tanh(), nn.Linear(128, n_actions))
    actor = ProbabilisticActor(
        TensorDictSequential(to_mask, TensorDictModule(network, in_keys=["observation"], out_keys=["logits"])),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(nn.Sequential(nn.Linear(n_in, 128), nn.Tanh(), nn.Linear(128, 1)), in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
    loss_of = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01)
    optimizer = torch.optim.Adam(loss_of.parameters(), lr=1e-3)
    collector = Collector(env, actor, frames_per_batch=FRAMES, total_frames=arguments.steps, auto_register_policy_transforms=True)

    begun, margins = time.perf_counter(), []
    for batch in collector:
        ends = batch["next", "done"].squeeze(-1)
        margins.append(float(batch["next", "reward"].squeeze(-1)[ends].mean()))
        for _ in range(EPOCHS):
            with torch.no_grad():
                advantage(batch)
            frames = batch.reshape(-1)
            for rows in torch.randperm(FRAMES).split(MINIBATCH):
                losses = loss_of(frames[rows])
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(loss_of.parameters(), 0.5)
                optimizer.step()
    collector.shutdown()
    seconds, first, last = time.perf_counter() - begun, 100 * margins[0], 100 * margins[-1]
    print(f"{arguments.steps} steps in {seconds:.0f} s; margin {first:+.1f} points at first, {last:+.1f} at the end")


if __name__ == "__main__":
    main()
