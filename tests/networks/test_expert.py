"""Does the search of expert iteration improve a policy as its definition says, and does the network learn it?"""

from typing import Any

import numpy as np
import pytest
import three_shells
from test_policy_learning import LAM, critic_of, dense, forward, learner_of, log_softmax, scorer_of, slopes_of

from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.games import find_game
from kdenv.networks.expert import Expert, Imitation, expert_for, improve_policy
from kdenv.networks.policy_learning import add_gradients
from kdenv.networks.rollout import DECISIONS, Rollout, choose_place, new_rollout, play_games
from kdenv.policies.compiled_opponents import seated


def played(of: Any, game: Any, expert: Expert, n_games: int, seed: int = 1, **options: Any) -> Rollout:
    players, variant = game.variant(**options)
    rollout = new_rollout(4000)
    parts = of, rollout, expert, seated([], players), 0.0, 1, LAM, players, variant
    assert play_games(*parts, 1 << 30, n_games, game.buffer(), make_rng(seed)) == n_games
    return rollout


def policies_of(rollout: Rollout, d: int) -> np.ndarray:
    return rollout.policies[rollout.lists_at[d] + 1 : rollout.lists_at[d + 1]]


@pytest.mark.parametrize("visits", [[0, 0, 0, 0], [1, 0, 1, 0], [3, 1, 0, 2], [1, 1, 1, 1]])
def test_the_policy_is_improved_by_completed_values(visits: list[int]) -> None:
    """As in Danihelka and others (2022), equations 10, 11 and 33, but with a fixed weight."""
    dice, n = np.random.default_rng(1), 4
    log_odds, counts = log_softmax(dice.normal(size=n)), np.array(visits)
    means = np.where(counts > 0, dice.normal(size=n), 0.0)
    found, weight = 0.3, 5.0
    tried = counts > 0
    average = found
    if tried.any():
        p = np.exp(log_odds)[tried]
        average = (found + counts.sum() * (p * means[tried]).sum() / p.sum()) / (1 + counts.sum())
    completed = np.where(tried, means, average)
    values, policy = np.zeros(n), np.zeros(n)
    improve_policy(log_odds, means * counts, counts, n, found, weight, values, policy)
    assert values == pytest.approx(completed)
    assert policy == pytest.approx(np.exp(log_softmax(log_odds + weight * completed)))


@pytest.mark.parametrize(
    ("considered", "playouts", "wanted"), [(2, 2, [1, 1]), (4, 4, [1, 1, 1, 1]), (4, 8, [1, 1, 3, 3]), (3, 7, [1, 2, 2])]
)
def test_playouts_go_to_the_considered_actions_by_halving(considered: int, playouts: int, wanted: list[int]) -> None:
    """In Kingdomino without learning: the numbers of playouts, and that the better half has more of them."""
    game = find_game("kingdomino")
    of, expert = learner_of(game, 4, size=3, dominoes=8, players=2), expert_for(game, considered, 1, 20.0)._replace(playouts=playouts)
    seen = 0
    for seed in range(1, 30):
        position_with_choices(of, game, seed, considered + 1)
        n, rollout = scored(of, game), new_rollout(4)
        place = choose_place(expert, of, rollout, int(verbs.seat_at(of.states, 1)), n, actions_of(of, game), make_rng(seed))
        tried = np.flatnonzero(expert.visits[:n])
        assert sorted(expert.visits[tried]) == wanted
        # Those drawn have the greatest sums of noise and log odds, and the one taken is among those with the most playouts.
        sums = expert.noise[:n] + of.log_odds[:n]
        assert set(tried) == set(np.argsort(-sums)[:considered])
        most = np.flatnonzero(expert.visits[:n] == max(wanted))
        means = expert.sums[most] / expert.visits[most]
        assert place == most[np.argmax(sums[most] + 20.0 * means)]
        policy = policies_of(rollout._replace(lists_at=np.array([0, n + 1])), 0)
        assert policy == pytest.approx(expert.policy[:n], abs=1e-6) and policy.sum() == pytest.approx(1, abs=1e-5)
        seen += 1
    assert seen > 20


def position_with_choices(of: Any, game: Any, seed: int, least: int, *, last: bool = False) -> None:
    """Write a random position with at least this many legal actions to of.states[1]; with last=True, the last one of a game."""
    players, variant = game.variant(2, size=3, dominoes=8)
    rng, dice, legal, s = make_rng(seed), np.random.default_rng(seed), game.buffer(), of.states
    found = None
    while found is None:
        verbs.begin_at(s, 1, players, variant)
        while (now := verbs.phase_at(s, 1)) != verbs.OVER:
            if now == verbs.CHANCE:
                verbs.apply_chance_at(s, 1, verbs.sample_chance_at(s, 1, rng))
                continue
            n = int(verbs.legal_at(s, 1, legal))
            if n >= least:
                found = s[1].copy()
                if not last:
                    return
            verbs.apply_at(s, 1, int(dice.choice(legal[:n])))
    s[1] = found


def actions_of(of: Any, game: Any) -> np.ndarray:
    legal = game.buffer()
    verbs.legal_at(of.states, 1, legal)
    return legal


def scored(of: Any, game: Any) -> int:
    """Give of.log_odds some numbers, and return how many actions are legal."""
    n = int(verbs.legal_at(of.states, 1, game.buffer()))
    of.log_odds[:n] = log_softmax(np.random.default_rng(n).normal(size=n))
    return n


def test_the_better_turn_is_preferred_whatever_the_network_says() -> None:
    """At the end of Kingdomino the playouts end the game, so that their values are exact: the network counts for little beside them."""
    game, better = find_game("kingdomino"), []
    of, expert = learner_of(game, 4, size=3, dominoes=8, players=2), expert_for(game, 64, 4, 1000.0)._replace(playouts=64)
    points = np.zeros(2, np.int64)
    for seed in range(1, 60):
        position_with_choices(of, game, seed, 2, last=True)
        legal = actions_of(of, game)
        n, mover = scored(of, game), int(verbs.seat_at(of.states, 1))
        margins = []
        for action in legal[:n]:
            states = of.states[1:2].copy()
            verbs.apply_at(states, 0, int(action))
            while verbs.phase_at(states, 0) == verbs.DECIDE and int(verbs.legal_at(states, 0, game.buffer())) == 1:
                only = game.buffer()
                verbs.legal_at(states, 0, only)
                verbs.apply_at(states, 0, int(only[0]))
            if verbs.phase_at(states, 0) != verbs.OVER:
                break
            verbs.scores_at(states, 0, points)
            margins.append(points[mover] - points[1 - mover])
        if len(margins) < n or len(set(margins)) < 2:
            continue
        rollout = new_rollout(64)
        place = choose_place(expert, of, rollout, mover, n, legal, make_rng(seed))
        best = np.flatnonzero(np.array(margins) == max(margins))
        better.append(place in best and expert.policy[best].sum() > 0.99)
    assert len(better) >= 3 and all(better)


@pytest.mark.parametrize("hidden", [(6,), (6, 4)])
def test_the_network_learns_the_improved_policy(hidden: tuple[int, ...]) -> None:
    """The loss is the cross-entropy of the policies plus the weighed squared errors of the values, and the gradients are its slopes."""
    game = three_shells.GAME
    of = learner_of(game, *hidden)
    rollout = played(of, game, expert_for(game, 3, 1, 5.0, searched=0.6)._replace(playouts=4), 20)
    n, size = int(rollout.filled[DECISIONS]), int(of.network.sizes[0])
    loss_of_kernel = add_gradients(of, rollout, np.arange(n), 0, n, n, Imitation(0.7))
    scorer = scorer_of(of)
    critic = critic_of(of, scorer)

    def naive() -> float:
        loss = 0.0
        for d in range(n):
            rows = dense(rollout, d, size)
            if policies_of(rollout, d)[0] >= 0:  # only values are learned from decisions that were not searched
                loss -= float((policies_of(rollout, d) * log_softmax(forward(scorer, "relu", rows[1:]))).sum())
            loss += 0.7 * (forward(critic, "relu", rows[:1])[0] - rollout.targets[d]) ** 2
        return loss / n

    n_searched = sum(policies_of(rollout, d)[0] >= 0 for d in range(n))
    assert 0.4 * n < n_searched < 0.8 * n and loss_of_kernel == pytest.approx(naive(), rel=1e-4)
    np.testing.assert_allclose(of.gradients, slopes_of(naive, scorer, critic), rtol=1e-3, atol=2e-5)
