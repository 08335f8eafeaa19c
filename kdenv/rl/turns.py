"""Policies over a variable number of turns: a network that scores afterstates, and the softmax of its scores in each position.

Rows are as in kdenv.core.afterstates: a row for each legal turn, and the position to which it belongs, in ascending order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from kdenv.core.errors import NotSupported
from kdenv.policies.learned import model_path
from kdenv.policies.model_file import read_network


class TurnNetwork(nn.Module):
    """Two networks of plain layers with ReLU: one scores afterstates, the other predicts the value of an observation.

    Any module with these two methods can be trained by TurnPPO.

    Args:
        n_observed: The size of an observation.
        hidden: The sizes of the hidden layers of each of the two networks.

    """

    def __init__(self, n_observed: int, hidden: Sequence[int] = (64, 64)) -> None:
        super().__init__()
        self.scorer = _layers(n_observed, hidden)
        self.critic = _layers(n_observed, hidden)

    def scorer_layers(self) -> nn.Sequential:
        """Return the plain layers that score afterstates, for kdenv.save_network and kdenv.evaluate."""
        return self.scorer

    def score(self, afterstates: Tensor) -> Tensor:
        """Return a number for each afterstate (rows x size); the greater, the more probable the turn."""
        return self.scorer(afterstates).squeeze(1)  # type: ignore[no-any-return]

    def value(self, observations: Tensor) -> Tensor:
        """Return the expected reward of the seat to move, for each observation (games x size)."""
        return self.critic(observations).squeeze(1)  # type: ignore[no-any-return]


def _layers(n_in: int, hidden: Sequence[int]) -> nn.Sequential:
    """Make layers with ReLU between them and one output, which is close to 0 at first: then all turns are about equally probable."""
    sizes = [n_in, *hidden]
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU()]
    last = nn.Linear(sizes[-1], 1)
    nn.init.orthogonal_(last.weight, 0.01)
    nn.init.zeros_(last.bias)
    return nn.Sequential(*layers, last)


def load_network(model: str | Path) -> tuple[nn.Sequential, dict[str, Any]]:
    """Return the network of a model file as layers of torch, and its `trained_for`, with which kdenv.save_network writes it again.

    So a training can go on with a network of `kdenv train`: `TurnNetwork(n, hidden).scorer.load_state_dict(layers.state_dict())`.

    Args:
        model: A file that ends in .npz, or the name of a model of the package.

    >>> from kdenv.rl import load_network
    >>> layers, trained_for = load_network("dominoes-ppo")
    >>> layers
    Sequential(
      (0): Linear(in_features=210, out_features=96, bias=True)
      (1): ReLU()
      (2): Linear(in_features=96, out_features=1, bias=True)
    )
    >>> trained_for["made_for"]["encoding"], trained_for["options"]["mode"]
    ('ends', 'round')
    """
    stored = read_network(model_path(str(model)))
    if stored.heads > 1:
        raise NotSupported(
            f"{model} has {stored.heads} heads, of which each position takes one, and layers of torch have one; train without heads"
        )
    modules: list[nn.Module] = []
    for weight, bias in stored.layers:
        linear = nn.Linear(weight.shape[1], weight.shape[0])
        linear.load_state_dict({"weight": torch.from_numpy(weight), "bias": torch.from_numpy(bias)})
        modules += [linear, nn.ReLU() if stored.activation == "relu" else nn.Tanh()]
    return nn.Sequential(*modules[:-1]), {"made_for": stored.made_for, "players": stored.players, "options": stored.options}


def log_probabilities(scores: Tensor, position: Tensor, n: int) -> Tensor:
    """Return the logarithm of the softmax of the scores within each position.

    Args:
        scores: A number for each row.
        position: The position of each row, 0 to n - 1; every position has a row.
        n: The number of positions.

    >>> import torch
    >>> from kdenv.rl import log_probabilities
    >>> log_probabilities(torch.tensor([1.0, 1.0, 5.0]), torch.tensor([0, 0, 1]), 2).exp()
    tensor([0.5000, 0.5000, 1.0000])
    """
    greatest = scores.new_full((n,), -torch.inf).scatter_reduce(0, position, scores.detach(), "amax")
    shifted = scores - greatest[position]  # so that no exponential overflows
    total = scores.new_zeros(n).index_add(0, position, shifted.exp())
    return shifted - total.log()[position]


def sample(log_probabilities: Tensor, position: Tensor, n: int, generator: torch.Generator | None = None) -> Tensor:
    """Draw a row for each position, with these probabilities.

    Args:
        log_probabilities: The logarithm of the probability of each row. A constant may be added to all rows of a position.
        position: The position of each row.
        n: The number of positions.
        generator: The generator to draw from.

    >>> import torch
    >>> from kdenv.rl import sample
    >>> sample(torch.tensor([0.0, -100.0, 0.0]), torch.tensor([0, 0, 1]), 2, torch.Generator().manual_seed(1))
    tensor([0, 2])
    """
    uniform = torch.rand(log_probabilities.shape, generator=generator).clamp_min(torch.finfo(torch.float32).tiny)
    noisy = log_probabilities - (-uniform.log()).log()  # Gumbel noise: the greatest is a draw from the softmax
    greatest = torch.full((n,), -torch.inf).scatter_reduce(0, position, noisy, "amax")
    rows = torch.nonzero(noisy == greatest[position]).squeeze(1)
    chosen = torch.empty(n, dtype=torch.int64)
    chosen[position[rows]] = rows  # equal numbers are as good as impossible, and either row would do
    return chosen


def seeded(seed: int) -> tuple[torch.Generator, np.random.Generator]:
    """Make the generators of a training from its seed."""
    return torch.Generator().manual_seed(seed), np.random.default_rng(seed)
