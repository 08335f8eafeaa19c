"""Model files with random weights, for tests of what plays them."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from kdenv.core.game import Game
from kdenv.games import find_game
from kdenv.networks.learning import Learner, first_squares, learner_for, paces_of
from kdenv.networks.network import network_of
from kdenv.networks.players import Goal, Valued, turns_for
from kdenv.policies.model_file import POLICY, VALUE, StoredNetwork, write_network

# A network for actions of Kingdomino that was trained, as MaskablePPO and exported.
OF_ACTIONS = Path(__file__).parents[2] / "baselines" / "rl" / "models" / "kingdomino-4p.npz"


def random_layers(*sizes: int, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Layers of these sizes: inputs, hidden layers, outputs."""
    dice = np.random.default_rng(seed)
    return [
        (dice.normal(size=(n_out, n_in)).astype(np.float32) / np.float32(4), dice.normal(size=n_out).astype(np.float32))
        for n_in, n_out in pairwise(sizes)
    ]


def random_model(path: Path, name: str | Game, *, predicts: str = VALUE, hidden: int = 8, seed: int = 1, activation: str = "relu") -> Path:
    """A file with a network of random weights for the usual rules of a game, of values or for actions."""
    game = find_game(name) if isinstance(name, str) else name
    players, variant = game.variant()
    observer = game.observer(players, variant)
    layers = random_layers(observer.size, hidden, 1 if predicts == VALUE else game.n_actions(players, variant), seed=seed)
    options = game.options_of(variant)
    write_network(path, StoredNetwork(layers, activation, predicts, observer.made_for, players, options, 50.0, 0.0))
    return path


def random_learner(name: str | Game, *hidden: int, activation: str = "relu") -> Learner:
    """A network of random weights that is about to learn the usual rules of a game."""
    game = find_game(name) if isinstance(name, str) else name
    players, variant = game.variant()
    observer = game.observer(players, variant)
    network = network_of(observer.part(), random_layers(observer.size, *hidden, 1), activation)
    player = Valued(network, Goal(game.teams(players), 50.0, 0.0), turns_for(game, players))
    squares = first_squares(network)
    return learner_for(player, game.state_dtype, players, squares, paces_of(squares))


__all__ = ["OF_ACTIONS", "POLICY", "VALUE", "random_layers", "random_learner", "random_model"]
