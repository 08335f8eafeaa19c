"""Does a network that scores turns learn to play well, does it learn the same again, and does its training survive being stopped?"""

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import three_shells

import kdenv
from kdenv.cli import main
from kdenv.compiler.kernel import kernel
from kdenv.compiler.random import make_rng
from kdenv.core import verbs
from kdenv.core.encoding import Encoding, Part, clear
from kdenv.core.errors import BadOption
from kdenv.core.table import Table
from kdenv.games import find_game
from kdenv.networks.network import layers_of
from kdenv.networks.policy_learning import add_gradients, transpose_layers
from kdenv.networks.rollout import DECISIONS
from kdenv.policies.model_file import SCORE, read_network
from kdenv.training import ExpertTrainer, PolicyTrainer, Trainer, TrainingSettings, trainer_for
from kdenv.training.curve import read_curve
from kdenv.training.settings import settings_of

SMALL: dict[str, Any] = {"method": "ppo", "hidden": 8, "rollout": 256, "batch": 64, "seed": 5}


@kernel
def observe_one_of(states: Any, k: int, seat: int, out: Any) -> None:
    """Write 1 for the number of stones of Heap, and whether the seat is to move."""
    clear(out)
    out[int(states[k].stones)] = 1.0
    out[7] = 1.0 if states[k].mover == seat else 0.0


def toy_heap() -> ModuleType:
    """The module of Heap: two seats take one or two of four to six stones in turn, and whoever takes the last wins."""
    if "heap_of_stones" not in sys.modules:
        path = Path(__file__).parents[1] / "toy_package" / "toy_kdenv" / "heap.py"
        spec = importlib.util.spec_from_file_location("heap_of_stones", path)
        assert spec is not None and spec.loader is not None
        sys.modules["heap_of_stones"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        layout = {"stones": Part((7,), "1 for their number"), "mine": Part((1,), "1 if I am to move")}
        module.GAME.add_encoding(Encoding("one_of", lambda players, options: layout, observe_one_of))
    return sys.modules["heap_of_stones"]


@pytest.fixture(scope="module", autouse=True)
def small_games_are_known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        games = {"three_shells": three_shells.GAME, "toy_heap": toy_heap().GAME}
        patch.setattr("kdenv.games._from_outside", games)
        yield


@pytest.mark.cold
def test_it_learns_to_leave_a_number_of_stones_that_three_divides(tmp_path: Path) -> None:
    """Who leaves 3 or 6 stones wins. So to the seat to move 3 and 6 stones are worth -1, and all other numbers 1."""
    learns = {
        "method": "ppo",
        "encoding": "one_of",
        "hidden": 32,
        "rollout": 1024,
        "batch": 256,
        "scale": 1.0,
        "games": 40_000,
        "rate": 3e-3,
    }
    trainer = PolicyTrainer(TrainingSettings("toy_heap", **learns), tmp_path)
    trainer.run(points=1)
    scorer, own = layers_of(trainer.player.network), trainer.weights[len(trainer.player.network.weights) :]
    critic = [*scorer[:-1], (own[None, :-1], own[-1:])]

    def output(layers: Any, stones: int, mine: int) -> float:
        found = np.append(np.eye(7)[stones], mine)
        for i, (weight, bias) in enumerate(layers):
            found = (np.maximum(found, 0) if i else found) @ weight.T + bias
        return float(found[0])

    for stones in (2, 4, 5):
        scores = [output(scorer, stones - take, 0) for take in (1, 2)]
        wins = [(stones - take) % 3 == 0 for take in (1, 2)]
        assert scores[wins.index(True)] - scores[wins.index(False)] > 2  # seven times as probable
        assert output(critic, stones, 1) == pytest.approx(1, abs=0.3)
    for stones in (3, 6):
        assert output(critic, stones, 1) == pytest.approx(-1, abs=0.3)


@pytest.mark.cold
def test_it_learns_where_the_pea_is_most_often(tmp_path: Path) -> None:
    """With stakes of 1, pointing at shell 2 is worth 0, and all else is worth less."""
    learns = {"method": "ppo", "hidden": 16, "rollout": 1024, "batch": 256, "games": 60_000, "rate": 3e-3}
    settings = TrainingSettings("three_shells", options={"most": 1}, **learns)
    trainer = PolicyTrainer(settings, tmp_path)
    trainer.run(points=1)
    mine, table = kdenv.policy(f'ppo("{tmp_path / "model.npz"}")'), Table(three_shells.GAME, most=1)
    table.chance(0)
    table.play(0)
    assert table.name(mine.act(table.view(1))) == "point 2"


def view_after(view: Any, action: int) -> Any:
    states = view.scratch(1)
    verbs.apply_at(states, 0, int(action))
    return states


def train(folder: Path, games: int = 40, threads: int = 1, **more: Any) -> Path:
    """The model file after a training of this many games."""
    trainer_for(TrainingSettings("dominoes", games=games, **{**SMALL, **more}), folder, threads=threads).run(points=2)
    return folder / "model.npz"


@pytest.mark.parametrize(("method", "threads"), [("ppo", 1), ("ppo", 2), ("expert", 1), ("expert", 2)])
def test_the_same_training_gives_the_same_bytes(method: str, threads: int, tmp_path: Path) -> None:
    one, again, other = (train(tmp_path / str(i), threads=threads, seed=5 + i // 2, method=method) for i in range(3))
    assert one.read_bytes() == again.read_bytes() != other.read_bytes()


@pytest.mark.parametrize("kind", [PolicyTrainer, ExpertTrainer])
def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(kind: type[PolicyTrainer], tmp_path: Path) -> None:
    settings = {**SMALL, "method": kind.method}
    whole = train(tmp_path / "whole", **settings)
    first = kind(TrainingSettings("dominoes", games=40, **settings), tmp_path / "parts")
    first.learn()
    first.save()
    assert 0 < first.games < 40
    again = kind(first.settings, tmp_path / "parts")
    assert again.updates == first.updates > 0
    again.run(points=2)
    assert again.games == 40
    assert (tmp_path / "parts" / "model.npz").read_bytes() == whole.read_bytes()
    assert max(read_curve(tmp_path / "parts" / "curve.csv").times()) == 40


def test_a_step_that_is_interrupted_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = PolicyTrainer(TrainingSettings("dominoes", games=40, **SMALL), tmp_path)
    trainer.learn()
    before, games, updates, rng = trainer.weights.copy(), trainer.games, trainer.updates, trainer._rngs[0].copy()
    steps = 0

    def interrupted(*given: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == 3:
            raise KeyboardInterrupt
        step(*given)

    step = PolicyTrainer._step
    monkeypatch.setattr(trainer, "_step", lambda *given: interrupted(trainer, *given))
    with pytest.raises(KeyboardInterrupt):
        trainer.learn()
    assert (trainer.weights == before).all() and (trainer.games, trainer.updates) == (games, updates) and trainer._rngs[0] == rng
    monkeypatch.undo()
    trainer.learn()
    twin = PolicyTrainer(trainer.settings, tmp_path / "twin")
    twin.learn()
    twin.learn()
    assert (trainer.weights == twin.weights).all()


def test_a_step_of_two_threads_is_that_of_all_their_decisions(tmp_path: Path) -> None:
    """One thread that learns from the decisions of both, in two calls, makes the same step."""
    settings = TrainingSettings("dominoes", games=40, **SMALL)
    both, one = (PolicyTrainer(settings, tmp_path / str(threads), threads=threads) for threads in (2, 1))
    for i in range(2):
        both._play(i, 100, 1000)
    both._normalise()
    transpose_layers(one.learners[0])
    some, mine = [np.arange(60), np.arange(10, 50)], one.learners[0]
    for rollout, order in zip(both._rollouts, some, strict=True):
        add_gradients(mine, rollout, order, 0, len(order), 100, one._objective())
    wanted = mine.gradients.copy()
    both._step(some, 0.01)
    np.testing.assert_allclose(both.learners[0].gradients, wanted, atol=1e-6)
    assert np.abs(wanted).max() > 1e-3


def test_minutes_are_seconds_of_learning_without_compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes no time of the training, also if it is the first call of learn that compiles."""
    clock = [0.0]

    def compiles(trainer: Any) -> None:
        clock[0] += 100.0
        compile_really(trainer)

    for kind, settings in ((PolicyTrainer, {**SMALL}), (Trainer, {"hidden": 8})):
        compile_really = kind._compile
        monkeypatch.setattr(kind, "_compile", compiles)
        monkeypatch.setattr("kdenv.training.training.time.thread_time", lambda: clock[0])
        trainer = kind(TrainingSettings("dominoes", minutes=1.0, **settings), tmp_path / kind.__name__)
        trainer.learn()
        assert clock[0] == 100.0 and trainer.seconds == 0.0 and trainer.games > 0
        monkeypatch.undo()
        clock[0] = 0.0


@pytest.mark.parametrize("shape", [{}, {"second": 6, "third": 5, "heads": 3}])
def test_a_model_plays_the_actions_that_it_scores_highest(shape: dict[str, int], tmp_path: Path) -> None:
    stored = read_network(train(tmp_path, encoding="ends", options={"mode": "round"}, **shape))
    assert [len(bias) for _, bias in stored.layers] == ([8, 6, 5, 3] if shape else [8, 1]) and stored.heads == (3 if shape else 1)
    assert stored.predicts == SCORE and stored.options["mode"] == "round" and stored.made_for["encoding"] == "ends"
    assert stored.made_by.startswith("kdenv train dominoes --method ppo") and stored.made_by.endswith("(40 games)")
    mine, table = kdenv.policy(f'ppo("{tmp_path / "model.npz"}")'), Table(find_game("dominoes"), mode="round")
    table.run_chance(make_rng(1))
    layers, about = [(weight.astype(np.float16), bias) for weight, bias in stored.layers], {"made_for": stored.made_for, "players": 4}
    kdenv.save_network(tmp_path / "again.npz", layers, {**about, "options": stored.options}, heads=stored.heads)
    again, checked = kdenv.policy(f'ppo("{tmp_path / "again.npz"}")'), 0
    while not table.over:
        assert table.seat is not None
        view = table.view(table.seat)
        found = view.afterstates("ends", whole=False)
        rows = found.observations.astype(np.float64)
        for i, (weight, bias) in enumerate(stored.layers):
            rows = (np.maximum(rows, 0) if i else rows) @ weight.T + bias
        heads = np.minimum(
            np.array([verbs.progress_at(view_after(view, each), 0) for each in found.actions]) * stored.heads, stored.heads - 1
        )
        scores = rows[np.arange(len(rows)), heads.astype(int)]
        action = mine.act(view)
        assert scores[found.actions.tolist().index(action)] >= scores.max() - 1e-4
        assert again.act(view) == action
        checked += len(found) > 1
        table.play(action)
        table.run_chance(make_rng(1))
    assert checked > 3


def test_a_training_begins_with_a_model_of_scores(tmp_path: Path) -> None:
    first = train(tmp_path / "first", activation="tanh")
    given = {"method": "ppo", "source": str(first), "games": 20}
    settings = settings_of("dominoes", given, "")
    assert (settings.hidden, settings.activation, settings.scale) == (8, "tanh", 0.0)
    trainer = PolicyTrainer(settings, tmp_path / "second")
    assert (layers_of(trainer.player.network)[1][0] == read_network(first).layers[1][0]).all()
    with pytest.raises(BadOption, match="predicts a score, and a training begins with a network of values; give"):
        settings_of("dominoes", {"method": "td", "source": str(first)}, "")


@pytest.mark.parametrize("shape", [{}, {"second": 6, "heads": 3}])
def test_a_training_that_begins_with_a_network_of_values_has_its_values_and_its_best_turns(shape: dict[str, int], tmp_path: Path) -> None:
    first = TrainingSettings("dominoes", games=40, hidden=8, options={"mode": "round"}, win=0.5, scale=30.0, **shape)
    Trainer(first, tmp_path / "first").run(points=1)
    model, stored = tmp_path / "first" / "model.npz", read_network(tmp_path / "first" / "model.npz")
    given = {"method": "ppo", "source": str(model), "games": 20, "options": {"mode": "round"}}
    settings = settings_of("dominoes", given, "")
    assert (settings.win, settings.scale, settings.heads) == (0.5, 30.0, first.heads)
    trainer = PolicyTrainer(settings, tmp_path / "second")
    trainer.save()
    scores, own = layers_of(trainer.player.network), trainer.weights[len(trainer.player.network.weights) :].reshape(first.heads, -1)
    for (weight, bias), (of_values, its_bias) in zip(scores[:-1], stored.layers[:-1], strict=True):
        assert (weight == of_values).all() and (bias == its_bias).all()
    weight, bias = stored.layers[-1]
    assert (own[:, :-1] == weight).all() and (own[:, -1] == bias).all() and np.abs(weight).max() > 0
    sharpness = scores[-1][0] / weight
    assert np.allclose(sharpness, sharpness[0, 0]) and sharpness[0, 0] > 1
    by_scores, by_values = kdenv.policy(f'ppo("{tmp_path / "second" / "model.npz"}")'), kdenv.policy(f'learned("{model}")')
    table, compared = Table(find_game("dominoes"), mode="round"), 0
    table.run_chance(make_rng(1))
    while not table.over:
        assert table.seat is not None
        view = table.view(table.seat)
        action = by_values.act(view)
        if not any(verbs.phase_at(view_after(view, each), 0) == verbs.OVER for each in view.legal()):
            assert by_scores.act(view) == action
            compared += len(view.legal()) > 1
        table.play(action)
        table.run_chance(make_rng(1))
    assert compared > 3


def test_kingdomino_learns_by_prospects_unless_an_encoding_is_given() -> None:
    assert settings_of("kingdomino", {}, "").encoding == settings_of("kingdomino", {"method": "ppo"}, "").encoding == "prospects"
    assert settings_of("kingdomino", {"encoding": "planes"}, "").encoding == "planes"
    assert find_game("kingdomino").encoding().name == "planes"  # of environments
    assert settings_of("dominion", {}, "").encoding == ""


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"random": 0.5}, "random is a setting of --method td; leave it out"),
        ({"in_steps": 1}, "in-steps is a setting of --method td"),
        ({"teacher": "mce"}, "teacher is a setting of --method td"),
        ({"method": "td", "clip": 0.1}, "clip is a setting of --method ppo"),
        ({"method": "expert", "clip": 0.1}, "clip is a setting of --method ppo"),
        ({"considered": 8}, "considered is a setting of --method expert"),
        ({"method": "sac"}, "method=sac is not possible; method may be td, ppo or expert"),
        ({"guides": ["greedy"], "guided": 1.0, "first": 0.5}, "guided=1 leaves no seat to the network, which learns from its own turns"),
        ({"method": "expert", "guides": ["greedy"], "then": 1.0}, "then=1 leaves no seat to the network"),
    ],
)
def test_settings_of_the_other_method_are_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption) as error:
        TrainingSettings("dominoes", **{"method": "ppo", **given})
    assert sentence in str(error.value)


def test_games_that_only_guides_play_change_no_weight(tmp_path: Path) -> None:
    settings = TrainingSettings("dominoes", games=4, guides=["greedy"], then=0.999, **SMALL)
    trainer = PolicyTrainer(settings, tmp_path)
    before = trainer.weights.copy()
    trainer.learn()
    assert trainer._rollouts[0].filled[DECISIONS] == 0 and trainer.games == 4
    assert (trainer.weights == before).all() and trainer.updates == 0


def test_defaults_are_those_of_the_method() -> None:
    td, ppo = (TrainingSettings("dominoes", method=method) for method in ("td", "ppo"))
    assert (td.lam, td.rate) == (0.7, 3e-4) and (ppo.lam, ppo.rate) != (td.lam, td.rate)
    assert td.text() == "kdenv train dominoes" and ppo.text() == "kdenv train dominoes --method ppo"
    assert replace(ppo, lam=0.7).text() == "kdenv train dominoes --method ppo --lam 0.7"


def test_a_folder_belongs_to_one_method(tmp_path: Path) -> None:
    train(tmp_path)
    with pytest.raises(BadOption, match=r"holds a training with other settings \(batch, hidden"):
        Trainer(TrainingSettings("dominoes", games=40), tmp_path)


def test_the_command_trains_and_says_how_to_play_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "dominoes", "--method", "ppo", "--hidden", "8", "--rollout", "256", "--deals", "2", "--points", "1"]
    assert main([*command, "--games", "20", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"play it as ppo({tmp_path / 'model.npz'})" in said and "100%       20 games" in said and "error 0." in said
    assert main([*command, "--games", "30", "--out", str(tmp_path)]) == 0
    assert f"going on in {tmp_path} after 20 games" in capsys.readouterr().out


@pytest.mark.cold
def test_expert_iteration_beats_random_players_in_small_kingdoms(tmp_path: Path) -> None:
    """By a margin whose interval is clear of 0 and of what the network had before."""
    settings = TrainingSettings(
        "kingdomino", method="expert", players=2, options={"size": 3, "dominoes": 8}, encoding="prospects", games=3000, seed=1, rollout=2048
    )
    trainer = ExpertTrainer(settings, tmp_path, ["random"], deals=500)
    before, of_before, _, _ = trainer._opponents[0].play(trainer.player)
    trainer.run(points=1)
    last = trainer.curve.points[-1]
    assert last.margin - 3 * last.margin_interval > max(0.0, before + 3 * of_before)
    assert trainer.seconds < 60


@pytest.mark.cold
def test_it_beats_random_players_after_some_seconds(tmp_path: Path) -> None:
    """By a margin whose interval is clear of 0."""
    settings = TrainingSettings("dominoes", method="ppo", options={"mode": "round"}, encoding="ends", games=40_000, seed=1)
    trainer = PolicyTrainer(settings, tmp_path, ["random"], deals=1000)
    trainer.run(points=1)
    last = trainer.curve.points[-1]
    assert last.margin - 3 * last.margin_interval > 0
    assert trainer.seconds < 60


def test_heads_and_layers_that_are_not_possible_are_refused(tmp_path: Path) -> None:
    deep = train(tmp_path / "deep", second=6, heads=3)
    assert settings_of("dominoes", {"method": "ppo", "source": str(deep)}, "").heads == 3
    for given, sentence in (
        ({"heads": 1, "source": str(deep)}, "has layers of 8 and 6 relu with 3 heads, not of 8 and 6 relu;"),
        ({"second": 0, "third": 4}, "third=4 is not possible; third needs a second hidden layer"),
        ({"heads": 65}, "heads is a whole number from 1 to 64"),
    ):
        with pytest.raises(BadOption, match=sentence):
            PolicyTrainer(settings_of("dominoes", {"method": "ppo", **given}, ""), tmp_path / "refused")
    with pytest.raises(BadOption, match="because three_shells does not answer the verb progress"):
        PolicyTrainer(TrainingSettings("three_shells", method="ppo", heads=2), tmp_path / "refused")
    about = {"made_for": read_network(deep).made_for, "players": 4, "options": {}}
    size = read_network(deep).n_in
    for layers, more, sentence in (
        ([(np.zeros((2, size)), np.zeros(2))], {"heads": 2}, "heads .* 1 to 1, for a score and 1 layer"),
        ([(np.zeros((4, size)), np.zeros(4)), (np.zeros((3, 4)), np.zeros(3))], {"heads": 2}, "each of 2 heads gives one number"),
    ):
        with pytest.raises(BadOption, match=sentence):
            kdenv.save_network(tmp_path / "wrong.npz", layers, about, **more)
