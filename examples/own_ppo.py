"""Proximal policy optimization in one file: a network learns a game by playing all of its seats, in many games at once. Needs torch.

python examples/own_ppo.py --game dominoes --minutes 5

A step takes one action in each game, for the seat to move. A seat is rewarded at the end of its game, so the return of a decision is
computed from later decisions of the same seat. Decisions of other seats in between are part of its environment.
"""

import argparse
import time

import numpy as np
import torch
from torch import nn

import kdenv
from kdenv.envs import SeatVectorEnv, SelfPlay

N_GAMES, N_STEPS, LAMBDA, CLIP, EPOCHS, BATCH = 256, 64, 0.95, 0.2, 3, 2048


class Network(nn.Module):
    """The logits of all actions, and the value of the position for the seat that observes it."""

    def __init__(self, n_observed: int, n_actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_observed, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.policy, self.value = nn.Linear(128, n_actions), nn.Linear(128, 1)

    def forward(self, observation: torch.Tensor, mask: torch.Tensor) -> tuple[torch.distributions.Categorical, torch.Tensor]:
        """The distribution of legal actions, and the value, for each row."""
        hidden = self.body(observation)
        logits = self.policy(hidden).masked_fill(mask == 0, -1e9)
        return torch.distributions.Categorical(logits=logits), self.value(hidden).squeeze(-1)


def play(network: Network, batch: SelfPlay, now):
    """Play N_STEPS decisions in each game. Return them with advantages and returns, and the last observations."""
    steps = []
    for _ in range(N_STEPS):
        observation, mask = torch.as_tensor(now.observation), torch.as_tensor(now.action_mask)
        with torch.no_grad():
            odds, value = network(observation, mask)
            action = odds.sample()
        after = batch.step(action.numpy())
        steps.append((observation, mask, action, odds.log_prob(action), value, now.seat, after.rewards, after.terminated | after.truncated))
        now = after
    # Go back through the steps. For each seat of each game: its reward, its value and its advantage at its next decision, and whether
    # that decision, or the end of the game, is in this rollout at all.
    game = np.arange(batch.num_envs)
    paid, next_value, next_advantage = (np.zeros((batch.num_envs, batch.players), np.float32) for _ in range(3))
    known = np.zeros((batch.num_envs, batch.players), bool)
    with torch.no_grad():
        _, value = network(torch.as_tensor(now.observation), torch.as_tensor(now.action_mask))
    next_value[game, now.seat], known[game, now.seat] = value.numpy(), True
    told = []
    for observation, mask, action, log_odds, value, seat, rewards, over in reversed(steps):
        paid[over], next_value[over], next_advantage[over], known[over] = rewards[over], 0, 0, True
        surprise = paid[game, seat] + next_value[game, seat] - value.numpy()
        advantage = surprise + LAMBDA * next_advantage[game, seat]
        keep = torch.as_tensor(known[game, seat])
        columns = observation, mask, action, log_odds, torch.as_tensor(advantage), torch.as_tensor(advantage) + value
        told.append([column[keep] for column in columns])
        paid[game, seat], next_value[game, seat], next_advantage[game, seat], known[game, seat] = 0, value.numpy(), advantage, True
    return [torch.cat(column) for column in zip(*told, strict=True)], now


def learn(network: Network, optimizer: torch.optim.Optimizer, told: list[torch.Tensor]) -> None:
    """Make the steps of PPO on these decisions."""
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(told[0])).split(BATCH):
            observation, mask, action, old, advantage, worth = (column[rows] for column in told)
            odds, value = network(observation, mask)
            ratio = (odds.log_prob(action) - old).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            loss = 0.5 * (value - worth).square().mean() - gain - 0.005 * odds.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def strength(network: Network, game: str, opponent: str, encoding: str | None) -> float:
    """The mean reward in the first game of each of 256 rows, in every seat in turn, by the most probable actions."""
    env = SeatVectorEnv(game, opponent, num_envs=256, seat="rotate", encoding=encoding)
    observations, infos = env.reset(seed=1)
    first = np.full(env.num_envs, np.nan)
    while np.isnan(first).any():
        with torch.no_grad():
            odds, _ = network(torch.as_tensor(observations), torch.as_tensor(infos["action_mask"]))
        observations, rewards, terminated, truncated, infos = env.step(odds.logits.argmax(-1).numpy())
        ended = (terminated | truncated) & np.isnan(first)
        first[ended] = rewards[ended]
    return float(first.mean())


def main() -> None:
    """Train for some minutes of CPU time, and print the strength of the network from time to time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--game", default="dominoes")
    parser.add_argument("--minutes", type=float, default=5, help="CPU minutes of training, without compiling and evaluations")
    parser.add_argument("--opponent", default="random", help="whom the network is measured against")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)  # in networks this small, threads mostly wait for each other
    encoding = kdenv.game(arguments.game).training_encoding or None
    batch = SelfPlay(arguments.game, N_GAMES, encoding=encoding)
    now = batch.step(batch.reset(seed=1).action_mask.argmax(axis=1))  # compiles, so that no training time goes into that
    network = Network(batch.n_observed, batch.n_actions)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    spent, told_at, decisions = 0.0, 0.0, 0
    while spent < 60 * arguments.minutes:
        since = time.process_time()
        told, now = play(network, batch, now)
        learn(network, optimizer, told)
        spent += time.process_time() - since
        decisions += N_GAMES * N_STEPS
        if spent - told_at > 20 or spent >= 60 * arguments.minutes:
            told_at, reward = spent, strength(network, arguments.game, arguments.opponent, encoding)
            print(f"{spent:.0f} s, {decisions:,} decisions: {reward:+.3f} against {arguments.opponent}", flush=True)


if __name__ == "__main__":
    main()
