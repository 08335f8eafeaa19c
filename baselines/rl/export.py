"""Export the network of a MaskablePPO model to plain arrays, so that it can be played without torch.

python -m baselines.rl.export model.zip model.npz "how it was made"
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def export(source: Path, target: Path, made_by: str = "") -> None:
    """Write the policy network of the model in `source` to `target`. `source` is unpickled, so it must be a file that you trust."""
    from sb3_contrib import MaskablePPO

    export_network(MaskablePPO.load(source, device="cpu"), target, made_by)


def export_network(model: Any, target: Path, made_by: str = "") -> None:
    """Write the policy network of a MaskablePPO to `target`. Weights are in half precision, which is enough to choose actions."""
    from torch import nn

    policy = model.policy
    layers = [*policy.mlp_extractor.policy_net, policy.action_net]
    linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
    activations = {type(layer) for layer in layers} - {nn.Linear}
    names = {nn.Tanh: "tanh", nn.ReLU: "relu"}
    if len(activations) > 1 or not activations <= names.keys():
        raise SystemExit(f"{target}: only a plain network of Linear with Tanh or ReLU can be exported, not {activations}")
    about = {
        "layers": len(linear),
        "activation": names[activations.pop()] if activations else "tanh",
        "predicts": "policy",
        "players": 0,  # the layout says it
        "options": {},
        "goal": {"scale": 1.0, "win": 0.0},  # only networks of values have one
        "made_by": made_by,
        "made_for": getattr(model.observation_space, "made_for", {}),  # game, encoding, version, layout
    }
    arrays = {f"weight_{i}": layer.weight.detach().numpy().astype(np.float16) for i, layer in enumerate(linear)}
    arrays |= {f"bias_{i}": layer.bias.detach().numpy().astype(np.float32) for i, layer in enumerate(linear)}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise SystemExit(f"{target}: {name} has numbers that are not finite, or too large for an export; train the model again")
    part = target.with_name(target.name + ".part")  # so that nobody reads half a file
    with part.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    part.replace(target)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    export(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
