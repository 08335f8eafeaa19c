"""Learned policies. They play a MaskablePPO model of Stable-Baselines3 (.zip), or its network exported to plain arrays (.npz).

Share models as exported ones, made by `python -m baselines.rl.export`. An exported model needs neither torch nor
Stable-Baselines3, and playing it runs nothing but the network (model_file.py). A .zip is unpickled by Stable-Baselines3, and
unpickling runs any code that the file holds: play a .zip only if you trust it as you trust a program. A process that plays its first .zip
warns of this.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import uniform
from kdenv.core.encoding import check_layout, observer_for_model
from kdenv.core.errors import BadOption, NotSupported, missing_extra
from kdenv.core.game import Game
from kdenv.core.view import View
from kdenv.policies.base import Policy
from kdenv.policies.model_file import read_network
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import named

Array = NDArray[np.float32]
_SHIPPED = Path(__file__).parents[1] / "models"
_warned = False  # whether this process has warned about playing a .zip


@dataclass
class Model:
    """The content of a model file, and the views that it fits."""

    file: str  # the name of the file, for errors
    logits: Callable[[Array], Array]
    n_observed: int
    n_actions: int
    made_for: Mapping[str, Any]  # the Observer.made_for of its training; empty if the file has none
    _fits: tuple[Game, int, bytes] | None = None  # the last game, players and variant that it was found to fit
    _encoding: str = ""  # the encoding of observations that it takes for these

    def logits_for(self, view: View) -> Array:
        """The logits of all actions for this view, which is observed by the encoding that the model was trained on."""
        self.check(view)
        return self.logits(view.observation(self._encoding))

    def check(self, view: View) -> None:
        """Refuse a view of a game, number of players or options that the model was not trained for."""
        asked = view.game, view.players, view.variant.tobytes()
        if asked == self._fits:
            return
        observer = observer_for_model(self.made_for, self.file, view.game, view.players, view.variant)
        expected = observer.size, view.game.n_actions(view.players, view.variant)
        same_version = self.made_for.get("version", observer.encoding.version) == observer.encoding.version
        if same_version and (self.n_observed, self.n_actions) != expected:
            raise NotSupported(
                f"{self.file} takes {self.n_observed} numbers and knows {self.n_actions} actions, but {view.game.name} with {view.players} "
                f"players and these options has {expected[0]} and {expected[1]}; use a model trained on the same game"
            )
        check_layout(self.made_for, self.file, observer)
        self._fits, self._encoding = asked, observer.encoding.name


@named("ppo")
class Ppo(Policy):
    """A learned policy: takes the most probable legal action of a model, or samples an action."""

    model: str = param(help="the model: a .zip of MaskablePPO, an exported .npz, or the name of a shipped model", kw_only=False)
    sample: bool = param("whether actions are sampled by their probabilities, instead of taking the most probable one", default=False)

    def __post_init__(self) -> None:
        """Check that the file exists, so that a wrong name is refused before a game begins. The file is loaded later, when it is needed."""
        super().__post_init__()
        _find(self.model)

    def prepare(self, view: View) -> None:
        """Load the model and check that it was made for such views."""
        self._loaded().check(view)

    def act(self, view: View) -> int:
        """The most probable legal action, or a sample of the legal actions."""
        model, legal = self._loaded(), view.legal()
        logits = model.logits_for(view)[legal]
        if not np.isfinite(logits).all():
            raise BadOption(f"{model.file} gives a number that is not finite in this position, so it cannot choose; use another model")
        if not self.sample:
            return legal[int(np.argmax(logits))]
        odds = np.cumsum(np.exp(logits - logits.max(), dtype=np.float64))
        return legal[min(int(np.searchsorted(odds, uniform(self.rng) * odds[-1], side="right")), len(legal) - 1)]

    def _loaded(self) -> Model:
        """The model; it is read from its file when it is first needed."""
        if "model" not in self.memory.kept:
            self.memory.kept["model"] = load(_find(self.model))
        model: Model = self.memory.kept["model"]
        return model


def shipped_models() -> dict[str, Path]:
    """The models that come with kdenv, by name."""
    return {path.stem: path for path in sorted(_SHIPPED.glob("*.npz"))}


def _find(name: str) -> Path:
    """The path of the model with this name, which is a path or the name of a shipped model."""
    shipped = shipped_models()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.suffix not in (".zip", ".npz"):
        path = path.with_name(path.name + ".zip")  # Stable-Baselines3 adds this ending
    if not path.is_file():
        known = ", ".join(shipped) or "none"
        raise BadOption(f"there is no model {name}; give a .zip of MaskablePPO, an exported .npz, or a shipped model ({known})")
    return path


def load(path: Path) -> Model:
    """Read the model in a file: an exported one (.npz), or one of Stable-Baselines3."""
    if path.suffix != ".npz":
        return _load_zip(path)
    network = read_network(path)
    return Model(path.name, network.logits, network.n_in, network.n_out, network.made_for)


def _load_zip(path: Path) -> Model:
    """Unpickle a MaskablePPO model file and take its network."""
    global _warned
    try:
        import torch
        from sb3_contrib import MaskablePPO
    except ImportError:
        raise missing_extra(f"playing {path.name}", "rl") from None
    if not _warned:
        _warned = True
        warnings.warn(
            f"playing {path.name} unpickles it, which runs any code the file holds; play only files you trust, "
            "and share models as .npz (python -m baselines.rl.export)",
            UserWarning,
            stacklevel=2,
        )
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

    return Model(path.name, logits, int(shape[0]), int(n_actions), getattr(model.observation_space, "made_for", {}))
