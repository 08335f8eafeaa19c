"""Do the kernels of PPO play, estimate and learn as its definition says? Compared with plain numpy, finite differences and torch."""

from typing import Any

import numpy as np
import pytest
import three_shells
from models import random_layers

from kdenv.compiler.random import make_rng, uniform
from kdenv.core import verbs
from kdenv.core.game import Game
from kdenv.games import find_game
from kdenv.networks.network import layers_of, network_of
from kdenv.networks.players import Goal
from kdenv.networks.policy_learning import (
    Objective,
    PolicyLearner,
    add_gradients,
    n_weights,
    policy_learner,
    step_by_adam,
    transpose_layers,
)
from kdenv.networks.rollout import DECISIONS, BySoftmax, Rollout, estimate_advantages, larger, new_rollout, play_games
from kdenv.networks.self_play import GAMES, POSITIONS, SQUARED_ERRORS
from kdenv.policies.compiled_opponents import seated
from kdenv.search.playout import Uniform

OBJECTIVE = Objective(clip=0.2, entropy=0.05, value_weight=0.7)
LAM = 0.8
Layers = list[tuple[np.ndarray, np.ndarray]]


def learner_of(game: Game, *hidden: int, activation: str = "relu", heads: int = 1, **options: Any) -> PolicyLearner:
    """A network of random weights, with its second output, that is about to learn a game."""
    players, variant = game.variant(**options)
    observer = game.observer(players, variant)
    layers = [(3 * weight, bias) for weight, bias in random_layers(observer.size, *hidden, heads)]
    network = network_of(observer.part(), layers, activation, heads)
    weights = np.random.default_rng(2).normal(size=n_weights(network)).astype(np.float32)
    weights[: len(network.weights)] = network.weights
    of = policy_learner(network, weights, np.zeros_like(weights), Goal(game.teams(players), 5.0, 0.0), game, players)
    transpose_layers(of)
    return of


def scorer_of(of: PolicyLearner) -> Layers:
    """The layers up to the scores, in double precision."""
    return [(weight.astype(np.float64), bias.astype(np.float64)) for weight, bias in layers_of(of.network)]


def critic_of(of: PolicyLearner, layers: Layers) -> Layers:
    """The layers up to the values. They share all but the last with these, which are those up to the scores."""
    own = of.weights[len(of.network.weights) :].astype(np.float64).reshape(of.network.heads, -1)
    return [*layers[:-1], (own[:, :-1], own[:, -1])]


def play(of: PolicyLearner, game: Game, n_games: int, rng: Any, guided: float = 0.0, **options: Any) -> Rollout:
    players, variant = game.variant(**options)
    rollout, guides, n = new_rollout(4), seated([Uniform()], players), 0
    while n < n_games:
        parts = of, rollout, BySoftmax(), guides, guided, 1, LAM, players, variant
        n += int(play_games(*parts, 1 << 30, n_games - n, game.buffer(), rng))
        if n < n_games:
            rollout = larger(rollout)
    return rollout


def forward(layers: Layers, activation: str, rows: np.ndarray, heads: Any = 0) -> np.ndarray:
    """The outputs of these heads for these rows, in double precision."""
    found = rows.astype(np.float64)
    for i, (weight, bias) in enumerate(layers):
        found = ((np.maximum(found, 0) if activation == "relu" else np.tanh(found)) if i else found) @ weight.T.astype(np.float64) + bias
    return found[np.arange(len(rows)), heads]


def log_softmax(scores: np.ndarray) -> np.ndarray:
    shifted = scores - scores.max()
    return shifted - np.log(np.exp(shifted).sum())


def dense(rollout: Rollout, d: int, size: int) -> np.ndarray:
    """What the seat of a decision observes, and then what it observes after each action."""
    lists = []
    for which in range(rollout.lists_at[d], rollout.lists_at[d + 1]):
        row = np.zeros(size, np.float32)
        part = slice(rollout.entries_at[which], rollout.entries_at[which + 1])
        assert len(set(rollout.inputs[part].tolist())) == part.stop - part.start and (rollout.numbers[part] != 0).all()
        row[rollout.inputs[part]] = rollout.numbers[part]
        lists.append(row)
    base, first, *others = lists
    return np.array([base, base + first, *(base + first + each for each in others)])


@pytest.mark.parametrize(("name", "heads", "options"), [("three_shells", 1, {}), ("dominoes", 3, {"mode": "round"})])
def test_games_are_played_as_the_verbs_and_the_networks_say(name: str, heads: int, options: dict[str, Any]) -> None:
    """Each decision is replayed by the verbs: who decides, what is observed, and which action the same random number draws."""
    game = three_shells.GAME if name == "three_shells" else find_game(name)
    players, variant = game.variant(**options)
    observer, of = game.observer(players, variant), learner_of(game, 6, heads=heads, **options)
    n_games, rng, same = 5, make_rng(3), make_rng(3)
    rollout = play(of, game, n_games, rng, **options)
    scorer, d, legal = scorer_of(of), 0, game.buffer()
    critic = critic_of(of, scorer)
    states, seen, after = (np.zeros(1, game.state_dtype) for _ in range(3))
    for _ in range(n_games):
        first = d
        verbs.begin_at(states, 0, players, variant)
        while (now := verbs.phase_at(states, 0)) != verbs.OVER:
            if now == verbs.CHANCE:
                verbs.apply_chance_at(states, 0, verbs.sample_chance_at(states, 0, same))
                continue
            seat = int(verbs.seat_at(states, 0))
            seen[0] = states[0]
            verbs.resample_hidden_at(seen, 0, seat, same)
            actions = legal[: verbs.legal_at(seen, 0, legal)].tolist()
            place = 0
            if len(actions) > 1:
                rows, parts = [observer.vector(seen, 0, seat)], [part_of_game(seen, heads)]
                for action in actions:
                    after[0] = seen[0]
                    verbs.apply_at(after, 0, action)
                    rows.append(observer.vector(after, 0, seat))
                    parts.append(part_of_game(after, heads))
                np.testing.assert_allclose(dense(rollout, d, observer.size), rows, atol=1e-6)
                assert rollout.heads[rollout.lists_at[d] : rollout.lists_at[d + 1]].tolist() == parts
                log_odds = log_softmax(forward(scorer, "relu", np.array(rows[1:]), parts[1:]))
                place = int(np.searchsorted(np.cumsum(np.exp(log_odds)), uniform(same), side="right"))
                assert (rollout.seats[d], rollout.chosen[d]) == (seat, place)
                assert rollout.log_probabilities[d] == pytest.approx(log_odds[place], abs=1e-4)
                assert rollout.values[d] == pytest.approx(forward(critic, "relu", rows[0][None], parts[0])[0], abs=1e-4)
                d += 1
            verbs.apply_at(states, 0, actions[place])
        check_advantages(rollout, first, d, of.goal, states, players)
    assert set(rollout.heads[: rollout.lists_at[d]]) == set(range(heads))
    assert d == rollout.filled[DECISIONS] == of.sums[POSITIONS]
    assert of.sums[GAMES] == n_games and rng[0] == same[0]
    assert of.sums[SQUARED_ERRORS] == pytest.approx((rollout.advantages[:d] ** 2).sum())


def part_of_game(states: Any, heads: int) -> int:
    """The part of the game, cut into this many parts."""
    return min(int(verbs.progress_at(states, 0) * heads), heads - 1)


def check_advantages(rollout: Rollout, first: int, end: int, goal: Goal, states: Any, players: int) -> None:
    """Each seat by itself, and forwards: the sum of the errors of its values, each weighed by a power of lambda."""
    points = np.zeros(players, np.int64)
    verbs.scores_at(states, 0, points)
    for d in range(first, end):
        seat = rollout.seats[d]
        mine = [each for each in range(d, end) if rollout.seats[each] == seat]
        rivals = max(points[other] for other in range(players) if other % goal.teams != seat % goal.teams)
        values = [*rollout.values[mine], (points[seat] - rivals) / goal.scale]
        wanted = sum(LAM**i * (values[i + 1] - values[i]) for i in range(len(mine)))
        assert rollout.advantages[d] == pytest.approx(wanted)
        assert rollout.targets[d] == pytest.approx(wanted + rollout.values[d])


def test_a_game_that_does_not_fit_is_played_again_with_more_room() -> None:
    """A rollout that was too short at first is equal to one that was not."""
    game, (players, variant) = three_shells.GAME, three_shells.GAME.variant()
    short = play(learner_of(game, 6), game, 30, make_rng(9))
    of, long, rng = learner_of(game, 6), new_rollout(1000), make_rng(9)
    assert play_games(of, long, BySoftmax(), seated([], players), 0.0, 1, LAM, players, variant, 1 << 30, 30, game.buffer(), rng) == 30
    assert short.filled.tolist() == long.filled.tolist()
    for one, other in zip(short, long, strict=True):
        n = min(len(one), len(other), int(long.filled[DECISIONS]))
        assert (one[:n] == other[:n]).all()
    assert of.sums[GAMES] == 30


def test_enough_decisions_end_a_rollout_after_a_whole_game() -> None:
    game, (players, variant) = three_shells.GAME, three_shells.GAME.variant()
    of, rollout = learner_of(game, 6), new_rollout()
    n = play_games(of, rollout, BySoftmax(), seated([], players), 0.0, 1, LAM, players, variant, 9, 100, game.buffer(), make_rng(1))
    assert n == 5 and rollout.filled[DECISIONS] == 10  # a game has two decisions


def test_guides_play_seats_from_which_nothing_is_learned() -> None:
    of = learner_of(three_shells.GAME, 6)
    assert play(of, three_shells.GAME, 20, make_rng(1), guided=1.0).filled[DECISIONS] == 0
    some = play(of, three_shells.GAME, 200, make_rng(1), guided=0.5)
    n = int(some.filled[DECISIONS])
    assert 140 < n < 260 and set(some.seats[:n].tolist()) == {0, 1}


def loss_of(scorer: Layers, critic: Layers, activation: str, rollout: Rollout, size: int) -> float:
    """The loss of all decisions, by its definition."""
    n, loss = int(rollout.filled[DECISIONS]), 0.0
    for d in range(n):
        rows, chosen, advantage = dense(rollout, d, size), rollout.chosen[d], rollout.advantages[d]
        value_head, *heads = rollout.heads[rollout.lists_at[d] : rollout.lists_at[d + 1]]
        log_odds = log_softmax(forward(scorer, activation, rows[1:], heads))
        ratio = np.exp(log_odds[chosen] - rollout.log_probabilities[d])
        clipped = np.clip(ratio, 1 - OBJECTIVE.clip, 1 + OBJECTIVE.clip)
        error = forward(critic, activation, rows[:1], value_head)[0] - rollout.targets[d]
        entropy = -(np.exp(log_odds) * log_odds).sum()
        loss += -min(ratio * advantage, clipped * advantage) - OBJECTIVE.entropy * entropy + OBJECTIVE.value_weight * error**2
    return loss / n


def slopes_of(of: Any, scorer: Layers, critic: Layers) -> np.ndarray:
    """The derivatives of a function of layers by all their numbers, by finite differences, in the order of PolicyLearner.weights."""
    found = []
    parts = [part for weight, bias in scorer[:-1] for part in (weight.T, bias)]
    for part in [*parts, *scorer[-1], critic[-1][0].base]:
        slope = np.zeros(part.shape)
        for at in np.ndindex(part.shape):
            before, step = part[at], 1e-6
            part[at] = before + step
            up = of()
            part[at] = before - step
            slope[at] = (up - of()) / (2 * step)
            part[at] = before
        found.append(slope.ravel())
    return np.concatenate(found)


def some_decisions(activation: str, *hidden: int, heads: int = 1) -> tuple[PolicyLearner, Rollout]:
    """Decisions of random games; for some of them the policy has changed so much since that the objective clips their ratio.

    The heads of their positions are random ones.
    """
    of = learner_of(three_shells.GAME, *hidden, activation=activation, heads=heads)
    rollout = play(of, three_shells.GAME, 12, make_rng(2))
    n, dice = int(rollout.filled[DECISIONS]), np.random.default_rng(4)
    rollout.heads[:] = np.random.default_rng(5).integers(heads, size=len(rollout.heads))
    rollout.log_probabilities[:n] += dice.choice([-0.5, -0.05, 0.05, 0.5], n)
    rollout.advantages[:n] = dice.normal(size=n)
    return of, rollout


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize(("heads", "hidden"), [(1, (6,)), (3, (9,)), (1, (6, 4)), (2, (5, 4, 3))])
def test_gradients_are_those_of_the_loss(heads: int, hidden: tuple[int, ...], activation: str) -> None:
    of, rollout = some_decisions(activation, *hidden, heads=heads)
    n, size = int(rollout.filled[DECISIONS]), int(of.network.sizes[0])
    order = np.random.default_rng(1).permutation(n)
    loss = add_gradients(of, rollout, order, 0, n // 2, n, OBJECTIVE)
    loss += add_gradients(of, rollout, order, n // 2, n, n, OBJECTIVE)
    scorer = scorer_of(of)
    critic = critic_of(of, scorer)

    def naive() -> float:
        return loss_of(scorer, critic, activation, rollout, size)

    assert loss == pytest.approx(naive(), rel=1e-4, abs=1e-5)
    slopes = slopes_of(naive, scorer, critic)
    np.testing.assert_allclose(of.gradients, slopes, rtol=1e-3, atol=2e-5)
    for part in np.split(np.abs(slopes), np.cumsum([weight.size + bias.size for weight, bias in scorer])):
        assert part.max() > 0.005


@pytest.mark.parametrize("hidden", [(8,), (8, 4)])
def test_loss_gradients_and_steps_are_those_of_torch(hidden: tuple[int, ...]) -> None:
    """With the networks and the softmax of kdenv.rl, autograd and torch's Adam."""
    torch = pytest.importorskip("torch")
    from kdenv.rl import TurnNetwork, log_probabilities

    of, rollout = some_decisions("relu", *hidden)
    n, size = int(rollout.filled[DECISIONS]), int(of.network.sizes[0])
    network = TurnNetwork(size, hidden)
    network.critic = torch.nn.Sequential(*list(network.scorer)[:-1], torch.nn.Linear(hidden[-1], 1))  # shares the hidden layers
    linear = [*list(network.scorer)[::2], network.critic[-1]]
    for (weight, bias), layer in zip([*layers_of(of.network), critic_of(of, scorer_of(of))[-1]], linear, strict=True):
        layer.weight.data, layer.bias.data = (torch.from_numpy(np.float32(part)) for part in (weight, bias))
    rows = [dense(rollout, d, size) for d in range(n)]
    counts = torch.tensor([len(each) - 1 for each in rows])
    position = torch.repeat_interleave(torch.arange(n), counts)
    chosen = torch.cumsum(counts, 0) - counts + torch.from_numpy(rollout.chosen[:n])
    optimiser, seen = torch.optim.Adam(network.parameters(), 0.01, eps=1e-5), []
    means, squares = np.zeros_like(of.weights), np.zeros_like(of.weights)
    for step in (1, 2, 3):
        log_p = log_probabilities(network.score(torch.from_numpy(np.concatenate([each[1:] for each in rows]))), position, n)
        ratio = (log_p[chosen] - torch.from_numpy(rollout.log_probabilities[:n]).float()).exp()
        advantage = torch.from_numpy(rollout.advantages[:n]).float()
        clipped = ratio.clamp(1 - OBJECTIVE.clip, 1 + OBJECTIVE.clip)
        gain = torch.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = -(log_p.exp() * log_p).sum() / n
        value = network.value(torch.from_numpy(np.array([each[0] for each in rows])))
        error = (value - torch.from_numpy(rollout.targets[:n]).float()).square().mean()
        loss = -gain - OBJECTIVE.entropy * entropy + OBJECTIVE.value_weight * error
        optimiser.zero_grad()
        loss.backward()
        norm = float(torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0))
        optimiser.step()
        of.gradients[:] = 0
        seen.append(add_gradients(of, rollout, np.arange(n), 0, n, n, OBJECTIVE))
        assert seen[-1] == pytest.approx(float(loss.detach()), rel=1e-4)
        factor = min(1.0, 1.0 / norm)
        wanted = [part for each in linear for part in (each.weight.grad.numpy().T.ravel(), each.bias.grad.numpy())]
        np.testing.assert_allclose(factor * of.gradients, np.concatenate(wanted), rtol=2e-3, atol=2e-5)
        step_by_adam(of.weights, of.gradients, means, squares, factor, 0.01, step)
        wanted = [part for each in linear for part in (each.weight.detach().numpy().T.ravel(), each.bias.detach().numpy())]
        np.testing.assert_allclose(of.weights, np.concatenate(wanted), atol=2e-4)
        transpose_layers(of)
    assert seen[2] < seen[0] and norm > 1


def test_adam_takes_the_factor_of_a_bounded_gradient() -> None:
    weights, means, squares = np.float32([1.0, 2.0]), np.zeros(2, np.float32), np.zeros(2, np.float32)
    step_by_adam(weights, np.float32([4.0, 0.0]), means, squares, 0.5, 0.1, 1)
    assert weights == pytest.approx([0.9, 2.0], abs=1e-5)
    assert means == pytest.approx([0.2, 0.0]) and squares == pytest.approx([0.004, 0.0], rel=1e-4)


def test_a_game_that_a_limit_ended_gives_no_reward() -> None:
    """In Dominion a game ends after a number of turns. Then all margins are 0, whatever the points are."""
    game = find_game("dominion")
    players, _ = game.variant()
    of, rollout = learner_of(game, 4), new_rollout()
    of.states[0]["is_truncated"] = 1
    rollout.filled[DECISIONS] = 1
    rollout.values[0] = 0.25
    estimate_advantages(of, rollout, 0, players, LAM)
    assert rollout.advantages[0] == -0.25 and rollout.targets[0] == 0.0
