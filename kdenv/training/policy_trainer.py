"""PolicyTrainer and ExpertTrainer: let a network that scores turns learn by PPO or by expert iteration, without torch.

An update plays whole games on all threads. Then it goes through their decisions `epochs` times, in batches. Each thread adds the
gradients of the decisions that it has played. So the same settings, seed and number of threads give the same network.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import make_rng, next64
from kdenv.networks.expert import Expert, Imitation, expert_for
from kdenv.networks.network import copy_for_thread, network_of
from kdenv.networks.players import Scored, turns_for
from kdenv.networks.policy_learning import (
    Objective,
    PolicyLearner,
    add_gradients,
    n_weights,
    policy_learner,
    step_by_adam,
    transpose_layers,
)
from kdenv.networks.rollout import DECISIONS, BySoftmax, larger, new_rollout, play_games
from kdenv.policies.model_file import VALUE
from kdenv.training.checkpoint import Checkpoint
from kdenv.training.settings import EXPERT, PPO
from kdenv.training.training import Training

_VALUE_WEIGHT = 1.0  # of the squared error of the value in the loss
_LARGEST_NORM = 1.0  # of the gradients of a step
_FIRST_PLAYOUTS = 2  # of a search, when a training begins
_FIRST_SCORES = 0.01  # the size of the scorer's last weights at first: all turns are about equally probable
_SHARPNESS = 100.0  # a training that begins with a network of values has its values times this as scores: most turns are then its best ones


class PolicyTrainer(Training):
    """A network that scores turns, and predicts values, and learns a game."""

    method = PPO
    player: Scored
    learners: list[PolicyLearner]

    def _make(self) -> None:
        source = self._source()
        layers = self._first_layers(source)
        weight, bias = layers[-1]
        size = _FIRST_SCORES if source is None else _SHARPNESS if source.predicts == VALUE else 1.0
        layers = [*layers[:-1], (weight * np.float32(size), bias * np.float32(size))]
        self._network = network_of(self._observer.part(), layers, self.settings.activation, self.settings.heads)
        of_values = np.zeros(n_weights(self._network) - len(self._network.weights), np.float32)  # at first all values are 0
        if source is not None and source.predicts == VALUE:
            of_values[:] = np.column_stack([weight, bias]).ravel()
        self.weights = np.concatenate([self._network.weights, of_values])
        self.squares, self.means, self._turned = (np.zeros_like(self.weights) for _ in range(3))
        self.learners = [self._learner() for _ in range(self.threads)]
        self._rollouts = [new_rollout() for _ in range(self.threads)]
        room = turns_for(self.game, self.players)._replace(most_decisions=1)
        self.player = Scored(copy_for_thread(self.learners[0].network, self._observer.part()), 0, room)

    def _learner(self) -> PolicyLearner:
        network = copy_for_thread(self._network, self._observer.part())
        return policy_learner(network, self.weights, self._turned, self.goal, self.game, self.players)

    def _take_over(self, found: Checkpoint) -> None:
        super()._take_over(found)
        assert self.means is not None and found.means is not None
        self.means[:], self.updates = found.means, found.updates

    def _guided(self) -> float:
        return self.settings.guided if self.progress < self.settings.first else self.settings.then

    def _chooser(self, i: int) -> Any:
        """The part that chooses the actions of thread i."""
        return BySoftmax()

    def _objective(self) -> Any:
        return Objective(self.settings.clip, self.settings.entropy, _VALUE_WEIGHT)

    def _compile(self) -> None:
        learner, rollout = self.learners[0], self._rollouts[0]
        self._play(0, 0, 0)
        add_gradients(learner, rollout, np.zeros(0, np.int64), 0, 0, 1, self._objective())
        nothing = np.zeros(0, np.float32)
        step_by_adam(nothing, nothing, nothing, nothing, 1.0, 0.0, 1)
        transpose_layers(learner)

    def _learn(self) -> int:
        settings, progress = self.settings, self.progress
        rate = settings.rate * (1 - (1 - settings.last) * progress)  # a rate that falls faster stops learning early
        n_games = max(1, (settings.games - self.games) // self.threads) if settings.games else 1 << 40
        played = [0] * self.threads

        def play(i: int) -> None:
            played[i] = self._play(i, -(-settings.rollout // self.threads), n_games)

        self._on_all_threads(play)
        self._normalise()
        for _ in range(settings.epochs):
            self._learn_once(rate)
        return sum(played)

    def _play(self, i: int, n_decisions: int, n_games: int) -> int:
        """Fill the rollout of a thread with whole games, at most n_games; return how many there are."""
        settings, rng = self.settings, self._rngs[i] if n_games else make_rng(0)
        self._rollouts[i].filled[:] = 0
        n, guided, out = 0, self._guided(), self.game.buffer()
        while True:
            rollout = self._rollouts[i]
            parts = (
                self.learners[i],
                rollout,
                self._chooser(i),
                self._guides[i],
                guided,
                max(1, len(settings.guides)),
                settings.lam,
                self.players,
            )
            n += int(play_games(*parts, self.variant, n_decisions, n_games - n, out, rng))
            if n >= n_games or rollout.filled[DECISIONS] >= n_decisions:
                return n
            self._rollouts[i] = larger(rollout)

    def _normalise(self) -> None:
        """Give the advantages of all rollouts together the mean 0 and the deviation 1."""
        mine = [rollout.advantages[: rollout.filled[DECISIONS]] for rollout in self._rollouts]
        both = np.concatenate(mine)
        if not len(both):  # guides played all seats
            return
        mean, deviation = both.mean(), both.std() + 1e-8
        for each in mine:
            each[:] = (each - mean) / deviation

    def _learn_once(self, rate: float) -> None:
        """Learn from each decision of the rollouts once, in batches of random ones."""
        orders = [np.random.default_rng(int(next64(rng))).permutation(int(rollout.filled[DECISIONS])) for rng, rollout in self._pairs()]
        total = sum(map(len, orders))
        n_batches = max(1, round(total / self.settings.batch))
        for k in range(n_batches):
            # Sorted, because decisions that lie near each other in memory are read faster.
            some = [np.sort(order[len(order) * k // n_batches : len(order) * (k + 1) // n_batches]) for order in orders]
            if sum(map(len, some)):
                self._step(some, rate)

    def _pairs(self) -> Any:
        return zip(self._rngs, self._rollouts, strict=False)  # there may be generators of threads that are not used now

    def _step(self, some: list[NDArray[np.int64]], rate: float) -> None:
        """Make a step of the optimiser, with these decisions of each thread's rollout."""
        n_batch, objective = sum(map(len, some)), self._objective()
        transpose_layers(self.learners[0])

        def add(i: int) -> None:
            learner = self.learners[i]
            learner.gradients[:] = 0
            add_gradients(learner, self._rollouts[i], some[i], 0, len(some[i]), n_batch, objective)

        self._on_all_threads(add)
        assert self.means is not None
        self.updates += 1
        gradients = self.learners[0].gradients
        for other in self.learners[1:]:
            gradients += other.gradients
        norm = float(np.sqrt(np.sum(np.square(gradients), dtype=np.float64)))
        factor = min(1.0, _LARGEST_NORM / (norm + 1e-6))
        step_by_adam(self.weights, gradients, self.means, self.squares, factor, rate, self.updates)


class ExpertTrainer(PolicyTrainer):
    """A network that learns the turns that small searches with itself find."""

    method = EXPERT

    def _make(self) -> None:
        super()._make()
        settings = self.settings
        parts = settings.considered, settings.ahead, settings.weight, settings.searched
        self._experts = [expert_for(self.game, *parts) for _ in range(self.threads)]

    def _chooser(self, i: int) -> Expert:
        """The search of thread i. Its playouts become more, evenly in the course of the training."""
        playouts = _FIRST_PLAYOUTS + round((self.settings.playouts - _FIRST_PLAYOUTS) * self.progress)
        return self._experts[i]._replace(playouts=playouts)

    def _objective(self) -> Imitation:
        return Imitation(_VALUE_WEIGHT)
