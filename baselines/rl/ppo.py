"""Trains a MaskablePPO of sb3-contrib on many games at once, against rule players, learned players and its own past selves.

python -m baselines.rl.ppo kingdomino --minutes 10 --out run            # then: kdenv match kingdomino "ppo(run/model.npz)" full_greedy ...
python -m baselines.rl.ppo --resume run --minutes 10                    # goes on where it stopped, also after a kill

The learner sits in every seat in turn. Each other seat draws an opponent for every game: one of --against, or the learner as it was some
time ago. All of them are compiled, so that an update waits for the games no longer than for one kernel call a step.

The folder has settings.json, checkpoint.zip (to go on), model.npz (to play), past-*.npz, progress.csv, TensorBoard's events if it is
installed, and strength.csv: the evaluations, each with a 95 % interval. A .zip is unpickled, so resume only folders that you trust.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, make_output_format

import kdenv
from baselines.rl.export import export_network
from kdenv.author import KdenvError
from kdenv.envs import SeatVecEnv

MADE_BY = "python -m baselines.rl.ppo"


@dataclass
class Settings:
    """The settings of a run. A resumed run has the settings of its folder."""

    game: str = "kingdomino"
    options: dict[str, Any] = field(default_factory=dict)  # of the game
    against: tuple[str, ...] = ("random",)  # opponents that do not change
    past: int = 4  # how many past selves play, too
    reward: str = "margin"
    encoding: str = ""  # how the learner sees positions; the default of the game if empty
    envs: int = 256
    steps: int = 32  # of each game in a rollout
    batch: int = 1024
    epochs: int = 4
    rate: float = 3e-4
    layers: tuple[int, ...] = (128, 128)
    threads: int = 1
    refresh: int = 20  # rollouts after which the oldest past self is replaced
    check: int = 60  # seconds between checkpoints
    evaluate: int = 120  # seconds between evaluations
    games: int = 400  # of an evaluation
    seed: int = 1


class TimedEnv(SeatVecEnv):
    """A SeatVecEnv that measures its CPU time."""

    seconds = 0.0

    def step_wait(self) -> Any:
        """Step, and measure the time."""
        start = time.process_time()
        told = super().step_wait()
        self.seconds += time.process_time() - start
        return told

    def env_method(self, method_name: str, *arguments: Any, **keywords: Any) -> list[Any]:
        """Return masks, and measure the time."""
        start = time.process_time()
        told = super().env_method(method_name, *arguments, **keywords)
        self.seconds += time.process_time() - start
        return told


def environment(settings: Settings, opponents: list[str], envs: int) -> TimedEnv:
    """Games in which the learner sits in every seat in turn."""
    return TimedEnv(
        settings.game,
        pool=opponents,
        num_envs=envs,
        seat="rotate",
        reward=settings.reward,
        encoding=settings.encoding or None,
        threads=settings.threads,
        **settings.options,
    )


def new_model(settings: Settings, env: TimedEnv) -> MaskablePPO:
    """A learner that has not been trained."""
    layers = list(settings.layers)
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=settings.steps,
        batch_size=settings.batch,
        n_epochs=settings.epochs,
        learning_rate=settings.rate,
        gamma=1.0,
        ent_coef=0.003,
        target_kl=0.03,
        seed=settings.seed,
        device="cpu",
        stats_window_size=1000,
        policy_kwargs={"net_arch": {"pi": layers, "vf": layers}},
    )


class Pool:
    """The opponents: policies that stay as they are, and past selves in files of the run's folder."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self.files = [folder / f"past-{i}.npz" for i in range(settings.past)]
        self.next = 0  # the past self that is replaced next

    def texts(self) -> list[str]:
        """The texts of the opponents. A past self draws its actions at random, as the learner does."""
        return [*self.settings.against, *(f"ppo({file}, sample=yes)" for file in self.files)]

    def fill(self, model: MaskablePPO) -> None:
        """Write the past selves that are missing."""
        for file in self.files:
            if not file.exists():
                export_network(model, file, MADE_BY)

    def refresh(self, model: MaskablePPO, env: TimedEnv) -> None:
        """Replace the oldest past self by the present learner."""
        if self.files:
            export_network(model, self.files[self.next % len(self.files)], MADE_BY)
            self.next += 1
            env.set_opponents(pool=self.texts())


class Keeper(BaseCallback):
    """Refreshes the pool, writes checkpoints, evaluates, measures where the time goes, and stops when the time is up."""

    def __init__(self, settings: Settings, folder: Path, pool: Pool, learner: MaskablePPO, env: TimedEnv, end: float) -> None:
        super().__init__()
        self.settings, self.folder, self.pool, self.learner, self.env, self.end = settings, folder, pool, learner, env, end
        self.rollouts = 0
        self.began = self.apart = 0.0  # processor time: at the beginning, and spent since on what is not training
        self.checked = self.evaluated = time.monotonic()

    def _on_step(self) -> bool:
        return time.monotonic() < self.end

    @property
    def share(self) -> float:
        """The environment's share of the processor time of training, without evaluations, checkpoints and new past selves."""
        return self.env.seconds / max(time.process_time() - self.began - self.apart, 1e-9)

    def _on_rollout_end(self) -> None:
        self.rollouts += 1
        self.logger.record("time/environment_share", self.share)
        start, now = time.process_time(), time.monotonic()
        if self.rollouts % self.settings.refresh == 0:
            self.pool.refresh(self.learner, self.env)
        if now - self.checked > self.settings.check:
            save(self.learner, self.folder, self.pool)
            self.checked = time.monotonic()
        if now - self.evaluated > self.settings.evaluate:
            evaluate(self.learner, self.settings, self.folder)
            self.evaluated = time.monotonic()
        self.apart += time.process_time() - start

    def _on_training_start(self) -> None:
        self.began = time.process_time()
        self.env.seconds = 0.0


def evaluate(model: MaskablePPO, settings: Settings, folder: Path) -> dict[str, Any]:
    """Play games against each opponent that does not change, the learner by its best action; add a row for each to strength.csv."""
    told = {}
    file = folder / "strength.csv"
    is_new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        if is_new:
            rows.writerow(["decisions", "opponent", "games", "reward", "interval", "first places"])
        for opponent in settings.against:
            rewards, wins = play_evaluation(model, settings, opponent)
            half = 1.96 * rewards.std(ddof=1) / len(rewards) ** 0.5
            told[opponent] = rewards.mean(), half, wins.mean()
            rows.writerow([model.num_timesteps, opponent, len(rewards), f"{rewards.mean():.4f}", f"{half:.4f}", f"{wins.mean():.3f}"])
            shown = f"{rewards.mean():+.3f} +- {half:.3f}, first in {wins.mean():.0%} of {len(rewards)} games"
            print(f"  {model.num_timesteps:,} decisions, against {opponent}: {settings.reward} {shown}", flush=True)
    return told


def play_evaluation(model: MaskablePPO, settings: Settings, opponent: str) -> tuple[np.ndarray, np.ndarray]:
    """The reward, and whether the learner came first, in the first game of each row and in those after it, the same number in each row."""
    envs = min(settings.games, 200)
    each = -(-settings.games // envs)  # the first games of every row, so that short games do not count more often than long ones
    env = environment(settings, [opponent], envs)
    env.seed(1_000_000 + settings.seed)
    observations: Any = env.reset()
    rewards: list[list[float]] = [[] for _ in range(envs)]
    wins: list[list[bool]] = [[] for _ in range(envs)]
    while min(map(len, rewards)) < each:
        actions, _ = model.predict(observations, action_masks=env.action_masks(), deterministic=True)
        observations, _, dones, infos = env.step(actions)
        for row in np.flatnonzero(dones):
            rewards[row].append(infos[row]["episode"]["r"])
            wins[row].append(infos[row]["ranks"][infos[row]["seat"]] == 1)
    env.close()
    return np.array([r for row in rewards for r in row[:each]]), np.array([w for row in wins for w in row[:each]])


def save(model: MaskablePPO, folder: Path, pool: Pool) -> None:
    """Write a checkpoint. The old files are replaced only when the new ones are complete."""
    (folder / "new.json").write_text(json.dumps({"next": pool.next}), encoding="utf-8")
    (folder / "new.json").replace(folder / "state.json")
    model.save(folder / "new.zip")
    (folder / "new.zip").replace(folder / "checkpoint.zip")
    export_network(model, folder / "model.npz", MADE_BY)


def train(settings: Settings, folder: Path, minutes: float) -> MaskablePPO:
    """Train for this time. If the folder has a checkpoint, resume from it."""
    end = time.monotonic() + 60 * minutes
    torch.set_num_threads(settings.threads)  # in networks this small, more threads mostly wait for each other
    pool, checkpoint = Pool(settings, folder), folder / "checkpoint.zip"
    resumed = checkpoint.exists()
    # Past selves need a model before there is one, so a new model is made with the other opponents alone.
    env = environment(settings, list(settings.against), settings.envs)
    model = MaskablePPO.load(checkpoint, env=env, device="cpu") if resumed else new_model(settings, env)
    if resumed:
        pool.next = json.loads((folder / "state.json").read_text(encoding="utf-8"))["next"]
    pool.fill(model)
    env.set_opponents(pool=pool.texts())
    env.seed(settings.seed + model.num_timesteps)
    model.set_logger(logger(folder, f"-{model.num_timesteps}" if resumed else ""))
    keeper = Keeper(settings, folder, pool, model, env, end)
    try:
        model.learn(10**12, callback=keeper, reset_num_timesteps=False)
        print(f"the environment took {keeper.share:.1%} of the processor time of training", flush=True)
    finally:
        save(model, folder, pool)
        model.logger.close()
        env.close()
    evaluate(model, settings, folder)
    return model


def logger(folder: Path, suffix: str) -> Logger:
    """Writes progress<suffix>.csv and, if TensorBoard is installed, its events. A resumed run does not write over the files before it."""
    forms = ["csv", *(["tensorboard"] if importlib.util.find_spec("tensorboard") else [])]
    if len(forms) == 1:
        print("TensorBoard is not installed, so progress is written to progress.csv alone (pip install tensorboard)")
    return Logger(str(folder), [make_output_format(form, str(folder), suffix) for form in forms])


def main() -> None:
    """Read the command line, and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", default="kingdomino")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--out", type=Path, default=Path("run"), help="the folder of the run")
    parser.add_argument("--resume", type=Path, help="a folder to go on in, with its settings")
    parser.add_argument("--against", nargs="+", help="opponents that do not change; by default the greedy player of the game and random")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game; may be repeated")
    for name, of in (("reward", str), ("encoding", str), ("rate", float)):
        parser.add_argument(f"--{name}", type=of, default=getattr(Settings, name))
    for name in ("past", "envs", "steps", "batch", "epochs", "threads", "refresh", "check", "evaluate", "games", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Settings, name))
    parser.add_argument("--layers", type=int, nargs="+", default=[128, 128], help="hidden layers of policy and value")
    given = vars(parser.parse_args())
    minutes, folder, resumed = given.pop("minutes"), given.pop("out"), given.pop("resume")
    if resumed is not None:
        if not (resumed / "settings.json").exists():
            raise SystemExit(f"{resumed} has no run to go on with; give the --out of one")
        settings = Settings(**json.loads((resumed / "settings.json").read_text(encoding="utf-8")))
    else:
        options = [option.partition("=") for option in given.pop("option")]
        if wrong := [name for name, equals, _ in options if not equals]:
            raise SystemExit(f"--option {wrong[0]} is not NAME=VALUE; write for example --option size=5")
        given["options"] = {name: value for name, _, value in options}
        if given["against"] is None:
            given["against"] = list(dict.fromkeys([kdenv.game(given["game"]).knowledge.greedy or "random", "random"]))
        settings = Settings(**given)
        if (folder / "checkpoint.zip").exists():
            raise SystemExit(f"{folder} has a run already; choose another --out, or go on with --resume {folder}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(asdict(settings), indent=1), encoding="utf-8")
    try:
        model = train(settings, resumed or folder, minutes)
    except KeyboardInterrupt:
        raise SystemExit(f"interrupted; --resume {resumed or folder} goes on") from None
    print(f"{model.num_timesteps:,} decisions; the model is {(resumed or folder) / 'model.npz'}")


if __name__ == "__main__":
    try:
        main()
    except KdenvError as mistake:
        raise SystemExit(str(mistake)) from None
