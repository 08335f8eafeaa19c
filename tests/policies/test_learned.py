"""Do models play: the shipped one without torch, its original with it, the same actions both; and are wrong files told?"""

import io
import json
import random
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from models import OF_ACTIONS

import kdenv
from kdenv.arena import Match, Result, Summary, play
from kdenv.cli import main
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.core.table import Table
from kdenv.envs.single_agent import SeatEnv
from kdenv.games import find_game
from kdenv.policies import model_file, policy, torch_models
from kdenv.policies.learned import load

pytestmark = pytest.mark.filterwarnings("ignore:loading .* unpickles it")
ORIGINAL = OF_ACTIONS.with_suffix(".zip")
EXPORTED = f"ppo({OF_ACTIONS})"


def positions(n: int) -> list[Table]:
    """Positions from games of the exported model."""
    found: list[Table] = []
    model = policy(EXPORTED)
    while len(found) < n:
        table, rng = Table(find_game("kingdomino"), 4), make_rng(len(found))
        table.run_chance(rng)
        while not table.over:
            found.append(table.clone())
            table.play(model.act(table.view(table.seat)))
            table.run_chance(rng)
    return found[:n]


def test_the_exported_model_beats_random_players() -> None:
    results: list[Result] = []
    assert play(Match("kingdomino", [EXPORTED, *["random"] * 3], games=80, seed=1), on_result=results.append, processes=1)
    row = Summary(Match("kingdomino", [EXPORTED, *["random"] * 3], games=80, seed=1), results).rows()[0]
    assert row.wins.low > 0.5
    assert row.margin.low > 0


def test_exported_and_original_choose_alike() -> None:
    exported, original = policy(EXPORTED), policy(f"ppo({ORIGINAL})")
    tables = positions(200)
    same = sum(exported.act(table.view(table.seat)) == original.act(table.view(table.seat)) for table in tables)
    assert same >= 198  # half precision may turn a near tie


@pytest.mark.parametrize(
    "game, line_up, options, games, even",
    [
        ("kingdomino", ["learned(kingdomino)", *["full_greedy(variant=paper)"] * 3], {}, 400, 0.25),
        ("dominoes", ["learned(dominoes)", "greedy"] * 2, {"mode": "round"}, 1200, 0.5),
        ("carcassonne", ["learned(carcassonne)", "greedy"], {}, 200, 0.5),
        ("dominion", ["learned(dominion)", "double_witch"], {}, 200, 0.5),
        ("kingdomino", ["ppo(kingdomino-ppo)", *["full_greedy(variant=paper)"] * 3], {}, 400, 0.25),
        ("dominoes", ["ppo(dominoes-ppo)", "greedy"] * 2, {"mode": "round"}, 1200, 0.5),
        ("carcassonne", ["ppo(carcassonne-ppo)", "greedy"], {}, 200, 0.5),
        ("dominion", ["ppo(dominion-ppo)", "double_witch"], {}, 200, 0.5),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_shipped_networks_beat_the_rule_players(
    game: str, line_up: list[str], options: dict[str, str], games: int, even: float
) -> None:
    summary = Summary(Match(game, line_up, games, 1, options))
    assert play(summary.match, on_result=summary.add, processes=1)
    assert summary.rows()[0].wins.low > even


@pytest.mark.parametrize("path", [OF_ACTIONS, ORIGINAL], ids=lambda path: path.name)
def test_exported_models_say_what_they_were_trained_on(path: Path) -> None:
    network = load(path)
    assert network.made_for == SeatEnv("kingdomino").observation_space.made_for


def test_a_model_of_sb3_keeps_the_encoding_it_was_trained_on(tmp_path: Path) -> None:
    """The space of the observations goes into the file of MaskablePPO; so exported or not, the model plays by its encoding."""
    from sb3_contrib import MaskablePPO

    env = SeatEnv("dominoes", encoding="belief")
    MaskablePPO("MlpPolicy", env, n_steps=8, policy_kwargs={"net_arch": [8]}, device="cpu").save(tmp_path / "model.zip")
    assert main(["export", str(tmp_path / "model.zip")]) == 0
    table = Table(find_game("dominoes"))
    table.run_chance(make_rng(1))
    assert table.observation(0).size != env.observation_space.shape[0] == 279
    for file in ("model.zip", "model.npz"):
        assert load(tmp_path / file).made_for["encoding"] == "belief"
        assert policy(f"ppo({tmp_path / file})").act(table.view(table.seat)) in table.legal()


def test_an_export_is_the_same_file_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sb3_contrib")
    out = tmp_path / "again.npz"
    assert main(["export", str(ORIGINAL), "--out", str(out), "--made-by", "by hand"]) == 0
    assert f"the model is {out}; play it as ppo({out})" in capsys.readouterr().out
    before, again = (model_file.read_network(path) for path in (OF_ACTIONS, out))
    assert again.made_by == "by hand" and again.made_for == before.made_for and again.activation == before.activation
    for one, other in zip(before.layers, again.layers, strict=True):
        assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["nowhere.zip"], "there is no model nowhere.zip; give a .zip of MaskablePPO or PPO"),
        (["model.npz"], "model.npz is a model file already; play it as ppo(model.npz) or learned(model.npz)"),
        ([str(ORIGINAL), "--out", "model.zip"], "a model is written to a file that ends in .npz, not to model.zip"),
    ],
)
def test_an_export_that_is_not_possible_is_told(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *words]) == 2
    assert capsys.readouterr().err == f"kdenv: {sentence}\n"


def test_sampling_varies_and_stays_legal() -> None:
    table = positions(60)[57]
    sampler = policy(f"ppo({OF_ACTIONS}, sample=yes)")
    chosen = {sampler.act(table.view(table.seat)) for _ in range(200)}
    assert chosen <= set(table.legal())
    sampler.reset(1)
    first = [sampler.act(table.view(table.seat)) for _ in range(20)]
    sampler.reset(1)
    assert first == [sampler.act(table.view(table.seat)) for _ in range(20)]


def test_exported_models_play_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['stable_baselines3'] = None; sys.modules['sb3_contrib'] = None\n"
        "import kdenv; from kdenv.compiler.random import make_rng\n"
        f"t = kdenv.table('kingdomino'); t.run_chance(make_rng(1)); print(kdenv.policy({EXPORTED!r}).act(t.view(t.seat)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ORIGINAL.parents[3])
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().isdigit()


def test_without_torch_a_zip_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import kdenv; from kdenv.compiler.random import make_rng\n"
        "t = kdenv.table('kingdomino'); t.run_chance(make_rng(1))\n"
        f"try: kdenv.policy('ppo({ORIGINAL})').act(t.view(t.seat))\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ORIGINAL.parents[3])
    assert "needs the extra 'rl': pip install '.[rl]' in a clone of kdenv" in done.stdout


def test_a_model_of_another_game_is_refused() -> None:
    table = Table(find_game("kingdomino"), 3)
    table.run_chance(make_rng(1))
    with pytest.raises(NotSupported, match="takes 2494 numbers and knows 329 actions, but kingdomino with 3 players"):
        policy(EXPORTED).act(table.view(table.seat))


def test_a_missing_model_is_told_at_once() -> None:
    with pytest.raises(BadOption, match=r"there is no model nowhere; give the model.npz of 'kdenv train', a .zip .*kingdomino-ppo"):
        policy("ppo(nowhere)")


@pytest.mark.parametrize("suffix", [".zip", ".npz"])
def test_a_file_that_is_no_model_is_told(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"model{suffix}"
    file.write_bytes(b"hello")
    table = Table(find_game("kingdomino"), 4)
    table.run_chance(make_rng(1))
    with pytest.raises(BadOption, match="is not a"):
        policy(f"ppo({file})").act(table.view(table.seat))


def test_an_array_file_of_something_else_is_told(tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    np.savez(file, x=np.zeros(3))
    table = Table(find_game("kingdomino"), 4)
    table.run_chance(make_rng(1))
    with pytest.raises(BadOption, match="is not a model of"):
        policy(f"ppo({file})").act(table.view(table.seat))


# Files from strangers


def saved(file: Path, about: object = None, **changes: np.ndarray | None) -> Path:
    """A small model for four players of kingdomino, with some arrays changed or left out."""
    dice = np.random.default_rng(1)
    arrays: dict[str, np.ndarray | None] = {
        "weight_0": dice.normal(size=(8, 2494)).astype(np.float32),
        "bias_0": np.zeros(8, np.float32),
        "weight_1": dice.normal(size=(329, 8)).astype(np.float32),
        "bias_1": np.zeros(329, np.float32),
    } | changes
    about = {"layers": 2, "activation": "tanh"} if about is None else about
    usual = {"made_for": {}, "predicts": "policy", "players": 0, "options": {}, "goal": {"scale": 1.0, "win": 0.0}}
    text = json.dumps({**usual, **about} if isinstance(about, dict) else about)
    np.savez_compressed(file, about=np.array(text), **{name: array for name, array in arrays.items() if array is not None})
    return file


def told(file: Path) -> str:
    """What playing this file ends with; empty if it plays."""
    table = Table(find_game("kingdomino"), 4)
    table.run_chance(make_rng(1))
    try:
        assert policy(f"ppo({file})").act(table.view(table.seat)) in table.legal()
    except (BadOption, NotSupported) as error:
        return str(error)
    return ""


def test_a_model_made_by_hand_plays(tmp_path: Path) -> None:
    assert told(saved(tmp_path / "model.npz")) == ""


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"weight_0": np.full((8, 2494), np.nan, np.float32)}, "weight_0 is an array with nan, and must be one of finite numbers"),
        ({"bias_1": np.full(329, -np.inf)}, "bias_1 is an array with -inf, and must be one of finite numbers"),
        ({"weight_0": np.zeros((8, 2494), np.int64)}, "weight_0 is an array of type int64, and must be one of floating-point numbers"),
        ({"weight_1": np.zeros((329, 9))}, "weight_1 is an array of shape (329, 9), and must be one of shape (outputs, 8)"),
        ({"weight_1": np.zeros(329)}, "weight_1 is an array of shape (329,), and must be one of shape (outputs, 8)"),
        ({"bias_0": np.zeros(7)}, "bias_0 is an array of shape (7,), and must be one of shape (8,)"),
        ({"bias_0": None}, "bias_0 is missing, and must be an array of floating-point numbers"),
        ({"bias_0": np.array([None] * 8)}, "bias_0 is an array of type object, and must be one of floating-point numbers"),
        ({"about": {"layers": 10**9, "activation": "tanh"}}, "layers is 1000000000, and must be a whole number from 1 to 64"),
        ({"about": {"layers": True, "activation": "tanh"}}, "layers is True, and must be a whole number from 1 to 64"),
        ({"about": {"layers": 2, "activation": "exec"}}, "activation is 'exec', and must be tanh or relu"),
        ({"about": {"layers": 2, "activation": "tanh", "predicts": "rain"}}, "predicts is 'rain', and must be policy, value or score"),
        ({"about": {"layers": 2, "activation": "tanh", "players": -1}}, "players is -1, and must be a whole number from 0 to 64"),
        ({"about": {"layers": 2, "activation": "tanh", "goal": {"scale": 0, "win": 0}}}, "goal.scale is 0, and must be a number from"),
        ({"about": {"layers": 2, "activation": "tanh", "goal": {"scale": float("nan"), "win": 0}}}, "goal.scale is nan, and must be a"),
        ({"about": {"layers": 2, "activation": "tanh", "goal": [1]}}, "goal is [1], and must be an object with scale and win"),
        ({"about": {"layers": 2, "activation": "tanh", "predicts": "value"}}, "weight_1 is an array with 329 outputs, and must be"),
        ({"about": ["tanh"]}, "about is ['tanh'], and must be an object of JSON"),
        ({"about": "x" * 20_000}, "about is an array of shape () and type <U20002, and must be one text of up to 10,000 characters"),
    ],
)
def test_what_is_wrong_with_a_model_is_told_in_one_sentence(changes: dict, sentence: str, tmp_path: Path) -> None:
    message = told(saved(tmp_path / "model.npz", **changes))
    assert "is not a model of 'kdenv train', 'kdenv export' or kdenv.save_network (" in message
    assert sentence in message and "\n" not in message


@pytest.mark.parametrize("weight", [3e38, 1e32])
@pytest.mark.parametrize("player", ["ppo({})", "learned({})", "mce(leaf=learned({}), score=goal, playouts=4)"])
def test_a_model_whose_numbers_may_overflow_is_refused(player: str, weight: float, tmp_path: Path) -> None:
    """All its weights are finite, but what they give is not: it played NaN, or searches that compare NaN ended in an IndexError."""
    n = 329 if player.startswith("ppo") else 1
    about = {"layers": 2, "activation": "relu", "predicts": "policy" if player.startswith("ppo") else "value", "players": 4}
    arrays = {"weight_0": np.full((8, 2494), weight), "weight_1": np.full((n, 8), -weight), "bias_1": np.zeros(n)}
    file = saved(tmp_path / "model.npz", {**about, "options": kdenv.table("kingdomino").options}, **arrays)
    table = Table(find_game("kingdomino"), 4)
    table.run_chance(make_rng(1))
    with pytest.raises(BadOption, match=r"is not a model of .*weight_0 is an array with which outputs of layer 0 may reach "):
        policy(player.format(file)).act(table.view(table.seat))


def test_a_file_whose_name_is_too_long_is_told() -> None:
    with pytest.raises(BadOption, match=r"^there is no model a{80}\.\.\.; give the model.npz"):
        policy(f"learned({'a' * 300}.npz)")


@pytest.mark.parametrize("lies", [False, True])
def test_a_small_file_is_not_unpacked_to_a_huge_array(lies: bool, tmp_path: Path) -> None:
    """A megabyte of zeros takes a kilobyte. The array says its true size, or lies about it."""
    whole = saved(tmp_path / "small.npz")
    header = io.BytesIO()
    shape = (8, 2494) if lies else (8, 40_000_000)
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(tmp_path / "model.npz", "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            if name == "weight_0.npy":
                with target.open(name, "w", force_zip64=True) as stream:
                    stream.write(header.getvalue())
                    for _ in range(300):
                        stream.write(bytes(2**20))
            else:
                target.writestr(name, source.read(name))
    assert (tmp_path / "model.npz").stat().st_size < 500_000
    tracemalloc.start()
    message = told(tmp_path / "model.npz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "weight_0 is " in message and "as large as it says, with 1 to 50,000,000 numbers" in message
    assert peak < 5_000_000


def test_an_array_that_ends_before_its_size_is_told(tmp_path: Path) -> None:
    """The directory of the archive gives the size that the header of the array asks for, but fewer bytes are packed."""
    whole, file = saved(tmp_path / "whole.npz"), tmp_path / "model.npz"
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            inside = source.read(name)
            target.writestr(name, inside[:-4] if name == "weight_0.npy" else inside)
            target.getinfo(name).file_size = len(inside)
    assert "weight_0 is an array that ends too early or too late" in told(file)


def test_numbers_that_do_not_have_their_checksum_are_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(saved(tmp_path / "whole.npz")) as source, zipfile.ZipFile(tmp_path / "model.npz", "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    whole = bytearray((tmp_path / "model.npz").read_bytes())
    with zipfile.ZipFile(tmp_path / "model.npz") as archive:
        whole[archive.getinfo("weight_1.npy").header_offset + 1000] ^= 1
    (tmp_path / "model.npz").write_bytes(whole)
    assert "Bad CRC-32 for file 'weight_1.npy'" in told(tmp_path / "model.npz")


@pytest.mark.parametrize("most", [25, 26])
def test_the_numbers_of_all_layers_together_are_limited(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights and biases are counted: 12 + 3 from four inputs to three units, 6 + 2 to two units, and 2 + 1 to one output."""
    sizes = {"weight_0": (3, 4), "bias_0": (3,), "weight_1": (2, 3), "bias_1": (2,), "weight_2": (1, 2), "bias_2": (1,)}
    file = saved(tmp_path / "model.npz", {"layers": 3, "activation": "tanh"}, **{name: np.zeros(size) for name, size in sizes.items()})
    monkeypatch.setattr(model_file, "MOST_NUMBERS", most)
    if most == 26:
        assert len(model_file.read_network(file).layers) == 3
    else:
        with pytest.raises(BadOption, match=r"model\.npz is not a model of .*layers is 3 layers of 26 numbers, and must be of 25 at most"):
            model_file.read_network(file)


def damaged(whole: bytes, dice: random.Random) -> bytes:
    """The file with bytes changed, cut out, put in or cut off, or with an array packed anew whose bytes were changed."""
    if dice.random() < 0.5:
        out, at = io.BytesIO(), dice.randrange(5)
        with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
            for i, name in enumerate(source.namelist()):
                inside = bytearray(source.read(name))
                if i == at:
                    for _ in range(dice.randrange(1, 4)):
                        inside[dice.randrange(min(len(inside), 200))] = dice.choice([dice.randrange(256), *b"0123456789(),'<>fiUO"])
                target.writestr(name, inside)
        return out.getvalue()
    broken = bytearray(whole)
    for _ in range(dice.randrange(1, 4)):
        at = dice.choice([dice.randrange(len(broken)), dice.randrange(200), len(broken) - 1 - dice.randrange(400)])
        kind = dice.randrange(4)
        if kind == 0:
            broken[at] = dice.randrange(256)
        elif kind == 1:
            del broken[at : at + dice.randrange(1, 50)]
        elif kind == 2:
            broken[at:at] = dice.randbytes(dice.randrange(1, 50))
        else:
            del broken[at:]
            break
    return bytes(broken)


@pytest.mark.parametrize("n", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_damaged_model_plays_or_is_refused_in_one_sentence(n: int, tmp_path: Path) -> None:
    whole, file, dice = saved(tmp_path / "whole.npz").read_bytes(), tmp_path / "model.npz", random.Random(n)
    refused = 0
    for i in range(n):
        file.write_bytes(damaged(whole, dice))
        try:
            message = told(file)
        except Exception as error:
            raise AssertionError(f"file {i} of {n} ends with {error!r}") from error
        assert "\n" not in message and len(message) < 400
        refused += message != ""
    assert n / 2 < refused < n


@pytest.mark.filterwarnings("always:loading kingdomino-4p.zip")
def test_the_first_zip_that_is_played_warns_that_it_is_unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sb3_contrib")
    monkeypatch.setattr(torch_models, "_has_warned", False)
    table = Table(find_game("kingdomino"), 4)
    table.run_chance(make_rng(1))
    with pytest.warns(UserWarning, match=r"unpickles it, which runs any code the file holds; .* share models as \.npz") as caught:
        for _ in range(2):
            policy(f"ppo({ORIGINAL})").act(table.view(table.seat))
    assert len([each for each in caught if "unpickles" in str(each.message)]) == 1
