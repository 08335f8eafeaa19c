"""Policies that score turns, and PPO for them."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from random_games import random_game

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.errors import BadOption, MissingExtra, NotSupported
from kdenv.core.view import View
from kdenv.envs import SeatVectorEnv, SelfPlay, TableEnv
from kdenv.games import find_game
from kdenv.policies.model_file import read_network
from kdenv.rl import TurnNetwork, TurnPPO, log_probabilities, sample
from kdenv.rl.ppo import Outcome, RolloutStep, advantages_of, gather
from kdenv.search.kernels.priors import write_priors

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


def naive_advantages(taken: list[RolloutStep], next_seat: np.ndarray, last_value: np.ndarray, discount: float, trace: float) -> dict:
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
        taken.append(RolloutStep(after.observation, after.observation, nothing, nothing, value, value, seat, after))
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
    training = TurnPPO(games, TurnNetwork(games.n_observed, (16,)), seed=seed, n_steps=16, batch_size=128, **settings)
    training.learn(decisions=n)
    return training, training.network.state_dict()


def test_trainings_with_one_seed_are_equal() -> None:
    (_, a), (_, b), (_, c) = trained(1), trained(1), trained(2)
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not all(torch.equal(a[name], c[name]) for name in a)


def test_a_callback_sees_the_statistics_and_may_end_the_training() -> None:
    training, _ = trained(1, 100)
    seen = []

    def callback(given: TurnPPO) -> bool:
        assert given is training
        seen.append(given.updates)
        return given.updates < 4

    before = training.updates
    training.learn(minutes=60, callback=callback)
    assert seen == list(range(before + 1, 5)) and training.decisions == training.updates * 16 * 16
    names = {"policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction", "explained_variance"}
    assert training.statistics.keys() == names and np.isfinite(list(training.statistics.values())).all()
    assert 0 < training.statistics["entropy"] < np.log(20) and training.statistics["value_loss"] > 0
    assert 0 <= training.statistics["approx_kl"] < 1 and 0 <= training.statistics["clip_fraction"] <= 1


def test_a_training_goes_on_from_its_state(tmp_path: Path) -> None:
    first, network = trained(1, 500)
    torch.save(first.state_dict(), tmp_path / "state.pt")
    games = SelfPlay("dominoes", 16, skip_forced=True, **SMALL)
    again = TurnPPO(games, TurnNetwork(games.n_observed, (16,)), seed=1 + first.decisions, n_steps=16, batch_size=128)
    again.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert (again.decisions, again.updates, again.games, again.seconds) == (first.decisions, first.updates, first.games, first.seconds)
    assert all(torch.equal(network[name], value) for name, value in again.network.state_dict().items())
    one, other = (each._optimiser.state_dict()["state"] for each in (first, again))
    assert one.keys() == other.keys() and all(torch.equal(one[i]["exp_avg_sq"], other[i]["exp_avg_sq"]) for i in one)
    again.learn(decisions=1)
    assert again.updates == first.updates + 1


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("kdenv.rl", "torch"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"^kdenv.rl needs the extra 'rl': pip install "):
        importlib.import_module("kdenv.rl")


def test_networks_that_cannot_be_trained_are_refused() -> None:
    games = SelfPlay("dominoes", 2, **SMALL)
    with pytest.raises(BadOption, match="a Linear has no method score; TurnPPO needs the methods score and value of TurnNetwork"):
        TurnPPO(games, torch.nn.Linear(3, 1))
    with pytest.raises(BadOption, match="no seat decides again within n_steps=1, so there is nothing to learn from"):
        TurnPPO(games, TurnNetwork(games.n_observed, (4,)), n_steps=1).learn(decisions=1)
    parts = SeatVectorEnv("dominoes", "random", num_envs=2, observation="parts", **SMALL)
    with pytest.raises(BadOption, match="TurnPPO needs vectors as observations"):
        TurnPPO(parts, TurnNetwork(3))


def test_a_network_of_another_architecture_is_not_saved(tmp_path: Path) -> None:
    games = SelfPlay("dominoes", 2, **SMALL)

    class Own(TurnNetwork):
        def scorer_layers(self) -> torch.nn.Sequential:
            return torch.nn.Sequential(self.scorer, torch.nn.Sigmoid())

    with pytest.raises(NotSupported, match="a Own of Linear, ReLU, Sigmoid is no chain of linear layers with one activation"):
        TurnPPO(games, Own(games.n_observed, (4,))).save(tmp_path / "x.npz")
    assert not (tmp_path / "x.npz").exists()


def test_a_training_wants_one_end_and_an_environment_of_many_games() -> None:
    training, _ = trained(1, 100)
    for ends in ({}, {"minutes": 1, "decisions": 5}, {"minutes": 0}):
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


def test_a_saved_network_plays_the_turns_that_it_scores_highest(tmp_path: Path) -> None:
    training, _ = trained(1)
    training.save(tmp_path / "mine.npz")
    stored = read_network(tmp_path / "mine.npz")
    assert stored.predicts == "score" and stored.players == 4 and stored.options["mode"] == "round"
    mine = kdenv.policy(f'ppo("{tmp_path / "mine.npz"}")')
    table = random_game(find_game("dominoes"), 3, 4, 5, mode="round")
    checked = 0
    while not table.over:
        table.run_chance(make_rng(1))
        if table.seat is None:
            break
        view = table.view(table.seat)
        found = view.afterstates("ends", whole=False)
        scores = forward(stored.layers, found.observations)
        action = mine.act(view)
        assert scores[found.actions.tolist().index(action)] >= scores.max() - 1e-5
        checked += len(found) > 1
        table.play(action)
    assert checked > 3


def forward(layers: list[tuple[np.ndarray, np.ndarray]], rows: np.ndarray) -> np.ndarray:
    """The output of layers with ReLU between them."""
    for i, (weight, bias) in enumerate(layers):
        rows = (np.maximum(rows, 0) if i else rows) @ weight.T + bias
    return rows[:, 0]


def test_a_sampling_network_draws_from_the_softmax_of_its_scores(tmp_path: Path) -> None:
    training, _ = trained(1)
    training.save(tmp_path / "mine.npz")
    mine = kdenv.policy(f'ppo("{tmp_path / "mine.npz"}", sample=yes)')
    view = view_with_choices(4)
    found = view.afterstates("ends", whole=False)
    scores = forward(read_network(tmp_path / "mine.npz").layers, found.observations).astype(float)
    odds, n = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum(), 4000
    mine.reset(seed=1)
    counts = np.bincount([found.actions.tolist().index(mine.act(view)) for _ in range(n)], minlength=len(found))
    assert (np.abs(counts - n * odds) < 5.5 * np.sqrt(n * odds * (1 - odds)) + 1).all()


def view_with_choices(least: int) -> View:
    """A view of a round of dominoes with at least so many legal actions."""
    for seed in range(100):
        table = random_game(find_game("dominoes"), seed, 4, 3, mode="round")
        table.run_chance(make_rng(1))
        if table.seat is not None and len(table.legal()) >= least:
            return table.view(table.seat)
    raise AssertionError("no such position")


@pytest.mark.parametrize("game", ["dominoes", "kingdomino"])
def test_priors_by_scores_are_products_of_the_odds_of_the_actions(game: str, tmp_path: Path) -> None:
    table = random_game(find_game(game), 4, None, 9)
    table.run_chance(make_rng(4))
    assert table.seat is not None
    view, encoding = table.view(table.seat), {"dominoes": "ends", "kingdomino": "prospects"}[game]
    env = SelfPlay(game, 1, encoding=encoding)
    rng = np.random.default_rng(1)
    layers = [(rng.normal(size=(8, env.n_observed)), rng.normal(size=8)), (rng.normal(size=(1, 8)) / 4, np.zeros(1))]
    kdenv.save_network(tmp_path / "x.npz", layers, env.trained_for)
    layers = read_network(tmp_path / "x.npz").layers
    source = kdenv.policy(f'ppo("{tmp_path / "x.npz"}")').priors(view, 2.0)
    turns = view.afterstates(encoding).turns
    priors = np.zeros(len(turns))
    write_priors(source, view.scratch(2), 0, turns, len(turns), priors)

    def odds(states: np.ndarray, action: int) -> float:
        after, legal = [], np.zeros(view.game.max_legal, np.int64)
        n = int(verbs.legal_at(states, 0, legal))
        for each in legal[:n].tolist():
            copy = states.copy()
            verbs.apply_at(copy, 0, each)
            after.append(view.game.observer(view.players, view.variant, encoding).vector(copy, 0, view.seat))
        scores = forward(layers, np.array(after)).astype(float) / 2.0
        p = np.exp(scores - scores.max())
        return float(p[legal[:n].tolist().index(action)] / p.sum())

    for actions, prior in zip(view.turns(), priors, strict=True):
        states, wanted = view.states.copy(), 1.0
        for action in actions:
            wanted *= odds(states, action)
            verbs.apply_at(states, 0, action)
        assert prior == pytest.approx(wanted, rel=1e-3)


def test_save_network_refuses_what_is_no_network(tmp_path: Path) -> None:
    env = SelfPlay("dominoes", 1)
    good = [(np.zeros((1, env.n_observed)), np.zeros(1))]
    for path, layers, settings, sentence in (
        ("x.zip", good, {}, "a file that ends in .npz"),
        ("x.npz", good, {"predicts": "values"}, "it may be score or policy"),
        ("x.npz", good, {"activation": "gelu"}, "it may be tanh or relu"),
        ("x.npz", [(np.zeros((2, env.n_observed)), np.zeros(2))], {}, "one with 1, because a score is one number"),
        ("x.npz", [(np.zeros((1, env.n_observed)), np.zeros(3))], {}, "bias_0"),
    ):
        with pytest.raises(BadOption, match=sentence):
            kdenv.save_network(tmp_path / path, layers, env.trained_for, **settings)


def test_save_network_refuses_what_is_not_the_trained_for_of_an_environment(tmp_path: Path) -> None:
    env = SelfPlay("dominoes", 1)
    good = [(np.zeros((1, env.n_observed)), np.zeros(1))]
    for given in ({}, {"players": 4}, {**env.trained_for, "seed": 1}):
        with pytest.raises(BadOption, match="trained_for must have made_for, players and options"):
            kdenv.save_network(tmp_path / "x.npz", good, given)


def test_a_network_that_is_refused_does_not_replace_an_older_model(tmp_path: Path) -> None:
    env = SelfPlay("dominoes", 1)
    kdenv.save_network(tmp_path / "x.npz", [(np.ones((1, env.n_observed)), np.zeros(1))], env.trained_for)
    before = (tmp_path / "x.npz").read_bytes()
    with pytest.raises(BadOption, match="bias_0"):
        kdenv.save_network(tmp_path / "x.npz", [(np.zeros((1, env.n_observed)), np.zeros(3))], env.trained_for)
    assert (tmp_path / "x.npz").read_bytes() == before
