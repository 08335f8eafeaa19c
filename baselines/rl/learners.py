"""The two heads of baselines/rl/ppo.py, each with the loop that trains it, and the opponents in their environments."""

from __future__ import annotations

import importlib.util
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, make_output_format

import kdenv
from kdenv.envs import SeatVecEnv, SeatVectorEnv, SelfPlay
from kdenv.rl import TurnNetwork, TurnPPO

MADE_BY = "python -m baselines.rl.ppo"
ACTIONS, TURNS = "actions", "turns"  # the heads


@dataclass
class Settings:
    """The settings of a run. A run that is resumed has the settings of its folder."""

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
    check: int = 60  # CPU seconds of training between checkpoints
    evaluate: int = 60  # CPU seconds of training between evaluations
    games: int = 400  # of an evaluation
    seed: int = 1
    head: str = ACTIONS
    self_play: bool = False  # all seats learn, in place of one against a pool; only with the head `turns`

    @property
    def environment(self) -> dict[str, Any]:
        """The arguments of the environment, without its opponents."""
        return {
            "game": self.game,
            "num_envs": self.envs,
            "reward": self.reward,
            "encoding": self.encoding or None,
            "threads": self.threads,
            "skip_forced": True,
            **self.options,
        }


class Learner(ABC):
    """A policy that learns with one of the heads: how it is trained, written and read again."""

    decisions: int  # so far
    seconds: float  # CPU seconds of training so far
    games: int  # that have ended so far

    @abstractmethod
    def set_pool(self, texts: list[str]) -> None:
        """Let these opponents play from now on."""

    @abstractmethod
    def train(self, seconds: float, after_rollout: Callable[[], None]) -> None:
        """Train for this many CPU seconds, which do not include those of after_rollout."""

    @abstractmethod
    def save_network(self, file: Path) -> None:
        """Write the network to a model file."""

    @abstractmethod
    def save(self, file: Path) -> None:
        """Write all that is needed to resume."""

    @abstractmethod
    def close(self) -> None:
        """End what the learner holds open."""


class TurnLearner(Learner):
    """PPO of kdenv.rl, whose policy scores the positions after actions."""

    checkpoint = "checkpoint.pt"

    def __init__(self, settings: Settings, folder: Path, pool: Pool) -> None:
        torch.manual_seed(settings.seed)
        self._env: SelfPlay | SeatVectorEnv
        if settings.self_play:
            self._env = SelfPlay(**settings.environment)
            network = TurnNetwork(self._env.n_observed, settings.layers)
        else:
            self._env = env = SeatVectorEnv(pool=list(settings.against), seat="rotate", **settings.environment)
            (n_observed,) = env.single_observation_space.shape or (0,)
            network = TurnNetwork(n_observed, settings.layers)
            pool.fill(lambda file: kdenv.save_network(file, network, env.trained_for, made_by=MADE_BY))
            self.set_pool(pool.texts())
        file = folder / self.checkpoint
        state = torch.load(file, weights_only=True) if file.exists() else None
        self._training = TurnPPO(
            self._env,
            network,
            seed=settings.seed + (state["decisions"] if state else 0),
            n_steps=settings.steps,
            batch_size=settings.batch,
            n_epochs=settings.epochs,
            learning_rate=settings.rate,
        )
        if state:
            self._training.load_state_dict(state)

    @property
    def decisions(self) -> int:  # type: ignore[override]
        """The decisions so far."""
        return self._training.decisions

    @property
    def seconds(self) -> float:  # type: ignore[override]
        """The CPU seconds so far."""
        return self._training.seconds

    @property
    def games(self) -> int:  # type: ignore[override]
        """The games so far."""
        return self._training.games

    def set_pool(self, texts: list[str]) -> None:
        if isinstance(self._env, SeatVectorEnv):
            self._env.set_opponents(pool=texts)

    def train(self, seconds: float, after_rollout: Callable[[], None]) -> None:
        self._training.learn(minutes=seconds / 60, callback=lambda training: after_rollout())

    def save_network(self, file: Path) -> None:
        kdenv.save_network(file, self._training.network, self._env.trained_for, made_by=MADE_BY)

    def save(self, file: Path) -> None:
        torch.save(self._training.state_dict(), file)

    def close(self) -> None:
        self._env.close()


class TimedEnv(SeatVecEnv):
    """A SeatVecEnv that measures its CPU time, and counts the games that end."""

    seconds, games = 0.0, 0

    def step_wait(self) -> Any:
        """Step, and measure the time."""
        start = time.process_time()
        told = super().step_wait()
        self.seconds += time.process_time() - start
        self.games += int(told[2].sum())
        return told

    def env_method(self, method_name: str, *arguments: Any, **keywords: Any) -> list[Any]:
        """Return masks, and measure the time."""
        start = time.process_time()
        told = super().env_method(method_name, *arguments, **keywords)
        self.seconds += time.process_time() - start
        return told


class ActionLearner(Learner):
    """MaskablePPO, whose policy has a number for each action."""

    checkpoint = "checkpoint.zip"

    def __init__(self, settings: Settings, folder: Path, pool: Pool) -> None:
        self._env, file = TimedEnv(pool=list(settings.against), seat="rotate", **settings.environment), folder / self.checkpoint
        is_new = not file.exists()
        self.model = new_model(settings, self._env) if is_new else MaskablePPO.load(file, env=self._env, device="cpu")
        pool.fill(self.save_network)
        self.set_pool(pool.texts())
        self._env.seed(settings.seed + self.decisions)
        self._env.reset()
        self._env.step(self._env.action_masks().argmax(axis=1))  # compiles, so that no training time goes into that
        self._env.seed(settings.seed + self.decisions)
        self._env.games = pool.games  # of earlier trainings
        self.model.set_logger(logger(folder, "" if is_new else f"-{self.decisions}"))
        self.seconds = pool.seconds

    @property
    def decisions(self) -> int:  # type: ignore[override]
        """The decisions so far."""
        return int(self.model.num_timesteps)

    @property
    def games(self) -> int:  # type: ignore[override]
        """The games so far."""
        return self._env.games

    def set_pool(self, texts: list[str]) -> None:
        self._env.set_opponents(pool=texts)

    def train(self, seconds: float, after_rollout: Callable[[], None]) -> None:
        stop = Stop(self, seconds, after_rollout, self._env)
        self.model.learn(10**12, callback=stop, reset_num_timesteps=False)
        print(f"the environment took {stop.share:.1%} of the processor time of training", flush=True)

    def save_network(self, file: Path) -> None:
        kdenv.save_network(file, self.model, made_by=MADE_BY)

    def save(self, file: Path) -> None:
        self.model.save(file)

    def close(self) -> None:
        self.model.logger.close()
        self._env.close()


def new_model(settings: Settings, env: SeatVecEnv) -> MaskablePPO:
    """A MaskablePPO that has not been trained."""
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


class Stop(BaseCallback):
    """Measures the CPU time of training, and ends it when its time is up."""

    def __init__(self, learner: ActionLearner, seconds: float, after_rollout: Callable[[], None], env: TimedEnv) -> None:
        super().__init__()
        self._learner, self._after_rollout, self._env = learner, after_rollout, env
        self._earlier, self._end = learner.seconds, learner.seconds + seconds
        self._began = self._apart = 0.0  # CPU time: at the beginning, and spent since on what is not training

    @property
    def share(self) -> float:
        """The environment's share of the CPU time of this training."""
        return self._env.seconds / max(self._learner.seconds - self._earlier, 1e-9)

    def _on_training_start(self) -> None:
        self._began = time.process_time()
        self._env.seconds = 0.0

    def _on_step(self) -> bool:
        self._learner.seconds = self._earlier + time.process_time() - self._began - self._apart
        return self._learner.seconds < self._end

    def _on_rollout_end(self) -> None:
        self.logger.record("time/environment_share", self.share)
        start = time.process_time()
        self._after_rollout()
        self._apart += time.process_time() - start


class Pool:
    """The opponents: policies that stay as they are, and past selves in files of the run's folder."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings, self._state = settings, folder / "state.json"
        self.files = [folder / f"past-{i}.npz" for i in range(0 if settings.self_play else settings.past)]
        state = json.loads(self._state.read_text(encoding="utf-8")) if self._state.exists() else {}
        self.next = state.get("next", 0)  # the past self that is replaced next
        self.seconds = state.get("seconds", 0.0)  # CPU seconds of training until the last checkpoint
        self.games = state.get("games", 0)  # until then

    def save(self, seconds: float, games: int) -> None:
        """Write the state."""
        new = self._state.with_name("new.json")
        new.write_text(json.dumps({"next": self.next, "seconds": seconds, "games": games}), encoding="utf-8")
        new.replace(self._state)

    def texts(self) -> list[str]:
        """The texts of the opponents. A past self draws its actions at random, as the learner does."""
        return [*self._settings.against, *(f'ppo("{file}", sample=yes)' for file in self.files)]

    def fill(self, save_network: Callable[[Path], None]) -> None:
        """Write the past selves that are missing."""
        for file in self.files:
            if not file.exists():
                save_network(file)

    def refresh(self, learner: Learner) -> None:
        """Replace the oldest past self by the present learner."""
        if self.files:
            learner.save_network(self.files[self.next % len(self.files)])
            self.next += 1
            learner.set_pool(self.texts())


def logger(folder: Path, suffix: str) -> Logger:
    """Writes progress<suffix>.csv and, if TensorBoard is installed, its events. Each part of a resumed run has other files."""
    forms = ["csv", *(["tensorboard"] if importlib.util.find_spec("tensorboard") else [])]
    if len(forms) == 1:
        print("TensorBoard is not installed, so progress is written to progress.csv alone (pip install tensorboard)")
    return Logger(str(folder), [make_output_format(form, str(folder), suffix) for form in forms])


LEARNERS: dict[str, type[ActionLearner] | type[TurnLearner]] = {ACTIONS: ActionLearner, TURNS: TurnLearner}
