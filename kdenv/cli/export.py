"""`kdenv export`: writes the network of a model of Stable-Baselines3 to a model file that plays without torch."""

from __future__ import annotations

import argparse
from pathlib import Path

from kdenv.cli.arguments import Commands
from kdenv.core.errors import BadOption


def add(commands: Commands) -> None:
    parser = commands.add(
        "export",
        _run,
        "write the network of a MaskablePPO or PPO of Stable-Baselines3 to a model file that plays without torch",
        "kdenv export model.zip",
        'kdenv export model.zip --out best.npz --made-by "python examples/train_a_seat.py --minutes 10"',
    )
    parser.add_argument("model", type=Path, metavar="ZIP", help="the model; it is unpickled, so give only files that you trust")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file to write, an .npz (default: the name of the model)")
    parser.add_argument("--made-by", default="", metavar="TEXT", help="how the model was made, to be read by people")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.policies.model_file import save_network
    from kdenv.policies.torch_models import load_sb3

    source: Path = parsed.model
    if source.suffix == ".npz":
        raise BadOption(f"{source} is a model file already; play it as ppo({source}) or learned({source})")
    if not source.is_file():
        raise BadOption(f"there is no model {source}; give a .zip of MaskablePPO or PPO")
    target = parsed.out if parsed.out is not None else source.with_suffix(".npz")
    save_network(target, load_sb3(source), made_by=parsed.made_by)
    print(f"the model is {target}; play it as ppo({target})")
