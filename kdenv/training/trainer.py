"""A training: the network, its settings, its progress and its files. It can be killed at any time and continues from its last checkpoint.

The folder of a training has

    model.npz         the network, as learned(MODEL) plays it
    checkpoint.npz    all that is needed to continue: weights, steps, random generators, the curve, the errors since its last point
    curve.csv, .svg   strength against fixed players by games and seconds of the processor
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from kdenv.compiler.interrupts import delayed
from kdenv.compiler.random import derive_seed, make_rng
from kdenv.core.bounds import check_at_first_use
from kdenv.core.encoding import check_layout, observer_for_model
from kdenv.core.errors import BadOption
from kdenv.games import find_game
from kdenv.networks.learning import (
    N_SUMS,
    POSITIONS,
    SQUARED_ERRORS,
    Learner,
    Schedule,
    first_squares,
    learn_from_games,
    learner_for,
    paces_of,
)
from kdenv.networks.network import copy_for_thread, layers_of, network_of
from kdenv.networks.players import Goal, Valued, turns_for
from kdenv.policies import policy
from kdenv.policies.compiled_opponents import seated
from kdenv.policies.learned import model_path
from kdenv.policies.model_file import VALUE, StoredNetwork, read_network, write_network
from kdenv.search.playout import Seated
from kdenv.training.checkpoint import Checkpoint, read_checkpoint
from kdenv.training.curve import Strength, TrainingCurve
from kdenv.training.settings import TrainingSettings, flag
from kdenv.training.strength import Opponent
from kdenv.training.teacher import Teacher

_STEP = 0.5  # seconds of a call of the kernel
_FIRST_STEP = 4  # games
_CHECKPOINT_EVERY = 20.0  # seconds
_CHECKPOINT, _MODEL, _LOCK = "checkpoint.npz", "model.npz", ".lock"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """A context in which no other training runs in this folder: its checkpoints would replace those of this one."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BadOption(f"another training goes on in {folder}; wait until it has ended, or choose another --out") from None
    try:
        yield
    finally:
        lock.release()


class Trainer:
    """A network that learns a game."""

    def __init__(self, settings: TrainingSettings, folder: Path, opponents: Sequence[str] = (), threads: int = 1, deals: int = 200) -> None:
        """Continue the training in the folder, or begin one there. Games against `opponents` measure its strength."""
        self.settings, self.folder, self.threads = settings, folder, threads
        self.game = find_game(settings.game)
        players = settings.players or None
        self.players, self.variant = self.game.variant(players, **settings.options)
        check_at_first_use(self.game, self.players, self.variant)
        self._observer = self.game.observer(self.players, self.variant, settings.encoding or None)
        goal = Goal(teams=self.game.teams(self.players), scale=settings.scale_for(self.game), win=settings.win)
        network = network_of(self._observer.part(), self._first_layers(), settings.activation)
        self.player = Valued(network, goal, turns_for(self.game, self.players))
        self.games, self.seconds = 0, 0.0  # of the training so far
        self.curve = TrainingCurve()
        self._rngs = [make_rng(derive_seed("training", settings.seed, i)) for i in range(threads)]
        sums = self._go_on()
        self.learners = [self._learner(i) for i in range(threads)]
        self.learners[0].sums[:] = sums
        self._guides = [self._guides_for() for _ in range(threads)]
        self._teacher: Teacher | None = None
        if settings.teacher:
            if threads > 1:
                raise BadOption(f"threads={threads} is not possible with a teacher, which plays one game at a time; give one thread")
            self._teacher = Teacher(settings.teacher, self.game, self.players, settings.options, goal)
        self._opponents = [Opponent(text, self.game, self.players, self.variant, deals) for text in opponents]
        self._step = _FIRST_STEP

    # The network and its files

    def _first_layers(self) -> list[tuple[Any, Any]]:
        if self.settings.source:
            return self._layers_from(model_path(self.settings.source))
        dice = np.random.default_rng(derive_seed("weights", self.settings.seed))
        layers = []
        for n_in, n_out in pairwise(self._sizes()):
            most = 1 / np.sqrt(min(n_in, 100))  # about as many inputs of a position are not 0
            layers.append((dice.uniform(-most, most, (n_out, n_in)).astype(np.float32), np.zeros(n_out, np.float32)))
        return layers

    def _sizes(self) -> list[int]:
        """The number of inputs of the network, and the number of outputs of each layer."""
        return [self._observer.size, self.settings.hidden, *([self.settings.second] if self.settings.second else []), 1]

    def _layers_from(self, path: Path) -> list[tuple[Any, Any]]:
        stored = read_network(path)
        observer = observer_for_model(stored.made_for, path.name, self.game, self.players, self.variant)
        check_layout(stored.made_for, path.name, observer)
        if stored.predicts != VALUE or observer.encoding.name != self._observer.encoding.name or stored.n_in != self._observer.size:
            raise BadOption(f"{path.name} is not a network of values for the encoding {self._observer.encoding.name} of these rules")
        found = _layers_text(stored.activation, [len(bias) for _, bias in stored.layers])
        wanted = _layers_text(self.settings.activation, self._sizes()[1:])
        if found != wanted:
            raise BadOption(f"{path.name} has layers of {found}, not of {wanted}; leave these settings to it")
        return list(stored.layers)

    def stored(self) -> StoredNetwork:
        """The network as it is now, for a model file."""
        made_by, goal = f"{self.settings.text()} ({self.games} games)", self.player.goal
        layers, options = layers_of(self.player.network), self.game.options_of(self.variant)
        return StoredNetwork(
            layers, self.settings.activation, VALUE, self._observer.made_for, self.players, options, goal.scale, goal.win, made_by
        )

    def save(self) -> None:
        """Write the checkpoint and the model. Each replaces an older file at once, or not at all."""
        if not np.isfinite(self.player.network.weights).all():
            raise BadOption(f"the network has numbers that are not finite, so {self.folder} keeps the last checkpoint; use a smaller rate")
        self.folder.mkdir(parents=True, exist_ok=True)
        settings, weights = dataclasses.asdict(self.settings), self.player.network.weights
        state = settings, self.games, self.seconds, self.curve, self._sums().tolist(), weights, self._squares, np.array(self._rngs)
        Checkpoint(*state).write(self.folder / _CHECKPOINT)
        write_network(self.folder / _MODEL, self.stored())
        self.curve.write(self.folder, f"{self.game.title}: {self.settings.text()}")

    def _go_on(self) -> list[float]:
        """Take over the checkpoint in the folder, if there is one; return the sums of its learners."""
        path = self.folder / _CHECKPOINT
        weights = self.player.network.weights
        self._squares = first_squares(self.player.network)
        self._paces = paces_of(self._squares)
        if not path.exists():
            return [0.0] * N_SUMS
        found = read_checkpoint(path)
        before = dataclasses.asdict(TrainingSettings(self.settings.game)) | found.settings  # settings not in it had their defaults
        changed = {name for name, value in dataclasses.asdict(self.settings).items() if before[name] != value}
        if changed - {"games", "minutes"}:
            names = ", ".join(sorted(map(flag, changed - {"games", "minutes"})))
            raise BadOption(f"{self.folder} holds a training with other settings ({names}); choose another folder with --out")
        if found.weights.shape != weights.shape:
            raise BadOption(f"{path} has {found.weights.size} weights, and these settings have {weights.size}; choose another folder")
        weights[:], self._squares[:] = found.weights, found.squares
        self._paces = paces_of(self._squares)
        self._rngs[: len(found.rngs)] = [rng.copy() for rng in found.rngs]  # also those of threads that are not used now
        self.games, self.seconds, self.curve = found.games, found.seconds, found.curve
        return found.sums

    def _learner(self, i: int) -> Learner:
        player = self.player
        if i > 0:
            player = Valued(copy_for_thread(player.network, self._observer.part()), player.goal, turns_for(self.game, self.players))
        return learner_for(player, self.game.state_dtype, self.players, self._squares, self._paces)

    def _guides_for(self) -> Seated:
        players: list[Any] = []
        for text in self.settings.guides:
            guide = policy(text)
            guide.needs(self.game, self.players, self.variant)
            players.append(guide.compiled(self.game, self.players))
            if players[-1] is None:
                raise BadOption(f"guides={text} is not possible, because {guide} has no compiled form; choose a rule player")
        return seated(players, self.players)

    # Learning

    @property
    def progress(self) -> float:
        """The share of the training that is done."""
        settings = self.settings
        done = self.games / settings.games if settings.games else self.seconds / (60 * settings.minutes)
        return min(1.0, done)

    def schedule(self) -> Schedule:
        """The schedule of learning at this point of the training."""
        s, progress = self.settings, self.progress
        from_guides = progress < s.first
        return Schedule(
            rate=s.rate * s.last**progress,
            random=s.random,
            lam=s.lam,
            guided=s.guided if from_guides else s.then,
            n_guides=max(1, len(s.guides)),
            learns_from_guides=int(from_guides),
            in_steps=s.in_steps,
            all_seats=s.all_seats,
        )

    def run(self, show: Callable[[str], None] = lambda line: None, points: int = 20) -> None:
        """Learn to the end. Strength is measured `points` times, at even shares of the training. Ctrl-C keeps the progress."""
        saved = time.monotonic()
        self._compile()
        try:
            while self.progress < 1:
                at = len(self.curve.times()) / points
                self.learn()
                if self.progress >= at or time.monotonic() - saved > _CHECKPOINT_EVERY:
                    if self.progress >= at:
                        self._measure(show)
                    self.save()
                    saved = time.monotonic()
            if self.games not in self.curve.times():
                self._measure(show)
        finally:
            self.save()

    def _compile(self) -> None:
        """Compile the kernel by games from which nothing is learned."""
        if self._teacher is not None:
            self._teacher.prepare(make_rng(0))
            return
        learn_from_games(self.learners[0], self._guides[0], self.schedule(), self.players, self.variant, 0, self.game.buffer(), make_rng(0))

    def learn(self) -> None:
        """Learn from some games, on all threads. Their number does not depend on the clock if the settings give a number of games.

        If an error or Ctrl-C ends this, nothing is learned: a training that continues would learn a part of the step again.
        """
        mine: list[Any] = [self.player.network.weights, self._squares, self._paces, *self._rngs, *(each.sums for each in self.learners)]
        before, games, seconds = [each.copy() for each in mine], self.games, self.seconds
        try:
            self._learn()
        except BaseException:
            for each, old in zip(mine, before, strict=True):
                each[:] = old
            self.games, self.seconds = games, seconds
            raise

    def _learn(self) -> None:
        schedule = self.schedule()
        n = self._step
        if self.settings.games:
            n = max(1, min(100, (self.settings.games - self.games) // self.threads))
        if self._teacher is not None:
            n = 1
        spent = [0.0] * self.threads
        errors: list[BaseException] = []

        def work(i: int) -> None:
            try:
                before = time.thread_time()
                if self._teacher is not None:
                    self._teacher.play(self.learners[i], schedule, self._rngs[i])
                else:
                    parts = self.learners[i], self._guides[i], schedule, self.players, self.variant
                    learn_from_games(*parts, n, self.game.buffer(), self._rngs[i])
                spent[i] = time.thread_time() - before
            except BaseException as error:
                errors.append(error)

        workers = [threading.Thread(target=work, args=(i,)) for i in range(1, self.threads)]
        with delayed() if workers else nullcontext():  # no thread may continue after the others are interrupted
            for worker in workers:
                worker.start()
            work(0)
            for worker in workers:
                worker.join()
        if errors:
            raise errors[0]
        self.games += n * self.threads
        self.seconds += sum(spent)
        self._step = max(1, min(2 * self._step, int(n * _STEP / max(spent[0], 1e-6))))

    def _measure(self, show: Callable[[str], None]) -> None:
        """Play the opponents. Report the strength and the error of the predictions since the last time. If interrupted, add no point."""
        sums, points = self._sums(), []
        error = float(np.sqrt(sums[SQUARED_ERRORS] / max(sums[POSITIONS], 1)))
        head = f"{self.progress:4.0%} {self.games:8,} games {self.seconds:6.0f} s {self.seconds / max(self.games, 1) * 1e3:5.2f} ms a game"
        if not self._opponents:
            points.append(Strength(self.games, self.seconds, error, "", 0.0, 0.0, 0.0, 0.0))
            show(f"{head}, error {error:.3f}")
        for opponent in self._opponents:
            margin, of_margin, wins, of_wins = opponent.play(self.player)
            points.append(Strength(self.games, self.seconds, error, opponent.text, margin, of_margin, wins, of_wins))
            against = f"margin {margin:+6.2f} ± {of_margin:.2f}, wins {wins:5.1%} ± {of_wins:.1%} against {opponent.text}"
            show(f"{head}, error {error:.3f}, {against}")
        self.curve.points += points
        for learner in self.learners:
            learner.sums[:] = 0

    def _sums(self) -> Any:
        """The sums on all threads since strength was last measured."""
        return np.sum([learner.sums for learner in self.learners], axis=0)


def _layers_text(activation: str, sizes: Sequence[int]) -> str:
    """The hidden layers of a network in words for an error; sizes has the last layer, too."""
    return f"{' and '.join(map(str, sizes[:-1]))} {activation}"
