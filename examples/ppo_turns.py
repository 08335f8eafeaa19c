"""PPO in one file, in the manner of CleanRL, for a policy that scores turns. It learns Kingdomino by self-play. Needs torch.

python examples/ppo_turns.py --seconds 300 --out scores.npz      # then: kdenv match kingdomino "ppo(scores.npz)" full_greedy ...

The agent has no output for each action number. It looks at the position after each legal action, before any chance (an afterstate),
and gives it a number; the policy is the softmax of the numbers of a position. Positions have different numbers of legal actions, so the
rows of all positions lie one after the other, without padding, and `position` says to which position a row belongs.

A step takes one action in each game, for the seat to move. The next decision of a seat is not the next step of its game: what other
seats do in between belongs to its environment. So rewards, values and advantages are followed for each seat by itself.
"""

import argparse
import time
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import nn, optim

import kdenv
from kdenv.envs import SelfPlay


@dataclass
class Args:
    """The settings. Each is an option of the command line, such as --num_envs 64."""

    game: str = "kingdomino"
    encoding: str = "prospects"
    opponent: str = "full_greedy"  # whom the agent is evaluated against
    seconds: float = 60.0  # of CPU time of training, without compiling and evaluations
    evaluate: float = 30.0  # seconds of training between two evaluations
    out: str = ""  # the model file to write at the end
    seed: int = 1
    num_envs: int = 256
    num_steps: int = 64  # decisions in each game between two updates
    minibatch_size: int = 1024
    update_epochs: int = 2
    learning_rate: float = 1e-3
    gamma: float = 1.0
    gae_lambda: float = 0.9
    clip_coef: float = 0.2
    ent_coef: float = 0.003
    vf_coef: float = 12.5  # rewards are points / 100, so errors are small
    max_grad_norm: float = 1.0


def layers(n_in):
    """A network with one output."""
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))


class Agent(nn.Module):
    """An actor that scores afterstates, and a critic that values the observation of the seat to move."""

    def __init__(self, n_in):
        super().__init__()
        self.actor, self.critic = layers(n_in), layers(n_in)
        last = self.actor[-1]
        assert isinstance(last, nn.Linear)
        nn.init.orthogonal_(last.weight, 0.01)  # all actions are about equally probable at first

    def get_value(self, observations):
        """The value of each observation."""
        return self.critic(observations).squeeze(1)

    def get_log_probs(self, rows, position, n):
        """The log probability of each row: a softmax within each of the n positions."""
        scores = self.actor(rows).squeeze(1)
        largest = torch.full((n,), -torch.inf).scatter_reduce(0, position, scores.detach(), "amax")
        shifted = scores - largest[position]
        return shifted - torch.zeros(n).index_add(0, position, shifted.exp()).log()[position]


def draw(log_probs, position, n):
    """Draw a row of each position. The largest of log probabilities with Gumbel noise is such a draw."""
    noisy = log_probs - (-torch.rand(len(log_probs)).clamp(min=1e-38).log()).log()
    largest = torch.full((n,), -torch.inf).scatter_reduce(0, position, noisy, "amax")
    rows = torch.nonzero(noisy == largest[position]).squeeze(1)
    return torch.empty(n, dtype=torch.int64).index_copy(0, position[rows], rows)


def main():
    """Train, and print the strength of the agent and the decisions a second."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for each in fields(Args):
        parser.add_argument(f"--{each.name}", type=each.type, default=each.default)
    args = Args(**vars(parser.parse_args()))
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # in networks this small, threads mostly wait for each other
    shuffles, n_envs, each_env = np.random.default_rng(args.seed), args.num_envs, np.arange(args.num_envs)

    envs = SelfPlay(args.game, n_envs, reward="margin", encoding=args.encoding, skip_forced=True)
    agent = Agent(envs.n_observed)
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    now = envs.reset(seed=args.seed)
    envs.afterstates(whole=False)  # compiles
    used, decisions, evaluated = 0.0, 0, 0.0

    while used < args.seconds:
        begun = time.process_time()
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - 0.95 * used / args.seconds)

        # 1. Play num_steps decisions in every game. Rows of decision i are rows[starts[i]] to rows[starts[i + 1] - 1].
        observations, rows, counts, chosen, log_probs, values, seats, rewards, ended = ([] for _ in range(9))
        n_rows = 0
        for _ in range(args.num_steps):
            found = envs.afterstates(whole=False)
            position = torch.from_numpy(found.position)
            with torch.no_grad():
                log_p = agent.get_log_probs(torch.from_numpy(found.observations), position, n_envs)
                row = draw(log_p, position, n_envs)
                values.append(agent.get_value(torch.from_numpy(now.observation)).numpy())
            observations.append(now.observation)
            seats.append(now.seat)
            rows.append(found.observations)
            counts.append(np.diff(found.starts))
            chosen.append(row.numpy() + n_rows)
            log_probs.append(log_p[row])
            n_rows += len(found)
            now = envs.step(found.actions[row.numpy()])
            rewards.append(now.rewards.astype(np.float32))
            ended.append(now.terminated | now.truncated)

        # 2. Estimate advantages backwards (GAE), for each seat by itself. `next_...` are those of its next decision. `known` is whether
        # that decision, or the end of the game, lies in this rollout; other decisions are not learned from.
        paid, next_value, next_advantage = (np.zeros((n_envs, envs.players), np.float32) for _ in range(3))
        known = np.zeros((n_envs, envs.players), bool)
        with torch.no_grad():
            next_value[each_env, now.seat] = agent.get_value(torch.from_numpy(now.observation)).numpy()
        known[each_env, now.seat] = True
        advantages: list[np.ndarray] = []
        usable: list[np.ndarray] = []
        for t in reversed(range(args.num_steps)):
            over, mine = ended[t], (each_env, seats[t])
            paid[over], next_value[over], next_advantage[over], known[over] = 0, 0, 0, True
            paid += rewards[t]
            delta = paid[mine] + args.gamma * next_value[mine] - values[t]
            advantages.insert(0, delta + args.gamma * args.gae_lambda * next_advantage[mine])
            usable.insert(0, known[mine].copy())
            paid[mine], next_value[mine], next_advantage[mine], known[mine] = 0, values[t], advantages[0], True

        # 3. Put all decisions one after the other.
        b_observations, b_rows = torch.from_numpy(np.concatenate(observations)), torch.from_numpy(np.concatenate(rows))
        b_counts, b_chosen = torch.from_numpy(np.concatenate(counts)), torch.from_numpy(np.concatenate(chosen))
        b_starts = b_counts.cumsum(0) - b_counts
        b_log_probs, b_advantages = torch.cat(log_probs), torch.from_numpy(np.concatenate(advantages))
        b_returns = b_advantages + torch.from_numpy(np.concatenate(values))
        learned_from = np.flatnonzero(np.concatenate(usable))
        del rows, observations

        # 4. Optimize the agent on minibatches of decisions.
        entropy = v_loss = approx_kl = torch.zeros(())
        for _ in range(args.update_epochs):
            for batch in torch.from_numpy(shuffles.permutation(learned_from)).split(args.minibatch_size):
                n = len(batch)
                position = torch.arange(n).repeat_interleave(b_counts[batch])
                first = b_counts[batch].cumsum(0) - b_counts[batch]  # of the rows of each decision in this minibatch
                index = torch.arange(len(position)) + (b_starts[batch] - first)[position]
                log_p = agent.get_log_probs(b_rows[index], position, n)
                log_ratio = log_p[b_chosen[batch] - b_starts[batch] + first] - b_log_probs[batch]
                ratio = log_ratio.exp()
                advantage = b_advantages[batch]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                pg_loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)).mean()
                entropy = -(log_p.exp() * log_p).sum() / n
                v_loss = (agent.get_value(b_observations[batch]) - b_returns[batch]).square().mean()
                loss = pg_loss - args.ent_coef * entropy + args.vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
                approx_kl = (ratio - 1 - log_ratio).mean()  # of the last minibatch, like entropy and v_loss

        # 5. Report.
        decisions += args.num_steps * n_envs
        used += time.process_time() - begun
        print(
            f"{used:.0f} s: {decisions:,} decisions, {decisions / used:,.0f} a second, {n_rows / len(b_counts):.1f} rows each, "
            f"entropy {entropy.item():.2f}, kl {approx_kl.item():.4f}, value loss {v_loss.item():.4f}",
            flush=True,
        )
        if used - evaluated > args.evaluate or used >= args.seconds:
            evaluated = used
            print(kdenv.evaluate(agent.actor, args.game, against=args.opponent, encoding=args.encoding, seconds=5), flush=True)
    if args.out:
        kdenv.save_network(args.out, agent.actor, envs.trained_for, made_by="python examples/ppo_turns.py")


if __name__ == "__main__":
    main()
