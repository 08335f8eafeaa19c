"""Trains one seat of a game. It imitates a greedy player for a while, and then learns by PPO against that player and its own past selves.

python examples/train_a_seat.py --minutes 10 --out model.zip       # then: kdenv match ... "ppo(model.zip)"

This needs the extra rl. The model is MaskablePPO of sb3-contrib with a plain network. During imitation the learner plays more and more of
the actions itself, and in each position the teacher says what it would do. The value of positions is learned from how games end.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

import kdenv
from kdenv.envs import SeatEnv

N_ENVS, N_STEPS = 8, 512
BATCH = 1024


class PastSelf:
    """An opponent that plays as the learner did at the last refresh. An opponent may be any function of a view."""

    def __init__(self, seed: int) -> None:
        self.layers: list[tuple[np.ndarray, np.ndarray]] = []
        self.random = np.random.default_rng(seed)

    def refresh(self, model: MaskablePPO) -> None:
        """Copy the network that the learner has now."""
        network = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
        linear = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
        self.layers = [(layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy()) for layer in linear]

    def __call__(self, view: Any) -> int:
        """Draw an action with the probabilities of the network."""
        legal = view.legal()
        x = view.observation()
        for weight, bias in self.layers[:-1]:
            x = np.tanh(weight @ x + bias)
        weight, bias = self.layers[-1]
        logits = (weight @ x + bias)[legal]
        return int(legal[int(np.argmax(logits + self.random.gumbel(size=len(legal))))])


def imitate(model: MaskablePPO, env: SeatEnv, teacher: Any, seconds: float) -> None:
    """Train the policy on what the teacher would do, and the value on how the games end."""
    optimizer = torch.optim.Adam(model.policy.parameters(), 1e-3)
    end = time.monotonic() + seconds
    memory: list[tuple[np.ndarray, np.ndarray, int, float]] = []  # observation, mask, the teacher's action, the result
    learner, seen = PastSelf(0), [0, 0, 0]  # the learner's decisions; how many of them the teacher agrees with; games
    learner.refresh(model)
    while time.monotonic() < end:
        # 1. Play a game. The teacher is asked in every position. At first its advice is followed always, later less and less often.
        followed = max(0.1, (end - time.monotonic()) / seconds)
        observation, _ = env.reset()
        game, over, reward = [], False, 0.0
        while not over:
            view = env.view()
            action = advice = int(teacher.act(view))
            if learner.random.random() > followed:
                action = learner(view)
                seen[0] += 1
                seen[1] += action == advice
            game.append((observation, env.action_masks(), advice))
            observation, reward, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
        memory += [(*step, float(reward)) for step in game]
        seen[2] += 1
        # 2. Learn from the newest and from older games.
        if seen[2] % 20 == 0 and len(memory) >= BATCH:
            memory = memory[-100_000:]
            for _ in range(4):
                _learn_from(model, optimizer, [memory[i] for i in learner.random.integers(len(memory), size=BATCH)])
            learner.refresh(model)
        if seen[2] % 1000 == 0:
            print(f"  {seen[2]} games; the learner agreed with the teacher in {seen[1] / max(seen[0], 1):.0%} of decisions", flush=True)
            seen[:2] = [0, 0]


def _learn_from(model: MaskablePPO, optimizer: torch.optim.Optimizer, batch: list[tuple[np.ndarray, np.ndarray, int, float]]) -> None:
    observations, masks, actions, results = (np.array(column) for column in zip(*batch, strict=True))
    values, log_probability, _ = model.policy.evaluate_actions(
        torch.as_tensor(observations), torch.as_tensor(actions), action_masks=torch.as_tensor(masks)
    )
    value_error = torch.nn.functional.mse_loss(values.flatten(), torch.as_tensor(results, dtype=torch.float32))
    loss = -log_probability.mean() + value_error
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class Clock(BaseCallback):
    """Stops training when the time is up, refreshes the past selves from time to time, and prints the mean reward."""

    def __init__(self, seconds: float, selves: list[PastSelf]) -> None:
        super().__init__()
        self.end = time.monotonic() + seconds
        self.selves = selves
        self.rollouts = 0

    def _on_step(self) -> bool:
        return time.monotonic() < self.end

    def _on_rollout_end(self) -> None:
        if self.rollouts % 10 == 0:
            self.selves[self.rollouts // 10 % len(self.selves)].refresh(self.model)
            rewards = [episode["r"] for episode in self.model.ep_info_buffer or []]
            print(f"  {self.num_timesteps} decisions, reward {np.mean(rewards):+.3f}" if rewards else "", flush=True)
        self.rollouts += 1


def main() -> None:
    """Train a model and save it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="kingdomino")
    parser.add_argument("--teacher", default="full_greedy", help="a policy to imitate, and to play against")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--imitate", type=float, default=0.4, help="the share of the time that is spent on imitation, from 0 to 1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="model.zip")
    arguments = parser.parse_args()

    torch.set_num_threads(1)  # in networks this small, threads mostly wait for each other
    selves = [PastSelf(arguments.seed + i) for i in range(2)]
    teacher = kdenv.policy(arguments.teacher)

    def make_env() -> SeatEnv:
        return SeatEnv(arguments.game, pool=[arguments.teacher, arguments.teacher, *selves], seat="rotate", reward="margin")

    envs = VecMonitor(DummyVecEnv([make_env] * N_ENVS))
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=N_STEPS,
        batch_size=BATCH,
        n_epochs=3,
        learning_rate=1e-4,
        gamma=1.0,
        clip_range=0.1,
        ent_coef=0.003,
        target_kl=0.03,
        seed=arguments.seed,
        device="cpu",
        stats_window_size=500,
        policy_kwargs={"net_arch": {"pi": [96, 96], "vf": [32]}},
    )
    for past in selves:
        past.refresh(model)

    seconds = 60 * arguments.minutes
    if arguments.imitate > 0:
        print(f"imitating {arguments.teacher}", flush=True)
        env = SeatEnv(arguments.game, opponents=arguments.teacher, seat="rotate", reward="margin")
        env.reset(seed=arguments.seed)
        imitate(model, env, teacher, seconds * arguments.imitate)
        for past in selves:
            past.refresh(model)
    print(f"playing against {arguments.teacher} and past selves", flush=True)
    model.learn(10**9, callback=Clock(seconds * (1 - arguments.imitate), selves))
    model.policy.optimizer.state.clear()  # Adam's averages would make the file three times as large
    model.save(arguments.out)
    print(f"saved as {arguments.out}")


if __name__ == "__main__":
    main()
