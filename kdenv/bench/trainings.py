"""Measures learning: decisions a second of PPO with turn scores, in kernels and in torch, with all learning, by processor time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kdenv.bench.measuring import BenchRow, Effort, times
from kdenv.core.game import Game
from kdenv.networks.self_play import POSITIONS
from kdenv.training import PolicyTrainer, TrainingSettings

_TIMES = 4  # what kernels must reach, as a multiple of torch; the aim is 5
_GAMES = 128  # played at a time in torch


def rows_of(game: Game, effort: Effort, options: dict[str, Any]) -> Iterator[BenchRow]:
    """Measure the defaults of `kdenv train --method ppo`, and those of kdenv.rl with layers of this size if torch is installed.

    Kernels have one hidden layer for scores and values, and torch has one for each.
    """
    name = f"{game.name}: PPO with turn scores, learning included, "
    kernels = _of_kernels(game, effort, options)
    yield BenchRow(name + "in kernels", kernels, "decisions/s")
    torch = _of_torch(game, effort, options)
    if torch is not None:
        yield BenchRow(name + "in torch", torch, "decisions/s")
        yield BenchRow(name + "... times as many in kernels", times(kernels, torch), "x", _TIMES)


def _of_kernels(game: Game, effort: Effort, options: dict[str, Any]) -> float:
    settings = TrainingSettings(game.name, method="ppo", options=options, encoding=game.training_encoding, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        trainer = PolicyTrainer(settings, Path(folder))
        trainer.learn()
        sums, begun = trainer.learners[0].sums, trainer.seconds
        sums[:] = 0
        while (seconds := trainer.seconds - begun) < effort.runs * effort.seconds:
            trainer.learn()
        return float(sums[POSITIONS]) / seconds


def _of_torch(game: Game, effort: Effort, options: dict[str, Any]) -> float | None:
    """The same in torch on one thread; None without torch."""
    try:
        import torch

        from kdenv.rl import TurnNetwork, TurnPPO
    except ImportError:
        return None
    from kdenv.envs import SelfPlay

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    games = SelfPlay(game.name, _GAMES, reward="margin", encoding=game.training_encoding or None, skip_forced=True, **options)
    training = TurnPPO(games, TurnNetwork(games.n_observed, (TrainingSettings(game.name).hidden,)), seed=1)
    training.learn(decisions=1)  # one update
    had, since = training.decisions, time.process_time()
    training.learn(minutes=effort.runs * effort.seconds / 60)
    torch.set_num_threads(before)
    return (training.decisions - had) / (time.process_time() - since)
