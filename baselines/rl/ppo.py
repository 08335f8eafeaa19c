"""Trains PPO in many games at once, with one of two heads. The opponents are rule players, learned players and past selves.

python -m baselines.rl.ppo kingdomino --minutes 10 --out run     # then: kdenv match kingdomino "ppo(run/turns-1/model.npz)" full_greedy ...
python -m baselines.rl.ppo kingdomino --head turns actions --seeds 1 2 3 --minutes 10 --out run

The head `turns` scores the position after each legal action (kdenv.rl.TurnPPO), and all seats learn. The head `actions` has an output for
each action number (MaskablePPO of sb3-contrib), and is the control. Its learner sits in every seat in turn. Each other seat draws an
opponent from a pool for every game: one of --against, or the learner as it was some time ago. With --pool both heads learn so. Opponents
are compiled, so that an update waits for the games no longer than for one kernel call a step.

Minutes are CPU minutes of training, without compiling, evaluations and checkpoints. The same command resumes, also after a kill.

OUT/results.csv has the strength of all runs by time, with 95 % intervals; `kdenv trainings` draws such a file of one run. The folder of
a run, such as OUT/turns-1, has settings.json, a checkpoint, state.json, model.npz (to play), past-*.npz and results.csv. With the head
`actions` it also has progress.csv and, if TensorBoard is installed, its events. Checkpoints are unpickled, so resume only in folders that
you trust.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

import kdenv
from baselines.rl.learners import ACTIONS, LEARNERS, TURNS, Learner, Pool, Settings
from kdenv.arena import Evaluation
from kdenv.author import KdenvError

# The settings of a game and of a head, where they are not the usual ones.
OF_GAME: dict[str, dict[str, Any]] = {
    "kingdomino": {"encoding": "prospects", "against": ("full_greedy(variant=paper)", "random")},
    "dominion": {"encoding": "counts", "against": ("double_witch", "random")},
    "dominoes": {"encoding": "ends", "against": ("greedy", "random"), "options": {"mode": "round"}},
    "carcassonne": {"encoding": "prospects", "against": ("greedy", "random")},
}
OF_HEAD: dict[str, dict[str, Any]] = {  # a past self is replaced after 32,768 decisions
    ACTIONS: {"refresh": 4},
    TURNS: {"steps": 64, "epochs": 2, "rate": 1e-3, "layers": (64, 64), "refresh": 2, "self_play": True},
}
# The columns of results.csv: those of the curve of `kdenv train` are among them, so `kdenv trainings` draws it.
ABOUT = "game", "head", "seed", "decisions", "evaluated"
COLUMNS = (*ABOUT, "games", "seconds", "error", "opponent", "margin", "margin_interval", "wins", "wins_interval")
# The 97.5 % quantile of Student's t by the number of seeds.
STUDENT_T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


class Run:
    """A training in a folder: its checkpoints, past selves and evaluations."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        torch.set_num_threads(settings.threads)  # in networks this small, more threads mostly wait for each other
        kind = LEARNERS[settings.head]
        self.settings, self.folder, self.pool = settings, folder, Pool(settings, folder)
        self.learner: Learner = kind(settings, folder, self.pool)
        self._checkpoint, self._rollouts = folder / kind.checkpoint, 0
        self._checked = self._evaluated = self.learner.seconds

    def train(self, minutes: float) -> None:
        """Train until the run has had this many CPU minutes in all."""
        left = 60 * minutes - self.learner.seconds
        try:
            if left > 0:
                self.learner.train(left, self._after_rollout)
        finally:
            self._save()
            self.learner.close()
        if left > 0:
            self._evaluate()

    def _after_rollout(self) -> None:
        self._rollouts += 1
        if self._rollouts % self.settings.refresh == 0:
            self.pool.refresh(self.learner)
        if self.learner.seconds - self._checked > self.settings.check:
            self._save()
            self._checked = self.learner.seconds
        if self.learner.seconds - self._evaluated > self.settings.evaluate:
            self._evaluate()
            self._evaluated = self.learner.seconds

    def _save(self) -> None:
        """Write a checkpoint. The old files are replaced only when the new ones are complete."""
        new = self._checkpoint.with_name(f"new{self._checkpoint.suffix}")
        self.learner.save(new)
        new.replace(self._checkpoint)
        self.pool.save(self.learner.seconds, self.learner.games)
        self.learner.save_network(self.folder / "model.npz")

    def _evaluate(self) -> None:
        """Play games against each opponent that does not change, and add a row for each to results.csv."""
        self.learner.save_network(self.folder / "model.npz")
        settings, learner = self.settings, self.learner
        found = evaluate(settings, self.folder / "model.npz")
        file = self.folder / "results.csv"
        is_new = not file.exists()
        with file.open("a", newline="", encoding="utf-8") as stream:
            rows = csv.writer(stream)
            if is_new:
                rows.writerow(COLUMNS)
            for row in found.rows:
                about = settings.game, settings.head, settings.seed, learner.decisions, row.games
                numbers = (number for each in (row.margin, row.wins) for number in (each.mean, (each.high - each.low) / 2))
                training = learner.games, f"{learner.seconds:.1f}", math.nan, row.against
                rows.writerow([*about, *training, *(f"{number:.4f}" for number in numbers)])
        print(f"{settings.head}, seed {settings.seed}: {learner.seconds:.0f} s, {learner.decisions:,} decisions\n{found}\n", flush=True)


def evaluate(settings: Settings, model: Path) -> Evaluation:
    """The strength of a model against the opponents that do not change."""
    options = dict(settings.options)
    players = options.pop("players", None)
    n = players or kdenv.game(settings.game).players[0]
    deals = max(1, settings.games // n)
    return kdenv.evaluate(
        model, settings.game, against=list(settings.against), deals=deals, seconds=1e6, players=players, options=options, seed=settings.seed
    )


# Several runs


def settings_in(folder: Path, given: Settings) -> Settings:
    """The settings of the run in this folder, which is begun if there is none."""
    file = folder / "settings.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(given), indent=1), encoding="utf-8")
    found = json.loads(file.read_text(encoding="utf-8"))
    other = [
        name for name, value in json.loads(json.dumps(asdict(given))).items() if found.get(name, getattr(Settings, name, None)) != value
    ]
    if other:
        raise SystemExit(f"{folder} has a run with another {', '.join(other)}; choose another --out, or give the settings of that run")
    return Settings(**found)


def collect(folders: Sequence[Path], target: Path) -> list[dict[str, str]]:
    """Write the results of all runs to one file, and return its rows."""
    rows = []
    for folder in folders:
        with (folder / "results.csv").open(encoding="utf-8", newline="") as stream:
            rows += list(csv.DictReader(stream))
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return rows


def table(rows: Sequence[dict[str, str]]) -> str:
    """The strength at the end of the runs: for each head and opponent the mean over seeds, with its 95 % interval if there are several."""
    last = {(row["head"], row["opponent"], row["seed"]): row for row in rows}
    lines = []
    for head, opponent in dict.fromkeys((head, opponent) for head, opponent, _ in last):
        of = [row for (a, b, _), row in last.items() if (a, b) == (head, opponent)]
        margin, wins = (over_seeds([float(row[column]) for row in of]) for column in ("margin", "wins"))
        lines.append(
            f"{head} against {opponent}: margin {margin[0]:+.1f} ± {margin[1]:.1f}, wins {100 * wins[0]:.1f} ± {100 * wins[1]:.1f} %; "
            f"seeds: {len(of)}"
        )
    return "\n".join(lines)


def over_seeds(numbers: Sequence[float]) -> tuple[float, float]:
    """The mean, and half of its 95 % interval; nan for one seed, and for more than are in STUDENT_T."""
    n = len(numbers)
    half = STUDENT_T.get(n, math.nan) * float(np.std(numbers, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return float(np.mean(numbers)), half


def main() -> None:
    """Read the command line, and train each head with each seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", default="kingdomino")
    parser.add_argument("--head", nargs="+", choices=[TURNS, ACTIONS], default=[TURNS], help="what the policy has a number for")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="a run for each")
    parser.add_argument("--minutes", type=float, default=10, help="CPU minutes of training of each run, in all")
    parser.add_argument("--out", type=Path, default=Path("run"), help="the folder of all runs")
    parser.add_argument("--pool", action="store_true", help="let one seat of each game learn with the head turns, too, against the pool")
    parser.add_argument("--against", nargs="+", help="opponents that do not change; by default a rule player of the game and random")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game; may be repeated")
    parser.add_argument("--layers", type=int, nargs="+", help="hidden layers of policy and value")
    for name, of in (("reward", str), ("encoding", str), ("rate", float)):
        parser.add_argument(f"--{name}", type=of)
    for name in ("past", "envs", "steps", "batch", "epochs", "threads", "refresh", "check", "evaluate", "games"):
        parser.add_argument(f"--{name}", type=int)
    given = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    heads, seeds, minutes, out, game = (given.pop(name) for name in ("head", "seeds", "minutes", "out", "game"))
    if given.pop("pool"):
        given["self_play"] = False
    options = [option.partition("=") for option in given.pop("option")]
    if wrong := [name for name, equals, _ in options if not equals]:
        raise SystemExit(f"--option {wrong[0]} is not NAME=VALUE; write for example --option size=5")
    usual = {"against": [kdenv.game(game).knowledge.greedy or "random"], **OF_GAME.get(game, {})}
    if options:
        given["options"] = {name: value for name, _, value in options}
    folders = []
    for seed in seeds:
        for head in heads:
            folder = out / f"{head}-{seed}"
            settings = settings_in(folder, Settings(**{**usual, **OF_HEAD[head], **given, "game": game, "head": head, "seed": seed}))
            run = Run(settings, folder)
            try:
                run.train(minutes)
            except KeyboardInterrupt:
                raise SystemExit("interrupted; the same command resumes") from None
            folders.append(folder)
            rows = collect(folders, out / "results.csv")
    print(table(rows))
    print(f"the results are {out / 'results.csv'}, and the models {folders[0] / 'model.npz'} and so on")


if __name__ == "__main__":
    try:
        main()
    except KdenvError as mistake:
        raise SystemExit(str(mistake)) from None
