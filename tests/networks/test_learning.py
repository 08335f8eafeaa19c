"""Does a network learn what positions are worth, does it learn the same again, and does its training survive being killed?"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import three_shells
from models import random_learner
from positions import shells

import kdenv
from kdenv.cli import main
from kdenv.compiler.random import next64
from kdenv.core.errors import BadOption, KdenvError
from kdenv.networks.learning import paces_of, step_towards
from kdenv.networks.network import layers_of, look, value
from kdenv.training import Trainer, TrainingSettings
from kdenv.training.curve import read_curve
from kdenv.training.settings import read_settings, settings_of
from kdenv.training.training import alone_in


def gradients(layers, activation: str, x: np.ndarray, target: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """The gradient of half the squared error, by finite differences in double precision."""

    def error(weights) -> float:
        found = x
        for i, (weight, bias) in enumerate(weights):
            found = weight @ ((np.maximum(found, 0) if activation == "relu" else np.tanh(found)) if i else found) + bias
        return 0.5 * (float(found[0]) - target) ** 2

    doubles, slopes = [tuple(part.astype(np.float64) for part in layer) for layer in layers], []
    for layer in doubles:
        found = []
        for part in layer:
            slope = np.zeros_like(part)
            for at in np.ndindex(part.shape):
                before, step = part[at], 1e-6
                part[at] = before + step
                up = error(doubles)
                part[at] = before - step
                slope[at] = (up - error(doubles)) / (2 * step)
                part[at] = before
            found.append(slope)
        slopes.append(tuple(found))
    return slopes


@pytest.fixture(scope="module", autouse=True)
def three_shells_are_known() -> Iterator[None]:
    """The game is known while these tests run, and not after them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kdenv.games._from_outside", {"three_shells": three_shells.GAME})
        yield


@pytest.mark.parametrize("measures", [True, False])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("hidden", [(6,), (6, 4)])
def test_a_step_follows_the_gradient_scaled_by_its_mean_square(hidden: tuple[int, ...], activation: str, measures: bool) -> None:
    """A gradient of 0 leaves its mean square as it is, and a step that does not measure leaves them all."""
    table = shells(0, 2)  # seat 0 sees the pea, which is the first input
    of = random_learner("three_shells", *hidden, activation=activation)
    before, old_squares = layers_of(of.player.network), of.squares.copy()
    x = table.observation(0).astype(np.float64)
    step_towards(of, table.states, 0, 0, 0.3, 0.001, measures)
    after = layers_of(of.player.network)
    flat = []
    for old, new, slopes in zip(before, after, gradients(before, activation, x, 0.3), strict=True):
        for was, now, slope in zip(old, new, slopes, strict=True):
            scale = np.sqrt(0.996 * 1e-3 + 0.004 * slope**2 if measures else 1e-3) + 1e-4
            assert was - now == pytest.approx(0.001 * np.clip(slope / scale, -8, 8), rel=0.02, abs=2e-6)
            flat.append(slope.T.ravel())
    slope = np.concatenate(flat)
    wanted = np.where((np.abs(slope) > 1e-9) & measures, 0.996 * old_squares + 0.004 * slope**2, old_squares)
    assert of.squares == pytest.approx(wanted, rel=1e-4, abs=1e-9)
    assert of.paces == pytest.approx(paces_of(of.squares), rel=1e-6)
    assert paces_of(np.float32([0.0, 0.25])) == pytest.approx([1e4, 1 / 0.5001], rel=1e-4)


@pytest.fixture(scope="module")
def of_random_play(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    """A network that has learned three shells from games in which all turns are random."""
    settings = TrainingSettings(game="three_shells", hidden=32, scale=10.0, random=1.0, rate=0.003, last=0.02, games=400_000, seed=3)
    trainer = Trainer(settings, tmp_path_factory.mktemp("shells"))
    trainer.run()
    return trainer


def worth(trainer: Trainer, table, seat: int) -> float:
    """What the network says the position is worth to the seat, in points."""
    player = trainer.player
    look(player.network, table.states, 0, seat)
    return player.goal.scale * float(value(player.network, table.states, 0, seat))


def test_it_learns_what_a_guess_is_worth_to_the_seat_that_guesses(of_random_play: Trainer) -> None:
    """Within 0.4 points of the exact margins, which go from -7.5 to 7.5: the coin makes 1.25 of a point on average.

    After the guess the shell is lifted. The guesser wins the stake if the pea is there, and loses it if not; a pass costs a point.
    """
    for stake in (1, 2, 3):
        for pea in range(3):
            for guess in ("point 0", "point 1", "point 2", "pass"):
                table = shells(pea, stake, guess)
                won = -1 if guess == "pass" else stake if guess == f"point {pea}" else -stake
                assert worth(of_random_play, table, 1) == pytest.approx(2 * 1.25 * won, abs=0.4)


def test_it_learns_what_a_stake_is_worth_to_the_seat_that_stakes(of_random_play: Trainer) -> None:
    """Against random guesses its margin is twice a quarter of stake + 1, times 1.25, wherever the pea is; so seats are not mixed up."""
    for stake in (1, 2, 3):
        for pea in range(3):
            assert worth(of_random_play, shells(pea, stake), 0) == pytest.approx(2 * 1.25 * (stake + 1) / 4, abs=0.4)


@pytest.mark.cold
def test_it_beats_random_players_after_some_seconds(tmp_path: Path) -> None:
    """After 30 seconds of the processor at most, and most of it compiling: by a margin whose interval is clear of 0."""
    settings = TrainingSettings(game="dominoes", options={"mode": "round"}, encoding="ends", win=1.0, games=60_000, seed=1)
    trainer = Trainer(settings, tmp_path, ["random"], deals=1000)
    trainer.run(points=1)
    last = trainer.curve.points[-1]
    assert last.margin - 3 * last.margin_interval > 0  # six standard errors
    assert last.wins - 3 * last.wins_interval > 0.5
    assert trainer.seconds < 30


def train(folder: Path, games: int, seed: int = 5, **more: object) -> Path:
    """The model file after a training of this many games."""
    Trainer(TrainingSettings(game="kingdomino", hidden=8, games=games, seed=seed, **more), folder).run(points=2)
    return folder / "model.npz"


def test_the_same_training_gives_the_same_bytes(tmp_path: Path) -> None:
    one, again, other = train(tmp_path / "1", 120), train(tmp_path / "2", 120), train(tmp_path / "3", 120, seed=6)
    assert one.read_bytes() == again.read_bytes() != other.read_bytes()


def test_a_training_is_measured_once_at_each_time_also_if_it_is_over_and_run_again(tmp_path: Path) -> None:
    """A second measurement of the same network would have no predictions to tell the error of."""
    settings = TrainingSettings(game="dominoes", hidden=8, games=250)
    for _ in range(2):
        told: list[str] = []
        trainer = Trainer(settings, tmp_path, ["random"], deals=2)
        trainer.run(told.append, points=2)
    assert [point.games for point in trainer.curve.points] == [100, 200, 250]
    assert all(point.error > 0 for point in trainer.curve.points)
    assert not told  # the second time


def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", 250)
    settings = TrainingSettings(game="kingdomino", hidden=8, games=250, seed=5)
    first = Trainer(settings, tmp_path / "parts")
    first.learn()
    first.save()
    assert first.games == 100
    Trainer(settings, tmp_path / "parts").run(points=2)
    assert (tmp_path / "parts" / "model.npz").read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("before", [1, 2, 3])
def test_the_error_of_a_curve_is_that_of_all_games_since_the_last_point_also_of_those_before_a_stop(before: int, tmp_path: Path) -> None:
    errors = []
    for name, steps in (("whole", 3), ("parts", before)):
        trainer = Trainer(TrainingSettings(game="kingdomino", hidden=8, games=250, seed=5), tmp_path / name)
        for _ in range(steps):
            trainer.learn()
        trainer.save()
        if name == "parts":
            trainer = Trainer(trainer.settings, tmp_path / name)
            while trainer.progress < 1:
                trainer.learn()
        trainer.run()
        errors.append([(point.games, point.error) for point in trainer.curve.points])
    assert errors[0] == errors[1]
    assert errors[0][0][1] > 0


def test_a_measurement_that_was_interrupted_is_made_by_the_training_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    settings, opponents = TrainingSettings(game="dominoes", hidden=8, games=50), ["random", "greedy"]
    trainer = Trainer(settings, tmp_path, opponents, deals=2)
    monkeypatch.setattr(trainer._opponents[1], "play", interrupt)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    trainer = Trainer(settings, tmp_path, opponents, deals=2)
    trainer.run()
    assert [(point.games, point.opponent) for point in trainer.curve.points] == [(50, "random"), (50, "greedy")]
    assert all(point.error > 0 for point in trainer.curve.points)


def test_a_thread_never_begins_its_random_numbers_anew(tmp_path: Path) -> None:
    """A training goes on with fewer threads, and then with more."""
    begun = []
    for threads in (2, 1, 2):
        trainer = Trainer(TrainingSettings(game="dominoes", hidden=8, games=12), tmp_path, threads=threads)
        begun.append([int(rng[0]) for rng in trainer._rngs[:threads]])
        for rng in trainer._rngs[:threads]:
            next64(rng)
        trainer.save()
    assert len({number for numbers in begun for number in numbers}) == 5


def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    """Killed without warning, it goes on from its last checkpoint."""
    command = [sys.executable, "-m", "kdenv", "train", "dominoes", "--games", "400000", "--hidden", "8", "--out", str(tmp_path)]
    running = subprocess.Popen([*command, "--points", "1000", "--deals", "2"], stdout=subprocess.PIPE, text=True)
    with running:
        lines = [running.stdout.readline() for _ in range(4)]
        running.send_signal(signal.SIGKILL)
    assert all("games" in line for line in lines)
    trainer = Trainer(TrainingSettings(game="dominoes", hidden=8, games=400_000), tmp_path)
    assert 0 < trainer.games < 400_000
    assert len(trainer.curve.points) >= 3
    trainer.learn()
    assert kdenv.policy(f"learned({tmp_path / 'model.npz'})").loaded().stored.players == 4


def test_a_kill_never_loses_more_than_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour of learning, in steps of half a second by a clock of ours: checkpoints are less than a minute apart."""
    trainer, now = Trainer(TrainingSettings(game="dominoes", hidden=8, minutes=60.0), tmp_path), 0.0
    written = [now]

    def learn() -> None:
        nonlocal now
        now += 0.5
        trainer.seconds += 0.5

    monkeypatch.setattr("kdenv.training.training.time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(trainer, "learn", learn)
    monkeypatch.setattr(trainer, "save", lambda: written.append(now))
    trainer.run(points=1)
    assert now == 3600
    assert max(np.diff(written)) < 60


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for other processes")
def test_ctrl_c_keeps_what_was_learned(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kdenv", "train", "dominoes", "--games", "400000", "--hidden", "8", "--out", str(tmp_path)]
    running = subprocess.Popen([*command, "--points", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    running.stdout.readline()  # strength before learning
    time.sleep(1.5)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate()
    assert running.returncode == 130 and "Traceback" not in told
    assert Trainer(TrainingSettings(game="dominoes", hidden=8, games=400_000), tmp_path).games >= 100


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that send signals")
def test_a_training_that_was_interrupted_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Ctrl-C may come in the middle of a step of learning, which then counts as not begun."""
    settings = TrainingSettings(game="dominoes", hidden=8, games=3000, seed=5)
    Trainer(settings, tmp_path / "whole").run(points=1)
    armed: list[bool] = []

    def interrupt(number: int, frame: object) -> None:
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    before, interrupts = signal.signal(signal.SIGALRM, interrupt), 0
    try:
        for i in range(1000):
            trainer = Trainer(settings, tmp_path / "parts")
            if trainer.progress == 1:
                break
            try:
                armed.append(True)
                signal.setitimer(signal.ITIMER_REAL, 0.01 + 0.003 * i)
                trainer.run(points=1)
                armed.clear()
            except KeyboardInterrupt:
                interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 5
    assert (tmp_path / "parts" / "model.npz").read_bytes() == (tmp_path / "whole" / "model.npz").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for other processes")
def test_after_ctrl_c_no_thread_goes_on_learning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that is interrupted may have done its part, and wait for the other one."""
    trainer = Trainer(TrainingSettings(game="dominoes", hidden=8, games=100), tmp_path, threads=2)
    before = trainer.player.network.weights.copy()

    def learn(learner: Any, *_: object) -> None:
        if learner is trainer.learners[1]:
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            learner.player.network.weights[:] += 1

    monkeypatch.setattr("kdenv.training.trainer.learn_from_games", learn)
    with pytest.raises(KeyboardInterrupt):
        trainer.learn()
    time.sleep(0.4)
    np.testing.assert_array_equal(trainer.player.network.weights, before)


def test_other_settings_do_not_go_on_in_the_folder_of_a_training(tmp_path: Path) -> None:
    train(tmp_path, 4)
    with pytest.raises(BadOption, match=r"holds a training with other settings \(lam\); choose another folder with --out"):
        train(tmp_path, 4, lam=0.5)


@pytest.mark.parametrize("left", [0.0, 0.3, 0.6, 0.999])
def test_a_damaged_checkpoint_is_told_in_a_sentence(left: float, tmp_path: Path) -> None:
    settings = TrainingSettings(game="dominoes", hidden=8, games=4)
    Trainer(settings, tmp_path).run(points=1)
    path = tmp_path / "checkpoint.npz"
    path.write_bytes(path.read_bytes()[: int(left * path.stat().st_size)])
    with pytest.raises(BadOption, match=r"checkpoint.npz is not a checkpoint of a training .*; remove it, or choose another folder"):
        Trainer(settings, tmp_path)


@pytest.mark.parametrize("name", ["settings", "games", "curve"])
def test_a_checkpoint_without_a_part_is_told_in_a_sentence(name: str, tmp_path: Path) -> None:
    settings = TrainingSettings(game="dominoes", hidden=8, games=4)
    Trainer(settings, tmp_path).run(points=1)
    with np.load(tmp_path / "checkpoint.npz") as file:
        parts = dict(file)
    about = json.loads(str(parts["about"]))
    del about[name]
    np.savez(tmp_path / "checkpoint.npz", **{**parts, "about": np.array(json.dumps(about))})
    with pytest.raises(BadOption, match=rf"checkpoint.npz is not a checkpoint of a training \({name} is missing, and must be "):
        Trainer(settings, tmp_path)


def test_two_trainings_do_not_share_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "dominoes", "--hidden", "8", "--games", "4", "--deals", "2", "--points", "1", "--out", str(tmp_path)]
    with alone_in(tmp_path):
        assert main(command) == 2
    assert capsys.readouterr().err == f"kdenv: another training goes on in {tmp_path}; wait until it has ended, or choose another --out\n"
    assert main(command) == 0
    assert read_curve(tmp_path / "curve.csv").times() == [4]


def test_settings_are_read_from_toml_and_flags_go_before_them(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('hidden = 32\nlam = 0.5\nguides = ["greedy"]\nguided = 1\nfirst = 0.5\n[options]\nmode = "round"\n')
    settings = read_settings(file, "dominoes", {"lam": 0.9})
    assert (settings.hidden, settings.lam, settings.guides, settings.guided) == (32, 0.9, ["greedy"], 1.0)
    assert settings.options == {"mode": "round"}
    assert read_settings(file, "dominoes", {"options": {"calls": "yes"}}).options == {"mode": "round", "calls": "yes"}
    assert read_settings(file, "dominoes", {"options": {"mode": "match"}}).options == {"mode": "match"}


def test_settings_are_told_as_a_command_that_gives_them_again() -> None:
    """A shell reads brackets and spaces, so they are quoted."""
    given = {"options": {"mode": "round"}, "guides": ["greedy", "mce(playouts=5, score=margin)"], "then": 0.5, "source": "a model.npz"}
    words = shlex.split(TrainingSettings(game="dominoes", **given).text())
    assert words[:3] == ["kdenv", "train", "dominoes"]
    pairs = [("--option", "mode=round"), *(("--guides", each) for each in given["guides"]), ("--then", "0.5"), ("--from", "a model.npz")]
    assert list(zip(words[3::2], words[4::2], strict=True)) == pairs


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("hiden = 3", "there is no setting hiden (did you mean hidden?)"),
        ("hidden = 0", "hidden=0 is not possible; hidden is a whole number from 1 to 4096"),
        ('hidden = "x"', "hidden=x is not possible; hidden is a whole number"),
        ("guided = 0.5", "so they need guides"),
        ('guides = ["greedy"]', "no guide would ever play; give guided and first"),
        ('guides = ["greedy"]\nguided = 0.5', "no guide would ever play; give guided and first"),
        ('guides = ["greedy"]\nthen = 0.5\nteacher = "mce"', "a teacher plays all seats, so there are no guides"),
        ('activation = "gelu"', "activation=gelu is not possible (did you mean relu?); activation may be tanh or relu"),
        ("scale = 1e-10", "scale=1e-10 is not possible; scale may be 0, or 1e-09 to 1e+09"),
        ("minutes = 0", "neither games nor minutes say when the training ends"),
        ("hidden", "is not TOML"),
    ],
)
def test_a_wrong_setting_is_told_in_a_sentence(line: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(line)
    with pytest.raises(BadOption) as error:
        read_settings(file, "dominoes", {})
    assert sentence in str(error.value)


@pytest.mark.cold
def test_a_training_may_begin_with_a_model(tmp_path: Path) -> None:
    """What the model is made of is taken over, so that the network says at first what the model says."""
    made = {"hidden": 8, "second": 4, "activation": "tanh", "scale": 20.0, "win": 0.5}
    first = tmp_path / "first" / "model.npz"
    Trainer(TrainingSettings(game="kingdomino", encoding="prospects", games=50, **made), tmp_path / "first").run(points=1)
    settings = settings_of("kingdomino", {"source": str(first), "games": 10, "win": 1.0}, "")
    assert settings == TrainingSettings(game="kingdomino", encoding="prospects", games=10, source=str(first), **{**made, "win": 1.0})
    trainer = Trainer(settings, tmp_path / "second")
    assert (layers_of(trainer.player.network)[0][0] == np.load(first)["weight_0"].astype(np.float32)).all()
    trainer.run(points=1)
    with pytest.raises(BadOption, match=r"holds a training with other settings \(from\)"):
        Trainer(replace(settings, source=str(tmp_path / "second" / "model.npz")), tmp_path / "second")


@pytest.mark.parametrize(
    ("model", "given", "sentence"),
    [
        ("kingdomino", {"activation": "tanh"}, "kingdomino.npz has layers of 192 relu, not of 192 tanh; leave these settings to it"),
        ("kingdomino", {"hidden": 8, "second": 4}, "kingdomino.npz has layers of 192 relu, not of 8 and 4 relu"),
        ("kingdomino", {"encoding": "planes"}, "kingdomino.npz is not a network of values for the encoding planes of these rules"),
        ("kingdomino-ppo", {}, "kingdomino-ppo.npz predicts a score, and a training begins with a network of values"),
        ("dominoes", {}, "dominoes.npz was trained on dominoes, not on kingdomino"),
        ("nothing", {}, "there is no model nothing"),
    ],
)
def test_a_model_that_does_not_fit_is_no_beginning(model: str, given: dict[str, object], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(KdenvError) as error:
        Trainer(settings_of("kingdomino", {"source": model, **given}, ""), tmp_path)
    assert sentence in str(error.value)


@pytest.mark.cold
def test_rule_players_may_guide_the_first_games(tmp_path: Path) -> None:
    """Only guides play at first, and what is learned from is their turns."""
    settings = TrainingSettings(
        game="dominion", hidden=8, guides=["big_money", "double_witch"], guided=1.0, first=1.0, games=20, random=0.0
    )
    trainer = Trainer(settings, tmp_path)
    trainer.learn()
    states = trainer.learners[0].states
    assert trainer.learners[0].sums[0] == 20 and trainer.learners[0].sums[1] > 100
    assert not bool(states[0]["is_truncated"])
