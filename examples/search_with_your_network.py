"""A network of your own inside searches of many games, and a match with it. Needs torch.

python examples/search_with_your_network.py --seconds 30

The network learns the values of positions. It reads what a seat observes right after its turn (an afterstate), and predicts the seat's
reward at the end of the round. Each
seat takes turns by the softmax of these values, in many games at once, so that the network learns from its own games.
"""

import argparse
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import kdenv
from kdenv.arena import Match, Summary, play
from kdenv.author import NetworkPolicy
from kdenv.envs import SelfPlay
from kdenv.policies import policy, search_many

FILE, GAME, ENCODING = Path("values.pt"), "dominoes", "ends"
OPTIONS: dict[str, Any] = {"mode": "round"}
SEARCH = "uct(leaf=network, priors=network, score=goal, select=puct, chance=information_sets, choice=visits, playouts=32)"


def new_network(n_observed):
    """Make a network with one output, the value of the position for the seat that observes it."""
    return nn.Sequential(nn.Linear(n_observed, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))


def values_of(network, observations):
    """Return the values of these rows: numpy in, numpy out, as search_many asks for them."""
    with torch.no_grad():
        return network(torch.from_numpy(observations)).squeeze(1).numpy()


def learn(network, games, seconds):
    """Play all seats for some seconds of CPU time, and fit the values of afterstates to the rewards at the ends of rounds."""
    optimizer, rng = torch.optim.Adam(network.parameters(), 1e-3), np.random.default_rng(1)
    waiting: list[list[Any]] = [[] for _ in range(games.num_envs)]
    done: list[Any] = []
    now = games.reset(seed=1)
    games.afterstates()  # compiles
    start = time.process_time()
    while time.process_time() < start + seconds:
        after = games.afterstates()
        chosen = after.sample(values_of(network, after.observations) / 0.05, rng)
        for game, row in enumerate(chosen):
            waiting[game].append((after.observations[row], now.seat[game]))
        now = games.step(after.actions[chosen])
        for game in np.flatnonzero(now.terminated).tolist():
            done += [(row, now.rewards[game, seat]) for row, seat in waiting[game]]
            waiting[game] = []
        if len(done) >= 2048:
            rows, rewards = (torch.from_numpy(np.array(part, np.float32)) for part in zip(*done, strict=True))
            optimizer.zero_grad()
            nn.functional.mse_loss(network(rows).squeeze(1), rewards).backward()
            optimizer.step()
            done = []


@cache
def saved_network():
    """Read the network of the file once in each process."""
    network = new_network(SelfPlay(GAME, 1, encoding=ENCODING, **OPTIONS).n_observed)
    network.load_state_dict(torch.load(FILE, weights_only=True))
    return network


class Mine(NetworkPolicy):
    """Follows the network in values.pt, alone or within a search."""

    encoding = ENCODING

    def evaluate(self, observations):
        """Return the values of these rows."""
        return values_of(saved_network(), observations)


kdenv.add_policy("mine", Mine)


def main():
    """Learn, search the games of a batch at once, and play a match with and without a search."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=30, help="CPU time of training, without compiling and the match")
    parser.add_argument("--games", type=int, default=200, help="the number of games of each match")
    args = parser.parse_args()
    torch.set_num_threads(1)  # small networks are faster so
    torch.manual_seed(1)
    games = SelfPlay(GAME, 256, reward="margin", encoding=ENCODING, skip_forced=True, **OPTIONS)
    network = new_network(games.n_observed)
    learn(network, games, args.seconds)
    torch.save(network.state_dict(), FILE)

    found = search_many(SEARCH, games, lambda rows: values_of(network, rows), encoding=ENCODING)
    print(f"{games.num_envs} games: {found.visits.sum():,} simulations, {found.calls} calls, {found.rows / found.calls:.0f} rows a call")
    games.step(found.first)  # the chosen turns; in dominoes each is one action

    for mine in (Mine(), policy(f"mine(within={SEARCH})")):
        summary = Summary(Match(GAME, [mine, "greedy", mine, "greedy"], games=args.games, seed=1, options=OPTIONS))
        play(summary.match, on_result=summary.add, processes=1)
        print(summary, end="\n\n")


if __name__ == "__main__":
    main()
