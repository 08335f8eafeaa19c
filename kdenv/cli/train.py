"""`kdenv train`: lets a network learn a game from self-play."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kdenv.cli.arguments import Commands, add_game, add_ray, options, reader, whole
from kdenv.cli.files import check_folder
from kdenv.core.errors import BadOption

if TYPE_CHECKING:
    from kdenv.training import Training, TrainingSettings

_PARTS = 20  # of a training on a cluster: if a node is lost, at most such a part begins again


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
    seeds = "train N networks, with this seed and the next ones, in folders seed-1, seed-2 ... of --out (default: 1 network, in --out)"
    train.add_argument("--seeds", type=whole(1, 1000), default=1, metavar="N", help=seeds)
    add_ray(train)
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
    each = [replace(settings, seed=settings.seed + i) for i in range(parsed.seeds)]
    folders = [folder] if parsed.seeds == 1 else [folder / f"seed-{of_seed.seed}" for of_seed in each]
    how = _How(against, parsed.threads, parsed.deals, parsed.points)
    with ExitStack() as locks:
        for place in folders:
            locks.enter_context(alone_in(place))
        if parsed.ray is not None:
            _train_on_cluster(each, folders, how, parsed.ray)
            return
        for of_seed, place in zip(each, folders, strict=True):
            _train(trainer_for(of_seed, place, against, parsed.threads, parsed.deals), place, parsed.points)


def _train(trainer: Training, folder: Path, points: int) -> None:
    if trainer.progress >= 1:
        print(f"the training in {folder} has ended after {trainer.games:,} games; it goes on with more --games or --minutes")
    elif trainer.games:
        print(f"going on in {folder} after {trainer.games:,} games")
    trainer.run(lambda line: print(line, flush=True), points)
    _print_model(folder, trainer.method)


def _print_model(folder: Path, method: str) -> None:
    from kdenv.training.settings import TD

    model, policy = folder / "model.npz", "learned" if method == TD else "ppo"
    print(f"the model is {model}; play it as {policy}({model})")


# On a cluster


class _How(NamedTuple):
    """The opponents that measure strength, the threads, and the numbers of deals and of points of a measurement."""

    against: list[str]
    threads: int
    deals: int
    points: int


class _Part(NamedTuple):
    """A training as a node returns it: its files, its progress from 0 to 1, and the lines to print."""

    settings: TrainingSettings
    files: dict[str, bytes]
    progress: float
    lines: list[str]


def _train_on_cluster(each: list[TrainingSettings], folders: list[Path], how: _How, address: str) -> None:
    """Let a cluster train, part by part. The files of each part come here, so a lost node loses nothing but its present part."""
    from kdenv import __version__
    from kdenv.arena.cluster import run_tasks

    of_seed = {settings.seed: folder for settings, folder in zip(each, folders, strict=True)}

    def on_done(part: _Part) -> tuple[Any, ...] | None:
        folder = of_seed[part.settings.seed]
        for name, content in part.files.items():
            new = folder / f".{name}.new"
            new.write_bytes(content)
            new.replace(folder / name)
        for line in part.lines:
            print(f"seed {part.settings.seed}: {line}", flush=True)
        if part.progress < 1:
            return part.settings, part.files, how, __version__
        _print_model(folder, part.settings.method)
        return None

    def files(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")}

    tasks = [(settings, files(of_seed[settings.seed]), how, __version__) for settings in each]
    run_tasks(address, _train_part, tasks, how.threads, on_done)


def _train_part(settings: TrainingSettings, files: dict[str, bytes], how: _How, expected: str) -> _Part:
    """Train until the next part ends. The node gets the files of the training, and returns them."""
    from kdenv import __version__
    from kdenv.training import trainer_for

    if __version__ != expected:
        raise BadOption(f"a node of the cluster has kdenv {__version__}, here it is {expected}")
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).write_bytes(content)
        trainer = trainer_for(settings, folder, how.against, how.threads, how.deals)
        trainer.run(lines.append, how.points, until=min(1.0, (int(trainer.progress * _PARTS + 1e-9) + 1) / _PARTS))
        return _Part(settings, {path.name: path.read_bytes() for path in folder.iterdir()}, trainer.progress, lines)
