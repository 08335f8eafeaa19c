"""Gumbel AlphaZero in one file. Needs torch.

python examples/alphazero.py --seconds 600

A network learns team dominoes from searches of 256 games at once, in which it gives the values and priors. It reads what a seat observes
right after a turn (an afterstate), and gives it a value and a score. Each decision is searched with
a few simulations of the turns that Gumbel noise draws (Danihelka et al. 2022). The softmax of the scores learns the improved policy of
the search, and the value learns the reward of the seat at the end of the round.
"""

import argparse
import time
from typing import Any

import numpy as np
import torch
from torch import nn

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.author import NetworkPolicy
from kdenv.envs import SelfPlay
from kdenv.policies import search_many
from kdenv.rl import log_probabilities

GAME, ENCODING = "dominoes", "ends"
OPTIONS: dict[str, Any] = {"mode": "round"}
SEARCH = "uct(leaf=network, priors=network, score=goal, select=puct, chance=information_sets, playouts={})"


class Network(nn.Module):
    """The value and the score of each afterstate."""

    def __init__(self, n_observed):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_observed, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.heads = nn.Linear(128, 2)
        nn.init.orthogonal_(self.heads.weight, 0.01)  # all turns are about equally good at first

    def forward(self, rows):
        """Return the values and the scores."""
        found = self.heads(self.body(rows))
        return found[:, 0], found[:, 1]

    def evaluate(self, rows):
        """Do the same for arrays, as search_many asks."""
        with torch.no_grad():
            values, scores = self(torch.from_numpy(rows))
        return values.numpy(), scores.numpy()


class Decisions:
    """Decisions that the network learns from: the rows of their turns, the improved policy, and the reward after the turn taken."""

    def __init__(self, n_games):
        self.waiting: list[list[Any]] = [[] for _ in range(n_games)]  # by game: the decisions whose rewards are not known yet
        self.done = []

    def note(self, after, found, seats):
        """Note the decision of each game."""
        for game, (first, end) in enumerate(zip(after.starts, after.starts[1:], strict=False)):
            self.waiting[game].append((after.observations[first:end], found.policy[first:end], found.best[game] - first, seats[game]))

    def end(self, games, rewards):
        """Note the rewards of these games, which have ended."""
        for game in games:
            self.done += [(rows, policy, taken, rewards[game, seat]) for rows, policy, taken, seat in self.waiting[game]]
            self.waiting[game] = []


def learn(network, optimizer, done):
    """Make a step of gradient descent; return the losses of the policy and of the values."""
    n_turns = [len(rows) for rows, _, _, _ in done]
    position = torch.arange(len(done)).repeat_interleave(torch.tensor(n_turns))
    taken = torch.tensor(np.cumsum([0, *n_turns[:-1]]) + [taken for _, _, taken, _ in done])
    rewards = torch.tensor([reward for _, _, _, reward in done], dtype=torch.float32)
    policy = torch.from_numpy(np.concatenate([policy for _, policy, _, _ in done])).float()
    values, scores = network(torch.from_numpy(np.concatenate([rows for rows, _, _, _ in done])))
    of_policy = -(policy * log_probabilities(scores, position, len(done))).sum() / len(done)
    of_values = nn.functional.mse_loss(values[taken], rewards)
    optimizer.zero_grad()
    (of_policy + 10 * of_values).backward()  # rewards are margins divided by 100 points or so, so their errors are small
    optimizer.step()
    return float(of_policy.detach()), float(of_values.detach())


def strength(network, n_games):
    """Let the network alone, with its most probable turn, play a match against greedy, and print the result."""

    class Learned(NetworkPolicy):
        """Takes the turn with the greatest score."""

        encoding = ENCODING

        def evaluate(self, observations):
            return network.evaluate(observations)

    kdenv.add_policy("learned_here", Learned)
    summary = Summary(Match(GAME, ["learned_here", "greedy"] * 2, games=n_games, seed=1, options=OPTIONS))
    play(summary.match, on_result=summary.add, processes=1)
    print(summary, end="\n\n")


def main():
    """Learn, and print the losses and the strength."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600, help="CPU time of training, without compiling and the match")
    parser.add_argument("--playouts", type=int, default=8, help="the simulations of a decision")
    parser.add_argument("--considered", type=int, default=4, help="the turns of the root that are simulated")
    parser.add_argument("--games", type=int, default=400, help="the number of games of a match")
    args = parser.parse_args()
    torch.set_num_threads(1)  # small networks are faster so
    torch.manual_seed(1)
    games = SelfPlay(GAME, 256, reward="margin", encoding=ENCODING, skip_forced=True, **OPTIONS)
    network = Network(games.n_observed)
    optimizer, decisions = torch.optim.Adam(network.parameters(), 1e-3), Decisions(games.num_envs)
    now, n_steps, n_updates = games.reset(seed=1), 0, 0

    def search():
        """Search all games, and list the positions after their turns."""
        seed = 1_000_000 + n_steps * games.num_envs  # each search has its own numbers
        found = search_many(SEARCH.format(args.playouts), games, network.evaluate, encoding=ENCODING, gumbel=args.considered, seed=seed)
        return games.afterstates(), found

    search()  # compiles, and changes no game
    start = time.process_time()
    while time.process_time() < start + args.seconds:
        after, found = search()
        decisions.note(after, found, now.seat)
        now = games.step(found.first)  # in dominoes each turn is one action
        decisions.end(np.flatnonzero(now.terminated), now.rewards)
        n_steps += 1
        if len(decisions.done) >= 1024:
            losses, n_updates = learn(network, optimizer, decisions.done), n_updates + 1
            decisions.done = []
            if n_updates % 50 == 0:
                n, seconds = n_steps * games.num_envs, time.process_time() - start
                print(f"{seconds:.0f} s: {n:,} decisions, {n / seconds:,.0f} a second, losses {losses[0]:.3f} {losses[1]:.5f}", flush=True)
    strength(network, args.games)


if __name__ == "__main__":
    main()
