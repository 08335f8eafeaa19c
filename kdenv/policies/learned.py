"""Learned policies: a MaskablePPO model file of Stable-Baselines3, or its network exported to plain arrays.

An exported model (.npz, made by `python -m baselines.rl.export`) needs neither torch nor Stable-Baselines3.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.core.errors import BadOption, NotSupported, missing_extra
from kdenv.core.game import Action
from kdenv.core.random import uniform
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named

Array = NDArray[np.float32]
_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}


@named("ppo")
class Ppo(Policy):
    """A learned policy: the most probable legal action of a model, or one sampled from it."""

    model: str = param(help="a .zip of MaskablePPO, an exported .npz, or the name of a shipped model", kw_only=False)
    sample: bool = param("whether actions are sampled by their probabilities", default=False)

    def __post_init__(self) -> None:
        """Find the file now, so that a wrong name is told before anything is played; it is loaded when first asked."""
        super().__post_init__()
        _find(self.model)

    def prepare(self, view: View) -> None:
        """Load the model and check that it was made for such views."""
        if "logits" not in self.memory.kept:
            path = _find(self.model)
            logits, n_observed, n_actions = _load_exported(path) if path.suffix == ".npz" else _load_zip(path)
            expected = view.game.observation_size(view.players, view.variant), view.game.n_actions(view.players, view.variant)
            if (n_observed, n_actions) != expected:
                raise NotSupported(
                    f"{path.name} takes {n_observed} numbers and knows {n_actions} actions, but {view.game.name} with {view.players} "
                    f"players and these options has {expected[0]} and {expected[1]}; use a model trained on the same game"
                )
            self.memory.kept["logits"] = logits

    def act(self, view: View) -> Action:
        """What the network says, illegal actions left out."""
        self.prepare(view)
        legal = view.legal()
        logits = self.memory.kept["logits"](view.observation)[legal]
        if not self.sample:
            return legal[int(np.argmax(logits))]
        odds = np.cumsum(np.exp(logits - logits.max(), dtype=np.float64))
        return legal[min(int(np.searchsorted(odds, uniform(self.rng) * odds[-1], side="right")), len(legal) - 1)]


def shipped_models() -> dict[str, Path]:
    """The models that come with kdenv, by name."""
    baselines = find_spec("baselines")
    folders = list(baselines.submodule_search_locations or []) if baselines is not None else []
    return {path.stem: path for folder in folders for path in sorted((Path(folder) / "rl" / "models").glob("*.npz"))}


def _find(name: str) -> Path:
    """The model file of this name: a path, or a shipped model."""
    shipped = shipped_models()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.suffix not in (".zip", ".npz"):
        path = path.with_name(path.name + ".zip")  # as Stable-Baselines3 names it
    if not path.is_file():
        known = ", ".join(shipped) or "none"
        raise BadOption(f"there is no model {name}; give a .zip of MaskablePPO, an exported .npz, or a shipped model ({known})")
    return path


def _load_exported(path: Path) -> tuple[Callable[[Array], Array], int, int]:
    """The network of an exported model, and how many numbers go in and out."""
    try:
        with np.load(path) as file:
            about = json.loads(str(file["about"]))
            activation = _ACTIVATIONS[about["activation"]]
            layers = [(file[f"weight_{i}"].astype(np.float32), file[f"bias_{i}"].astype(np.float32)) for i in range(about["layers"])]
    except (ValueError, KeyError, OSError) as error:
        raise BadOption(f"{path} is not a model exported by 'python -m baselines.rl.export' ({error})") from None

    def logits(observation: Array) -> Array:
        x = observation
        for weight, bias in layers[:-1]:
            x = activation(weight @ x + bias)
        weight, bias = layers[-1]
        return np.asarray(weight @ x + bias, np.float32)

    return logits, layers[0][0].shape[1], layers[-1][0].shape[0]


def _load_zip(path: Path) -> tuple[Callable[[Array], Array], int, int]:
    """The network of a MaskablePPO model file."""
    try:
        import torch
        from sb3_contrib import MaskablePPO
    except ImportError:
        raise missing_extra(f"playing {path.name}", "rl") from None
    try:
        model = MaskablePPO.load(path, device="cpu")
    except (ValueError, KeyError, OSError, RuntimeError) as error:
        raise BadOption(f"{path} is not a MaskablePPO model of Stable-Baselines3 ({error})") from None
    shape, n_actions = model.observation_space.shape, getattr(model.action_space, "n", 0)
    if shape is None or len(shape) != 1:
        raise NotSupported(f"{path} was not trained on the observation vector; train it on a SeatEnv with its default observation")
    policy: Any = model.policy

    def logits(observation: Array) -> Array:
        with torch.no_grad():
            found = policy.get_distribution(torch.from_numpy(observation).unsqueeze(0)).distribution.logits[0].numpy()
        return np.asarray(found, np.float32)

    return logits, int(shape[0]), int(n_actions)
