"""`TurnPPO`: proximal policy optimisation (Schulman and others 2017) for policies that score turns.

All seats of SelfPlay learn, or the learner of a SeatVectorEnv. A seat's reward, and the next value in its advantage, are those of its own
next decision: what other seats decide in between belongs to its environment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kdenv.core.afterstates import Afterstates
from kdenv.core.errors import BadOption
from kdenv.envs import SeatVectorEnv, SelfPlay
from kdenv.policies.model_file import save_network
from kdenv.rl.turns import layers_of, log_probabilities, sample, seeded

Floats = NDArray[np.float32]


class Scores(Protocol):
    """The methods that TurnPPO needs of a network. TurnNetwork has them."""

    def score(self, afterstates: Tensor) -> Tensor:
        """Return a number for each afterstate."""

    def value(self, observations: Tensor) -> Tensor:
        """Return the expected reward of the seat to move, for each observation."""


class Outcome(NamedTuple):
    """The result of a step: the next decision of each game, and the rewards of the seats that learn."""

    observation: Floats
    seat: NDArray[np.int64]  # the column of `rewards` of the seat that moves next
    rewards: Floats  # games x seats that learn
    ended: NDArray[np.bool_]


class _Games:
    """An adapter that gives both kinds of environments the same methods."""

    def __init__(self, games: SelfPlay | SeatVectorEnv) -> None:
        if not isinstance(games, (SelfPlay, SeatVectorEnv)):
            raise BadOption(f"TurnPPO trains in a SelfPlay or a SeatVectorEnv, not in a {type(games).__name__}")
        self.games, self.n = games, games.num_envs
        self.seats = games.players if isinstance(games, SelfPlay) else 1
        self._nobody = np.zeros(self.n, np.int64)

    def reset(self, seed: int) -> Outcome:
        """Deal the first game of every row."""
        if isinstance(self.games, SelfPlay):
            now = self.games.reset(seed=seed)
            return Outcome(now.observation, now.seat, np.zeros((self.n, self.seats), np.float32), np.zeros(self.n, np.bool_))
        observation, _ = self.games.reset(seed=seed)
        return Outcome(observation, self._nobody, np.zeros((self.n, 1), np.float32), np.zeros(self.n, np.bool_))

    def step(self, actions: NDArray[np.int64]) -> Outcome:
        """Carry out an action in each game."""
        if isinstance(self.games, SelfPlay):
            now = self.games.step(actions)
            return Outcome(now.observation, now.seat, now.rewards.astype(np.float32), now.terminated | now.truncated)
        observation, reward, terminated, truncated, _ = self.games.step(actions)
        return Outcome(observation, self._nobody, reward.astype(np.float32)[:, None], terminated | truncated)


class RolloutStep(NamedTuple):
    """One decision in each game: what was seen, what could be done, and what was done."""

    observation: Floats
    rows: Floats  # the afterstates
    starts: NDArray[np.int64]
    chosen: NDArray[np.int64]  # the row of each game
    log_probability: Floats
    value: Floats
    seat: NDArray[np.int64]
    after: Outcome


class Sample(NamedTuple):
    """The decisions of a rollout, one after the other. Rows starts[i] to starts[i + 1] - 1 belong to decision i."""

    observation: Tensor
    rows: Tensor
    starts: NDArray[np.int64]
    chosen: NDArray[np.int64]
    log_probability: Tensor
    advantage: Tensor
    target: Tensor  # of the value
    usable: NDArray[np.int64]  # the decisions whose reward, or the value after them, is known


class TurnPPO:
    """A training by PPO of a policy that scores turns.

    Args:
        games: a SelfPlay, or a SeatVectorEnv with observation="vector".
        network: a TurnNetwork, or a module with the methods `score` and `value`.
        seed: of the games, and of all draws. Trainings with one seed on one thread are equal.
        steps: decisions in each game between two updates.
        epochs: how often each decision is learned from.
        batch: decisions in a step of the optimiser.
        rate: the step size of Adam; it falls linearly to a twentieth.
        discount: of rewards, for each decision of a seat.
        trace: lambda of generalised advantage estimation.
        clip: how far the ratio of probabilities may be from 1.
        entropy: the weight of the entropy in the loss.
        value_weight: the weight of the squared error of the value in the loss.

    """

    def __init__(
        self,
        games: SelfPlay | SeatVectorEnv,
        network: nn.Module,
        *,
        seed: int = 0,
        steps: int = 64,
        epochs: int = 2,
        batch: int = 1024,
        rate: float = 1e-3,
        discount: float = 1.0,
        trace: float = 0.9,
        clip: float = 0.2,
        entropy: float = 0.003,
        value_weight: float = 12.5,
    ) -> None:
        self._games, self.network = _Games(games), network
        self._scores: Scores = network  # type: ignore[assignment]
        self.steps, self.epochs, self.batch, self.rate = steps, epochs, batch, rate
        self.discount, self.trace, self.clip, self.entropy, self.value_weight = discount, trace, clip, entropy, value_weight
        self.decisions, self.rows, self.games, self.seconds = 0, 0, 0, 0.0  # learned from so far; seconds of the processor
        self._draws, self._shuffles = seeded(seed)
        self._optimiser = torch.optim.Adam(network.parameters(), rate, eps=1e-5)
        self._now = self._games.reset(seed)
        self._list()  # compiles the kernels, so that no training time goes into that

    def learn(
        self, *, minutes: float | None = None, decisions: int | None = None, after_update: Callable[[TurnPPO], object] | None = None
    ) -> None:
        """Train until this much more has been done. Ctrl-C ends it between two updates at the latest.

        Args:
            minutes: minutes of the processor, without compiling and without the time that after_update takes.
            decisions: decisions of the seats that learn.
            after_update: called with this training after each update.

        """
        if (minutes is None) == (decisions is None):
            raise BadOption("give either minutes or decisions, so that the training has an end")
        begun, had = self.seconds, self.decisions
        while (share := (self.seconds - begun) / (60 * minutes) if minutes else (self.decisions - had) / (decisions or 1)) < 1:
            since = time.process_time()
            for group in self._optimiser.param_groups:
                group["lr"] = self.rate * (1 - 0.95 * share)
            taken = [self._decide() for _ in range(self.steps)]
            self._update(self._sample(taken))
            self.seconds += time.process_time() - since
            if after_update is not None:
                after_update(self)

    def save(self, path: str | Path) -> None:
        """Write the scorer of a TurnNetwork to a model file, which the policy ppo(path) plays.

        Args:
            path: the file, which ends in .npz.

        """
        scorer = getattr(self.network, "scorer", None)
        if not isinstance(scorer, nn.Sequential):
            raise BadOption(f"a {type(self.network).__name__} has no `scorer` of plain layers; write its layers with kdenv.save_network")
        made_by = f"kdenv.rl.TurnPPO, {self.decisions:,} decisions, {self.seconds:.0f} s"
        save_network(path, layers_of(scorer), self._games.games.trained_for, made_by=made_by)

    def _list(self) -> Afterstates:
        return self._games.games.afterstates(whole=False)

    def _decide(self) -> RolloutStep:
        """Draw an action in each game by the present policy, and carry it out."""
        now, found, n = self._now, self._list(), self._games.n
        observation, position = torch.from_numpy(now.observation), torch.from_numpy(found.position)
        with torch.no_grad():
            log_p = log_probabilities(self._scores.score(torch.from_numpy(found.observations)), position, n)
            chosen = sample(log_p, position, n, self._draws)
            value = self._scores.value(observation).numpy()
        self._now = self._games.step(found.actions[chosen.numpy()])
        self.games += int(self._now.ended.sum())
        return RolloutStep(
            now.observation, found.observations, found.starts, chosen.numpy(), log_p[chosen].numpy(), value, now.seat, self._now
        )

    def _sample(self, taken: list[RolloutStep]) -> Sample:
        """Estimate the advantages, and put the decisions of a rollout one after the other."""
        with torch.no_grad():
            last_value = self._scores.value(torch.from_numpy(self._now.observation)).numpy()
        advantages, usable = advantages_of(taken, self._now.seat, last_value, self._games.seats, self.discount, self.trace)
        value = np.concatenate([each.value for each in taken])
        offsets = np.cumsum([0, *(each.starts[-1] for each in taken)])
        starts = np.concatenate([each.starts[:-1] + offset for each, offset in zip(taken, offsets, strict=False)] + [offsets[-1:]])
        self.decisions += len(value)
        self.rows += int(starts[-1])
        good = advantages[usable]
        return Sample(
            torch.from_numpy(np.concatenate([each.observation for each in taken])),
            torch.from_numpy(np.concatenate([each.rows for each in taken])),
            starts,
            np.concatenate([each.chosen + offset for each, offset in zip(taken, offsets, strict=False)]),
            torch.from_numpy(np.concatenate([each.log_probability for each in taken])),
            torch.from_numpy((advantages - good.mean()) / (good.std() + 1e-8)),
            torch.from_numpy(advantages + value),
            np.flatnonzero(usable),
        )

    def _update(self, given: Sample) -> None:
        """Learn from each usable decision `epochs` times."""
        for _ in range(self.epochs):
            for some in self._batches(given.usable):
                rows, position, chosen = gather(given.starts, given.chosen, some)
                log_p = log_probabilities(self._scores.score(given.rows[rows]), position, len(some))
                ratio = (log_p[chosen] - given.log_probability[some]).exp()
                advantage = given.advantage[some]
                gain = torch.minimum(ratio * advantage, ratio.clamp(1 - self.clip, 1 + self.clip) * advantage).mean()
                entropy = -(log_p.exp() * log_p).sum() / len(some)
                error = (self._scores.value(given.observation[some]) - given.target[some]).square().mean()
                loss = -gain - self.entropy * entropy + self.value_weight * error
                self._optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
                self._optimiser.step()

    def _batches(self, usable: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Shuffle the decisions and cut them into batches."""
        order = self._shuffles.permutation(usable)
        for at in range(0, len(order), self.batch):
            yield order[at : at + self.batch]


def advantages_of(
    taken: list[RolloutStep], next_seat: NDArray[np.int64], last_value: Floats, seats: int, discount: float, trace: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the generalised advantage estimate of each decision, and whether it is known.

    It is not known if the seat neither decides again nor sees the end of the game before the rollout ends.
    """
    n = len(next_seat)
    each_game = np.arange(n)
    reward, value, advantage = (np.zeros((n, seats), np.float32) for _ in range(3))  # of the seat's next decision, and until then
    known = np.zeros((n, seats), np.bool_)
    value[each_game, next_seat], known[each_game, next_seat] = last_value, True
    found, usable = [], []
    for each in reversed(taken):
        over = each.after.ended
        reward[over], value[over], advantage[over], known[over] = 0, 0, 0, True
        reward += each.after.rewards
        mine = each_game, each.seat
        of_mine = reward[mine] + discount * value[mine] - each.value + discount * trace * advantage[mine]
        found.append(of_mine)
        usable.append(known[mine].copy())
        reward[mine], value[mine], advantage[mine], known[mine] = 0, each.value, of_mine, True
    return np.concatenate(found[::-1]), np.concatenate(usable[::-1])


def gather(starts: NDArray[np.int64], chosen: NDArray[np.int64], some: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rows of some decisions, the decision (0 to len(some) - 1) of each, and where the chosen one of each is among them."""
    counts = starts[some + 1] - starts[some]
    first = np.cumsum(counts) - counts
    rows = np.arange(counts.sum()) + np.repeat(starts[some] - first, counts)
    position = np.repeat(np.arange(len(some)), counts)
    return torch.from_numpy(rows), torch.from_numpy(position), torch.from_numpy(first + chosen[some] - starts[some])
