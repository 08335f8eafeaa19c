"""`kdenv warm`: compiles in advance what games and their policies need, by using each of them for a moment."""

from __future__ import annotations

import argparse
import os
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kdenv.cli.arguments import Commands
from kdenv.cli.files import check_folder
from kdenv.cli.interrupts import interruptible
from kdenv.cli.terminal import Progress
from kdenv.core.errors import BadOption

if TYPE_CHECKING:
    from kdenv.core.game import Game
    from kdenv.core.table import Table


def add(commands: Commands) -> None:
    parser = commands.add(
        "warm",
        _run,
        "compile in advance what games and their policies need",
        "kdenv warm",
        "kdenv warm kingdomino",
        "kdenv warm --into /opt/kdenv",
    )
    parser.add_argument("game", nargs="?", help="compile only for this game (default: all games)")
    what = "keep the machine code in this folder, for an image or for other machines, which then set KDENV_CACHE_DIR to it"
    parser.add_argument("--into", type=Path, metavar="FOLDER", help=what)


def _run(parsed: argparse.Namespace) -> None:
    from kdenv.games import find_game, names

    if parsed.into is not None:
        _keep_in(parsed.into)
    games = [find_game(name) for name in ([parsed.game] if parsed.game is not None else names())]
    tasks = [task for game in games for task in tasks_of(game)]
    progress = Progress(len(tasks), "parts compiled")
    for task in tasks:
        interruptible(task)
        progress.step()
    progress.end()
    print(f"{', '.join(game.name for game in games)}: everything is compiled")
    if parsed.into is not None:
        _open_to_readers(parsed.into)
        print(f"the machine code is in {parsed.into}; programs use it with KDENV_CACHE_DIR={shlex.quote(str(parsed.into.absolute()))}")


def _keep_in(folder: Path) -> None:
    """Let this process keep machine code in the folder. Raise BadOption if it cannot."""
    from kdenv.compiler.cache_folder import chosen_folder, folder_to_write

    check_folder("--into", folder)
    os.environ["KDENV_CACHE_DIR"] = str(folder.absolute())
    if folder_to_write() != chosen_folder():
        raise BadOption(f"--into {folder} cannot keep machine code; give a folder that only this user can write to")


def _open_to_readers(folder: Path) -> None:
    """Let all users read the folder and its files, as an image or a cluster needs it. Nobody else may write."""
    for place in (folder, *folder.rglob("*")):
        mode = place.stat().st_mode
        more = stat.S_IRGRP | stat.S_IROTH | (stat.S_IXGRP | stat.S_IXOTH if place.is_dir() else 0)
        place.chmod(stat.S_IMODE(mode) | more)


def tasks_of(game: Game) -> list[Callable[[], object]]:
    """Functions that together compile what a game needs. Each is one step of the progress bar."""
    from kdenv.policies import Playout
    from kdenv.policies.text.value import classes

    known = game.knowledge
    # Playouts that must be given a model are not compiled, because which model it will be is not known.
    is_complete = {playout: not any(each.is_required for each in playout.parameters().values()) for playout in classes(Playout)}
    playouts = [playout for playout, complete in is_complete.items() if complete and not playout.why_not(game)]
    searches = [f"mce(playout={playout.kind}, score=relative, playouts=1)" for playout in playouts if not playout.learns]
    searches += [f"uct(playout={playout.kind}, playouts=1)" for playout in playouts if playout.learns or playout.kind == "random"]
    searches += ["star2.5"] * bool(known.evaluators)
    if known.hidden:
        searches += ["ismcts(playouts=1)", "flat_deals(playouts=1)", "pimc(playouts=1)", "ims"]
    # What `strongest` stands for, in a second or in less.
    searches += dict.fromkeys(f"strongest(seconds={max(row.seconds, 0.001):g})" for row in known.strongest)
    return [
        lambda: _play_a_little(game),
        *(lambda text=text: _decide(game, text) for text in [*game.knowledge.players, *searches]),
        lambda: _environments(game),
    ]


def _started(game: Game) -> Table:
    """A new table of this game at its first decision."""
    from kdenv.compiler.random import make_rng
    from kdenv.core.table import Table

    table = Table(game)
    table.run_chance(make_rng(1))
    return table


def _play_a_little(game: Game) -> None:
    """Compile what tables, views and drawings need."""
    from kdenv.compiler.random import make_rng
    from kdenv.policies import policy

    table = _started(game)
    seat = table.seat
    assert seat is not None
    view = table.view(seat)
    table.observation(seat)
    table.decide(view.legal()[0], make_rng(1))
    seat = table.seat
    assert seat is not None  # no game is over after one decision, and chance has been run
    table.play(policy("random").act(table.view(seat)))
    table.svg()
    table.record()


def _decide(game: Game, text: str) -> None:
    """Compile what the policy of this text needs."""
    from kdenv.policies import policy

    table = _started(game)
    seat = table.seat
    assert seat is not None
    policy(text).prepare(table.view(seat))


def _environments(game: Game) -> None:
    """Compile what the PettingZoo environment, the learner's seat and batches of games need."""
    from kdenv.envs.aec import TableEnv
    from kdenv.envs.single_agent import SeatEnv
    from kdenv.envs.vector.single_agent import SeatVectorEnv
    from kdenv.policies.strongest import anchors

    env = TableEnv(game.name)
    env.reset(seed=1)
    observation, *_ = env.last()
    env.step(int(observation["action_mask"].argmax()))
    known = anchors(game, *game.variant())  # rule players and networks
    for opponents in dict.fromkeys(["random", *list(game.knowledge.players)[:1], *known]):
        seat_env = SeatEnv(game.name, opponents=opponents)
        seat_env.reset(seed=1)
        seat_env.step(int(seat_env.action_masks().argmax()))
        batch = SeatVectorEnv(game.name, opponents=opponents, num_envs=2)
        _, info = batch.reset(seed=1)
        batch.step(info["action_mask"].argmax(axis=1))
        batch.close()
