"""Policies that score turns, and PPO for them."""

import numpy as np
import pytest
import torch

from kdenv.core.errors import BadOption
from kdenv.envs import SeatVectorEnv, SelfPlay, TableEnv
from kdenv.rl import TurnNetwork, TurnPPO, log_probabilities, sample
from kdenv.rl.ppo import Decisions, Outcome, advantages_of, gather

SMALL = {"mode": "round", "reward": "margin", "encoding": "ends"}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_log_probabilities_are_the_log_softmax_of_each_position() -> None:
    counts = [3, 1, 5, 2]
    position = torch.repeat_interleave(torch.arange(4), torch.tensor(counts))
    scores = torch.randn(11, generator=torch.Generator().manual_seed(1)) * 50
    wanted = torch.cat([torch.log_softmax(part, 0) for part in scores.split(counts)])
    assert torch.allclose(log_probabilities(scores, position, 4), wanted, atol=1e-5)


def test_the_gradient_of_log_probabilities_is_that_of_the_log_softmax() -> None:
    counts, weights = [2, 4], torch.tensor([1.0, -2.0, 0.5, 3.0, 1.0, -1.0])
    position = torch.repeat_interleave(torch.arange(2), torch.tensor(counts))
    a = torch.linspace(-1, 1, 6, requires_grad=True)
    b = torch.linspace(-1, 1, 6, requires_grad=True)
    (log_probabilities(a, position, 2) * weights).sum().backward()
    (torch.cat([torch.log_softmax(part, 0) for part in b.split(counts)]) * weights).sum().backward()
    assert a.grad is not None and b.grad is not None and torch.allclose(a.grad, b.grad, atol=1e-6)


def test_samples_have_the_probabilities() -> None:
    n, counts = 20_000, [2, 3]
    scores = torch.tensor([0.0, 1.0, -1.0, 0.5, 2.0])
    position = torch.repeat_interleave(torch.arange(2), torch.tensor(counts))
    p = log_probabilities(scores, position, 2).exp()
    generator = torch.Generator().manual_seed(3)
    drawn = torch.stack([sample(p.log(), position, 2, generator) for _ in range(n)])
    assert (position[drawn] == torch.arange(2)).all()
    hits = torch.bincount(drawn.ravel(), minlength=5)
    assert ((hits - n * p).abs() < 5.5 * (n * p * (1 - p)).sqrt()).all()


def naive_advantages(taken: list[Decisions], next_seat: np.ndarray, last_value: np.ndarray, discount: float, trace: float) -> dict:
    """The advantages by (time, game), each seat's decisions taken apart and followed forwards."""
    found: dict[tuple[int, int], float] = {}
    steps, n = len(taken), len(next_seat)
    for game in range(n):
        for t in range(steps):
            total, weight, at = 0.0, 1.0, t
            seat = taken[t].seat[game]
            while True:
                reward, next_at, over = 0.0, None, False
                for later in range(at, steps):
                    after = taken[later].after
                    reward += after.rewards[game, seat]
                    over = bool(after.ended[game])
                    if over:
                        break
                    if later + 1 < steps and taken[later + 1].seat[game] == seat:
                        next_at = later + 1
                        break
                is_last = not over and next_at is None
                if is_last and next_seat[game] != seat:
                    total = np.nan  # the reward of this decision is not known
                    break
                value = 0.0 if over else last_value[game] if next_at is None else taken[next_at].value[game]
                total += weight * (reward + discount * value - taken[at].value[game])
                if over or next_at is None:
                    break
                weight *= discount * trace
                at = next_at
            found[t, game] = total
    return found


def test_advantages_are_those_of_each_seat_by_itself() -> None:
    rng, steps, n, seats = np.random.default_rng(5), 12, 6, 3
    taken = []
    for _ in range(steps):
        after = Outcome(
            np.zeros((n, 1), np.float32), np.zeros(n, np.int64), rng.normal(size=(n, seats)).astype(np.float32), rng.random(n) < 0.2
        )
        value, seat = rng.normal(size=n).astype(np.float32), rng.integers(seats, size=n)
        nothing = np.zeros(n, np.int64)
        taken.append(Decisions(after.observation, after.observation, nothing, nothing, value, value, seat, after))
    next_seat, last_value = rng.integers(seats, size=n), rng.normal(size=n).astype(np.float32)
    found, usable = advantages_of(taken, next_seat, last_value, seats, 0.97, 0.8)
    wanted = naive_advantages(taken, next_seat, last_value, 0.97, 0.8)
    known = np.array([not np.isnan(wanted[t, game]) for t in range(steps) for game in range(n)])
    # A decision whose chain of next decisions ends in one that is not known is estimated as far as it is known.
    assert usable[known].all()
    assert np.allclose(found[known], [wanted[t, game] for t in range(steps) for game in range(n) if known[t * n + game]], atol=1e-4)


def test_the_rows_of_some_decisions_are_gathered() -> None:
    starts, chosen = np.array([0, 3, 4, 9, 11]), np.array([2, 3, 5, 10])
    rows, position, at = gather(starts, chosen, np.array([2, 0]))
    assert rows.tolist() == [4, 5, 6, 7, 8, 0, 1, 2] and position.tolist() == [0] * 5 + [1] * 3
    assert rows[at].tolist() == [5, 2]


def trained(seed: int, n: int = 2000, **settings: object) -> tuple[TurnPPO, dict[str, torch.Tensor]]:
    """A short training, and its network's numbers."""
    games = SelfPlay("dominoes", 16, skip_forced=True, **SMALL)
    torch.manual_seed(seed)
    training = TurnPPO(games, TurnNetwork(games.n_observed, (16,)), seed=seed, steps=16, batch=128, **settings)
    training.learn(decisions=n)
    return training, training.network.state_dict()


def test_trainings_with_one_seed_are_equal() -> None:
    (_, a), (_, b), (_, c) = trained(1), trained(1), trained(2)
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not all(torch.equal(a[name], c[name]) for name in a)


def test_a_training_wants_one_end_and_an_environment_of_many_games() -> None:
    training, _ = trained(1, 100)
    for ends in ({}, {"minutes": 1, "decisions": 5}):
        with pytest.raises(BadOption, match="give either minutes or decisions"):
            training.learn(**ends)
    with pytest.raises(BadOption, match="not in a TableEnv"):
        TurnPPO(TableEnv("dominoes"), TurnNetwork(3))


@pytest.mark.cold
@pytest.mark.parametrize("kind", ["all seats", "one seat"])
def test_a_policy_that_scores_turns_learns_to_beat_random_players(kind: str) -> None:
    if kind == "all seats":
        games: SelfPlay | SeatVectorEnv = SelfPlay("dominoes", 64, skip_forced=True, **SMALL)
        size = games.n_observed
    else:
        games = SeatVectorEnv("dominoes", "random", num_envs=64, seat="rotate", skip_forced=True, **SMALL)
        size = games.single_observation_space.shape[0]
    torch.manual_seed(1)
    network = TurnNetwork(size, (32,))

    def margin() -> tuple[float, float]:
        """The mean margin of the most probable turns against random players, and its standard error."""
        env = SeatVectorEnv("dominoes", "random", num_envs=2000, seat="rotate", skip_forced=True, **SMALL)
        env.reset(seed=99)
        got = np.full(2000, np.nan)
        while np.isnan(got).any():
            found = env.afterstates(whole=False)
            with torch.no_grad():
                best = found.best(network.score(torch.from_numpy(found.observations)).numpy())
            _, reward, terminated, _, _ = env.step(found.actions[best])
            got[terminated & np.isnan(got)] = reward[terminated & np.isnan(got)]
        return float(got.mean()), float(got.std() / len(got) ** 0.5)

    TurnPPO(games, network, seed=1).learn(decisions=60_000)
    mean, error = margin()
    assert mean > 5 * error
