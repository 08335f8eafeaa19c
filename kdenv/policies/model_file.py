"""Reads and writes model files (.npz): networks of plain layers, for policies (`ppo`) or of values (`learned`).

A file has the arrays weight_0, bias_0, weight_1 ... and `about`, a JSON text with these fields:

- layers, activation: The number of layers, and the activation between them.
- heads: The number of rows of the last layer that are heads (networks/network.py); 1 if it is missing.
- predicts: The meaning of the outputs: "policy" (a number for each action), "value" (the value of a position), or "score". A network of
  scores gives a number to the position after each action, and the softmax of these is the policy.
- made_for: The game, encoding, version and layout.
- made_by: The command that made it.
- players, options: Those of the game, for networks of values and scores.
- goal: The meaning of a value (networks/players.py), for networks of values.

array_file.py reads and writes such files of arrays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.core.errors import BadOption, shown
from kdenv.networks.network import ACTIVATIONS
from kdenv.policies.array_file import MOST_NUMBERS, ArrayFile, Header, Wrong, is_number, is_whole, packed_arrays, reading, write_file
from kdenv.policies.torch_models import PlainLayers, is_module, is_sb3, made_for, plain_layers, policy_layers

Array = NDArray[np.float32]

POLICY, VALUE, SCORE = "policy", "value", "score"  # what a network predicts
_MOST_LAYERS = 64
_MOST_PLAYERS = 64
MOST_HEADS = 64
SMALLEST_SCALE, LARGEST_SCALE = 1e-9, 1e9  # of a goal
_MOST_TEXT = 10_000  # characters of the text about the model
_LARGEST_INPUT, _LARGEST_OUTPUT = 1e6, 1e37  # no encoding writes greater numbers; sums of float32 end a little above 3e38


class StoredNetwork(NamedTuple):
    """The content of a model file: layers of weights (one row for each output) and biases, and the fields that describe them."""

    layers: list[tuple[Array, Array]]
    activation: str
    predicts: str  # POLICY, VALUE or SCORE
    made_for: dict[str, Any]  # the Observer.made_for of its training
    players: int  # 0 if the file does not say
    options: dict[str, Any]  # the options of the game by name
    scale: float  # of a value: the margin that counts 1 (Goal)
    win: float
    made_by: str = ""  # the command that made it
    heads: int = 1

    @property
    def n_in(self) -> int:
        """The number of inputs."""
        return int(self.layers[0][0].shape[1])

    @property
    def n_out(self) -> int:
        """The number of outputs."""
        return int(self.layers[-1][0].shape[0])


def read_network(path: Path, content: bytes | None = None) -> StoredNetwork:
    """Read the network in a model file; raise BadOption if it is not one. `content` is that of a file which is not written yet."""
    what = "a model of 'kdenv train', 'kdenv export' or kdenv.save_network"
    with reading(path, what, most_text=_MOST_TEXT, content=content) as file:
        return _read(file)


def _read(file: ArrayFile) -> StoredNetwork:
    activation = file.field("activation", lambda name: name in ACTIVATIONS, " or ".join(ACTIVATIONS))
    predicts = file.field("predicts", lambda name: name in (POLICY, VALUE, SCORE), f"{POLICY}, {VALUE} or {SCORE}")
    made_for = file.field("made_for", _is_made_for, "an object with game, encoding, version and layout")
    players = file.field("players", is_whole(0, _MOST_PLAYERS), f"a whole number from 0 to {_MOST_PLAYERS}")
    options = file.field("options", lambda options: isinstance(options, dict), "an object with the options of the game")
    file.field("goal", lambda goal: isinstance(goal, dict), "an object with scale and win")
    scale = file.field("scale", is_number(SMALLEST_SCALE, LARGEST_SCALE), f"a number from {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}", "goal")
    win = file.field("win", is_number(0, 1), "a number from 0 to 1", "goal")
    n = file.field("layers", is_whole(1, _MOST_LAYERS), f"a whole number from 1 to {_MOST_LAYERS}")
    heads = file.about.get("heads", 1)  # older files do not have it
    if not is_whole(1, MOST_HEADS)(heads) or (heads > 1 and (predicts == POLICY or n == 1)):
        most = 1 if predicts == POLICY or n == 1 else MOST_HEADS
        raise Wrong("heads", heads, f"a whole number from 1 to {most}, for a {predicts} and {n} layer{'s' * (n > 1)}")
    headers = [(file.header(f"weight_{i}", "f"), file.header(f"bias_{i}", "f")) for i in range(n)]
    _check_shapes(headers, predicts, heads)
    layers = [(file.array(weight, np.float32), file.array(bias, np.float32)) for weight, bias in headers]
    _check_outputs(layers, activation)
    made_by = str(file.about.get("made_by", ""))
    return StoredNetwork(layers, activation, predicts, made_for, players, options, float(scale), float(win), made_by, heads)


def _is_made_for(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, (str, int)) for each in value.values())


def _check_shapes(headers: list[tuple[Header, Header]], predicts: str, heads: int) -> None:
    """Refuse layers that do not fit each other, or are too large together."""
    total, n_in = 0, None
    for weight, bias in headers:
        shape = weight.shape
        if len(shape) != 2 or (n_in is not None and shape[1] != n_in):
            raise Wrong(weight.name, f"an array of shape {shape}", f"one of shape (outputs, {'inputs' if n_in is None else n_in})")
        if bias.shape != shape[:1]:
            raise Wrong(bias.name, f"an array of shape {bias.shape}", f"one of shape {shape[:1]}")
        total, n_in = total + shape[0] * (shape[1] + 1), shape[0]
    if predicts != POLICY and n_in != heads:
        because = f"a {predicts} is one number" if heads == 1 else f"each of {heads} heads gives one number"
        raise Wrong(headers[-1][0].name, f"an array with {n_in} outputs", f"one with {heads}, because {because}")
    if total > MOST_NUMBERS:
        raise Wrong("layers", f"{len(headers)} layers of {total:,} numbers", f"of {MOST_NUMBERS:,} at most")


def _check_outputs(layers: list[tuple[Array, Array]], activation: str) -> None:
    """Refuse a network whose sums may overflow in some position, because kernels would compare NaN. Trained networks are far from it."""
    most = np.full(layers[0][0].shape[1], _LARGEST_INPUT, np.float32)
    for i, (weight, bias) in enumerate(layers):
        with np.errstate(over="ignore", invalid="ignore"):
            most = np.abs(weight) @ most + np.abs(bias)
        if not most.max() < _LARGEST_OUTPUT:
            found = f"an array with which outputs of layer {i} may reach {most.max():.0e}"
            raise Wrong(f"weight_{i}", found, f"one with which they stay below {_LARGEST_OUTPUT:g}")
        if activation == "tanh":
            most = np.minimum(most, np.float32(1))


def save_network(
    path: str | Path,
    network: Any,
    trained_for: Mapping[str, Any] | None = None,
    *,
    predicts: str | None = None,
    activation: str = "relu",
    made_by: str = "",
    heads: int = 1,
) -> None:
    """Write a network of plain layers to a model file, which the policy ppo(path) plays without torch.

    Args:
        path: The file, which ends in .npz.
        network: A list with the weights (one row for each output) and biases of each layer. Or a torch Sequential of linear layers with
            ReLU or Tanh between them, a TurnNetwork, or a MaskablePPO or PPO of Stable-Baselines3.
        trained_for: The attribute of this name of the environment in which the network was trained. A model of Stable-Baselines3
            has it already.
        predicts: The meaning of the outputs. The default "score" is one number for the position after each action. The value "policy" is
            one number for each action number, and the default for a model of Stable-Baselines3.
        activation: The activation between layers of a list, "relu" or "tanh".
        made_by: The way in which the network was made, to be read by people.
        heads: The number of outputs of the last layer. The game is cut into as many parts, and each of them has an output.

    >>> import kdenv
    >>> import numpy as np
    >>> from kdenv.envs import SelfPlay
    >>> games = SelfPlay("dominoes", 1, encoding="ends")
    >>> layers = [(np.eye(1, games.n_observed), np.zeros(1))]  # the score is the first number of the observation
    >>> kdenv.save_network("first.npz", layers, games.trained_for)
    >>> kdenv.policy("ppo(first.npz)")
    Ppo(model='first.npz')

    """
    path = Path(path)
    if path.suffix != ".npz":
        raise BadOption(f"a model is written to a file that ends in .npz, not to {shown(path)}")
    if predicts not in (None, SCORE, POLICY):
        raise BadOption(f"predicts={shown(predicts)} is not possible; it may be {SCORE} or {POLICY}")
    if activation not in ACTIVATIONS:
        raise BadOption(f"activation={shown(activation)} is not possible; it may be {' or '.join(ACTIVATIONS)}")
    content = _packed(path, stored_network(network, trained_for, predicts, activation, made_by)._replace(heads=heads))
    read_network(path, content)  # checks that the layers fit each other, before an older model is replaced
    write_file(path, content)


def stored_network(
    network: Any, trained_for: Mapping[str, Any] | None, predicts: str | None = None, activation: str = "relu", made_by: str = ""
) -> StoredNetwork:
    """Return the content of the model file of a network; the parameters are those of save_network."""
    if is_sb3(network):
        found = policy_layers(network)
        about = {"made_for": made_for(network), "players": 0, "options": {}, **(trained_for or {})}
        predicts = predicts or POLICY
    elif trained_for is None:
        raise BadOption("a network needs trained_for=..., the attribute trained_for of the environment in which it was trained")
    else:
        arrays = [] if is_module(network) else [(np.asarray(weight, np.float32), np.asarray(bias, np.float32)) for weight, bias in network]
        found = plain_layers(network) if is_module(network) else PlainLayers(arrays, activation)
        about = dict(trained_for)
    if about.keys() != {"made_for", "players", "options"}:
        names = f"made_for, players and options, not {shown(', '.join(map(str, about)) or 'nothing')}"
        raise BadOption(f"trained_for must have {names}; give the attribute trained_for of the environment")
    return StoredNetwork(*found, predicts or SCORE, scale=1.0, win=0.0, made_by=made_by, **about)


def write_network(path: Path, network: StoredNetwork) -> None:
    """Write a model file for read_network, with weights in half precision. A file of this name is replaced at once or not at all."""
    write_file(path, _packed(path, network))


def _packed(path: Path, network: StoredNetwork) -> bytes:
    """The content of the model file. Raises BadOption for weights that such a file cannot hold."""
    about = {
        "layers": len(network.layers),
        "activation": network.activation,
        "predicts": network.predicts,
        "made_for": network.made_for,
        "players": network.players,
        "options": network.options,
        "goal": {"scale": network.scale, "win": network.win},
        "made_by": network.made_by,
    }
    if network.heads != 1:
        about["heads"] = network.heads
    with np.errstate(over="ignore"):
        arrays = {f"weight_{i}": weight.astype(np.float16) for i, (weight, _) in enumerate(network.layers)}
    arrays |= {f"bias_{i}": bias.astype(np.float32) for i, (_, bias) in enumerate(network.layers)}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise BadOption(f"{path.name} is not written: {name} has numbers that are not finite, or too large; train the model again")
    return packed_arrays({"about": np.array(json.dumps(about)), **arrays})
