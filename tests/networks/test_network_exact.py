"""Is every number of a network exact, and does every player take what the numbers say? With whole numbers, also without the compiler."""

from typing import NamedTuple

import numpy as np
import pytest
import three_shells
from models import random_layers, random_learner
from positions import shells

from kdenv.author import answers, kernel
from kdenv.compiler.random import make_rng, uniform
from kdenv.core.encoding import observe_by
from kdenv.core.questions import choose, estimate, reach
from kdenv.core.table import Table
from kdenv.core.turns import packed
from kdenv.games import find_game
from kdenv.games.kingdomino.rules import FINISHED
from kdenv.networks import players
from kdenv.networks.learning import first_squares, learner_for, paces_of, step_towards
from kdenv.networks.network import Network, copy_for_thread, layers_of, look, network_of, value, value_alone, values, values_of
from kdenv.networks.players import Drawn, Goal, Valued, turns_for
from kdenv.search.score import worths

GAME = three_shells.GAME


class Written(NamedTuple):
    """An encoding that gives the numbers that are written down for a seat and a position."""

    rows: np.ndarray


@answers(observe_by, Written)
@kernel
def _observe_written(encoding, states, k, seat, out):
    for i in range(out.shape[0]):
        out[i] = encoding.rows[seat, k, i]


def whole(*sizes: int, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Layers of small whole numbers, so that no sum is rounded."""
    layers = [(np.round(4 * weight), np.round(2 * bias)) for weight, bias in random_layers(*sizes, seed=seed)]
    return [(weight.astype(np.float32), bias.astype(np.float32)) for weight, bias in layers]


def rows_for(n: int) -> np.ndarray:
    """What two seats see of eight positions: mostly zeros; all zeros; a single number in each place where a block begins or ends."""
    dice = np.random.default_rng(n)
    rows = dice.integers(-2, 3, (2, 8, n)).astype(np.float32) * (dice.random((2, 8, n)) < 0.3)
    rows[0, 1:6] = rows[1, 1:6] = 0
    for k, place in ((2, 0), (3, n - 1), (4, min(15, n - 1)), (5, min(16, n - 1))):
        rows[0, k, place], rows[1, k, place] = 2.0, -1.0
    return rows


def by_numpy(layers: list[tuple[np.ndarray, np.ndarray]], x: np.ndarray, activation: str = "relu") -> np.ndarray:
    for i, (weight, bias) in enumerate(layers):
        x = weight @ ((np.maximum(x, 0) if activation == "relu" else np.tanh(x)) if i else x) + bias
    return x


def given(network: Network) -> np.ndarray:
    return network.layers[-1, : network.sizes[-1]]


@pytest.mark.parametrize("sizes", [(35, 4, 1), (16, 3, 2), (15, 5), (33, 6, 4, 3), (1, 2, 1), (32, 1)])
def test_all_ways_to_ask_a_network_give_the_same_whole_numbers(sizes: tuple[int, ...]) -> None:
    layers, rows, states = whole(*sizes), rows_for(sizes[0]), np.zeros(8, GAME.state_dtype)
    network = network_of(Written(rows), layers, "relu")
    for base in range(8):
        look(network, states, base, 1)
        seen = np.flatnonzero(rows[1, base])
        assert network.found[0] == len(seen) and network.found[1 : 1 + len(seen)].tolist() == seen.tolist()
        for k in range(8):
            for seat in range(2):
                wanted = by_numpy(layers, rows[seat, k])
                values(network, states, k, seat)
                assert given(network).tolist() == wanted.tolist()
                different = np.flatnonzero(rows[seat, k] != rows[1, base])
                assert network.changed[1 : 1 + network.changed[0]].tolist() == different.tolist()
                assert value(network, states, k, seat) == wanted[0]
        assert value_alone(network, states, base, 0) == by_numpy(layers, rows[0, base])[0]
        look(network, states, base, 1)
        values_of(network, np.arange(sizes[-1]), sizes[-1])
        assert given(network).tolist() == by_numpy(layers, rows[1, base]).tolist()


@pytest.mark.parametrize("sizes", [(20, 5), (20, 9, 11), (20, 4, 8, 3), (20, 4, 1)])
def test_each_part_of_a_game_has_its_head(sizes: tuple[int, ...]) -> None:
    """Kingdomino has 12 rounds, and one in which dominoes are only placed. With three heads, rounds 5 and 9 begin another part."""
    layers, rows, states = whole(*sizes, 3), rows_for(20), np.zeros(8, find_game("kingdomino").state_dtype)
    states["n_drafts"], states["round"] = 12, [0, 4, 5, 8, 9, 11, 12, 12]
    states["stage"][7] = FINISHED
    network = network_of(Written(rows), layers, "relu", heads=3)
    assert all((a == b).all() for pair in zip(layers, layers_of(network), strict=True) for a, b in zip(*pair, strict=True))
    for k, head in enumerate([0, 0, 1, 1, 2, 2, 2, 2]):
        wanted = by_numpy(layers, rows[0, k])[head]
        look(network, states, 7 - k, 1)
        assert value(network, states, k, 0) == wanted == value_alone(network, states, k, 0)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_step_changes_one_head_as_it_would_a_network_of_this_head(activation: str) -> None:
    (hidden, last), rows = random_layers(20, 6, 3), rows_for(20)
    game = find_game("kingdomino")
    states = np.zeros(8, game.state_dtype)
    states["n_drafts"], states["round"] = 12, 6

    def after_a_step(layers: list[tuple[np.ndarray, np.ndarray]], heads: int) -> list[tuple[np.ndarray, np.ndarray]]:
        player = Valued(network_of(Written(rows), layers, activation, heads), Goal(4, 10.0, 0.0), turns_for(game, 4))
        squares = first_squares(player.network)
        step_towards(learner_for(player, game.state_dtype, 4, squares, paces_of(squares)), states, 0, 0, 0.5, 0.01, True)
        return layers_of(player.network)

    first, (weights, biases) = after_a_step([hidden, last], 3)
    first_alone, (weight, bias) = after_a_step([hidden, (last[0][1:2], last[1][1:2])], 1)
    assert all((a == b).all() for a, b in zip(first, first_alone, strict=True)) and (first[0] != hidden[0]).any()
    assert (weights[1] == weight[0]).all() and biases[1] == bias[0] and (weight[0] != last[0][1]).any()
    assert (weights[[0, 2]] == last[0][[0, 2]]).all() and (biases[[0, 2]] == last[1][[0, 2]]).all()


def test_only_the_outputs_that_are_asked_for_are_computed() -> None:
    layers, rows = whole(20, 4, 3, 6), rows_for(20)
    network = network_of(Written(rows), layers, "relu")
    look(network, np.zeros(8, GAME.state_dtype), 0, 0)
    network.layers[-1] = -99
    values_of(network, np.array([4, 1, 2]), 2)
    wanted = by_numpy(layers, rows[0, 0])
    assert given(network).tolist() == [-99, wanted[1], -99, -99, wanted[4], -99]


def test_tanh_goes_between_layers_and_not_after_the_last() -> None:
    layers, rows = random_layers(20, 4, 3, 2), rows_for(20)
    network = network_of(Written(rows), layers, "tanh")
    for k in range(8):
        look(network, np.zeros(8, GAME.state_dtype), (k + 1) % 8, 0)
        values(network, np.zeros(8, GAME.state_dtype), k, 0)
        assert given(network) == pytest.approx(by_numpy(layers, rows[0, k].astype(float), "tanh"), rel=1e-5, abs=1e-6)
        look(network, np.zeros(8, GAME.state_dtype), k, 0)
        values_of(network, np.arange(2), 2)
        assert given(network) == pytest.approx(by_numpy(layers, rows[0, k].astype(float), "tanh"), rel=1e-5, abs=1e-6)


def test_buffers_end_where_the_inputs_do_and_threads_share_only_weights() -> None:
    layers = whole(35, 4, 3)
    network = network_of(Written(rows_for(35)), layers, "tanh")
    assert (len(network.base), len(network.base_words), len(network.base_seen)) == (48, 24, 35)
    assert (len(network.now), len(network.now_words), len(network.now_seen)) == (48, 24, 35)
    assert network.layers.shape == (2, 4) and network.base_sums.shape == (4,) and network.sizes.tolist() == [35, 4, 3]
    encoding = Written(rows_for(35))
    other = copy_for_thread(network, encoding)
    assert other.encoding is encoding and other.weights is network.weights and other.activation == network.activation
    for name in ("base", "base_sums", "now", "found", "changed", "layers"):
        assert not np.shares_memory(getattr(other, name), getattr(network, name)), name
    assert all((a == b).all() for pair in zip(layers, layers_of(other), strict=True) for a, b in zip(*pair, strict=True))


# Players


@pytest.fixture(params=[(1,), (1, 2)])
def at(request: pytest.FixtureRequest) -> Table:
    """Three Shells where a stake is to be chosen, and where a guess is."""
    return shells(*request.param)


def worth_of(layers: list[tuple[np.ndarray, np.ndarray]], table, seat: int) -> float:
    return float(by_numpy(layers, table.observation(seat))[0])


@pytest.mark.parametrize("seed", range(4))
def test_the_turn_with_the_greatest_worth_is_taken(at: Table, seed: int) -> None:
    observer = GAME.observer(*GAME.variant())
    layers = whole(observer.size, 5, 1, seed=seed)
    part = Valued(network_of(observer.part(), layers, "relu"), Goal(2, 10.0, 0.25), turns_for(GAME, 2))
    wanted, seen, turns = [], [], [packed(action) for action in at.legal()]
    for action in at.legal():
        after = at.clone()
        after.play(action)
        wanted.append(worth_of(layers, after, at.seat))
        seen.append(after.observation(at.seat).tolist())
    assert players.weigh_turns(part, at.states, 0) == players.weigh_often(part, at.states, 0, 2) == len(turns)
    assert part.room.turns[: len(turns)].tolist() == turns
    assert part.network.base_seen.tolist() == seen[0]  # so that little is different in the others
    assert part.room.worths[: len(turns)] == pytest.approx(wanted, abs=1e-5)
    states = np.zeros(2, GAME.state_dtype)
    states[1] = at.states[0]
    assert choose(part, states, 1, GAME.buffer(), make_rng(1)) == turns[int(np.argmax(part.room.worths[: len(turns)]))]
    for seat in range(2):
        assert estimate(part, states, 1, seat, np.zeros(2, np.int64)) == pytest.approx(worth_of(layers, at, seat), abs=1e-5)
    assert reach(part, states, 1, 0, np.zeros(2, np.int64)) == 4.25


def test_the_best_of_some_numbers_is_the_first_of_the_greatest() -> None:
    numbers = np.array([9.0, 1.0, 3.0, 3.0, -1.0, 8.0])
    for first, end, best in ((1, 5, 2), (0, 6, 0), (4, 6, 5), (3, 4, 3)):
        assert players.best_of(numbers, first, end) == best


@pytest.mark.parametrize(("goal", "wanted"), [(Goal(2, 10.0, 0.0), 0.4), (Goal(2, 10.0, 1.0), 1.0), (Goal(2, 10.0, 0.75), 0.85)])
def test_a_goal_is_a_score_of_the_end(goal: Goal, wanted: float) -> None:
    found = np.full(2, 9.0)
    worths(goal, shells(2, 1, "point 2", 1).states, 0, found, np.zeros(2, np.int64))
    assert found == pytest.approx([-wanted, wanted])
    assert players.worth_of_end(goal._replace(win=1.0), np.zeros(1, GAME.state_dtype), 0, 1, np.zeros(2, np.int64)) == 0.0  # a tie


LOGITS = np.array([9.0, 9.5, 9.0, 1.0, 3.0, 2.5, 3.0], np.float32)  # actions 0 to 2 are stakes, the others guesses


def drawn(sample: int, logits: np.ndarray = LOGITS) -> Drawn:
    """A player to which every position gives these numbers."""
    observer = GAME.observer(*GAME.variant())
    hidden = np.zeros((2, observer.size), np.float32), np.zeros(2, np.float32)
    return Drawn(network_of(observer.part(), [hidden, (np.zeros((7, 2), np.float32), logits)], "relu"), sample)


def test_the_greatest_legal_number_is_taken(at: Table) -> None:
    """Of equal ones the first."""
    best = at.legal()[int(np.argmax(LOGITS[at.legal()]))]
    assert choose(drawn(0), at.states, 0, GAME.buffer(), make_rng(1)) == packed(best)
    for action in at.legal():
        logits = LOGITS.copy()
        logits[action] = 9.75
        assert choose(drawn(0, logits), at.states, 0, GAME.buffer(), make_rng(1)) == packed(action)


def test_actions_are_drawn_from_the_softmax_of_the_legal_ones(at: Table) -> None:
    legal, rng, same, player = at.legal(), make_rng(3), make_rng(3), drawn(1)
    odds = np.exp(LOGITS[legal].astype(float))
    ends, counts = np.cumsum(odds / odds.sum()), set()
    for _ in range(150):
        chosen = choose(player, at.states, 0, GAME.buffer(), rng) - 1
        assert chosen == legal[int(np.searchsorted(ends, uniform(same), side="right"))]
        counts.add(int(chosen))
    assert counts == set(legal)


def test_a_learner_begins_with_the_network_it_is_given() -> None:
    of = random_learner(GAME, 6, 4)
    assert of.slopes.shape == of.player.network.layers.shape
    assert of.squares.shape == of.paces.shape == of.player.network.weights.shape
    assert len(of.states) == 3 and len(of.trail) == len(of.trail_seats) == 4096 and of.targets.shape == (2,)
