"""Models and checkpoints with something wrong in any field: each is refused in one sentence that names the file, or plays and learns."""

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.models import random_model

import kdenv
from kdenv.compiler.random import make_rng
from kdenv.core.errors import BadOption, NotSupported
from kdenv.training.settings import TrainingSettings
from kdenv.training.trainer import Trainer

Parts = dict[str, Any]  # the arrays of a file by name, and `about` as an object
SETTINGS = TrainingSettings(game="dominoes", hidden=8, games=4)
VALUES: list[Any] = [
    *(None, True, -5, -1, 0, 1, 3, 10**9, 10**400, -0.5, 1e-300, 3e38, 1e308, float("nan"), float("inf"), "", "policy", "x" * 5000),
    *([], [1], [[1]], [-1.0] * 4, [[0, 0, 0, "", 0, 0, 0, "x"]], {}, {"a": 1}, {"scale": 1, "win": 2}, {"game": "kingdomino"}),
]
TYPES = ["<f2", ">f4", "<f8", "<i8", ">u8", "<u8", "?", "<c8", "<U3", "S3", "O", "<M8[s]"]
NUMBERS = [float("nan"), float("inf"), 3e38, -3e38, 1e300, 1e20, -1.0, 0.0]


def changed_texts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What `about`, or a part of it, may say in place of this value, each with words for it."""
    for other in VALUES:
        yield f"{name} = {str(other)[:20]}", other
    if isinstance(value, dict):
        for key in value:
            yield f"{name} without {key}", {each: of for each, of in value.items() if each != key}
            for words, other in changed_texts(f"{name}.{key}", value[key]):
                yield words, {**value, key: other}


def changed_arrays(name: str, array: Any) -> Iterator[tuple[str, Any]]:
    """What an array may be in place of this one, each with words for it."""
    for kind in TYPES:
        with np.errstate(all="ignore"):
            yield f"{name} as {kind}", array.astype(kind)
    for words, other in (
        ("flat", array.ravel()),
        ("with an axis more", array[None]),
        ("transposed", array.T),
        ("by columns", np.asfortranarray(array)),
        ("without its last row", array[:-1]),
        ("empty", array[:0]),
        ("with a row more", np.concatenate([array, array[:1]])),
        ("one number", array.ravel()[0]),
    ):
        yield f"{name} {words}", other
    for number in NUMBERS:
        for some in (slice(0, 1), slice(None)):
            other = array.astype(np.float64)
            other.ravel()[some] = number
            with np.errstate(all="ignore"):
                yield f"{name} with {number}", other.astype(array.dtype)


def faults(parts: Parts) -> list[tuple[str, Parts]]:
    """Everything that can be wrong with one part of a file: words for it, and the part as it is then; `...` if it is missing."""
    found: list[tuple[str, Parts]] = [(f"without {name}", {name: ...}) for name in parts]
    for name, part in parts.items():
        changes = changed_texts(name, part) if name == "about" else changed_arrays(name, part)
        found += [(words, {name: other}) for words, other in changes]
    return found


def read(path: Path) -> Parts:
    with np.load(path) as file:
        return {**file, "about": json.loads(str(file["about"]))}


def write(path: Path, parts: Parts) -> None:
    there = {name: part for name, part in parts.items() if part is not ...}
    np.savez(path, **{name: np.array(json.dumps(part)) if name == "about" else part for name, part in there.items()})


def play(path: Path, view: Any) -> None:
    player = kdenv.policy(f"learned({path})")
    assert player.act(view) in view.legal()
    assert np.isfinite(player.search(view).means).all()


def learn(path: Path) -> None:
    trainer = Trainer(SETTINGS, path.parent)
    before = trainer.player.network.weights.copy()
    trainer.learn()
    assert trainer.games >= 1 and (trainer.player.network.weights != before).any()
    trainer.save()


@pytest.fixture
def model(tmp_path: Path) -> tuple[Path, Callable[[Path], None]]:
    """A model that plays dominoes, and what plays it."""
    table = kdenv.table("dominoes")
    table.run_chance(make_rng(1))
    view = table.view(table.seat)
    return random_model(tmp_path / "model.npz", "dominoes"), lambda path: play(path, view)


@pytest.fixture
def checkpoint(tmp_path: Path) -> tuple[Path, Callable[[Path], None]]:
    """A checkpoint of a training that is half done, and what goes on from it."""
    trainer = Trainer(SETTINGS, tmp_path)
    trainer.games = 2
    trainer.run(points=1)
    parts = read(tmp_path / "checkpoint.npz")
    write(tmp_path / "checkpoint.npz", {**parts, "about": {**parts["about"], "games": 2}})
    return tmp_path / "checkpoint.npz", learn


@pytest.mark.parametrize("kind", ["model", "checkpoint"])
@pytest.mark.parametrize("n_pairs", [100, pytest.param(5_000, marks=pytest.mark.slow)])
def test_a_file_with_a_fault_is_refused_in_one_sentence_or_works(kind: str, n_pairs: int, request: pytest.FixtureRequest) -> None:
    """Every single fault, and so many pairs of faults."""
    path, works = request.getfixturevalue(kind)
    parts, dice = read(path), random.Random(n_pairs)
    works(path)
    single, refused = faults(parts), 0
    pairs = [(dice.choice(single), dice.choice(single)) for _ in range(n_pairs)]
    files = single + [(f"{one} and {other}", {**first, **second}) for (one, first), (other, second) in pairs]
    for words, changes in files:
        write(path, {**parts, **changes})
        try:
            works(path)
        except (BadOption, NotSupported) as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 500, words
            assert path.name in str(error) or str(path.parent) in str(error), words
        except Exception as error:
            raise AssertionError(f"the {kind} with {words} ends with {error!r}") from error
    print(f"{kind}: {len(files)} files, {refused} refused")
    assert len(files) / 2 < refused < len(files)


def test_arrays_packed_by_another_method_are_refused(model: tuple[Path, Callable[[Path], None]]) -> None:
    """What unpacks them raises errors of its own if they are damaged."""
    path, works = model
    whole = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    with pytest.raises(BadOption, match=r"about is packed by method 14 of zip, and must be stored, or packed by method 8"):
        works(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"games": -5}, "games is -5, and must be a whole number from 0 up"),
        ({"games": 2.5}, "games is 2.5, and must be a whole number from 0 up"),
        ({"seconds": float("nan")}, "seconds is nan, and must be a number from 0 up"),
        ({"settings": []}, r"settings is \[\], and must be an object with the settings by name"),
        ({"curve": [[1, 2]]}, r"curve is \[\[1, 2\]\], and must be a list of points, each a list of games, seconds, error, opponent"),
        ({"sums": [0.0]}, r"sums is \[0.0\], and must be a list of 4 numbers from 0 up"),
        ({"rngs": np.zeros((1, 1), np.uint64)}, "rngs is an array with a 0, and must be one without, because a generator of 0"),
        ({"rngs": np.ones(1, np.uint64)}, r"rngs is an array of shape \(1,\), and must be one of shape \(threads, 1\), with 1 to 256"),
        ({"weights": np.zeros((1, 5), np.float32)}, r"weights is an array of shape \(1, 5\), and must be one of shape \(weights,\)"),
        ({"squares": np.zeros(3, np.float32)}, r"squares is an array of shape \(3,\), and must be one of shape \(\d+,\), a mean square"),
        ({"squares": np.array(["a"])}, "squares is an array of type <U1, and must be one of floating-point numbers"),
    ],
)
def test_what_is_wrong_with_a_checkpoint_is_told_in_one_sentence(
    changes: Parts, sentence: str, checkpoint: tuple[Path, Callable[[Path], None]]
) -> None:
    path, works = checkpoint
    parts = read(path)
    arrays = {name: change for name, change in changes.items() if name in parts}
    about = {**parts["about"], **{name: change for name, change in changes.items() if name not in parts}}
    write(path, {**parts, **arrays, "about": about})
    with pytest.raises(BadOption, match=rf"checkpoint\.npz is not a checkpoint of a training \({sentence}.*; remove it, or choose another"):
        works(path)
