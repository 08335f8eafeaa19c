"""The checkpoint of a training: a file with all that is needed to continue it. policies/array_file.py checks it as it checks models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.networks.self_play import N_SUMS
from kdenv.policies.array_file import ArrayFile, Wrong, is_number, is_whole, packed_arrays, reading, write_file
from kdenv.training.curve import Strength, TrainingCurve
from kdenv.training.settings import EXPERT, PPO

_MOST_TEXT = 10_000_000  # characters of the text, which has the curve
_MOST_THREADS = 256
_LARGEST_WEIGHT = 1e6  # the outputs of networks with greater ones might overflow, and the models of trainings cannot hold them
_LARGEST_SQUARE = 1e12  # weights with a greater mean square of gradients would hardly move
_is_count = is_whole(0, 10**15)
_is_amount = is_number(0, 1e300)
_is_finite = is_number(-1e300, 1e300)


class Checkpoint(NamedTuple):
    """The progress of a training."""

    settings: dict[str, Any]
    games: int
    seconds: float
    curve: TrainingCurve
    sums: list[float]  # of the learners, since strength was last measured
    weights: NDArray[np.float32]
    squares: NDArray[np.float32]  # a mean square for each weight
    rngs: NDArray[np.uint64]  # a row for each thread
    means: NDArray[np.float32] | None = None  # a mean gradient for each weight, for methods that have it
    updates: int = 0  # steps of the optimiser, for methods that count them

    def write(self, path: Path) -> None:
        """Write the file. A file of this name is replaced at once or not at all."""
        about = {
            "settings": self.settings,
            "games": self.games,
            "seconds": self.seconds,
            "curve": [list(point) for point in self.curve.points],
            "sums": self.sums,
            "updates": self.updates,
        }
        arrays: dict[str, Any] = {"weights": self.weights, "squares": self.squares, "rngs": self.rngs}
        if self.means is not None:
            arrays["means"] = self.means
        write_file(path, packed_arrays({"about": np.array(json.dumps(about)), **arrays}, compressed=False))


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint. Raises BadOption if the file is damaged or is no checkpoint."""
    remedy = "; remove it, or choose another folder"
    with reading(path, "a checkpoint of a training", most_text=_MOST_TEXT, remedy=remedy) as file:
        return _read(file)


def _read(file: ArrayFile) -> Checkpoint:
    settings = file.field("settings", lambda settings: isinstance(settings, dict), "an object with the settings by name")
    games = file.field("games", _is_count, "a whole number from 0 up")
    seconds = file.field("seconds", _is_amount, "a number from 0 up")
    points = file.field("curve", _is_curve, f"a list of points, each a list of {', '.join(Strength._fields)}")
    sums = [0.0] * N_SUMS  # older checkpoints do not have them
    if "sums" in file.about:
        sums = file.field("sums", _is_sums, f"a list of {N_SUMS} numbers from 0 up")
    of_weights, of_squares, of_rngs = file.header("weights", "f"), file.header("squares", "f"), file.header("rngs", "u")
    for header, is_right, expected in (
        (of_weights, len(of_weights.shape) == 1, "(weights,)"),
        (of_squares, of_squares.shape == of_weights.shape, f"{of_weights.shape}, a mean square for each weight"),
        (of_rngs, of_rngs.shape[1:] == (1,) and of_rngs.shape[0] <= _MOST_THREADS, f"(threads, 1), with 1 to {_MOST_THREADS} threads"),
    ):
        if not is_right:
            raise Wrong(header.name, f"an array of shape {header.shape}", f"one of shape {expected}")
    weights, squares, rngs = file.array(of_weights, np.float32), file.array(of_squares, np.float32), file.array(of_rngs, np.uint64)
    updates, means = file.about.get("updates", 0), None  # older checkpoints, and those of some methods, do not have them
    if not _is_count(updates):
        raise Wrong("updates", updates, "a whole number from 0 up")
    bounds = [("weights", weights, -_LARGEST_WEIGHT, _LARGEST_WEIGHT), ("squares", squares, 0.0, _LARGEST_SQUARE)]
    if settings.get("method") in (PPO, EXPERT):
        of_means = file.header("means", "f")
        if of_means.shape != of_weights.shape:
            raise Wrong("means", f"an array of shape {of_means.shape}", f"one of shape {of_weights.shape}, a mean gradient for each weight")
        means = file.array(of_means, np.float32)
        bounds.append(("means", means, -_LARGEST_WEIGHT, _LARGEST_WEIGHT))
    for name, array, least, most in bounds:
        if array.min() < least or array.max() > most:
            raise Wrong(name, f"an array of numbers from {array.min():g} to {array.max():g}", f"one from {least:g} to {most:g}")
    if rngs.min() == 0:
        raise Wrong("rngs", "an array with a 0", "one without, because a generator of 0 draws nothing else")
    curve = TrainingCurve(Strength(*point) for point in points)
    return Checkpoint(settings, games, float(seconds), curve, sums, weights, squares, rngs, means, updates)


def _is_curve(points: Any) -> bool:
    return isinstance(points, list) and all(map(_is_point, points))


def _is_point(point: Any) -> bool:
    """True if this has the fields of a Strength. The intervals of a single deal are NaN."""
    if not isinstance(point, list) or len(point) != len(Strength._fields):
        return False
    games, seconds, error, opponent, margin, of_margin, wins, of_wins = point
    is_told = _is_count(games) and isinstance(opponent, str) and all(map(_is_finite, (seconds, error, margin, wins)))
    return is_told and all(_is_finite(each) or each != each for each in (of_margin, of_wins))


def _is_sums(sums: Any) -> bool:
    return isinstance(sums, list) and len(sums) == N_SUMS and all(map(_is_amount, sums))
