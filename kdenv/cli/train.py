"""`kdenv train`: lets a network learn a game from self-play."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kdenv.cli.arguments import Commands, add_game, options, reader, whole
from kdenv.cli.files import check_folder

if TYPE_CHECKING:
    from kdenv.training import Training


def add(commands: Commands) -> None:
    from kdenv.core.fields import fields_of
    from kdenv.training.settings import TrainingSettings, flag

    train = commands.add(
        "train",
        _run,
        "let a network learn a game from self-play",
        'kdenv train kingdomino --minutes 10 --against "full_greedy(variant=paper)" --out training/kingdomino',
    )
    add_game(train)
    for field in fields_of(TrainingSettings).values():
        if field.name in ("game", "options"):
            continue
        is_list = field.type is list
        usual = "" if field.default in ("", [], None) else f" (default: {field.default})"
        more: dict[str, Any] = {"action": "append"} if is_list else {"type": reader(field)}
        metavar = "NAME" if is_list or field.type is str else "N"
        train.add_argument(f"--{flag(field.name)}", dest=f"set_{field.name}", metavar=metavar, help=field.meaning + usual, **more)
    train.add_argument("--config", type=Path, metavar="FILE", help="a TOML file with settings; what the command line says counts more")
    train.add_argument("--out", type=Path, metavar="FOLDER", help="the folder of the training (default: training/GAME); it goes on there")
    train.add_argument("--threads", type=whole(1, 256), default=1, metavar="N", help="how many games to learn from at a time (default: 1)")
    train.add_argument("--against", action="append", metavar="POLICY", help="a player against which strength is measured; may be repeated")
    train.add_argument("--deals", type=whole(2, 10**6), default=200, metavar="N", help="how many deals a measurement has (default: 200)")
    train.add_argument("--points", type=whole(1, 1000), default=20, metavar="N", help="how often strength is measured (default: 20)")


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.games import find_game
    from kdenv.training import trainer_for
    from kdenv.training.settings import read_settings, settings_of
    from kdenv.training.training import alone_in

    given = {name.removeprefix("set_"): value for name, value in vars(parsed).items() if name.startswith("set_") and value is not None}
    if parsed.option:
        given["options"] = options(parsed.option)
    game = find_game(parsed.game)
    settings = settings_of(game.name, given, "") if parsed.config is None else read_settings(parsed.config, game.name, given)
    against = parsed.against or ([game.knowledge.greedy] if game.knowledge.greedy else ["random"])
    folder = parsed.out if parsed.out is not None else Path("training") / game.name
    check_folder("--out", folder)
    with alone_in(folder):
        _train(trainer_for(settings, folder, against, parsed.threads, parsed.deals), folder, parsed.points)


def _train(trainer: Training, folder: Path, points: int) -> None:
    from kdenv.training.settings import TD

    if trainer.progress >= 1:
        print(f"the training in {folder} has ended after {trainer.games:,} games; it goes on with more --games or --minutes")
    elif trainer.games:
        print(f"going on in {folder} after {trainer.games:,} games")
    trainer.run(lambda line: print(line, flush=True), points)
    model, policy = folder / "model.npz", "learned" if trainer.method == TD else "ppo"
    print(f"the model is {model}; play it as {policy}({model})")
