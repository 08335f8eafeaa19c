"""A training: its settings, its progress and its files. It can be killed at any time and continues from its last checkpoint.

What learns, and how, is in trainer.py (networks of values) and policy_trainer.py (networks that score turns).

The folder of a training has these files:

- `model.npz`: The network, as learned(MODEL) or ppo(MODEL) plays it.
- `checkpoint.npz`: All that is needed to continue: weights, steps, random generators, the curve, the errors since its last point.
- `curve.csv`, `curve.svg`: Strength against fixed players by games and CPU seconds.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from filelock import FileLock, Timeout

from kdenv.compiler.interrupts import delayed
from kdenv.compiler.random import derive_seed, make_rng
from kdenv.core.bounds import check_at_first_use
from kdenv.core.encoding import check_layout, observer_for_model
from kdenv.core.errors import BadOption
from kdenv.core.verbs import tells_progress
from kdenv.games import find_game
from kdenv.networks.network import Array, layers_of
from kdenv.networks.players import Goal
from kdenv.networks.self_play import POSITIONS, SQUARED_ERRORS
from kdenv.policies import policy
from kdenv.policies.compiled_opponents import seated
from kdenv.policies.learned import model_path
from kdenv.policies.model_file import StoredNetwork, read_network, write_network
from kdenv.search.playout import Seated
from kdenv.training.checkpoint import Checkpoint, read_checkpoint
from kdenv.training.curve import Strength, TrainingCurve
from kdenv.training.settings import PREDICTS, TrainingSettings, begins_with, flag, kinds_named
from kdenv.training.strength import Opponent

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


class Training(ABC):
    """A network that learns a game. A subclass makes the network, and learns."""

    method: ClassVar[str]
    player: Any  # the compiled player that follows the network
    learners: Sequence[Any]  # one for each thread; each has `sums`
    weights: Array  # of all networks that learn
    squares: Array  # by weight: the running mean of its squared gradient
    means: Array | None = None  # by weight: the running mean of its gradient, for methods that have it
    updates: int = 0  # steps of the optimiser, for methods that count them

    def __init__(self, settings: TrainingSettings, folder: Path, opponents: Sequence[str] = (), threads: int = 1, deals: int = 200) -> None:
        """Continue the training in the folder, or begin one there. Games against `opponents` measure its strength."""
        assert settings.method == self.method
        self.settings, self.folder, self.threads = settings, folder, threads
        self.game = find_game(settings.game)
        players = settings.players or None
        self.players, self.variant = self.game.variant(players, **settings.options)
        check_at_first_use(self.game, self.players, self.variant)
        if settings.heads > 1 and not tells_progress(self.game.state_dtype):
            raise BadOption(f"heads={settings.heads} is not possible, because {self.game.name} does not answer the verb progress; give 1")
        self._observer = self.game.observer(self.players, self.variant, settings.encoding or None)
        self.goal = Goal(teams=self.game.teams(self.players), scale=settings.scale_for(self.game), win=settings.win)
        self.games, self.seconds = 0, 0.0  # of the training so far
        self.curve = TrainingCurve()
        self._rngs = [make_rng(derive_seed("training", settings.seed, i)) for i in range(threads)]
        self._guides = [self._guides_for() for _ in range(threads)]
        self._make()
        self._go_on()
        self._opponents = [Opponent(text, self.game, self.players, self.variant, deals) for text in opponents]
        self._spent = [0.0] * threads  # seconds of each thread in the last call of _on_all_threads
        self._is_compiled = False

    # What a method has

    @abstractmethod
    def _make(self) -> None:
        """Make the networks, player, learners, weights and squares."""

    @abstractmethod
    def _compile(self) -> None:
        """Compile all kernels by calls that learn nothing."""

    @abstractmethod
    def _learn(self) -> int:
        """Learn from some games; return how many."""

    def _arrays(self) -> list[Any]:
        """The arrays that learning changes."""
        means = [] if self.means is None else [self.means]
        return [self.weights, self.squares, *means, *self._rngs, *(each.sums for each in self.learners)]

    # The network and its files

    def _first_layers(self, source: StoredNetwork | None) -> list[tuple[Any, Any]]:
        """Return the layers of the source, or random ones."""
        if source is not None:
            return source.layers
        dice = np.random.default_rng(derive_seed("weights", self.settings.seed))
        layers = []
        for n_in, n_out in pairwise(self._sizes()):
            most = 1 / np.sqrt(min(n_in, 100))  # about as many inputs of a position are not 0
            layers.append((dice.uniform(-most, most, (n_out, n_in)).astype(np.float32), np.zeros(n_out, np.float32)))
        return layers

    def _sizes(self) -> list[int]:
        """The number of inputs of the network, and the number of outputs of each layer."""
        settings = self.settings
        return [self._observer.size, *(size for size in (settings.hidden, settings.second, settings.third) if size), settings.heads]

    def _source(self) -> StoredNetwork | None:
        """The network with which the training begins, if the settings name one."""
        if not self.settings.source:
            return None
        path = model_path(self.settings.source)
        stored = read_network(path)
        observer = observer_for_model(stored.made_for, path.name, self.game, self.players, self.variant)
        check_layout(stored.made_for, path.name, observer)
        is_of_kind = begins_with(self.method, stored.predicts)
        if not is_of_kind or observer.encoding.name != self._observer.encoding.name or stored.n_in != self._observer.size:
            kind = kinds_named(self.method)
            raise BadOption(f"{path.name} is not a {kind} for the encoding {self._observer.encoding.name} of these rules")
        found = _layers_text(stored.activation, [len(bias) for _, bias in stored.layers])
        wanted = _layers_text(self.settings.activation, self._sizes()[1:])
        if found != wanted:
            raise BadOption(f"{path.name} has layers of {found}, not of {wanted}; leave these settings to it")
        return stored

    def stored(self) -> StoredNetwork:
        """The network as it is now, for a model file."""
        made_by, goal = f"{self.settings.text()} ({self.games} games)", self.goal
        layers, options = layers_of(self.player.network), self.game.options_of(self.variant)
        about = self._observer.made_for, self.players, options, goal.scale, goal.win, made_by
        return StoredNetwork(layers, self.settings.activation, PREDICTS[self.method], *about, self.settings.heads)

    def save(self) -> None:
        """Write the checkpoint and the model. Each replaces an older file at once, or not at all."""
        if not np.isfinite(self.weights).all():
            raise BadOption(f"the network has numbers that are not finite, so {self.folder} keeps the last checkpoint; use a smaller rate")
        self.folder.mkdir(parents=True, exist_ok=True)
        settings, arrays = dataclasses.asdict(self.settings), (self.weights, self.squares, np.array(self._rngs))
        state = settings, self.games, self.seconds, self.curve, self._sums().tolist(), *arrays, self.means, self.updates
        Checkpoint(*state).write(self.folder / _CHECKPOINT)
        write_network(self.folder / _MODEL, self.stored())
        self.curve.write(self.folder, f"{self.game.title}: {self.settings.text()}")

    def _go_on(self) -> None:
        """Take over the checkpoint in the folder, if there is one."""
        path = self.folder / _CHECKPOINT
        if not path.exists():
            return
        found = read_checkpoint(path)
        method = str(found.settings.get("method", self.method))
        usual = TrainingSettings(self.settings.game, method=method if method in PREDICTS else self.method)
        before = dataclasses.asdict(usual) | found.settings  # settings not in it had their defaults
        changed = {name for name, value in dataclasses.asdict(self.settings).items() if before[name] != value}
        if changed - {"games", "minutes"}:
            names = ", ".join(sorted(map(flag, changed - {"games", "minutes"})))
            raise BadOption(f"{self.folder} holds a training with other settings ({names}); choose another folder with --out")
        if found.weights.shape != self.weights.shape:
            raise BadOption(f"{path} has {found.weights.size} weights, and these settings have {self.weights.size}; choose another folder")
        self._take_over(found)
        self._rngs[: len(found.rngs)] = [rng.copy() for rng in found.rngs]  # also those of threads that are not used now
        self.games, self.seconds, self.curve = found.games, found.seconds, found.curve
        self.learners[0].sums[:] = found.sums

    def _take_over(self, found: Checkpoint) -> None:
        """Take over the weights of a checkpoint, and the running means of their gradients."""
        self.weights[:], self.squares[:] = found.weights, found.squares

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

    def run(self, show: Callable[[str], None] = lambda line: None, points: int = 20, until: float = 1.0) -> None:
        """Learn until this share of the training. Strength is measured `points` times, at even shares. Ctrl-C keeps the progress."""
        saved = time.monotonic()
        self.compile()
        try:
            while self.progress < until:
                at = len(self.curve.times()) / points
                self.learn()
                if self.progress >= at or time.monotonic() - saved > _CHECKPOINT_EVERY:
                    if self.progress >= at:
                        self._measure(show)
                    self.save()
                    saved = time.monotonic()
            if self.progress >= 1 and self.games not in self.curve.times():
                self._measure(show)
        finally:
            self.save()

    def compile(self) -> None:
        """Compile what learns, so that no seconds of the training go into that."""
        if not self._is_compiled:
            self._compile()
            self._is_compiled = True

    def learn(self) -> None:
        """Learn from some games, on all threads. Their number does not depend on the clock if the settings give a number of games.

        If an error or Ctrl-C ends this, nothing is learned: a training that continues would learn a part of the step again.
        """
        self.compile()
        mine = self._arrays()
        before, games, seconds, updates = [each.copy() for each in mine], self.games, self.seconds, self.updates
        try:
            self._spent = [0.0] * self.threads
            since = time.thread_time()
            self.games += self._learn()
            self.seconds += time.thread_time() - since + sum(self._spent[1:])
        except BaseException:
            for each, old in zip(mine, before, strict=True):
                each[:] = old
            self.games, self.seconds, self.updates = games, seconds, updates
            raise

    def _on_all_threads(self, work: Callable[[int], object]) -> None:
        """Call work(i) on each thread i. The first one is this thread."""
        errors: list[BaseException] = []

        def timed(i: int) -> None:
            try:
                before = time.thread_time()
                work(i)
                self._spent[i] += time.thread_time() - before
            except BaseException as error:
                errors.append(error)

        workers = [threading.Thread(target=timed, args=(i,)) for i in range(1, self.threads)]
        with delayed() if workers else nullcontext():  # no thread may continue after the others are interrupted
            for worker in workers:
                worker.start()
            timed(0)
            for worker in workers:
                worker.join()
        if errors:
            raise errors[0]

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
    heads = f" with {sizes[-1]} heads" if sizes[-1] > 1 else ""
    return f"{' and '.join(map(str, sizes[:-1]))} {activation}{heads}"
