"""PPO in one file, in the style of CleanRL: a learner against random players, with actions masked by logits of -inf. Needs torch.

python examples/cleanrl_ppo.py --steps 40000

Gymnasium's vector environments reset a game in the step after its last one (NEXT_STEP). That step returns the first observation of the
next game, and its action is ignored. Such steps are left out of the loss. The last mask of a game is all ones, so the logits of its
last observation are numbers, too.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import flatdim
from torch import nn
from torch.distributions import Categorical

import kdenv  # noqa: F401  (importing it registers the environments)

N_ENVS, N_STEPS, N_MINIBATCHES, N_EPOCHS = 8, 128, 4, 4
GAMMA, LAMBDA, CLIP, ENTROPY, RATE = 1.0, 0.95, 0.2, 0.01, 1e-3
GAME: dict[str, Any] = {
    "players": 2,
    "size": 3,
    "encoding": "prospects",
    "seat": "rotate",
    "reward": "margin",
    "skip_forced": True,
}


def make_env(opponents="random"):
    """One game of Kingdomino on a small board. The learner has another seat in every game."""
    return gymnasium.make("kdenv/Kingdomino-v0", opponents=opponents, **GAME)


class Agent(nn.Module):
    """A network that gives the probabilities of actions and the value of a position."""

    def __init__(self, n_in, n_actions):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(n_in, 128), nn.Tanh(), nn.Linear(128, n_actions))
        self.critic = nn.Sequential(nn.Linear(n_in, 128), nn.Tanh(), nn.Linear(128, 1))

    def policy(self, observations, masks):
        """The distribution of legal actions."""
        return Categorical(logits=self.actor(observations).masked_fill(~masks, -torch.inf))

    def value(self, observations):
        """The values of the positions."""
        return self.critic(observations).squeeze(-1)


def entropy_of(policy):
    """The entropy; the probability 0 of an illegal action adds nothing to it. (Categorical.entropy would give NaN for -inf.)"""
    return -(policy.probs * policy.logits.clamp(min=-1e9)).sum(-1)


def win_share(agent, n_games, seed):
    """The share of games that the agent wins against random players, with its most probable actions."""
    env, wins = make_env(), 0.0
    for game in range(n_games):
        observation, info = env.reset(seed=seed if game == 0 else None)
        over = False
        while not over:
            with torch.no_grad():
                policy = agent.policy(torch.as_tensor(observation), torch.as_tensor(info["action_mask"], dtype=torch.bool))
            observation, _, terminated, truncated, info = env.step(int(policy.logits.argmax()))
            over = terminated or truncated
        ranks = info["ranks"]
        wins += (ranks[info["seat"]] == 1) / (ranks == 1).sum()
    return wins / n_games


def main():
    """Train an agent, and print its share of wins."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--games", type=int, default=500, help="games of the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)
    begun = time.perf_counter()

    envs = gymnasium.vector.SyncVectorEnv([make_env] * N_ENVS)
    n_in, n_actions = flatdim(envs.single_observation_space), flatdim(envs.single_action_space)
    agent = Agent(n_in, n_actions)
    optimizer = torch.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)
    observations = torch.zeros(N_STEPS, N_ENVS, n_in)
    masks = torch.zeros(N_STEPS, N_ENVS, n_actions, dtype=torch.bool)
    actions, log_probs, rewards, values, over, is_reset = (torch.zeros(N_STEPS, N_ENVS) for _ in range(6))
    observation, info = envs.reset(seed=arguments.seed)
    was_over = np.zeros(N_ENVS, bool)

    for _ in range(arguments.steps // (N_STEPS * N_ENVS)):
        # 1. Play N_STEPS steps in every game.
        for t in range(N_STEPS):
            observations[t] = torch.as_tensor(observation)
            masks[t] = torch.as_tensor(np.stack(info["action_mask"]), dtype=torch.bool)
            with torch.no_grad():
                policy = agent.policy(observations[t], masks[t])
                actions[t] = policy.sample()
                log_probs[t], values[t] = policy.log_prob(actions[t]), agent.value(observations[t])
            observation, reward, terminated, truncated, info = envs.step(actions[t].numpy().astype(np.int64))
            is_reset[t] = torch.as_tensor(was_over)
            was_over = terminated | truncated
            rewards[t], over[t] = torch.as_tensor(reward), torch.as_tensor(was_over)

        # 2. Estimate advantages backwards (GAE). The value after the end of a game is 0.
        advantages = torch.zeros(N_STEPS, N_ENVS)
        with torch.no_grad():
            following, last = agent.value(torch.as_tensor(observation)), torch.zeros(N_ENVS)
            for t in reversed(range(N_STEPS)):
                goes_on = 1 - over[t]
                delta = rewards[t] + GAMMA * following * goes_on - values[t]
                last = delta + GAMMA * LAMBDA * goes_on * last
                advantages[t], following = last, values[t]
        returns = advantages + values

        # 3. Improve the agent on these steps, without those that only dealt a new game.
        played = torch.nonzero(is_reset.flatten() == 0).squeeze(-1)
        flat = [each.flatten(0, 1)[played] for each in (observations, masks, actions, log_probs, advantages, returns)]
        for _ in range(N_EPOCHS):
            for batch in torch.randperm(len(played)).chunk(N_MINIBATCHES):
                seen, mask, action, old_log_prob, advantage, target = (each[batch] for each in flat)
                policy = agent.policy(seen, mask)
                ratio = (policy.log_prob(action) - old_log_prob).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
                loss = -gain + 0.5 * (agent.value(seen) - target).square().mean() - ENTROPY * entropy_of(policy).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()

    assert all(bool(parameter.isfinite().all()) for parameter in agent.parameters())
    share = win_share(agent, arguments.games, seed=arguments.seed + 1)
    seconds = time.perf_counter() - begun
    print(f"{arguments.steps} steps in {seconds:.0f} s; wins {share:.1%} of {arguments.games} games against random players")


if __name__ == "__main__":
    main()
