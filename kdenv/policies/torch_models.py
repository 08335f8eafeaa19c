"""Models of torch and Stable-Baselines3.

Networks of plain layers become arrays, which play in kernels. Other models become functions of a view that ask torch. torch and
Stable-Baselines3 are imported inside functions only, and only for models that need them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.core.encoding import Observer
from kdenv.core.errors import BadOption, NotSupported, missing_extra, shown
from kdenv.core.view import View

Array = NDArray[np.float32]
_has_warned = False  # whether this process has warned about unpickling


class PlainLayers(NamedTuple):
    """Layers of weights (one row for each output) and biases, and the activation between them."""

    layers: list[tuple[Array, Array]]
    activation: str


def is_module(value: Any) -> bool:
    """Return whether this is a module of torch, which is imported then."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def is_sb3(value: Any) -> bool:
    """Return whether this is a model of Stable-Baselines3, which is imported then."""
    base = sys.modules.get("stable_baselines3.common.base_class")
    return base is not None and isinstance(value, base.BaseAlgorithm)


def plain_layers(network: Any) -> PlainLayers:
    """Return the layers of a torch Sequential of linear layers with ReLU or Tanh between them, or of a module with `scorer_layers`.

    Raises NotSupported for another architecture.
    """
    from torch import nn

    names = {nn.ReLU: "relu", nn.Tanh: "tanh"}
    modules = list(_in_order(network.scorer_layers() if hasattr(network, "scorer_layers") else network))
    linear, kinds = modules[::2], {type(each) for each in modules[1::2]}
    if len(modules) % 2 == 0 or {type(each) for each in linear} != {nn.Linear} or len(kinds) > 1 or not kinds <= names.keys():
        found = ", ".join(dict.fromkeys(type(each).__name__ for each in modules)) or "nothing"
        raise NotSupported(
            f"a {type(network).__name__} of {found} is no chain of linear layers with one activation, ReLU or Tanh, between them; "
            "only such networks play in kernels and are written to model files"
        )
    return PlainLayers([(_array(each.weight), _bias(each)) for each in linear], names[kinds.pop()] if kinds else "relu")


def _in_order(network: Any) -> Iterator[Any]:
    """Yield the modules of a Sequential, and of those inside it."""
    from torch import nn

    if isinstance(network, nn.Sequential):
        for each in network:
            yield from _in_order(each)
    else:
        yield network


def _array(tensor: Any) -> Array:
    return np.array(tensor.detach().cpu().numpy(), np.float32)


def _bias(linear: Any) -> Array:
    return np.zeros(linear.out_features, np.float32) if linear.bias is None else _array(linear.bias)


def policy_layers(model: Any) -> PlainLayers:
    """Return the layers of the policy network of a MaskablePPO or PPO. Raises NotSupported for another architecture."""
    from stable_baselines3.common.torch_layers import FlattenExtractor
    from torch import nn

    check_sb3(model)
    policy = model.policy
    extractor = getattr(policy, "pi_features_extractor", policy.features_extractor)
    if type(extractor) is not FlattenExtractor:
        raise NotSupported(f"the policy of this {type(model).__name__} begins with a {type(extractor).__name__}, not with plain layers")
    return plain_layers(nn.Sequential(*policy.mlp_extractor.policy_net, policy.action_net))


def check_sb3(model: Any) -> None:
    """Raise NotSupported for a model that has no logits of actions, or was not trained on the observation vector."""
    if not hasattr(model.policy, "action_net") or not hasattr(model.action_space, "n"):
        raise NotSupported(f"a {type(model).__name__} has no number for each action; train a MaskablePPO or a PPO")
    shape = model.observation_space.shape
    if shape is None or len(shape) != 1:
        raise NotSupported(
            f"this {type(model).__name__} was not trained on the observation vector; train it on a SeatEnv with its default observation"
        )


def made_for(model: Any) -> dict[str, Any]:
    """Return the Observer.made_for of the environment in which a model of Stable-Baselines3 was trained; empty if it is not known."""
    return dict(getattr(model.observation_space, "made_for", {}))


def load_sb3(path: Path) -> Any:
    """Unpickle a MaskablePPO or a PPO from a .zip, which runs any code that the file holds. The first call in a process warns of this."""
    global _has_warned
    try:  # optional and slow to import
        from sb3_contrib import MaskablePPO
        from stable_baselines3 import PPO
    except ImportError:
        raise missing_extra(f"loading {path.name}", "rl") from None
    if not _has_warned:
        _has_warned = True
        warnings.warn(
            f"loading {path.name} unpickles it, which runs any code the file holds; load only files you trust, "
            f"and share models as .npz (kdenv export {path.name})",
            UserWarning,
            stacklevel=2,
        )
    reasons = []
    for kind in (MaskablePPO, PPO):
        try:
            return kind.load(path, device="cpu")
        except (ValueError, KeyError, OSError, RuntimeError, AttributeError, TypeError) as error:
            reasons.append(str(error))
    raise BadOption(f"{path} is not a MaskablePPO or PPO model of Stable-Baselines3 ({reasons[0]})")


def output_of(model: Any) -> Callable[[Array], Array]:
    """Return a function that takes rows of an encoding and returns a row of outputs for each of them.

    The outputs of a model of Stable-Baselines3 are the logits of its actions, those of a module of torch with a method `score` are scores.
    """
    import torch

    network = model.policy if is_sb3(model) else model
    first = next(network.parameters(), None)
    device = "cpu" if first is None else first.device
    forward = (lambda rows: network.get_distribution(rows).distribution.logits) if is_sb3(model) else getattr(model, "score", model)

    def output(rows: Array) -> Array:
        with torch.no_grad():
            found = forward(torch.from_numpy(rows).to(device))
        if not isinstance(found, torch.Tensor) or len(found) != len(rows):
            raise BadOption(f"{type(model).__name__} must return a tensor with a row for each of its rows, and not {shown(found)}")
        return _array(found).reshape(len(rows), -1)

    return output


def what_it_predicts(model: Any, observer: Observer, n_actions: int) -> str:
    """Return "score" for a model with one output, which scores afterstates, and "policy" for one with an output for each action."""
    name, encoding = type(model).__name__, observer.encoding.name
    try:
        n_outputs = output_of(model)(np.zeros((1, observer.size), np.float32)).size
    except RuntimeError as error:
        raise BadOption(
            f"{name} does not take rows of {observer.size} numbers, as the encoding {encoding} of {observer.game.name} has with "
            f"{observer.players} players ({error}); give the encoding, players and options for which it was made"
        ) from error
    if n_outputs not in (1, n_actions):
        raise BadOption(
            f"{name} has {n_outputs} outputs; it must have 1, the score of the position after an action, or {n_actions}, one an action"
        )
    return "score" if n_outputs == 1 else "policy"


def best_action(model: Any, observer: Observer, predicts: str) -> Callable[[View], int]:
    """Return a function of a view that takes the action with the greatest output of a model, which is asked through torch."""
    output, encoding = output_of(model), observer.encoding.name

    def by_score(view: View) -> int:
        after = view.afterstates(encoding, whole=False)
        return int(after.actions[after.best(output(after.observations)[:, 0])[0]])

    def by_action(view: View) -> int:
        legal = view.legal()
        logits = output(view.observation(encoding)[np.newaxis])[0]
        return legal[int(np.argmax(logits[legal]))]

    return by_score if predicts == "score" else by_action


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """A context in which a model is in evaluation mode, so that dropout and the like do nothing."""
    network = model.policy if is_sb3(model) else model
    modules = [each for each in network.modules() if each.training]
    network.eval()
    try:
        yield
    finally:
        for each in modules:
            each.training = True
