"""Trainer: lets a network of values learn, by TD from self-play or from a search (teacher.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption
from kdenv.networks.learning import Learner, Schedule, first_squares, learn_from_games, learn_from_worths, learner_for, paces_of
from kdenv.networks.network import copy_for_thread, network_of
from kdenv.networks.players import Valued, turns_for
from kdenv.training.checkpoint import Checkpoint
from kdenv.training.settings import TD
from kdenv.training.teacher import Teacher
from kdenv.training.training import Training

_STEP = 0.5  # seconds of a call of the kernel
_FIRST_STEP = 4  # games


class Trainer(Training):
    """A network of values that learns a game."""

    method = TD
    player: Valued
    learners: list[Learner]

    def _make(self) -> None:
        layers = self._first_layers(self._source())
        network = network_of(self._observer.part(), layers, self.settings.activation, self.settings.heads)
        self.player = Valued(network, self.goal, turns_for(self.game, self.players))
        self.weights, self.squares = network.weights, first_squares(network)
        self._paces = paces_of(self.squares)
        self.learners = [self._learner(i) for i in range(self.threads)]
        self._teacher: Teacher | None = None
        if self.settings.teacher:
            if self.threads > 1:
                raise BadOption(f"threads={self.threads} is not possible with a teacher, which plays one game at a time; give one thread")
            self._teacher = Teacher(self.settings.teacher, self.game, self.players, self.settings.options, self.goal)
        self._step = _FIRST_STEP

    def _learner(self, i: int) -> Learner:
        player = self.player
        if i > 0:
            player = Valued(copy_for_thread(player.network, self._observer.part()), player.goal, turns_for(self.game, self.players))
        return learner_for(player, self.game.state_dtype, self.players, self.squares, self._paces)

    def _take_over(self, found: Checkpoint) -> None:
        super()._take_over(found)
        self._paces[:] = paces_of(self.squares)

    def _arrays(self) -> list[Any]:
        return [*super()._arrays(), self._paces]

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

    def _compile(self) -> None:
        learner, schedule, rng = self.learners[0], self.schedule(), make_rng(0)
        if self._teacher is None:
            learn_from_games(learner, self._guides[0], schedule, self.players, self.variant, 0, self.game.buffer(), rng)
            return
        self._teacher.prepare(rng)
        learn_from_worths(learner, np.zeros(0, np.int64), np.zeros(0), np.zeros(0), schedule.rate, rng)

    def _learn(self) -> int:
        schedule = self.schedule()
        n = self._step
        if self.settings.games:
            n = max(1, min(100, (self.settings.games - self.games) // self.threads))
        if self._teacher is not None:
            n = 1

        def work(i: int) -> None:
            if self._teacher is not None:
                self._teacher.play(self.learners[i], schedule, self._rngs[i])
            else:
                parts = self.learners[i], self._guides[i], schedule, self.players, self.variant
                learn_from_games(*parts, n, self.game.buffer(), self._rngs[i])

        self._on_all_threads(work)
        self._step = max(1, min(2 * self._step, int(n * _STEP / max(self._spent[0], 1e-6))))
        return n * self.threads
