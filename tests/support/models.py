"""Model files with random weights, for tests of what plays them."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from kdenv.games import find_game
from kdenv.policies.model_file import POLICY, VALUE, StoredNetwork, write_network


def random_layers(*sizes: int, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Layers of these sizes: inputs, hidden layers, outputs."""
    dice = np.random.default_rng(seed)
    return [
        (dice.normal(size=(n_out, n_in)).astype(np.float32) / np.float32(4), dice.normal(size=n_out).astype(np.float32))
        for n_in, n_out in pairwise(sizes)
    ]


def random_model(path: Path, name: str, *, predicts: str = VALUE, hidden: int = 8, seed: int = 1, activation: str = "relu") -> Path:
    """A file with a network of random weights for the usual rules of a game, of values or for actions."""
    game = find_game(name)
    players, variant = game.variant()
    observer = game.observer(players, variant)
    layers = random_layers(observer.size, hidden, 1 if predicts == VALUE else game.n_actions(players, variant), seed=seed)
    options = game.options_of(variant)
    write_network(path, StoredNetwork(layers, activation, predicts, observer.made_for, players, options, 50.0, 0.0))
    return path


__all__ = ["POLICY", "VALUE", "random_layers", "random_model"]
