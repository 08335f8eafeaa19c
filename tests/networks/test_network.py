"""Does a network in kernels compute what its layers say, and do the players that follow it choose by that?"""

from pathlib import Path

import numpy as np
import pytest
from models import POLICY, VALUE, random_layers, random_model
from positions import shells
from random_games import random_game

from kdenv.author import DECIDE
from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.encoding import Encoding, Part
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.questions import estimate
from kdenv.core.table import Table
from kdenv.envs.single_agent import SeatEnv
from kdenv.games import find_game, names
from kdenv.networks.network import Network, layers_of, look, network_of, value, values
from kdenv.networks.players import Goal, Valued, turns_for, weigh_turns
from kdenv.policies import policy
from kdenv.policies.compiled_opponents import player_of_seats

ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}


def expected(layers: list[tuple[np.ndarray, np.ndarray]], activation: str, x: np.ndarray) -> np.ndarray:
    """What these layers give, computed by numpy in double precision."""
    x = x.astype(np.float64)
    for i, (weight, bias) in enumerate(layers):
        x = weight @ (ACTIVATIONS[activation](x) if i else x) + bias
    return x


def given(network: Network) -> np.ndarray:
    """What the network gave last."""
    return network.layers[-1, : network.sizes[-1]]


def tables(name: str, n: int = 6) -> list[Table]:
    """Positions of random games in which a seat decides."""
    found = []
    for seed in range(40):
        table = random_game(find_game(name), seed, None, 3 * seed)
        table.run_chance(make_rng(seed))
        if not table.over:
            found.append(table)
    return found[:n]


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.cold] * (name in ("carcassonne", "dominion"))) for name in names()])
def test_a_network_gives_what_its_layers_say(name: str, activation: str) -> None:
    """Also for positions that differ from the one looked at, of which only the differences are added."""
    observer = find_game(name).observer(*find_game(name).variant())
    layers = random_layers(observer.size, 20, 7, 3)
    network = network_of(observer.part(), layers, activation)
    first, *others = tables(name)
    look(network, first.states, 0, 1)
    for table in [first, *others]:
        for seat in range(2):
            values(network, table.states, 0, seat)
            wanted = expected(layers, activation, observer.vector(table.states, 0, seat))
            assert given(network) == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def test_layers_come_back_from_a_network() -> None:
    layers = random_layers(195, 20, 7, 3)
    game = find_game("dominoes")
    found = layers_of(network_of(game.observer(*game.variant()).part(), layers, "relu"))
    assert all((a == b).all() for pair in zip(layers, found, strict=True) for a, b in zip(*pair, strict=True))


def turn_and_worths(table: Table, part: Valued, file: Path) -> tuple[int, dict[int, float]]:
    """The first action that learned(file) takes here, and by first action the most that an afterstate is worth: by observer and numpy."""
    game, seat = table.game, table.seat
    observer, layers = game.observer(table.players, table.variant), layers_of(part.network)
    n = weigh_turns(part, table.states, 0)
    worths: dict[int, float] = {}
    for turn in part.room.turns[:n].tolist():
        after = table.clone()
        first = (turn & 0xFFFF) - 1
        while turn:
            after.play((turn & 0xFFFF) - 1)
            turn >>= 16
        if after.over:
            scores = after.scores()
            worth = (scores[seat] - max(scores[other] for other in range(table.players) if other != seat)) / 50
        else:
            worth = float(expected(layers, "relu", observer.vector(after.states, 0, seat))[0])
        worths[first] = max(worths.get(first, -np.inf), worth)
    return policy(f"learned({file})").act(table.view(seat)), worths


@pytest.mark.parametrize("name", ["kingdomino", pytest.param("carcassonne", marks=pytest.mark.cold)])
def test_learned_takes_the_turn_after_which_the_position_is_worth_most(name: str, tmp_path: Path) -> None:
    file = random_model(tmp_path / "model.npz", name)
    for table in tables(name, 3):
        part = policy(f"learned({file})").compiled(table.game, table.players)
        action, worths = turn_and_worths(table, part, file)
        assert worths[action] == pytest.approx(max(worths.values()), abs=1e-4)


def test_learned_tells_what_it_thinks_of_every_turn(tmp_path: Path) -> None:
    asked = policy(f"learned({random_model(tmp_path / 'model.npz', 'kingdomino')})")
    for table in tables("kingdomino", 3):
        view = table.view(table.seat)
        found = asked.search(view)
        first = (found.candidates[0].turn & 0xFFFF) - 1
        assert found.candidates[0].mean == max(candidate.mean for candidate in found.candidates)
        assert first == asked.act(view) and found.unit == "worth"


def test_an_end_is_worth_its_margin_or_its_win() -> None:
    """Seat 1 points at the shell with the pea, so it wins the stake of 2; the coin does not double it."""
    table = shells(2, 2).clone()
    table.play(3 + 2)
    table.chance(0)
    game, numbers = table.game, np.zeros(2, np.int64)
    observer = game.observer(table.players, table.variant)
    network = network_of(observer.part(), random_layers(observer.size, 4, 1), "relu")
    for goal, wanted in ((Goal(2, 10.0, 0.0), 0.4), (Goal(2, 10.0, 1.0), 1.0), (Goal(2, 10.0, 0.5), 0.7)):
        part = Valued(network, goal, turns_for(game, 2))
        assert estimate(part, table.states, 0, 1, numbers) == pytest.approx(wanted)
        assert estimate(part, table.states, 0, 0, numbers) == pytest.approx(-wanted)


@pytest.mark.parametrize("text", ["learned", "ppo"])
def test_the_compiled_player_of_an_environment_decides_as_the_policy(text: str, tmp_path: Path) -> None:
    file = random_model(tmp_path / "model.npz", "kingdomino", predicts=VALUE if text == "learned" else POLICY)
    player = f"{text}({file})"
    fast, slow = SeatEnv("kingdomino", opponents=player, record=True), SeatEnv("kingdomino", opponents=policy(player).act, record=True)
    for env in (fast, slow):
        env.reset(seed=4)
        ended = False
        while not ended:
            _, _, ended, _, _ = env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert fast.table.record() == slow.table.record()


def test_two_seats_with_one_model_have_one_player_and_threads_have_their_own(tmp_path: Path) -> None:
    file = random_model(tmp_path / "model.npz", "kingdomino")
    game, text = find_game("kingdomino"), f"learned({file})"
    player = player_of_seats([policy(text), policy(text), policy("random")], [0, 1, 2], game, game.players[0])
    assert player.places[0] == player.places[1] != player.places[2] and player.which[:3].tolist() == [0, 1, 2]
    player = policy(text)
    one, other = player.compiled(game, game.players[0]), player.compiled(game, game.players[0])
    assert one.network.weights is other.network.weights
    assert one.network.now is not other.network.now and one.room.turns is not other.room.turns


@pytest.mark.cold
@pytest.mark.parametrize("text", ["mce(playout={}, playouts=6)", "uct(playout={}, playouts=6)", "star2(depth=1, evaluate={})"])
def test_searches_take_networks(text: str, tmp_path: Path) -> None:
    table = random_game(find_game("kingdomino"), 2, None, 60)
    table.run_chance(make_rng(1))
    asked = policy(text.format(f"learned({random_model(tmp_path / 'model.npz', 'kingdomino')})"))
    assert asked.act(table.view(table.seat)) in table.legal()
    assert policy(str(asked)) == asked


def test_expectimax_one_turn_deep_evaluates_as_the_network(tmp_path: Path) -> None:
    file = random_model(tmp_path / "model.npz", "kingdomino")
    table = random_game(find_game("kingdomino"), 2, None, 61)
    table.run_chance(make_rng(1))
    part = policy(f"learned({file})").compiled(table.game, table.players)
    n = weigh_turns(part, table.states, 0)
    found = policy(f"expectimax(depth=1, evaluate=learned({file}))").search(table.view(table.seat))
    best = max(zip(part.room.worths[:n], part.room.turns[:n], strict=True))
    assert max(candidate.mean for candidate in found.candidates) == pytest.approx(best[0], abs=1e-4)


def test_a_network_in_place_of_an_evaluator_must_fit_the_game(tmp_path: Path) -> None:
    file = random_model(tmp_path / "model.npz", "kingdomino")
    with pytest.raises(NotSupported, match=r"model\.npz was trained on kingdomino, not on carcassonne"):
        policy(f"star2(evaluate=learned({file}))").check(find_game("carcassonne"))


@pytest.mark.parametrize(
    ("players", "options", "sentence"),
    [
        (3, {}, "model.npz was trained for 4 players, not for 3; play it with 4, or train a model for 3"),
        (4, {"harmony": False}, "model.npz was trained with harmony=True, not with harmony=False; train a model for these rules"),
    ],
)
def test_a_network_of_values_is_refused_at_another_table(players: int, options: dict, sentence: str, tmp_path: Path) -> None:
    asked = policy(f"learned({random_model(tmp_path / 'model.npz', 'kingdomino')})")
    with pytest.raises(NotSupported) as error:
        asked.check(find_game("kingdomino"), players, options)
    assert str(error.value) == sentence
    with pytest.raises(NotSupported):
        SeatEnv("kingdomino", players=players, opponents=asked, **options)


def test_a_network_is_not_taken_for_what_it_does_not_predict(tmp_path: Path) -> None:
    of_values = random_model(tmp_path / "v.npz", "kingdomino")
    for_actions = random_model(tmp_path / "p.npz", "kingdomino", predicts=POLICY)
    for wrong, sentence in ((f"ppo({of_values})", "write learned"), (f"learned({for_actions})", "write ppo")):
        with pytest.raises(BadOption, match=sentence):
            policy(wrong).check(find_game("kingdomino"))


def test_an_encoding_from_outside_is_shown_what_its_seat_can_know() -> None:
    """It writes where the pea is, without asking who looks. In a kernel, too, seat 1 is shown a draw."""
    from kdenv.author import kernel

    @kernel
    def observe(states, k, seat, out):
        out[0] = states[k].pea

    hidden = [shells(pea, 2) for pea in range(3)]
    game = hidden[0].game
    game.add_encoding(Encoding("tell_tale", lambda players, options: {"pea": Part((1,), "the shell")}, observe))
    observer = game.observer(2, hidden[0].variant, "tell_tale")
    network = network_of(observer.part(), [(np.ones((1, 1), np.float32), np.zeros(1, np.float32))], "relu")
    seen = set()
    for table in hidden:
        assert verbs.phase_at(table.states, 0) == DECIDE
        look(network, table.states, 0, 1)
        seen.add(float(value(network, table.states, 0, 1)))
        assert float(value(network, table.states, 0, 1)) == observer.vector(table.states, 0, 1)[0]
    assert len(seen) == 1
