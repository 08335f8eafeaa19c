"""`TurnPPO`: proximal policy optimisation (Schulman and others 2017) for policies that score turns.

All seats of SelfPlay learn, or the learner of a SeatVectorEnv. A seat's reward, and the next value in its advantage, are those of its own
next decision: what other seats decide in between belongs to its environment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kdenv.core.afterstates import Afterstates
from kdenv.core.errors import BadOption
from kdenv.envs import SeatVectorEnv, SelfPlay
from kdenv.policies.model_file import save_network
from kdenv.rl.turns import log_probabilities, sample, seeded

Floats = NDArray[np.float32]
_COUNTS = ("decisions", "updates", "games", "seconds")
_STATISTICS = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")  # of _update


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
        if isinstance(games, SeatVectorEnv) and games.autoreset_mode.value != "SameStep":
            raise BadOption(f"TurnPPO needs a SeatVectorEnv with autoreset_mode='SameStep', not {games.autoreset_mode.value!r}")
        if isinstance(games, SeatVectorEnv) and games.single_observation_space.shape is None:
            raise BadOption('TurnPPO needs vectors as observations; make the SeatVectorEnv with observation="vector"')
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
    """A training by PPO of a policy that scores turns. The names of its parameters are those of Stable-Baselines3.

    Args:
        env: A SelfPlay, or a SeatVectorEnv with observation="vector".
        network: A TurnNetwork, or a module of torch with the methods `score` and `value`, on the CPU.
        seed: The seed of the games, and of all draws. Trainings with one seed on one thread are equal.
        n_steps: Decisions in each game between two updates.
        n_epochs: How often each decision is learned from.
        batch_size: Decisions in a step of the optimiser.
        learning_rate: The step size of Adam at first; it falls linearly to a twentieth in each call of learn.
        gamma: The discount of rewards, for each decision of a seat.
        gae_lambda: Lambda of generalised advantage estimation.
        clip_range: How far the ratio of probabilities may be from 1.
        ent_coef: The weight of the entropy in the loss.
        vf_coef: The weight of the squared error of the value in the loss. Rewards in points are divided by 50 or 100, so it is large.
        max_grad_norm: The gradient is scaled down to this norm.

    Attributes:
        network: The network that learns.
        decisions: The number of decisions of all updates so far.
        updates: The number of updates so far.
        games: The number of games that have ended.
        seconds: CPU seconds of all updates and their games, without compiling.
        statistics: Those of the last update, with the names and meanings of Stable-Baselines3. They are policy_loss, value_loss,
            entropy, approx_kl and clip_fraction, which are means over its batches, and explained_variance.

    """

    def __init__(
        self,
        env: SelfPlay | SeatVectorEnv,
        network: nn.Module,
        *,
        seed: int = 0,
        n_steps: int = 64,
        n_epochs: int = 2,
        batch_size: int = 1024,
        learning_rate: float = 1e-3,
        gamma: float = 1.0,
        gae_lambda: float = 0.9,
        clip_range: float = 0.2,
        ent_coef: float = 0.003,
        vf_coef: float = 12.5,
        max_grad_norm: float = 1.0,
    ) -> None:
        for name in ("score", "value"):
            if not callable(getattr(network, name, None)):
                raise BadOption(
                    f"a {type(network).__name__} has no method {name}; TurnPPO needs the methods score and value of TurnNetwork"
                )
        if any(each.device.type != "cpu" for each in network.parameters()):
            raise BadOption("TurnPPO trains on the CPU, where the games are; leave the network there")
        self._games, self.network = _Games(env), network
        self._scores: Scores = network  # type: ignore[assignment]
        self.n_steps, self.n_epochs, self.batch_size, self.learning_rate = n_steps, n_epochs, batch_size, learning_rate
        self.gamma, self.gae_lambda, self.clip_range = gamma, gae_lambda, clip_range
        self.ent_coef, self.vf_coef, self.max_grad_norm = ent_coef, vf_coef, max_grad_norm
        self.decisions, self.updates, self.games, self.seconds = 0, 0, 0, 0.0
        self.statistics: dict[str, float] = {}
        self._draws, self._shuffles = seeded(seed)
        self._optimiser = torch.optim.Adam(network.parameters(), learning_rate, eps=1e-5)
        self._now = self._games.reset(seed)
        self._list()  # compiles the kernels, so that no training time goes into that

    def learn(
        self, *, minutes: float | None = None, decisions: int | None = None, callback: Callable[[TurnPPO], object] | None = None
    ) -> None:
        """Train until this much more has been done, with an update after every n_steps decisions in each game.

        Args:
            minutes: Minutes of the CPU, without compiling and without the time that the callback takes.
            decisions: Decisions of the seats that learn.
            callback: Called with this training after each update. The training ends if it returns False.

        """
        ends = [each for each in (minutes, decisions) if each is not None]
        if len(ends) != 1 or not ends[0] > 0:
            raise BadOption("give either minutes or decisions, a number above 0, so that the training has an end")
        begun, had = self.seconds, self.decisions
        while (share := (self.seconds - begun) / (60 * minutes) if minutes else (self.decisions - had) / (decisions or 1)) < 1:
            since = time.process_time()
            for group in self._optimiser.param_groups:
                group["lr"] = self.learning_rate * (1 - 0.95 * share)
            taken = [self._decide() for _ in range(self.n_steps)]
            self._update(self._sample(taken))
            self.updates += 1
            self.seconds += time.process_time() - since
            if callback is not None and callback(self) is False:
                return

    def save(self, path: str | Path) -> None:
        """Write the network to a model file, which the policy ppo(path) plays.

        Networks other than TurnNetwork need its method `scorer_layers`.

        Args:
            path: The file, which ends in .npz.

        """
        made_by = f"kdenv.rl.TurnPPO, {self.decisions:,} decisions, {self.seconds:.0f} s"
        save_network(path, self.network, self.trained_for, made_by=made_by)

    def state_dict(self) -> dict[str, Any]:
        """Return network, optimiser and counts, which torch.save writes, so that a training can resume. Its games are not included."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return {"network": self.network.state_dict(), "optimiser": self._optimiser.state_dict(), **counts}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what state_dict returned. The games are those of this training, so give it another seed."""
        self.network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        for name in _COUNTS:
            setattr(self, name, state[name])

    @property
    def trained_for(self) -> dict[str, Any]:
        """The game, encoding, players and options of the environment, for save_network and evaluate."""
        return self._games.games.trained_for

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
        advantages, usable = advantages_of(taken, self._now.seat, last_value, self._games.seats, self.gamma, self.gae_lambda)
        value = np.concatenate([each.value for each in taken])
        offsets = np.cumsum([0, *(each.starts[-1] for each in taken)])
        starts = np.concatenate([each.starts[:-1] + offset for each, offset in zip(taken, offsets, strict=False)] + [offsets[-1:]])
        self.decisions += len(value)
        if not usable.any():
            raise BadOption(f"no seat decides again within n_steps={self.n_steps}, so there is nothing to learn from; take more steps")
        good, target = advantages[usable], advantages + value
        self.statistics["explained_variance"] = float(1 - good.var() / (target[usable].var() + 1e-8))
        return Sample(
            torch.from_numpy(np.concatenate([each.observation for each in taken])),
            torch.from_numpy(np.concatenate([each.rows for each in taken])),
            starts,
            np.concatenate([each.chosen + offset for each, offset in zip(taken, offsets, strict=False)]),
            torch.from_numpy(np.concatenate([each.log_probability for each in taken])),
            torch.from_numpy((advantages - good.mean()) / (good.std() + 1e-8)),
            torch.from_numpy(target),
            np.flatnonzero(usable),
        )

    def _update(self, given: Sample) -> None:
        """Learn from each usable decision `n_epochs` times."""
        found: list[tuple[float, ...]] = []
        for _ in range(self.n_epochs):
            for some in self._batches(given.usable):
                rows, position, chosen = gather(given.starts, given.chosen, some)
                log_p = log_probabilities(self._scores.score(given.rows[rows]), position, len(some))
                log_ratio = log_p[chosen] - given.log_probability[some]
                ratio = log_ratio.exp()
                advantage = given.advantage[some]
                gain = torch.minimum(ratio * advantage, ratio.clamp(1 - self.clip_range, 1 + self.clip_range) * advantage).mean()
                entropy = -(log_p.exp() * log_p).sum() / len(some)
                error = (self._scores.value(given.observation[some]) - given.target[some]).square().mean()
                loss = -gain - self.ent_coef * entropy + self.vf_coef * error
                self._optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.network.parameters(), self.max_grad_norm)
                self._optimiser.step()
                with torch.no_grad():
                    kl, clipped = (ratio - 1 - log_ratio).mean(), ((ratio - 1).abs() > self.clip_range).float().mean()
                found.append(tuple(each.item() for each in (-gain, error, entropy, kl, clipped)))
        self.statistics.update(zip(_STATISTICS, np.mean(found, axis=0).tolist(), strict=True))

    def _batches(self, usable: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Shuffle the decisions and cut them into batches."""
        order = self._shuffles.permutation(usable)
        for at in range(0, len(order), self.batch_size):
            yield order[at : at + self.batch_size]


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
